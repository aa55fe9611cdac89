#include "pipeline/data/data.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>

#include "data/import.h"
#include "data/space/spatial_import.h"
#include "data/synth.h"
#include "kdgat/text.h"
#include "pipeline/data/data_ratings.h"
#include "pipeline/data/data_text.h"
#include "pipeline/show/graphs_text.h"
#include "pipeline/system/hash.h"
#include "pipeline/system/machine.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using graph::GraphStore;
using nlohmann::json;

constexpr const char* kStore = "graphs.safetensors";
constexpr const char* kSplit = "split.safetensors";
constexpr const char* kSplitOptions[] = {"split", "val_fraction", "test_fraction",
                                         "seed",  "folds",        "fold"};

/// A kind of graph whose parts stand with it in one file.
struct OneFileKind {
  bool (*is_store)(const fs::path& store);
  PreparedData (*open)(const fs::path& store);
  json (*inspect)(const fs::path& store);
  std::vector<Diagnostic> (*verify)(const fs::path& store);
  const char* source;  ///< what it is made of
};

constexpr OneFileKind kOneFileKinds[] = {
    {is_text_store, open_prepared_text, inspect_text_store, verify_text_store, "texts"},
    {is_rating_store, open_prepared_ratings, inspect_rating_store, verify_rating_store, "ratings"}};

/// The kind of `store`, a file; null = a graph store with its split beside it. Throws Error(kData)
/// if it is missing or damaged.
const OneFileKind* one_file_kind(const fs::path& store) {
  for (const OneFileKind& kind : kOneFileKinds) {
    if (kind.is_store(store)) return &kind;
  }
  return nullptr;
}

std::string folder_name(const std::string& text) { return hash_text(text).substr(0, 16); }

/// The store a path names: the file itself or the one in the folder; empty if neither.
fs::path store_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return fs::exists(path / kStore, ignored) ? path / kStore : fs::path();
  }
  return path.extension() == ".safetensors" && !graph::is_spatial_graphs(path) ? path : fs::path();
}

void require_input(const fs::path& path) {
  if (path == "-") return;
  std::error_code failure;
  if (fs::exists(path, failure)) return;
  throw Error(ExitCode::kData,
              path.string() + ": " + (failure ? failure.message() : "no such file or folder"));
}

/// A new folder inside `parent`, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder(const fs::path& parent, const std::string& prefix) {
    std::string name = (parent / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ExitCode::kData, "cannot create a folder in " + parent.string() + ": " +
                                       std::generic_category().message(errno));
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

json to_json(const std::vector<Diagnostic>& list) {
  json out = json::array();
  for (const Diagnostic& d : list) {
    out.push_back({{"where", d.where}, {"message", d.message}, {"hint", d.hint}});
  }
  return out;
}

json size_counts(std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto nearest_rank = [&sizes](std::size_t percent) {
    return sizes.empty() ? 0 : sizes[(sizes.size() * percent + 99) / 100 - 1];
  };
  return {{"p50", nearest_rank(50)},
          {"p95", nearest_rank(95)},
          {"p99", nearest_rank(99)},
          {"max", nearest_rank(100)}};
}

/// Counts of some graphs of a store, as inspect_data() describes.
json count(const GraphStore& store, const std::vector<int64_t>& graphs) {
  std::vector<int64_t> nodes, edges;
  std::set<int64_t> ids;
  int64_t by_label[3] = {};  // none, benign, attack
  std::vector<int64_t> by_class(store.spatial().classes.size(), 0);
  for (const int64_t graph : graphs) {
    const auto g = static_cast<std::size_t>(graph);
    nodes.push_back(store.node_ptr()[g + 1] - store.node_ptr()[g]);
    edges.push_back(store.edge_ptr()[g + 1] - store.edge_ptr()[g]);
    if (store.is_spatial()) {
      if (store.y()[g] < 0) {
        ++by_label[0];
      } else {
        ++by_class[static_cast<std::size_t>(store.y()[g])];
      }
      continue;
    }
    ++by_label[std::clamp(store.y()[g], -1, 1) + 1];
    for (int64_t n = store.node_ptr()[g]; n < store.node_ptr()[g + 1]; ++n) {
      const auto id = static_cast<std::size_t>(n * store.node_features());
      ids.insert(static_cast<int64_t>(store.x()[id]));
    }
  }
  json out = {{"graphs", graphs.size()},
              {"unlabelled", by_label[0]},
              {"nodes", size_counts(nodes)},
              {"edges", size_counts(edges)}};
  if (store.is_spatial()) {
    out["classes"] = by_class;
  } else {
    out["attack"] = by_label[2];
    out["benign"] = by_label[1];
    out["ids"] = ids.size();
  }
  return out;
}

json inspect_store(const fs::path& path) {
  if (const OneFileKind* kind = one_file_kind(path)) return kind->inspect(path);
  const GraphStore store = GraphStore::open(path);
  json out = {{"path", path.string()},  {"content_hash", store.content_hash()},
              {"facts", store.facts()}, {"options", store.options()},
              {"files", json::array()}, {"parts", json::object()}};
  for (const graph::Source& source : store.sources()) {
    std::vector<int64_t> graphs(static_cast<std::size_t>(source.graphs));
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      graphs[i] = source.first_graph + static_cast<int64_t>(i);
    }
    json file = count(store, graphs);
    file["name"] = source.path;
    file["format"] = source.format;
    file["rows"] = source.rows;
    file["malformed"] = source.malformed;
    out["files"].push_back(std::move(file));
  }
  const fs::path split = path.parent_path() / kSplit;
  if (fs::exists(split)) {
    for (const auto& [name, graphs] : graph::load_split(split, store).parts) {
      out["parts"][name] = count(store, graphs);
    }
  }
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
              {"warnings", to_json(report.warnings)}};
  for (const char* key : {"attack", "num_ids", "spatial", "text", "ratings"}) {
    if (facts.contains(key)) out[key] = facts.at(key);
  }
  if (!report.build.is_null()) out["build"] = report.build;
  return out;
}

json inspect_data(const fs::path& path, const json& options, const DataProgress& progress,
                  const std::function<bool()>& cancelled) {
  require_input(path);
  if (const fs::path store = store_of(path); !store.empty()) return inspect_store(store);
  const TemporaryFolder imported(temporary_folder(), "kdgat-inspect.");
  graph::import_logs(path, imported.path(), load_options<graph::ImportOptions>(options), progress,
                     cancelled);
  json out = inspect_store(imported.path() / kStore);
  out["path"] = path.string();
  return out;
}

std::vector<Diagnostic> verify_data(const fs::path& path) {
  require_input(path);
  const fs::path file = store_of(path);
  if (file.empty()) {
    throw Error(ExitCode::kData, path.string() + " is not a graph store",
                "kdgat data import " + path.string() + " -o DIR makes one");
  }
  std::vector<Diagnostic> problems;
  try {
    if (const OneFileKind* kind = one_file_kind(file)) return kind->verify(file);
    const GraphStore store = GraphStore::open(file);
    problems = store.verify();
    const fs::path split = file.parent_path() / kSplit;
    if (fs::exists(split)) graph::load_split(split, store);
  } catch (const Error& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
  }
  return problems;
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
