#include "engine/export/onnx/onnx_detector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/export/onnx/onnx_graph.h"
#include "engine/export/onnx/onnx_network.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

using trees::TreeNode;

constexpr auto kColumns = static_cast<int64_t>(data::kRelativeColumns);

/// Of each node how far it stands from its root; the deepest.
int64_t depth_of(const trees::FlatTrees& forest) {
  std::vector<int64_t> depth(forest.nodes.size(), 0);
  int64_t deepest = 0;
  for (std::size_t i = 0; i < forest.nodes.size(); ++i) {  // children stand behind their parent
    const TreeNode& node = forest.nodes[i];
    deepest = std::max(deepest, depth[i]);
    if (node.is_leaf()) continue;
    for (const int32_t child : {node.left, node.left + 1}) {
      depth[static_cast<std::size_t>(child)] = depth[i] + 1;
    }
  }
  return deepest;
}

/// Every window goes down all trees at once, one split after another; in a leaf it stays.
std::string add_trees(OnnxGraph& g, const std::string& x, const std::string& windows,
                      const trees::BoostedTrees& model) {
  const trees::FlatTrees& forest = model.forest();
  const auto nodes = static_cast<int64_t>(forest.nodes.size());
  std::vector<int64_t> column, next, roots(forest.roots.begin(), forest.roots.end());
  std::vector<float> threshold, value;
  for (int64_t i = 0; i < nodes; ++i) {
    const TreeNode& node = forest.nodes[static_cast<std::size_t>(i)];
    column.push_back(node.is_leaf() ? 0 : node.column);
    next.push_back(node.is_leaf() ? i : node.left);
    threshold.push_back(node.is_leaf() ? std::numeric_limits<float>::max() : node.number);
    value.push_back(node.is_leaf() ? node.number : 0);
  }
  g.scope("trees");
  const std::string of_column = g.integers("trees.column", {nodes}, column),
                    of_next = g.integers("trees.next", {nodes}, next),
                    of_threshold = g.floats("trees.threshold", {nodes}, threshold),
                    of_value = g.floats("trees.value", {nodes}, value);
  const std::string count = g.row({forest.trees()});
  const std::string shape = g.op("Concat", {windows, count}, {{"axis", int64_t{0}}});
  std::string at = g.op("Expand", {g.integers("trees.root", {1, forest.trees()}, roots), shape});
  const auto look_up = [&](const std::string& table) { return g.op("Gather", {table, at}); };
  for (int64_t step = depth_of(forest); step > 0; --step) {
    const std::string seen =
        g.op("GatherElements", {x, look_up(of_column)}, {{"axis", int64_t{1}}});
    const std::string above = g.op("Greater", {seen, look_up(of_threshold)});
    const std::string right =
        g.op("Cast", {above}, {{"to", static_cast<int64_t>(OnnxType::kInt64)}});
    at = g.op("Add", {look_up(of_next), right});
  }
  const std::string sum =
      g.op("ReduceSum", {look_up(of_value), g.row({1})}, {{"keepdims", int64_t{0}}});
  return g.op("Add", {sum, g.number(static_cast<float>(model.base()))}, {}, "classifier");
}

/// See engine/decision/detector/tails.h: a table from the median to the 99th of 100, an exponential
/// tail beyond.
std::string add_tails(OnnxGraph& g, const std::string& x, const decision::Tails& tails) {
  const nlohmann::json columns = tails.json();
  std::size_t longest = 1;
  std::vector<int64_t> places, offsets;
  for (const nlohmann::json& one : columns) {
    if (one.at("values").empty()) continue;  // says nothing of any window
    places.push_back(one.at("column"));
    longest = std::max(longest, one.at("values").size());
  }
  g.scope("tails");
  if (places.empty()) {
    // As many zeros as there are windows.
    const std::string nothing = g.op("Mul", {x, g.number(0.0F)});
    return g.op("ReduceSum", {nothing, g.row({1})}, {{"keepdims", int64_t{0}}}, "tails");
  }
  const auto count = static_cast<int64_t>(places.size()), width = static_cast<int64_t>(longest);
  std::vector<float> values, rare, first, last, excess;
  for (const nlohmann::json& one : columns) {
    if (one.at("values").empty()) continue;
    const auto of = one.at("values").get<std::vector<float>>();
    const auto said = one.at("rare").get<std::vector<double>>();
    offsets.push_back(static_cast<int64_t>(rare.size()));
    rare.push_back(0);
    for (std::size_t i = 0; i < longest; ++i) {
      const bool is_there = i < of.size();
      values.push_back(is_there ? of[i] : std::numeric_limits<float>::max());
      rare.push_back(static_cast<float>(said[is_there ? i : said.size() - 1]));
    }
    first.push_back(of.front());
    last.push_back(of.back());
    excess.push_back(static_cast<float>(one.at("excess").get<double>() * std::log(10.0)));
  }
  constexpr float kMostRare = 30;
  const std::string seen =
      g.op("Gather", {x, g.integers("tails.column", {count}, places)}, {{"axis", int64_t{1}}});
  const std::string reached = g.op(
      "GreaterOrEqual",
      {g.op("Unsqueeze", {seen, g.row({2})}), g.floats("tails.value", {1, count, width}, values)});
  const std::string below =
      g.op("ReduceSum",
           {g.op("Cast", {reached}, {{"to", static_cast<int64_t>(OnnxType::kInt64)}}), g.row({2})},
           {{"keepdims", int64_t{0}}});
  const std::string said =
      g.op("Gather", {g.floats("tails.rare", {static_cast<int64_t>(rare.size())}, rare),
                      g.op("Add", {below, g.integers("tails.offset", {1, count}, offsets)})});
  const std::string beyond =
      g.op("Div", {g.op("Relu", {g.op("Sub", {seen, g.floats("tails.last", {1, count}, last)})}),
                   g.floats("tails.excess", {1, count}, excess)});
  const std::string odd =
      g.op("Cast", {g.op("Greater", {seen, g.floats("tails.first", {1, count}, first)})},
           {{"to", static_cast<int64_t>(OnnxType::kFloat)}});
  const std::string rarity =
      g.op("Mul", {g.op("Min", {g.op("Add", {said, beyond}), g.number(kMostRare)}), odd});
  std::string most;
  if (g.opset() >= 18) {
    most = g.op("ReduceMax", {rarity, g.row({1})}, {{"keepdims", int64_t{0}}});
  } else {
    most =
        g.op("ReduceMax", {rarity}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  }
  const auto all = static_cast<double>(std::max<std::size_t>(1, columns.size()));
  return g.op("Relu", {g.op("Sub", {most, g.number(static_cast<float>(std::log10(all)))})}, {},
              "tails");
}

/// Which windows have evidence, see engine/decision/detector/floors.h.
std::string add_floors(OnnxGraph& g, const std::string& x, const decision::Floors& floors) {
  std::vector<int64_t> columns;
  std::vector<float> least;
  for (const kdgat_floor& one : floors.all()) {
    columns.push_back(one.column);
    least.push_back(one.least);
  }
  const auto count = static_cast<int64_t>(columns.size());
  g.scope("evidence");
  const std::string seen =
      g.op("Gather", {x, g.integers("floors.column", {count}, columns)}, {{"axis", int64_t{1}}});
  const std::string reached =
      g.op("Cast", {g.op("GreaterOrEqual", {seen, g.floats("floors.least", {1, count}, least)})},
           {{"to", static_cast<int64_t>(OnnxType::kInt64)}});
  const std::string reasons = g.op("ReduceSum", {reached, g.row({1})}, {{"keepdims", int64_t{0}}});
  return g.op("Cast", {reasons}, {{"to", static_cast<int64_t>(OnnxType::kBool)}});
}

/// In which windows an id is missing, see decision::kMissing.
std::string add_missing(OnnxGraph& g, const std::string& x) {
  g.scope("missing");
  const std::string silence =
      g.op("Gather", {x, g.number(static_cast<int64_t>(data::Relative::kSilence))},
           {{"axis", int64_t{1}}});
  return g.op("GreaterOrEqual", {silence, g.number(decision::kMissing)});
}

std::string columns_text() {
  std::string out = "of each window";
  for (const std::string& name : data::relative_names())
    out += (out.size() > 14 ? ", " : ": ") + name;
  return out;
}

}  // namespace

std::string onnx_detector(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                          const std::string& hash, int opset) {
  if (opset != kOldestOpset && opset != kNewestOpset) {
    throw Error(ExitCode::kUsage, "no ONNX model is written for opset " + std::to_string(opset),
                "use opset 16 or 18; runtimes read models of older opsets than their own");
  }
  OnnxGraph g(opset);
  const std::string x = g.input({"x", OnnxType::kFloat, {"windows", kColumns}, columns_text()});
  const std::string windows = g.op("Slice", {g.op("Shape", {x}), g.row({0}), g.row({1})});
  const std::string classifier = add_trees(g, x, windows, model.classifier.trees());
  const std::string tails = add_tails(g, x, model.tails);
  const std::string evidence = add_floors(g, x, model.floors);
  const decision::Decision& decision = model.decision(vehicle.own);
  g.scope("score");
  const auto above = [&](const std::string& part, double threshold) {
    return g.op("Sub", {part, g.number(static_cast<float>(threshold))});
  };
  const std::string odd =
      g.op("Max", {above(classifier, decision.classifier),
                   g.op("Mul", {above(tails, decision.tails), g.number(std::log(10.0F))})});
  const std::string allowed = g.op("Where", {evidence, odd, g.op("Min", {odd, g.number(0.0F)})});
  const std::string missing = add_missing(g, x);
  const auto sure = static_cast<float>(decision::kSure * std::log(10.0));
  const std::string score =
      g.op("Where", {missing, g.op("Max", {allowed, g.number(sure)}), allowed}, {}, "score");
  g.output({classifier, OnnxType::kFloat, {"windows"}, "log-odds of an attack, by trees"});
  g.output({tails, OnnxType::kFloat, {"windows"}, "how rare the window is, in powers of ten"});
  g.output({score, OnnxType::kFloat, {"windows"}, "above 0 is flagged; see alarm_windows"});
  OnnxFacts facts;
  facts.graph_name = "detector";
  facts.doc =
      "Whether windows of a CAN bus are odd, by numbers that tell them from what is "
      "usual on the vehicle.";
  facts.producer = "kdgat";
  facts.producer_version = KDGAT_VERSION;
  facts.metadata = {{"kind", "detector"},
                    {"hash", hash},
                    {"vehicle", vehicle.name},
                    {"columns", nlohmann::json(data::relative_names()).dump()},
                    {"window", std::to_string(model.window)},
                    {"alarm_windows", std::to_string(model.alarm_rule.k)},
                    {"alarm_of", std::to_string(model.alarm_rule.n)},
                    {"threshold_classifier", format_number("%.17g", decision.classifier)},
                    {"threshold_tails", format_number("%.17g", decision.tails)},
                    {"evidence", model.floors.json().dump()}};
  return g.file(facts);
}

}  // namespace kdgat::exporting
