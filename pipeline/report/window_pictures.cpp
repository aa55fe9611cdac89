#include "pipeline/report/window_pictures.h"

#include <cmath>

#include "pipeline/show/json_lookup.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::vector<double> numbers_of(const json& list) {
  std::vector<double> out;
  if (!list.is_array()) return out;
  for (const json& value : list) {
    out.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return out;
}

/// What `read` makes of each item of a list; nothing of anything else.
template <class Read>
auto list_of(const json& list, const Read& read) {
  std::vector<decltype(read(list))> out;
  if (!list.is_array()) return out;
  for (const json& item : list) out.push_back(read(item));
  return out;
}

Intervals intervals_of(const json& list) {
  Intervals out;
  if (!list.is_array()) return out;
  for (const json& one : list) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number() || !one[1].is_number()) continue;
    out.emplace_back(one[0].get<double>(), one[1].get<double>());
  }
  return out;
}

std::optional<ScoreHistogram> histogram_of(const json& in) {
  const auto from = number_there(in, "from"), to = number_there(in, "to");
  if (!from || !to) return std::nullopt;
  return ScoreHistogram{*from, *to, numbers_of(below(in, "benign")),
                        numbers_of(below(in, "attack"))};
}

JudgedMethod method_of(const json& in) {
  const json& in_use = below(in, "at");
  return {word(in, "name"),
          below(in, "model") == true,
          number_there(in, "value"),
          number_there(in, "low"),
          number_there(in, "high"),
          histogram_of(below(in, "histogram")),
          numbers_of(below(in, "tp")),
          numbers_of(below(in, "fp")),
          number(in, "attacks", 0),
          number(in, "benign", 0),
          number(in, "hours", 0),
          number(in_use, "tp", 0),
          number(in_use, "fp", 0)};
}

LogScores scores_of(const json& in) {
  return {word(in, "name"), numbers_of(below(in, "x")), numbers_of(below(in, "low")),
          numbers_of(below(in, "high")), intervals_of(below(in, "alarms"))};
}

JudgedLogPicture log_of(const json& in) {
  return {word(in, "name"), word(in, "axis") == "seconds", number(in, "windows", 0),
          intervals_of(below(in, "attacks")), list_of(below(in, "models"), scores_of)};
}

}  // namespace

WindowPictures read_window_pictures(const json& pictures) {
  WindowPictures out;
  out.measure = word(pictures, "measure");
  if (const json& parts = below(pictures, "parts"); parts.is_object()) {
    for (const auto& [name, part] : parts.items()) {
      out.parts.push_back({name, list_of(below(part, "methods"), method_of),
                           list_of(below(part, "logs"), log_of), number(part, "more_logs", 0)});
    }
  }
  const json& sentences = below(pictures, "shortfalls");
  if (!sentences.is_array()) return out;
  for (const json& sentence : sentences) {
    if (sentence.is_string()) out.shortfalls.push_back(sentence);
  }
  return out;
}

}  // namespace kdgat
