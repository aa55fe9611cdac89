// NucleotideChain: a strand of RNA built atom by atom from lengths, angles and torsions.
#pragma once

#include <string>
#include <vector>

#include "fields/molecules/data/structure.h"

namespace kdgat::molecules {

/// Torsions of one residue, degrees, by their names in the field; those of A-form.
struct Torsions {
  double alpha = -62, beta = 180, gamma = 48, delta = 83, epsilon = -152, zeta = -73, chi = -160;
};

class NucleotideChain {
 public:
  /// The next residue, 'A', 'C', 'G' or 'U', of the strand of chain A; bonds and angles are those
  /// of the force field.
  void add(char nucleotide, const Torsions& torsions);
  const Structure& structure() const { return structure_; }

 private:
  /// Puts atom `name` at its distance from c, at its angle to b, turned by `torsion` degrees
  /// against a: a-b-c-name.
  void place(const char* a, const char* b, const char* c, const std::string& name, double torsion);
  Point point_of(const std::string& name) const;

  Structure structure_;
  Torsions last_;  // of the residue before
};

}  // namespace kdgat::molecules
