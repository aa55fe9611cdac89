#include "engine/decision/detector/relative_network.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>

#include "engine/data/can/frames/usual_window.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"
#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

using nlohmann::json;

/// As arrays of one graph, edges by their target.
void to_batch(const data::RelativeGraph& graph, bool with_edge_attr, graph::GraphBatch& out) {
  const auto nodes = std::ssize(graph.keys), edges = std::ssize(graph.source);
  out.graphs = 1;
  out.nodes = nodes;
  out.edges = edges;
  out.node_features = data::kRelativeNodeFeatures;
  out.edge_features = with_edge_attr ? data::kRelativeEdgeFeatures : 0;
  out.x.resize(std::ssize(graph.x));
  std::copy(graph.x.begin(), graph.x.end(), out.x.data());
  out.node_ptr.resize(2);
  out.node_ptr[0] = 0;
  out.node_ptr[1] = static_cast<int32_t>(nodes);
  std::vector<int64_t> order(graph.source.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return graph.target[static_cast<std::size_t>(a)] < graph.target[static_cast<std::size_t>(b)];
  });
  out.in_ptr.resize(nodes + 1);
  std::fill_n(out.in_ptr.data(), nodes + 1, 0);
  for (const int32_t target : graph.target) ++out.in_ptr[target + 1];
  for (int64_t n = 0; n < nodes; ++n) out.in_ptr[n + 1] += out.in_ptr[n];
  out.in_source.resize(edges);
  out.edge_attr.resize(edges * out.edge_features);
  for (int64_t e = 0; e < edges; ++e) {
    const int64_t from = order[static_cast<std::size_t>(e)];
    out.in_source[e] = graph.source[static_cast<std::size_t>(from)];
    std::copy_n(graph.edge_attr.begin() + from * data::kRelativeEdgeFeatures, out.edge_features,
                out.edge_attr.data() + e * out.edge_features);
  }
}

int64_t window_of(const model::ModelHeader& header, const std::string& name) {
  const json import = header.data.value("import", json::object());
  if (import.value("features", json()) != data::kRelativeFeatures) {
    throw Error(ExitCode::kData,
                name +
                    ": this network was not trained on windows relative to the profile of a "
                    "vehicle",
                "train it on data imported with features=relative");
  }
  if (header.data.value("node_features", json()) != json(data::relative_node_names()) ||
      header.data.value("edge_features", json()) != json(data::relative_edge_names())) {
    throw Error(ExitCode::kData, name + ": trained on windows with other columns",
                "import the data and train the network again");
  }
  return import.value("window", data::kUsualWindow);
}

}  // namespace

RelativeNetwork::RelativeNetwork(std::vector<std::byte> bytes, const std::string& name)
    : bytes_(std::move(bytes)) {
  const auto file = file::SafetensorsFile::parse(bytes_, name);
  const model::ModelHeader header = model::load_header(file);
  if (header.name != "gat") throw Error(ExitCode::kData, name + ": not a classifier of graphs");
  window_ = window_of(header, name);
  network_ = native::load_network(file, header);
  parameters_ = model::parameters_of(file);
}

std::shared_ptr<const RelativeNetwork> RelativeNetwork::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw Error(ExitCode::kData, "cannot read " + file.string());
  const auto bytes = std::as_bytes(std::span(text));
  return std::make_shared<const RelativeNetwork>(std::vector<std::byte>(bytes.begin(), bytes.end()),
                                                 file.string());
}

double RelativeNetwork::score(const data::RelativeGraph& graph) const {
  float out = 0;
  const std::lock_guard lock(mutex_);
  to_batch(graph, network_->with_edge_attr(), batch_);
  network_->raw_scores(batch_, {&out, 1});
  return out;
}

}  // namespace kdgat::decision
