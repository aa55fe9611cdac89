// What the names of numbers say of them: how they are written for people and which way they are
// better. Here are the names that several stages share; one that is a stage's own needs no row, as
// its Figure says the same (result.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace kdgat {

/// Which way a number is better.
enum class Better { kNeither, kMore, kLess };

struct Measure {
  std::string_view name;
  std::string_view label;  ///< in words
  Better better;
};

/// In the order in which people look at them.
inline constexpr Measure kMeasures[] = {
    {"rmse", "RMSE", Better::kLess},     {"mae", "MAE", Better::kLess},
    {"ndcg", "ndcg", Better::kMore},     {"precision", "precision", Better::kMore},
    {"recall", "recall", Better::kMore}, {"hit_rate", "hit rate", Better::kMore},
    {"loss", "loss", Better::kLess},     {"accuracy", "accuracy", Better::kMore},
    {"auc", "AUC", Better::kMore},       {"f1", "F1", Better::kMore},
    {"per_second", "/s", Better::kMore}, {"error", "error", Better::kLess},
    {"mse", "mse", Better::kLess}};

/// Of numbers of a step as a whole, those of validation have this before their name.
inline constexpr std::string_view kOfValidation = "val_";

/// "val_auc" is "val AUC", "graphs_per_second" is "graphs/s", "best_epoch" is "best epoch".
inline std::string label_of(const std::string& name) {
  constexpr std::string_view kRate = "_per_second";
  if (name.starts_with(kOfValidation)) return "val " + label_of(name.substr(kOfValidation.size()));
  if (name.ends_with(kRate)) return name.substr(0, name.size() - kRate.size()) + "/s";
  for (const Measure& one : kMeasures) {
    if (one.name == name) return std::string(one.label);
  }
  std::string out = name;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

/// By the end of the name: "val_rmse" as "rmse". Less is better where the name holds an error
/// anywhere: "loss_of_teacher".
inline Better better_of(const std::string& name) {
  const auto fits = [&](const Measure& one) {
    return one.better == Better::kLess ? name.find(one.name) != std::string::npos
                                       : name.ends_with(one.name);
  };
  const auto less = std::find_if(std::begin(kMeasures), std::end(kMeasures), [&](const Measure& m) {
    return m.better == Better::kLess && fits(m);
  });
  if (less != std::end(kMeasures)) return Better::kLess;
  return std::any_of(std::begin(kMeasures), std::end(kMeasures), fits) ? Better::kMore
                                                                       : Better::kNeither;
}

/// Digits after the point; 0 = a count, in words of its size.
inline int decimals_of(const std::string& name) {
  return name.ends_with("per_second") ? 0 : name.ends_with("loss") ? 4 : 3;
}

}  // namespace kdgat
