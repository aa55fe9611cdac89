#include "engine/graph/sections/targets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/arrays/index.h"
#include "engine/file/metadata_json.h"
#include "engine/file/safetensors_header.h"

namespace kdgat::graph {

namespace {

constexpr const char* kClasses = "classes";
constexpr const char* kNames = "target_names";

/// The list that the metadata `key` holds.
std::vector<std::string> names_in(const file::SafetensorsFile& file, const char* key) {
  return file::metadata_json<std::vector<std::string>>(file, key);
}

/// One target is a column without a second dimension, as it was before there could be several.
std::vector<int64_t> shape_of(int64_t graphs, std::size_t targets) {
  return targets == 1 ? std::vector{graphs} : std::vector{graphs, static_cast<int64_t>(targets)};
}

}  // namespace

std::string Targets::fault(const Data& data, const CommonArrays& graphs) {
  const std::size_t targets = std::max<std::size_t>(1, data.names.size());
  if (data.values.empty() || data.values.size() == targets * graphs.graphs()) return "";
  return targets == 1 ? "target is not one number a graph"
                      : "target is not one number a graph and name";
}

std::vector<float> Targets::derive(const Data& data, const CommonArrays& graphs) {
  std::vector<float> values = data.values;
  values.resize(graphs.graphs() * std::max<std::size_t>(1, data.names.size()),
                std::numeric_limits<float>::quiet_NaN());
  return values;
}

std::optional<Targets> Targets::read(const file::SafetensorsFile& file,
                                     const CommonArrays& graphs) {
  const bool has_names = file.metadata().contains(kNames);
  if (!file.has("target") && !file.metadata().contains(kClasses) && !has_names) {
    return std::nullopt;
  }
  Targets out;
  out.classes = names_in(file, kClasses);
  if (has_names) out.names = names_in(file, kNames);
  out.values =
      file.require<float>("target", shape_of(static_cast<int64_t>(graphs.graphs()), out.count()));
  return out;
}

std::string Targets::fault(const CommonArrays& graphs, std::size_t g) const {
  if (!is_labelled(graphs, g)) return kLabelFault;
  const bool has_infinity = std::ranges::any_of(of_graph(g), [](float v) { return std::isinf(v); });
  return has_infinity ? "has a target that is not finite" : "";
}

void Targets::write(file::SafetensorsWriter& writer) const {
  writer.add("target", shape_of(static_cast<int64_t>(values.size() / count()), count()), values);
  writer.metadata(kClasses, file::json_text(classes));
  if (!names.empty()) writer.metadata(kNames, file::json_text(names));
}

void Targets::gather(const CommonArrays& /*graphs*/, std::span<const int64_t> ids,
                     std::span<const int32_t> /*node_ptr*/, Batch& out) const {
  out.target.resize(static_cast<int64_t>(ids.size() * count()));
  float* to = out.target.data();
  for (const int64_t id : ids) to = std::ranges::copy(of_graph(arrays::at(id)), to).out;
}

void Targets::add_facts(const CommonArrays& graphs, nlohmann::json& facts) const {
  std::vector<int64_t> of_class(classes.size(), 0);
  int64_t with_target = 0;
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    if (graphs.y[g] >= 0) ++of_class[arrays::at(graphs.y[g])];
    with_target += std::ranges::any_of(of_graph(g), [](float v) { return !std::isnan(v); });
  }
  facts["classes"] = classes;
  facts["class_graphs"] = of_class;
  facts["targets"] = with_target;
  if (!names.empty()) facts["target_names"] = names;
}

}  // namespace kdgat::graph
