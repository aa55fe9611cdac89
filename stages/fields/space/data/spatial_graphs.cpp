// Spatial graphs of other programs: a safetensors file with x [N,F], pos [N,2] or [N,3] and
// edge_index [2,E]; optional are parent [N], y and target [G], node_ptr and edge_ptr [G+1]. Without
// the two pointers all is one graph; with them the node numbers of edges and parents are local to
// their graph, as in a store. Numbers may be F32 or F64, and I32 or I64.
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "engine/file/safetensors.h"
#include "fields/space/data/spatial_builder.h"
#include "fields/space/data/spatial_import.h"

namespace kdgat::space {
namespace {

constexpr int64_t kMostFeatures = 1 << 20;

Error refuse(const file::SafetensorsFile& file, const std::string& reason) {
  return Error(ExitCode::kData, file.path().string() + ": " + reason);
}

/// The values of a tensor of rank `rank`, of either width, as `T`. Integers must be 32-bit numbers
/// where T is.
template <class T, class Narrow, class Wide>
std::vector<T> values_of(const file::SafetensorsFile& file, const std::string& name,
                         std::size_t rank) {
  const file::TensorView& view = file.tensor(name);
  if (view.shape.size() != rank) throw refuse(file, name + " has another number of dimensions");
  const auto convert = [&](const auto& values) {
    std::vector<T> out;
    out.reserve(values.size());
    for (const auto value : values) {
      const T converted = static_cast<T>(value);
      if constexpr (std::is_integral_v<T>) {
        if (static_cast<Wide>(converted) != static_cast<Wide>(value)) {
          throw refuse(file, name + " holds a number that is too large");
        }
      }
      out.push_back(converted);
    }
    return out;
  };
  return file::fits<Wide>(view.dtype) ? convert(view.as<Wide>()) : convert(view.as<Narrow>());
}

std::vector<float> floats(const file::SafetensorsFile& file, const std::string& name,
                          std::size_t rank) {
  return values_of<float, float, double>(file, name, rank);
}
std::vector<int32_t> numbers(const file::SafetensorsFile& file, const std::string& name,
                             std::size_t rank) {
  return values_of<int32_t, int32_t, int64_t>(file, name, rank);
}

/// The arrays of one file, checked against each other.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_(file::SafetensorsFile::open(path)) {
    x_ = floats(file_, "x", 2);
    const std::vector<int64_t>& shape = file_.tensor("x").shape;
    nodes_ = shape[0];
    features_ = shape[1];
    if (features_ > kMostFeatures) {  // a shape without nodes may say any number
      throw refuse(file_, "x has " + std::to_string(features_) + " features");
    }
    read_places();
    edges_ = numbers(file_, "edge_index", 2);
    if (file_.tensor("edge_index").shape[0] != 2) throw refuse(file_, "edge_index is not [2,E]");
    const auto all_edges = static_cast<int64_t>(edges_.size() / 2);
    node_ptr_ = pointers("node_ptr", nodes_);
    edge_ptr_ = pointers("edge_ptr", all_edges);
    if (node_ptr_.size() != edge_ptr_.size() || file_.has("node_ptr") != file_.has("edge_ptr")) {
      throw refuse(file_, "node_ptr and edge_ptr are not of the same graphs");
    }
    if (file_.has("parent")) parent_ = numbers(file_, "parent", 1);
    if (file_.has("y")) y_ = numbers(file_, "y", 1);
    if (file_.has("target")) target_ = floats(file_, "target", 1);
    require_length("parent", parent_.size(), static_cast<std::size_t>(nodes_));
    require_length("y", y_.size(), graphs());
    require_length("target", target_.size(), graphs());
    for (const std::vector<float>* values : {&x_, &pos_}) {
      if (!std::all_of(values->begin(), values->end(), [](float v) { return std::isfinite(v); })) {
        throw refuse(file_, "a number of x or pos is not finite");
      }
    }
  }

  std::size_t graphs() const { return node_ptr_.size() - 1; }
  int64_t features() const { return features_; }
  int64_t nodes() const { return nodes_; }

  SpatialGraph graph(std::size_t g) const {
    const int64_t first = node_ptr_[g], n = node_ptr_[g + 1] - first;
    const auto part = [](const auto& values, int64_t begin, int64_t count) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::vector(at, at + static_cast<std::ptrdiff_t>(count));
    };
    const int64_t edges = edge_ptr_[g + 1] - edge_ptr_[g];
    const std::vector<int32_t> source = part(edges_, edge_ptr_[g], edges);
    const std::vector<int32_t> target =
        part(edges_, static_cast<int64_t>(edges_.size() / 2) + edge_ptr_[g], edges);
    const std::string name = "graph " + std::to_string(g);
    for (const auto* ends : {&source, &target}) {
      for (const int32_t v : *ends) {
        if (v < 0 || v >= n) {
          throw Error(ExitCode::kData,
                      file_.path().string() + ": " + name + " has an edge to node " +
                          std::to_string(v) + " of " + std::to_string(n),
                      node_ptr_.size() > 2
                          ? "with node_ptr the numbers of nodes are local to their graph"
                          : "");
        }
      }
    }
    SpatialGraph out;
    out.x = part(x_, first * features_, n * features_);
    out.pos = part(pos_, first * 3, n * 3);
    out.edges = arrays::coalesce(source, target);
    if (parent_.empty()) {
      out.parent = arrays::spanning_forest(out.pos, out.edges.source, out.edges.target);
    } else {
      out.parent = part(parent_, first, n);
      if (const auto faulty = arrays::faulty_nodes(out.parent); !faulty.empty()) {
        throw refuse(file_, "the parents of " + name + " do not form a forest: node " +
                                std::to_string(faulty.front()) +
                                " is in a cycle or its parent is not a node");
      }
    }
    out.row_begin = first;
    out.row_end = first + n;
    return out;
  }

  Label label(std::size_t g) const {
    Label out;
    if (!y_.empty() && y_[g] >= 0) out.name = std::to_string(y_[g]);
    if (!target_.empty()) out.target = target_[g];
    return out;
  }

 private:
  void read_places() {
    const std::vector<float> given = floats(file_, "pos", 2);
    const std::vector<int64_t>& shape = file_.tensor("pos").shape;
    if (shape[0] != nodes_ || (shape[1] != 2 && shape[1] != 3)) {
      throw refuse(file_, "pos is not [N,2] or [N,3]");
    }
    const auto dimensions = static_cast<std::size_t>(shape[1]);
    for (std::size_t n = 0; n < static_cast<std::size_t>(nodes_); ++n) {
      for (std::size_t d = 0; d < 3; ++d) {
        pos_.push_back(d < dimensions ? given[n * dimensions + d] : 0.0F);
      }
    }
  }

  std::vector<int64_t> pointers(const std::string& name, int64_t end) const {
    if (!file_.has(name)) return {0, end};
    std::vector<int64_t> out = values_of<int64_t, int32_t, int64_t>(file_, name, 1);
    if (out.size() < 2 || out.front() != 0 || out.back() != end ||
        !std::is_sorted(out.begin(), out.end())) {
      throw refuse(file_, name + " does not cut 0 .. " + std::to_string(end) + " into graphs");
    }
    return out;
  }

  void require_length(const char* name, std::size_t size, std::size_t wanted) const {
    if (file_.has(name) && size != wanted) {
      throw refuse(file_, std::string(name) + " has " + std::to_string(size) + " numbers, not " +
                              std::to_string(wanted));
    }
  }

  file::SafetensorsFile file_;
  int64_t nodes_ = 0, features_ = 0;
  std::vector<float> x_, pos_, target_;
  std::vector<int32_t> edges_, parent_, y_;
  std::vector<int64_t> node_ptr_, edge_ptr_;
};

}  // namespace

graph::GraphStoreData import_spatial_graphs(const SpatialImport& import) {
  std::optional<SpatialBuilder> builder;
  int64_t features = 0, loops = 0, repeated = 0;
  for (const data::LogFile& file : import.input.files) {
    const Reader reader(file.path);
    if (!builder) {
      features = reader.features();
      std::vector<std::string> names;
      for (int64_t f = 0; f < features; ++f) names.push_back("x_" + std::to_string(f));
      builder.emplace(std::move(names));
    }
    if (reader.features() != features) {
      throw Error(ExitCode::kData, file.path.string() + ": x has " +
                                       std::to_string(reader.features()) +
                                       " features, other files " + std::to_string(features));
    }
    graph::Source source{file.name, "", "train", "spatial-graphs", reader.nodes(), 0, 0, 0};
    source.independent = true;
    builder->begin_source(std::move(source));
    for (std::size_t g = 0; g < reader.graphs(); ++g) {
      const SpatialGraph graph = reader.graph(g);
      loops += graph.edges.loops;
      repeated += graph.edges.repeated;
      const Label label = reader.label(g);
      builder->add(graph, &label);
    }
    import.done(static_cast<int64_t>(std::filesystem::file_size(file.path)));
  }
  if (loops + repeated > 0) {
    import.warnings.push_back({import.input.files.front().name,
                               "edges left out: " + std::to_string(repeated) +
                                   " that stood twice, " + std::to_string(loops) +
                                   " from a node to itself",
                               ""});
  }
  return builder->finish();
}

}  // namespace kdgat::space
