// Words of a command line that is still typed, as a shell hands them over.
#pragma once

#include <string>
#include <vector>

namespace kdgat {

using Words = std::vector<std::string>;

/// Where a shell cuts words at "=", put together again.
Words with_values(const Words& words);
bool is_flag(const std::string& word);
/// "lr_sched" of "--lr-sched".
std::string key_of(const std::string& flag);
/// The folder of runs that was said, or the usual one. bash hands words over as they were typed.
std::string root_said(const Words& words);

}  // namespace kdgat
