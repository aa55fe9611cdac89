// Small files of molecules for tests.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace kdgat::test {

/// One row of a PDB file, in its columns.
inline std::string pdb_row(const std::string& name, const std::string& residue, int number,
                           std::array<double, 3> pos, const std::string& element,
                           const std::string& kind = "ATOM", const std::string& alternate = " ",
                           const std::string& chain = "A") {
  std::array<char, 128> line{};
  std::snprintf(line.data(), line.size(),
                "%-6s%5d  %-3s%1s%3s %1s%4d    %8.3f%8.3f%8.3f  1.00  0.00          %2s\n",
                kind.c_str(), 1, name.c_str(), alternate.c_str(), residue.c_str(), chain.c_str(),
                number, pos[0], pos[1], pos[2], element.c_str());
  return line.data();
}

/// A topology of three atoms, C-N-O and one hydrogen at C, with one bond of each kind, an angle,
/// and two dihedral terms (one improper) of the same atoms.
inline std::string small_topology() {
  return "%VERSION  VERSION_STAMP = V0001.000\n"
         "%FLAG POINTERS\n%FORMAT(10I8)\n"
         "       4       2       1       2       0       1       0       2       0       0\n"
         "       0       2\n"
         "%FLAG ATOM_NAME\n%FORMAT(20a4)\nC5'1N   O   H   \n"
         "%FLAG CHARGE\n%FORMAT(5E16.8)\n"
         "  1.82223000E+01 -3.64446000E+01  0.00000000E+00  1.82223000E+01\n"
         "%FLAG MASS\n%FORMAT(5E16.8)\n"
         "  1.20100000E+01  1.40100000E+01  1.60000000E+01  1.00800000E+00\n"
         "%FLAG ATOM_TYPE_INDEX\n%FORMAT(10I8)\n       1       2       2       1\n"
         "%FLAG NONBONDED_PARM_INDEX\n%FORMAT(10I8)\n       1       2       2       3\n"
         "%FLAG RESIDUE_LABEL\n%FORMAT(20a4)\nRA5 RG3 \n"
         "%FLAG RESIDUE_POINTER\n%FORMAT(10I8)\n       1       3\n"
         "%FLAG BOND_FORCE_CONSTANT\n%FORMAT(5E16.8)\n  3.00000000E+02  4.00000000E+02\n"
         "%FLAG BOND_EQUIL_VALUE\n%FORMAT(5E16.8)\n  1.50000000E+00  1.09000000E+00\n"
         "%FLAG ANGLE_FORCE_CONSTANT\n%FORMAT(5E16.8)\n  5.00000000E+01\n"
         "%FLAG ANGLE_EQUIL_VALUE\n%FORMAT(5E16.8)\n  1.57079633E+00\n"
         "%FLAG DIHEDRAL_FORCE_CONSTANT\n%FORMAT(5E16.8)\n  2.00000000E+00\n"
         "%FLAG DIHEDRAL_PERIODICITY\n%FORMAT(5E16.8)\n  2.00000000E+00\n"
         "%FLAG DIHEDRAL_PHASE\n%FORMAT(5E16.8)\n  3.14159265E+00\n"
         "%FLAG LENNARD_JONES_ACOEF\n%FORMAT(5E16.8)\n"
         "  1.00000000E+06  2.00000000E+06  3.00000000E+06\n"
         "%FLAG LENNARD_JONES_BCOEF\n%FORMAT(5E16.8)\n"
         "  1.00000000E+03  2.00000000E+03  3.00000000E+03\n"
         "%FLAG BONDS_INC_HYDROGEN\n%FORMAT(10I8)\n       0       9       2\n"
         "%FLAG BONDS_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n       0       3       1       3       6    "
         "   1\n"
         "%FLAG ANGLES_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n       0       3       6       1\n"
         "%FLAG DIHEDRALS_WITHOUT_HYDROGEN\n%FORMAT(10I8)\n"
         "       0       3      -6       9       1       0       3       6      -9       1\n";
}

inline std::string small_coordinates() {
  return "a title\n     4\n"
         "   0.0000000   0.0000000   0.0000000   1.5000000   0.0000000   0.0000000\n"
         "   1.5000000   1.5000000   0.0000000  -1.0900000   0.0000000   0.0000000\n";
}

}  // namespace kdgat::test
