// Labels of graphs that cannot be names of classes: numbers to be predicted.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/data/core/note.h"

namespace kdgat::data {

/// Where labels come from, for messages.
struct LabelPlace {
  std::string name;                               ///< "label", "y"
  std::function<std::string(std::size_t)> where;  ///< of a label: "graphs.csv:7"
  std::string hint =
      "numbers to be predicted (regression) are not supported; a label is the number or "
      "name of a class";
  std::string of = "graphs";  ///< what has the labels
};

/// Throws Error(kData) if all labels are numbers and one is not whole, or `checks_count` and there
/// are at least half as many labels, more than a few, as graphs: no class has graphs to learn from.
/// Empty labels are none.
void require_classes(const std::vector<std::string>& labels, const LabelPlace& place,
                     bool checks_count = true);

/// Notes those of the rows of a table of labels that no graph has.
void report_unmet_labels(const std::string& table, const std::vector<std::string>& names,
                         Notes& notes);

}  // namespace kdgat::data
