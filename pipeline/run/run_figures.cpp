#include "pipeline/run/run_figures.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <set>

#include "kdgat/text.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/step_config.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string shown_value(const json& value) { return value.is_null() ? "" : value_text(value); }

bool differ(const std::vector<std::string>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

/// What tune.json (tune/saved_sweep.h) says to all: the name of the best trial.
struct BestTrial {
  std::string best;
  static auto keys() { return std::tuple{key("best", &BestTrial::best)}; }
};

/// Names of all steps, those of the first run first.
std::vector<std::string> step_names(const std::vector<RunRecord>& runs) {
  std::vector<std::string> out;
  for (const RunRecord& run : runs) {
    for (const StepRecord& step : run.steps) {
      if (std::find(out.begin(), out.end(), step.step) == out.end()) out.push_back(step.step);
    }
  }
  return out;
}

const StepRecord* find_step(const RunRecord& run, const std::string& name) {
  for (const StepRecord& step : run.steps) {
    if (step.step == name) return &step;
  }
  return nullptr;
}

/// Of the runs themselves.
void add_run_differences(const std::vector<RunRecord>& runs, std::vector<Difference>& out) {
  const auto add = [&](const char* name, const auto& text) {
    std::vector<std::string> values;
    values.reserve(runs.size());
    for (const RunRecord& run : runs) values.push_back(text(run));
    if (differ(values)) out.push_back({"", name, std::move(values)});
  };
  add("profile", [](const RunRecord& run) { return run.profile; });
  add("data set", [](const RunRecord& run) { return run.dataset; });
  add("data", [](const RunRecord& run) {
    for (const StepRecord& step : run.steps) {
      std::string hash = short_hash(read_step_config(step.folder).data);
      if (!hash.empty()) return hash;
    }
    return std::string();
  });
  add("host", [](const RunRecord& run) { return run.host; });
  add("device", [](const RunRecord& run) { return run.device; });
  add("threads", [](const RunRecord& run) {
    return run.threads == 0 ? std::string() : std::to_string(run.threads);
  });
  add("kdgat", [](const RunRecord& run) { return run.version; });
}

}  // namespace

std::vector<Figure> figures(const RunRecord& run) {
  std::vector<Figure> out;
  for (const StepRecord& step : run.steps) {
    const std::vector<Figure> of_step = figures_of_step(step.step, step.folder);
    out.insert(out.end(), of_step.begin(), of_step.end());
  }
  return out;
}

std::vector<Figure> figures_of_step(const std::string& step, const std::filesystem::path& folder) {
  std::vector<Figure> out = listed_figures(read_figures(folder));
  for (Figure& figure : out) {
    if (figure.model.empty()) figure.model = step;
  }
  return out;
}

std::string figure_text(const Figure& like, double value) {
  if (value == std::floor(value) && std::abs(value) > 1) return short_number(value);
  if (like.decimals == 0) return format_count(value);
  return format_number(("%." + std::to_string(like.decimals) + "f").c_str(), value);
}

Figure as_mean(Figure like) {
  if (like.decimals == 0) like.decimals = 1;
  return like;
}

std::string spokesman(const RunRecord& run, const std::vector<Figure>& figures,
                      const PluginCatalog& catalog) {
  const auto has = [&](const std::string& step) {
    return std::any_of(figures.begin(), figures.end(),
                       [&](const Figure& figure) { return figure.model == step; });
  };
  const auto sweep = record::read<BestTrial>(read_json(run.folder / kSweepFile));
  if (has(sweep.best)) return sweep.best;
  const auto last = std::find_if(figures.rbegin(), figures.rend(),
                                 [](const Figure& figure) { return figure.headline > 0; });
  std::string out = last != figures.rend() ? last->model
                    : figures.empty()      ? ""
                                           : figures.back().model;
  int most = 0;
  for (const StepRecord& step : run.steps) {
    const int speaks = catalog.speaks(step.stage);
    if (speaks <= most || !has(step.step)) continue;
    most = speaks;
    out = step.step;
  }
  return out;
}

std::vector<Figure> marked_figures(const std::vector<Figure>& figures, const std::string& step,
                                   const std::function<bool(const Figure&)>& is_marked) {
  std::vector<Figure> of_step, out;
  std::copy_if(figures.begin(), figures.end(), std::back_inserter(of_step),
               [&](const Figure& figure) { return figure.model == step; });
  const bool has_parts = std::any_of(of_step.begin(), of_step.end(),
                                     [](const Figure& figure) { return !figure.part.empty(); });
  std::copy_if(of_step.begin(), of_step.end(), std::back_inserter(out), [&](const Figure& figure) {
    return is_marked(figure) && figure.part.empty() != has_parts;
  });
  return out;
}

std::string headline(const RunRecord& run, const PluginCatalog& catalog) {
  const std::vector<Figure> all = figures(run);
  const std::string step = spokesman(run, all, catalog);
  const auto told = [&](const std::string& part) {
    std::vector<Figure> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](const Figure& figure) {
      return figure.model == step && figure.part == part && figure.headline > 0;
    });
    std::stable_sort(out.begin(), out.end(),
                     [](const Figure& a, const Figure& b) { return a.headline < b.headline; });
    return out;
  };
  std::vector<Figure> list = told("val");
  if (list.empty()) list = told("");
  std::string out;
  for (const Figure& figure : list) {
    // The line says at its end that it is of validation.
    const std::string prefix = figure.part.empty() ? "val " : "";
    const std::string label =
        figure.label.starts_with(prefix) ? figure.label.substr(prefix.size()) : figure.label;
    out += (out.empty() ? "" : "  ") + label + " " + figure_text(figure, figure.value);
  }
  return out.empty() ? "" : out + "  " + step + ", val";
}

std::optional<std::string> headline_to_record(const std::filesystem::path& run,
                                              const PluginCatalog& catalog) {
  try {
    return headline(read_run(run), catalog);
  } catch (const std::exception&) {
    return {};  // a list looks again; the end of a run must not fail here
  }
}

bool FigureRow::is_equal() const {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::vector<FigureRow> side_by_side(const std::vector<std::vector<Figure>>& runs) {
  std::vector<FigureRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Figure& figure : runs[i]) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const FigureRow& r) {
        return r.figure.model == figure.model && r.figure.part == figure.part &&
               r.figure.name == figure.name;
      });
      if (row == rows.end()) {
        rows.push_back({figure, std::vector<std::optional<double>>(runs.size())});
        row = rows.end() - 1;
      }
      row->values[i] = figure.value;
    }
  }
  return rows;
}

std::vector<Difference> differences(const std::vector<RunRecord>& runs) {
  std::vector<Difference> out;
  add_run_differences(runs, out);
  for (const std::string& name : step_names(runs)) {
    std::vector<std::string> stages;
    std::vector<StepConfig> configs;
    for (const RunRecord& run : runs) {
      const StepRecord* step = find_step(run, name);
      stages.push_back(step == nullptr ? "" : step->stage);
      configs.push_back(step == nullptr ? StepConfig() : read_step_config(step->folder));
    }
    if (differ(stages)) out.push_back({name, "stage", stages});
    std::set<std::string> options;
    for (const StepConfig& config : configs) {
      for (const auto& [option, value] : config.options.items()) options.insert(option);
    }
    const auto add = [&](const std::string& option, const auto& value_of) {
      std::vector<std::string> values;
      std::set<std::string> said;
      for (const StepConfig& config : configs) {
        values.push_back(shown_value(value_of(config)));
        if (config.is_there) said.insert(values.back());
      }
      if (said.size() > 1) out.push_back({name, option, std::move(values)});
    };
    add("seed", [](const StepConfig& config) { return config.seed; });
    add("stage version", [](const StepConfig& config) { return config.version; });
    for (const std::string& option : options) {
      add(option, [&](const StepConfig& config) { return below(config.options, option); });
    }
  }
  return out;
}

std::vector<bool> best_values(const Figure& figure,
                              const std::vector<std::optional<double>>& values) {
  std::vector<bool> out(values.size(), false);
  const bool is_validation =
      figure.part == "val" || (figure.part.empty() && figure.name.starts_with("val_"));
  if (!is_validation || figure.better == Better::kNeither) return out;
  const double sign = figure.better == Better::kMore ? 1 : -1;
  std::optional<double> best, worst;
  for (const auto& value : values) {
    if (!value) continue;
    best = std::max(best.value_or(sign * *value), sign * *value);
    worst = std::min(worst.value_or(sign * *value), sign * *value);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = values[i] && *best > *worst && sign * *values[i] == *best;
  }
  return out;
}

}  // namespace kdgat
