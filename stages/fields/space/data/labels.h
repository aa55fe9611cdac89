// Labels: what a CSV says of files or graphs, by name.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "engine/data/core/class_labels.h"
#include "engine/file/line_reader.h"
#include "fields/space/data/spatial_options.h"

namespace kdgat::space {

struct Label {
  std::string name;  ///< of the class; empty = none
  float target = std::numeric_limits<float>::quiet_NaN();
  mutable data::RowUse use{};
};

class Labels {
 public:
  Labels() = default;
  /// Names stand in the column `key`, "file" or "graph". A class column that is merely the default
  /// may be absent where there is a column of targets. Throws Error(kData) with file and line for a
  /// missing column, a name that stands twice and a target that is not a number. `notes`: columns
  /// that are not used.
  Labels(file::LineReader lines, const std::string& key, const SpatialOptions& options,
         data::Notes& notes);

  /// By the whole name, else by what follows its last slash; null = not listed.
  const Label* find(const std::string& name) const;
  /// Call behind the last graph.
  void report_unmet(const std::string& table, data::Notes& notes) const;

 private:
  std::map<std::string, Label> labels_;
};

}  // namespace kdgat::space
