// The domain "graphs": labelled graphs of any kind, as a researcher has them.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::data {

const Domain& graphs_domain();

const Wording& graphs_wording();

}  // namespace kdgat::data
