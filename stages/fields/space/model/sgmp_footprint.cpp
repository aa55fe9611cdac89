#include "fields/space/model/sgmp_footprint.h"

#include <algorithm>

#include "fields/space/model/path_features.h"
#include "fields/space/model/sgmp_step.h"

namespace kdgat::space {

namespace {

using memory::Cost;
using memory::Footprint;

constexpr double kFloat = 4, kLong = 8;

/// Paths, triplets and arcs of a chunk: a share of the budget where a batch has more paths than
/// that, else the whole batch.
struct Chunk : ChunkRows {
  Chunk(const SgmpStep& step, const PathStatistics& s) {
    const bool is_full =
        static_cast<double>(step.batch_graphs) * s.paths >= static_cast<double>(step.path_budget);
    paths = is_full ? Cost{.fixed = static_cast<double>(step.path_budget)}
                    : Cost{.node = s.paths / s.nodes};
    triplets = paths * (s.triplets / s.paths);
    arcs = paths * (s.arcs / s.paths);
  }
};

/// What path_messages.cpp holds while a chunk is computed, as multiples of rows; see Pass there.
struct Held {
  double path = 0, triplet = 0, arc = 0;  ///< floats
  Cost of(const Chunk& chunk) const {
    return (chunk.paths * path + chunk.triplets * triplet + chunk.arcs * arc) * kFloat;
  }
};

Held hidden_of_chunk(double h) {
  constexpr double kEdge = kDistances, kTriplet = kDistances + kThetas,
                   kTorsion = kDistances + kThetas + kPhis;
  Held out;
  out.path = 7 + kTorsion + h + 4 * h;  // geometry, basis, hidden layer, z
  out.triplet = 4 + kTriplet + h;
  out.arc = 2 + kEdge + h;
  return out;
}

/// Kept by one pass of the encoder for its backward: a node, and in all.
Cost kept_by_pass(const SgmpConfig& config) {
  const auto h = static_cast<double>(config.hidden),
             blocks = static_cast<double>(config.interactions);
  const double norm = config.norm == "layer" ? h + 2 : 0;
  return {.fixed = blocks * 28 * h * h * kFloat,  // folded weights
          .node = (h + 3 + blocks * (3 * h + 1 + norm)) * kFloat};
}

/// As it runs on the CPU.
Footprint on_cpu(const SgmpConfig& config, const SgmpStep& step, const PathStatistics& paths,
                 int64_t parameters, int64_t parameter_tensors) {
  const auto h = static_cast<double>(config.hidden);
  const auto centres = static_cast<double>(step.growth_centres);
  const double bytes = kFloat * static_cast<double>(parameters);
  Footprint out;
  out.parameters = static_cast<int64_t>(bytes);
  out.gradients = out.parameters;
  out.optimizer = static_cast<int64_t>(2 * bytes + kFloat * static_cast<double>(parameter_tensors));
  out.weights_kept = out.parameters;
  out.margin = 0.05;
  out.input = Cost{.graph = kFloat * 2 + kLong * 2,
                   .node = kFloat * (static_cast<double>(config.node_features) + 8),
                   .edge = kFloat * 2} *
              1.25;
  const Chunk chunk(step, paths);
  const Cost tables{.node = 16 * h * kFloat}, sums{.node = 2 * h * kFloat};
  // The chunk's own arrays stand ready for a full one.
  const Cost common =
      out.input + Cost{.fixed = 7.5 * kFloat * static_cast<double>(step.path_budget),
                       .node = kLong + 3 * kFloat};
  const Held hidden = hidden_of_chunk(h);
  const double rounding = step.is_short ? 1 : 0;  // products hold 16-bit copies beside

  Held joining = hidden, forward = hidden;
  joining.triplet += 4 * h;  // what triplets and arcs bring to z
  joining.arc += 4 * h;
  forward.path += 2 * h + rounding * 3 * h;
  // Weights of the matrix products of a block, transposed; their gradients beside.
  const Cost weights{.fixed = (36 * h * h + 3 * kDistances * h) * kFloat};
  const Cost one_pass = common + tables + sums + weights;
  if (step.frozen) {
    out.phases = {{"forward", one_pass + forward.of(chunk)},
                  {"forward, joining", one_pass + joining.of(chunk)},
                  {"optimizer", out.input}};
    return out;
  }
  Cost kept = kept_by_pass(config);
  if (step.upward) {
    kept += kept_by_pass(config);
    kept.node += 0.7 * kFloat * (h + 14 * centres + 140);  // the growth predictor's, internal nodes
  }
  Held messages = hidden, geometry = hidden;
  messages.path += 6 * h + rounding * 3 * h;  // gradients of the second layer and of z
  geometry.path += 5 * h + rounding * 3 * h;  // of z and of the torsion's hidden layer
  geometry.triplet += 4 * h;
  const Cost backward =
      common + kept + tables * 2 + sums + weights * 2 + Cost{.node = 2 * h * kFloat};
  out.phases = {{"backward of the messages", backward + messages.of(chunk)},
                {"backward of the geometry", backward + geometry.of(chunk)},
                {"backward, joining", backward + joining.of(chunk)},
                {"optimizer", out.input}};
  // The published table's rows; of gradients of activations, those of a chunk are in its row.
  const double of_growth = step.upward ? 0.7 * kFloat * (h + 14 * centres + 140) : 0;
  Cost activations = kept + tables * 2 + sums + weights * 2 + Cost{.node = 2 * h * kFloat};
  activations.node -= of_growth;
  out.components = {
      {"input graph", common},
      {"3rd-order paths, one chunk", messages.of(chunk)},
      {"SGMP activations", activations},
      {"GT-SSL predictor", {.node = of_growth}},
      {"parameters, optimizer, gradients", {.fixed = static_cast<double>(out.held())}}};
  if (!step.accumulating) {  // gradients are counted as held, but come only with backward
    for (memory::Phase& phase : out.phases) phase.cost.fixed -= bytes;
    out.phases.back().cost.fixed += bytes;
  }
  return out;
}

}  // namespace

PathStatistics path_statistics(const nlohmann::json& facts) {
  const auto sum = [&facts](const char* pointer) {
    return facts.value(nlohmann::json::json_pointer(pointer), 0.0);
  };
  const double graphs = std::max(1.0, facts.value("graphs", 1.0));
  PathStatistics out;
  out.nodes = std::max(1.0, sum("/nodes/sum") / graphs);
  out.edges = sum("/edges/sum") / graphs;
  out.paths = std::max(out.nodes, sum("/spatial/paths/sum") / graphs);
  out.triplets = std::min(out.paths, sum("/spatial/triplets/sum") / graphs);
  out.arcs = std::min(out.triplets, sum("/spatial/arcs/sum") / graphs);
  return out;
}

Footprint footprint(const SgmpConfig& config, const SgmpStep& step, const PathStatistics& paths,
                    int64_t parameters, int64_t parameter_tensors) {
  Footprint out = on_cpu(config, step, paths, parameters, parameter_tensors);
  if (step.kernels == kernels::KernelSet::kCpu) return out;
  SgmpWalk walk(config, step, Chunk(step, paths));
  walk.run();
  out.input = walk.input();
  if (!out.components.empty()) out.components.front().cost = out.input;
  const double trained = kFloat * walk.tape.parameter_elements();
  out.gradients = static_cast<int64_t>(trained);
  out.phases = walk.tape.phases();
  if (!step.accumulating) {  // gradients are counted as held, but come only with backward
    for (memory::Phase& phase : out.phases) phase.cost.fixed -= trained;
  }
  out.phases.push_back({"optimizer", out.input});
  out.rounding = walk.tape.rounding();
  return out;
}

}  // namespace kdgat::space
