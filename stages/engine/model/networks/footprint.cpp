#include "engine/model/networks/footprint.h"

#include "engine/model/networks/footprint_layers.h"

namespace kdgat::model {
namespace {

struct VgaeValues {
  Value features, z, mean, logvar;
  Held wanted;  ///< features as they enter, where they are not those of the batch
};

VgaeValues forward(LayerStep& step, const VgaeConfig& config) {
  Tape& tape = step.tape;
  const auto latent = static_cast<double>(config.latent_dim);
  VgaeValues out;
  Value h = config.has_ids
                ? step.input(config, config.num_ids, config.node_features, config.embedding_dim)
                : step.features(config, config.node_features);
  if (!config.has_ids) out.wanted = h.data;
  std::vector<int64_t> widths = config.hidden_dims;
  if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    tape.enter("encoder " + std::to_string(i));
    h = step.block(h, widths[i], i == 0 ? config.heads : 1, config.norm);
  }
  tape.enter("the latent layer");
  out.mean = step.linear(h, latent).value;
  out.logvar = step.elementwise(step.linear(h, latent).value, Keeps::kInput);
  {
    tape.hold(kNodes * (4.5 * kFloat * latent));  // Box and Muller: uniforms, radius, angle, ...
    const Held noise = tape.hold(kNodes * (kFloat * latent));
    const Value half = step.elementwise(out.logvar, Keeps::kNothing);
    const Value deviation = step.elementwise(half, Keeps::kResult);
    const Value product = tape.value(kNodes, latent);
    tape.then(product, [&tape, deviation = deviation.without_data(), noise](const Held&) {
      tape.give(deviation);
    });
    out.z = tape.value(kNodes, latent);
    tape.then(out.z, [&tape, mean = out.mean.without_data(),
                      product = product.without_data()](const Held& grad) {
      tape.pass(mean, grad);
      tape.pass(product, grad);
    });
  }
  tape.enter("the decoder");
  constexpr int64_t kDecoderHeads = 4;
  const Value decoded = step.block(out.z, widths.back(), kDecoderHeads, config.norm);
  out.features = step.attention(decoded, config.features(), 1);
  if (config.has_ids) out.features = step.elementwise(out.features, Keeps::kResult);
  return out;
}

void loss(LayerStep& step, const VgaeConfig& config, const VgaeValues& output) {
  Tape& tape = step.tape;
  step.distance(output.features, output.wanted);
  if (config.has_ids) {
    tape.enter("the identifier head");
    step.head(output.z, config.num_ids);
  }
  tape.enter("the neighbour head");
  const Value hidden = step.perceptron(output.z, 3, false);
  if (config.has_ids) {
    step.head(hidden, config.num_ids);
  } else {
    const auto features = static_cast<double>(config.features());
    const Value said = step.linear_of_libtorch(hidden, features).value;
    step.distance(said, step.neighbour_mean(features));
  }
  tape.enter("the divergence");  // 1 + logvar - mean^2 - exp(logvar), all at once
  const Value& mean = output.mean;
  const Value one = tape.value(kNodes, mean.width);
  tape.then(one, [&tape, logvar = output.logvar.without_data()](const Held& grad) {
    tape.pass(logvar, grad);
  });
  const Value square = tape.value(kNodes, mean.width);
  tape.then(square, [&tape, mean](const Held&) {
    const Held power = tape.hold(mean.bytes()), twice = tape.hold(mean.bytes());
    tape.give(mean);
  });
  const Value difference = tape.value(kNodes, mean.width);
  tape.then(difference,
            [&tape, one = one.without_data(), square = square.without_data()](const Held& grad) {
              tape.pass(one, grad);
              tape.give(square);
            });
  const Value variance = step.elementwise(output.logvar, Keeps::kResult);
  const Value sum = tape.value(kNodes, mean.width);
  tape.then(sum, [&tape, difference = difference.without_data(),
                  variance = variance.without_data()](const Held& grad) {
    tape.pass(difference, grad);
    tape.give(variance);
  });
  tape.then(step.term(), [&tape, sum = sum.without_data()](const Held& grad) {
    tape.pass(sum, grad);  // one number for all
  });
}

Value pool(LayerStep& step, const GatConfig& config) {
  Tape& tape = step.tape;
  const bool reads_edges = config.conv == "gatv2";
  const Held attr = reads_edges ? step.edges(config, config.edge_features) : nullptr;
  Value h = config.has_ids
                ? step.input(config, config.num_ids, config.node_features, config.embedding_dim)
                : step.features(config, config.node_features);
  std::vector<Value> states;
  for (int64_t i = 0; i < config.layers; ++i) {
    tape.enter("layer " + std::to_string(i));
    h = step.checkpoint(h, [&step, &config, attr, reads_edges](const Value& x) {
      if (config.is_plain() && config.norm == "batch" && step.has_whole_layers()) {
        return step.gin_layer(x, config.hidden, config.conv == "gin");
      }
      const Value out =
          config.is_plain() ? step.gin(x, config.hidden, config.conv == "gin", config.norm)
          : reads_edges     ? step.attention_with_edges(x, attr, config.hidden, config.heads,
                                                        config.edge_features)
                            : step.attention(x, config.hidden, config.heads);
      return config.norm == "none" ? step.relu_dropout(out, !reads_edges)
                                   : step.norm_relu_dropout(out, config.norm);
    });
    if (config.norm == "batch") step.running_statistics(static_cast<double>(config.width()));
    states.push_back(config.jk == "lstm" ? h : step.pool(h, config.pooling));
  }
  tape.enter(config.jk == "lstm" ? "the LSTM" : "the perceptron");
  if (config.jk == "lstm") return step.pool(step.lstm(states), config.pooling);
  Value joined = tape.value(kGraphs, h.width * static_cast<double>(states.size()));
  tape.then(joined, [&tape, states = LayerStep::without_data(states)](const Held& grad) {
    for (const Value& state : states) tape.pass(state, grad);
  });
  return joined;
}

/// Of a step of options.nodes, or of any size.
Footprint counted(const VgaeConfig& config, const FootprintOptions& options) {
  LayerStep step(options);
  step.batch(config.node_features, options.edge_features);
  {
    const VgaeValues output = forward(step, config);
    Held latents, features;
    if (options.distilling) {
      step.tape.enter("distillation");
      const auto latent = static_cast<double>(options.teacher_latent);
      latents = step.tape.hold(kNodes * (kFloat * latent));
      features = step.tape.hold(output.features.bytes());
      const bool same = options.teacher_latent == config.latent_dim;
      const Value z = same ? output.z : step.linear_of_libtorch(output.z, latent).value;
      step.distance(z, latents);
      step.distance(output.features, features);
    }
    loss(step, config, output);
  }
  return step.finish();
}

Footprint counted(const GatConfig& config, const FootprintOptions& options) {
  LayerStep step(options);
  Tape& tape = step.tape;
  step.batch(config.node_features,
             config.conv == "gatv2" ? config.edge_features : options.edge_features);
  {
    const Value pooled = pool(step, config);
    const Value logits = step.linear(step.perceptron(pooled, config.fc_layers, true),
                                     static_cast<double>(config.classes))
                             .value;
    tape.enter("the loss");
    const Held labels = tape.hold(kGraphs * kLong);
    if (options.distilling) tape.hold(kGraphs * (8 * logits.width * kFloat));  // both, softened
    const Value logarithm = step.elementwise(logits, Keeps::kResult);
    tape.then(step.term(), [&tape, logarithm, labels](const Held&) { tape.give(logarithm); });
  }
  return step.finish();
}

/// Threads work on groups of rows, of which few nodes make one, not a full one; and products of few
/// rows are others. So a step of a size is counted anew.
template <class Config>
Footprint of_any_size(const Config& config, const FootprintOptions& options) {
  Footprint out = counted(config, options);
  if (options.nodes > 0) return out;
  const auto of_size = [config, options](const memory::Size& size) {
    FootprintOptions exact = options;
    exact.nodes = std::max<int64_t>(1, size.nodes);
    return counted(config, exact);
  };
  out.recount = [of_size](const memory::Size& size) { return of_size(size).phases; };
  if (out.rounding) {
    out.rounding = [of_size](const memory::Size& size, const memory::OtherBlocks& others) {
      return of_size(size).rounding(size, others);
    };
  }
  return out;
}

}  // namespace

Footprint footprint(const VgaeConfig& config, const FootprintOptions& options) {
  return of_any_size(config, options);
}
Footprint footprint(const GatConfig& config, const FootprintOptions& options) {
  return of_any_size(config, options);
}

FootprintOptions footprint_options(const memory::StepForm& form, bool distilling, int64_t threads,
                                   kernels::KernelSet kernels, int64_t largest_graph) {
  FootprintOptions out;
  out.largest_graph = largest_graph;
  out.precision = form.precision;
  out.checkpointing = form.gradient_checkpointing;
  out.accumulating = form.accumulates();
  out.distilling = distilling;
  out.threads = threads;
  out.kernels = kernels;
  return out;
}

}  // namespace kdgat::model
