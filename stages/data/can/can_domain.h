// The domain "can": logs of a car's CAN bus, windows of which are graphs. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& can_domain();

/// What is printed of an import, and of a store.
Description describe_can_import(const nlohmann::json& result);
Description describe_can_store(const nlohmann::json& result);
/// "1,000 windows (12 attack)", "1,000 windows (without labels)".
std::string can_headline(const nlohmann::json& facts);

}  // namespace kdgat::graph
