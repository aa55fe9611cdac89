// The published estimate of a recommender's memory (legacy_estimate.h) beside what the stage plans:
// as a record, and in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/memory/data_sizes.h"
#include "pipeline/memory/legacy_estimate.h"
#include "pipeline/run/memory_plan.h"

namespace kdgat {

/// What the published formula says of a net, and what its stage plans.
struct LegacyComparison {
  int64_t hidden_dim = 0, num_layers = 0;
  double users = 0, items = 0;
  double legacy_gb = 0;
  int64_t tensor_bytes = 0, mapped_bytes = 0;
  std::vector<MemoryItem> parts;  ///< what the tensors are

  static auto keys() {
    using T = LegacyComparison;
    return std::tuple{
        key("hidden_dim", &T::hidden_dim, "width of the layers"),
        key("num_layers", &T::num_layers, "layers"),
        key("num_users", &T::users, "users"),
        key("num_items", &T::items, "items"),
        key("legacy_gb", &T::legacy_gb, "by the published formula, GB"),
        key("tensor_bytes", &T::tensor_bytes, "that this program holds, bytes"),
        key("mapped_bytes", &T::mapped_bytes, "of graph and features, mapped once, bytes"),
        key("items", &T::parts, "what the tensors are")};
  }
};
LegacyComparison legacy_comparison(const MemoryPlan& planned, int64_t hidden_dim,
                                   int64_t num_layers, const RatingSizes& sizes);
std::string legacy_comparison_text(const LegacyComparison& compared);

/// One of the published configurations, with what is published of it.
struct PublishedComparison : LegacyComparison {
  std::string table, name;
  double published_gb = 0, original_mib = 0;

  static auto keys() {
    using T = PublishedComparison;
    return std::tuple_cat(LegacyComparison::keys(),
                          std::tuple{key("table", &T::table, "where it is published"),
                                     key("name", &T::name, "as it is called there"),
                                     key("published_gb", &T::published_gb, "as published, GB"),
                                     key("original_mib", &T::original_mib,
                                         "of the original program, measured, MiB")});
  }
};
/// The published tables beside the formula that is to give them, the original program and this one.
std::string published_comparisons_text(const std::vector<PublishedComparison>& rows);

}  // namespace kdgat
