// The domain "ratings": users rate items; their graph joins the two. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& ratings_domain();

const Wording& ratings_wording();

}  // namespace kdgat::graph
