// Methods side by side on the same logs: figures by part, log and kind of attack, tables, and a
// sentence where a method does better than the one that it is held against. Knows no method but by
// name.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/compare/judged_log.h"
#include "engine/compare/summary.h"
#include "kdgat/result.h"

namespace kdgat::compare {

class Comparison {
 public:
  /// `models`: methods that the others are held against. Keeps no reference to the logs.
  Comparison(const std::vector<JudgedLog>& logs, std::vector<std::string> models,
             const std::vector<data::SameContent>& copies);

  /// {"parts": {part: {method: see summarise()}}, "logs": {log: the same}, "kinds": of logs with
  ///  attacks, {attack_of(log): the same}; only where there are suspects: "suspects": [{"log",
  ///  "window", "first_row", "frames"}], "without_suspects": {part: {method: ..}} of parts that have
  ///  some; only where there are copies: "same_content": [[log, log]]}
  const nlohmann::json& metrics() const { return metrics_; }

  /// Of each part and method: counts, F1, false windows an hour, time to alarm. A model has a
  /// second row without suspects in parts that have some.
  const ResultTable& main() const { return main_; }
  /// Of each part and method what the main table has no room for; of each kind of attack.
  const ResultTable& more() const { return more_; }
  const ResultTable& kinds() const { return kinds_; }

  /// The models, and all methods: models first, those that are ablated among them.
  const std::vector<std::string>& models() const { return models_; }
  const std::vector<std::string>& methods() const { return methods_; }
  bool is_model(const std::string& method) const;

  /// A sentence for each model and part where another method is better; on copies and suspects.
  const std::vector<std::string>& shortfalls() const { return shortfalls_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Groups = std::map<std::string, JudgedLogs>;
  nlohmann::json figures(const JudgedLogs& logs, bool without_suspects = false) const;
  void add_part(const std::string& part, const JudgedLogs& logs);
  void compare(const std::string& part, const JudgedLogs& logs, const std::string& model);
  void add_kinds(const Groups& kinds);
  void list_copies(const std::vector<data::SameContent>& copies);
  void list_suspects(const std::vector<JudgedLog>& logs, const Groups& parts);

  std::vector<std::string> models_, methods_;
  std::set<std::string> ablated_;  ///< methods, see Verdicts
  nlohmann::json metrics_;
  ResultTable main_, more_, kinds_;
  std::vector<std::string> shortfalls_, notes_;
};

}  // namespace kdgat::compare
