// Makes rows of cells fit a number of columns: wraps words, and puts columns below one another
// where that is not enough. Private to table.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kdgat {

/// Lines of a text no wider than `width`, broken at blanks; words that are wider are broken behind
/// a sign that joins names (test_01/known-vehicle), and inside of a name only where none has room.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width);

/// Widths of columns, two blanks between them, in all no more than `most` where that can be: those
/// that `may_wrap` give up room, the widest first, none below what a word needs.
std::vector<std::size_t> narrowed(std::vector<std::size_t> widths,
                                  const std::vector<bool>& may_wrap, std::size_t most);

/// How many columns at the beginning say what a row is about: those before the first with figures.
/// Of a table without figures, or with figures in the first column, the first.
std::size_t key_columns(const std::vector<bool>& has_figures);

/// Widths for columns that cannot all stand together: the first `keys` of them give up room until
/// each of the others has its place beside them; none goes below what a word needs.
std::vector<std::size_t> narrowed_keys(std::vector<std::size_t> widths, std::size_t keys,
                                       std::size_t most);

/// Which columns stand together: the first `keys` with as many others as have room, then these keys
/// again. Only the first is repeated where all of them leave no room, none where it does not.
std::vector<std::vector<std::size_t>> blocks_of(const std::vector<std::size_t>& widths,
                                                std::size_t keys, std::size_t most);

}  // namespace kdgat
