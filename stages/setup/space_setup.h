// What stages that train on graphs in space ask of a data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "train/data_set.h"

namespace kdgat::setup {

/// train::open_data() of graphs in space; Error(kData) for others.
train::Data open_spatial_data(const std::filesystem::path& folder);
/// Of the facts of a store, before it is opened.
void require_spatial(const nlohmann::json& graph_facts);

/// Median length of the edges of the graphs `ids`; 1 where they have none or of no length.
double median_edge_length(const graph::GraphStore& store, const std::vector<int64_t>& ids);

}  // namespace kdgat::setup
