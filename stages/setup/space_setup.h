// What stages that train on graphs in space ask of a data set.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "train/data_set.h"

namespace kdgat::train {

/// open_data() of graphs in space; Error(kData) for others.
Data open_spatial_data(const std::filesystem::path& folder);
/// Of the facts of a store, before it is opened.
void require_spatial(const nlohmann::json& graph_facts);

/// Median length of the edges of the graphs `ids`; 1 where they have none or of no length.
double median_edge_length(const graph::GraphStore& store, const std::vector<int64_t>& ids);

int64_t count_parameters(const torch::nn::Module& module);

/// In the place of KdOptions where there is nothing to distil.
struct NoTeacher {
  bool use_kd = false;
  std::string teacher;
};

}  // namespace kdgat::train
