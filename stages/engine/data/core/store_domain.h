// StoreDomain: a domain with a store of its own, in which the parts stand.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/data/core/domain.h"
#include "engine/graph/store_file.h"

namespace kdgat::data {

/// Store is a StoreFile with open(path, check), is_store(file) and verify().
template <class Store>
class StoreDomain : public Domain {
 public:
  bool is_store(const file::SafetensorsFile& file) const override { return Store::is_store(file); }

  StoreView open(const std::filesystem::path& path, graph::Check check) const override {
    const Store store = Store::open(path, check);
    StoreView out{store.content_hash(), store.facts(), store.options(), store.sources(), 1, 0};
    for (const graph::Source& source : out.sources)
      out.rows += is_counted(source) ? source.rows : 0;
    return out;
  }

  std::vector<Diagnostic> verify(const std::filesystem::path& path) const override {
    try {
      return Store::open(path, graph::Check::kRanges).verify();
    } catch (const Error& error) {
      return error.diagnostics();
    }
  }

  nlohmann::json inspect(const std::filesystem::path& path) const override {
    const Store store = Store::open(path);
    nlohmann::json out = {{"path", path.string()},
                          {"content_hash", store.content_hash()},
                          {"facts", store.facts()},
                          {"options", store.options()},
                          {"files", store.sources()}};
    add_counts(store, out);
    return out;
  }

 protected:
  /// Whether the rows of a source are those of the data set.
  virtual bool is_counted(const graph::Source&) const { return true; }
  /// "parts", and what else inspect() tells.
  virtual void add_counts(const Store& store, nlohmann::json& seen) const = 0;
};

}  // namespace kdgat::data
