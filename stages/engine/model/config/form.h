// Forms of the models beyond the published ones: switches that model configurations and the options
// of the stages share. The defaults are the published form. docs/models.md says where each comes
// from.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/model/config/input_form.h"
#include "kdgat/options.h"

namespace kdgat::model {

struct VgaeForm : InputForm {
  std::string norm = "batch";
  std::string readout = "mean";

  static auto table() {
    return std::tuple_cat(
        std::tuple{field("norm", &VgaeForm::norm, Purpose::kModel,
                         "Normalisation in each layer: over the batch, as published, or over each "
                         "graph.")
                       .choices({"batch", "graph"}),
                   field("readout", &VgaeForm::readout, Purpose::kModel,
                         "The score of a graph, from the errors of its nodes: their mean, as "
                         "published, or mean_and_max, their mean plus the largest, for graphs "
                         "of which one node may be odd.")
                       .choices({"mean", "mean_and_max"})
                       .later()},
        InputForm::table());
  }
  bool operator==(const VgaeForm&) const = default;
};

/// A graph convolution that a classifier's layers can be of.
struct ConvKind {
  std::string_view name;
  bool has_heads = false;    ///< attention: a layer is `hidden` wide for each of `heads`
  bool reads_edges = false;  ///< features of edges
  bool needs_edges = false;  ///< and cannot do without
  bool is_native = false;    ///< also computed without LibTorch, and written as ONNX
};

inline constexpr ConvKind kConvs[] = {
    {.name = "gat", .has_heads = true, .is_native = true},
    {.name = "gatv2",
     .has_heads = true,
     .reads_edges = true,
     .needs_edges = true,
     .is_native = true},
    {.name = "gcn"},
    {.name = "sage"},
    {.name = "gin", .is_native = true},
    {.name = "gine", .reads_edges = true, .needs_edges = true},
    {.name = "pna", .reads_edges = true},
    {.name = "transformer", .has_heads = true, .reads_edges = true},
    {.name = "none", .is_native = true},
};

/// Names of those that `has`, or of all.
template <class Has = decltype([](const ConvKind&) { return true; })>
std::vector<std::string> conv_names(const Has& has = {}) {
  std::vector<std::string> out;
  for (const ConvKind& kind : kConvs) {
    if (has(kind)) out.emplace_back(kind.name);
  }
  return out;
}

/// The same in words.
template <class Has>
std::string conv_list(const Has& has) {
  std::string out;
  for (const std::string& name : conv_names(has)) out += (out.empty() ? "" : ", ") + name;
  return out;
}

struct GatForm : InputForm {
  std::string conv = "gat";
  std::string norm = "none";
  std::string jk = "cat";
  std::string pooling = "mean";
  bool monotone = false;

  /// `conv` is a name of the table.
  const ConvKind& kind() const {
    return *std::find_if(std::begin(kConvs), std::end(kConvs) - 1,
                         [this](const ConvKind& kind) { return kind.name == conv; });
  }
  /// Without messages, or with the sums of a graph isomorphism network.
  bool is_gin() const { return conv == "gin" || conv == "none"; }
  /// No score of it falls where those of its layers grow.
  bool can_be_monotone() const { return is_gin() && norm != "graph" && jk == "cat"; }

  static auto table() {
    using F = GatForm;
    return std::tuple_cat(
        std::tuple{
            field("conv", &F::conv, Purpose::kModel,
                  "What a layer computes. Attention: gat, as published, gatv2 and transformer; "
                  "means: gcn, sage; sums and a perceptron of two layers: gin, gine; mean, "
                  "least, largest and deviation: pna; none: gin without neighbours, a baseline "
                  "that no edge reaches. gatv2, gine, pna and transformer read the features of "
                  "edges (use with standardise).")
                .choices(conv_names()),
            field("norm", &F::norm, Purpose::kModel,
                  "Normalisation in each layer: none, as published, over each graph, or over "
                  "the nodes of the batch.")
                .choices({"none", "graph", "batch"}),
            field("jk", &F::jk, Purpose::kModel,
                  "Jumping knowledge: the layers' states side by side, as published, or "
                  "their average weighted by an LSTM.")
                .choices({"cat", "lstm"}),
            field("pooling", &F::pooling,
                  "What a graph is of its nodes: their mean, as published, sum or maximum.")
                .choices({"mean", "sum", "max"})
                .later(),
            field("monotone", &F::monotone, Purpose::kModel,
                  "No score falls where a feature of a node grows, as no weight is negative: for "
                  "features that all grow with oddness (conv gin or none, norm none or batch, jk "
                  "cat, two classes).")
                .later()},
        InputForm::table());
  }
  bool operator==(const GatForm&) const = default;
};

}  // namespace kdgat::model
