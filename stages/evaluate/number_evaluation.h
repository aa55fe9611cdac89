// Models that predict numbers of graphs on validation and test data: how far off they are.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/train/data_set.h"
#include "evaluate/evaluate_options.h"
#include "kdgat/stage.h"

namespace kdgat::evaluate {

/// Each model of request.inputs "models" on "val" and the test parts, next to the mean of the
/// training graphs ("mean of training"). Writes predictions.safetensors: STEP/PART/graph [n],
/// target and prediction [n, T]. Metrics of a part as train::number_report() has them, below
/// "additional" those of each target by its name. Throws Error(kData) for a model of other graphs.
nlohmann::json evaluate_numbers(const EvaluateOptions& options, const train::Data& data,
                                const Request& request, const Host& host);

}  // namespace kdgat::evaluate
