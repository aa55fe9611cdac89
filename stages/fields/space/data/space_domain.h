// The domain "space": graphs whose nodes have positions, as neurons and the segments of images.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::graph {

const Domain& space_domain();

const Wording& space_wording();

}  // namespace kdgat::graph
