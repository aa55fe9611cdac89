// A model's configuration as JSON, and back with everything checked.
//
// A configuration says which entries it has:
//   entries(config, visit)   calls visit(name, member) for each that every version of its files has
//   later()                  rows of options, std::tuple{field(...), ...}, that older files lack:
//   such a file
//                            means the defaults; at its default a row that is later() itself is
//                            not written, so that files of models without it stay as they were
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/options.h"

namespace kdgat::model {

template <class Config>
nlohmann::json dump_config(const Config& config) {
  nlohmann::json out = nlohmann::json::object();
  Config::entries(config, [&out](const char* name, const auto& value) { out[name] = value; });
  const Config at_default;
  const auto add = [&](const auto& f) {
    if (f.is_later && config.*(f.member) == at_default.*(f.member)) return;
    out[f.name] = config.*(f.member);
  };
  std::apply([&](const auto&... f) { (add(f), ...); }, Config::later());
  return out;
}

/// What is wrong with the value of an entry of type T, "" if nothing.
template <class T>
std::string fault_of_entry(const nlohmann::json& value) {
  const auto is_count = [](const nlohmann::json& v) {
    return v.is_number_integer() && v >= 1 && v <= int64_t{1} << 31;
  };
  if constexpr (std::is_same_v<T, double>) {
    return value.is_number() && value >= 0 && value < 1 ? "" : "is not in [0, 1)";
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return is_count(value) ? "" : "is not a positive integer";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string() ? "" : "is not a text";
  } else {
    const bool is_sound =
        value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_count);
    return is_sound ? "" : "is not a list of positive integers";
  }
}

/// Whether the value is one the option's row allows.
template <class Struct, class T>
bool is_allowed(const nlohmann::json& value, const Field<Struct, T>& f) {
  if (!detail::matches<T>(value)) return false;
  if (f.low && (value < *f.low || value > *f.high)) return false;
  return f.choices_.empty() ||
         std::find(f.choices_.begin(), f.choices_.end(), value) != f.choices_.end();
}

/// Throws Error(kData) naming each missing, unknown, malformed or impossible entry.
template <class Config>
void load_config(const nlohmann::json& in, Config& config) {
  std::vector<Diagnostic> wrong;
  const auto report = [&wrong](const std::string& name, const std::string& what) {
    wrong.push_back({"", "model configuration: " + name + " " + what, ""});
  };
  std::set<std::string> known;
  if (!in.is_object()) throw Error(ExitCode::kData, "model configuration: not an object");
  Config::entries(config, [&](const char* name, auto& member) {
    using T = std::remove_reference_t<decltype(member)>;
    known.insert(name);
    const auto found = in.find(name);
    if (found == in.end()) return report(name, "is missing");
    const std::string fault = fault_of_entry<T>(*found);
    if (!fault.empty()) return report(name, fault);
    member = found->template get<T>();
  });
  const auto read = [&](const auto& f) {
    known.insert(f.name);
    const auto found = in.find(f.name);
    if (found == in.end()) return;
    if (!is_allowed(*found, f)) return report(f.name, "cannot be " + found->dump());
    found->get_to(config.*(f.member));
  };
  std::apply([&](const auto&... f) { (read(f), ...); }, Config::later());
  for (const auto& [name, value] : in.items()) {
    if (!known.contains(name)) report(name, "is unknown");
  }
  if (!wrong.empty()) throw Error(ExitCode::kData, std::move(wrong));
}

}  // namespace kdgat::model
