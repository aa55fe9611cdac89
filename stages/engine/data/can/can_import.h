// From CAN logs to the arrays of a graph store.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/data/can/can_options.h"
#include "engine/data/core/domain.h"

namespace kdgat::data {

/// The logs of `source`, see dataset_files.h. Throws Error(kData) if there are none.
std::shared_ptr<const DomainInput> can_input(const std::filesystem::path& source,
                                             const CanImportOptions& options, Notes& notes);

}  // namespace kdgat::data
