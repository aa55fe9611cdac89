// Labels of graphs that cannot be names of classes: numbers to be predicted.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
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

/// Whether labels are numbers to be predicted: all are numbers, and one is not whole, or
/// `checks_count` and they are too many to be classes, as require_classes() has it. Empty labels
/// are none.
bool are_targets(const std::vector<std::string>& labels, bool checks_count);

/// Throws Error(kData) if all labels are numbers and one is not whole, or `checks_count` and there
/// are at least half as many labels, more than a few, as graphs: no class has graphs to learn from.
/// Empty labels are none.
void require_classes(const std::vector<std::string>& labels, const LabelPlace& place,
                     bool checks_count = true);

/// The use of a row of a table of labels whose name may lack the folders of the file it is of.
struct RowUse {
  std::string by;  ///< name of the first graph that asked for the row; empty: none did
  bool is_shared = false;

  void add(const std::string& name) {
    is_shared |= !by.empty() && by != name;
    if (by.empty()) by = name;
  }
};

/// Notes the rows of a table of labels that no graph has, and those that files of several folders
/// have. `uses`: by the name in the row.
void report_row_uses(const std::string& table, const std::map<std::string, RowUse>& uses,
                     Notes& notes);
/// The same of a map of rows, each with its `use`.
template <class Rows>
void report_row_uses_of(const std::string& table, const Rows& rows, Notes& notes) {
  std::map<std::string, RowUse> uses;
  for (const auto& [name, row] : rows) uses.emplace(name, row.use);
  report_row_uses(table, uses, notes);
}

}  // namespace kdgat::data
