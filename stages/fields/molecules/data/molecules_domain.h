// The domain of molecules: AMBER, PDB and mmCIF files, pockets of them, and ligands.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::molecules {

const data::Domain& molecules_domain();
const data::Wording& molecules_wording();

}  // namespace kdgat::molecules
