#include "engine/objective/footprint.h"

#include <algorithm>

#include "engine/objective/distillation.h"
#include "engine/objective/number_objective.h"

namespace kdgat::objective {
namespace {

using memory::Footprint;
using model::FootprintOptions;
using model::StepCount;

void count(StepCount& step, const model::GraphAutoencoderImpl& model) {
  step.batch(model.config().node_features, step.options.edge_features);
  const model::VgaeCount output = model.count(step);
  if (step.options.distilling) {
    AutoencoderDistillation::count_distance(step, output, step.options.teacher_latent);
  }
  AutoencoderObjective::count(step, model, output);
}

void count(StepCount& step, const model::GraphClassifierImpl& model) {
  step.batch(model.config().node_features,
             model.reads_edges() ? model.config().edge_features : step.options.edge_features);
  const memory::Value logits = model.count(step);
  step.tape.enter("the loss");
  if (step.options.distilling) ClassifierDistillation::count_distance(step, logits);
  if (model.config().regression) {
    NumberObjective::count(step, logits);
  } else {
    ClassifierObjective::count(step, logits);
  }
}

/// Of a step of options.nodes, or of any size.
template <class Model>
Footprint counted(const Model& model, const FootprintOptions& options) {
  StepCount step(options);
  count(step, *model);
  int64_t buffers = 0, tables = 0;
  for (const at::Tensor& t : model->buffers()) buffers += static_cast<int64_t>(t.nbytes());
  if (const auto& table = model->input->embedding) {
    tables = static_cast<int64_t>(table->weight.nbytes());
  }
  return step.finish(buffers, tables);
}

/// Threads work on groups of rows, of which few nodes make one, not a full one; and products of few
/// rows are others. So a step of a size is counted anew.
template <class Model>
Footprint of_any_size(const Model& model, const FootprintOptions& options) {
  Footprint out = counted(model, options);
  if (options.nodes > 0) return out;
  const auto of_size = [model, options](const memory::Size& size) {
    FootprintOptions exact = options;
    exact.nodes = std::max<int64_t>(1, size.nodes);
    return counted(model, exact);
  };
  out.recount = [of_size](const memory::Size& size) { return of_size(size).phases; };
  if (out.rounding) {
    out.rounding = [of_size](const memory::Size& size, const memory::OtherBlocks& others) {
      return of_size(size).rounding(size, others);
    };
  }
  return out;
}

template <class Model>
Footprint with_alternatives(const Model& model, FootprintOptions options) {
  Footprint out = of_any_size(model, options);
  if (!options.checkpointing) {
    options.checkpointing = true;
    out.alternatives.push_back({"gradient_checkpointing=true", of_any_size(model, options)});
  }
  return out;
}

}  // namespace

Footprint footprint(const model::GraphAutoencoder& model, const FootprintOptions& options) {
  return with_alternatives(model, options);
}
Footprint footprint(const model::GraphClassifier& model, const FootprintOptions& options) {
  return with_alternatives(model, options);
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

}  // namespace kdgat::objective
