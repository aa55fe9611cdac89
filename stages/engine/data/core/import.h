// From files to a store, whatever their domain: the whole of `kdgat data import`, and finding the
// domain of files, stores, facts and made-up data.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/data/core/domain.h"
#include "engine/data/core/import_report.h"

namespace kdgat::data {

/// Schema of the profile's `data:` section and the key=value words of `kdgat data import`: the
/// options of all domains, and `format`, which may be a form of any.
nlohmann::json import_schema(Domains domains);

/// Replaces values that follow from others, as Domain::settle_import().
void settle_import_options(Domains domains, nlohmann::json& values);

/// Throws Error(kUsage) with every problem: an option that no domain has, a wrong type, and what
/// the domains find. `values` by canonical name; what is missing has its default.
void check_import_options(Domains domains, const nlohmann::json& values);
/// Options that another domain has for what was meant. Throws Error(kUsage) with the one to use.
void check_mistaken_options(Domains domains, const Domain& domain, const nlohmann::json& values);

/// Reads `source` (a file, a folder, "-" for standard input) into `<out>/graphs.safetensors`, and
/// `<out>/split.safetensors` unless the parts stand in the store; `<out>/import.json` holds what
/// was reported. Nothing is read where the same import stands there. Atomic: two processes may
/// import to the same place. Throws Error(kData) for bad input, also for what two domains are sure
/// of, Error(kUsage) for bad options. `cancelled` is asked now and then; when it answers true the
/// import throws Error(kInterrupted).
ImportReport import_source(Domains domains, const std::filesystem::path& source,
                           const std::filesystem::path& out, const nlohmann::json& values,
                           const ImportProgress& progress = {},
                           const std::function<bool()>& cancelled = {});

/// Hash of what an import of `source` depends on: names, sizes and mtimes of its files and the
/// options. A store (file or folder with graphs.safetensors) answers its content hash.
std::string import_fingerprint(Domains domains, const std::filesystem::path& source,
                               const nlohmann::json& values);

/// The domain of what `source` holds. Throws as import_source().
const Domain& domain_of_source(Domains domains, const std::filesystem::path& source,
                               const nlohmann::json& values);

/// A folder that an import wrote, or that a given store was put into.
struct DataFolder {
  const Domain* domain = nullptr;
  StoreView store;          ///< its facts have "parts": {"train": n, "val": n, ...}
  std::string fingerprint;  ///< content of the store and of the split
};
/// Throws Error(kData) if store or split is missing or unsound; data hashes are read as `check`
/// says.
DataFolder open_folder(Domains domains, const std::filesystem::path& folder, graph::Check check);

/// What was reported of the import that made the store of a folder; none of a store that was given.
Notes notes_of_import(const std::filesystem::path& folder, const StoreView& store);

/// The store that a path names: the file itself or the one in the folder; empty if neither.
std::filesystem::path store_of(Domains domains, const std::filesystem::path& path);
/// The domain of a store, a file. Throws Error(kData) if it is missing, damaged or of none.
const Domain& domain_of_store(Domains domains, const std::filesystem::path& store);
/// The domain whose facts these are: of a store, or of an import's result. Null = of none.
const Domain* domain_of_facts(Domains domains, const nlohmann::json& facts);

}  // namespace kdgat::data
