// How nodes and edges enter a model, as options. The defaults are the published form;
// docs/models.md says where each comes from.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::model {

/// How nodes (and edges) enter a model.
struct InputForm {
  std::string id_embedding = "table";
  int64_t id_buckets = 256;
  double id_dropout = 0.05;
  bool standardise = false;

  static auto table() {
    using F = InputForm;
    return std::tuple{
        field(
            "id_embedding", &F::id_embedding, Purpose::kModel,
            "table: a row for each identifier, as published; unknown: the row for unknown ones is "
            "trained too (id_dropout); hashed: two rows of a table of id_buckets, added.")
            .choices({"table", "unknown", "hashed"}),
        field("id_buckets", &F::id_buckets, Purpose::kModel, "Rows of the hashed embedding table.")
            .range(1, 1 << 24),
        field("id_dropout", &F::id_dropout, Purpose::kModel,
              "Share of nodes whose identifier training takes for unknown (id_embedding unknown).")
            .range(0, 0.99),
        field("standardise", &F::standardise, Purpose::kModel,
              "Inputs as z-scores, by the benign training windows.")};
  }
  bool operator==(const InputForm&) const = default;
};

}  // namespace kdgat::model
