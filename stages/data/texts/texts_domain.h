// The domain "texts": documents with labels; their graph joins documents and words. No LibTorch.
#pragma once

#include "data/domain.h"

namespace kdgat::graph {

const Domain& texts_domain();

/// What is printed of an import, and of a store.
Description describe_texts_import(const nlohmann::json& result);
Description describe_texts_store(const nlohmann::json& result);
/// "7,674 documents, 8 classes, 7,688 words".
std::string texts_headline(const nlohmann::json& facts);

}  // namespace kdgat::graph
