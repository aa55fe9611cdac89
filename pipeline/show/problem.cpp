#include "pipeline/show/problem.h"

namespace kdgat {
namespace {

bool is_typed(const std::string& where) {
  return where.starts_with(kCommandLine) || where.starts_with("KDGAT_");
}

}  // namespace

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

}  // namespace kdgat
