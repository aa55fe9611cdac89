// Which parts of labelled graphs are evaluated, and how they are called.
#pragma once

#include <string>
#include <vector>

#include "engine/train/data_set.h"
#include "evaluate/evaluate_options.h"

namespace kdgat::evaluate {

/// "val", then the test parts, those of `wanted` alone if there are some.
std::vector<std::string> parts_to_judge(const train::Data& data,
                                        const std::vector<std::string>& wanted);
/// "test/a" is shown as "a".
std::string shown_part(const std::string& part);
/// Throws Error(kUsage): what the edges give another network shows.
void refuse_ablation(const EvaluateOptions& options);

}  // namespace kdgat::evaluate
