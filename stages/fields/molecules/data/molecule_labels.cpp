#include "fields/molecules/data/molecule_labels.h"

#include <algorithm>
#include <optional>

#include "engine/data/core/feature_columns.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "fields/molecules/data/molecule_files.h"
#include "fields/molecules/data/molecule_store.h"
#include "kdgat/error.h"

namespace kdgat::molecules {

MoleculeLabels::MoleculeLabels(file::LineReader lines, const MoleculeOptions& options,
                               data::Notes& notes) {
  file::CsvReader table(std::move(lines));
  std::optional<std::size_t> name = table.find("file"), ligand, part, group;
  if (!name) name = table.find("graph");
  if (!name) name = table.require("file");
  ligand = table.find(options.label_name());
  const bool is_default = !options.names_label();
  if (!ligand && is_default) ligand = table.find("ligand");
  if (!ligand && !is_default) ligand = table.require(options.label_column);
  if (!options.split_column.empty()) part = table.require(options.split_column);
  if (!options.group_column.empty()) group = table.require(options.group_column);
  data::report_unused_columns(table, {name, ligand, part, group}, notes, true);
  while (table.next()) {
    MoleculeLabel one;
    one.where = table.where();
    if (ligand) one.ligand = table.field(*ligand);
    if (group) one.group = table.field(*group);
    if (part && !table.field(*part).empty()) {
      const auto* found =
          std::find(std::begin(kMoleculeParts), std::end(kMoleculeParts), table.field(*part));
      if (found == std::end(kMoleculeParts)) {
        throw Error(ExitCode::kData,
                    options.split_column + " is '" + file::shown(table.field(*part)) +
                        "', not train, val or test",
                    "", table.where());
      }
      one.part = static_cast<int32_t>(found - std::begin(kMoleculeParts));
    }
    if (!labels_.emplace(table.filled(*name), std::move(one)).second) {
      throw Error(ExitCode::kData, "'" + file::shown(table.field(*name)) + "' appears twice", "",
                  table.where());
    }
  }
}

const MoleculeLabel* MoleculeLabels::find(const std::string& name) const {
  for (const std::string& word : {name, name.substr(name.rfind('/') + 1), stem_of(name)}) {
    const auto found = labels_.find(word);
    if (found == labels_.end()) continue;
    found->second.use.add(name);
    return &found->second;
  }
  return nullptr;
}

void MoleculeLabels::report_unmet(data::Notes& notes) const {
  data::report_row_uses_of("labels.csv", labels_, notes);
}

}  // namespace kdgat::molecules
