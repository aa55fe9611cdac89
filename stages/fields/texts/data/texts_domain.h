// The domain "texts": documents with labels; their graph joins documents and words.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::texts {

const data::Domain& texts_domain();

const data::Wording& texts_wording();

}  // namespace kdgat::texts
