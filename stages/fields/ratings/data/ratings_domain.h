// The domain "ratings": users rate items; their graph joins the two.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::graph {

const Domain& ratings_domain();

const Wording& ratings_wording();

}  // namespace kdgat::graph
