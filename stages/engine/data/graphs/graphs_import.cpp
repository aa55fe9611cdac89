#include "engine/data/graphs/graphs_import.h"

#include <algorithm>
#include <array>

#include "engine/data/core/folder_files.h"
#include "engine/data/graphs/graph_builder.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTables[] = {"graphs.csv", "nodes.csv", "edges.csv"};
/// Kinds of files of a TUDataset folder; the first three must be there.
constexpr const char* kTuKinds[] = {
    "A",           "graph_indicator", "graph_labels", "node_labels", "node_attributes",
    "edge_labels", "edge_attributes"};
constexpr std::size_t kTuNeeded = 3;

/// `name` in a folder, plain or packed; empty if it is not there.
fs::path packed_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz", ".zst"}) {
    fs::path path = folder / (name + ending);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

/// NAME of the NAME_A.txt in a folder; the first of several, empty if there is none.
std::string tu_name(const fs::path& folder) {
  constexpr std::string_view kEnding = "_A.txt";
  std::string found;
  std::error_code failure;
  for (fs::directory_iterator entries(folder, failure), end; !failure && entries != end;
       entries.increment(failure)) {
    const std::string name = unpacked_name(entries->path()).string();
    if (name.starts_with(".") || name.size() <= kEnding.size() || !name.ends_with(kEnding)) {
      continue;
    }
    const std::string one = name.substr(0, name.size() - kEnding.size());
    if (packed_file(folder, one + "_graph_indicator.txt").empty()) continue;
    if (found.empty() || one < found) found = one;
  }
  return found;
}

bool is_npz(const fs::path& path) { return path.extension() == ".npz"; }

/// The form of a source, or "".
std::string form_of(const fs::path& source) {
  std::error_code ignored;
  if (source == "-") return "";
  if (!fs::is_directory(source, ignored)) {
    if (!fs::is_regular_file(source, ignored)) return "";
    if (is_npz(source)) return kGraphNpz;
    const bool are_tensors = source.extension() == ".safetensors" &&
                             is_graph_tensors(file::SafetensorsFile::open(source));
    return are_tensors ? kGraphTensors : "";
  }
  if (!packed_file(source, kTables[0]).empty() && !packed_file(source, kTables[1]).empty()) {
    return kGraphTables;
  }
  return tu_name(source).empty() ? "" : kTuDataset;
}

LogFile need(const fs::path& folder, const std::string& name) {
  const fs::path path = packed_file(folder, name);
  if (!path.empty()) return as_file(path, path.filename().string());
  throw Error(ExitCode::kData, folder.string() + ": no " + name + " in this folder",
              fs::is_directory(folder) ? "" : "name the folder, not a file of it");
}

std::vector<LogFile> tu_files(const fs::path& folder) {
  const std::string name = tu_name(folder);
  std::vector<LogFile> out;
  for (std::size_t k = 0; k < std::size(kTuKinds); ++k) {
    const std::string file = (name.empty() ? "NAME" : name) + "_" + kTuKinds[k] + ".txt";
    if (k >= kTuNeeded && packed_file(folder, file).empty()) continue;
    out.push_back(need(folder, file));
    out.back().channel = kTuKinds[k];
  }
  return out;
}

void warn_of(const EdgeChanges& changes, int64_t unlabelled, const GraphsImport& import) {
  const auto warn = [&](const std::string& message, const std::string& hint = "") {
    import.warnings.push_back({import.input.source.string(), message, hint});
  };
  if (changes.loops + changes.repeated > 0) {
    warn("edges left out: " + grouped(changes.repeated) + " that stood twice, " +
         grouped(changes.loops) + " from a node to itself");
  }
  if (changes.added > 0) warn(grouped(changes.added) + " edges added: the reverse of others");
  if (unlabelled > 0) warn(grouped(unlabelled) + " graphs without a label");
}

}  // namespace

bool is_graph_tensors(const file::SafetensorsFile& file) {
  return file.has("x") && file.has("edge_index") && !file.has("pos") &&
         !file.metadata().contains("format");
}

std::optional<GraphsInput> find_graphs(const fs::path& source, const std::string& format) {
  const std::array forms = {kGraphTables, kTuDataset, kGraphTensors, kGraphNpz};
  const bool is_named = std::find(forms.begin(), forms.end(), format) != forms.end();
  if (!is_named && format != "auto") return std::nullopt;
  std::error_code failure;
  if (source != "-" && !fs::exists(source, failure)) return std::nullopt;  // said by who reads it
  GraphsInput out{is_named ? format : form_of(source), source, {}};
  if (out.format.empty()) return std::nullopt;
  if (out.format == kGraphTables) {
    for (const char* table : kTables) out.files.push_back(need(source, table));
  } else if (out.format == kTuDataset) {
    out.files = tu_files(source);
  } else if (!fs::is_regular_file(source, failure)) {
    throw Error(ExitCode::kData, source.string() + ": not a file",
                std::string(format) + " is one file");
  } else {
    out.files = {as_file(source, source.filename().string())};
  }
  return out;
}

graph::GraphStoreData import_graphs(const GraphsImport& import, const fs::path& folder) {
  GraphCollection collection;
  if (import.input.format == kGraphTables) {
    collection = read_graph_tables(import);
  } else if (import.input.format == kTuDataset) {
    collection = read_tu_dataset(import);
  } else {
    collection = read_tensor_file(import);
  }
  require_classes(collection, import.to_learn);
  EdgeChanges changes;
  const auto step = [&] { import.done(0); };
  graph::GraphStoreData out =
      build_graphs(collection, import.options.undirected, folder, step, changes);
  warn_of(changes, std::count(out.y.begin(), out.y.end(), -1), import);
  return out;
}

}  // namespace kdgat::data
