// What a training step of a pocket encoder holds, counted from its shapes.
#pragma once

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/step_form.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace kdgat::molecules {

/// `trained`: all that is trained and kept, `encoder` among it, which the footprint holds.
memory::Footprint footprint(const PocketEncoder& encoder, const memory::StepForm& form,
                            const PocketSizes& sizes, const torch::nn::Module& trained);

}  // namespace kdgat::molecules
