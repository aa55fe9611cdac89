// The domain "ratings": users rate items; their graph joins the two. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& ratings_domain();

/// What is printed of an import, and of a store.
Description describe_ratings_import(const nlohmann::json& result);
Description describe_ratings_store(const nlohmann::json& result);
/// "100,000 ratings of 1,682 items by 943 users".
std::string ratings_headline(const nlohmann::json& facts);

}  // namespace kdgat::graph
