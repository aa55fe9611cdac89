#include "pipeline/run/replicates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kdgat/text.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/step_config.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The seed of a run that was made without recording it: that of a step it made itself.
int64_t seed_of_steps(const RunRecord& run) {
  for (const bool takes_kept : {false, true}) {
    for (const StepRecord& step : run.steps) {
      if (step.is_kept() != takes_kept) continue;
      const json seed = read_step_config(step.folder).seed;
      if (seed.is_number_integer()) return seed.get<int64_t>();
    }
  }
  return -1;
}

/// A value's text with a sign.
std::string with_sign(const Figure& like, double value) {
  const std::string text = figure_text(like, std::abs(value));
  return (std::signbit(value) ? "-" : "+") + text;
}

std::string fraction_text(const Figure& like, double value) {
  return format_number(("%." + std::to_string(as_mean(like).decimals) + "f").c_str(), value);
}

}  // namespace

std::string Replicate::state() const {
  if (exit_code) return *exit_code == 0 ? "done" : "failed";
  return run.empty() ? "waiting" : "running";
}

std::optional<SeedsOfRun> seeds_of_run(const fs::path& run_folder) {
  const json document = read_json(run_folder / "run.json");
  if (!document.is_object()) return std::nullopt;
  auto out = record::read<SeedsOfRun>(document);
  if (out.replicates) {
    std::erase_if(*out.replicates, [](const Replicate& one) { return one.seed < 0; });
  }
  return out;
}

std::vector<Replicate> read_replicates(const fs::path& run_folder) {
  return seeds_of_run(run_folder)
      .value_or(SeedsOfRun())
      .replicates.value_or(std::vector<Replicate>());
}

fs::path replicate_folder(const fs::path& run_folder, const Replicate& one) {
  // Not of the path as it was named, which may end with a slash or be ".".
  return fs::weakly_canonical(run_folder).parent_path() / one.run;
}

NamedRuns read_named_runs(const std::vector<fs::path>& folders) {
  NamedRuns out;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& folder, const std::string& group, int64_t seed,
                       const std::string& name) {
    if (!seen.insert(fs::weakly_canonical(folder)).second) return;
    out.runs.push_back(read_run(folder));
    out.group_of.push_back(group);
    out.seeds.push_back(seed);
    const std::string& id = group.empty() ? out.runs.back().id : group;
    const std::string& own = group.empty() ? out.runs.back().name : name;
    out.names.push_back(own.empty() ? short_run(id) : own);
  };
  const auto begun = [](const fs::path& folder) {
    std::vector<std::pair<fs::path, int64_t>> list;
    std::error_code ignored;
    for (const Replicate& one : read_replicates(folder)) {
      const fs::path of_one = replicate_folder(folder, one);
      if (!one.run.empty() && fs::exists(of_one / "run.json", ignored)) {
        list.emplace_back(of_one, one.seed);
      }
    }
    return list;
  };
  // Replicates that are named on their own as well belong to their run of replicates.
  std::set<fs::path> grouped;
  for (const fs::path& folder : folders) {
    for (const auto& [of_one, seed] : begun(folder)) grouped.insert(fs::weakly_canonical(of_one));
  }
  for (const fs::path& folder : folders) {
    const SeedsOfRun seeds = seeds_of_run(folder).value_or(SeedsOfRun());
    if (seeds.replicates) {
      const std::string name = read_run(folder).name;
      for (const auto& [of_one, seed] : begun(folder)) {
        add(of_one, fs::weakly_canonical(folder).filename().string(), seed, name);
      }
      continue;
    }
    if (grouped.contains(fs::weakly_canonical(folder))) continue;
    const std::size_t before = out.runs.size();
    add(folder, "", seeds.seed.value_or(-1), "");
    if (out.runs.size() > before && out.seeds.back() < 0) {
      out.seeds.back() = seed_of_steps(out.runs.back());
    }
  }
  return out;
}

std::vector<Difference> without_seed(std::vector<Difference> differences) {
  std::erase_if(differences, [](const Difference& one) { return one.name == "seed"; });
  return differences;
}

std::vector<SeedGroup> group_by_seed(const NamedRuns& named,
                                     const std::vector<Difference>& differences) {
  std::vector<SeedGroup> out;
  std::map<std::vector<std::string>, std::size_t> place;
  const std::vector<Difference> others = without_seed(differences);
  for (std::size_t i = 0; i < named.runs.size(); ++i) {
    std::vector<std::string> key;
    key.reserve(others.size());
    for (const Difference& one : others) key.push_back(one.values[i]);
    const auto [found, is_new] = place.emplace(std::move(key), out.size());
    if (is_new) {
      out.push_back({named.names[i], {}, {}});
    }
    SeedGroup& group = out[found->second];
    const int64_t seed = named.seeds[i];
    if (std::find(group.seeds.begin(), group.seeds.end(), seed) != group.seeds.end()) continue;
    group.runs.push_back(i);
    group.seeds.push_back(seed);
  }
  return out;
}

bool is_shared(const FigureRow& row, const std::vector<SeedGroup>& groups) {
  return groups.size() > 1 && std::all_of(groups.begin(), groups.end(), [&](const SeedGroup& one) {
           return values_of(row, one) == values_of(row, groups.front());
         });
}

BySeed values_of(const FigureRow& row, const SeedGroup& group) {
  BySeed out;
  for (std::size_t i = 0; i < group.runs.size(); ++i) {
    const auto& value = row.values[group.runs[i]];
    if (value && std::isfinite(*value)) out[group.seeds[i]] = *value;
  }
  return out;
}

std::optional<Spread> spread_of(const FigureRow& row, const SeedGroup& group) {
  std::vector<double> values;
  for (const auto& [seed, value] : values_of(row, group)) values.push_back(value);
  return spread_of(values);
}

std::string spread_text(const Figure& like, const Spread& spread) {
  if (!spread.deviation) return figure_text(like, spread.mean);
  return fraction_text(like, spread.mean) + " ± " + fraction_text(like, *spread.deviation);
}

std::string difference_text(const Figure& like, const PairedDifference& difference) {
  std::string out = with_sign(as_mean(like), difference.mean);
  if (!difference.low) return out;
  return out + " [" + fraction_text(like, *difference.low) + ", " +
         fraction_text(like, *difference.high) + "]";
}

std::string replicates_headline(const std::vector<RunRecord>& runs, const PluginCatalog& catalog) {
  std::vector<std::vector<Figure>> all;
  SeedGroup group;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back(figures(runs[i]));
    group.runs.push_back(i);
    group.seeds.push_back(static_cast<int64_t>(i));
  }
  const auto first = std::find_if(all.begin(), all.end(),
                                  [](const std::vector<Figure>& one) { return !one.empty(); });
  if (first == all.end()) return "";
  const std::string step =
      spokesman(runs[static_cast<std::size_t>(first - all.begin())], *first, catalog);
  std::vector<FigureRow> rows = side_by_side(all);
  std::stable_sort(rows.begin(), rows.end(), [](const FigureRow& a, const FigureRow& b) {
    return a.figure.headline < b.figure.headline;
  });
  for (const std::string part : {"val", ""}) {
    std::string out;
    std::size_t n = 0;
    for (const FigureRow& row : rows) {
      const Figure& f = row.figure;
      if (f.model != step || f.part != part || f.headline <= 0) continue;
      const auto spread = spread_of(row, group);
      if (!spread) continue;
      n = std::max(n, spread->n);
      const std::string prefix = part.empty() ? "val " : "";
      const std::string label =
          f.label.starts_with(prefix) ? f.label.substr(prefix.size()) : f.label;
      out += out.empty() ? "" : "  ";
      out += label;
      out += " ";
      out += spread_text(f, *spread);
    }
    if (!out.empty()) {
      return out.append("  ").append(step).append(", val, n=").append(std::to_string(n));
    }
  }
  return "";
}

}  // namespace kdgat
