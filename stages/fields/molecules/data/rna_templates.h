// The terms of RNA as text, see rna_templates.cpp.
#pragma once

namespace kdgat::molecules {

/// JSON: {"backbone": terms of every residue, "residues": {"A" | "C" | "G" | "U": terms}} with
/// terms {"atoms","bonds","angles","dihedrals": rows}.
extern const char* const kRnaTemplates;

}  // namespace kdgat::molecules
