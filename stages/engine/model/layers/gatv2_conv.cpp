#include "engine/model/layers/gatv2_conv.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/gat.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/count_plain.h"
#include "engine/model/layers/init.h"
#include "engine/model/layers/linear.h"

namespace kdgat::model {

GatV2ConvImpl::GatV2ConvImpl(int64_t inputs, int64_t channels, int64_t heads, int64_t edge_features)
    : channels_(channels), heads_(heads) {
  require_heads(heads, channels);
  const int64_t width = heads * channels;
  lin_l = register_module("lin_l", torch::nn::Linear(inputs, width));
  lin_r = register_module("lin_r", torch::nn::Linear(inputs, width));
  lin_edge = register_module(
      "lin_edge", torch::nn::Linear(torch::nn::LinearOptions(edge_features, width).bias(false)));
  att = register_parameter("att", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({width}));
  for (const at::Tensor& t : {lin_l->weight, lin_r->weight, lin_edge->weight, att}) glorot(t);
}

at::Tensor GatV2ConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  return gatv2_attention(linear(x_NF, lin_l), linear(x_NF, lin_r), lin_edge->weight, att, bias,
                         batch);
}

at::Tensor gatv2_attention(const at::Tensor& l_NC, const at::Tensor& r_NC,
                           const at::Tensor& lin_edge, const at::Tensor& att,
                           const at::Tensor& bias, const kernels::BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const kernels::FullPrecision exact;
  const at::Tensor l = l_NC.to(att.scalar_type()).contiguous();
  const at::Tensor r = r_NC.to(att.scalar_type()).contiguous();
  // No kernel has a gradient of the features of edges.
  const kernels::GatKernels& kernels = batch.edge_attr_ED.requires_grad()
                                           ? kernels::GatKernels::plain()
                                           : kernels::kernels_for<kernels::GatKernels>(l.device());
  return kernels.attention_v2(l, r, lin_edge, att, bias, batch);
}

Value GatV2ConvImpl::count(StepCount& step, const Value& x, const Held& attr) const {
  Tape& tape = step.tape;
  const KernelCounts& counts = step.counts;
  const auto heads = static_cast<double>(heads_),
             d = static_cast<double>(lin_edge->options.in_features());
  const CountedProduct targets = count_linear(step, x, lin_r),
                       sources = count_linear(step, x, lin_l);
  const Value &r = targets.value, &l = sources.value;
  const std::vector<double> parameters = elements_of({lin_edge->weight, att, bias});
  if (step.is_plain()) {
    return plain_attention(tape, l, heads, 2, d, [&tape, r, parameters] {
      tape.give(r);
      tape.parameters(parameters);
    });
  }
  const Held weight = tape.hold(floats(kOnce, parameters.front()));
  const Held loops = tape.hold(floats(kNodes, counts.loop_features * d));
  const Held alpha = tape.hold(floats(kNodes + kEdges, heads));
  step.edges_by_source();
  Value out = tape.value(l.rows, l.width);
  const double rows_of_block = counts.rows_of_block ? l.width + d : 0;
  tape.hold(sums_of_blocks(rows_of_block));
  tape.then(out, [&step, l, r, attr, weight, loops, alpha, kept = out.data, heads, d, parameters,
                  rows_of_block](const Held&) {
    Tape& tape = step.tape;
    const KernelCounts& counts = step.counts;
    const Cost edges = kEdges + kNodes, of_sums = counts.sums2_of_edges ? edges : kNodes;
    const Held grad_l = tape.hold(l.bytes()), grad_r = tape.hold(r.bytes()),
               of_nodes = tape.hold(floats(kNodes, counts.scores2_of_node * heads)),
               of_edges = tape.hold(floats(edges, counts.scores2_of_edge * heads)),
               work = tape.hold(sums_of_blocks(rows_of_block)),
               partials = tape.hold(sums_of_blocks((counts.sums2_of_block + d) * l.width, of_sums));
    tape.parameters(parameters);
    tape.pass(l, grad_l);
    tape.pass(r, grad_r);
  });
  return out;
}

}  // namespace kdgat::model
