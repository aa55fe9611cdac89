#include "engine/graph/sections/ids.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/arrays/index.h"

namespace kdgat::graph {

std::string Ids::fault(const Data& data, const CommonArrays& /*graphs*/) {
  return Ids{data.vocabulary}.fault();
}

std::optional<Ids> Ids::read(const file::SafetensorsFile& file, const CommonArrays& /*graphs*/) {
  if (!file.has("vocabulary")) return std::nullopt;
  const Ids found{file.require<int64_t>("vocabulary", {-1})};
  // Graphs in space have always been written with a vocabulary, which is empty.
  if (found.vocabulary.empty() && file.has("pos")) return std::nullopt;
  return found;
}

std::string Ids::fault() const {
  const auto wrong =
      std::adjacent_find(vocabulary.begin(), vocabulary.end(), std::greater_equal<>());
  return wrong == vocabulary.end() ? "" : "the vocabulary is not strictly ascending";
}

bool Ids::is_within(const CommonArrays& graphs, std::size_t g) const {
  const std::size_t width = arrays::at(graphs.node_features);
  const std::span<const float> rows = graphs.of_nodes(graphs.x, g, width);
  const auto end = static_cast<float>(count());
  bool wrong = width == 0 && graphs.node_ptr[g + 1] > graphs.node_ptr[g];
  for (std::size_t first = 0; first < rows.size(); first += width) {
    wrong |= !(rows[first] >= 0) | !(rows[first] < end);  // NaN, too
  }
  return !wrong;
}

std::string Ids::fault(const CommonArrays& graphs, std::size_t g) const {
  const std::size_t width = arrays::at(graphs.node_features);
  const std::span<const float> rows = graphs.of_nodes(graphs.x, g, width);
  for (std::size_t first = 0; first < rows.size(); first += width) {
    const float id = rows[first];  // NaN is a fault of its own
    if (std::isfinite(id) &&
        !(id >= 0 && id < static_cast<float>(count()) && id == std::floor(id))) {
      return kIdFault;
    }
  }
  return "";
}

void Ids::write(file::SafetensorsWriter& writer) const {
  writer.add("vocabulary", {static_cast<int64_t>(vocabulary.size())}, vocabulary);
}

}  // namespace kdgat::graph
