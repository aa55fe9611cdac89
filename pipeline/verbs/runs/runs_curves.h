// How the loss of each step of a run went, in a line each.
#pragma once

#include <string>

#include "pipeline/run/run_record.h"

namespace kdgat {

/// A table: step, loss, its course, its first, least and last value; "" where no step has one.
std::string loss_text(const RunRecord& run, bool unicode);

}  // namespace kdgat
