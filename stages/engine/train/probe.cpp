#include "engine/train/probe.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/memory/meter.h"
#include "engine/train/precision.h"
#include "kdgat/margins.h"

namespace kdgat::train {
namespace {

using Clock = std::chrono::steady_clock;
using memory::Cost;
using memory::Size;

constexpr double kSeconds = 0.8;       // for all packs together
constexpr int64_t kSmallest = 8;       // graphs of the first pack; one where graphs have paths
constexpr int64_t kLargest = 256;      // of the largest
constexpr int64_t kCandidates = 4096;  // graphs looked at for packs of extremes

struct Sample {
  Size size;
  double peak = 0;  // bytes beyond what is held between steps
};

double edges_a_node(const graph::GraphSet& store, int64_t id) {
  const Size s = store.size_of(id);
  return static_cast<double>(s.edges) / static_cast<double>(std::max<int64_t>(1, s.nodes));
}

/// Non-negative least squares with each sample weighted by 1 / its peak, so that the relative error
/// is what is small: coordinate descent on the four numbers.
Cost fit(const std::vector<Sample>& samples) {
  constexpr std::size_t kTerms = 4;
  constexpr double kFixed = 1e4;  // of the size of the other terms
  std::array<std::array<double, kTerms>, kTerms> a{};
  std::array<double, kTerms> b{}, scale{}, x{};
  for (const Sample& s : samples) {
    const double y = std::max(1.0, s.peak);
    const std::array<double, kTerms> row = {kFixed / y, static_cast<double>(s.size.graphs) / y,
                                            static_cast<double>(s.size.nodes) / y,
                                            static_cast<double>(s.size.edges) / y};
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) a[i][j] += row[i] * row[j];
      b[i] += row[i];
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) scale[i] = 1 / std::sqrt(std::max(a[i][i], 1e-300));
  for (int round = 0; round < 200000; ++round) {
    double change = 0;
    for (std::size_t i = 0; i < kTerms; ++i) {
      double rest = b[i] * scale[i];
      for (std::size_t j = 0; j < kTerms; ++j) {
        if (j != i) rest -= a[i][j] * scale[i] * scale[j] * x[j];
      }
      const double next = std::max(0.0, rest);
      change = std::max(change, std::abs(next - x[i]));
      x[i] = next;
    }
    if (change < 1e-12) break;
  }
  return {kFixed * x[0] * scale[0], x[1] * scale[1], x[2] * scale[2], x[3] * scale[3]};
}

double predicted(const memory::Footprint& footprint, const Sample& sample) {
  return footprint.at(sample.size).largest(sample.size).cost.of(sample.size);
}

/// `phases` larger by these.
std::vector<memory::Phase> grown(std::vector<memory::Phase> phases, double fixed, double node) {
  for (memory::Phase& phase : phases) {
    phase.cost.fixed += fixed;
    phase.cost.node += node;
  }
  return phases;
}

/// What the counted phases miss, as bytes and bytes a node for all of them, by least squares with
/// the weights of fit(). A step's peak is the largest of many phases, which no fit of few packs
/// finds: the phases are counted, how large they are is measured.
void correct(memory::Footprint& footprint, const std::vector<Sample>& samples) {
  double ww = 0, wn = 0, nn = 0, wd = 0, nd = 0;
  for (const Sample& s : samples) {
    const double w = 1 / std::max(1.0, s.peak);
    const double n = w * static_cast<double>(s.size.nodes);
    const double d = w * (s.peak - predicted(footprint, s));
    ww += w * w;
    wn += w * n;
    nn += n * n;
    wd += w * d;
    nd += n * d;
  }
  const double determinant = ww * nn - wn * wn;
  if (determinant <= 1e-12 * ww * nn) return;
  const double node = (nd * ww - wd * wn) / determinant;
  // No batch gets smaller by growing: then the packs that were run were too alike to tell.
  const bool is_told = std::all_of(footprint.phases.begin(), footprint.phases.end(),
                                   [&](const memory::Phase& p) { return p.cost.node + node >= 0; });
  const double fixed = is_told ? (wd * nn - nd * wn) / determinant : wd / ww;
  const double more = is_told ? node : 0;
  footprint.phases = grown(std::move(footprint.phases), fixed, more);
  if (!footprint.recount) return;
  footprint.recount = [counted = std::move(footprint.recount), fixed, more](const Size& size) {
    return grown(counted(size), fixed, more);
  };
}

double worst_error(const memory::Footprint& footprint, const std::vector<Sample>& samples) {
  double worst = 0;
  for (const Sample& s : samples) {
    const auto held = static_cast<double>(footprint.held());
    worst = std::max(worst, std::abs((held + predicted(footprint, s)) / (held + s.peak) - 1));
  }
  return worst;
}

void drop_gradients(torch::nn::Module& module) {
  for (at::Tensor& parameter : module.parameters()) parameter.mutable_grad().reset();
}

/// Puts a module back as it was: gradients, buffers and mode.
class Restore {
 public:
  explicit Restore(torch::nn::Module& module) : module_(module), training_(module.is_training()) {
    for (const at::Tensor& buffer : module.buffers()) buffers_.push_back(buffer.detach().clone());
    module.train();
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  ~Restore() {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> now = module_.buffers();
    for (std::size_t i = 0; i < now.size(); ++i) now[i].copy_(buffers_[i]);
    drop_gradients(module_);
    module_.train(training_);
  }

 private:
  torch::nn::Module& module_;
  bool training_;
  std::vector<at::Tensor> buffers_;
};

}  // namespace

memory::Size size_of(const graph::GraphSet& store, std::span<const int64_t> ids) {
  Size out;
  for (const int64_t id : ids) {
    const Size one = store.size_of(id);
    out.graphs += one.graphs;
    out.nodes += one.nodes;
    out.edges += one.edges;
    out.paths += one.paths;
    out.relations += one.relations;
    out.internal += one.internal;
    out.negatives += one.negatives;
  }
  return out;
}

memory::GraphSizes sizes_of(const graph::GraphSet& store, const std::vector<int64_t>& ids) {
  memory::GraphSizes out;
  out.sum = size_of(store, ids);
  out.largest.graphs = 1;
  double nodes = 0, edges = 0;  // squares
  for (const int64_t id : ids) {
    const Size one = store.size_of(id);
    if (one.nodes > out.largest.nodes) out.largest_id = id;
    out.largest.nodes = std::max(out.largest.nodes, one.nodes);
    out.largest.edges = std::max(out.largest.edges, one.edges);
    nodes += std::pow(static_cast<double>(one.nodes), 2);
    edges += std::pow(static_cast<double>(one.edges), 2);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, ids.size()));
  const auto deviation = [count](double squares, int64_t sum) {
    return std::sqrt(
        std::max(0.0, squares / count - std::pow(static_cast<double>(sum) / count, 2)));
  };
  out.node_deviation = deviation(nodes, out.sum.nodes);
  out.edge_deviation = deviation(edges, out.sum.edges);
  return out;
}

memory::Footprint measure(Objective& objective, const memory::StepForm& form, uint64_t seed,
                          const graph::GraphSet& store, const std::vector<int64_t>& ids,
                          memory::Footprint counted, int64_t most) {
  const int64_t smallest = store.is_spatial() ? 1 : kSmallest;
  if (static_cast<int64_t>(ids.size()) < 4 * smallest) return counted;
  torch::nn::Module& module = objective.module();
  const torch::Device device = module.parameters().front().device();
  memory::MemoryMeter& meter = memory::meter(device);
  const Restore restore(module);
  const Clock::time_point start = Clock::now();

  const auto run = [&](const std::vector<int64_t>& pack) {
    Sample out;
    out.size = size_of(store, pack);
    if (!form.accumulates()) drop_gradients(module);
    const memory::PeakScope scope(meter);
    graph::GraphBatch batch;
    graph::gather(store, pack, objective.with_edge_attr(), batch);
    at::Tensor loss;
    {
      const Autocast in_16_bits(form.precision, device);
      loss = objective.loss(batch, out.size, {seed, 0});
    }
    loss.backward();
    // Those of a batch before were there at the start; else they are made in the step.
    const int64_t made = form.accumulates() ? 0 : counted.gradients;
    out.peak = static_cast<double>(scope.peak() - scope.start() - made);
    return out;
  };

  // Evenly over the data; then by edges per node; then by size.
  const auto count = static_cast<int64_t>(ids.size());
  const auto spread = [&](int64_t graphs) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < graphs; ++i) {
      out.push_back(ids[static_cast<std::size_t>(i * count / graphs)]);
    }
    return out;
  };
  std::vector<int64_t> by_ratio = spread(std::min(count, kCandidates)), by_nodes = by_ratio;
  std::stable_sort(by_ratio.begin(), by_ratio.end(), [&](int64_t a, int64_t b) {
    return edges_a_node(store, a) < edges_a_node(store, b);
  });
  std::stable_sort(by_nodes.begin(), by_nodes.end(), [&](int64_t a, int64_t b) {
    return store.size_of(a).nodes > store.size_of(b).nodes;
  });
  const auto first = [](const std::vector<int64_t>& from, int64_t graphs) {
    return std::vector<int64_t>(from.begin(), from.begin() + graphs);
  };
  const auto last = [](const std::vector<int64_t>& from, int64_t graphs) {
    return std::vector<int64_t>(from.end() - graphs, from.end());
  };

  try {
    const int64_t before = meter.counters().allocated;
    run(spread(smallest));  // the first run loads what later ones find
    if (!form.accumulates()) drop_gradients(module);
    // What libraries of a device take of its allocator and keep.
    const int64_t kept = form.accumulates() ? counted.gradients : 0;
    if (!device.is_cpu()) counted.workspaces += meter.counters().allocated - before - kept;
    const Clock::time_point timed = Clock::now();
    std::vector<Sample> samples = {run(spread(smallest))};
    const double seconds = std::chrono::duration<double>(Clock::now() - timed).count();
    // Packs of n, n, n, n / 4 and n / 2 graphs.
    const auto first_graphs = static_cast<double>(smallest);
    double graphs = kSeconds / 3.75 / std::max(seconds / first_graphs, 1e-6);
    if (most > 0) {
      const double bytes = samples[0].peak / first_graphs;
      graphs = std::min(graphs,
                        margins::kShareOfLimit * static_cast<double>(most) / std::max(1.0, bytes));
    }
    const int64_t n =
        std::clamp(static_cast<int64_t>(graphs), 2 * smallest, std::min(kLargest, count / 2));
    // Where a pack takes long and the counts hold for it, it has to do.
    const bool is_enough = seconds > kSeconds / 3 && !counted.phases.empty() &&
                           worst_error(counted, samples) <= margins::kTrusted;
    if (!is_enough) {
      samples = {run(spread(n)), run(first(by_ratio, n)), run(last(by_ratio, n)),
                 run(first(by_nodes, std::max(smallest, n / 4))), run(spread(n / 2))};
    }
    memory::Footprint measured = counted;
    for (const Sample& s : samples) {
      const auto of_tensors =
          counted.phases.empty() ? 0 : counted.held() + static_cast<int64_t>(predicted(counted, s));
      measured.checks.push_back(
          {s.size, of_tensors, static_cast<int64_t>(s.peak) + counted.held()});
    }
    if (measured.phases.empty()) {
      measured.phases = {{"step", fit(samples)}};
    } else if (worst_error(measured, samples) > margins::kTrusted) {
      correct(measured, samples);
    }
    measured.mode = "measured";
    measured.residual = worst_error(measured, samples);
    measured.margin = std::max(margins::kLeastMeasured, 2 * measured.residual);
    counted = std::move(measured);
    if (!device.is_cpu()) meter.trim();  // packs of the probe may be larger than a batch
    counted.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } catch (const std::exception& error) {
    if (!memory::is_out_of_memory(error)) throw;
    meter.trim();
  }
  return counted;
}

}  // namespace kdgat::train
