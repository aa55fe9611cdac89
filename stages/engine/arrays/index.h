// Subscripts: stores count in int64_t, containers in std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kdgat::arrays {

/// `i`, not negative, as a subscript.
inline std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace kdgat::arrays
