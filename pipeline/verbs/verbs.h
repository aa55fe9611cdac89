// The verbs of kdgat, each in <name>_verb.cpp with its help.
#pragma once

#include <vector>

#include "pipeline/cli/cli.h"

namespace kdgat {

/// In the order of the help. A new verb is a file beside this one and a row in verbs.cpp.
const std::vector<Verb>& verbs();

}  // namespace kdgat
