// The domain of molecules: AMBER, PDB and mmCIF files, pockets of them, and ligands.
#pragma once

#include "engine/data/core/domain.h"

namespace kdgat::graph {

const Domain& molecules_domain();
const Wording& molecules_wording();

}  // namespace kdgat::graph
