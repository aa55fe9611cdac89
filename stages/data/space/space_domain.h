// The domain "space": graphs whose nodes have positions, as neurons and the segments of images. No
// LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& space_domain();

/// What is printed of an import, and of a store.
Description describe_space_import(const nlohmann::json& result);
Description describe_space_store(const nlohmann::json& result);
/// "1,000 trees, 8 classes", "1 graph (without labels)".
std::string space_headline(const nlohmann::json& facts);

}  // namespace kdgat::graph
