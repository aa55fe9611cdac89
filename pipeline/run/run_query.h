// Which runs are meant by what they are: `kdgat runs list --where "classifier.lr<0.01"`. Keys are
// those of a run itself (kRunKeys), options as "step.option" or "data.option", and figures as
// "step.figure" or "step.part.figure"; the end of a key will do where only one has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/run/run_index.h"

namespace kdgat {

/// "run", "name", "tag", "dataset", ...
const std::vector<std::string>& run_keys();

/// KEY RELATION VALUE; a relation is >=, <=, ==, =, !=, > or <.
struct Condition {
  std::string key, relation, wanted;
  std::string where;  ///< who asked: "command line, argument 4"
};

/// Adds to `problems` what is no condition.
std::optional<Condition> read_condition(const std::string& text, const std::string& where,
                                        std::vector<Diagnostic>& problems);

/// What is to be true of a run; empty words ask nothing.
struct RunFilter {
  std::string dataset, name;
  std::vector<std::string> tags;  ///< all of them
  std::vector<Condition> conditions;
};

struct RunValue {
  std::string text;  ///< an option's text without its quotes; of a figure all its digits
  std::optional<double> number;  ///< of what is one
};

/// A key that was found, for value_of().
struct RunKey {
  enum class Kind { kOfRun, kOption, kFigure };
  Kind kind = Kind::kOfRun;
  std::string name;  ///< whole
};

/// Finds a key among those of some runs, whose values were read. Where an option and a figure have
/// the same, `is_figure` chooses. Throws Error(kUsage) with the nearest, or with all that it may
/// mean.
RunKey find_key(const std::string& typed, const RunIndex& index,
                const std::vector<std::size_t>& runs, bool is_figure,
                const std::string& where = "");

/// Every option or every figure that at least one of the runs has.
std::vector<RunKey> all_keys(const RunIndex& index, const std::vector<std::size_t>& runs,
                             RunKey::Kind kind);

/// What a run has for the key of an option or a figure.
std::optional<RunCell> cell_of(const RunIndex& index, std::size_t run, const RunKey& key);
/// What a run has for a key; none if it has no such option, figure or name.
std::optional<RunValue> value_of(const RunIndex& index, std::size_t run, const RunKey& key);

/// The result that a figure of a run is of, "<run>/<step>": that of the run which made the step,
/// also where this one kept it. Of a key that is no figure, the run's id.
std::string result_of(const RunIndex& index, std::size_t run, const RunKey& key);

/// Of an index the runs that a filter lets through, the newest first. Reads values where conditions
/// ask for them. A run that has nothing for a key meets no condition on it. Throws as find_key().
std::vector<std::size_t> matching_runs(RunIndex& index, const RunFilter& filter);

}  // namespace kdgat
