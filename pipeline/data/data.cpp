#include "pipeline/data/data.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "data/import.h"
#include "data/synth.h"
#include "kdgat/result.h"
#include "kdgat/text.h"
#include "pipeline/data/data_ratings.h"
#include "pipeline/data/data_store.h"
#include "pipeline/data/data_text.h"
#include "pipeline/show/graphs_text.h"
#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using graph::GraphStore;
using nlohmann::json;

constexpr const char* kSplitOptions[] = {"split", "val_fraction", "test_fraction",
                                         "seed",  "folds",        "fold"};

std::string folder_name(const std::string& text) { return hash_text(text).substr(0, 16); }

/// Makes a folder; takes it away again, if it is new and still empty, unless keep() is called.
class OutputFolder {
 public:
  explicit OutputFolder(const fs::path& path) : path_(path) {
    std::error_code failure;
    created_ = fs::create_directories(path, failure);
    if (failure) {
      throw Error(ExitCode::kData, "cannot create " + path.string() + ": " + failure.message());
    }
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    if (created_ && !kept_) fs::remove(path_, ignored);
  }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool created_ = false;
  bool kept_ = false;
};

bool is_set(const Settings& settings, const std::string& key) {
  const auto origin = settings.origin.find(key);
  return settings.values.contains(key) && origin != settings.origin.end() &&
         origin->second != "default";
}

bool sets_split(const DataSpec& data) {
  return std::any_of(std::begin(kSplitOptions), std::end(kSplitOptions),
                     [&](const char* key) { return is_set(data.import, key); });
}

/// What the profile asks of the import must be how a given store was made, with `options`; of its
/// split only if that stands in the store. `source`: what it is made of.
void check_store_options(const DataSpec& data, const fs::path& store, const json& options,
                         bool in_store, const std::string& source) {
  std::vector<Diagnostic> problems;
  for (const auto& [key, wanted] : data.import.values.items()) {
    const bool of_split = std::find(std::begin(kSplitOptions), std::end(kSplitOptions), key) !=
                          std::end(kSplitOptions);
    if ((of_split && !in_store) || !is_set(data.import, key) || !options.contains(key)) continue;
    const json& made = options.at(key);
    if (made == wanted || key == "format") continue;
    std::string what = key;
    what.append(": ").append(wanted.dump()).append(" is asked for, but ");
    what.append(store.string()).append(" was made with ").append(made.dump());
    std::string hint = "name the ";
    hint.append(source).append(" instead of the store, or leave ").append(key).append(" out");
    problems.push_back({data.import.origin.at(key), std::move(what), std::move(hint)});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

/// Puts a given store into `folder` without copying it.
void link_store(const fs::path& given, const fs::path& folder) {
  const TemporaryFolder staging(folder, "link.");
  const fs::path target = fs::canonical(given);
  std::error_code failure;
  fs::create_hard_link(target, staging.path() / kStore, failure);
  if (failure) fs::create_symlink(target, staging.path() / kStore);
  fs::rename(staging.path() / kStore, folder / kStore);
}

/// Puts a given store into `folder`, and a split beside it.
void adopt_store(const DataSpec& data, const fs::path& given, const fs::path& folder) {
  if (const OneFileKind* kind = one_file_kind(given)) {
    check_store_options(data, given, kind->inspect(given).at("options"), true, kind->source);
    return link_store(given, folder);
  }
  const GraphStore store = GraphStore::open(given, true);
  check_store_options(data, store.path(), store.options(), false, "logs");
  const fs::path own_split = given.parent_path() / kSplit;
  const graph::Split split =
      sets_split(data) || !fs::exists(own_split)
          ? graph::make_split(
                store, load_options<graph::ImportOptions>(data.import.values).split_options())
          : graph::load_split(own_split, store);
  link_store(given, folder);
  graph::write_split(folder / kSplit, split);
}

/// Writes synthetic logs beside the import, reads them and removes them.
graph::ImportReport import_synthetic(const DataSpec& data, const fs::path& folder,
                                     const graph::ImportOptions& options,
                                     const DataProgress& progress,
                                     const std::function<bool()>& cancelled) {
  const TemporaryFolder logs(folder, "logs.");
  auto synth = load_options<graph::SynthOptions>(data.synth.values);
  std::erase_if(synth.attacks, [&](const std::string& attack) {  // would be left out again
    return std::any_of(
        options.exclude.begin(), options.exclude.end(),
        [&](const std::string& word) { return attack.find(word) != std::string::npos; });
  });
  graph::write_synthetic(logs.path(), synth, cancelled);
  // The store names its input by sizes and times: fixed ones, so that it too is the same each time.
  const auto epoch = std::chrono::file_clock::from_sys(std::chrono::sys_seconds());
  for (const auto& entry : fs::recursive_directory_iterator(logs.path())) {
    if (entry.is_regular_file()) fs::last_write_time(entry.path(), epoch);
  }
  return graph::import_logs(logs.path(), folder, options, progress, cancelled);
}

std::string summary_of(const DataSpec& data, const PreparedData& prepared) {
  if (!data.synthetic) return prepared.summary;
  const auto synth = load_options<graph::SynthOptions>(data.synth.values);
  if (synth.kind != "can") {
    return "synthetic " + graphs_text(prepared.facts) + ", seed " + std::to_string(synth.seed);
  }
  return "synthetic CAN traffic, " + format_number("%g", synth.seconds) + " s, " +
         std::to_string(synth.vehicles) + (synth.vehicles == 1 ? " vehicle" : " vehicles") +
         ", seed " + std::to_string(synth.seed) + ": " + graphs_text(prepared.facts);
}

/// Throws Error(kData) if store or split is missing or unsound.
PreparedData open_prepared(const fs::path& folder) {
  if (const OneFileKind* kind = one_file_kind(folder / kStore)) return kind->open(folder / kStore);
  const GraphStore store = GraphStore::open(folder / kStore);
  const graph::Split split = graph::load_split(folder / kSplit, store);
  PreparedData out;
  out.folder = folder;
  out.fingerprint =
      store.content_hash() + "-" + graph::SafetensorsFile::open(folder / kSplit).header_hash();
  out.facts = store.facts();
  out.facts["parts"] = json::object();
  for (const auto& [name, ids] : split.parts) out.facts["parts"][name] = ids.size();
  const std::size_t files = store.sources().size();
  out.summary =
      std::to_string(files) + (files == 1 ? " file, " : " files, ") + graphs_text(out.facts);
  return out;
}

}  // namespace

SectionSchemas data_schemas() {
  return {options_schema<graph::ImportOptions>(), options_schema<graph::SynthOptions>()};
}

fs::path data_folder(const DataSpec& data, const fs::path& dataset_root) {
  const fs::path folder = dataset_root / "data";
  if (data.synthetic) {
    const auto synth = load_options<graph::SynthOptions>(data.synth.values);
    const json what = {
        graph::kSynthVersion, graph::synth_identity(synth),
        graph::import_identity(load_options<graph::ImportOptions>(data.import.values),
                               graph::synth_kind(synth))};
    return folder / folder_name("synth " + what.dump());
  }
  if (data.path.empty()) {
    throw Error(ExitCode::kUsage, "no input data is named",
                "--data PATH names logs or a graph store; --preset smoke brings its own",
                data.where);
  }
  if (data.path == "-") {
    // What stands on standard input is known only once it is read: never the same twice.
    static const std::string once =
        std::to_string(::getpid()) + " " +
        std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    return folder / folder_name("stdin " + once);
  }
  require_input(data.path);
  if (const fs::path store = store_of(data.path); !store.empty()) {
    if (const OneFileKind* kind = one_file_kind(store)) {
      return folder / folder_name("store " + kind->open(store).fingerprint);
    }
    std::string what = GraphStore::open(store).content_hash();
    const fs::path own_split = store.parent_path() / kSplit;
    if (!sets_split(data) && fs::exists(own_split)) {
      what += graph::SafetensorsFile::open(own_split).header_hash();
    } else {
      const graph::SplitOptions split =
          load_options<graph::ImportOptions>(data.import.values).split_options();
      json identity = {split.kind, split.val_fraction, split.test_fraction, split.seed};
      if (split.folds > 0) identity.push_back({split.folds, split.fold});
      what += identity.dump();
    }
    return folder / folder_name("store " + what);
  }
  const auto options = load_options<graph::ImportOptions>(data.import.values);
  return folder / graph::import_fingerprint(data.path, options).substr(0, 16);
}

std::optional<PreparedData> find_prepared(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kStore, ignored)) return std::nullopt;
  try {
    PreparedData found = open_prepared(folder);
    found.reused = true;
    return found;
  } catch (const Error&) {
    return std::nullopt;  // damaged, or of another version: made again
  }
}

PreparedData prepare_data(const DataSpec& data, const fs::path& folder,
                          const DataProgress& progress, const std::function<bool()>& cancelled) {
  if (std::optional<PreparedData> found = find_prepared(folder)) {
    found->summary = summary_of(data, *found);
    return *std::move(found);
  }
  if (!data.synthetic) require_input(data.path);
  OutputFolder output(folder);
  const fs::path store = data.synthetic ? fs::path() : store_of(data.path);
  std::vector<Diagnostic> warnings;
  if (!store.empty()) {
    adopt_store(data, store, folder);
  } else {
    const auto options = load_options<graph::ImportOptions>(data.import.values);
    warnings =
        (data.synthetic ? import_synthetic(data, folder, options, progress, cancelled)
                        : graph::import_logs(data.path, folder, options, progress, cancelled))
            .warnings;
  }
  PreparedData out = open_prepared(folder);
  out.summary = summary_of(data, out);
  out.warnings = std::move(warnings);
  output.keep();
  return out;
}

json import_data(const fs::path& source, const fs::path& folder, const json& options,
                 const DataProgress& progress, const std::function<bool()>& cancelled) {
  require_input(source);
  if (!store_of(source).empty()) {
    throw Error(ExitCode::kUsage, source.string() + " is a graph store already",
                "kdgat data inspect " + source.string());
  }
  const auto import_options = load_options<graph::ImportOptions>(options);
  OutputFolder output(folder);
  const graph::ImportReport report =
      graph::import_logs(source, folder, import_options, progress, cancelled);
  output.keep();
  const json facts = open_prepared(folder).facts;
  json out = {{"folder", folder.string()},
              {"reused", report.reused},
              {"rows", report.rows},
              {"graphs", report.graphs},
              {"unlabelled", facts.at("unlabelled")},
              {"sources", report.sources},
              {"parts", facts.at("parts")},
              {"warnings", report.warnings}};
  for (const char* key : {"attack", "num_ids", "spatial", "text", "ratings"}) {
    if (facts.contains(key)) out[key] = facts.at(key);
  }
  if (!report.build.is_null()) out["build"] = report.build;
  return out;
}

std::vector<std::string> synthesize_data(const fs::path& folder, const json& options,
                                         const std::function<bool()>& cancelled) {
  const auto synth = load_options<graph::SynthOptions>(options);
  OutputFolder output(folder);
  const TemporaryFolder staging(folder, ".synth.");  // inside: surely the same file system
  graph::write_synthetic(staging.path(), synth, cancelled);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(staging.path())) {
    if (!entry.is_regular_file()) continue;
    files.push_back(fs::relative(entry.path(), staging.path()).string());
  }
  std::sort(files.begin(), files.end());
  try {
    for (const std::string& file : files) {
      fs::create_directories((folder / file).parent_path());
      fs::rename(staging.path() / file, folder / file);
    }
  } catch (const fs::filesystem_error& e) {
    throw Error(ExitCode::kData, "cannot write to " + folder.string() + ": " + e.code().message());
  }
  output.keep();
  return files;
}

}  // namespace kdgat
