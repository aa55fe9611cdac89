#include "detector/figures.h"

#include <algorithm>
#include <cstdint>

#include "engine/compare/judging.h"
#include "kdgat/atomic_file.h"
#include "kdgat/text.h"

namespace kdgat::detector {

using nlohmann::json;

void write_windows(const std::vector<compare::JudgedLog>& logs, const std::filesystem::path& file) {
  AtomicFile out(file);
  out.write("log,part,first_row,begin,label,score,threshold,flagged,rule\n");
  for (const compare::JudgedLog& log : logs) {
    std::string lines;
    const compare::Verdicts *said = log.find(compare::kDetector), *rule = log.find(compare::kRule);
    if (said == nullptr) continue;
    for (std::size_t w = 0; w < log.labels.size(); ++w) {
      lines += log.name + "," + log.part + "," + std::to_string(log.first_row[w]) + "," +
               format_number("%.6f", log.begin[w]) + "," + std::to_string(log.labels[w]) + "," +
               format_number("%.4f", said->scores[w]) + "," +
               format_number("%.4f", said->threshold) + "," +
               (said->scores[w] > said->threshold ? "1," : "0,") +
               format_number("%.4f", rule->scores[w]) + "\n";
    }
    out.write(lines);
  }
  out.commit();
}

StageResult result_of(const std::string& step, const TrainedDetector& trained,
                      const compare::Comparison& comparison) {
  const decision::DetectorModel& model = trained.model;
  StageResult out;
  out.metrics = comparison.metrics();
  out.metrics["parameters"] = model.parameters();
  for (const auto& [own, decision] : model.decisions) {
    out.metrics["thresholds"][std::to_string(own)] = {{"classifier", decision.classifier},
                                                      {"tails", decision.tails}};
  }
  out.metrics["left_out"] = trained.left_out.json();
  const json& parts = out.metrics.at("parts");
  if (parts.empty()) {
    out.table = trained.left_out.table();
  } else {
    out.table = comparison.main();
    out.tables = {comparison.more(), comparison.kinds(), trained.left_out.table()};
  }
  double least = 1;
  for (const auto& [part, methods] : parts.items()) {
    const json& own = methods.at(compare::kDetector);
    least = std::min(least, own.at("f1").get<double>());
    int place = 0;
    for (const std::string name : kFigures) {
      Figure figure(name, own.at(name));
      const bool counts_errors = name.starts_with("false") || name.starts_with("missed");
      figure.better = counts_errors ? Better::kLess : Better::kMore;
      figure.model = step;
      figure.part = part;
      figure.place = ++place;
      figure.is_tile = place == 1;
      out.figures.push_back(std::move(figure));
    }
  }
  const std::string size = grouped(model.parameters()) + " parameters";
  out.summary = parts.empty() ? size
                              : "F1 " + format_number("%.3f", least) +
                                    (parts.size() > 1 ? " on the hardest part, " : ", ") + size;
  out.facts = {{"model", "detector"}, {"parameters", model.parameters()}};
  return out;
}

}  // namespace kdgat::detector
