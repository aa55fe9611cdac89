// The domains of this program: the one list that names them all.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::graph {

Domains all_domains();

}  // namespace kdgat::graph
