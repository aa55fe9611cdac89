// What the classifier stage does alike for classes and for numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/graph/graph_store.h"
#include "engine/model/networks/gat.h"
#include "kdgat/stage.h"

namespace kdgat::classifier {

/// What a network of labelled graphs drops of their edges, said to the host: nothing in silence.
/// A network without edges is there to be compared with, and says nothing.
void say_what_is_dropped(const model::GatForm& form, int64_t edge_features, const Host& host);
/// Throws Error(kUsage) if the network needs features of edges and there are none.
void require_edge_features(const model::GatForm& form, int64_t edge_features);

/// Fits what a network knows of its training graphs `ids`.
void fit_to(model::GraphClassifierImpl& model, const graph::GraphStore& store,
            const std::vector<int64_t>& ids);
/// Sizes of a network, by option.
nlohmann::json widths_of(const model::GatConfig& config);

}  // namespace kdgat::classifier
