// The domains of this program: the one list that names them all.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::data {

Domains all_domains();

}  // namespace kdgat::data
