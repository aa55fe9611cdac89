// Seeds as a profile and the command line name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kdgat {

/// Of words as "1..5", "7": each seed once, in their order. Throws Error(kUsage).
std::vector<int64_t> read_seeds(const std::vector<std::string>& words);

}  // namespace kdgat
