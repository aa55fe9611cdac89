// Options of what geometric-tree pre-training minimises.
#pragma once

#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::space {

struct TreeLossOptions {
  double lambda_order = 1;
  double delta_margin = 1;
  std::string order_negative = "l2";

  static auto table() {
    using O = TreeLossOptions;
    return std::tuple{
        field("lambda_order", &O::lambda_order, Purpose::kLoss,
              "Weight of the partial order beside the growth of subtrees; 0 = without.")
            .range(0, 1e6),
        field("delta_margin", &O::delta_margin, Purpose::kLoss,
              "How far apart the states of unrelated nodes are to be.")
            .range(0, 1e6),
        field("order_negative", &O::order_negative, Purpose::kLoss,
              "Distance of unrelated nodes: l2, or its square, or order: by how much neither "
              "contains the other.")
            .choices({"l2", "l2sq", "order"})};
  }
};

}  // namespace kdgat::space
