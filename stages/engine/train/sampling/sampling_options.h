// Options of choosing the graphs of each epoch. A stage's own options derive from these beside
// TrainOptions. Knows no model.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::train {

struct SamplingOptions {
  std::string sampling = "natural";
  std::string curriculum_schedule = "ratio";
  double curriculum_start_ratio = 1.0;
  double curriculum_end_ratio = 10.0;
  double difficulty_percentile = 75.0;
  double difficulty_percentile_end = 95.0;
  double momentum_tau = 0.0;
  double hard_buffer_share = 0.2;
  int64_t difficulty_cache_update = 0;
  bool use_vgae_mining = true;
  double curriculum_memory_multiplier = 1.0;

  static auto table() {
    using O = SamplingOptions;
    return std::tuple{
        field("sampling", &O::sampling, Purpose::kData,
              "Training windows of an epoch. natural: all; balanced: every attack and as many "
              "benign ones, others each epoch (of labelled graphs as many of each class); "
              "curriculum: every attack and hard benign ones (of labelled graphs hard ones of each "
              "class), by curriculum_schedule (needs a curriculum step).")
            .first("Which training windows an epoch has, where one class is rare.")
            .choices({"natural", "balanced", "curriculum"}),
        field("curriculum_schedule", &O::curriculum_schedule, Purpose::kData,
              "ratio: as published, from the hardest benign windows, more of them for each attack "
              "from epoch to epoch; momentum: from balanced to natural, with a buffer of the "
              "hardest.")
            .choices({"ratio", "momentum"}),
        field("curriculum_start_ratio", &O::curriculum_start_ratio, Purpose::kData,
              "Benign windows for each attack at the start of a ratio schedule; of labelled graphs "
              "those "
              "of a class for each of the smallest class, below 1 hard ones of every class.")
            .range(0, 1e6),
        field("curriculum_end_ratio", &O::curriculum_end_ratio, Purpose::kData,
              "Benign windows for each attack asked for at its end; the pool may hold fewer.")
            .range(0, 1e6),
        field("difficulty_percentile", &O::difficulty_percentile, Purpose::kData,
              "Benign windows (labelled graphs of a class) at least this hard form the pool at the "
              "start of a ratio schedule.")
            .range(0, 100),
        field("difficulty_percentile_end", &O::difficulty_percentile_end, Purpose::kData,
              "The same at its end. As published the pool shrinks while the ratio grows; with less "
              "than difficulty_percentile it grows too.")
            .range(0, 100),
        field("momentum_tau", &O::momentum_tau, Purpose::kData,
              "Epochs t after which a momentum schedule is natural to 1 - 1/e; 0 = a third of "
              "max_epochs.")
            .range(0, 1e6),
        field("hard_buffer_share", &O::hard_buffer_share, Purpose::kData,
              "Share of the benign windows (graphs of a class) of a momentum schedule that are the "
              "hardest there are.")
            .range(0, 1),
        field("difficulty_cache_update", &O::difficulty_cache_update, Purpose::kData,
              "Epochs after which the classifier in training scores the benign windows or labelled "
              "graphs, for half of their difficulty; 0 = never. (Published 10, which only repeated "
              "the scores of a "
              "fixed autoencoder.)")
            .range(0, 1e6),
        field("use_vgae_mining", &O::use_vgae_mining, Purpose::kData,
              "Difficulty from the curriculum step; false = random numbers, the control of an "
              "experiment."),
        field("curriculum_memory_multiplier", &O::curriculum_memory_multiplier, Purpose::kData,
              "Factor of batch_size in a curriculum run.")
            .range(1e-6, 1e6)};
  }
};

}  // namespace kdgat::train
