// A row of numbers as one word: ▇▅▃▂▁, or =-. where the terminal has no such characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kdgat {

/// Whether LC_ALL, LC_CTYPE or LANG, the first that is set, says UTF-8.
bool has_unicode();

/// One character for each of at most `width` equal stretches of the values, the mean of each, from
/// the least to the greatest of them; one that is not finite counts nothing. "" without any.
std::string sparkline(const std::vector<double>& values, std::size_t width, bool unicode);

}  // namespace kdgat
