// kdgat_path_bench: what scripts/bench gtssl measures inside one process. Prints one JSON object a
// call. Graphs are superpixel-like: a jittered grid of nodes, directed edges to the nearest ones.
//
//   kdgat_path_bench enumerate NODES NEIGHBOURS SECONDS
//       third-order paths a second, one thread
//   kdgat_path_bench step GRAPHS NODES NEIGHBOURS HIDDEN INTERACTIONS BUDGET STEPS THREADS [bf16]
//       training steps of the encoder with the ordering loss over all edges: seconds, peaks of
//       tensor bytes and of resident anonymous memory over what stood before the first step
#include <ATen/Parallel.h>
#include <torch/optim/adam.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.h"
#include "engine/arrays/paths.h"
#include "engine/arrays/random.h"
#include "engine/memory/meter.h"
#include "engine/train/precision.h"
#include "fields/space/model/sgmp.h"

namespace {

namespace arrays = kdgat::arrays;
using kdgat::bench::seconds_since;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Graphs {
  std::vector<float> pos;
  std::vector<int32_t> ptr{0}, target;
  arrays::OutEdges edges() const { return {ptr, target}; }
};

Graphs superpixels(int64_t graphs, int64_t nodes, int64_t neighbours) {
  arrays::Random random(1);
  Graphs out;
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(nodes)));
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    return sum;
  };
  for (int64_t g = 0; g < graphs; ++g) {
    const auto first = static_cast<int32_t>(out.ptr.size()) - 1;
    std::vector<std::pair<double, double>> points;
    for (int64_t v = 0; v < side * side; ++v) {
      const auto place = [&](int64_t at) {
        return (static_cast<double>(at) + 0.12 * normal()) / static_cast<double>(side);
      };
      points.emplace_back(place(v % side), place(v / side));
      out.pos.insert(out.pos.end(), {static_cast<float>(points.back().first),
                                     static_cast<float>(points.back().second), 0.0f});
    }
    for (const auto& [x, y] : points) {
      std::vector<std::pair<double, int32_t>> by_distance;
      for (std::size_t v = 0; v < points.size(); ++v) {
        const double gap = std::hypot(points[v].first - x, points[v].second - y);
        if (gap > 0) by_distance.emplace_back(gap, first + static_cast<int32_t>(v));
      }
      std::partial_sort(by_distance.begin(), by_distance.begin() + neighbours, by_distance.end());
      std::vector<int32_t> near;
      for (int64_t n = 0; n < neighbours; ++n) {
        near.push_back(by_distance[static_cast<std::size_t>(n)].second);
      }
      std::sort(near.begin(), near.end());
      out.target.insert(out.target.end(), near.begin(), near.end());
      out.ptr.push_back(static_cast<int32_t>(out.target.size()));
    }
  }
  return out;
}

int64_t paths_of(const Graphs& graphs) {
  const std::vector<int64_t> counts = arrays::count_paths(graphs.edges());
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

json enumerate(int64_t nodes, int64_t neighbours, double seconds) {
  constexpr int64_t kBudget = 8192;
  const Graphs graphs = superpixels(1, nodes, neighbours);
  arrays::PathChunk chunk;
  int64_t paths = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    arrays::PathCursor cursor(graphs.edges(), 0, graphs.edges().nodes());
    while (cursor.next(chunk, kBudget)) paths += chunk.paths;
  }
  return {{"paths", paths_of(graphs)},
          {"paths_per_s", static_cast<double>(paths) / seconds_since(start)}};
}

json step(const Graphs& graphs, int64_t count, const kdgat::space::SgmpConfig& config,
          int64_t budget, int64_t steps, bool bf16) {
  torch::manual_seed(1);
  kdgat::space::SgmpEncoder encoder(config);
  encoder->path_budget = budget;
  torch::optim::Adam optimizer(encoder->parameters(), 1e-3);
  const arrays::OutEdges edges = graphs.edges();
  const int64_t nodes = edges.nodes(), arcs = static_cast<int64_t>(edges.target.size());
  const at::Tensor x = torch::randn({nodes, config.node_features});
  const at::Tensor pos = torch::tensor(graphs.pos).view({nodes, 3});
  const at::Tensor target = torch::tensor(graphs.target);
  const at::Tensor source = at::repeat_interleave(torch::tensor(graphs.ptr).diff().to(at::kLong),
                                                  std::optional<int64_t>(arcs));
  kdgat::memory::MemoryMeter& meter = kdgat::memory::meter(at::kCPU);
  meter.trim();
  meter.reset_peaks();
  const int64_t held = meter.counters().allocated, resident = kdgat::memory::anonymous_memory();
  int64_t peak_resident = 0;
  std::vector<double> seconds;
  double loss_value = 0;
  for (int64_t s = 0; s < steps; ++s) {
    const auto start = Clock::now();
    at::Tensor loss;
    {
      const kdgat::train::Autocast rounding(bf16 ? "bf16-mixed" : "32", at::kCPU);
      const at::Tensor h = encoder->forward({x, pos, edges});
      loss = torch::relu(h.index_select(0, target) - h.index_select(0, source)).sum(1).mean();
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    loss_value = loss.item<double>();
    seconds.push_back(seconds_since(start));
    peak_resident = std::max(peak_resident, kdgat::memory::anonymous_memory());
  }
  return {{"graphs", count},
          {"paths", paths_of(graphs)},
          {"step_s", seconds},
          {"graphs_per_s",
           static_cast<double>(count) / *std::min_element(seconds.begin(), seconds.end())},
          {"loss", loss_value},
          {"peak_tensor_mb", static_cast<double>(meter.counters().peak_allocated - held) * 1e-6},
          {"peak_anonymous_mb", static_cast<double>(peak_resident - resident) * 1e-6}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t i) { return std::stoll(words.at(i)); };
  return kdgat::bench::run(
      "usage: kdgat_path_bench enumerate NODES NEIGHBOURS SECONDS\n"
      "       kdgat_path_bench step GRAPHS NODES NEIGHBOURS HIDDEN INTERACTIONS BUDGET STEPS "
      "THREADS [bf16]\n",
      [&] {
        if (words.size() == 4 && words[0] == "enumerate") {
          std::cout << enumerate(number(1), number(2), std::stod(words[3])) << "\n";
        } else if (words.size() >= 9 && words[0] == "step") {
          at::set_num_threads(static_cast<int>(number(8)));
          kdgat::space::SgmpConfig config;
          config.node_features = 5;
          config.hidden = number(4);
          config.interactions = number(5);
          std::cout << step(superpixels(number(1), number(2), number(3)), number(1), config,
                            number(6), number(7), words.size() > 9)
                    << "\n";
        } else {
          return false;
        }
        return true;
      });
}
