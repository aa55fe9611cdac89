// The sampler a stage's options ask for, made from its data and inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/train/data_set.h"
#include "engine/train/sampling/curriculum_sampler.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// The input port a stage with SamplingOptions has; may stay empty.
inline Port difficulty_port() { return {"difficulty", "difficulty", /*required=*/false}; }

/// Throws Error(kUsage) if the options need the difficulty of windows and no step gives it.
void check_sampling(const SamplingOptions& options, const Request& request);

/// batch_size of a run with these options.
int64_t sampled_batch_size(const SamplingOptions& options, int64_t batch_size);

/// Chooses among `ids`, labelled 0 and 1, or with classes; null = all of them. Reads the
/// difficulties from the port, and tells the host what a curriculum will do. Throws as
/// check_sampling(), load_difficulty() and values_of().
std::unique_ptr<Sampler> make_sampler(const SamplingOptions& options, int64_t max_epochs,
                                      const Data& data, const std::vector<int64_t>& ids,
                                      DifficultyScore score, const Request& request,
                                      const Host& host);

}  // namespace kdgat::train
