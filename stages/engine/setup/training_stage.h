// What a stage with train::TrainOptions says of itself.
#pragma once

#include <string>

#include "kdgat/stage.h"

namespace kdgat::setup {

/// Trains in ranks, and refuses the published options of training that this version does not have.
/// Its ports are still to be named.
StageInfo training_stage(std::string name, std::string summary);

}  // namespace kdgat::setup
