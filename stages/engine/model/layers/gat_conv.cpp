#include "engine/model/layers/gat_conv.h"

#include <algorithm>

#include "engine/kernels/gat.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/count_plain.h"
#include "engine/model/layers/init.h"
#include "engine/model/layers/linear.h"
#include "kdgat/error.h"

namespace kdgat::model {

void require_heads(int64_t heads, int64_t channels) {
  if (heads < 1 || heads > kernels::isa::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kUsage, "attention with " + std::to_string(heads) + " heads of " +
                                      std::to_string(channels) + " channels: 1 to " +
                                      std::to_string(kernels::isa::kMaxHeads) +
                                      " heads are possible");
  }
}

GatConvImpl::GatConvImpl(int64_t inputs, int64_t channels, int64_t heads)
    : channels_(channels), heads_(heads) {
  require_heads(heads, channels);
  lin = register_module(
      "lin", torch::nn::Linear(torch::nn::LinearOptions(inputs, heads * channels).bias(false)));
  att_src = register_parameter("att_src", torch::empty({1, heads, channels}));
  att_dst = register_parameter("att_dst", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({heads * channels}));
  glorot(lin->weight);
  glorot(att_src);
  glorot(att_dst);
}

at::Tensor GatConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  return gat_attention(linear(x_NF, lin), att_src, att_dst, bias, batch);
}

at::Tensor gat_attention(const at::Tensor& h_NC, const at::Tensor& att_src,
                         const at::Tensor& att_dst, const at::Tensor& bias,
                         const kernels::BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const at::Tensor h = h_NC.to(att_src.scalar_type()).contiguous();
  return kernels::kernels_for<kernels::GatKernels>(h.device())
      .attention(h, att_src, att_dst, bias, batch);
}

namespace {

/// Nodes that the threads work on while gradients are made, and whether these are few enough that
/// gradients are written over what came in.
struct WorkRows {
  explicit WorkRows(const StepCount& step) {
    const KernelCounts& counts = step.counts;
    const FootprintOptions& options = step.options;
    const double each = counts.rows_of_thread == 0
                            ? 0
                            : counts.rows_of_thread + static_cast<double>(options.largest_graph);
    are_few = each <= counts.most_rows;
    if (!are_few) return;
    rows = each * static_cast<double>(options.threads);
    if (options.nodes > 0) rows = std::min(rows, static_cast<double>(options.nodes));
  }

  bool are_few = false;
  double rows = 0;
};

}  // namespace

Value GatConvImpl::count(StepCount& step, const Value& x, const Held&) const {
  Tape& tape = step.tape;
  const auto heads = static_cast<double>(heads_);
  const CountedProduct product = count_linear(step, x, lin);
  const Value& h = product.value;
  const std::vector<double> parameters = elements_of({att_src, att_dst, bias});
  if (step.is_plain()) {
    return plain_attention(tape, h, heads, 0, 0,
                           [&tape, parameters] { tape.parameters(parameters); });
  }
  Value out = tape.value(h.rows, h.width);
  const Held scores = tape.hold(floats(kNodes, 3 * heads));
  step.edges_by_source();
  const Held kept = step.counts.keeps_attention ? out.data : nullptr;
  tape.then(out, [&step, h, scores, kept, heads, parameters](const Held& grad_out) {
    Tape& tape = step.tape;
    const KernelCounts& counts = step.counts;
    const WorkRows work(step);
    const Held grad = work.are_few ? step.room_of(grad_out, h) : tape.hold(h.bytes()),
               rows = tape.hold(floats(kOnce, work.rows * h.width)),
               workspace = tape.hold(floats(kNodes, counts.scores_of_node * heads)),
               of_edges = tape.hold(floats(kEdges + kNodes, counts.scores_of_edge * heads)),
               partials = tape.hold(sums_of_blocks(counts.sums_of_block * h.width));
    tape.parameters(parameters);
    tape.pass(h, grad);
  });
  return out;
}

}  // namespace kdgat::model
