#include "engine/setup/training_stage.h"

#include <utility>

namespace kdgat::setup {

StageInfo training_stage(std::string name, std::string summary) {
  StageInfo out;
  out.name = std::move(name);
  out.summary = std::move(summary);
  out.trains_in_ranks = true;
  out.refused = {
      {"save_top_k", {1}, "one model is kept: that of the best epoch"},
      {"test_every_n_epochs", {5}, "test data is scored by the evaluate stage alone"},
      {"cudnn_benchmark", {true, false}, "no operation of cuDNN is used"},
      {"num_workers", {0, 1, 2, 4, 8, 16}, "batches are gathered in the training process"},
      {"mp_start_method",
       {"spawn", "fork", "forkserver"},
       "there are no worker processes to start"},
  };
  return out;
}

}  // namespace kdgat::setup
