// What a step of the geometric encoder holds on a card, against its footprint.
#include "support/catch_torch.h"
// The others need torch's macros gone.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "engine/arrays/paths.h"
#include "engine/memory/meter.h"
#include "engine/model/model_file.h"
#include "engine/train/optimizer.h"
#include "fields/space/model/sgmp_footprint.h"
#include "fields/space/objective/graph_objective.h"
#include "fields/space/objective/tree_objective.h"
#include "support/cards/idle_card.h"
#include "support/graphs/spatial_graphs.h"

namespace kdgat::space {
namespace {

/// While it lives, buffers of the host come from malloc: none is a card's.
class HostBuffersApart {
 public:
  HostBuffersApart() : before_(arrays::buffer_memory()) {
    arrays::set_buffer_memory({[](std::size_t bytes) {
                                 void* memory = std::malloc(bytes);
                                 if (memory == nullptr) throw std::bad_alloc();
                                 return memory;
                               },
                               [](void* memory) { std::free(memory); }});
  }
  HostBuffersApart(const HostBuffersApart&) = delete;
  HostBuffersApart& operator=(const HostBuffersApart&) = delete;
  ~HostBuffersApart() { arrays::set_buffer_memory(before_); }

 private:
  arrays::BufferMemory before_;
};

struct SpatialCase {
  graph::GraphBatch batch;
  PathStatistics paths;
  int64_t ints_of_chunk = 0;  ///< of the largest chunk; tensors of the CPU lie in the chunk itself

  SpatialCase(int64_t graphs, int64_t nodes, int64_t budget) {
    std::vector<test::SpatialGraph> trees;
    for (int64_t g = 0; g < graphs; ++g) {
      trees.push_back(test::random_tree(nodes, 7 + static_cast<uint64_t>(g), 9));
    }
    batch = test::make_spatial_batch(trees);
    const arrays::OutEdges edges = out_edges(batch);
    const arrays::PathTotals totals = arrays::count_all_paths(edges);
    int64_t all = 0;
    for (const int64_t of_node : totals.of_node) all += of_node;
    const auto each = [graphs](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(graphs);
    };
    paths = {each(batch.nodes), each(batch.edges), each(all), each(totals.triplets),
             each(totals.arcs)};
    arrays::PathCursor cursor(edges, 0, batch.nodes);
    arrays::PathChunk chunk;
    while (cursor.next(chunk, budget)) {
      ints_of_chunk =
          std::max(ints_of_chunk, 4 * chunk.arcs + 2 * chunk.triplets + chunk.paths + 3);
    }
  }
};

/// The most bytes of tensors while a model is made, and takes a step.
template <class Make>
int64_t peak_of_step(const SpatialCase& of, const Make& make) {
  const memory::PeakScope scope(memory::meter(torch::kCPU));
  const auto objective = make();
  const train::NamedTensors parameters = train::parameters_of(objective->module());
  std::vector<at::Tensor> held;
  for (const auto& [name, tensor] : parameters) held.push_back(tensor.detach().clone());
  train::Optimizer optimizer(parameters, false, 1e-4);
  // What is copied to a card, and here is where it is.
  held.push_back(at::zeros({of.batch.x.size() + of.batch.pos.size()}));
  held.push_back(at::zeros({of.ints_of_chunk}, at::kInt));
  objective->loss(of.batch, test::totals_of(of.batch), {1, 0}).backward();
  optimizer.clip(1);
  optimizer.step(1e-3);
  return scope.peak() - scope.start();
}

void check_step(const memory::Footprint& counted, const SpatialCase& of, int64_t truth,
                const std::string& name) {
  const memory::Size size{of.batch.graphs, of.batch.nodes, of.batch.edges};
  const double predicted =
      static_cast<double>(counted.held()) + counted.largest(size).cost.of(size);
  INFO(name << ": " << truth << " bytes, counted " << predicted << ", "
            << counted.largest(size).name);
  CHECK(std::abs(predicted / static_cast<double>(truth) - 1) <= counted.margin);
  REQUIRE(counted.rounding);
  CHECK(counted.rounding_at(size) > 0);
  CHECK(counted.peak(size) > static_cast<int64_t>(predicted));
}

void compare_spatial(kernels::KernelSet kernels) {
  const test::IdleCard card(kernels);
  const HostBuffersApart apart;
  for (const int64_t hidden : {16, 64}) {
    for (const int64_t budget : {2048, 8192}) {
      const SpatialCase of(8, 120, budget);
      SgmpConfig config;
      config.hidden = hidden;
      config.interactions = 2;
      config.node_features = 9;
      SgmpStep step;
      step.path_budget = budget;
      step.batch_graphs = of.batch.graphs;
      step.kernels = kernels;
      const std::string sizes =
          ", hidden " + std::to_string(hidden) + ", budget " + std::to_string(budget);
      const auto check = [&](const auto& make, const std::string& name) {
        memory::Footprint counted;
        {
          const auto objective = make();
          const torch::nn::Module& module = objective->module();
          counted = footprint(objective->model(), step, of.paths);
          int64_t trained = 0;
          for (const at::Tensor& one : module.parameters()) {
            if (one.requires_grad()) trained += one.numel();
          }
          CHECK(counted.gradients == 4 * trained);
        }
        check_step(counted, of, peak_of_step(of, make), name + sizes);
      };
      for (const char* aggregation : {"mean", "sum"}) {
        config.aggregation = aggregation;
        config.norm = config.aggregation == "mean" ? "layer" : "none";
        const auto make = [&] {
          TreeModel model(config, GrowthConfig());
          model->encoder->path_budget = budget;
          return std::make_unique<TreeObjective>(std::move(model));
        };
        check(make, "pre-training, " + config.aggregation);
      }
      for (const bool frozen : {false, true}) {
        step.frozen = frozen;
        const auto make = [&] {
          GraphModel model(config, GraphHeadConfig());
          model->encoder->path_budget = budget;
          return std::make_unique<GraphObjective>(std::move(model), frozen);
        };
        check(make, frozen ? "a head alone" : "fine-tuning");
      }
    }
  }
}

TEST_CASE("a step of graphs in space needs on a card what is counted", "[cuda][footprint]") {
  compare_spatial(kernels::KernelSet::kCuda);
}

TEST_CASE("a step of graphs in space needs by plain operations what is counted",
          "[cuda][footprint]") {
  compare_spatial(kernels::KernelSet::kPlain);
}

}  // namespace
}  // namespace kdgat::space
