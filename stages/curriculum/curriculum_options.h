// Options of the curriculum stage.
#pragma once

#include <cstdint>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::curriculum {

struct CurriculumOptions {
  int64_t scoring_chunk = 500;

  static auto table() {
    using O = CurriculumOptions;
    return std::tuple{field("scoring_chunk", &O::scoring_chunk,
                            "Graphs scored before unused memory of the device is given back, "
                            "rounded up to hundreds; the result is the same for any.")
                          .range(1, 1e9)
                          .runtime()};
  }
};

}  // namespace kdgat::curriculum
