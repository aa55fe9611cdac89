// The domain of molecules: AMBER, PDB and mmCIF files, pockets of them, and ligands. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& molecules_domain();
const Wording& molecules_wording();

}  // namespace kdgat::graph
