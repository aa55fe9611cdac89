// What may stand on a geometric encoder: the predictor of growth and the head, as options.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::space {

struct GrowthForm {
  int64_t num_rbf_centers = 20;
  std::string rbf_gamma = "spacing";

  static auto table() {
    using F = GrowthForm;
    return std::tuple{
        field("num_rbf_centers", &F::num_rbf_centers,
              "Gaussians of the lengths of a node's edges to its children, and as many of their "
              "turns, in the histograms that are to be predicted.")
            .range(2, 4096),
        field("rbf_gamma", &F::rbf_gamma,
              "Sharpness of these Gaussians: by the spacing of their centres, or 1, as published.")
            .choices({"spacing", "one"})};
  }
  bool operator==(const GrowthForm&) const = default;
};

struct HeadForm {
  std::string readout = "mean";
  std::string head = "published";

  static auto table() {
    using F = HeadForm;
    return std::tuple{
        field("readout", &F::readout, Purpose::kModel,
              "Over the nodes of a graph: their mean, or their sum (add is another name for it).")
            .choices({"mean", "sum", "add"}),
        field("head", &F::head, Purpose::kModel,
              "On the readout: published, two layers with half the width between; linear, one.")
            .choices({"published", "linear"})};
  }
  bool operator==(const HeadForm&) const = default;
};

}  // namespace kdgat::space
