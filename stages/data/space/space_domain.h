// The domain "space": graphs whose nodes have positions, as neurons and the segments of images. No
// LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& space_domain();

const Wording& space_wording();

}  // namespace kdgat::graph
