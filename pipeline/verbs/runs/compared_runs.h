// Runs that are compared, or groups of those that differ in the seed alone, and their tables.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/replicates.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/show/table_format.h"

namespace kdgat {

/// What is compared.
struct Compared {
  NamedRuns named;
  std::vector<Difference> options;
  std::vector<FigureRow> rows;
  std::vector<SeedGroup> groups;
  bool is_grouped = false;
};

/// The figures of `rows`, a column a run, or two a group: mean and deviation, and the difference to
/// the first group, paired by seed. In CSV all digits, each in a column of its own.
MarkedTable table_of(const Compared& all, const std::vector<const FigureRow*>& rows,
                     TableFormat format);

/// Options in which runs, or groups of them, differ.
std::string differences_text(const Compared& all);

}  // namespace kdgat
