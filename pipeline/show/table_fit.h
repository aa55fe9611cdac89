// Makes rows of cells fit a number of columns: wraps words, and puts columns below one another where
// that is not enough. Private to table.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kdgat {

/// Lines of a text no wider than `width`, broken at blanks, and inside of words that are wider.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width);

/// Widths of columns, two blanks between them, in all no more than `most` where that can be: those
/// that `may_wrap` give up room, the widest first, none below what a word needs.
std::vector<std::size_t> narrowed(std::vector<std::size_t> widths,
                                  const std::vector<bool>& may_wrap, std::size_t most);

/// Which columns stand together: the first with as many others as have room, then the first again.
std::vector<std::vector<std::size_t>> blocks_of(const std::vector<std::size_t>& widths,
                                                std::size_t most);

}  // namespace kdgat
