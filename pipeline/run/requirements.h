// What a run is asked to reach: `kdgat run --require "classifier.test_01.f1>=0.9"`. Reads such
// expressions, checks their names against what is known of a run before it has begun, and judges
// them by its figures afterwards. Pure: opens no file and asks no stage.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/result.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// STEP.FIGURE or STEP.PART.FIGURE, a relation (>=, >, <=, <, ==) and a number. Each name may be
/// shortened as long as it begins only one; case, blanks and dashes do not matter.
struct Requirement {
  std::string name;                ///< as typed: "classifier.test_01.f1"
  std::string step, part, figure;  ///< as typed; part "" = the step as a whole
  std::string relation;
  double wanted = 0;
  std::string where;  ///< who asked: "command line, argument 3"

  bool holds(double value) const;
  std::string text() const;  ///< "classifier.test_01.f1 >= 0.9"
};

/// Adds to `problems` what is no such expression.
std::optional<Requirement> read_requirement(const std::string& text, const std::string& where,
                                            std::vector<Diagnostic>& problems);

/// Names there will be in a run.
struct KnownNames {
  std::vector<std::string> steps;
  std::optional<std::vector<std::string>> parts;  ///< of the data; none = not known yet
  std::vector<std::string> of_steps, of_parts;    ///< figures of a whole step, and of a part
};

/// A problem for each name that none begins with, or several, with a list of those there are.
std::vector<Diagnostic> check_names(const std::vector<Requirement>& list, const KnownNames& known);

/// A requirement after the run.
struct JudgedRequirement : Requirement {
  std::optional<double> value;  ///< none = the run has no such figure
  bool is_met = false;
  std::string problem;  ///< why it is not met

  static auto keys() {
    using T = JudgedRequirement;
    return std::tuple{key("name", &Requirement::name, "STEP.FIGURE or STEP.PART.FIGURE"),
                      key("relation", &Requirement::relation, ">=, >, <=, < or =="),
                      key("wanted", &Requirement::wanted, "what it is compared with"),
                      key("value", &T::value, "of the run; null = it has no such figure").or_null(),
                      key("met", &T::is_met, "whether it holds")};
  }
};

/// `figures` as figures_of() gives them: each with its step as the model.
std::vector<JudgedRequirement> judge_requirements(const std::vector<Requirement>& list,
                                                  const std::vector<std::string>& steps,
                                                  const std::vector<Figure>& figures);

/// As run.json has it.
void to_json(nlohmann::json& out, const JudgedRequirement& judged);
/// "classifier.test_01.f1 >= 0.9: 0.871, not met" of each of such a list; anything else is passed
/// over.
std::vector<std::string> requirements_text(const nlohmann::json& list);

}  // namespace kdgat
