// What a CSV says of molecules, by file: ligand, part and group.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/data/core/class_labels.h"
#include "engine/file/line_reader.h"
#include "fields/molecules/data/molecule_options.h"

namespace kdgat::molecules {

struct MoleculeLabel {
  std::string ligand;  ///< empty = none
  int32_t part = -1;   ///< index into kMoleculeParts; -1 = not said
  std::string group;   ///< empty = not said
  std::string where;   ///< "file:line"
  mutable data::RowUse use{};
};

class MoleculeLabels {
 public:
  MoleculeLabels() = default;
  /// Names stand in the column "file" or "graph". The ligand stands in label_column, which may be
  /// absent while it has its default: then in "ligand", if there is one. Throws Error(kData) with
  /// file and line: a missing column, a name that stands twice, a part that is none. `notes`:
  /// columns that are not used.
  MoleculeLabels(file::LineReader lines, const MoleculeOptions& options, data::Notes& notes);

  /// By the whole name, else by what follows its last slash, else by that without its ending; null
  /// = not listed.
  const MoleculeLabel* find(const std::string& name) const;
  /// Call behind the last molecule.
  void report_unmet(data::Notes& notes) const;
  bool empty() const { return labels_.empty(); }

 private:
  std::map<std::string, MoleculeLabel> labels_;
};

}  // namespace kdgat::molecules
