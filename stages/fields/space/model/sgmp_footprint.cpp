#include "fields/space/model/sgmp_footprint.h"

#include <algorithm>

#include "engine/model/model_file.h"
#include "fields/space/model/path_features.h"

namespace kdgat::space {

namespace {

using memory::Footprint;
using model::kFloat, model::kLong;

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
struct OfChunk {
  double path = 0, triplet = 0, arc = 0;  ///< floats
  Cost of(const Chunk& chunk) const {
    return (chunk.paths * path + chunk.triplets * triplet + chunk.arcs * arc) * kFloat;
  }
};

OfChunk hidden_of_chunk(double h) {
  constexpr double kEdge = kDistances, kTriplet = kDistances + kThetas,
                   kTorsion = kDistances + kThetas + kPhis;
  OfChunk out;
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

/// As it runs on the CPU. `growth_centres`: of pre-training; 0 = a head on the readout.
Footprint on_cpu(const SgmpConfig& config, const SgmpStep& step, const PathStatistics& paths,
                 const torch::nn::Module& model, int64_t growth_centres) {
  const bool upward = growth_centres > 0;  // a second pass on the edges to the parents
  const auto h = static_cast<double>(config.hidden);
  const auto centres = static_cast<double>(growth_centres);
  const double bytes = kFloat * static_cast<double>(model::count_parameters(model));
  const auto parameter_tensors = static_cast<int64_t>(model.parameters().size());
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
  const OfChunk hidden = hidden_of_chunk(h);
  const double rounding = step.is_short ? 1 : 0;  // products hold 16-bit copies beside

  OfChunk joining = hidden, forward = hidden;
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
  if (upward) {
    kept += kept_by_pass(config);
    kept.node += 0.7 * kFloat * (h + 14 * centres + 140);  // the growth predictor's, internal nodes
  }
  OfChunk messages = hidden, geometry = hidden;
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
  const double of_growth = upward ? 0.7 * kFloat * (h + 14 * centres + 140) : 0;
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

/// From the encoders to both losses: growth, and the order of nodes.
void count_loss(SpatialCount& step, const TreeModelImpl& model) {
  Tape& tape = step.tape;
  tape.enter("the encoder, upwards");
  step.again = true;  // backward comes to it when it has been through the other one
  const Value up = model.encoder->count(step);
  step.again = false;
  tape.enter("growth");
  const Value loss = model.growth->count(step, up);
  tape.enter("the encoder");
  const Value down = model.encoder->count(step);
  tape.enter("the order of nodes");
  // Pairs that are related, and as many that are not.
  std::vector<Value> terms;
  for (int kind = 0; kind < 2; ++kind) {
    const Value apart = tape.value(kNodes, down.width);
    const Held pairs = tape.hold(kNodes * (2 * kLong));
    step.rows(kNodes, 2 * down.width);
    tape.then(apart, [&step, down = down.without_data(), pairs, kept = apart.data](const Held&) {
      const Held of_pairs = step.rows(kNodes, 2 * down.width);
      step.tape.give(down);
    });
    terms.push_back(apart);
  }
  for (const Value& term : terms) tape.give(term);
  tape.give(loss);
}

void count_loss(SpatialCount& step, const GraphModelImpl& model) {
  step.tape.give(model.count(step, step.step.frozen));
}

/// On a card, what differs from the CPU.
template <class Model>
void count_on_card(Footprint& out, const Model& model, const SgmpConfig& config,
                   const SgmpStep& of_step, const PathStatistics& paths) {
  SpatialCount step(of_step, Chunk(of_step, paths));
  Tape& tape = step.tape;
  tape.enter("the input");
  {
    const Held x = step.rows(kNodes, static_cast<double>(config.node_features)),
               pos = step.rows(kNodes, 3), graph = tape.hold(kNodes * kLong);
    out.input = *x + *pos + *graph;
    count_loss(step, model);
    tape.backward();
  }
  if (!out.components.empty()) out.components.front().cost = out.input;
  const double trained = kFloat * tape.parameter_elements();
  out.gradients = static_cast<int64_t>(trained);
  out.phases = tape.phases();
  if (!of_step.accumulating) {  // gradients are counted as held, but come only with backward
    for (memory::Phase& phase : out.phases) phase.cost.fixed -= trained;
  }
  out.phases.push_back({"optimizer", out.input});
  out.rounding = tape.rounding();
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

Footprint footprint(const TreeModel& model, const SgmpStep& step, const PathStatistics& paths) {
  const SgmpConfig& config = model->encoder->config();
  Footprint out = on_cpu(config, step, paths, *model, model->growth->config().num_rbf_centers);
  if (step.kernels != kernels::KernelSet::kCpu) count_on_card(out, *model, config, step, paths);
  return out;
}

Footprint footprint(const GraphModel& model, const SgmpStep& step, const PathStatistics& paths) {
  const SgmpConfig config = model->encoder ? model->encoder->config() : SgmpConfig();
  Footprint out = on_cpu(config, step, paths, *model, 0);
  if (step.kernels != kernels::KernelSet::kCpu) count_on_card(out, *model, config, step, paths);
  return out;
}

}  // namespace kdgat::space
