// What stages that also learn labelled graphs share.
#pragma once

#include <cstdint>
#include <string>

#include "engine/graph/graph_store.h"

namespace kdgat::setup {

/// Throws Error(kData), "`why`: that takes two classes, these graphs have C", for other than two.
void require_two_classes(const std::string& why, int64_t classes);

/// Throws Error(kUsage): nodes of labelled graphs have no identifiers.
[[noreturn]] void refuse_id_embedding(const std::string& id_embedding);

/// The stage that scores with a model of such graphs; "" = score, that of windows of logs.
std::string scoring_stage(const graph::GraphStore& store);

}  // namespace kdgat::setup
