#include "engine/export/c/network_code.h"

#include <algorithm>
#include <utility>

#include "engine/export/c/c_tables.h"
#include "engine/model/config/config.h"
#include "engine/native/layers.h"
#include "kdgat/error.h"

namespace kdgat::exporting {

namespace {

constexpr int64_t kNodeTile = 4;

std::string number_of(int64_t value) { return std::to_string(value); }

/// Writes the calls one after another and notes what they need.
class CodeWriter {
 public:
  CodeWriter(native::Weights& weights, const GraphBounds& most, bool int8)
      : tables_(weights, int8), most_(most) {
    code_.macros = {{"KDGAT_INT8", int8},      {"KDGAT_STANDARDISE", 0}, {"KDGAT_EDGE_FEATURES", 0},
                    {"KDGAT_ATTENTION", 1},    {"KDGAT_GRAPH_NORM", 0},  {"KDGAT_JUMPING_LSTM", 0},
                    {"KDGAT_RECONSTRUCTS", 0}, {"KDGAT_HEADS", 1},       {"KDGAT_LAYERS", 1},
                    {"KDGAT_COLUMNS", 0}};
  }

  NetworkCode classifier(const model::GatConfig& config);
  NetworkCode autoencoder(const model::VgaeConfig& config);
  void ids(const std::vector<int64_t>& ids) {
    tables_.ids(ids);
    set("KDGAT_IDS", std::ssize(ids));
  }

 private:
  void set(const std::string& macro, int64_t value) { code_.macros[macro] = value; }
  void at_least(const std::string& macro, int64_t value) {
    code_.macros[macro] = std::max(code_.macros[macro], value);
  }
  void call(const std::string& text) { code_.function += "  " + text + ";\n"; }
  void array(const std::string& name, int64_t count, const std::string& comment) {
    code_.arrays.push_back({name, "[" + number_of(count) + "]", count, comment});
  }
  /// Room in u.values.
  void share(int64_t count) { code_.shared = std::max(code_.shared, count); }

  void input(const model::InputForm& form, int64_t num_ids, int64_t features, int64_t width,
             int64_t edge_features);
  /// to = from through the layer, of all nodes or of one row.
  void linear(const std::string& layer, int64_t inputs, int64_t outputs, const std::string& from,
              const std::string& to, bool of_nodes);
  /// Attention of the first kind; the states it works on go to u.values.
  void attention(const std::string& name, int64_t inputs, int64_t channels, int64_t heads,
                 const std::string& from, const std::string& to);
  void second_attention(const std::string& name, int64_t inputs, int64_t channels, int64_t heads,
                        const std::string& from, const std::string& to);
  void relu(const std::string& at, const std::string& count);
  void graph_norm(const std::string& name, int64_t columns, const std::string& at);
  void batch_norm(const std::string& name, int64_t columns, const std::string& at);
  void mean(const std::string& from, int64_t columns, const std::string& to);
  void jumping(int64_t layers, int64_t width, const std::vector<std::string>& states);
  void perceptron(const std::string& name, int64_t width, int64_t layers);
  NetworkCode finish();

  CTables tables_;
  GraphBounds most_;
  NetworkCode code_;
  std::string before_;  // functions ahead of kdgat_network()
  int64_t heads_ = 0;   // room for scores of nodes
};

void CodeWriter::input(const model::InputForm& form, int64_t num_ids, int64_t features,
                       int64_t width, int64_t edge_features) {
  native::Weights& weights = tables_.weights();
  set("KDGAT_EMBEDDING", width);
  set("KDGAT_NODE_FEATURES", features - 1);
  set("KDGAT_EDGE_FEATURES", edge_features);
  tables_.embedding(native::embedding_table(weights, form, num_ids, width), num_ids, width);
  if (!form.standardise) return;
  set("KDGAT_STANDARDISE", 1);
  tables_.floats("node_mean", weights.floats("input.node_mean", {features - 1}));
  tables_.floats("node_scale", weights.floats("input.node_scale", {features - 1}));
  if (edge_features == 0) return;
  tables_.floats("edge_mean", weights.floats("input.edge_mean", {edge_features}));
  tables_.floats("edge_scale", weights.floats("input.edge_scale", {edge_features}));
}

void CodeWriter::linear(const std::string& layer, int64_t inputs, int64_t outputs,
                        const std::string& from, const std::string& to, bool of_nodes) {
  call("kdgat_linear(s, &" + layer + ", " + from + ", " + (of_nodes ? "s->nodes" : "1") + ", " +
       to + ")");
  code_.multiply_adds += (of_nodes ? most_.nodes : 1) * inputs * outputs;
}

void CodeWriter::attention(const std::string& name, int64_t inputs, int64_t channels, int64_t heads,
                           const std::string& from, const std::string& to) {
  const int64_t width = heads * channels;
  const std::vector<int64_t> shape = {1, heads, channels};
  const std::string layer = tables_.linear(name + ".lin", inputs, width, false);
  linear(layer, inputs, width, from, "s->u.values", true);
  share(most_.nodes * width);
  call("kdgat_attention(s, s->u.values, " + tables_.tensor(name + ".att_src", shape) + ", " +
       tables_.tensor(name + ".att_dst", shape) + ", " + tables_.tensor(name + ".bias", {width}) +
       ", " + number_of(heads) + ", " + number_of(channels) + ", " + to + ")");
  at_least("KDGAT_HEADS", heads);
  heads_ = std::max(heads_, heads);
  code_.multiply_adds += (2 * most_.nodes + most_.rows + most_.nodes) * width;
}

void CodeWriter::second_attention(const std::string& name, int64_t inputs, int64_t channels,
                                  int64_t heads, const std::string& from, const std::string& to) {
  const int64_t width = heads * channels, features = code_.macros["KDGAT_EDGE_FEATURES"];
  linear(tables_.linear(name + ".lin_l", inputs, width), inputs, width, from, "s->u.values", true);
  linear(tables_.linear(name + ".lin_r", inputs, width), inputs, width, from, "s->right", true);
  share(most_.nodes * width);
  const std::vector<float> transposed = native::transposed(
      tables_.weights().floats(name + ".lin_edge.weight", {width, features}), width, features);
  call("kdgat_attention(s, s->u.values, s->right, " +
       tables_.floats(name + ".lin_edge", transposed) + ", " +
       tables_.tensor(name + ".att", {1, heads, channels}) + ", " +
       tables_.tensor(name + ".bias", {width}) + ", " + number_of(heads) + ", " +
       number_of(channels) + ", " + to + ")");
  at_least("KDGAT_HEADS", heads);
  code_.multiply_adds += (most_.rows + most_.nodes) * width * (features + 2);
}

void CodeWriter::relu(const std::string& at, const std::string& count) {
  call("kdgat_relu(" + at + ", " + count + ")");
}

void CodeWriter::graph_norm(const std::string& name, int64_t columns, const std::string& at) {
  call("kdgat_graph_norm(s, " + at + ", " + number_of(columns) + ", " +
       tables_.tensor(name + ".weight", {columns}) + ", " +
       tables_.tensor(name + ".bias", {columns}) + ", " +
       tables_.tensor(name + ".mean_scale", {columns}) + ")");
  set("KDGAT_GRAPH_NORM", 1);
  at_least("KDGAT_COLUMNS", columns);
}

void CodeWriter::batch_norm(const std::string& name, int64_t columns, const std::string& at) {
  const auto [gain, shift] = native::settled_norm(tables_.weights(), name, columns);
  call("kdgat_scale_relu(" + at + ", s->nodes, " + number_of(columns) + ", " +
       tables_.floats(name + ".gain", gain) + ", " + tables_.floats(name + ".shift", shift) + ")");
}

void CodeWriter::mean(const std::string& from, int64_t columns, const std::string& to) {
  call("kdgat_mean_rows(" + from + ", s->nodes, " + number_of(columns) + ", " + to + ")");
}

/// One or two functions ahead: the LSTM over the layers of each node, whose joined states are
/// pooled.
void CodeWriter::jumping(int64_t layers, int64_t width, const std::vector<std::string>& states) {
  const int64_t units = layers * width / 2, gates = 4 * units;
  const auto direction = [&](const std::string& end) {
    const std::string stem = "jk.lstm.";
    return std::pair(tables_.linear("kdgat_jk_in_" + end, stem + "weight_ih_" + end,
                                    stem + "bias_ih_" + end, width, gates),
                     tables_.linear("kdgat_jk_again_" + end, stem + "weight_hh_" + end,
                                    stem + "bias_hh_" + end, units, gates));
  };
  const auto forward = direction("l0"), reverse = direction("l0_reverse");
  const std::string att = tables_.linear("jk.att", 2 * units, 1);
  std::string text =
      "\n/* Jumping knowledge: an LSTM reads the layers of each node, forwards and back. */\n"
      "static void kdgat_jumping(kdgat_state* s, float* pooled) {\n"
      "  const float* states[KDGAT_LAYERS];\n"
      "  float scores[KDGAT_LAYERS];\n"
      "  int n, r, c, l;\n"
      "  for (c = 0; c < @W; ++c) pooled[c] = 0.0f;\n"
      "  for (n = 0; n < s->nodes; n += KDGAT_NODE_TILE) {\n"
      "    const int rows = s->nodes - n < KDGAT_NODE_TILE ? s->nodes - n : KDGAT_NODE_TILE;\n";
  for (int64_t l = 0; l < layers; ++l) {
    text += "    states[" + number_of(l) + "] = " + states[static_cast<std::size_t>(l)] +
            " + n * @W;\n";
  }
  text += "    kdgat_lstm_read(s, &" + forward.first + ", &" + forward.second +
          ", states, rows, 0);\n    kdgat_lstm_read(s, &" + reverse.first + ", &" + reverse.second +
          ", states, rows, 1);\n"
          "    for (r = 0; r < rows; ++r) {\n"
          "      for (l = 0; l < KDGAT_LAYERS; ++l) {\n"
          "        kdgat_linear(s, &" +
          att +
          ", s->u.lstm.said[l] + r * 2 * KDGAT_UNITS, 1, scores + l);\n"
          "      }\n"
          "      kdgat_lstm_join(states, r * @W, scores, KDGAT_LAYERS, @W, s->u.lstm.joined);\n"
          "      for (c = 0; c < @W; ++c) pooled[c] += s->u.lstm.joined[c];\n"
          "    }\n"
          "  }\n"
          "  for (c = 0; c < @W; ++c) pooled[c] *= 1.0f / (float)s->nodes;\n"
          "}\n";
  for (std::size_t at = 0; (at = text.find("@W", at)) != text.npos;) {
    text.replace(at, 2, number_of(width));
  }
  before_ += text;
  call("kdgat_jumping(s, s->pooled)");
  set("KDGAT_JUMPING_LSTM", 1);
  set("KDGAT_LAYERS", layers);
  set("KDGAT_NODE_TILE", kNodeTile);
  set("KDGAT_UNITS", units);
  set("KDGAT_WIDTH", width);
  share(kNodeTile * (2 * gates + 2 * units + layers * 2 * units) + width);
  code_.multiply_adds += most_.nodes * layers * (2 * gates * (width + units) + 2 * units);
}

/// Linear layers with ReLU between them, of one row in s->pooled.
void CodeWriter::perceptron(const std::string& name, int64_t width, int64_t layers) {
  std::string from = "s->pooled", to = "s->u.values";
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t outputs = i + 1 < layers ? width : 2;
    const std::string layer = tables_.linear(name + "." + number_of(3 * i), width, outputs);
    linear(layer, width, outputs, from, to, false);
    share(outputs);
    if (i + 1 < layers) relu(to, number_of(outputs));
    std::swap(from, to);
  }
  call("return " + from + "[1] - " + from + "[0]");
}

NetworkCode CodeWriter::classifier(const model::GatConfig& config) {
  const int64_t width = config.hidden * config.heads, layers = config.layers;
  const bool is_second = config.conv == "gatv2", joins = config.jk == "lstm";
  if (is_second) set("KDGAT_ATTENTION", 2);
  input(config, config.num_ids, config.node_features, config.embedding_dim,
        is_second ? config.edge_features : 0);
  int64_t inputs = config.embedding_dim + config.node_features - 1;
  const int64_t pooled = joins ? width : width * layers;
  std::vector<std::string> states;
  std::string x = "s->nodes_in";
  call("kdgat_build_graph(s, s->nodes_in)");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = number_of(i);
    // All of an LSTM's states are kept; else one takes the place of the layer's input.
    const bool is_last = i + 1 == layers;
    const std::string to = joins && !is_last ? "s->state" + name : "s->nodes_in";
    if (joins && !is_last) array("state" + name, most_.nodes * width, "of layer " + name);
    is_second ? second_attention("convs." + name, inputs, config.hidden, config.heads, x, to)
              : attention("convs." + name, inputs, config.hidden, config.heads, x, to);
    if (config.norm == "graph") {
      graph_norm("norms." + name, width, to);
    } else {
      relu(to, "s->nodes * " + number_of(width));
    }
    if (!joins) mean(to, width, "s->pooled + " + number_of(i * width));
    states.push_back(to);
    x = to;
    inputs = width;
  }
  if (joins) jumping(layers, width, states);
  perceptron("head", pooled, config.fc_layers);
  array("nodes_in", most_.nodes * std::max(config.embedding_dim + config.node_features - 1, width),
        "what a layer reads and writes, of each node");
  array("pooled", std::max<int64_t>(pooled, 2), "over the nodes");
  if (is_second) {
    const int64_t features = config.edge_features;
    array("right", most_.nodes * width, "nodes as targets");
    array("sum", width, "of source, target and edge");
    array("weight", (most_.nodes + 1) * config.heads + 3, "of the edges into one node");
    code_.arrays.push_back({"edges", "[" + number_of(most_.rows) + "][" + number_of(features) + "]",
                            most_.rows * features, "features"});
  }
  code_.is_probability = true;
  return finish();
}

NetworkCode CodeWriter::autoencoder(const model::VgaeConfig& config) {
  constexpr int64_t kDecoderHeads = 4;
  const int64_t features = config.node_features - 1;
  input(config, config.num_ids, config.node_features, config.embedding_dim, 0);
  set("KDGAT_RECONSTRUCTS", 1);
  std::vector<int64_t> widths = config.hidden_dims;
  if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
  int64_t width = config.embedding_dim + features, widest = width;
  call("kdgat_build_graph(s, s->nodes_in)");
  const auto block = [&](const std::string& name, int64_t outputs, int64_t heads,
                         const std::string& from) {
    const int64_t channels = outputs % heads == 0 ? outputs / heads : outputs;
    attention(name + ".conv", width, channels, heads, from, "s->nodes_in");
    width = channels * heads;
    widest = std::max(widest, width);
    config.norm == "graph" ? graph_norm(name + ".norm", width, "s->nodes_in")
                           : batch_norm(name + ".norm", width, "s->nodes_in");
  };
  for (std::size_t i = 0; i < widths.size(); ++i) {
    block("encoder." + std::to_string(i), widths[i], i == 0 ? config.heads : 1, "s->nodes_in");
  }
  linear(tables_.linear("mean", width, config.latent_dim), width, config.latent_dim, "s->nodes_in",
         "s->latent", true);
  array("latent", most_.nodes * config.latent_dim, "of each node");
  width = config.latent_dim;
  block("decoder", widths.back(), kDecoderHeads, "s->latent");
  attention("output", width, features, 1, "s->nodes_in", "s->nodes_in");
  call("return kdgat_error(s, s->nodes_in)");
  array("nodes_in", most_.nodes * std::max(widest, features),
        "what a layer reads and writes, of each node");
  code_.arrays.push_back({"wanted", "[" + number_of(most_.nodes) + "][" + number_of(features) + "]",
                          most_.nodes * features, "the nodes' features"});
  return finish();
}

NetworkCode CodeWriter::finish() {
  if (heads_ > 0) {
    array("as_source", most_.nodes * heads_, "scores of the nodes");
    array("as_target", most_.nodes * heads_, "the same of them as targets");
  }
  if (const int64_t columns = code_.macros["KDGAT_COLUMNS"]; columns > 0) {
    array("columns", 3 * columns, "mean, gain and shift of each column");
  }
  if (code_.macros["KDGAT_INT8"] != 0) {
    array("panel", 8 * tables_.widest(), "weights of 8 outputs as floats");
  }
  code_.function =
      before_ + "\nstatic float kdgat_network(kdgat_state* s) {\n" + code_.function + "}\n";
  code_.tables = tables_.text();
  code_.table_bytes = tables_.bytes();
  code_.rounded = tables_.rounded();
  code_.rounded_embedding = tables_.rounded_embedding();
  return std::move(code_);
}

}  // namespace

NetworkCode network_code(const file::SafetensorsFile& file, const model::ModelHeader& header,
                         const std::vector<int64_t>& ids, const GraphBounds& most, bool int8) {
  native::Weights weights(file);
  CodeWriter writer(weights, most, int8);
  writer.ids(ids);
  return header.name == "gat" ? writer.classifier(header.config.get<model::GatConfig>())
                              : writer.autoencoder(header.config.get<model::VgaeConfig>());
}

}  // namespace kdgat::exporting
