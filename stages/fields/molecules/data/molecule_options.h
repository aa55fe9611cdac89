// Options of imports of molecules.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/import_options.h"
#include "engine/data/core/labelled_files.h"
#include "kdgat/options.h"

namespace kdgat::molecules {

struct MoleculeOptions : data::LabelledFiles {
  std::string embeddings;
  std::string split_column;
  std::string group_column;
  std::string ligand;
  double pocket_cutoff = 5;
  double distance_cutoff = 4;
  std::string other_residues = "leave_out";

  static auto table() {
    using O = MoleculeOptions;
    return std::tuple{
        labels_row(),
        label_row(),
        field("embeddings", &O::embeddings,
              "Molecules: safetensors file with a vector for each ligand, by its name or as "
              "ENTRY_LIGAND: the catalogue that pockets are compared with; found by itself as "
              "ligands.safetensors."),
        field("split_column", &O::split_column,
              "Molecules: column of labels that says train, val or test."),
        field("group_column", &O::group_column,
              "Molecules: column of labels, as a family; molecules of one group stay in one part. "
              "Without it those whose file names agree up to the first _ do."),
        field("ligand", &O::ligand,
              "Molecules: cut the pocket around each copy of this residue out of every file; it is "
              "also the pocket's label."),
        field(
            "pocket_cutoff", &O::pocket_cutoff,
            "Molecules: a pocket is of residues with an atom so near to the ligand, in angstroms.")
            .range(0.1, 100),
        field("distance_cutoff", &O::distance_cutoff,
              "Molecules: pairs of atoms without a bond are joined up to this distance, in "
              "angstroms.")
            .range(0.1, 6),
        field(
            "other_residues", &O::other_residues,
            "Molecules: residues that are no RNA are left out, or kept without charges and bonded "
            "by distance.")
            .choices({"leave_out", "bond"}),
        largest_member_row()};
  }
};

/// All options that matter to molecules.
struct MoleculeImportOptions : data::SharedOptions, MoleculeOptions {
  static auto table() {
    return std::tuple_cat(std::tuple{format_row()}, split_rows(), MoleculeOptions::table());
  }
};

}  // namespace kdgat::molecules
