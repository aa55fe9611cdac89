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
  /// A chain ends (TER): residues that follow under its name are of another chain.
  void end_chain() { ++ended_; }
  void note_more_models() { out_.has_more_models = true; }
  Structure finish() { return std::move(out_); }

 private:
  Structure out_;
  /// Residue by the chains that ended before, chain, number and name.
  std::unordered_map<std::string, std::size_t> place_;
  int64_t ended_ = 0;                                   // chains
  std::set<std::pair<std::size_t, std::string>> seen_;  // atoms
};

}  // namespace kdgat::molecules
