#include "engine/graph/sections/positions.h"

#include <algorithm>
#include <cmath>

#include "engine/arrays/index.h"
#include "engine/arrays/spatial.h"

namespace kdgat::graph {

namespace {

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace

std::string Positions::fault(const Data& data, const CommonArrays& graphs) {
  if (data.pos.size() != 3 * arrays::at(graphs.nodes())) return "pos does not match node_ptr";
  return are_finite(data.pos) ? "" : "a position is not finite";
}

std::optional<Positions> Positions::read(const file::SafetensorsFile& file,
                                         const CommonArrays& graphs) {
  if (!file.has("pos")) return std::nullopt;
  return Positions{file.require<float>("pos", {graphs.nodes(), 3})};
}

std::string Positions::fault(const CommonArrays& graphs, std::size_t g) const {
  return are_finite(graphs.of_nodes(pos, g, 3)) ? "" : "has a position that is not finite";
}

void Positions::write(file::SafetensorsWriter& writer) const {
  writer.add("pos", {static_cast<int64_t>(pos.size() / 3), 3}, pos);
}

void Positions::gather(const CommonArrays& graphs, std::span<const int64_t> ids,
                       std::span<const int32_t> node_ptr, Batch& out) const {
  out.pos.resize(int64_t{3} * node_ptr.back());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> from = graphs.of_nodes(pos, arrays::at(ids[i]), 3);
    std::copy(from.begin(), from.end(), out.pos.data() + int64_t{3} * node_ptr[i]);
  }
}

void Positions::add_facts(const CommonArrays& graphs, nlohmann::json& facts) const {
  std::vector<double> lengths;
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    arrays::add_lengths(graphs.of_nodes(pos, g, 3), graphs.of_edges(graphs.edge_source, g),
                        graphs.of_edges(graphs.edge_target, g), lengths);
  }
  facts["edge_length"] = {{"median", arrays::median(std::move(lengths))}};
}

}  // namespace kdgat::graph
