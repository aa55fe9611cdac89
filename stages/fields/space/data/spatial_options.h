// Options of imports of graphs in space.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/import_options.h"
#include "engine/data/core/labelled_files.h"
#include "kdgat/options.h"

namespace kdgat::space {

struct SpatialOptions : data::LabelledFiles {
  std::string target_column;
  std::vector<std::string> repair;
  std::string normalise = "none";
  int64_t subtrees = 0;
  int64_t min_nodes = 64;
  int64_t max_nodes = 256;
  int64_t subtree_seed = 1;
  int64_t neighbours = 8;
  bool standardise = true;

  static auto table() {
    using O = SpatialOptions;
    return std::tuple{
        labels_row(),
        label_row(),
        field("target_column", &O::target_column, "Its column of numbers to be predicted."),
        field("repair", &O::repair,
              "SWC faults to mend: keep the largest tree, make nodes without their parent roots, "
              "radius 0 for a bad one, keep the first of an id.")
            .choices({"roots", "parents", "radius", "duplicates"}),
        field("normalise", &O::normalise,
              "SWC: graph_source divides lengths by the median edge of their file.")
            .choices({"none", "graph_source"}),
        field("subtrees", &O::subtrees,
              "SWC: about so many subtrees, cut at branch points, instead of whole neurons.")
            .range(0, 1 << 24),
        field("min_nodes", &O::min_nodes, "Smallest subtree.").range(1, 1 << 24),
        field("max_nodes", &O::max_nodes, "Largest subtree.").range(1, 1 << 24),
        field("subtree_seed", &O::subtree_seed, "Seed of which subtrees are taken."),
        field("neighbours", &O::neighbours, "Points: edges to so many nearest others.")
            .range(1, 1024),
        field("standardise", &O::standardise,
              "Points: features with mean 0 and deviation 1 in each graph."),
        largest_member_row()};
  }

  std::vector<Diagnostic> validate() const {
    if (min_nodes <= max_nodes) return {};
    return {{"", "min_nodes is larger than max_nodes", ""}};
  }
};

/// All options that matter to graphs in space.
struct SpatialImportOptions : data::SharedOptions, SpatialOptions {
  static auto table() {
    return std::tuple_cat(std::tuple{format_row()}, split_rows(), fold_rows(),
                          SpatialOptions::table());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = SpatialOptions::validate();
    for (Diagnostic& problem : fold_problems()) problems.push_back(std::move(problem));
    return problems;
  }
};

}  // namespace kdgat::space
