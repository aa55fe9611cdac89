// The domain "can": logs of a car's CAN bus, windows of which are graphs.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::data {

const Domain& can_domain();

const Wording& can_wording();

}  // namespace kdgat::data
