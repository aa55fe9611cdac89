// Options of the classify stage.
#pragma once

#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::classify {

struct ClassifyOptions {
  std::string format = "auto";

  static auto table() {
    return std::tuple{
        field("format", &ClassifyOptions::format,
              "Form of the graphs; auto = recognise it, as kdgat data import does.")
            .choices({"auto", "graph-csv", "tudataset", "graph-tensors", "graph-npz"})};
  }
};

}  // namespace kdgat::classify
