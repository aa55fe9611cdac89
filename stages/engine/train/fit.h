// What stages that train on graphs share around the Trainer: batch limits, validation after each
// epoch, talking to the host, and the result. Knows no model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/memory/memory_plan.h"
#include "engine/train/objective.h"
#include "engine/train/train_options.h"
#include "engine/train/validation.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// What fit() is told of a task beside its objective and its graphs.
struct Fit {
  memory::Footprint footprint;  ///< what training needs, counted from the model's shapes
  nlohmann::json identity;      ///< result_options() of the stage, with what its inputs are
  std::string size;             ///< of the model, for people: "student", "teacher" or "custom"
  Judge judge;                  ///< for the validation metrics "val_NAME"; empty = scores
  std::string headline;         ///< the name of its number that a summary shows
};

/// Trains from scratch or from run_dir/checkpoint, and leaves the best weights in the module.
/// Returns {"metrics", "figures", "summary", "memory": {"planned", "actual"}} (kdgat/result.h). The
/// checkpoint stays until clear_checkpoint().
nlohmann::json fit(const TrainOptions& options, Objective& objective, const Fit& task,
                   const graph::GraphSet& store, const Parts& parts, const Request& request,
                   const Host& host);

/// Of what fit() gave: {"threshold", "from": "fixed", "val" or, chosen without attacks, "benign"};
/// empty without a threshold.
nlohmann::json decision_of(const nlohmann::json& fitted);

}  // namespace kdgat::train
