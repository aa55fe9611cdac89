// Options: one table. A struct lists its members once in `static auto table()`; loading, dumping
// and JSON Schema walk that table, and --help, flags, docs and validation come from the schema.
//
//   struct DistillOptions {
//     double temperature = 4.0;  // the default is written here and nowhere else
//     static auto table() {
//       return std::tuple{field("temperature", &DistillOptions::temperature,
//                               "Softmax temperature of teacher and student logits.")
//                             .range(0.1, 100.0)};
//     }
//   };
//
// Member types: bool, int64_t, double, std::string and std::vector of the last three.
// An optional `std::vector<Diagnostic> validate() const` states rules across fields.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {

/// What an option is for: in help and docs a heading each, kPurposeTitles, in this order.
enum class Purpose {
  kLength,
  kOptimiser,
  kMemory,
  kModel,
  kTeacher,
  kLoss,
  kData,
  kAlarms,
  kComparison,
  kProgress,
  kOther,
};

inline constexpr const char* kPurposeTitles[] = {
    "Length of training",
    "Optimiser",
    "Batch and memory",
    "Size and form of the model",
    "Learning from a teacher or a trained encoder",
    "Loss",
    "Which data are learned from",
    "Thresholds and alarms",
    "Evaluation and comparison",
    "Progress and repeating a run",
    "Others",
};

template <class Struct, class T>
struct Field {
  std::string name;
  T Struct::*member;
  std::string help;
  std::optional<double> low, high;
  std::vector<std::string> choices_, aliases;
  bool is_runtime = false;
  bool is_later = false;
  Purpose purpose = Purpose::kOther;
  std::optional<std::string> first_;
  std::vector<std::string> set_by_;

  /// Inclusive bounds of a number, or of each element of a list, which may not be empty then.
  Field range(double lowest, double highest) && {
    low = lowest;
    high = highest;
    return std::move(*this);
  }
  /// The texts allowed (for a list: for each element).
  Field choices(std::vector<std::string> allowed) && {
    choices_ = std::move(allowed);
    return std::move(*this);
  }
  /// A published name under which the option is also known.
  Field alias(std::string other) && {
    aliases.push_back(std::move(other));
    return std::move(*this);
  }
  /// The option cannot change results (threads, logging): it stays out of fingerprints.
  Field runtime() && {
    is_runtime = true;
    return std::move(*this);
  }
  /// The option came when there were results of its stage, which had been as its default says: at
  /// its default it stays out of fingerprints, so that they are kept. That default never changes.
  Field later() && {
    is_later = true;
    return std::move(*this);
  }
  /// Most people look at this option first. `advice` is what to know of it; of several rows of one
  /// name, one has it.
  Field first(std::string advice = "") && {
    first_ = std::move(advice);
    return std::move(*this);
  }
  /// Verbs in front of the stage that set the option by words of their own: there it is no flag.
  Field set_by(std::vector<std::string> verbs) && {
    set_by_ = std::move(verbs);
    return std::move(*this);
  }
};

template <class Struct, class T>
Field<Struct, T> field(std::string name, T Struct::*member, Purpose purpose, std::string help) {
  return {std::move(name), member, std::move(help), {}, {}, {}, {}, false, false, purpose, {}, {}};
}
template <class Struct, class T>
Field<Struct, T> field(std::string name, T Struct::*member, std::string help) {
  return field(std::move(name), member, Purpose::kOther, std::move(help));
}

namespace detail {

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class T>
nlohmann::json type_schema() {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_same_v<T, double>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else {
    static_assert(is_vector<T>::value, "unsupported option type");
    return {{"type", "array"}, {"items", type_schema<typename T::value_type>()}};
  }
}

template <class T>
bool matches(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
  if constexpr (std::is_same_v<T, int64_t>) {
    return value.is_number_integer() ||
           (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
            std::abs(value.get<double>()) < 9e15);
  }
  if constexpr (std::is_same_v<T, double>) return value.is_number();
  if constexpr (std::is_same_v<T, std::string>) return value.is_string();
  if constexpr (is_vector<T>::value) {
    if (!value.is_array()) return false;
    for (const nlohmann::json& item : value) {
      if (!matches<typename T::value_type>(item)) return false;
    }
    return true;
  }
  return false;
}

}  // namespace detail

/// JSON Schema of one options struct. Extensions: "x-aliases", "x-runtime", "x-later", "x-purpose"
/// (a title), "x-first" (advice) and "x-set-by".
template <class Options>
nlohmann::json options_schema() {
  nlohmann::json properties = nlohmann::json::object();
  const Options defaults;
  const auto add = [&](const auto& f) {
    using T = std::decay_t<decltype(defaults.*(f.member))>;
    nlohmann::json s = detail::type_schema<T>();
    nlohmann::json& element = s.contains("items") ? s["items"] : s;
    if (f.low && s.contains("items")) s["minItems"] = 1;
    if (f.low) element["minimum"] = *f.low;
    if (f.high) element["maximum"] = *f.high;
    if (!f.choices_.empty()) element["enum"] = f.choices_;
    s["description"] = f.help;
    s["default"] = defaults.*(f.member);
    if (!f.aliases.empty()) s["x-aliases"] = f.aliases;
    if (f.is_runtime) s["x-runtime"] = true;
    if (f.is_later) s["x-later"] = true;
    if (f.purpose != Purpose::kOther) {
      s["x-purpose"] = kPurposeTitles[static_cast<int>(f.purpose)];
    }
    if (f.first_) s["x-first"] = *f.first_;
    if (!f.set_by_.empty()) s["x-set-by"] = f.set_by_;
    properties[f.name] = std::move(s);
  };
  std::apply([&](const auto&... f) { (add(f), ...); }, Options::table());
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

/// Fills the struct from an object whose keys are canonical names (the host has resolved aliases
/// and checked the schema). Keys that are missing keep their default. Throws Error(kUsage) with
/// every problem: wrong type, unknown key, and what validate() finds.
template <class Options>
Options load_options(const nlohmann::json& values) {
  Options options;
  std::vector<Diagnostic> problems;
  std::vector<std::string> known;
  const auto read = [&](const auto& f) {
    using T = std::decay_t<decltype(options.*(f.member))>;
    known.push_back(f.name);
    if (!values.contains(f.name)) return;
    const nlohmann::json& value = values.at(f.name);
    if (!detail::matches<T>(value)) {
      problems.push_back({"", f.name + ": " + value.dump() + " has the wrong type", ""});
      return;
    }
    options.*(f.member) = value.get<T>();
  };
  std::apply([&](const auto&... f) { (read(f), ...); }, Options::table());
  for (const auto& [key, value] : values.items()) {
    bool found = false;
    for (const std::string& name : known) found = found || name == key;
    if (!found) problems.push_back({"", "unknown option " + key, ""});
  }
  if constexpr (requires { options.validate(); }) {
    if (problems.empty()) problems = options.validate();
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return options;
}

/// Every option with its value, canonical names.
template <class Options>
nlohmann::json dump_options(const Options& options) {
  nlohmann::json out = nlohmann::json::object();
  std::apply([&](const auto&... f) { ((out[f.name] = options.*(f.member)), ...); },
             Options::table());
  return out;
}

}  // namespace kdgat
