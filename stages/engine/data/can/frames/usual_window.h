// The window of a bus that everything is cut into where nobody says otherwise.
#pragma once

#include <cstdint>

namespace kdgat::data {

inline constexpr int64_t kUsualWindow = 100;  ///< frames

}  // namespace kdgat::data
