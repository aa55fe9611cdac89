// What stages that train no model of their own share: threads and memory.
#pragma once

#include <c10/core/Device.h>

#include "engine/model/config/trained_model.h"
#include "kdgat/stage.h"

namespace kdgat::setup {

/// train::prepare(), train::limit_memory() and train::log_kernels() of a stage without options of
/// training.
c10::Device prepare_scoring(const Request& request, const Host& host);

}  // namespace kdgat::setup
