// Forms of the models beyond the published ones: switches that model configurations and the options
// of the stages share. The defaults are the published form. docs/models.md says where each comes
// from. No LibTorch.
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
            "id_embedding", &F::id_embedding,
            "table: a row for each identifier, as published; unknown: the row for unknown ones is "
            "trained too (id_dropout); hashed: two rows of a table of id_buckets, added.")
            .choices({"table", "unknown", "hashed"}),
        field("id_buckets", &F::id_buckets, "Rows of the hashed embedding table.")
            .range(1, 1 << 24),
        field("id_dropout", &F::id_dropout,
              "Share of nodes whose identifier training takes for unknown (id_embedding unknown).")
            .range(0, 0.99),
        field("standardise", &F::standardise,
              "Inputs as z-scores, by the benign training windows.")};
  }
  bool operator==(const InputForm&) const = default;
};

struct VgaeForm : InputForm {
  std::string norm = "batch";

  static auto table() {
    return std::tuple_cat(
        std::tuple{field("norm", &VgaeForm::norm,
                         "Normalisation in each layer: over the batch, as published, or over each "
                         "graph.")
                       .choices({"batch", "graph"})},
        InputForm::table());
  }
  bool operator==(const VgaeForm&) const = default;
};

struct GatForm : InputForm {
  std::string conv = "gat";
  std::string norm = "none";
  std::string jk = "cat";

  static auto table() {
    using F = GatForm;
    return std::tuple_cat(
        std::tuple{field("conv", &F::conv,
                         "Attention: gat, as published, or gatv2, which also reads edge features "
                         "(use with standardise).")
                       .choices({"gat", "gatv2"}),
                   field("norm", &F::norm,
                         "Normalisation in each layer: none, as published, or over each graph.")
                       .choices({"none", "graph"}),
                   field("jk", &F::jk,
                         "Jumping knowledge: the layers' states side by side, as published, or "
                         "their average weighted by an LSTM.")
                       .choices({"cat", "lstm"})},
        InputForm::table());
  }
  bool operator==(const GatForm&) const = default;
};

}  // namespace kdgat::model
