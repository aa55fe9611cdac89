// How wide lines may be where results are read on a terminal. main.cpp asks once and says it here;
// whoever prints a table needs not know.
#pragma once

#include <cstddef>

namespace kdgat {

/// Columns of a terminal, or what COLUMNS says of something else; 0 = as wide as lines come.
std::size_t line_width(int fd);

/// Lines of tables (table.h) are no wider from then on; 0, as at first, for as wide as they come.
void limit_tables(std::size_t columns);

}  // namespace kdgat
