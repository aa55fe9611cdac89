// Why a step of a plan runs, or is kept: what differs from when it ran last. Pure, as the plan.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/plan.h"

namespace kdgat {

/// Of a step that no finished one fits, `past` newest first: "never ran", what changed since it ran
/// last ("option changed: gat.lr 0.003 -> 0.001 (profiles/kdgat.yaml:31)"; of many changes three),
/// or which of its output is gone. step.ingredients and step.fingerprint are set.
std::string why_run(const PlannedStep& step, const std::vector<PastStep>& past);

/// "same data 3f9c…, options, stage version 2 as run 01JD…B2"
std::string why_kept(const PlannedStep& step, const PastStep& past);

/// Of its stage, as the plan was made; 0 = not said.
int version_of(const PlannedStep& step);

/// "run" or "keep", as forms of JSON have it.
const char* action_word(const PlannedStep& step);
/// The reason of a planned step, of a kept one with when it was made.
std::string told_reason(const PlannedStep& step);

}  // namespace kdgat
