// Graph convolutions against PyTorch Geometric's, and the kernels below them against plain ones.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/graphs/batches.h"
#include "support/graphs/golden.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/kernels/edges.h"
#include "engine/kernels/sums.h"
#include "engine/model/layers/edge_convs.h"
#include "engine/model/layers/gat_conv.h"
#include "engine/model/layers/gatv2_conv.h"
#include "engine/model/layers/mean_convs.h"
#include "engine/model/networks/gat.h"

namespace kdgat::model {
namespace {

using kernels::EdgeKernels;
using kernels::SumKernels;
using test::check_close;
using test::exact_of;

constexpr int64_t kInputs = 5, kFeatures = 3, kHeads = 2;

struct GoldenConv {
  const char* name;
  std::shared_ptr<ConvImpl> conv;
};

std::vector<GoldenConv> golden_convs() {
  return {{"gcn_wider", GcnConv(kInputs, 6).ptr()},
          {"gcn_narrower", GcnConv(kInputs, 3).ptr()},
          {"sage_wider", SageConv(kInputs, 6).ptr()},
          {"sage_narrower", SageConv(kInputs, 3).ptr()},
          {"gin", GinConv(kInputs, 6, true, "none").ptr()},
          {"gine", GineConv(kInputs, 6, kFeatures, "none").ptr()},
          {"gat", GatConv(kInputs, 3, kHeads).ptr()},
          {"gatv2", GatV2Conv(kInputs, 3, kHeads, kFeatures).ptr()},
          {"transformer", TransformerConv(kInputs, 3, kHeads, kFeatures).ptr()},
          {"transformer_without", TransformerConv(kInputs, 3, kHeads, 0).ptr()},
          {"pna", PnaConv(kInputs, 4, kFeatures).ptr()}};
}

/// The graph of the golden values, whose edges stand by target and source.
graph::GraphBatch golden_graph(const file::SafetensorsFile& file) {
  const at::Tensor edges = exact_of(file, "edge_index");
  test::SmallGraph graph;
  graph.nodes = exact_of(file, "gcn_wider.x").size(0);
  graph.x.assign(static_cast<std::size_t>(graph.nodes * 11), 0.0f);
  for (int64_t e = 0; e < edges.size(1); ++e) {
    graph.edges.emplace(edges[0][e].item<int32_t>(), edges[1][e].item<int32_t>());
  }
  return test::make_batch({graph});
}

TEST_CASE("every graph convolution equals PyTorch Geometric's, with all gradients",
          "[convs][golden]") {
  const auto file = file::SafetensorsFile::open("tests/data/golden/convs.safetensors");
  const graph::GraphBatch packed = golden_graph(file);
  for (const auto& [name, conv] : golden_convs()) {
    const std::string of = std::string(name) + ".";
    conv->to(torch::kDouble);
    for (const auto& item : conv->named_parameters()) {
      item.value().set_data(exact_of(file, of + "weight." + item.key()));
    }
    if (auto* pna = conv->as<PnaConvImpl>()) {
      pna->mean_log_degree.copy_(exact_of(file, "mean_log_degree"));
    }
    test::at_every_isa([&] {
      kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
      batch.edge_attr_ED = exact_of(file, "edge_attr");
      const at::Tensor x = exact_of(file, of + "x").requires_grad_();
      const at::Tensor out = conv->forward(x, batch);
      check_close(out, exact_of(file, of + "output"), of + "output", 1e-10, 1e-10);
      conv->zero_grad();
      out.square().sum().backward();
      check_close(x.grad(), exact_of(file, of + "grad.x"), of + "grad.x", 1e-9, 1e-9);
      for (const auto& item : conv->named_parameters()) {
        check_close(item.value().grad(), exact_of(file, of + "grad." + item.key()),
                    of + "grad." + item.key(), 1e-9, 1e-9);
      }
    });
  }
}

using Inputs = std::vector<at::Tensor>;
using Operation = std::function<at::Tensor(const EdgeKernels&, const Inputs&)>;

/// Of the operations on `batch`, each with random inputs.
std::vector<std::pair<std::string, std::pair<Inputs, Operation>>> operations(
    const kernels::BatchTensors& batch, int64_t columns, at::ScalarType type) {
  const auto nodes = [&] { return torch::randn({batch.nodes, columns}, type); };
  const auto edges = [&] { return torch::randn({batch.edges, columns}, type); };
  const auto sums = [&batch](const EdgeKernels& by, const Inputs& in) {
    return by.relu_sums(in[0], in[1], batch);
  };
  const auto attention = [&batch](const EdgeKernels& by, const Inputs& in) {
    const auto e = in.size() > 3 ? std::optional(in[3]) : std::nullopt;
    return by.attention(in[0], in[1], in[2], e, kHeads, batch);
  };
  const auto statistics = [&batch](const EdgeKernels& by, const Inputs& in) {
    const auto e = in.size() > 2 ? std::optional(in[2]) : std::nullopt;
    return by.statistics(in[0], in[1], e, batch);
  };
  return {{"sums", {{nodes(), edges()}, sums}},
          {"attention", {{nodes(), nodes(), nodes(), edges()}, attention}},
          {"attention without features", {{nodes(), nodes(), nodes()}, attention}},
          {"statistics", {{nodes(), nodes(), edges()}, statistics}},
          {"statistics without features", {{nodes(), nodes()}, statistics}}};
}

TEST_CASE("kernels over edges are those of plain operations, with their gradients",
          "[convs][kernels]") {
  torch::manual_seed(5);
  const graph::GraphBatch packed = test::few_nodes(40, 7);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  const auto results = [](const EdgeKernels& by, const Inputs& given, const Operation& operation) {
    Inputs in;
    for (const at::Tensor& t : given) in.push_back(t.clone().requires_grad_());
    Inputs out = {operation(by, in)};
    (out[0] * at::arange(out[0].numel(), out[0].options()).view_as(out[0]).sin()).sum().backward();
    for (const at::Tensor& t : in) out.push_back(t.grad());
    return out;
  };
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const double within = type == torch::kDouble ? 1e-11 : 2e-4;
    for (const int64_t columns : {2, 10, 34}) {
      for (const auto& [name, what] : operations(batch, columns, type)) {
        const Inputs wanted = results(EdgeKernels::plain(), what.first, what.second);
        test::at_every_isa([&] {
          const Inputs found = results(EdgeKernels::cpu(), what.first, what.second);
          for (std::size_t i = 0; i < found.size(); ++i) {
            check_close(found[i], wanted[i], name + " " + std::to_string(i), within, within);
          }
        });
      }
    }
  }
}

TEST_CASE("gradients of kernels over edges are those of differences", "[convs][kernels]") {
  torch::manual_seed(6);
  const graph::GraphBatch packed = test::few_nodes(4, 7);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  for (const EdgeKernels* by : {&EdgeKernels::cpu(), &EdgeKernels::plain()}) {
    for (const auto& [name, what] : operations(batch, 4, torch::kDouble)) {
      INFO(name);
      test::check_gradients(what.first, [&](const Inputs& in) { return what.second(*by, in); });
    }
  }
}

TEST_CASE("weighted sums over neighbours are those of plain operations", "[convs][kernels]") {
  torch::manual_seed(7);
  const graph::GraphBatch packed = test::few_nodes(30, 7);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  const at::Tensor x = torch::randn({packed.nodes, 9}, torch::kDouble);
  at::Tensor counts = at::zeros({packed.nodes, 1}, torch::kDouble);
  for (int64_t i = 0; i < packed.nodes; ++i) {
    for (int32_t e = packed.in_ptr[i]; e < packed.in_ptr[i + 1]; ++e) {
      if (packed.in_source[e] != i) counts[i] += 1;
    }
  }
  CHECK(torch::equal(kernels::neighbour_counts(x, batch), counts));
  const at::Tensor before = torch::rand({packed.nodes, 1}, torch::kDouble),
                   after = torch::rand({packed.nodes, 1}, torch::kDouble);
  for (const kernels::SumWeights& weights :
       {kernels::SumWeights{before, after, true}, kernels::SumWeights{{}, after, false}}) {
    const auto results = [&](const SumKernels& by) {
      const at::Tensor in = x.clone().requires_grad_();
      const at::Tensor out = by.weighted(in, weights, batch);
      out.square().sum().backward();
      return std::pair(out.detach(), in.grad());
    };
    const auto wanted = results(SumKernels::plain());
    test::at_every_isa([&] {
      const auto found = results(SumKernels::cpu());
      check_close(found.first, wanted.first, "sum", 1e-12, 1e-12);
      check_close(found.second, wanted.second, "gradient", 1e-12, 1e-12);
    });
  }
}

GatConfig small_network(const std::string& conv, const std::string& norm) {
  GatConfig out = GatConfig::student(1);
  out.has_ids = false;
  out.edge_features = kFeatures;
  out.conv = conv;
  out.norm = norm;
  out.hidden = 6;
  out.heads = kHeads;
  out.layers = 2;
  out.dropout = 0;
  return out;
}

TEST_CASE("a network of every convolution has the same bits by any threads and computed again",
          "[convs][networks]") {
  graph::GraphBatch packed = test::make_batch(test::random_small_graphs(300, 5));
  packed.edge_features = kFeatures;
  packed.edge_attr.resize(packed.edges * kFeatures);
  for (int64_t i = 0; i < packed.edges * kFeatures; ++i) {
    packed.edge_attr[i] = static_cast<float>(i % 7) / 7;
  }
  const struct Threads {
    int before = at::get_num_threads();
    ~Threads() { at::set_num_threads(before); }
  } restored;
  for (const std::string& conv : conv_names()) {
    for (const char* norm : {"none", "graph", "batch"}) {
      INFO(conv << ", norm " << norm);
      const auto results = [&](int threads, bool again) {
        at::set_num_threads(threads);
        torch::manual_seed(3);
        GraphClassifier network = make_model(small_network(conv, norm));
        network->checkpointing = again;
        kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
        const at::Tensor out = network->forward(batch);
        out.square().sum().backward();
        Inputs all = {out.detach()};
        for (const at::Tensor& t : network->parameters()) all.push_back(t.grad());
        return all;
      };
      const Inputs wanted = results(1, false);
      for (const Inputs& found : {results(2, false), results(1, true)}) {
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(torch::equal(found[i], wanted[i]));
      }
      CHECK(std::any_of(wanted.begin(), wanted.end(),
                        [](const at::Tensor& t) { return t.abs().max().item<float>() > 0; }));
    }
  }
}

}  // namespace
}  // namespace kdgat::model
