#include "pipeline/run/requirements.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "kdgat/text.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr const char* kForm =
    "STEP.FIGURE or STEP.PART.FIGURE, then >=, >, <=, < or ==, then a number: "
    R"(e.g. "classifier.test_01.f1>=0.9")";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> split_at_dots(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    if (c == '.') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// The names that `word` may stand for: the one that it is, or all that begin with it.
std::vector<std::string> meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string plain = plain_name(word);
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (plain_name(name) == plain) return {name};
    const bool is_new = std::find(out.begin(), out.end(), name) == out.end();
    if (is_new && plain_name(name).starts_with(plain)) out.push_back(name);
  }
  return out;
}

/// Checks one name; `kind` in words: "step".
void check_name(const Requirement& requirement, const std::string& kind, const std::string& word,
                const std::vector<std::string>& names, std::vector<Diagnostic>& problems) {
  const std::vector<std::string> found = meant(word, names);
  if (found.size() == 1) return;
  const std::string begin = "--require " + requirement.name + ": ";
  if (found.empty()) {
    problems.push_back({requirement.where, begin + "there is no " + kind + " \"" + word + "\"",
                        names.empty() ? "there is none" : "there are " + joined(names, ", ")});
  } else {
    problems.push_back({requirement.where,
                        begin + "more than one " + kind + " begins with \"" + word + "\"",
                        joined(found, ", ")});
  }
}

/// With as many digits as it takes to see on which side of what is wanted it lies.
std::string shown_number(const Requirement& requirement, double value) {
  constexpr double kPlain = 1e15;  // whole numbers below it are written out
  if (value == std::floor(value) && std::abs(value) < kPlain) return format_number("%.0f", value);
  for (const char* form : {"%.3f", "%.6f", "%.9g"}) {
    std::string text = format_number(form, value);
    const auto shown = finite_number(text);
    if (shown && requirement.holds(*shown) == requirement.holds(value)) return text;
  }
  return format_number("%.17g", value);
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// "detector.test_01: f1, auc; detector: best_epoch", of one step, or of the part that was meant.
std::string list_of(const std::vector<Figure>& figures) {
  std::vector<std::pair<std::string, std::string>> lists;
  for (const Figure& figure : figures) {
    const std::string place = figure.model + (figure.part.empty() ? "" : "." + figure.part);
    if (lists.empty() || lists.back().first != place) {
      lists.emplace_back(place, figure.name);
    } else {
      lists.back().second += ", " + figure.name;
    }
  }
  std::string out;
  for (const auto& [place, names] : lists) {
    out.append(out.empty() ? "" : "; ").append(place).append(": ").append(names);
  }
  return out;
}

/// The figures of those given whose name, told by `name_of`, is the one that `word` stands for.
template <class NameOf>
std::vector<Figure> narrowed(const std::vector<Figure>& figures, const std::string& word,
                             const NameOf& name_of) {
  std::vector<std::string> names;
  names.reserve(figures.size());
  for (const Figure& figure : figures) names.push_back(name_of(figure));
  const std::vector<std::string> found = meant(word, names);
  std::vector<Figure> out;
  if (found.size() != 1) return out;
  std::copy_if(figures.begin(), figures.end(), std::back_inserter(out),
               [&](const Figure& figure) { return name_of(figure) == found.front(); });
  return out;
}

JudgedRequirement judge_requirement(const Requirement& requirement,
                                    const std::vector<std::string>& steps,
                                    const std::vector<Figure>& figures) {
  const std::vector<std::string> step = meant(requirement.step, steps);
  std::vector<Figure> of_step;
  std::copy_if(
      figures.begin(), figures.end(), std::back_inserter(of_step),
      [&](const Figure& figure) { return step.size() == 1 && figure.model == step.front(); });
  std::vector<Figure> of_place;
  if (requirement.part.empty()) {
    std::copy_if(of_step.begin(), of_step.end(), std::back_inserter(of_place),
                 [](const Figure& figure) { return figure.part.empty(); });
  } else {
    std::vector<Figure> of_parts = of_step;
    std::erase_if(of_parts, [](const Figure& figure) { return figure.part.empty(); });
    of_place =
        narrowed(of_parts, requirement.part, [](const Figure& figure) { return figure.part; });
  }
  const std::vector<Figure> found =
      narrowed(of_place, requirement.figure, [](const Figure& figure) { return figure.name; });
  JudgedRequirement out{requirement, std::nullopt, false, ""};
  if (found.empty()) {
    const std::string there = list_of(of_place.empty() ? of_step : of_place);
    out.problem = requirement.name + " is not among the figures of this run" +
                  (there.empty() ? "" : " (" + there + ")") + ", required " + requirement.relation +
                  " " + shortest(requirement.wanted);
    return out;
  }
  out.value = found.front().value;
  out.is_met = requirement.holds(*out.value);
  if (!out.is_met) {
    out.problem = requirement.name + " is " + shown_number(requirement, *out.value) +
                  ", required " + requirement.relation + " " + shortest(requirement.wanted);
  }
  return out;
}

}  // namespace

bool Requirement::holds(double value) const {
  if (relation == ">=") return value >= wanted;
  if (relation == ">") return value > wanted;
  if (relation == "<=") return value <= wanted;
  if (relation == "<") return value < wanted;
  return value == wanted;
}

std::string Requirement::text() const { return name + " " + relation + " " + shortest(wanted); }

std::optional<Requirement> read_requirement(const std::string& text, const std::string& where,
                                            std::vector<Diagnostic>& problems) {
  const auto refuse = [&](const std::string& why) {
    problems.push_back({where, "--require \"" + text + "\": " + why, kForm});
    return std::nullopt;
  };
  const std::size_t at = text.find_first_of("<>=");
  if (at == std::string::npos) return refuse("says no relation");
  const std::size_t behind = text.find_first_not_of("<>=", at);
  Requirement out;
  out.where = where;
  out.name = trimmed(text.substr(0, at));
  out.relation = text.substr(at, behind - at);
  constexpr std::array<std::string_view, 5> kRelations = {">=", ">", "<=", "<", "=="};
  if (std::find(kRelations.begin(), kRelations.end(), out.relation) == kRelations.end()) {
    return refuse("\"" + out.relation + "\" is no relation");
  }
  const std::string number = behind == std::string::npos ? "" : trimmed(text.substr(behind));
  const std::optional<double> wanted = finite_number(number);
  if (!wanted) return refuse("\"" + number + "\" is not a number");
  out.wanted = *wanted;
  const std::vector<std::string> names = split_at_dots(out.name);
  const bool has_empty = std::any_of(names.begin(), names.end(),
                                     [](const std::string& name) { return trimmed(name).empty(); });
  if (names.size() < 2 || names.size() > 3 || has_empty) {
    return refuse("\"" + out.name + "\" names no figure of a step");
  }
  out.step = trimmed(names.front());
  if (names.size() == 3) out.part = trimmed(names[1]);
  out.figure = trimmed(names.back());
  return out;
}

std::vector<Diagnostic> check_names(const std::vector<Requirement>& list, const KnownNames& known) {
  std::vector<Diagnostic> problems;
  for (const Requirement& requirement : list) {
    check_name(requirement, "step", requirement.step, known.steps, problems);
    if (requirement.part.empty()) {
      check_name(requirement, "figure of a whole step", requirement.figure, known.of_steps,
                 problems);
      continue;
    }
    if (known.parts) check_name(requirement, "part", requirement.part, *known.parts, problems);
    check_name(requirement, "figure of a part", requirement.figure, known.of_parts, problems);
  }
  return problems;
}

std::vector<JudgedRequirement> judge_requirements(const std::vector<Requirement>& list,
                                                  const std::vector<std::string>& steps,
                                                  const std::vector<Figure>& figures) {
  std::vector<JudgedRequirement> out;
  out.reserve(list.size());
  for (const Requirement& requirement : list) {
    out.push_back(judge_requirement(requirement, steps, figures));
  }
  return out;
}

void to_json(nlohmann::json& out, const JudgedRequirement& judged) {
  out = record::write<nlohmann::json>(judged);
}

std::vector<std::string> requirements_text(const nlohmann::json& list) {
  std::vector<std::string> out;
  for (const nlohmann::json& item : list) {
    const auto one = record::read<JudgedRequirement>(item);
    out.push_back(one.text() + ": " +
                  (one.value ? shown_number(one, *one.value) : "no such figure") +
                  (one.is_met ? ", met" : ", not met"));
  }
  return out;
}

}  // namespace kdgat
