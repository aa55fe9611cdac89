// Options of imports of labelled graphs.
#pragma once

#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/import_options.h"
#include "engine/data/core/labelled_files.h"
#include "kdgat/options.h"

namespace kdgat::data {

/// All options that matter to labelled graphs.
struct GraphsOptions : SharedOptions, LabelledFiles {
  bool undirected = false;
  bool attributes = true;
  std::string task = kTasks[0];

  static constexpr const char* kTasks[] = {"auto", "classes", "regression"};

  static auto table() {
    using O = GraphsOptions;
    return std::tuple_cat(
        std::tuple{format_row()}, split_rows(), fold_rows(),
        std::tuple{field("undirected", &O::undirected,
                         "Graphs: an edge that has no reverse gets one, with its features."),
                   field("attributes", &O::attributes,
                         "TUDataset: the numbers of nodes and edges, beside their labels."),
                   field("task", &O::task,
                         "Graphs: whether labels are classes or numbers to be predicted "
                         "(regression). auto: numbers if one is not whole, or there are too many "
                         "to be classes.")
                       .choices({std::begin(kTasks), std::end(kTasks)}),
                   label_row(), largest_member_row()});
  }

  std::vector<Diagnostic> validate() const { return fold_problems(); }
};

}  // namespace kdgat::data
