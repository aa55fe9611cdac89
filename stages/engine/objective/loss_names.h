// The losses of a classifier, for options; what they compute: classification_loss.h.
#pragma once

#include <string>
#include <vector>

namespace kdgat::objective {

/// The first is the default.
std::vector<std::string> loss_names();
/// What each of them does: "cross_entropy: ...; focal: ...".
std::string losses_help();

}  // namespace kdgat::objective
