// GraphDomain: a domain whose stores are GraphStores with a split beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/core/domain.h"

namespace kdgat::data {

/// The names in a folder.
inline constexpr const char* kStoreName = "graphs.safetensors";
inline constexpr const char* kSplitName = "split.safetensors";

class GraphDomain : public Domain {
 public:
  bool is_store(const file::SafetensorsFile& file) const override;
  const char* source_word() const override { return "logs"; }
  bool has_parts_inside() const override { return false; }
  StoreView open(const std::filesystem::path& store, graph::Check check) const override;
  std::vector<Diagnostic> verify(const std::filesystem::path& store) const override;
  /// "files": {"name","format","rows","malformed", counts}, "parts": {name: counts}, where counts
  /// are {"graphs","unlabelled","nodes":{"p50","p95","p99","max"},"edges":{same}} and what
  /// add_counts() adds.
  nlohmann::json inspect(const std::filesystem::path& store) const override;

 protected:
  /// Whether a graph store is of this domain.
  virtual bool owns(const file::SafetensorsFile& file) const = 0;
  /// Of `graphs` of the store, what this domain counts.
  virtual void add_counts(const graph::GraphStore& store, const std::vector<int64_t>& graphs,
                          nlohmann::json& counts) const = 0;
};

}  // namespace kdgat::data
