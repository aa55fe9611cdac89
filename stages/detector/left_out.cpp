#include "detector/left_out.h"

#include <limits>
#include <span>

#include "engine/compare/rule.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/floors.h"
#include "engine/decision/detector/rank_filter.h"
#include "kdgat/text.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

constexpr double kHour = 3600;

std::span<const float> row_of(const LearningSet& rows, std::size_t i) {
  return std::span(rows.values).subspan(i * data::kRelativeColumns, data::kRelativeColumns);
}

json as_json(const LeftOutCount& count) {
  return {{"windows", count.windows}, {"detector", count.detector}, {"rule", count.rule}};
}

}  // namespace

json LeftOut::json() const {
  nlohmann::json kinds = nlohmann::json::object();
  for (const auto& [kind, count] : injected) kinds[kind] = as_json(count);
  return {{"labelled", as_json(labelled)},
          {"injected", std::move(kinds)},
          {"benign", as_json(benign)},
          {"benign_hours", benign_hours}};
}

ResultTable LeftOut::table() const {
  ResultTable out{{"windows left out of training", "windows", "detector flags", "rule flags"}, {}};
  const auto share = [](int64_t part, int64_t whole) {
    return format_number("%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  };
  const auto add = [&](const std::string& name, const LeftOutCount& count) {
    if (count.windows == 0) return;
    out.rows.push_back({name, count.windows, share(count.detector, count.windows),
                        share(count.rule, count.windows)});
  };
  add("attacks, labelled", labelled);
  for (const auto& [kind, count] : injected) add("attacks, injected: " + kind, count);
  if (benign.windows > 0) {
    out.rows.push_back({"benign (false)", benign.windows, benign.detector, benign.rule});
  }
  return out;
}

LeftOut left_out_figures(const Learning& learning, const CrossFit& fit,
                         const decision::DetectorModel& model, double least) {
  const LearningSet& rows = learning.rows;
  LeftOut out;
  constexpr double kNothing = std::numeric_limits<float>::lowest();
  decision::RankFilter known(model.alarm_rule, kNothing), tails = known;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    if (rows.begins[i] != 0) known = tails = decision::RankFilter(model.alarm_rule, kNothing);
    const bool has_evidence = model.floors.are_reached(row_of(rows, i));
    const double log_odds = known.add(has_evidence ? fit.rows[i] : kNothing);
    const double rarity = tails.add(has_evidence ? fit.tails[i] : kNothing);
    const bool is_judged = fit.rows[i] > std::numeric_limits<float>::lowest();
    if (!is_judged || rows.forgetful[i] != 0) continue;
    const int8_t kind = rows.kinds[i];
    if (kind >= 0 && rows.labels[i] == 0) continue;  // beside an injected attack
    LeftOutCount& count = kind >= 0 ? out.injected[learning.kinds[static_cast<std::size_t>(kind)]]
                          : rows.labels[i] == 1 ? out.labelled
                                                : out.benign;
    ++count.windows;
    const decision::Decision& decision = model.decision(rows.own[i]);
    const bool is_flagged = log_odds > decision.classifier || rarity > decision.tails;
    count.detector += is_flagged ? 1 : 0;
    // What is missing is one finding, however many windows it lasts.
    const bool is_odd = log_odds > least && !decision::is_missing(row_of(rows, i));
    if (&count == &out.benign) out.odd_benign += is_odd ? 1 : 0;
    count.rule += rows.rule[i] > compare::RuleWindows::kThreshold ? 1 : 0;
  }
  for (const Held& held : learning.held) out.benign_hours += held.seconds / kHour;
  return out;
}

}  // namespace kdgat::detector
