#include "pipeline/run/run_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "kdgat/text.h"
#include "pipeline/run/plan.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 5> kJudged = {"accuracy", "precision", "recall", "f1", "auc"};

void add_number(const json& from, const std::string& key, const std::string& step,
                const std::string& part, std::vector<Figure>& out) {
  const json value = below(from, key);
  if (value.is_number()) out.push_back({step, part, key, value.get<double>()});
}

void add_judged(const json& core, const std::string& step, const std::string& part,
                std::vector<Figure>& out) {
  for (const char* name : kJudged) add_number(core, name, step, part, out);
}

/// {model: {"core"}, "test": {model: {part: {"core"}}}}
bool is_evaluation(const json& metrics) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const json& value) { return below(value, "core").is_object(); });
}

void add_evaluation(const json& metrics, std::vector<Figure>& out) {
  for (const auto& [model, value] : metrics.items()) {
    if (model != "test") add_judged(below(value, "core"), model, "val", out);
  }
  const json tests = below(metrics, "test");
  for (const auto& [model, parts] : tests.items()) {
    if (!parts.is_object()) continue;
    for (const auto& [part, value] : parts.items()) {
      add_judged(below(value, "core"), model, part, out);
    }
  }
}

/// {"parts": {part: {"f1", ...}}}
void add_parts(const json& parts, const std::string& step, std::vector<Figure>& out) {
  if (!parts.is_object()) return;
  for (const auto& [part, value] : parts.items()) {
    for (const char* name : {"accuracy", "f1", "auc", "mae", "rmse"}) {
      add_number(value, name, step, part, out);
    }
  }
}

void add_training(const json& metrics, const std::string& step, std::vector<Figure>& out) {
  for (const char* name : {"val_loss", "val_auc", "val_f1", "val_accuracy", "val_mae", "val_rmse",
                           "best_epoch", "epochs", "graphs_per_second"}) {
    add_number(metrics, name, step, "", out);
  }
}

std::string shown_value(const json& value) { return value.is_null() ? "" : value_text(value); }

std::string fingerprint_of_data(const json& config) {
  const json graphs = below(below(below(config, "ingredients"), "inputs"), "graphs");
  if (!graphs.is_array() || graphs.empty()) return "";
  const json fingerprint = below(graphs.front(), "fingerprint");
  return fingerprint.is_string() ? short_hash(fingerprint.get<std::string>()) : "";
}

bool differ(const std::vector<std::string>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

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
      std::string hash = fingerprint_of_data(read_step_files(step.folder).config);
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
    const json metrics = read_step_files(step.folder).metrics;
    if (!metrics.is_object()) continue;
    if (is_evaluation(metrics)) {
      add_evaluation(metrics, out);
    } else {
      add_training(metrics, step.step, out);
      add_parts(below(metrics, "parts"), step.step, out);
    }
  }
  return out;
}

std::string figure_name(const std::string& name) {
  if (name == "f1" || name == "auc" || name == "mae" || name == "rmse") {
    std::string out = name;
    std::transform(out.begin(), out.end(), out.begin(), ::toupper);
    return out;
  }
  if (name.rfind("val_", 0) == 0) return "val " + figure_name(name.substr(4));
  if (name == "graphs_per_second") return "graphs/s";
  std::string out = name;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string figure_text(const std::string& name, double value) {
  if (name == "graphs_per_second" || (value == std::floor(value) && std::abs(value) > 1)) {
    return format_count(value);
  }
  return format_number(name.ends_with("loss") ? "%.4f" : "%.3f", value);
}

std::string spokesman(const RunRecord& run, const std::vector<Figure>& figures) {
  const auto has = [&](const std::string& step) {
    return std::any_of(figures.begin(), figures.end(),
                       [&](const Figure& figure) { return figure.step == step; });
  };
  if (std::string best = word(read_json(run.folder / kSweepFile), "best"); has(best)) {
    return best;
  }
  for (const char* stage : {"fusion", "classifier"}) {
    for (const StepRecord& step : run.steps) {
      if (step.stage == stage && has(step.step)) return step.step;
    }
  }
  return figures.empty() ? "" : figures.back().step;
}

std::string headline(const RunRecord& run) {
  const std::vector<Figure> all = figures(run);
  const std::string step = spokesman(run, all);
  const auto value = [&](const std::string& name, const std::string& part) -> const Figure* {
    for (const Figure& figure : all) {
      if (figure.step == step && figure.name == name && figure.part == part) return &figure;
    }
    return nullptr;
  };
  std::string out;
  for (const auto& [prefix, part] : {std::pair{"", "val"}, std::pair{"val_", ""}}) {
    for (const char* name : {"f1", "auc", "rmse", "loss"}) {
      const Figure* figure = value(prefix + std::string(name), part);
      if (figure == nullptr) continue;
      out += (out.empty() ? "" : "  ") + figure_name(name) + " " +
             figure_text(figure->name, figure->value);
    }
    if (!out.empty()) return out.append("  ").append(step).append(", val");
  }
  return out;
}

bool FigureRow::is_equal() const {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::vector<FigureRow> side_by_side(const std::vector<std::vector<Figure>>& runs) {
  std::vector<FigureRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Figure& figure : runs[i]) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const FigureRow& r) {
        return r.step == figure.step && r.part == figure.part && r.name == figure.name;
      });
      if (row == rows.end()) {
        rows.push_back({figure.step, figure.part, figure.name, {}});
        rows.back().values.resize(runs.size());
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
    std::vector<json> configs;
    for (const RunRecord& run : runs) {
      const StepRecord* step = find_step(run, name);
      stages.push_back(step == nullptr ? "" : step->stage);
      configs.push_back(step == nullptr ? json() : read_step_files(step->folder).config);
    }
    if (differ(stages)) out.push_back({name, "stage", stages});
    std::set<std::string> options;
    for (const json& config : configs) {
      const json values = below(config, "options");
      for (const auto& [option, value] : values.items()) options.insert(option);
    }
    const auto add = [&](const std::string& option, const auto& value_of) {
      std::vector<std::string> values;
      std::set<std::string> said;
      for (const json& config : configs) {
        values.push_back(shown_value(value_of(config)));
        if (config.is_object()) said.insert(values.back());
      }
      if (said.size() > 1) out.push_back({name, option, std::move(values)});
    };
    add("seed", [](const json& config) { return below(config, "seed"); });
    add("stage version", [](const json& config) { return below(config, "version"); });
    for (const std::string& option : options) {
      add(option, [&](const json& config) { return below(below(config, "options"), option); });
    }
  }
  return out;
}

}  // namespace kdgat
