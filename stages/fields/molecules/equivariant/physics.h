// The energy of a molecule's bonded terms, after AMBER, in the published units. Pure numbers.
#pragma once

#include <cstdint>
#include <span>

#include "fields/molecules/data/molecule_store.h"

namespace kdgat::equivariant {

/// (k/500)(r - r_eq)^2 of bonds in A, plus (k/200)(theta - theta_eq)^2 of angles in radians, plus
/// (force/20)(1 + cos(n phi - phase)) of dihedrals: each a mean over the terms of the molecules
/// `ids`. Depends on positions alone.
double physics_loss(const molecules::MoleculeStore& store, std::span<const int64_t> ids);

}  // namespace kdgat::equivariant
