#include "pipeline/data/data_tables.h"

#include <ostream>
#include <string>
#include <vector>

#include "engine/data/core/import.h"
#include "kdgat/text.h"
#include "pipeline/data/domains.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/record.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// What is shown of a store.
struct Inspected {
  json options, facts;
  static auto keys() {
    return std::tuple{key("options", &Inspected::options), key("facts", &Inspected::facts)};
  }
};

/// "window=100 stride=100 ..." without what no one sets.
std::string options_line(const json& options) {
  std::string out = "options";
  for (const auto& [key, value] : options.items()) {
    if (key != "input") out += " " + key + "=" + value_text(value);
  }
  return wrapped(out, 8);
}

std::string table_text(const data::DescribedTable& described) {
  Table table(Table::Align::kRightButFirst);
  for (const auto& row : described.rows) {
    if (row.is_heading) {
      table.add_heading(row.cells.front());
    } else {
      table.add(row.cells);
    }
  }
  return table.text();
}

void print(std::ostream& out, const data::Description& description, const json& result) {
  using Kind = data::Description::Kind;
  for (const auto& block : description.blocks) {
    if (block.kind == Kind::kText) out << block.text;
    if (block.kind == Kind::kTable) out << table_text(block.table);
    if (block.kind == Kind::kOptions) out << options_line(record::read<Inspected>(result).options);
  }
}

}  // namespace

void print_import(std::ostream& out, const json& result) {
  const auto& domain = *data::domain_of_facts(data::all_domains(), result);
  print(out, domain.wording().of_import(result), result);
}

void print_inspect(std::ostream& out, const json& result) {
  const auto& domain =
      *data::domain_of_facts(data::all_domains(), record::read<Inspected>(result).facts);
  print(out, domain.wording().of_store(result), result);
}

void print_inject(std::ostream& out, const json& result) {
  Table table(Table::Align::kRightButFirst);
  table.add({"file", "attacks", "rows", "attack rows", "added", "changed", "removed", "no room"});
  const auto written = record::read<InjectedFiles>(result);
  for (const InjectedFile& file : written.files) {
    std::vector<std::string> row = {written.folder + "/" + file.file};
    for (const int64_t count : {file.attacks, file.rows, file.attack_rows, file.added, file.changed,
                                file.removed, file.no_room}) {
      row.push_back(grouped(count));
    }
    table.add(std::move(row));
  }
  out << table.text();
}

}  // namespace kdgat
