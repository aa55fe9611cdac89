#include "engine/memory/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kdgat/error.h"
#include "kdgat/margins.h"
#include "kdgat/text.h"

namespace kdgat::memory {
namespace {

constexpr auto kMiB = static_cast<double>(margins::kMiB);

int64_t share_of(const DeviceMemory& device, double share) {
  return static_cast<int64_t>(share * static_cast<double>(device.total));
}

/// Rounded down to 1/32 of its power of two, so that small changes of what is free do not change
/// the packs.
int64_t steady(double value) {
  if (value < 64) return static_cast<int64_t>(std::max(0.0, value));
  const double step = std::exp2(std::floor(std::log2(value)) - 5);
  return static_cast<int64_t>(std::floor(value / step) * step);
}

/// The bounds of a pack of average graphs whose predicted peak is `available`: the corner of the
/// three bounds is what is filled, so a pack inside of them never needs more.
Size bounds(const Footprint& footprint, const GraphSizes& graphs, int64_t available) {
  const auto nodes = static_cast<double>(std::max<int64_t>(1, graphs.sum.nodes));
  const double edges_a_node = margins::kEdgeSpread * static_cast<double>(graphs.sum.edges) / nodes;
  const double graphs_a_node =
      margins::kEdgeSpread * static_cast<double>(graphs.sum.graphs) / nodes;
  double most = 1e15;
  for (const Phase& phase : footprint.phases) {
    const Cost& c = phase.cost;
    const double a_node = c.node + edges_a_node * c.edge + graphs_a_node * c.graph;
    const double room = static_cast<double>(available) - c.fixed;
    if (a_node > 0) most = std::min(most, std::max(0.0, room / a_node));
  }
  const int64_t node_bound = steady(most);
  const auto n = static_cast<double>(node_bound);
  return {static_cast<int64_t>(std::ceil(n * graphs_a_node)), node_bound,
          static_cast<int64_t>(std::ceil(n * edges_a_node))};
}

/// The same bounds, or smaller ones where what the device's allocator holds beyond the tensors of
/// such a pack does not fit beside them.
Size with_rounding(const Footprint& footprint, Size size, int64_t available) {
  constexpr double kLess = 0.98;
  while (footprint.rounding && size.nodes > 1 &&
         footprint.peak(size) - footprint.held() > available) {
    const auto less = [](int64_t count) {
      return static_cast<int64_t>(kLess * static_cast<double>(count));
    };
    size = {less(size.graphs), less(size.nodes), less(size.edges)};
  }
  return size;
}

/// The largest of so many packs of graphs drawn by chance, within the bounds of a pack.
Size largest_pack(const MemoryPlan& plan, const GraphSizes& graphs) {
  const auto packs = static_cast<double>(std::max<int64_t>(2, plan.packs));
  const double times = std::sqrt(2 * std::log(packs) * static_cast<double>(plan.expected.graphs));
  const auto grown = [&](int64_t expected, double deviation, int64_t of_one, int64_t bound) {
    const int64_t most = bound > 0 ? bound : plan.expected.graphs * of_one;
    const auto larger =
        static_cast<int64_t>(std::ceil(static_cast<double>(expected) + times * deviation));
    return std::max(expected, std::min(larger, most));
  };
  return {
      plan.expected.graphs,
      grown(plan.expected.nodes, graphs.node_deviation, graphs.largest.nodes, plan.batch.nodes),
      grown(plan.expected.edges, graphs.edge_deviation, graphs.largest.edges, plan.batch.edges)};
}

/// Of what a graph is counted to need so much may be missing: below that a run may end out of
/// memory.
double unsure_of(const Footprint& footprint, const Size& one) {
  return std::max(margins::kTrusted, footprint.margin) * footprint.largest(one).cost.of(one);
}

/// A limit of tensors alone has no context that could differ.
double drift_of(const DeviceMemory& device) {
  return device.is_of_tensors ? 0 : margins::kContextDrift;
}

/// Whether there is no going beyond what a device has, as its numbers say.
bool is_bound(const DeviceMemory& device) { return device.is_limit || !device.bound.empty(); }

[[noreturn]] void does_not_fit(const MemoryPlan& plan, const Size& one) {
  const Footprint& f = plan.footprint;
  const Phase& phase = f.largest(one);
  std::vector<std::pair<double, std::string>> items = {
      {static_cast<double>(plan.device.context), "the context"},
      {static_cast<double>(f.parameters + f.gradients), "parameters and gradients"},
      {static_cast<double>(f.embeddings), "the embedding"},
      {static_cast<double>(f.optimizer), "the optimiser's state"},
      {static_cast<double>(f.weights_kept), "the best weights"},
      {static_cast<double>(f.teacher), "the teacher"},
      {phase.cost.of(one), phase.name + (f.whole.empty() ? " of the largest graph" : "")}};
  const auto largest = std::max_element(items.begin(), items.end());
  const double drift = drift_of(plan.device), unsure = unsure_of(f, one) + drift;
  const double needs = static_cast<double>(plan.device.context + f.held()) + phase.cost.of(one) +
                       static_cast<double>(f.rounding_at(one)) +
                       (is_bound(plan.device) ? unsure : 0.0);
  // The context of the process that is given as much may be a larger one. Where no step has run
  // yet, it is still that of before the first; what is planned as a whole runs none of LibTorch.
  const bool context_grows = !plan.device.is_of_tensors && f.whole.empty() && f.mode != "measured";
  const double enough =
      needs + (context_grows ? margins::kFirstStep : 0) + (is_bound(plan.device) ? drift : unsure);
  const std::string& bound = plan.device.bound;
  const auto smallest = static_cast<int64_t>(
      std::ceil((static_cast<double>(plan.device.others) + enough / plan.share) / kMiB));
  std::string hint;
  for (const Alternative& other : f.alternatives) {
    const int64_t saves = f.peak(one) - other.footprint.peak(one);
    if (saves <= 0) continue;
    hint += (hint.empty() ? "" : ", ") + other.option + " (saves " + mebibytes(saves) + ")";
  }
  const std::string what = f.whole.empty()
                               ? "one graph of " + std::to_string(one.nodes) + " nodes and " +
                                     std::to_string(one.edges) + " edges"
                               : f.whole;
  throw Error(ExitCode::kDoesNotFit,
              what + " does not fit: of " + mebibytes(share_of(plan.device, plan.share)) +
                  " usable on " + plan.device.name + (bound.empty() ? "" : " within " + bound) +
                  ", " + mebibytes(needs) + " are needed; the largest item is " + largest->second +
                  " with " + mebibytes(largest->first),
              "the smallest memory that works is " + std::to_string(smallest) + "MiB" +
                  (bound.empty() ? "" : " for " + bound) + (hint.empty() ? "" : "; " + hint));
}

}  // namespace

const Phase& Footprint::largest(const Size& size) const {
  return *std::max_element(phases.begin(), phases.end(), [&](const Phase& a, const Phase& b) {
    return a.cost.of(size) < b.cost.of(size);
  });
}

Footprint Footprint::at(const Size& size) const {
  Footprint out = *this;
  if (recount) out.phases = recount(size);
  return out;
}

int64_t Footprint::peak(const Size& size) const {
  return held() + static_cast<int64_t>(largest(size).cost.of(size)) + rounding_at(size);
}

MemoryPlan make_plan(const Footprint& footprint, const GraphSizes& graphs,
                     const DeviceMemory& device, const BatchOptions& options) {
  MemoryPlan plan;
  plan.device = device;
  plan.footprint = footprint;
  plan.share = device.is_limit ? device.share
                               : std::min(margins::kMostOfDevice,
                                          options.safety_factor + margins::kSafetyAdded);
  plan.available = share_of(device, plan.share) - device.context - footprint.held();

  const Size one{1, graphs.largest.nodes, graphs.largest.edges};
  const Footprint of_one = footprint.at(one);
  const Size memory =
      with_rounding(footprint, bounds(footprint, graphs, plan.available), plan.available);
  const int64_t count = std::max<int64_t>(1, graphs.sum.graphs);
  const auto packs_of = [count](int64_t graphs_each) {
    return (count + std::max<int64_t>(1, graphs_each) - 1) / std::max<int64_t>(1, graphs_each);
  };
  const double mean_nodes = static_cast<double>(graphs.sum.nodes) / static_cast<double>(count);
  const double mean_edges = static_cast<double>(graphs.sum.edges) / static_cast<double>(count);
  int64_t each = std::min(options.batch_size, count);
  plan.binds = options.batch_size < count ? "batch_size" : "data";
  plan.batch = {options.batch_size, 0, 0};
  // A batch of exact size, too, is computed in parts where it has to be: down to one graph.
  const auto missing =
      static_cast<int64_t>(is_bound(device) ? unsure_of(of_one, one) + drift_of(device) : 0.0);
  plan.least = of_one.peak(one) + static_cast<int64_t>(std::ceil(unsure_of(of_one, one)));
  if (of_one.peak(one) - of_one.held() + missing > plan.available) {
    plan.footprint = of_one;
    does_not_fit(plan, one);
  }
  if (options.optimize) {
    // A graph unlike the others may exceed the bounds alone; it was seen to fit.
    plan.batch.nodes = std::max(memory.nodes, one.nodes);
    plan.batch.edges = std::max(memory.edges, one.edges);
    const int64_t fit = std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(plan.batch.nodes) / std::max(1.0, mean_nodes)));
    if (fit < each) {
      each = fit;
      plan.binds = "memory";
      plan.batch.graphs = std::min(options.batch_size, std::max<int64_t>(1, memory.graphs));
    }
    plan.min_packs = options.min_steps_per_epoch * options.accumulate;
    if (packs_of(each) < std::min(plan.min_packs, count)) {
      each = (count + plan.min_packs - 1) / plan.min_packs;  // as packs are made
      plan.binds = "min_steps_per_epoch";
    }
  }
  plan.packs = std::max(packs_of(each), std::min(plan.min_packs, count));
  plan.steps = (plan.packs + options.accumulate - 1) / std::max<int64_t>(1, options.accumulate);
  plan.expected = {each, static_cast<int64_t>(std::ceil(static_cast<double>(each) * mean_nodes)),
                   static_cast<int64_t>(std::ceil(static_cast<double>(each) * mean_edges))};
  plan.footprint = footprint.at(plan.expected);
  plan.largest = footprint.is_uneven ? largest_pack(plan, graphs) : plan.expected;
  plan.predicted = footprint.at(plan.largest).peak(plan.largest);
  return plan;
}

std::string MemoryPlan::line() const {
  const auto mb = [](double bytes) { return format_number("%.1f", bytes / kMiB); };
  const Footprint& f = footprint;
  const double activation = f.phases.empty() ? 0 : f.largest(expected).cost.of(expected);
  const auto graphs = static_cast<double>(std::max<int64_t>(1, expected.graphs));
  return "MemoryBudget(total=" + format_number("%.0f", static_cast<double>(device.total) / kMiB) +
         "MB static=" + mb(static_cast<double>(device.context + f.held())) +
         "MB [params=" + mb(static_cast<double>(f.parameters + f.weights_kept)) +
         " embed=" + mb(static_cast<double>(f.embeddings)) +
         " opt=" + mb(static_cast<double>(f.optimizer)) +
         " grad=" + mb(static_cast<double>(f.gradients)) +
         " teacher=" + mb(static_cast<double>(f.teacher)) + "] activation=" + mb(activation) +
         "MB per_graph=" + format_number("%.3f", f.input.of(expected) / graphs / kMiB) +
         "MB available=" + mb(static_cast<double>(available)) +
         "MB batch_size=" + std::to_string(expected.graphs) + " mode=" + f.mode + ")";
}

nlohmann::json MemoryPlan::json() const {
  const auto size = [](const Size& s) {
    return nlohmann::json{{"graphs", s.graphs}, {"nodes", s.nodes}, {"edges", s.edges}};
  };
  const auto cost = [](const Cost& c) {
    return nlohmann::json{
        {"fixed", c.fixed}, {"graph", c.graph}, {"node", c.node}, {"edge", c.edge}};
  };
  const Footprint& f = footprint;
  nlohmann::json phases = nlohmann::json::array();
  for (const Phase& phase : f.phases) {
    phases.push_back({{"name", phase.name},
                      {"bytes", static_cast<int64_t>(phase.cost.of(expected))},
                      {"cost", cost(phase.cost)}});
  }
  nlohmann::json components = nlohmann::json::array(), checks = nlohmann::json::array();
  for (const Phase& part : f.components) {
    components.push_back({{"name", part.name}, {"cost", cost(part.cost)}});
  }
  for (const Check& check : f.checks) {
    nlohmann::json one = size(check.size);
    one["counted"] = check.counted;
    one["measured"] = check.measured;
    checks.push_back(std::move(one));
  }
  nlohmann::json here = {{"name", device.name}, {"total", device.total}, {"share", share}};
  if (!device.bound.empty()) here["bound"] = device.bound;
  nlohmann::json table = {{"context", device.context},
                          {"parameters", f.parameters},
                          {"embeddings", f.embeddings},
                          {"gradients", f.gradients},
                          {"optimizer", f.optimizer},
                          {"weights_kept", f.weights_kept},
                          {"teacher", f.teacher},
                          {"input", static_cast<int64_t>(f.input.of(expected))},
                          {"step", f.phases.empty() ? 0 : f.peak(expected) - f.held()}};
  if (f.workspaces > 0) table["workspaces"] = f.workspaces;  // on a device
  return {{"line", line()},
          {"mode", f.mode},
          {"device", std::move(here)},
          {"table", std::move(table)},
          {"phases", std::move(phases)},
          {"components", std::move(components)},
          {"checks", std::move(checks)},
          {"available", available},
          {"bounds", size(batch)},
          {"batch", size(expected)},
          {"largest", size(largest)},
          {"binds", binds},
          {"packs", packs},
          {"min_packs", min_packs},
          {"steps", steps},
          {"predicted", predicted},
          {"least", least},
          {"probe_seconds", f.seconds},
          {"residual", f.residual},
          {"margin", f.margin}};
}

}  // namespace kdgat::memory
