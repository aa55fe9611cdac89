// From files of molecules to a store.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/data/core/import_report.h"
#include "fields/molecules/data/molecule_files.h"
#include "fields/molecules/data/molecule_options.h"
#include "fields/molecules/data/molecule_store.h"

namespace kdgat::molecules {

struct MoleculeImport {
  const MoleculeInput& input;
  const MoleculeImportOptions& options;
  std::function<bool()> cancelled;          ///< may be empty
  std::function<void(int64_t bytes)> done;  ///< of a file, so many more; throws to end the import
};

/// All molecules of the input. Throws Error(kData) with the places, "file:line", of what is wrong:
/// at most ten at once.
MoleculeStoreData read_molecules(const MoleculeImport& import, data::ImportReport& report);

/// Reads all molecules, divides them into parts and writes the store `to`, made with `made_with`.
/// Throws as read_molecules().
void import_molecules(const MoleculeImport& import, const nlohmann::json& made_with,
                      const std::filesystem::path& to, data::ImportReport& report);

/// Which part each molecule is in, of those whose part is -1: whole groups, drawn by `seed`, until
/// the test part has its share of all and then the validation part its share of the rest.
void divide_groups(const std::vector<std::string>& groups, double val_fraction,
                   double test_fraction, int64_t seed, std::vector<int32_t>& part);

}  // namespace kdgat::molecules
