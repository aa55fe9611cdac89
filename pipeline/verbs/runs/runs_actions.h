// What the actions of `kdgat runs` share, and those that have a file of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/run/run_record.h"

namespace kdgat {

/// A run with its steps and figures, as it stands on the disk now.
nlohmann::json run_json(const RunRecord& run);
/// Its keys, as a form of JSON has them.
std::string run_json_keys();

/// The runs named, each once. Throws Error(kUsage) if there are fewer than `least`.
std::vector<RunRecord> read_runs(const std::vector<std::string>& names, const std::string& root,
                                 std::size_t least, const std::string& verb);

/// "a, b, c, d, e and 3 more"
std::string first_few(const std::vector<std::string>& list);

// Actions of kdgat runs, which return the exit code: in runs_compare.cpp, runs_list.cpp,
// runs_note.cpp, runs_remove.cpp, runs_show.cpp, runs_tables.cpp.
int show_run(Context& context, const std::vector<std::string>& words);
int remove_runs(Context& context, const std::vector<std::string>& words);
int compare_runs(Context& context, const std::vector<std::string>& words);
int print_runs(Context& context, const std::vector<std::string>& words);
int pivot_runs(Context& context, const std::vector<std::string>& words);
int export_runs(Context& context, const std::vector<std::string>& words);
int note_run(Context& context, const std::vector<std::string>& words);

}  // namespace kdgat
