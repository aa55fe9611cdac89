// The domain "texts": documents with labels; their graph joins documents and words.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::graph {

const Domain& texts_domain();

const Wording& texts_wording();

}  // namespace kdgat::graph
