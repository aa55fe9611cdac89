#include "engine/graph/graph_store.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"
#include "engine/file/safetensors_header.h"
#include "engine/graph/graph_arrays.h"
#include "engine/graph/section_facts.h"

namespace kdgat::graph {

using nlohmann::json;

namespace {

constexpr const char* kLabelFault = "has a label other than -1, 0 and 1";
constexpr const char* kEdgeOutside = "names a node outside its graph";
constexpr const char* kOrderFault =
    "has a target_order that is not its edges ordered by (target, source)";

Error cannot_write(const std::filesystem::path& path, const std::string& reason) {
  return Error(ExitCode::kData, path.string() + ": cannot be written: " + reason);
}

/// Why `ptr` does not cut `total` elements into consecutive pieces; empty when it does. A piece may
/// not outgrow the 32-bit numbers local to it.
std::string pointer_fault(std::span<const int64_t> ptr, int64_t total) {
  if (ptr.front() != 0) return "does not start at 0";
  if (ptr.back() != total) return "does not end at " + std::to_string(total);
  for (std::size_t g = 0; g + 1 < ptr.size(); ++g) {
    if (ptr[g + 1] < ptr[g]) return "decreases after graph " + std::to_string(g);
    if (ptr[g + 1] - ptr[g] > std::numeric_limits<int32_t>::max()) {
      return "makes graph " + std::to_string(g) + " too large";
    }
  }
  return "";
}

/// The local view of one graph's edges.
struct EdgeRange {
  std::span<const int32_t> source, target;
  int64_t nodes;
};

/// Why the edges are not in range, ordered by (source, target) and unique; empty when they are.
std::string edge_fault(const EdgeRange& edges) {
  for (std::size_t e = 0; e < edges.source.size(); ++e) {
    const int32_t source = edges.source[e], target = edges.target[e];
    if (source < 0 || source >= edges.nodes || target < 0 || target >= edges.nodes) {
      return kEdgeOutside;
    }
    if (e > 0 && std::pair(edges.source[e - 1], edges.target[e - 1]) >= std::pair(source, target)) {
      return "is not ordered by (source, target), or appears twice";
    }
  }
  return "";
}

/// Positions of the edges ordered by (target, source). As the edges are ordered by source, counting
/// targets is enough.
void order_by_target(const EdgeRange& edges, std::vector<int64_t>& first, int32_t* order) {
  first.assign(static_cast<std::size_t>(edges.nodes) + 1, 0);
  for (const int32_t target : edges.target) ++first[static_cast<std::size_t>(target) + 1];
  for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
  for (std::size_t e = 0; e < edges.target.size(); ++e) {
    order[first[static_cast<std::size_t>(edges.target[e])]++] = static_cast<int32_t>(e);
  }
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

std::vector<int64_t> sizes_of(std::span<const int64_t> ptr) {
  std::vector<int64_t> sizes;
  for (std::size_t g = 0; g + 1 < ptr.size(); ++g) sizes.push_back(ptr[g + 1] - ptr[g]);
  return sizes;
}

json make_facts(const GraphStoreData& data, const MadeSections& sections) {
  const auto labelled = [&data](int32_t label) {
    return std::count(data.y.begin(), data.y.end(), label);
  };
  const bool has_names = data.sections.targets.has_value();  // then the section counts classes
  json out = {{"graphs", data.y.size()},
              {"attack", has_names ? 0 : labelled(1)},
              {"benign", has_names ? 0 : labelled(0)},
              {"unlabelled", labelled(-1)},
              {"num_ids", data.sections.ids ? data.sections.ids->vocabulary.size() + 1 : 1},
              {"node_features", data.node_features},
              {"edge_features", data.edge_features},
              {"nodes", size_facts(sizes_of(data.node_ptr))},
              {"edges", size_facts(sizes_of(data.edge_ptr))}};
  if (json facts = sections.facts(); !facts.is_null()) {
    out[section_facts_key(data.sections.positions.has_value(), has_names)] = std::move(facts);
  }
  return out;
}

}  // namespace

GraphArrays arrays_of(const GraphStore& store) {
  return {{store.node_features(), store.edge_features(), store.x(), store.edge_attr(),
           store.edge_source(), store.edge_target(), store.target_order(), store.y(),
           store.node_ptr(), store.edge_ptr()},
          &store.sections()};
}

GraphArrays arrays_of(const GraphStoreData& data, std::span<const int32_t> target_order) {
  return {{data.node_features, data.edge_features, data.x, data.edge_attr, data.edge_source,
           data.edge_target, target_order, data.y, data.node_ptr, data.edge_ptr}};
}

// ---- reading

GraphStore::GraphStore(const std::filesystem::path& path, Check check)
    : StoreFile(path, kKind, check) {
  read("node_feature_names", node_feature_names_);
  read("edge_feature_names", edge_feature_names_);
  y_ = file().require<int32_t>("y", {-1});
  x_ = file().require<float>("x", {-1, -1});
  node_features_ = file().tensor("x").shape[1];
  edge_attr_ = file().require<float>("edge_attr", {-1, -1});
  edge_features_ = file().tensor("edge_attr").shape[1];
  const int64_t nodes = file().tensor("x").shape[0], edges = file().tensor("edge_attr").shape[0];
  const std::span<const int32_t> index = file().require<int32_t>("edge_index", {2, edges});
  source_ = index.first(static_cast<std::size_t>(edges));
  target_ = index.last(static_cast<std::size_t>(edges));
  target_order_ = file().require<int32_t>("target_order", {edges});
  source_of_ = file().require<int32_t>("source_of", {graphs()});
  node_ptr_ = file().require<int64_t>("node_ptr", {graphs() + 1});
  edge_ptr_ = file().require<int64_t>("edge_ptr", {graphs() + 1});
  row_begin_ = file().require<int64_t>("row_begin", {graphs()});
  row_end_ = file().require<int64_t>("row_end", {graphs()});
  if (const std::string fault = pointer_fault(node_ptr_, nodes); !fault.empty()) {
    throw refuse(path, "node_ptr " + fault);
  }
  if (const std::string fault = pointer_fault(edge_ptr_, edges); !fault.empty()) {
    throw refuse(path, "edge_ptr " + fault);
  }
  sections_ = read_sections(file(), arrays_of(*this));
  check_facts();
  check_ranges();
  file().forget_pages();  // of parts that are not used next
}

void GraphStore::check_facts() const {
  const std::vector<int64_t> nodes = sizes_of(node_ptr_), edges = sizes_of(edge_ptr_);
  const auto most = [](const std::vector<int64_t>& sizes) {
    return sizes.empty() ? int64_t{0} : *std::max_element(sizes.begin(), sizes.end());
  };
  require_facts({{"/graphs", graphs()},
                 {"/num_ids", ids() == nullptr ? int64_t{1} : ids()->count()},
                 {"/node_features", node_features_},
                 {"/edge_features", edge_features_},
                 {"/nodes/sum", this->nodes()},
                 {"/nodes/max", most(nodes)},
                 {"/edges/sum", this->edges()},
                 {"/edges/max", most(edges)}});
  require_numbers({"/attack", "/benign", "/unlabelled", "/nodes/p50", "/nodes/p95", "/nodes/p99",
                   "/edges/p50", "/edges/p95", "/edges/p99"});
  const json none = json::object();
  const auto found = facts().find(section_facts_key(positions() != nullptr, targets() != nullptr));
  const std::string fault = sections_.fact_fault(found == facts().end() ? none : *found);
  if (!fault.empty()) throw refuse(path(), "malformed metadata 'facts': " + fault);
  if (node_feature_names_.size() != arrays::at(node_features_) ||
      edge_feature_names_.size() != arrays::at(edge_features_)) {
    throw refuse(path(), "feature names do not match the number of features");
  }
}

void GraphStore::check_ranges() const {
  if (!arrays::are_within(source_of_, 0, static_cast<int64_t>(sources().size()))) {
    throw refuse(path(), "a graph is of a source that is not listed");
  }
  for (const Source& source : sources()) {
    if (source.first_graph >= 0 && source.graphs >= 0 &&
        source.first_graph <= graphs() - source.graphs) {
      continue;
    }
    throw refuse(path(), "source " + source.path + " is of graphs that are not there");
  }
  if (const std::string fault = sections_.range_fault(); !fault.empty())
    throw refuse(path(), fault);
  const GraphArrays arrays = arrays_of(*this);
  const auto refuse_graph = [this](std::size_t g, const std::string& what) {
    return refuse(path(), "graph " + std::to_string(g) + " " + what);
  };
  if (targets() == nullptr && !arrays::are_within(y_, -1, 2)) {
    const auto wrong =
        std::find_if(y_.begin(), y_.end(), [](int32_t y) { return y < -1 || y > 1; });
    throw refuse_graph(arrays::at(wrong - y_.begin()), kLabelFault);
  }
  for (std::size_t g = 0; g < y_.size(); ++g) {
    const int64_t nodes = node_ptr_[g + 1] - node_ptr_[g], edges = edge_ptr_[g + 1] - edge_ptr_[g];
    if (!arrays::are_within(arrays.of_edges(source_, g), 0, nodes) ||
        !arrays::are_within(arrays.of_edges(target_, g), 0, nodes)) {
      throw refuse_graph(g, std::string("has an edge that ") + kEdgeOutside);
    }
    if (!arrays::are_within(arrays.of_edges(target_order_, g), 0, edges)) {
      throw refuse_graph(g, kOrderFault);
    }
    if (const std::string fault = sections_.range_fault(arrays, g); !fault.empty()) {
      throw refuse_graph(g, fault);
    }
  }
}

std::vector<Diagnostic> GraphStore::verify() const {
  std::vector<Diagnostic> out = file::verify_hashes(file());
  const auto report = [&](const std::string& message) {
    out.push_back({path().string(), message, ""});
  };
  // One line for each kind of fault: the first graph that has it.
  std::map<std::string, int64_t> faults;
  std::vector<int64_t> first;
  std::vector<int32_t> order;
  const GraphArrays arrays = arrays_of(*this);
  for (std::size_t g = 0; g < y_.size(); ++g) {
    const auto fault = [&](const std::string& what) {
      faults.emplace(what, static_cast<int64_t>(g));
    };
    if (row_begin_[g] < 0 || row_end_[g] < row_begin_[g]) fault("has a malformed row range");
    if (!are_finite(arrays.of_nodes(x_, g, arrays::at(node_features_)))) {
      fault("has a node feature that is not finite");
    }
    const auto begin = static_cast<std::size_t>(edge_ptr_[g]);
    const auto size = static_cast<std::size_t>(edge_ptr_[g + 1]) - begin;
    const EdgeRange edges{source_.subspan(begin, size), target_.subspan(begin, size),
                          node_ptr_[g + 1] - node_ptr_[g]};
    const std::string problem = edge_fault(edges);
    if (!problem.empty()) {
      fault("has an edge that " + problem);
      continue;
    }
    for (const std::string& wrong : sections_.faults(arrays, g)) fault(wrong);
    order.resize(size);
    order_by_target(edges, first, order.data());
    if (!std::equal(order.begin(), order.end(), target_order_.begin() + edge_ptr_[g])) {
      fault(kOrderFault);
    }
    const std::span<const float> attr =
        edge_attr_.subspan(begin * static_cast<std::size_t>(edge_features_),
                           size * static_cast<std::size_t>(edge_features_));
    if (!are_finite(attr)) {
      fault("has an edge feature that is not finite");
    }
  }
  for (const auto& [what, g] : faults) report("graph " + std::to_string(g) + " " + what);
  if (ids() != nullptr && !ids()->fault().empty()) report(ids()->fault());
  return out;
}

// ---- writing

namespace {

EdgeRange edges_of(const GraphStoreData& data, std::size_t g) {
  const auto begin = static_cast<std::size_t>(data.edge_ptr[g]);
  const auto size = static_cast<std::size_t>(data.edge_ptr[g + 1]) - begin;
  return {std::span(data.edge_source).subspan(begin, size),
          std::span(data.edge_target).subspan(begin, size),
          data.node_ptr[g + 1] - data.node_ptr[g]};
}

/// Throws unless every array has the size that the others imply and every index is in range.
void check_consistent(const std::filesystem::path& path, const GraphStoreData& data) {
  const std::size_t graphs = data.y.size();
  const auto require = [&path](bool holds, const std::string& what) {
    if (!holds) throw cannot_write(path, what);
  };
  require(data.node_ptr.size() == graphs + 1 && data.edge_ptr.size() == graphs + 1 &&
              data.source_of.size() == graphs && data.row_begin.size() == graphs &&
              data.row_end.size() == graphs,
          "arrays for each graph differ in length");
  require(data.node_features >= 0 && data.edge_features >= 0, "negative number of features");
  require(data.node_feature_names.size() == static_cast<std::size_t>(data.node_features) &&
              data.edge_feature_names.size() == static_cast<std::size_t>(data.edge_features),
          "feature names do not match the number of features");
  const std::string nodes = pointer_fault(data.node_ptr, data.node_ptr.back());
  require(nodes.empty(), "node_ptr " + nodes);
  const std::string edges =
      pointer_fault(data.edge_ptr, static_cast<int64_t>(data.edge_source.size()));
  require(edges.empty(), "edge_ptr " + edges);
  require(data.edge_target.size() == data.edge_source.size(), "edges without source or target");
  require(data.x.size() == static_cast<std::size_t>(data.node_ptr.back() * data.node_features),
          "x does not match node_ptr");
  require(data.edge_attr.size() ==
              data.edge_source.size() * static_cast<std::size_t>(data.edge_features),
          "edge_attr does not match edge_ptr");
  for (const Source& source : data.sources) {
    require(source.role == "train" || source.role == "test",
            "source " + source.path + " has the role '" + source.role + "'");
  }
  const std::optional<Targets::Data>& targets = data.sections.targets;
  const int64_t classes = targets ? static_cast<int64_t>(targets->classes.size()) : 2;
  for (std::size_t g = 0; g < graphs; ++g) {
    const std::string graph = "graph " + std::to_string(g);
    require(data.y[g] >= -1 && data.y[g] < classes,
            graph + " has the label " + std::to_string(data.y[g]));
    require(
        data.source_of[g] >= 0 && static_cast<std::size_t>(data.source_of[g]) < data.sources.size(),
        graph + " is of a source that is not listed");
    require(data.row_begin[g] >= 0 && data.row_begin[g] <= data.row_end[g],
            graph + " has a malformed row range");
  }
}

}  // namespace

void GraphStoreData::spill_to(const std::filesystem::path& folder) {
  for (arrays::Column<float>* column : {&x, &edge_attr}) column->spill_to(folder);
  for (arrays::Column<int32_t>* column : {&edge_source, &edge_target}) column->spill_to(folder);
  if (sections.frames) sections.frames->spill_to(folder);
}

arrays::Column<int32_t> target_order_of(const GraphStoreData& data,
                                        const std::filesystem::path& folder) {
  arrays::Column<int32_t> out;
  if (!folder.empty()) out.spill_to(folder);
  out.resize(data.edge_source.size());
  std::vector<int64_t> first;
  for (std::size_t g = 0; g < data.y.size(); ++g) {
    order_by_target(edges_of(data, g), first, out.data() + data.edge_ptr[g]);
  }
  return out;
}

void write_graph_store(const std::filesystem::path& path, const GraphStoreData& data) {
  check_consistent(path, data);
  const auto graphs = static_cast<int64_t>(data.y.size());
  const auto edges = static_cast<int64_t>(data.edge_source.size());
  for (std::size_t g = 0; g < data.y.size(); ++g) {
    if (const std::string fault = edge_fault(edges_of(data, g)); !fault.empty()) {
      throw cannot_write(path, "graph " + std::to_string(g) + " has an edge that " + fault);
    }
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const arrays::Column<int32_t> target_order = target_order_of(data, folder);
  const GraphArrays arrays = arrays_of(data, target_order);
  if (const std::string fault = section_fault(data.sections, arrays); !fault.empty()) {
    throw cannot_write(path, fault);
  }
  const MadeSections sections(data.sections, arrays);
  arrays::Column<int32_t> edge_index;
  edge_index.spill_to(folder);
  edge_index.append(data.edge_source);
  edge_index.append(data.edge_target);

  file::SafetensorsWriter writer;
  const auto add = [&writer](const char* name, std::vector<int64_t> shape, const auto& values) {
    writer.add(name, std::move(shape), std::span(values));
  };
  // What opening reads stands together, so that it touches few pages.
  add("y", {graphs}, data.y);
  add("source_of", {graphs}, data.source_of);
  add("node_ptr", {graphs + 1}, data.node_ptr);
  add("edge_ptr", {graphs + 1}, data.edge_ptr);
  add("row_begin", {graphs}, data.row_begin);
  add("row_end", {graphs}, data.row_end);
  if (sections.views().ids) {
    sections.views().ids->write(writer);
  } else if (sections.views().positions) {
    Ids().write(writer);  // see Ids::read
  }
  add("x", {data.node_ptr.back(), data.node_features}, data.x);
  add("edge_index", {2, edges}, edge_index);
  add("target_order", {edges}, target_order);
  add("edge_attr", {edges, data.edge_features}, data.edge_attr);
  sections.views().write(writer);
  writer.metadata(
      store_metadata(GraphStore::kKind, data.sources, data.options, make_facts(data, sections)));
  writer.metadata("node_feature_names", file::json_text(data.node_feature_names));
  writer.metadata("edge_feature_names", file::json_text(data.edge_feature_names));
  writer.write(path, true);
}

}  // namespace kdgat::graph
