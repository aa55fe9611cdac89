#include "engine/data/graphs/graphs_import.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "engine/data/core/folder_files.h"
#include "engine/data/graphs/graph_builder.h"
#include "engine/file/csv.h"
#include "engine/file/line_reader.h"
#include "engine/file/number_text.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTables[] = {"graphs.csv", "nodes.csv", "edges.csv"};
/// Kinds of files of a TUDataset folder; the first three must be there, but for labels where there
/// are attributes of graphs.
constexpr const char* kTuKinds[] = {
    "A",           "graph_indicator", "graph_labels", "graph_attributes",
    "node_labels", "node_attributes", "edge_labels",  "edge_attributes"};
constexpr std::size_t kTuLabels = 2, kTuNeeded = 3;

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

/// The folder of a TUDataset that `source` means: itself, or as PyTorch Geometric leaves it on disk
/// its folder raw, or that of its only folder; `source` if there is none.
fs::path tu_folder(const fs::path& source) {
  std::error_code failure;
  if (!fs::is_directory(source, failure) || !tu_name(source).empty()) return source;
  if (!tu_name(source / "raw").empty()) return source / "raw";
  std::vector<fs::path> found;
  for (fs::directory_iterator entries(source, failure), end; !failure && entries != end;
       entries.increment(failure)) {
    if (!entries->is_directory()) continue;
    for (const fs::path& folder : {entries->path(), entries->path() / "raw"}) {
      if (!tu_name(folder).empty()) found.push_back(folder);
    }
  }
  return found.size() == 1 ? found.front() : source;
}

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
  return tu_name(tu_folder(source)).empty() ? "" : kTuDataset;
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
    const bool has_numbers = !packed_file(folder, name + "_graph_attributes.txt").empty();
    const bool is_needed = k < kTuNeeded && !(k == kTuLabels && has_numbers);
    if (!is_needed && packed_file(folder, file).empty()) continue;
    out.push_back(need(folder, file));
    out.back().channel = kTuKinds[k];
  }
  return out;
}

void warn_of(const EdgeChanges& changes, int64_t unlabelled, const GraphsImport& import) {
  const auto warn = [&](const std::string& message, const char* unused = "", int64_t count = 0) {
    import.warnings.push_back({import.input.source.string(), message, "", unused, count, true});
  };
  if (changes.loops + changes.repeated > 0) {
    warn("edges left out: " + grouped(changes.repeated) + " that stood twice, " +
             grouped(changes.loops) + " from a node to itself",
         "edge", changes.loops + changes.repeated);
  }
  if (changes.added > 0) warn(grouped(changes.added) + " edges added: the reverse of others");
  if (unlabelled > 0) warn(grouped(unlabelled) + " graphs without a label");
}

/// Graphs that nothing is said of.
int64_t unlabelled_of(const graph::GraphStoreData& data) {
  const std::size_t width = data.sections.targets->names.size();
  if (width == 0) return std::count(data.y.begin(), data.y.end(), -1);
  int64_t out = 0;
  const std::vector<float>& values = data.sections.targets->values;
  for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(width)) {
    out += std::all_of(row, row + static_cast<std::ptrdiff_t>(width),
                       [](float value) { return std::isnan(value); });
  }
  return out;
}

/// What a person should know of graphs that cannot teach much.
void warn_of_content(const graph::GraphStoreData& data, const GraphsImport& import) {
  const auto warn = [&](const std::string& message, const std::string& hint = "") {
    import.warnings.push_back({import.input.source.string(), message, hint});
  };
  const std::size_t graphs = data.y.size();
  std::size_t without = 0;
  for (std::size_t g = 0; g < graphs; ++g) without += data.edge_ptr[g] == data.edge_ptr[g + 1];
  constexpr std::size_t kFewGraphs = 5;  // may well be without edges
  if (graphs > kFewGraphs && 2 * without > graphs) {
    warn(grouped(static_cast<int64_t>(without)) + " of " + grouped(static_cast<int64_t>(graphs)) +
             " graphs have no edge",
         "do the edges name the right nodes?");
  }
  const std::vector<std::string>& classes = data.sections.targets->classes;
  if (import.to_learn && classes.size() == 1) {
    warn("only one class, " + file::shown(classes.front()), "a classifier needs two");
  }
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
    out.source = tu_folder(source);
    out.files = tu_files(out.source);
  } else if (!fs::is_regular_file(source, failure)) {
    throw Error(ExitCode::kData, source.string() + ": not a file",
                std::string(format) + " is one file");
  } else {
    out.files = {as_file(source, source.filename().string())};
  }
  return out;
}

namespace {

/// What other programs keep graphs in, by how a name begins and ends.
struct OtherForm {
  const char *begin, *end, *what;
};
constexpr OtherForm kOtherForms[] = {
    {"", ".graphml", "graphs as GraphML"},
    {"", ".gml", "graphs as GML"},
    {"", ".gexf", "graphs as GEXF"},
    {"", ".sdf", "molecules as SDF"},
    {"", ".smi", "molecules as SMILES"},
    {"ind.", ".graph", "one graph with classes of nodes, as Planetoid has it"},
    {"num-node-list", "", "graphs as the Open Graph Benchmark (OGB) has them"},
};

const char* other_form(const fs::path& path) {
  const std::string name = unpacked_name(path).string();
  if (path.extension() == ".pt" && path.parent_path().filename() == "processed") {
    return "graphs as PyTorch Geometric keeps them once they are processed";
  }
  for (const OtherForm& form : kOtherForms) {
    if (name.starts_with(form.begin) && name.ends_with(form.end)) return form.what;
  }
  return nullptr;
}

/// A table with a column of SMILES.
bool has_smiles(const fs::path& path) {
  if (unpacked_name(path).extension() != ".csv") return false;
  file::LineReader lines(path);
  std::string_view first;
  if (!lines.next(first)) return false;
  for (std::string name : file::csv_fields(first)) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name == "smiles") return true;
  }
  return false;
}

}  // namespace

std::optional<Diagnostic> near_graphs(const fs::path& source) {
  constexpr std::size_t kMostLookedAt = 256;
  const std::string hint =
      "a folder with graphs.csv, nodes.csv and edges.csv, or of a TUDataset (NAME_A.txt, "
      "NAME_graph_indicator.txt, NAME_graph_labels.txt)";
  const auto near = [&](const fs::path& path) -> std::optional<Diagnostic> {
    const char* what = has_smiles(path) ? "molecules as SMILES" : other_form(path);
    if (what == nullptr) return std::nullopt;
    return Diagnostic{path.string(), std::string(what) + " are not read", hint};
  };
  std::error_code failure;
  if (fs::is_regular_file(source, failure)) return near(source);
  std::vector<fs::path> below;
  fs::recursive_directory_iterator entries(source, failure), end;
  for (; !failure && entries != end && below.size() < kMostLookedAt; entries.increment(failure)) {
    if (entries->is_directory() && !tu_name(entries->path()).empty()) {
      return Diagnostic{source.string(), "no graphs in this folder, but in folders below it",
                        "name one of them, e.g. " + entries->path().string()};
    }
    if (entries->is_regular_file()) below.push_back(entries->path());
  }
  std::sort(below.begin(), below.end());
  for (const fs::path& path : below) {
    if (auto found = near(path)) return found;
  }
  return std::nullopt;
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
  choose_task(collection, import.options.task, import.to_learn);
  EdgeChanges changes;
  const auto step = [&] { import.done(0); };
  graph::GraphStoreData out =
      build_graphs(collection, import.options.undirected, folder, step, changes);
  warn_of(changes, unlabelled_of(out), import);
  warn_of_content(out, import);
  return out;
}

}  // namespace kdgat::data
