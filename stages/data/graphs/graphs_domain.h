// The domain "graphs": labelled graphs of any kind, as a researcher has them. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& graphs_domain();

const Wording& graphs_wording();

}  // namespace kdgat::graph
