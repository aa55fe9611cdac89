// The domain "ratings": users rate items; their graph joins the two.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::ratings {

const data::Domain& ratings_domain();

const data::Wording& ratings_wording();

}  // namespace kdgat::ratings
