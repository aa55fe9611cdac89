// The host's only door to graph data, as no other room includes stages/: the `data` verb and what a
// run needs to know of its input.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/profile/profile.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// What the facts of every graph store say.
struct StoreFacts {
  int64_t unlabelled = 0;                                      ///< graphs
  std::optional<std::map<std::string, nlohmann::json>> parts;  ///< graphs of each
  static auto keys() {
    return std::tuple{key("unlabelled", &StoreFacts::unlabelled), key("parts", &StoreFacts::parts)};
  }
};

struct PreparedData {
  std::filesystem::path folder;      ///< holds graphs.safetensors and split.safetensors; of texts
                                     ///< and ratings the former alone
  std::string fingerprint;           ///< content of the store and of the split
  nlohmann::json facts;              ///< of the graph store: StoreFacts and what its domain adds
  std::string summary;               ///< one line: "3 files, 1,412 windows (167 attack)"
  std::vector<Diagnostic> warnings;  ///< those of what is not used as one, which counts them
  bool reused = false;
  std::string domain{};  ///< of its store; "" = not known
  int64_t classes = -1;  ///< of labelled graphs; -1 = of other data
};

/// Throws Error(kData) unless there is such a file or folder, of a form that is read as far as its
/// name tells; "-" is standard input.
void require_input(const std::filesystem::path& path);

/// Schemas of the profile's `data:` and `synth:` sections (see engine/data/core/import.h,
/// engine/data/core/synth.h).
SectionSchemas data_schemas();

/// The folder under <root>/<dataset>/data/ where this input's import stands or will stand; the same
/// for the same files and options. Reads names, sizes and times only. Throws Error(kData) if the
/// input does not exist.
std::filesystem::path data_folder(const DataSpec& data, const std::filesystem::path& dataset_root);

/// The domain of the data, by its first lines; "" for standard input, which is known once it is
/// read. Throws as data_folder(), and Error(kData) for data of no domain.
std::string data_domain(const DataSpec& data);

/// What is already imported and sound, without importing; nullopt if nothing is. Data hashes are
/// read once a day for each file; `verify`: now, too.
std::optional<PreparedData> find_prepared(const std::filesystem::path& folder, bool verify = false);

/// Removes what killed imports left below <root>/<dataset>/data/, and killed inspections in the
/// folder of temporary files; what a living process works on stays.
void clear_data_leftovers(const std::filesystem::path& dataset_root);

/// Throws what prepare_data() would throw for these options before it reads any content; writes
/// nothing.
void check_data(const DataSpec& data);

using DataProgress = std::function<void(int64_t done, int64_t total)>;  ///< in bytes

/// Imports (or synthesises, then imports) unless it is there, and sound as far as find_prepared()
/// looks; that it was not is a warning.
/// A graph store is linked, not copied; its own split is kept unless the profile sets one. Throws
/// Error(kData) for bad input, Error(kUsage) for bad options and for import options that a given
/// store was not made with, Error(kInterrupted) once `cancelled` answers true (nothing is left).
PreparedData prepare_data(const DataSpec& data, const std::filesystem::path& folder,
                          const DataProgress& progress, const std::function<bool()>& cancelled,
                          bool verify = false);

/// `kdgat data import`: {"folder","reused","rows","graphs","attack","sources":[..],"parts":{..},
/// "warnings":[{"where","message","hint"; of what is not used "unused","count", see Note}],
/// "unused":{"column": 2, ...}}, what its domain adds to the facts of a store, and "build" (see
/// ImportReport). `options` by canonical name.
nlohmann::json import_data(const std::filesystem::path& source, const std::filesystem::path& folder,
                           const nlohmann::json& options, const DataProgress& progress,
                           const std::function<bool()>& cancelled);

/// `kdgat data inspect`: {"path","content_hash","facts","options","files":[..],"parts":{name:
/// counts}}, see Domain::inspect. What is no store is imported to a temporary place first, with
/// `options`, and "warnings" and "unused" are those of that import.
nlohmann::json inspect_data(const std::filesystem::path& path, const nlohmann::json& options,
                            const DataProgress& progress, const std::function<bool()>& cancelled);

/// For a terminal, the "warnings" of import_data(), inspect_data() and others: those of what is not
/// used as one, which counts them, or with `all` each.
std::vector<Diagnostic> warnings_of(const nlohmann::json& result, bool all);

/// `kdgat data verify`: every problem of a store and, for a folder, of its split; empty when sound.
/// Throws Error(kData) if there is no store.
std::vector<Diagnostic> verify_data(const std::filesystem::path& path);

/// What a data set holds, in words, by the facts of its store: "1,000 windows (12 attack)".
std::string data_headline(const nlohmann::json& facts);

/// `kdgat data synth -o -`: one log, of all that is made up, as text to `out`. Ends quietly where
/// nobody reads it any more.
void stream_synthetic_data(std::ostream& out, const nlohmann::json& options,
                           const std::function<bool()>& cancelled);

/// `kdgat data synth`: the names of the files written, relative to `folder`.
std::vector<std::string> synthesize_data(const std::filesystem::path& folder,
                                         const nlohmann::json& options,
                                         const std::function<bool()>& cancelled);

/// Schema of the options of `kdgat data inject`.
nlohmann::json inject_schema();

/// `kdgat data inject`: attacks written into recorded data. {"folder", "files": [{"file", "source",
/// "attack", counts ...}], "warnings": [{"where","message","hint"}]}; "file" is relative to
/// `folder`. All files are there or none.
nlohmann::json inject_data(const std::vector<std::filesystem::path>& sources,
                           const std::filesystem::path& folder, const nlohmann::json& options,
                           const DataProgress& progress, const std::function<bool()>& cancelled);

/// Schema of the options of `kdgat data convert`.
nlohmann::json convert_schema();

/// `kdgat data convert`: a log in the form that the ending of `to` names. {"file", "format" of the
/// source, "rows", "malformed", "warnings": as above}. The file is there whole or not at all.
nlohmann::json convert_data(const std::filesystem::path& source, const std::filesystem::path& to,
                            const nlohmann::json& options, const DataProgress& progress,
                            const std::function<bool()>& cancelled);

}  // namespace kdgat
