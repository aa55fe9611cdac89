// The options that decide what a step costs, whatever is trained.
#pragma once

#include <cstdint>
#include <string>

namespace kdgat::memory {

struct StepForm {
  std::string precision = "32";
  bool gradient_checkpointing = true;
  int64_t accumulate_grad_batches = 1;

  /// Products are computed in 16 bits.
  bool is_short() const { return precision == "bf16-mixed" || precision == "16-mixed"; }
  /// Gradients of earlier batches of a step are there while a later one runs.
  bool accumulates() const { return accumulate_grad_batches > 1; }
};

}  // namespace kdgat::memory
