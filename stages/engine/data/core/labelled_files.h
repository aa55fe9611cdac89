// Options of domains whose graphs are files, alone or in archives, with their labels in a table.
#pragma once

#include <cstdint>
#include <string>

#include "engine/data/core/import_options.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct LabelledFiles : LabelOptions {
  std::string labels;
  int64_t largest_member_mb = 1024;

  static auto labels_row() {
    return field("labels", &LabelledFiles::labels,
                 "Graphs in space, molecules: CSV of labels, by file or graph; found by itself as "
                 "labels.csv.");
  }
  static auto largest_member_row() {
    return field("largest_member_mb", &LabelledFiles::largest_member_mb,
                 "Archives: a file inside that is larger, in MiB, is refused.")
        .range(1, 1 << 20)
        .runtime();
  }
};

}  // namespace kdgat::data
