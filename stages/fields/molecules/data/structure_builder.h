// StructureBuilder: rows of atoms, in any form, into residues.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fields/molecules/data/structure.h"

namespace kdgat::molecules {

/// One row of a file.
struct AtomRow {
  std::string_view name, alternate, residue, chain, number, element;
  Point pos{};
};

class StructureBuilder {
 public:
  void add(const AtomRow& row);
  Structure finish() { return std::move(out_); }

 private:
  Structure out_;
  std::unordered_map<std::string, std::size_t> place_;  // residue by chain, number and name
  std::set<std::pair<std::size_t, std::string>> seen_;  // atoms
};

}  // namespace kdgat::molecules
