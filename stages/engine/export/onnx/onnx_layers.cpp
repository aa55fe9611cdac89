#include "engine/export/onnx/onnx_layers.h"

#include <cmath>
#include <limits>

namespace kdgat::exporting {
namespace {

using Ints = std::vector<int64_t>;

constexpr float kSlope = 0.2F;      // of the leaky ReLU of scores, as published
constexpr float kClip = 10;         // deviations
constexpr float kEps = 1e-5F;       // of either norm
constexpr float kSoftness = 8;      // of the upper bound of scores; see attention()
constexpr float kLeastPower = -80;  // whose exponential is a number, not 0

OnnxAttribute of(int64_t value) { return value; }

}  // namespace

std::span<const float> OnnxLayers::values(const std::string& name) const {
  return file_.tensor(name).as<float>();
}

std::string OnnxLayers::weight(const std::string& name) {
  return g_.floats(name, file_.tensor(name).shape, values(name));
}

std::string OnnxLayers::numbers(const std::string& name, const std::vector<float>& values) {
  return g_.floats(name, {std::ssize(values)}, values);
}

std::string OnnxLayers::scattered(const std::string& to, const std::string& index,
                                  const std::string& rows, int64_t columns,
                                  const std::string& reduction) {
  // The operator wants an index for each element.
  std::string& indices = expanded_[index + " " + std::to_string(columns)];
  if (indices.empty()) {
    const std::string count = g_.op("Shape", {index});
    const std::string shape = g_.op("Concat", {count, g_.row({columns})}, {{"axis", of(0)}});
    indices = g_.op("Expand", {g_.op("Unsqueeze", {index, g_.row({1})}), shape});
  }
  return g_.op("ScatterElements", {to, indices, rows}, {{"axis", of(0)}, {"reduction", reduction}});
}

std::string OnnxLayers::zeros(const std::string& rows, int64_t columns) {
  std::string& made = zeros_[rows + " " + std::to_string(columns)];
  if (made.empty()) {
    made =
        g_.op("ConstantOfShape", {g_.op("Concat", {rows, g_.row({columns})}, {{"axis", of(0)}})});
  }
  return made;
}

// ---- what comes in

void OnnxLayers::inputs(int64_t node_features, int64_t edge_features, bool has_ids) {
  edge_features_ = edge_features;
  has_ids_ = has_ids;
  x_ = g_.input({"x",
                 OnnxType::kFloat,
                 {"nodes", node_features},
                 std::string("features of nodes, as a graph store has them") +
                     (has_ids ? "; column 0 is the vocabulary index" : "")});
  const std::string edge_index =
      g_.input({"edge_index",
                OnnxType::kInt64,
                {int64_t{2}, "edges"},
                "source and target of each edge, numbers of nodes in this batch, in any order; no "
                "self-loops are to be added, those that are there are left out"});
  if (edge_features > 0) {
    edge_attr_ = g_.input({"edge_attr",
                           OnnxType::kFloat,
                           {"edges", edge_features},
                           "features of edges, in the order of edge_index"});
  }
  batch_ = g_.input({"batch",
                     OnnxType::kInt64,
                     {"nodes"},
                     "number of each node's graph, from 0; there are max(batch) + 1 graphs"});

  g_.scope("edges");
  const std::string any_source = rows_at(edge_index, g_.number(int64_t{0}));
  const std::string any_target = rows_at(edge_index, g_.number(int64_t{1}));
  const std::string is_kept = g_.op("Not", {g_.op("Equal", {any_source, any_target})});
  const auto kept = [&](const std::string& rows) {
    return g_.op("Compress", {rows, is_kept}, {{"axis", of(0)}});
  };
  source_ = kept(any_source);
  target_ = kept(any_target);
  if (edge_features > 0) edge_attr_ = kept(edge_attr_);

  g_.scope("graphs");
  nodes_ = g_.op("Shape", {batch_});
  // With a -1 in front, the maximum of no nodes is that.
  const std::string graph_of = g_.op("Concat", {g_.row({-1}), batch_}, {{"axis", of(0)}});
  graphs_ = add(g_.op("ReduceMax", {graph_of}, {{"keepdims", of(1)}}), g_.row({1}));
  const std::string ones =
      g_.op("Expand", {g_.number(1.0F), g_.op("Concat", {nodes_, g_.row({1})}, {{"axis", of(0)}})});
  nodes_of_graph_ = g_.op("Max", {scattered(zeros(graphs_, 1), batch_, ones, 1), g_.number(1.0F)});
}

std::string OnnxLayers::table_of(const model::InputForm& form, int64_t num_ids, int64_t width) {
  if (form.id_embedding != "hashed") return weight("input.embedding.weight");
  // Added up here, in the order in which the network adds them.
  const std::span<const float> rows = values("input.embedding.weight");
  const std::span<const int64_t> bucket = file_.tensor("input.bucket").as<int64_t>();
  const std::size_t columns = static_cast<std::size_t>(width);
  const std::size_t hashes = bucket.size() / static_cast<std::size_t>(num_ids);
  std::vector<float> table(static_cast<std::size_t>(num_ids) * columns);
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    const float* from = rows.data() + static_cast<std::size_t>(bucket[i]) * columns;
    float* to = table.data() + i / hashes * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] += from[c];
  }
  return g_.floats("input.embedding.by_id", {num_ids, width}, table);
}

std::string OnnxLayers::standardised(const std::string& of, const std::string& x) {
  const std::string off = g_.op("Sub", {x, weight("input." + of + "_mean")});
  return g_.op("Clip",
               {times(off, weight("input." + of + "_scale")), g_.number(-kClip), g_.number(kClip)});
}

std::string OnnxLayers::embedded(const model::InputForm& form, int64_t num_ids, int64_t width) {
  g_.scope("input");
  std::string vectors;
  features_ = x_;
  if (has_ids_) {
    const std::string number =
        g_.op("Cast", {g_.op("Gather", {x_, g_.number(int64_t{0})}, {{"axis", of(1)}})},
              {{"to", of(static_cast<int64_t>(OnnxType::kInt64))}});
    vectors = rows_at(table_of(form, num_ids, width), number);
    features_ = g_.op(
        "Slice", {x_, g_.row({1}), g_.row({std::numeric_limits<int64_t>::max()}), g_.row({1})});
  }
  std::string entering = features_;
  if (form.standardise) {
    entering = standardised("node", features_);
    if (edge_features_ > 0) edge_attr_ = standardised("edge", edge_attr_);
  }
  return has_ids_ ? g_.op("Concat", {vectors, entering}, {{"axis", of(1)}}) : entering;
}

// ---- linear layers

std::string OnnxLayers::linear(const std::string& name, const std::string& x, bool has_bias) {
  std::vector<std::string> inputs = {x, weight(name + ".weight")};
  if (has_bias) inputs.push_back(weight(name + ".bias"));
  return g_.op("Gemm", inputs, {{"transB", of(1)}});
}

std::string OnnxLayers::perceptron(const std::string& name, std::string x, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    const std::string one = name + "." + std::to_string(3 * i);
    g_.scope(one);
    x = linear(one, x);
    if (i + 1 < layers) x = relu(x);
  }
  return x;
}

// ---- attention

std::string OnnxLayers::head_scores(const std::string& x, const std::string& att) {
  return g_.op("ReduceSum", {times(x, weight(att)), g_.row({-1})}, {{"keepdims", of(0)}});
}

const std::string& OnnxLayers::loop_features() {
  if (!loop_attr_.empty()) return loop_attr_;
  const std::string edges = g_.op("Shape", {target_});
  const std::string ones =
      g_.op("Expand", {g_.number(1.0F), g_.op("Concat", {edges, g_.row({1})}, {{"axis", of(0)}})});
  const std::string count = scattered(zeros(nodes_, 1), target_, ones, 1);
  const std::string sum =
      scattered(zeros(nodes_, edge_features_), target_, edge_attr_, edge_features_);
  loop_attr_ = g_.op("Div", {sum, g_.op("Max", {count, g_.number(1.0F)})});
  return loop_attr_;
}

std::string OnnxLayers::upper_bound(const std::string& own, const std::string& edge,
                                    int64_t heads) {
  if (g_.opset() >= 18) return scattered(own, target_, edge, heads, "max");
  const std::string top = g_.op("ReduceMax", {g_.op("Concat", {own, edge}, {{"axis", of(0)}})},
                                {{"axes", Ints{0}}, {"keepdims", of(1)}});
  const auto soft = [&](const std::string& scores) {
    const std::string power = times(g_.op("Sub", {scores, top}), g_.number(1 / kSoftness));
    return g_.op("Exp", {g_.op("Max", {power, g_.number(kLeastPower)})});
  };
  const std::string sum = scattered(soft(own), target_, soft(edge), heads);
  return add(top, times(g_.op("Log", {sum}), g_.number(kSoftness)));
}

std::string OnnxLayers::attended(const std::string& values, const std::string& own,
                                 const std::string& edge, int64_t channels, int64_t heads) {
  const std::string bound = upper_bound(own, edge, heads);
  const auto power = [&](const std::string& scores, const std::string& top) {
    const std::string below = g_.op("Sub", {scores, top});
    if (g_.opset() >= 18) return g_.op("Exp", {below});
    return g_.op("Exp", {g_.op("Max", {below, g_.number(kLeastPower)})});
  };
  const std::string of_own = power(own, bound);
  const std::string of_edge = power(edge, rows_at(bound, target_));
  const std::string sum = scattered(of_own, target_, of_edge, heads);
  const auto weighted = [&](const std::string& rows, const std::string& weights) {
    const std::string by_head = times(rows, g_.op("Unsqueeze", {weights, g_.row({-1})}));
    return g_.op("Reshape", {by_head, g_.row({0, heads * channels})});
  };
  const std::string from_own = weighted(values, g_.op("Div", {of_own, sum}));
  const std::string from_edge =
      weighted(rows_at(values, source_), g_.op("Div", {of_edge, rows_at(sum, target_)}));
  return scattered(from_own, target_, from_edge, heads * channels);
}

std::string OnnxLayers::attention(const std::string& name, const std::string& x, int64_t channels,
                                  int64_t heads) {
  g_.scope(name);
  const auto by_head = [&](const std::string& rows) {
    return g_.op("Reshape", {rows, g_.row({0, heads, channels})});
  };
  const auto leaky = [&](const std::string& scores) {
    return g_.op("LeakyRelu", {scores}, {{"alpha", kSlope}});
  };
  std::string out;
  if (edge_features_ == 0) {
    const std::string h = by_head(linear(name + ".lin", x, false));
    const std::string source = head_scores(h, name + ".att_src");
    const std::string target = head_scores(h, name + ".att_dst");
    out = attended(h, leaky(add(source, target)),
                   leaky(add(rows_at(source, source_), rows_at(target, target_))), channels, heads);
  } else {
    const std::string l = linear(name + ".lin_l", x), r = linear(name + ".lin_r", x);
    const auto scores = [&](const std::string& from, const std::string& to,
                            const std::string& attr) {
      const std::string sum = add(add(from, to), linear(name + ".lin_edge", attr, false));
      return head_scores(by_head(leaky(sum)), name + ".att");
    };
    out = attended(by_head(l), scores(l, r, loop_features()),
                   scores(rows_at(l, source_), rows_at(r, target_), edge_attr_), channels, heads);
  }
  return add(out, weight(name + ".bias"));
}

// ---- sums

std::string OnnxLayers::gin(const std::string& name, const std::string& x, int64_t inputs,
                            int64_t columns, bool has_messages, const std::string& norm) {
  g_.scope(name);
  std::string sums = x;
  if (has_messages) {
    const std::string own = times(x, g_.number(1 + values(name + ".eps")[0]));
    sums = scattered(own, target_, rows_at(x, source_), inputs);
  }
  const std::string hidden =
      norm_relu(norm, name + ".norm", linear(name + ".lin_1", sums), columns);
  return linear(name + ".lin_2", hidden);
}

// ---- norms

std::string OnnxLayers::norm_relu(const std::string& norm, const std::string& name,
                                  const std::string& x, int64_t columns) {
  if (norm == "batch") return batch_norm_relu(name, x, columns);
  return norm == "graph" ? graph_norm_relu(name, x, columns) : relu(x);
}

std::string OnnxLayers::batch_norm_relu(const std::string& name, const std::string& x,
                                        int64_t columns) {
  g_.scope(name);
  const std::span<const float> gain = values(name + ".weight"), bias = values(name + ".bias"),
                               mean = values(name + ".running_mean"),
                               variance = values(name + ".running_var");
  std::vector<float> by(static_cast<std::size_t>(columns)), plus(by.size());
  for (std::size_t c = 0; c < by.size(); ++c) {
    by[c] = gain[c] / std::sqrt(variance[c] + kEps);
    plus[c] = bias[c] - mean[c] * by[c];
  }
  return relu(add(times(x, numbers(name + ".gain", by)), numbers(name + ".shift", plus)));
}

std::string OnnxLayers::graph_norm_relu(const std::string& name, const std::string& x,
                                        int64_t columns) {
  g_.scope(name);
  const std::string mean = times(mean_pool(x, columns), weight(name + ".mean_scale"));
  const std::string off = g_.op("Sub", {x, rows_at(mean, batch_)});
  const std::string variance = mean_pool(times(off, off), columns);
  const std::string deviation = g_.op("Sqrt", {add(variance, g_.number(kEps))});
  const std::string gain = g_.op("Div", {weight(name + ".weight"), deviation});
  return relu(add(times(off, rows_at(gain, batch_)), weight(name + ".bias")));
}

std::string OnnxLayers::mean_pool(const std::string& x, int64_t columns) {
  const std::string sum = scattered(zeros(graphs_, columns), batch_, x, columns);
  return g_.op("Div", {sum, nodes_of_graph_});
}

std::string OnnxLayers::pool(const std::string& pooling, const std::string& x, int64_t columns) {
  if (pooling == "mean") return mean_pool(x, columns);
  return scattered(zeros(graphs_, columns), batch_, x, columns, pooling == "max" ? "max" : "add");
}

// ---- jumping knowledge

std::string OnnxLayers::jumping_lstm(const std::string& name,
                                     const std::vector<std::string>& states, int64_t channels) {
  g_.scope(name);
  const int64_t units = std::ssize(states) * channels / 2;
  // PyTorch's gates stand in the order i f g o, those of ONNX i o f c.
  const auto reordered = [&](std::vector<float>& to, const std::string& tensor, int64_t columns) {
    const std::span<const float> from = values(name + ".lstm." + tensor);
    const auto block = static_cast<std::size_t>(units * columns);
    for (const std::size_t gate : {0, 3, 1, 2}) {
      const std::span<const float> rows = from.subspan(gate * block, block);
      to.insert(to.end(), rows.begin(), rows.end());
    }
  };
  std::vector<float> in, again, bias;
  for (const std::string end : {"l0", "l0_reverse"}) {
    reordered(in, "weight_ih_" + end, channels);
    reordered(again, "weight_hh_" + end, units);
    reordered(bias, "bias_ih_" + end, 1);
    reordered(bias, "bias_hh_" + end, 1);
  }
  std::vector<std::string> steps;
  steps.reserve(states.size());
  for (const std::string& state : states) {
    steps.push_back(g_.op("Unsqueeze", {state, g_.row({0})}));
  }
  const std::string sequence = g_.op("Concat", steps, {{"axis", of(0)}});  // [layers, N, channels]
  const std::string said =  // [layers, directions, N, units]
      g_.op("LSTM",
            {sequence, g_.floats(name + ".lstm.W", {2, 4 * units, channels}, in),
             g_.floats(name + ".lstm.R", {2, 4 * units, units}, again),
             g_.floats(name + ".lstm.B", {2, 8 * units}, bias)},
            {{"direction", std::string("bidirectional")}, {"hidden_size", of(units)}});
  const std::string side_by_side =
      g_.op("Reshape",
            {g_.op("Transpose", {said}, {{"perm", Ints{0, 2, 1, 3}}}), g_.row({0, 0, 2 * units})});
  const std::string att = g_.op("Transpose", {weight(name + ".att.weight")});
  const std::string scores = add(g_.op("MatMul", {side_by_side, att}), weight(name + ".att.bias"));
  const std::string weights = g_.op("Softmax", {scores}, {{"axis", of(0)}});
  return g_.op("ReduceSum", {times(sequence, weights), g_.row({0})}, {{"keepdims", of(0)}});
}

}  // namespace kdgat::exporting
