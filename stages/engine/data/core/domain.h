// Domain: one kind of data, from its files over its store to the words a person reads. A domain is
// a folder here and one line in the program's list (domains.cpp); the functions of import.h and
// synth.h are handed the list and know no domain by name. Domains have no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/data/core/description.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/import_report.h"
#include "engine/data/core/option_values.h"
#include "engine/file/safetensors.h"
#include "engine/graph/graph_store.h"
#include "kdgat/error.h"

namespace kdgat::data {

// ---- import

/// How sure a domain is that a source is its own, rising. Two that are equally sure are an error.
enum class Sureness {
  kNo,
  kIfNoOther,  ///< it reads what nobody knows, and says best what is wrong with it
  kPossible,   ///< by names and folders alone, or by lines that could be those of others
  kLikely,     ///< by the look of first lines
  kSure,       ///< by a header, a name, or an option
};

/// What an import is handed beside its input. All outlives it.
struct ImportCall {
  const nlohmann::json& made_with;  ///< to be kept in the store as its options
  const std::filesystem::path& to;  ///< the store to be written, atomically
  std::function<bool()> cancelled;  ///< may be empty
  /// So many more bytes of the input were read; throws Error(kInterrupted) once cancelled.
  std::function<void(int64_t bytes)> done;
  ImportReport& report;
};

/// What a domain reads a source as.
class DomainInput {
 public:
  virtual ~DomainInput() = default;
  /// In order. Their names, sizes and times are what an import depends on beside its options.
  const std::vector<LogFile>& files() const { return files_; }
  /// Throws Error(kData) with "file:line" of what is wrong.
  virtual void import(const ImportCall& call) const = 0;

 protected:
  explicit DomainInput(std::vector<LogFile> files) : files_(std::move(files)) {}

 private:
  std::vector<LogFile> files_;
};

struct Found {
  Sureness sureness = Sureness::kNo;
  /// Called once, for the domain whose the source is; tells of files that are left out. Throws
  /// Error(kData).
  std::function<std::shared_ptr<const DomainInput>(Notes& notes)> take;
};

// ---- stores

/// A store as the library sees it, whatever its domain.
struct StoreView {
  std::string content_hash;
  nlohmann::json facts, options;
  std::vector<graph::Source> sources;
  int64_t graphs = 0;
  int64_t rows = 0;  ///< of the sources that are counted
};

/// Of some graphs: {"kind": word of `data synth`, "summary": for its help}.
struct SynthKind {
  const char* name;
  const char* summary;
};

// ---- attacks

/// What attacks are to be written into, and where to. All outlives it.
struct InjectCall {
  const std::vector<std::filesystem::path>& sources;  ///< files, folders, "-"
  const nlohmann::json& values;                       ///< options of inject_schema()
  const std::filesystem::path& to;                    ///< a folder that is there; files go below it
  const std::filesystem::path& output;  ///< where they are moved to: no source may stand there
  std::function<void(int64_t done, int64_t total)> progress;  ///< in bytes read; may be empty
  std::function<bool()> cancelled;                            ///< may be empty
};
struct InjectReport {
  nlohmann::json files = nlohmann::json::array();  ///< {"file","source","attack", counts ...}
  Notes warnings;
};

// ---- other forms

/// A file that is to be written in another form. All outlives it.
struct ConvertCall {
  const std::filesystem::path& source;                        ///< a file, "-"
  const nlohmann::json& values;                               ///< options of convert_schema()
  const std::filesystem::path& to;                            ///< a file; its ending names the form
  std::function<void(int64_t done, int64_t total)> progress;  ///< in bytes read; may be empty
  std::function<bool()> cancelled;                            ///< may be empty
};
struct ConvertReport {
  std::string file;
  std::string format;  ///< of the source
  int64_t rows = 0, malformed = 0;
  Notes warnings;
};

// ---- a domain

/// How a domain words what it holds.
struct Wording {
  /// By the facts of a data set: "1,000 windows (12 attack)".
  std::string (*headline)(const nlohmann::json& facts);
  /// Of what `kdgat data import` and `inspect` give.
  Description (*of_import)(const nlohmann::json& result);
  Description (*of_store)(const nlohmann::json& result);
};

/// An option of another domain that people take for one of this.
struct MistakenOption {
  const char* name;
  const char* why;
  const char* instead;  ///< the option they mean
};

class Domain {
 public:
  virtual ~Domain() = default;

  virtual const char* name() const = 0;  ///< as a port of a stage and its folder name it

  /// What the option `format` may be beside "auto".
  virtual std::vector<std::string> formats() const = 0;
  /// JSON Schema of all options that matter to it, those shared with others too.
  virtual nlohmann::json import_schema() const = 0;
  /// Replaces those of `values` that follow from others (see own_options()); leaves wrong ones.
  virtual void settle_import(nlohmann::json& /*values*/) const {}
  /// The names of these, without the rest of the schema.
  virtual std::vector<std::string> import_options() const = 0;
  /// Of `values`, which may hold options of other domains too, here and below.
  virtual std::vector<Diagnostic> import_problems(const nlohmann::json& values) const = 0;
  /// All options that decide what an import gives.
  virtual nlohmann::json import_identity(const nlohmann::json& values) const = 0;
  /// Refused where they are set to anything but their default.
  virtual std::vector<MistakenOption> mistaken_options() const { return {}; }
  /// Whether `source` (a file, a folder, "-" for standard input) is of this domain; asked where the
  /// option format is "auto" or one of formats(). Reads names and first lines only. Throws
  /// Error(kData) if what a format names is not there.
  virtual Found find(const std::filesystem::path& source, const nlohmann::json& values) const = 0;

  /// What a source that no domain is sure of lacks to be of this one, and the form that could be
  /// given; none if it does not look like it. Reads names and first lines only.
  virtual std::optional<Diagnostic> near(const std::filesystem::path& /*source*/,
                                         const nlohmann::json& /*values*/) const {
    return std::nullopt;
  }

  /// Whether a file is a store of this domain, by its header.
  virtual bool is_store(const file::SafetensorsFile& file) const = 0;
  /// Whether a .safetensors file is input, not a store.
  virtual bool is_input(const file::SafetensorsFile&) const { return false; }
  /// Of what a store is made, in a word: "logs".
  virtual const char* source_word() const = 0;
  /// Whether the parts (train, test, ...) stand in the store; else in a split beside it.
  virtual bool has_parts_inside() const { return true; }
  /// Throws Error(kData) if it is damaged, as far as `check` looks.
  virtual StoreView open(const std::filesystem::path& store, graph::Check check) const = 0;
  /// Every problem of a store and of its parts, that it cannot be opened among them; empty when
  /// sound.
  virtual std::vector<Diagnostic> verify(const std::filesystem::path& store) const = 0;
  /// {"path","content_hash","facts","options","files":[...],"parts":{name: counts}, ...}.
  virtual nlohmann::json inspect(const std::filesystem::path& store) const = 0;

  /// The key of `facts` that holds what this domain adds to them; "" = nothing: where no other
  /// domain's key stands, facts are of this one.
  virtual const char* facts_key() const = 0;
  virtual const Wording& wording() const = 0;

  /// The words of `kind` that are of this domain.
  virtual std::vector<SynthKind> synth_kinds() const = 0;
  virtual nlohmann::json synth_schema() const = 0;
  /// The options that matter to the data made up.
  virtual nlohmann::json synth_identity(const nlohmann::json& values) const = 0;
  /// Writes input of this domain below `folder`; what an import with the options `import` would
  /// leave out is not made. Throws Error(kData), and Error(kInterrupted) once `cancelled`.
  virtual void synthesize(const std::filesystem::path& folder, const nlohmann::json& values,
                          const nlohmann::json& import,
                          const std::function<bool()>& cancelled) const = 0;
  /// The same as one text, piece by piece, in memory that does not grow with it. Throws
  /// Error(kUsage) where the domain has no such text, and what `write` throws.
  virtual void stream_synthetic(const nlohmann::json& values,
                                const std::function<void(std::string_view)>& write,
                                const std::function<bool()>& cancelled) const;
  /// Schema of the options with which attacks are written into input of this domain; null: it has
  /// none.
  virtual nlohmann::json inject_schema() const { return nullptr; }
  /// Throws Error(kUsage), Error(kData), and Error(kInterrupted) once cancelled.
  virtual InjectReport inject(const InjectCall& call) const;

  /// Schema of the options with which a file of this domain is written in another form; null: it
  /// has no others.
  virtual nlohmann::json convert_schema() const { return nullptr; }
  /// Throws as inject().
  virtual ConvertReport convert(const ConvertCall& call) const;

  /// "synthetic CAN traffic, 60 s, 3 vehicles, seed 1: 1,200 windows (77 attack)".
  virtual std::string synth_headline(const nlohmann::json& values,
                                     const nlohmann::json& facts) const;
};

/// In the order of help texts; the first domain's first synth_kind is the default.
using Domains = std::span<const Domain* const>;

/// The options of a domain, from two option structs.
template <class Base, class Import, class Synth>
class WithOptions : public Base {
 public:
  nlohmann::json import_schema() const override { return options_schema<Import>(); }
  std::vector<std::string> import_options() const override {
    std::vector<std::string> out;
    std::apply([&](const auto&... f) { (out.push_back(f.name), ...); }, Import::table());
    return out;
  }
  std::vector<Diagnostic> import_problems(const nlohmann::json& values) const override {
    try {
      own_options<Import>(values);
    } catch (const Error& error) {
      return error.diagnostics();
    }
    return {};
  }
  void settle_import(nlohmann::json& values) const override {
    if constexpr (requires(Import options) { options.settle(); }) {
      if (!import_problems(values).empty()) return;
      const nlohmann::json settled = dump_options(own_options<Import>(values));
      for (auto& [name, value] : values.items()) {
        if (settled.contains(name)) value = settled.at(name);
      }
    }
  }
  nlohmann::json import_identity(const nlohmann::json& values) const override {
    const auto options = own_options<Import>(values);
    nlohmann::json out = result_identity(options);
    if constexpr (std::is_base_of_v<LabelOptions, Import>) {
      out["label_column"] = options.label_name();  // stores name the column that is meant
    }
    return out;
  }
  nlohmann::json synth_schema() const override { return options_schema<Synth>(); }
  nlohmann::json synth_identity(const nlohmann::json& values) const override {
    nlohmann::json out = result_identity(own_options<Synth>(values));
    if (values.contains("kind")) out["kind"] = values.at("kind");
    return out;
  }
};

}  // namespace kdgat::data
