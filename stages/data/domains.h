// The domains of this program: the one list that names them all. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

Domains all_domains();

}  // namespace kdgat::graph
