#include "engine/train/data_set.h"

#include <algorithm>
#include <cmath>

namespace kdgat::train {

std::vector<int64_t> Data::part(const std::string& name) const {
  const auto found = split.parts.find(name);
  return found == split.parts.end() ? std::vector<int64_t>{} : found->second;
}

std::vector<int64_t> Data::with_label(const std::vector<int64_t>& ids, int label) const {
  std::vector<int64_t> out;
  for (const int64_t id : ids) {
    if (store.y()[static_cast<std::size_t>(id)] == label) out.push_back(id);
  }
  return out;
}

std::vector<int64_t> labels_of(const graph::GraphSet& store, const std::vector<int64_t>& ids) {
  std::vector<int64_t> out;
  out.reserve(ids.size());
  for (const int64_t id : ids) out.push_back(store.label_of(id));
  return out;
}

std::vector<int64_t> labelled(const Data& data, const std::vector<int64_t>& ids) {
  std::vector<int64_t> out;
  for (const int64_t id : ids) {
    if (data.store.y()[static_cast<std::size_t>(id)] >= 0) out.push_back(id);
  }
  return out;
}

std::vector<int64_t> with_target(const Data& data, const std::vector<int64_t>& ids) {
  const graph::Targets& targets = data.store.need<graph::Targets>();
  std::vector<int64_t> out;
  for (const int64_t id : ids) {
    const auto of_graph = targets.of_graph(static_cast<std::size_t>(id));
    const auto is_known = [](float value) { return !std::isnan(value); };
    if (std::any_of(of_graph.begin(), of_graph.end(), is_known)) out.push_back(id);
  }
  return out;
}

std::vector<float> targets_of(const Data& data, const std::vector<int64_t>& ids) {
  const graph::Targets& targets = data.store.need<graph::Targets>();
  std::vector<float> out;
  out.reserve(ids.size() * targets.count());
  for (const int64_t id : ids) {
    const auto of_graph = targets.of_graph(static_cast<std::size_t>(id));
    out.insert(out.end(), of_graph.begin(), of_graph.end());
  }
  return out;
}

std::vector<int64_t> labelled_of_both_classes(const Data& data, const std::vector<int64_t>& ids) {
  std::vector<int64_t> out;
  bool seen[2] = {false, false};
  for (const int64_t id : ids) {
    const int32_t label = data.store.y()[static_cast<std::size_t>(id)];
    if (label < 0) continue;
    if (label < 2) seen[label] = true;  // labelled graphs may have more classes
    out.push_back(id);
  }
  return seen[0] && seen[1] ? out : std::vector<int64_t>{};
}

nlohmann::json layout_of(const graph::GraphStore& store) {
  const graph::Ids ids = store.ids() != nullptr ? *store.ids() : graph::Ids();
  nlohmann::json out = {
      {"node_features", store.node_feature_names()},
      {"edge_features", store.edge_feature_names()},
      {"vocabulary", std::vector<int64_t>(ids.vocabulary.begin(), ids.vocabulary.end())},
      {"import", store.options()}};
  if (is_labelled_graphs(store)) out["classes"] = store.targets()->classes;
  if (has_targets(store)) out["targets"] = store.targets()->names;
  return out;
}

bool is_labelled_graphs(const graph::GraphStore& store) {
  return store.targets() != nullptr && store.ids() == nullptr && store.positions() == nullptr;
}

bool has_targets(const graph::GraphStore& store) {
  return is_labelled_graphs(store) && !store.targets()->names.empty();
}

int64_t ids_of(const graph::GraphStore& store) {
  const bool are_windows = store.frames() != nullptr;
  if (store.ids() == nullptr && (are_windows || is_labelled_graphs(store))) return 0;
  return store.need<graph::Ids>().count();
}

Data open_data(const std::filesystem::path& folder) {
  graph::GraphStore store = graph::GraphStore::open(folder / "graphs.safetensors");
  graph::Split split = graph::load_split(folder / "split.safetensors", store);
  return {std::move(store), std::move(split)};
}

}  // namespace kdgat::train
