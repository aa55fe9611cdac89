// Options of the evaluate stage.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"

namespace kdgat::evaluate {

struct EvaluateOptions {
  std::vector<std::string> parts;
  double fallback_quantile = 0.99;

  static auto table() {
    using O = EvaluateOptions;
    return std::tuple{
        field("parts", &O::parts,
              "Parts to report beside val, e.g. [test/test_01_DoS]; empty = every test part."),
        field("fallback_quantile", &O::fallback_quantile,
              "Where validation has no attacks, the threshold of a model that has none of its own "
              "is this quantile of the validation scores.")
            .range(0.5, 1)};
  }
};

}  // namespace kdgat::evaluate
