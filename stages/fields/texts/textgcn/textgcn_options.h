// Options of the textgcn stage. The defaults are those first published.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "fields/texts/model/text_gcn_config.h"

namespace kdgat::textgcn {

struct TextGcnOptions : texts::TextGcnForm {
  double lr = 0.02;
  double weight_decay = 0;
  int64_t max_epochs = 200;
  std::string stop = "mean_loss";
  int64_t patience = 10;
  double checkpoint_seconds = 60;

  static auto table() {
    using O = TextGcnOptions;
    return std::tuple_cat(
        std::tuple{
            field("lr", &O::lr, Purpose::kOptimiser, "Learning rate of Adam.")
                .first()
                .range(1e-8, 100),
            field("weight_decay", &O::weight_decay, Purpose::kOptimiser,
                  "Weight decay, as an L2 term.")
                .range(0, 10),
            field("max_epochs", &O::max_epochs, Purpose::kLength,
                  "Largest number of epochs, of one step each.")
                .first()
                .alias("epochs")
                .range(1, 1e6),
            field("stop", &O::stop, Purpose::kLength,
                  "mean_loss, as first published: the validation loss is above the mean of those "
                  "of the last `patience` epochs, and the last weights are kept; best: no lower "
                  "validation loss for `patience` epochs, and the weights of the best validation "
                  "accuracy are kept; never. Without validation documents all are never.")
                .choices({"mean_loss", "best", "never"}),
            field("patience", &O::patience, Purpose::kLength, "Epochs that `stop` looks back.")
                .first()
                .range(1, 1e6),
            field("checkpoint_seconds", &O::checkpoint_seconds, Purpose::kProgress,
                  "Time between two checkpoints; 0 = after every epoch.")
                .range(0, 1e9)
                .runtime()},
        texts::TextGcnForm::table());
  }
};

}  // namespace kdgat::textgcn
