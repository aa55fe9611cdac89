// Structure: the atoms of a PDB or mmCIF file as they were solved, by residue; no force field yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/file/line_reader.h"
#include "fields/molecules/data/molecule.h"

namespace kdgat::molecules {

struct SolvedAtom {
  std::string name;    ///< as the field writes it now: OP1, O5'
  int32_t number = 0;  ///< of its element; 0 = none that is known
  Point pos{};
};

struct SolvedResidue {
  std::string name, chain, number;  ///< number with its insertion code
  std::vector<SolvedAtom> atoms;    ///< without hydrogen
  std::string title() const;        ///< "chain A, TPP 90"
};

struct Structure {
  std::vector<SolvedResidue> residues;  ///< in the order of the file
  int64_t rows = 0;                     ///< of atoms
  int64_t hydrogens = 0;                ///< left out
  int64_t alternates = 0;               ///< other locations of an atom, left out
  int64_t repeated = 0;                 ///< atoms that stood in their residue before, left out
  bool has_more_models = false;         ///< behind the first, left out
};

/// The first model; of alternative locations the one named blank or A, else the first. Atoms of one
/// chain, number and name of a residue are one residue, unless a chain ended between them (TER).
/// Throw Error(kData) with file and line: a
/// row of atoms that is cut off, a coordinate that is no number, no atoms at all.
Structure read_pdb(file::LineReader lines);
/// Of the loop _atom_site; author numbering where there is one.
Structure read_mmcif(file::LineReader lines);

/// The residues around each copy of the residue `ligand`: those with an atom within `cutoff` A of
/// one of its, without residues of that name. `wanted` says which residues count. In the order of
/// the file.
struct Pocket {
  std::size_t ligand = 0;             ///< index of the residue
  std::vector<std::size_t> residues;  ///< indices, ascending
};
std::vector<Pocket> cut_pockets(const Structure& structure, const std::string& ligand,
                                double cutoff, const std::vector<bool>& wanted);

}  // namespace kdgat::molecules
