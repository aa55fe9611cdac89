#include "fields/space/data/labels.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/core/class_labels.h"
#include "engine/data/core/feature_columns.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::space {

Labels::Labels(file::LineReader lines, const std::string& key, const SpatialOptions& options,
               data::Notes& notes) {
  file::CsvReader table(std::move(lines));
  const std::size_t name = table.require(key);
  std::optional<std::size_t> label = table.find(options.label_name()), target;
  const bool may_lack = !options.target_column.empty() && !options.names_label();
  if (!label && !may_lack) label = table.require(options.label_name());
  if (!options.target_column.empty()) target = table.require(options.target_column);
  data::report_unused_columns(table, {name, label, target}, notes, true);
  std::vector<std::string> names, places;
  while (table.next()) {
    Label one;
    if (label) one.name = table.field(*label);
    names.push_back(one.name);
    places.push_back(table.where());
    if (target && !table.field(*target).empty() && table.field(*target) != "nan") {
      one.target = table.number(*target);
    }
    if (!labels_.emplace(table.filled(name), std::move(one)).second) {
      throw Error(ExitCode::kData, "'" + table.field(name) + "' appears twice", "", table.where());
    }
  }
  if (!label || target) return;  // with numbers to be predicted, the classes are not used
  const std::string column = file::shown(table.header()[*label]);
  const std::string hint = "for numbers to be predicted: data.target_column=" + column;
  data::require_classes(names, {column, [&](std::size_t row) { return places[row]; }, hint});
}

const Label* Labels::find(const std::string& name) const {
  auto found = labels_.find(name);
  if (found == labels_.end()) found = labels_.find(name.substr(name.rfind('/') + 1));
  if (found == labels_.end()) return nullptr;
  found->second.use.add(name);
  return &found->second;
}

void Labels::report_unmet(const std::string& table, data::Notes& notes) const {
  data::report_row_uses_of(table, labels_, notes);
}

}  // namespace kdgat::space
