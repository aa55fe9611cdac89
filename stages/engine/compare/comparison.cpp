#include "engine/compare/comparison.h"

#include <algorithm>
#include <utility>

#include "kdgat/text.h"

namespace kdgat::compare {
namespace {

using nlohmann::json;

std::string seconds(const json& value) {
  return value.is_null() ? "" : format_number("%.2f s", value.get<double>());
}

std::string of(const json& part, const json& all) {
  return std::to_string(part.get<int64_t>()) + " of " + std::to_string(all.get<int64_t>());
}

json main_row(const std::string& part, const std::string& method, const json& m) {
  return {part,
          method,
          m.at("n_samples"),
          m.at("attacks"),
          m.at("f1"),
          m.at("auc"),
          m.at("false_windows"),
          m.at("false_outside_shadows"),
          m.at("missed_windows"),
          format_number("%.0f", m.at("false_per_hour")) + " (" +
              format_number("%.0f", m.at("false_per_hour_low")) + " to " +
              format_number("%.0f", m.at("false_per_hour_high")) + ")",
          of(m.at("events_found"), m.at("events")),
          seconds(m.at("time_to_alarm"))};
}

json more_row(const std::string& part, const std::string& method, const json& m) {
  const json& low = m.at("f1_low");
  return {part,
          method,
          low.is_null()
              ? "one file"
              : format_number("%.3f", low) + " to " + format_number("%.3f", m.at("f1_high")),
          m.at("pr_auc"),
          m.at("prevalence"),
          m.at("mcc"),
          m.at("recall_at_1_per_hour"),
          m.at("recall_at_10_per_hour"),
          m.at("false_events"),
          format_number("%.2f %%", 100 * m.at("time_under_alarm").get<double>()),
          m.at("events_missed"),
          seconds(m.at("worst_time_to_alarm"))};
}

}  // namespace

Comparison::Comparison(const std::vector<JudgedLog>& logs, std::vector<std::string> models,
                       const std::vector<data::SameContent>& copies)
    : models_(std::move(models)),
      metrics_({{"parts", json::object()}, {"logs", json::object()}, {"kinds", json::object()}}),
      main_{{"part", "method", "windows", "attacks", "F1", "AUC", "false", "outside shadows",
             "missed", "false/h (95 %)", "attacks found", "time to alarm"},
            {}},
      more_{
          {"part", "method", "F1 over files (95 %)", "PR-AUC", "prevalence", "MCC", "recall at 1/h",
           "at 10/h", "false alarms", "under alarm", "never found", "longest time to alarm"},
          {}},
      kinds_{{"kind of attack", "files", "method", "attacks", "F1", "PR-AUC", "missed",
              "attacks found", "F1 by frame"},
             {}} {
  for (const JudgedLog& log : logs) {
    for (const Verdicts& one : log.said) {
      if (std::find(methods_.begin(), methods_.end(), one.method) == methods_.end()) {
        methods_.push_back(one.method);
      }
      if (one.is_ablated) ablated_.insert(one.method);
    }
  }
  std::stable_partition(methods_.begin(), methods_.end(), [this](const std::string& method) {
    return is_model(method) || ablated_.contains(method);
  });
  Groups parts, kinds;
  for (const JudgedLog& log : logs) {
    parts[log.part].push_back(&log);
    const bool attacked = std::find(log.labels.begin(), log.labels.end(), 1) != log.labels.end();
    if (attacked) kinds[attack_of(log.name)].push_back(&log);
    metrics_["logs"][log.name] = figures({&log});
  }
  list_copies(copies);
  list_suspects(logs, parts);
  for (const auto& [part, list] : parts) add_part(part, list);
  add_kinds(kinds);
}

bool Comparison::is_model(const std::string& method) const {
  return std::find(models_.begin(), models_.end(), method) != models_.end();
}

json Comparison::figures(const JudgedLogs& logs, bool without_suspects) const {
  json out = json::object();
  for (const std::string& method : methods_) {
    const bool judged = std::any_of(logs.begin(), logs.end(), [&](const JudgedLog* log) {
      return log->find(method) != nullptr;
    });
    if (judged) out[method] = summarise(logs, method, without_suspects);
  }
  return out;
}

void Comparison::add_part(const std::string& part, const JudgedLogs& logs) {
  const json of_part = metrics_["parts"][part] = figures(logs);
  const json without = metrics_.value("without_suspects", json::object());
  for (const std::string& method : methods_) {
    if (!of_part.contains(method)) continue;
    main_.rows.push_back(main_row(part, method, of_part.at(method)));
    more_.rows.push_back(more_row(part, method, of_part.at(method)));
    if (is_model(method) && without.contains(part)) {
      main_.rows.push_back(
          main_row(part, method + ", without suspects", without.at(part).at(method)));
    }
  }
  for (const std::string& model : models_) {
    if (of_part.contains(model)) compare(part, logs, model);
  }
}

void Comparison::compare(const std::string& part, const JudgedLogs& logs,
                         const std::string& model) {
  std::vector<std::pair<double, std::string>> better;
  for (const std::string& method : methods_) {
    if (is_model(method) || ablated_.contains(method)) continue;
    if (!metrics_.at("parts").at(part).contains(method)) continue;
    // On windows that both judged: a profile of a log's own beginning leaves some out.
    const double theirs = f1_where(logs, method, model), own = f1_where(logs, model, method);
    if (theirs > own) {
      better.emplace_back(theirs, method + " " + format_number("%.4f", theirs) + " against " +
                                      format_number("%.4f", own));
    }
  }
  if (better.empty()) return;
  std::stable_sort(better.begin(), better.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 3;
  std::string sentence = part + ": other methods have a higher F1 than " + model + ":";
  for (std::size_t i = 0; i < std::min(better.size(), kNamed); ++i) {
    sentence += (i == 0 ? " " : ", ") + better[i].second;
  }
  if (better.size() > kNamed)
    sentence += " and " + std::to_string(better.size() - kNamed) + " more";
  shortfalls_.push_back(std::move(sentence));
}

void Comparison::add_kinds(const Groups& kinds) {
  for (const auto& [kind, logs] : kinds) {
    const json of_kind = metrics_["kinds"][kind] = figures(logs);
    for (const std::string& method : methods_) {
      if (!of_kind.contains(method)) continue;
      const json& m = of_kind.at(method);
      kinds_.rows.push_back({kind, m.at("files"), method, m.at("attacks"), m.at("f1"),
                             m.at("pr_auc"), m.at("missed_windows"),
                             of(m.at("events_found"), m.at("events")),
                             m.contains("frames") ? m.at("frames").at("f1") : json("")});
    }
  }
}

void Comparison::list_copies(const std::vector<data::SameContent>& copies) {
  for (const data::SameContent& pair : copies) {
    metrics_["same_content"].push_back({pair.first, pair.second});
    notes_.push_back(pair.second + " holds the same frames and labels as " + pair.first +
                     ": what is said of it is not of new traffic");
  }
}

void Comparison::list_suspects(const std::vector<JudgedLog>& logs, const Groups& parts) {
  json list = json::array();
  int64_t frames = 0;
  for (const JudgedLog& log : logs) {
    for (std::size_t w = 0; w < log.suspect.size(); ++w) {
      if (log.suspect[w] == 0) continue;
      frames += log.suspect[w];
      list.push_back({{"log", log.name},
                      {"window", log.first_row[w] / log.size},
                      {"first_row", log.first_row[w]},
                      {"frames", log.suspect[w]}});
    }
  }
  if (list.empty()) return;
  notes_.push_back(
      "benign windows near attacks whose labels may be wrong: " + std::to_string(list.size()) +
      ", with " + std::to_string(frames) +
      " frames of ids that the benign traffic of their vehicle does not have; the first in " +
      list.front().at("log").get<std::string>() + ", row " + list.front().at("first_row").dump() +
      ". Figures are given without them, too");
  metrics_["suspects"] = std::move(list);
  for (const auto& [part, of_part] : parts) {
    const bool has = std::any_of(of_part.begin(), of_part.end(), [](const JudgedLog* log) {
      return std::any_of(log->suspect.begin(), log->suspect.end(),
                         [](int32_t count) { return count > 0; });
    });
    if (has) metrics_["without_suspects"][part] = figures(of_part, true);
  }
}

}  // namespace kdgat::compare
