// Options of the ranking stage.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::ranking {

struct RankingOptions {
  int64_t top = 10;
  std::string ligand;
  double pocket_cutoff = 5;

  static auto table() {
    using O = RankingOptions;
    return std::tuple{
        field("top", &O::top, "So many ligands of each pocket, the nearest first.").range(1, 1e6),
        field(
            "ligand", &O::ligand,
            "Cut the pocket around each copy of this residue out of every file; without it a file "
            "is a pocket."),
        field("pocket_cutoff", &O::pocket_cutoff,
              "With ligand: a pocket is of residues with an atom so near to it, in angstroms.")
            .range(0.1, 100)};
  }
};

}  // namespace kdgat::ranking
