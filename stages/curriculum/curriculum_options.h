// Options of the curriculum stage.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/memory/cache_policy.h"
#include "kdgat/options.h"

namespace kdgat::curriculum {

struct CurriculumOptions {
  int64_t scoring_chunk = 500;
  std::vector<std::string> cache_policy = {"chunk"};

  static auto table() {
    using O = CurriculumOptions;
    return std::tuple{field("scoring_chunk", &O::scoring_chunk, Purpose::kMemory,
                            "Graphs scored before unused memory of the device is given back, "
                            "rounded up to hundreds; the result is the same for any.")
                          .range(1, 1e9)
                          .runtime(),
                      field("cache_policy", &O::cache_policy, Purpose::kMemory,
                            "When memory kept for reuse is given back (see the training stages).")
                          .choices(memory::CachePolicy::choices())
                          .runtime()};
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems;
    memory::CachePolicy::parse(cache_policy, problems);
    return problems;
  }
};

}  // namespace kdgat::curriculum
