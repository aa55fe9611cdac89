// Forms of the models beyond the published ones: switches that model configurations and the options
// of the stages share. The defaults are the published form. docs/models.md says where each comes
// from.
#pragma once

#include <string>
#include <tuple>

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

struct GatForm : InputForm {
  std::string conv = "gat";
  std::string norm = "none";
  std::string jk = "cat";
  std::string pooling = "mean";
  bool monotone = false;

  /// No attention, so no heads: a layer is as wide as `hidden` says.
  bool is_plain() const { return conv == "gin" || conv == "none"; }
  /// No score of it falls where those of its layers grow.
  bool can_be_monotone() const { return is_plain() && norm != "graph" && jk == "cat"; }

  static auto table() {
    using F = GatForm;
    return std::tuple_cat(
        std::tuple{
            field("conv", &F::conv, Purpose::kModel,
                  "Attention: gat, as published, or gatv2, which also reads edge features "
                  "(use with standardise); gin: sums over neighbours and a perceptron of two "
                  "layers, without heads; none: gin without neighbours, a baseline that no "
                  "edge reaches.")
                .choices({"gat", "gatv2", "gin", "none"}),
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
