// Neurons from SWC files and archives: whole, or subtrees of them.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "engine/file/tar.h"
#include "fields/space/data/spatial_builder.h"
#include "fields/space/data/spatial_import.h"
#include "fields/space/data/subtrees.h"
#include "fields/space/data/swc.h"
#include "kdgat/text.h"

namespace kdgat::space {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFaults = 10;

struct NamedNeuron {
  std::string name;
  Neuron neuron;
};

SwcRepairs repairs_of(const SpatialOptions& options) {
  const auto wants = [&](const char* name) {
    return std::find(options.repair.begin(), options.repair.end(), name) != options.repair.end();
  };
  return {wants("roots"), wants("parents"), wants("radius"), wants("duplicates")};
}

/// Reads files and archives; what is wrong with the first of them is told at once.
class NeuronReader {
 public:
  explicit NeuronReader(const SpatialImport& import)
      : import_(import), repairs_(repairs_of(import.options)) {}

  std::vector<NamedNeuron> read() {
    const std::vector<data::LogFile>& files = import_.input.files;
    for (const data::LogFile& file : files) {
      if (is_swc_name(file.path.filename().string()) || file.path == "-") {
        add(file.name, file::LineReader(file.path, import_.cancelled));
        import_.done(file.path == "-" ? 0 : static_cast<int64_t>(fs::file_size(file.path)));
      } else {
        read_archive(file, files.size() == 1 ? "" : file.name + "/");
      }
    }
    if (!faults_.empty()) throw Error(ExitCode::kData, std::move(faults_));
    if (neurons_.empty()) {
      throw Error(ExitCode::kData, files.front().path.string() + ": no .swc file in this archive",
                  "an archive of logs or of other files is not read: unpack it");
    }
    report_repairs();
    report_longer_rows();
    return std::move(neurons_);
  }

  /// Of an archive that brings a labels.csv.
  const std::string& labels() const { return labels_; }

 private:
  void read_archive(const data::LogFile& file, const std::string& prefix) {
    file::TarReader archive(file.path, import_.cancelled, import_.options.largest_member_mb << 20);
    const std::size_t first = neurons_.size();
    std::set<std::string> names;
    for (int64_t told = 0; archive.next();) {
      const std::string base = archive.name().substr(archive.name().rfind('/') + 1);
      if (base == "labels.csv") labels_ = archive.content();
      if (!is_swc_name(base)) continue;
      if (!names.insert(archive.name()).second) {
        throw Error(ExitCode::kData, archive.name() + " appears twice", "", archive.archive());
      }
      std::string name = archive.name();
      if (name.starts_with("./")) name.erase(0, 2);
      add(prefix + name, file::LineReader(archive.archive() + "/" + name, archive.stream()));
      import_.done(archive.bytes_read() - told);
      told = archive.bytes_read();
    }
    // As a folder of the same files would give them.
    std::sort(neurons_.begin() + static_cast<std::ptrdiff_t>(first), neurons_.end(),
              [](const NamedNeuron& a, const NamedNeuron& b) { return a.name < b.name; });
  }

  void add(const std::string& name, file::LineReader lines) {
    try {
      Neuron neuron = read_swc(std::move(lines), repairs_);
      if (neuron.longer_rows > 0 && longer_rows_ == 0) first_longer_ = name;
      longer_rows_ += neuron.longer_rows;
      for (const auto& [kind, rows] : neuron.repairs) {
        auto& [files, all, first] = repaired_[kind];
        if (files++ == 0) first = name;
        all += rows;
      }
      neurons_.push_back({name, std::move(neuron)});
    } catch (const Error& e) {
      if (e.code() != ExitCode::kData) throw;
      faults_.insert(faults_.end(), e.diagnostics().begin(), e.diagnostics().end());
      if (faults_.size() >= kMostFaults) throw Error(ExitCode::kData, std::move(faults_));
    }
  }

  void report_longer_rows() const {
    if (longer_rows_ == 0) return;
    import_.warnings.push_back({first_longer_,
                                grouped(longer_rows_) +
                                    " rows, here and in other files, have more than seven columns: "
                                    "those behind the seventh are not used",
                                "", "field", longer_rows_});
  }

  void report_repairs() const {
    for (const auto& [kind, repaired] : repaired_) {
      const auto& [files, rows, first] = repaired;
      import_.warnings.push_back({first,
                                  "repaired " + kind + ": " + std::to_string(rows) +
                                      (rows == 1 ? " row" : " rows") + " of " +
                                      std::to_string(files) +
                                      (files == 1 ? " file" : " files, this is the first"),
                                  ""});
    }
  }

  struct Repaired {
    int64_t files = 0, rows = 0;
    std::string first;
  };

  const SpatialImport& import_;
  SwcRepairs repairs_;
  int64_t longer_rows_ = 0;
  std::string first_longer_;
  std::vector<NamedNeuron> neurons_;
  std::vector<Diagnostic> faults_;
  std::map<std::string, Repaired> repaired_;
  std::string labels_;
};

/// By what the places and radii of a neuron are divided.
double scale_of(const Neuron& neuron, const SpatialOptions& options) {
  if (options.normalise == "none") return 1;
  const arrays::EdgeList edges = arrays::tree_edges(neuron.parent);
  std::vector<double> lengths;
  arrays::add_lengths(neuron.pos, edges.source, edges.target, lengths);
  const double scale = arrays::median(std::move(lengths));
  return scale > 0 ? scale : 1;
}

/// The part of a neuron that `nodes`, ascending, are: a subtree, whose root is the one without its
/// parent among them.
SpatialGraph part_of(const Neuron& neuron, const std::vector<int32_t>& nodes, double scale) {
  SpatialGraph out;
  std::vector<int32_t> number(neuron.parent.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    number[static_cast<std::size_t>(nodes[i])] = static_cast<int32_t>(i);
  }
  for (const int32_t node : nodes) {
    const auto n = static_cast<std::size_t>(node);
    for (int32_t type = 0; type < kSwcTypes; ++type) {
      out.x.push_back(neuron.type[n] == type ? 1.0F : 0.0F);
    }
    out.x.push_back(static_cast<float>(std::log1p(static_cast<double>(neuron.radius[n]) / scale)));
    for (std::size_t d = 0; d < 3; ++d) {
      out.pos.push_back(static_cast<float>(static_cast<double>(neuron.pos[3 * n + d]) / scale));
    }
    const int32_t parent = neuron.parent[n];
    out.parent.push_back(parent < 0 ? -1 : number[static_cast<std::size_t>(parent)]);
  }
  out.edges = arrays::tree_edges(out.parent);
  out.row_begin = neuron.row[static_cast<std::size_t>(nodes.front())];
  out.row_end = neuron.row[static_cast<std::size_t>(nodes.back())] + 1;
  return out;
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(kSwcTypes) + 1);
  for (int32_t type = 0; type < kSwcTypes; ++type) names.push_back("type_" + std::to_string(type));
  names.emplace_back("log_radius");
  return names;
}

/// Roots of the subtrees that are taken of each neuron.
std::vector<std::vector<int32_t>> choose_roots(const std::vector<NamedNeuron>& neurons,
                                               const SpatialOptions& options) {
  std::vector<BranchPoints> points;
  std::vector<int64_t> available;
  for (const NamedNeuron& n : neurons) {
    points.push_back(branch_points(n.neuron.parent, options.min_nodes, options.max_nodes));
    available.push_back(points.back().size());
  }
  const std::vector<int64_t> shares = even_shares(available, options.subtrees);
  std::vector<std::vector<int32_t>> out;
  for (std::size_t i = 0; i < neurons.size(); ++i) {
    arrays::Random random(static_cast<uint64_t>(options.subtree_seed), i);
    out.push_back(choose(std::move(points[i]), shares[i], random));
  }
  return out;
}

}  // namespace

graph::GraphStoreData import_neurons(const SpatialImport& import) {
  const SpatialOptions& options = import.options;
  NeuronReader reader(import);
  const std::vector<NamedNeuron> neurons = reader.read();
  const bool brought = import.input.labels.empty() && !reader.labels().empty();
  const Labels labels = brought
                            ? Labels(file::LineReader("labels.csv in the archive", reader.labels()),
                                     "file", options, import.warnings)
                            : import.labels("file");
  std::vector<std::vector<int32_t>> roots;
  if (options.subtrees > 0) roots = choose_roots(neurons, options);

  SpatialBuilder builder(feature_names());
  int64_t unlabelled = 0, without = 0;
  for (std::size_t i = 0; i < neurons.size(); ++i) {
    const auto& [name, read] = neurons[i];
    const auto& neuron = read;  // a lambda may not capture a binding
    const auto used = static_cast<int64_t>(neuron.type.size());
    builder.begin_source({name, "", "train", "swc", neuron.rows, neuron.rows - used, 0, 0});
    const Label* label = labels.find(name);
    unlabelled += label == nullptr;
    const double scale = scale_of(neuron, options);
    const auto add = [&](int32_t root, int64_t most) {
      builder.add(part_of(neuron, subtree(neuron.parent, root, most), scale), label);
    };
    if (options.subtrees == 0) {
      add(arrays::children_of(neuron.parent).roots.front(), used);
    } else {
      for (const int32_t root : roots[i]) add(root, options.max_nodes);
      without += roots[i].empty();
    }
  }
  if (builder.graphs() == 0) {
    throw Error(ExitCode::kData,
                "no branch point has " + std::to_string(options.min_nodes) + " nodes below it",
                "a smaller min_nodes", import.input.files.front().path.string());
  }
  const auto files = [](int64_t count) {
    return std::to_string(count) + (count == 1 ? " file " : " files ");
  };
  if (unlabelled > 0 && (brought || !import.input.labels.empty())) {
    import.warnings.push_back({import.input.labels.string(),
                               files(unlabelled) + "without a row: graphs without labels", ""});
  }
  labels.report_unmet(brought ? "labels.csv in the archive" : import.input.labels.string(),
                      import.warnings);
  std::vector<std::string> names;
  names.reserve(neurons.size());
  for (const NamedNeuron& one : neurons) names.push_back(one.name);
  data::report_folder_parts(names, import.warnings);
  if (without > 0) {
    import.warnings.push_back({"",
                               files(without) + "without a branch point of " +
                                   std::to_string(options.min_nodes) + " nodes: no subtree",
                               ""});
  }
  return builder.finish();
}

}  // namespace kdgat::space
