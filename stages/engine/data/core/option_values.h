// Options of one domain among those of all.
#pragma once

#include <nlohmann/json.hpp>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::data {

/// Those of `values` that Options has, loaded. Options with a settle() replace in it the values
/// that follow from others, so that all that is kept of an import names them. Throws Error(kUsage).
template <class Options>
Options own_options(const nlohmann::json& values) {
  nlohmann::json own = nlohmann::json::object();
  const auto take = [&](const auto& f) {
    if (values.contains(f.name)) own[f.name] = values.at(f.name);
  };
  std::apply([&](const auto&... f) { (take(f), ...); }, Options::table());
  auto options = load_options<Options>(own);
  if constexpr (requires { options.settle(); }) options.settle();
  return options;
}

/// dump_options() of those that can change a result: without runtime options, without later ones at
/// their default, and without those of folds and ageing where there are none, so that data made
/// before there were such options is found again.
template <class Options>
nlohmann::json result_identity(const Options& options) {
  nlohmann::json out = dump_options(options);
  const Options at_default;
  const auto drop = [&](const auto& f) {
    const bool is_as_before = f.is_later && options.*(f.member) == at_default.*(f.member);
    if (f.is_runtime || is_as_before) out.erase(f.name);
  };
  std::apply([&](const auto&... f) { (drop(f), ...); }, Options::table());
  if (out.value("folds", int64_t{1}) == 0) {
    out.erase("folds");
    out.erase("fold");
  }
  if (out.value("ageing", int64_t{1}) == 0) out.erase("ageing");
  return out;
}

}  // namespace kdgat::data
