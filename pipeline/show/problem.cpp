#include "pipeline/show/problem.h"

#include <nlohmann/json.hpp>

namespace kdgat {

using nlohmann::json;

bool is_typed(const std::string& where) {
  return where.starts_with(kCommandLine) || where.starts_with("KDGAT_");
}

std::string problem_text(const Diagnostic& problem) {
  if (!is_typed(problem.where)) return problem.text();
  return Diagnostic{"", problem.message + " (" + problem.where + ")", problem.hint}.text();
}

std::string Failure::text() const {
  std::string out = step.empty() ? "" : step + ": ";
  for (std::size_t i = 0; i < problems.size(); ++i) {
    out += (i == 0 ? "" : "\n") + problem_text(problems[i]);
  }
  if (!report.empty()) out += "\n  report: " + report;
  if (!log.empty()) out += "\n  log: " + log;
  return out;
}

void to_json(json& to, const Failure& from) {
  json problems = json::array();
  for (const Diagnostic& one : from.problems) {
    problems.push_back({{"where", one.where}, {"message", one.message}, {"hint", one.hint}});
  }
  to = {{"step", from.step}, {"problems", problems}, {"report", from.report}, {"log", from.log}};
}

void from_json(const json& from, Failure& to) {
  to = {from.at("step"), {}, from.at("report"), from.at("log")};
  for (const json& one : from.at("problems")) {
    to.problems.push_back({one.at("where"), one.at("message"), one.at("hint")});
  }
}

}  // namespace kdgat
