// What stages exist, read from the kdgat_<stage>.json beside each plugin; opens no shared library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/kinds.h"
#include "kdgat/published.h"

namespace kdgat {

struct PortDescription {
  std::string name;
  std::string kind;
  bool required = true;
  bool many = false;
  /// For kind "graphs" of the data that are read, for others of those that require it; empty = any.
  std::string domain{};
};

struct PluginDescription {
  std::string name;                   ///< "autoencoder"
  std::filesystem::path library;      ///< .../kdgat_autoencoder.so
  std::filesystem::path description;  ///< .../kdgat_autoencoder.json
  uint32_t abi_major = 0, abi_minor = 0;
  int version = 1;
  std::string summary;
  std::string runtime;       ///< LibTorch build, or "none"
  std::string library_hash;  ///< xxh3-128 of the .so when it was described
  std::vector<PortDescription> inputs, outputs;
  nlohmann::json options;  ///< JSON Schema (see kdgat/options.h)
  std::vector<PublishedKey> refused{};
  bool trains_in_ranks = false;  ///< may be one of several processes that train together
  int speaks = 0;                ///< see StageInfo, and so below
  std::string model_file = kModelFile;
  std::vector<std::string> published_names{};
  std::string stands_in_for{};
  std::optional<PublishedProfile> published{};

  bool takes(const std::string& kind) const;  ///< as an input
  bool makes(const std::string& kind) const;  ///< as an output
  /// A published key that it does not have; nullptr if it is none.
  const PublishedKey* refused_key(const std::string& key) const;
};

class PluginCatalog {
 public:
  /// Reads every kdgat_*.json of `folders` in order; the first of a name wins. A description that
  /// cannot be read is kept as a problem, not thrown: it matters only to who names that stage.
  /// `named`: so many of the folders were named by whoever types; in the others a description is
  /// read only if nobody else may change what stands there.
  static PluginCatalog scan(const std::vector<std::filesystem::path>& folders,
                            std::size_t named = SIZE_MAX);
  /// --plugin-dir, KDGAT_PLUGIN_PATH, <executable>/plugins, $XDG_DATA_HOME/kdgat/plugins.
  static std::vector<std::filesystem::path> search_path(
      const std::vector<std::filesystem::path>& first);

  const PluginDescription* find(const std::string& name) const;  ///< nullptr if unknown
  /// The first stage that takes, or makes, a kind; nullptr if there is none. One that stands in for
  /// another only where that one is not there.
  const PluginDescription* find_taking(const std::string& kind) const;
  const PluginDescription* find_making(const std::string& kind) const;
  /// The stage that may run in the place of another; nullptr if there is none.
  const PluginDescription* find_stand_in(const std::string& name) const;
  /// How much the models of a stage speak for their runs; 0 if it is unknown.
  int speaks(const std::string& stage) const;
  /// What the file of its model is called; of an unknown stage kModelFile.
  std::string model_file(const std::string& stage) const;
  /// What files of models are called at all, each once; kModelFile first.
  std::vector<std::string> model_files() const;
  const std::map<std::string, PluginDescription>& all() const { return plugins_; }
  const std::map<std::string, Diagnostic>& problems() const { return problems_; }
  void add(PluginDescription plugin) { plugins_[plugin.name] = std::move(plugin); }  ///< for tests

 private:
  std::map<std::string, PluginDescription> plugins_;
  std::map<std::string, Diagnostic> problems_;
};

}  // namespace kdgat
