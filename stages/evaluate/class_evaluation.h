// Models of labelled graphs on validation and test data: what they predict, and how right that is.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/train/data_set.h"
#include "evaluate/evaluate_options.h"
#include "kdgat/stage.h"

namespace kdgat::evaluate {

/// Each model of request.inputs "models" on "val" and the test parts, beside the answer that is
/// always the most frequent class of the training graphs ("majority class"). The class predicted is
/// the most probable, of equals the first. Writes predictions.safetensors: STEP/PART/graph, label,
/// prediction [n] and probability [n, C]. Metrics of a part as train::class_report() has them,
/// below "additional" what is said of each class. Throws Error(kData) for a model of other graphs.
nlohmann::json evaluate_classes(const EvaluateOptions& options, const train::Data& data,
                                const Request& request, const Host& host);

}  // namespace kdgat::evaluate
