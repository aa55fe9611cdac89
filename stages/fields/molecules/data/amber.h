// AMBER: molecules from a topology (prmtop, parm7) and coordinates (inpcrd, rst7), as text.
#pragma once

#include "engine/file/line_reader.h"
#include "fields/molecules/data/molecule.h"

namespace kdgat::molecules {

/// Blocks %FLAG NAME, %FORMAT(nAw), and fields of that width, which may touch. Terms with hydrogen
/// are left out, atoms are not. Positions are 0. Throws Error(kData) with file and line: a block
/// that is missing, short or of another format, a count that does not fit, a number that is none,
/// an index out of range.
Molecule read_amber_topology(file::LineReader lines);

/// Puts the positions of a file into `molecule`: a title, the number of atoms, fields of 12
/// characters; velocities and a box may follow. Throws Error(kData) with file and line, also where
/// the number of atoms differs.
void read_amber_coordinates(file::LineReader lines, Molecule& molecule);

}  // namespace kdgat::molecules
