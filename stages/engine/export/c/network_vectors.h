// Frames and what the native engine finds in them, for check.c.
#pragma once

#include <memory>
#include <string>

#include "engine/decision/stream/window_network.h"
#include "engine/export/c/network_c.h"
#include "engine/native/networks.h"

namespace kdgat::exporting {

/// vectors.h: made-up traffic of the model's ids and of others, with clocks that stand still and
/// run back, of some windows. `network` computes at the portable level.
std::string network_vectors(const decision::WindowNetwork& windows, const NetworkCOptions& options,
                            std::unique_ptr<native::GraphNetwork> network);

}  // namespace kdgat::exporting
