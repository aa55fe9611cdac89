// The losses of a classifier as options know them, without LibTorch. What each computes stands in
// classification_loss.cpp.
#pragma once

#include <string>
#include <vector>

#include "kdgat/rows.h"

namespace kdgat::objective {

struct LossName {
  const char* name;
  const char* help;
};

/// The first is the default.
inline constexpr LossName kLosses[] = {
    {"cross_entropy", "minus the logarithm of the probability of the true class"},
    {"focal", "the same, with less weight on graphs already classified well"},
};

/// Of numbers that are predicted.
inline constexpr LossName kNumberLosses[] = {
    {"mse", "squares of the errors"},
    {"mae", "absolute errors, which few large ones sway less"},
    {"huber", "squares of errors up to a deviation, absolute values from there"},
};

inline std::vector<std::string> number_loss_names() { return row_names(kNumberLosses); }
inline std::string number_losses_help() { return rows_help(kNumberLosses); }

inline std::vector<std::string> loss_names() { return row_names(kLosses); }
/// "cross_entropy: ...; focal: ..."
inline std::string losses_help() { return rows_help(kLosses); }

}  // namespace kdgat::objective
