#include "fields/space/data/spatial_builder.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/data/core/part_names.h"
#include "engine/file/number_text.h"

namespace kdgat::space {

SpatialBuilder::SpatialBuilder(std::vector<std::string> feature_names) {
  data_.node_features = static_cast<int64_t>(feature_names.size());
  data_.node_feature_names = std::move(feature_names);
}

void SpatialBuilder::begin_source(graph::Source source) {
  const std::string part = data::part_of_file(source.path);
  if (part == "test") source.role = part;
  if (part == "val") source.validate();
  source.first_graph = graphs();
  source.graphs = 0;
  data_.sources.push_back(std::move(source));
}

void SpatialBuilder::add(const SpatialGraph& graph, const Label* label) {
  data_.x.append(graph.x);
  pos_.insert(pos_.end(), graph.pos.begin(), graph.pos.end());
  parent_.insert(parent_.end(), graph.parent.begin(), graph.parent.end());
  data_.edge_source.append(graph.edges.source);
  data_.edge_target.append(graph.edges.target);
  data_.node_ptr.push_back(data_.node_ptr.back() + static_cast<int64_t>(graph.parent.size()));
  data_.edge_ptr.push_back(static_cast<int64_t>(data_.edge_source.size()));
  data_.row_begin.push_back(graph.row_begin);
  data_.row_end.push_back(graph.row_end);
  data_.source_of.push_back(static_cast<int32_t>(data_.sources.size()) - 1);
  ++data_.sources.back().graphs;
  label_.push_back(label == nullptr ? "" : label->name);
  target_.push_back(label == nullptr ? Label().target : label->target);
  unlabelled_ += label_.back().empty() && std::isnan(target_.back());
}

graph::GraphStoreData SpatialBuilder::finish() {
  std::vector<std::string> classes = label_;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::erase(classes, "");
  const auto is_number = [](const std::string& name) {
    return std::isfinite(file::number_in(name).value_or(INFINITY));
  };
  if (std::all_of(classes.begin(), classes.end(), is_number)) {
    std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
      return *file::number_in(a) < *file::number_in(b);
    });
  }
  for (const std::string& name : label_) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    data_.y.push_back(found == classes.end() ? -1 : static_cast<int32_t>(found - classes.begin()));
  }
  data_.sections.positions = {std::move(pos_)};
  data_.sections.trees = {std::move(parent_)};
  data_.sections.count_paths = true;
  data_.sections.targets = {std::move(classes), {}, std::move(target_)};
  return std::move(data_);
}

}  // namespace kdgat::space
