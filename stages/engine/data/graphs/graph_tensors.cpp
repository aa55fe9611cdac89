#include "engine/data/graphs/graph_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "engine/arrays/index.h"
#include "engine/data/core/class_labels.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/data/graphs/npz.h"
#include "engine/file/metadata_json.h"
#include "engine/file/number_text.h"

namespace kdgat::data {
namespace {

constexpr const char* kNoClass = "-1";

constexpr int64_t kMostColumns = 1 << 20;  // a shape without rows may say any number

/// The arrays of all graphs, checked against each other.
class ArrayReader {
 public:
  explicit ArrayReader(const NamedArrays& arrays) : arrays_(arrays) {
    x_ = rows_of("x");
    if (has("edge_attr")) edge_attr_ = rows_of("edge_attr");
    const file::TensorView& index = numbers("edge_index");
    if (index.shape.size() != 2 || index.shape[0] != 2) throw refuse("edge_index is not [2,E]");
    edges_ = integers("edge_index");
    edge_count_ = index.shape[1];
    node_ptr_ = pointers("node_ptr", x_.rows);
    edge_ptr_ = pointers("edge_ptr", edge_count_);
    if (node_ptr_.size() != edge_ptr_.size()) {
      throw refuse("node_ptr and edge_ptr are not of the same number of graphs");
    }
    if (has("edge_attr") && edge_attr_.rows != edge_count_) {
      throw refuse("edge_attr has " + std::to_string(edge_attr_.rows) + " rows, edge_index " +
                   std::to_string(edge_count_) + " edges");
    }
    for (std::size_t g = 0; g < graphs(); ++g) {
      if (node_ptr_[g] == node_ptr_[g + 1]) throw refuse(where(g) + " has no nodes");
    }
  }

  std::size_t graphs() const { return node_ptr_.size() - 1; }
  std::vector<std::string> node_features() const { return names("x_", x_.columns); }
  std::vector<std::string> edge_features() const { return names("edge_attr_", edge_attr_.columns); }
  static std::string where(std::size_t g) { return "graph " + std::to_string(g); }

  std::vector<GraphInfo> infos(std::vector<std::string>& classes) const {
    std::vector<GraphInfo> out(graphs());
    if (arrays_.texts.contains("classes")) classes = arrays_.texts.at("classes");
    check_classes(classes);
    const auto set = [&](const char* name, const auto& take) {
      if (!has(name)) return;
      const std::vector<std::string> words = words_of(name);
      for (std::size_t g = 0; g < words.size(); ++g) take(out[g], words[g], where(g));
    };
    if (targets().empty()) {
      set("y", [&](GraphInfo& info, const std::string& y, const std::string& graph) {
        if (classes.empty()) {
          info.label = y;
        } else if (!y.empty() && y != kNoClass) {
          info.label = class_of(classes, y, graph);
        }
      });
    } else {
      add_targets(out);
    }
    set("split", [&](GraphInfo& info, const std::string& split, const std::string& graph) {
      constexpr const char* kParts[] = {"train", "val", "test"};
      if (split != "0" && split != "1" && split != "2") {
        throw refuse("split of " + graph + " is " + file::shown(split) +
                     ", not 0 (train), 1 (val) or 2 (test)");
      }
      info.part = kParts[split[0] - '0'];
    });
    set("group",
        [](GraphInfo& info, const std::string& group, const std::string&) { info.group = group; });
    return out;
  }

  /// Names of the columns of y, if it has several: numbers to be predicted.
  std::vector<std::string> targets() const {
    const auto y = arrays_.numbers.find("y");
    if (y == arrays_.numbers.end() || y->second.shape.size() != 2 || y->second.shape[1] < 2) {
      return {};
    }
    return names("y_", y->second.shape[1]);
  }

  GivenGraph graph(std::size_t g) const {
    GivenGraph out;
    const int64_t first = node_ptr_[g], edge = edge_ptr_[g], edges = edge_ptr_[g + 1] - edge;
    out.nodes = node_ptr_[g + 1] - first;
    out.x = x_.part(first, out.nodes);
    out.edge_attr = edge_attr_.part(edge, edges);
    const auto ends = [&](int64_t begin) {
      std::vector<int32_t> nodes;
      nodes.reserve(arrays::at(edges));
      for (int64_t e = begin; e < begin + edges; ++e) {
        const int64_t node = edges_[arrays::at(e)];
        if (node < 0 || node >= out.nodes) {
          throw Error(ExitCode::kData,
                      arrays_.file + ": " + where(g) + " has an edge of node " +
                          std::to_string(node) + ", and " + std::to_string(out.nodes) + " nodes",
                      "numbers of nodes in edge_index are local to their graph, from 0");
        }
        nodes.push_back(static_cast<int32_t>(node));
      }
      return nodes;
    };
    out.source = ends(edge);
    out.target = ends(edge_count_ + edge);
    return out;
  }

 private:
  /// A matrix of finite floats, of either width; not copied.
  struct Rows {
    const file::TensorView* view = nullptr;
    int64_t rows = 0, columns = 0;

    std::vector<float> part(int64_t first, int64_t count) const {
      if (columns == 0) return {};
      const auto take = [&](const auto& values) {
        std::vector<float> out;
        out.reserve(arrays::at(count * columns));
        for (const auto value :
             values.subspan(arrays::at(first * columns), arrays::at(count * columns))) {
          out.push_back(static_cast<float>(value));
        }
        return out;
      };
      return file::fits<double>(view->dtype) ? take(view->as<double>()) : take(view->as<float>());
    }
  };

  Error refuse(const std::string& reason) const {
    return Error(ExitCode::kData, arrays_.file + ": " + reason);
  }
  bool has(const std::string& name) const {
    return arrays_.numbers.contains(name) || arrays_.texts.contains(name);
  }
  const file::TensorView& numbers(const std::string& name) const {
    const auto found = arrays_.numbers.find(name);
    if (found != arrays_.numbers.end()) return found->second;
    throw refuse(has(name) ? name + " holds texts, not numbers" : "no array '" + name + "'");
  }

  Rows rows_of(const std::string& name) const {
    const file::TensorView& view = numbers(name);
    if (view.shape.size() != 2) throw refuse(name + " is not a matrix");
    const Rows out{&view, view.shape[0], view.shape[1]};
    if (out.columns > kMostColumns) {
      throw refuse(name + " has " + std::to_string(out.columns) + " columns");
    }
    const auto require_finite = [&](const auto& values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isfinite(static_cast<float>(values[i]))) continue;
        throw refuse(name + " holds a number that is not finite, or too large, in row " +
                     std::to_string(i / arrays::at(out.columns)));
      }
    };
    if (file::fits<double>(view.dtype)) {
      require_finite(view.as<double>());
    } else if (file::fits<float>(view.dtype)) {
      require_finite(view.as<float>());
    } else {
      throw refuse(name + " is " + file::dtype_name(view.dtype) + ", not F32 or F64");
    }
    return out;
  }

  std::vector<int64_t> integers(const std::string& name) const {
    const file::TensorView& view = numbers(name);
    const auto copy = [](const auto& values) {
      return std::vector<int64_t>(values.begin(), values.end());
    };
    if (file::fits<int64_t>(view.dtype)) return copy(view.as<int64_t>());
    if (file::fits<int32_t>(view.dtype)) return copy(view.as<int32_t>());
    throw refuse(name + " is " + file::dtype_name(view.dtype) + ", not I32 or I64");
  }

  std::vector<int64_t> pointers(const std::string& name, int64_t end) const {
    std::vector<int64_t> out = integers(name);
    if (numbers(name).shape.size() != 1 || out.size() < 2 || out.front() != 0 ||
        out.back() != end || !std::is_sorted(out.begin(), out.end())) {
      throw refuse(name + " does not cut 0 .. " + std::to_string(end) + " into graphs");
    }
    for (std::size_t g = 0; g + 1 < out.size(); ++g) {
      if (out[g + 1] - out[g] <= std::numeric_limits<int32_t>::max()) continue;
      throw refuse(where(g) + " is too large");
    }
    return out;
  }

  /// Several numbers of each graph; NaN = none.
  void add_targets(std::vector<GraphInfo>& to) const {
    const file::TensorView& view = numbers("y");
    const auto width = static_cast<std::size_t>(view.shape[1]);
    const auto take = [&](const auto& values) {
      if (values.size() != to.size() * width) {
        throw refuse("y has " + std::to_string(view.shape[0]) + " rows for " +
                     std::to_string(to.size()) + " graphs");
      }
      const bool are_flags = std::all_of(values.begin(), values.end(), [](const auto value) {
        return value == 0 || value == 1 || value != value;
      });
      if (are_flags) {
        throw refuse("y has " + std::to_string(width) +
                     " columns of 0 and 1: several labels a graph are not read");
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<float>(values[i]);
        if (std::isinf(value)) throw refuse("y of " + where(i / width) + " is not finite");
        to[i / width].targets.push_back(value);
      }
    };
    if (file::fits<float>(view.dtype)) {
      take(view.as<float>());
    } else if (file::fits<double>(view.dtype)) {
      take(view.as<double>());
    } else {
      const std::vector<int64_t> whole = integers("y");
      take(std::span<const int64_t>(whole));
    }
  }

  /// Numbers as words; none of NaN, which says that a label is not known.
  std::vector<std::string> number_words(const std::string& name) const {
    std::vector<std::string> out;
    const auto take = [&](const auto& values) {
      for (std::size_t g = 0; g < values.size(); ++g) {
        const double value = values[g];
        if (std::isinf(value)) throw refuse(name + " of " + where(g) + " is not finite");
        if (std::isnan(value)) {
          out.emplace_back();
        } else if (value == std::floor(value) && std::abs(value) < 1e15) {
          out.push_back(std::to_string(static_cast<int64_t>(value)));
        } else {
          out.push_back(nlohmann::json(values[g]).dump());
        }
      }
    };
    const file::TensorView& view = numbers(name);
    if (name == "y" && file::fits<float>(view.dtype)) {
      take(view.as<float>());
    } else if (name == "y" && file::fits<double>(view.dtype)) {
      take(view.as<double>());
    } else {
      for (const int64_t value : integers(name)) out.push_back(std::to_string(value));
    }
    return out;
  }

  /// One word a graph, of numbers or texts; [G,1] is as good as [G].
  std::vector<std::string> words_of(const std::string& name) const {
    std::vector<std::string> out;
    if (const auto found = arrays_.texts.find(name); found != arrays_.texts.end()) {
      out = found->second;
    } else {
      out = number_words(name);
    }
    if (out.size() == graphs()) return out;
    throw refuse(name + " has " + std::to_string(out.size()) + " values for " +
                 std::to_string(graphs()) + " graphs");
  }

  void check_classes(const std::vector<std::string>& classes) const {
    std::vector<std::string> sorted = classes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        (!sorted.empty() && sorted.front().empty())) {
      throw refuse("classes holds a name twice, or one without letters");
    }
  }

  std::string class_of(const std::vector<std::string>& classes, const std::string& y,
                       const std::string& graph) const {
    const std::optional<double> number = file::number_in(y);
    if (number && *number >= 0 && *number < static_cast<double>(classes.size()) &&
        *number == std::floor(*number)) {
      return classes[static_cast<std::size_t>(*number)];
    }
    throw refuse("y of " + graph + " is " + file::shown(y) + ", and there are " +
                 std::to_string(classes.size()) + " classes");
  }

  static std::vector<std::string> names(const std::string& prefix, int64_t count) {
    std::vector<std::string> out;
    for (int64_t c = 0; c < count; ++c) out.push_back(prefix + std::to_string(c));
    return out;
  }

  NamedArrays arrays_;
  Rows x_, edge_attr_;
  std::vector<int64_t> edges_, node_ptr_, edge_ptr_;
  int64_t edge_count_ = 0;
};

}  // namespace

GraphCollection collect_arrays(const NamedArrays& arrays) {
  const auto reader = std::make_shared<ArrayReader>(arrays);
  GraphCollection out;
  out.name = arrays.file;
  out.format = arrays.format;
  out.node_features = reader->node_features();
  out.edge_features = reader->edge_features();
  out.label = "y";
  out.no_class = kNoClass;
  out.graphs = reader->infos(out.classes);
  out.targets = reader->targets();
  out.graph = [reader](std::size_t g) { return reader->graph(g); };
  out.where = [name = arrays.file](std::size_t g) { return name + ": " + ArrayReader::where(g); };
  return out;
}

NamedArrays arrays_in(const file::SafetensorsFile& file) {
  NamedArrays out{file.path().string(), kGraphTensors, file.tensors(), {}};
  if (file.metadata().contains("classes")) {
    out.texts["classes"] = file::metadata_json<std::vector<std::string>>(file, "classes");
  }
  return out;
}

GraphCollection read_tensor_file(const GraphsImport& import) {
  const LogFile& file = import.input.files.front();
  GraphCollection out;
  if (import.input.format == kGraphNpz) {
    const auto most = arrays::at(import.options.largest_member_mb) << 20;
    const auto open = std::make_shared<const NpzFile>(NpzFile::open(file.path, most));
    out = collect_arrays({file.path.string(), kGraphNpz, open->numbers(), open->texts()});
    out.graph = [open, graph = out.graph](std::size_t g) { return graph(g); };
  } else {
    const file::SafetensorsFile open = file::SafetensorsFile::open(file.path);
    out = collect_arrays(arrays_in(open));
    out.graph = [open, graph = out.graph](std::size_t g) { return graph(g); };
  }
  import.done(static_cast<int64_t>(std::filesystem::file_size(file.path)));
  out.name = file.name;
  return out;
}

}  // namespace kdgat::data
