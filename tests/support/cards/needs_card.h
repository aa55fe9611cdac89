// A card, for tests marked [gpu].
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "engine/kernels/kernels_for.h"
#include "support/catch_torch.h"

namespace kdgat::test {

/// Whether there is a card whose kernels compiled. Without one a test says that it is skipped, and
/// fails where KDGAT_REQUIRE_GPU=1 wants it to run.
inline bool has_card() {
  if (kernels::has_cuda_kernels(at::kCUDA)) return true;
  const std::string why = kernels::kernels_in_words(at::kCUDA);
  const char* wanted = std::getenv("KDGAT_REQUIRE_GPU");
  if (wanted != nullptr && std::string_view(wanted) == "1") {
    FAIL_CHECK("KDGAT_REQUIRE_GPU=1, and no test of a card can run: " << why);
  } else {
    std::cout << "skipped: " << why << "\n";
  }
  return false;
}

}  // namespace kdgat::test
