// The domain "space": graphs whose nodes have positions, as neurons and the segments of images.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::space {

const data::Domain& space_domain();

const data::Wording& space_wording();

}  // namespace kdgat::space
