// Footprint of a training step: a network and its loss count themselves (step_count.h), as they run
// with the kernels of a device.
#pragma once

#include <cstdint>

#include "engine/memory/memory_plan.h"
#include "engine/memory/step_form.h"
#include "engine/model/layers/step_count.h"
#include "engine/model/networks/gat.h"
#include "engine/model/networks/vgae.h"

namespace kdgat::objective {

/// Static mode; teacher = 0. `margin` is what tests hold it to. With gradient checkpointing as an
/// alternative where the step has none. The footprint holds the model.
memory::Footprint footprint(const model::GraphAutoencoder& model,
                            const model::FootprintOptions& options);
memory::Footprint footprint(const model::GraphClassifier& model,
                            const model::FootprintOptions& options);

model::FootprintOptions footprint_options(const memory::StepForm& form, bool distilling,
                                          int64_t threads, kernels::KernelSet kernels,
                                          int64_t largest_graph);

}  // namespace kdgat::objective
