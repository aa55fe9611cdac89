// Options of the gtssl stage. The defaults are those of the published script for 12 GB cards, but
// for mean aggregation and normalisation.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/train/train_options.h"
#include "fields/space/model/sgmp_config.h"
#include "fields/space/model/tree_form.h"
#include "fields/space/objective/tree_loss_options.h"

namespace kdgat::gtssl {

struct GtsslOptions : train::TrainOptions,
                      space::SgmpForm,
                      space::SgmpSizes,
                      space::GrowthForm,
                      space::TreeLossOptions {
  int64_t path_budget = 4096;
  bool train_on_healthy_only = false;

  GtsslOptions() {
    lr = 1e-3;
    max_epochs = 100;
    batch_size = 4;
    optimize_batch_size = false;
    patience = 20;
    weight_decay = 5e-4;
  }

  static auto table() {
    using O = GtsslOptions;
    return std::tuple_cat(
        std::tuple{field("hidden", &O::hidden, Purpose::kModel, "Channels of the encoder.")
                       .first()
                       .alias("hidden_channels")
                       .range(2, 4096),
                   field("interactions", &O::interactions, Purpose::kModel,
                         "Blocks of messages along third-order paths.")
                       .alias("num_interactions")
                       .range(1, 64),
                   field("path_budget", &O::path_budget, Purpose::kMemory,
                         "Third-order paths alive at once: the memory of a step grows with it, not "
                         "with the number of paths.")
                       .range(1, 1 << 24),
                   field("train_on_healthy_only", &O::train_on_healthy_only, Purpose::kData,
                         "Train on the graphs of the first class alone.")},
        space::SgmpForm::table(), space::GrowthForm::table(), space::TreeLossOptions::table(),
        train::TrainOptions::table());
  }
};

}  // namespace kdgat::gtssl
