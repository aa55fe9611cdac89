// The domain "texts": documents with labels; their graph joins documents and words. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& texts_domain();

const Wording& texts_wording();

}  // namespace kdgat::graph
