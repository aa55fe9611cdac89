// From solved residues to a molecule: the terms of a force field by the names of residues and
// atoms, for files that bring none. Of RNA, heavy atoms alone; charges have those of their
// hydrogens added.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fields/molecules/data/structure.h"

namespace kdgat::molecules {

/// 'A', 'C', 'G' or 'U' for the name of a residue of RNA (A, A5, RA3, ...); 0 for any other.
char nucleotide_of(const std::string& residue);

/// Length, A, of the bond between two atoms of one residue, of the terms of that nucleotide; a name
/// that begins with - is of the residue before. Throws std::logic_error if there is none.
double template_length(char nucleotide, const std::string& i, const std::string& j);
/// The same of an angle, degrees.
double template_angle(char nucleotide, const std::string& i, const std::string& j,
                      const std::string& k);

/// What was left out, and how often; by name.
struct LeftOut {
  std::map<std::string, int64_t> residues;  ///< that are no RNA
  std::map<std::string, int64_t> atoms;     ///< "A:OP3", of residues that are
};

/// Terms with an atom that is not there drop out. A residue follows another where its P lies within
/// 2.5 A of the other's O3'.
///
/// With `bond_others` residues that are no RNA are kept, too: without charge and terms, but for
/// bonds, of length and force 0, where two atoms are nearer than 1.3 times their radii.
Molecule with_force_field(const Structure& structure, const std::vector<std::size_t>& residues,
                          bool bond_others, LeftOut& left_out);

}  // namespace kdgat::molecules
