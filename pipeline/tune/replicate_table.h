// What a run of replicates came to, in words and as JSON: its replicates, and their figures as mean
// and standard deviation. Pure, from what is on the disk.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat {

/// "4 of 5 seeds done, 1 failed"
std::string seeds_done(const std::filesystem::path& folder);
/// Of a run of replicates, for each what it came to: kdgat runs show and the end of a run.
nlohmann::json replicates_report(const std::filesystem::path& folder);
/// The same as text: a line for each replicate, then figures as mean and standard deviation; with
/// `is_short` only those that stand in lists.
std::string replicates_text(const std::filesystem::path& folder, bool is_short);

}  // namespace kdgat
