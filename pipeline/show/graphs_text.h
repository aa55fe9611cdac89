// What a data set holds, in words, from the facts of its store.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat {

/// "1 window", "1,000 windows".
std::string windows_text(int64_t count);

/// "1,000 windows (12 attack)", "1,000 windows (without labels)", "1,000 trees, 8 classes",
/// "7,674 documents, 8 classes, 7,688 words" or "100,000 ratings of 1,682 items by 943 users".
std::string graphs_text(const nlohmann::json& facts);

}  // namespace kdgat
