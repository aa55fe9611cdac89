// StoreFile: what the files of all data sets have in common, one memory-mapped safetensors file
// whose metadata say its format, where the data came from and what is in it. Owns the mapping. Of
// the tensors it knows nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/metadata_json.h"
#include "engine/file/safetensors.h"
#include "kdgat/parse_json.h"

namespace kdgat::graph {

/// Where a run of consecutive graphs came from.
struct Source {
  std::string path;  ///< as given by the user, relative to the data set's root
  std::string
      scenario;        ///< name of the folder ("test_01_known_vehicle_known_attack"), may be empty
  std::string role;    ///< "train" or "test"
  std::string format;  ///< importer that read it, e.g. "can-train-and-test"
  int64_t rows = 0;
  int64_t malformed = 0;  ///< rows counted and skipped
  int64_t first_graph = 0;
  int64_t graphs = 0;
  bool independent =
      false;           ///< its graphs are of different objects: a split by groups may part them
  int64_t group = -1;  ///< sources of one number stay together in a split by groups; -1: alone

  /// Its graphs are for validation: it has the role "train" and the scenario "val".
  void validate() { role = "train", scenario = "val"; }
  bool validates() const { return role == "train" && scenario == "val"; }
};

void to_json(nlohmann::json& out, const Source& source);
void from_json(const nlohmann::json& in, Source& source);

/// What tells stores of one kind from others.
struct StoreKind {
  const char* format;  ///< in the metadata: "kdgat.graphs"
  int version;
  const char* name;   ///< in messages: "graph store"
  const char* maker;  ///< the hint for who named another file; may be empty
};

/// What opening a store looks at. That every number in it that indexes memory stays inside of it is
/// always checked, by each kind of store.
enum class Check {
  kRanges,  ///< nothing else: for who reads the data hashes next
  kOnce,    ///< all data agree with their hashes; not again within a day for the same file (see
            ///< verified_files.h)
  kAlways,  ///< the same, whenever it was read
};

class StoreFile {
 public:
  /// Whether the file says that it is of this kind.
  static bool is_store(const file::SafetensorsFile& file, const StoreKind& kind);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<Source>& sources() const { return sources_; }
  /// What is in it, as counted when it was written.
  const nlohmann::json& facts() const { return facts_; }
  /// The import options it was made with.
  const nlohmann::json& options() const { return options_; }
  /// Hash of header and data sections: the identity used in fingerprints.
  const std::string& content_hash() const { return content_hash_; }
  int64_t mapped_bytes() const;  ///< of the tensors
  /// Keeps the mapping alive; for zero-copy tensors.
  std::shared_ptr<const void> mapping() const { return file_.mapping(); }

 protected:
  /// Checks format, version, the header's hash and, as `check` says, those of the data, and reads
  /// what all kinds have. Throws Error(kData).
  StoreFile(const std::filesystem::path& path, const StoreKind& kind, Check check);

  const file::SafetensorsFile& file() const { return file_; }
  /// The metadata `key`. Throws Error(kData) if there is none.
  const std::string& text(const std::string& key) const;
  /// The same, read as JSON, in `out`.
  template <class T>
  void read(const std::string& key, T& out) const {
    out = file::metadata_json<T>(file_, key);
  }
  /// Throws Error(kData) unless facts() say below each key, a JSON pointer, what stands beside it:
  /// what the arrays hold. So who plans by facts plans for what is there.
  void require_facts(std::initializer_list<std::pair<const char*, nlohmann::json>> wanted) const;
  /// Throws Error(kData) unless facts() hold a number, or a list, below each of the keys.
  void require_numbers(std::initializer_list<const char*> keys) const;
  void require_lists(std::initializer_list<const char*> keys) const;
  static Error refuse(const std::filesystem::path& path, const std::string& reason);

 private:
  /// The fact below a key; null where there is none.
  nlohmann::json fact(const char* key) const;
  /// Throws Error(kData) where `check` asks for the data hashes and one of them differs.
  void check_data(Check check) const;

  file::SafetensorsFile file_;
  std::vector<Source> sources_;
  nlohmann::json facts_, options_;
  std::string content_hash_;
};

/// The metadata that opening a store of this kind asks for.
std::map<std::string, std::string> store_metadata(const StoreKind& kind,
                                                  const std::vector<Source>& sources,
                                                  const nlohmann::json& options,
                                                  const nlohmann::json& facts);

}  // namespace kdgat::graph
