// Switches a module to eval mode and back.
#pragma once

#include <torch/nn/module.h>

namespace kdgat::objective {

class EvalGuard {
 public:
  explicit EvalGuard(torch::nn::Module& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  EvalGuard(const EvalGuard&) = delete;
  EvalGuard& operator=(const EvalGuard&) = delete;
  ~EvalGuard() {
    if (was_training_) module_.train();
  }

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

}  // namespace kdgat::objective
