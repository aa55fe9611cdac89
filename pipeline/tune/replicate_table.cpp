#include "pipeline/tune/replicate_table.h"

#include <algorithm>

#include "pipeline/run/plan.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The one group that all replicates of a run are.
SeedGroup group_of_all(const NamedRuns& named) {
  SeedGroup out;
  for (std::size_t i = 0; i < named.runs.size(); ++i) out.runs.push_back(i);
  out.seeds = named.seeds;
  return out;
}

std::vector<FigureRow> rows_of(const NamedRuns& named) {
  std::vector<std::vector<Figure>> all;
  for (const RunRecord& run : named.runs) all.push_back(figures(run));
  return side_by_side(all);
}

}  // namespace

std::string seeds_done(const fs::path& folder) {
  const std::vector<Replicate> all = read_replicates(folder);
  const auto count = [&](const std::string& state) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Replicate& one) { return one.state() == state; });
  };
  std::string out =
      std::to_string(count("done")) + " of " + std::to_string(all.size()) + " seeds done";
  if (const auto failed = count("failed"); failed > 0) {
    out += ", " + std::to_string(failed) + " failed";
  }
  return out;
}

json replicates_report(const fs::path& folder) {
  const NamedRuns named = read_named_runs({folder});
  const SeedGroup group = group_of_all(named);
  std::vector<FigureOfSeeds> figures;
  for (const FigureRow& row : rows_of(named)) {
    const auto spread = spread_of(row, group);
    if (!spread) continue;
    FigureOfSeeds& out = figures.emplace_back(FigureOfSeeds{row.figure.model,
                                                            row.figure.part,
                                                            row.figure.name,
                                                            spread->n,
                                                            spread->mean,
                                                            spread->deviation,
                                                            {}});
    for (const auto& [seed, value] : values_of(row, group)) out.values.push_back({seed, value});
  }
  return {{"id", folder.filename().string()},
          {"folder", folder.string()},
          {"replicates", record::write<json>(read_replicates(folder))},
          {"figures", record::write<json>(figures)}};
}

std::string replicates_text(const fs::path& folder, bool is_short) {
  const NamedRuns named = read_named_runs({folder});
  const SeedGroup group = group_of_all(named);
  Table runs;
  runs.add({"seed", "run", "state", "time", ""});
  for (const Replicate& one : read_replicates(folder)) {
    runs.add({std::to_string(one.seed), one.run.empty() ? "" : short_run(one.run), one.state(),
              one.seconds ? format_seconds(*one.seconds) : "", one_line(one.error.value_or(""))});
  }
  Table table;
  table.add({"figure", "step", "part", "mean ± sd", "n"});
  bool has_rows = false;
  for (const FigureRow& row : rows_of(named)) {
    const Figure& f = row.figure;
    const auto spread = spread_of(row, group);
    if (!spread || (is_short && f.place == 0 && f.headline == 0)) continue;
    has_rows = true;
    table.add({f.label, f.model, f.part, spread_text(f, *spread), std::to_string(spread->n)});
  }
  return runs.text() +
         (has_rows ? "\n" + table.text() + "mean and standard deviation over n seeds\n" : "");
}

}  // namespace kdgat
