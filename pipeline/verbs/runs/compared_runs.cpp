#include "pipeline/verbs/runs/compared_runs.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "pipeline/run/plan.h"
#include "pipeline/show/table.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// In CSV all digits.
std::string digits(const std::optional<double>& value) { return value ? json(*value).dump() : ""; }

MarkedTable begin_table() {
  MarkedTable out;
  out.columns = {"figure", "step", "part"};
  out.texts = out.columns.size();
  return out;
}

std::vector<MarkedCell>& begin_row(MarkedTable& table, const FigureRow& row, bool is_csv) {
  const Figure& f = row.figure;
  return table.rows.emplace_back(
      std::vector<MarkedCell>{{is_csv ? f.name : f.label}, {f.model}, {f.part}});
}

MarkedTable table_of_runs(const Compared& all, const std::vector<const FigureRow*>& rows,
                          TableFormat format) {
  const bool is_csv = format == TableFormat::kCsv;
  MarkedTable out = begin_table();
  for (const RunRecord& run : all.named.runs) out.columns.push_back(short_run(run.id));
  for (const FigureRow* row : rows) {
    std::vector<MarkedCell>& cells = begin_row(out, *row, is_csv);
    const std::vector<bool> best = best_values(row->figure, row->values);
    for (std::size_t i = 0; i < row->values.size(); ++i) {
      const auto& value = row->values[i];
      const std::string text = !value   ? ""
                               : is_csv ? digits(value)
                                        : figure_text(row->figure, *value);
      cells.emplace_back(text, best[i]);
    }
  }
  return out;
}

MarkedTable table_of_groups(const Compared& all, const std::vector<const FigureRow*>& rows,
                            TableFormat format) {
  const bool is_csv = format == TableFormat::kCsv;
  const auto counted = [](std::size_t n) { return "n=" + std::to_string(n); };
  MarkedTable out = begin_table();
  const auto add_columns = [&](std::initializer_list<std::string> names) {
    out.columns.insert(out.columns.end(), names);
  };
  for (const SeedGroup& group : all.groups) {
    if (is_csv) {
      add_columns({group.name + " mean", group.name + " sd", group.name + " n"});
    } else {
      add_columns({group.name + ", " + counted(group.runs.size())});
    }
  }
  for (std::size_t i = 1; i < all.groups.size(); ++i) {
    const std::string name = all.groups[i].name + " - " + all.groups[0].name;
    if (is_csv) {
      add_columns({name, name + " low", name + " high", name + " n"});
    } else {
      add_columns({name});
    }
  }
  for (const FigureRow* row : rows) {
    std::vector<MarkedCell>& cells = begin_row(out, *row, is_csv);
    std::vector<std::optional<Spread>> spreads;
    std::vector<std::optional<double>> means;
    for (const SeedGroup& group : all.groups) {
      spreads.push_back(spread_of(*row, group));
      means.push_back(spreads.back() ? std::optional(spreads.back()->mean) : std::nullopt);
    }
    const std::vector<bool> best = best_values(row->figure, means);
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      const auto& spread = spreads[i];
      if (is_csv) {
        cells.emplace_back(digits(means[i]));
        cells.emplace_back(digits(spread ? spread->deviation : std::nullopt));
        cells.emplace_back(std::to_string(spread ? spread->n : 0));
      } else if (!spread) {
        cells.emplace_back("-");
      } else {
        const bool is_partial = spread->n != all.groups[i].runs.size();
        cells.emplace_back(
            spread_text(row->figure, *spread) + (is_partial ? " (" + counted(spread->n) + ")" : ""),
            best[i]);
      }
    }
    const BySeed base = values_of(*row, all.groups.front());
    for (std::size_t i = 1; i < all.groups.size(); ++i) {
      const auto paired = paired_difference(base, values_of(*row, all.groups[i]));
      if (is_csv) {
        cells.emplace_back(digits(paired ? std::optional(paired->mean) : std::nullopt));
        cells.emplace_back(digits(paired ? paired->low : std::nullopt));
        cells.emplace_back(digits(paired ? paired->high : std::nullopt));
        cells.emplace_back(std::to_string(paired ? paired->n : 0));
      } else {
        cells.emplace_back(paired ? difference_text(row->figure, *paired) : "-");
      }
    }
  }
  return out;
}

}  // namespace

MarkedTable table_of(const Compared& all, const std::vector<const FigureRow*>& rows,
                     TableFormat format) {
  return all.is_grouped ? table_of_groups(all, rows, format) : table_of_runs(all, rows, format);
}

std::string differences_text(const Compared& all) {
  const std::vector<Difference> shown = all.is_grouped ? without_seed(all.options) : all.options;
  std::vector<std::string> head = {"differs", "step"};
  std::vector<std::size_t> speakers;  // the run whose values stand in a column
  if (all.is_grouped) {
    for (const SeedGroup& group : all.groups) {
      head.push_back(group.name);
      speakers.push_back(group.runs.front());
    }
  } else {
    for (std::size_t i = 0; i < all.named.runs.size(); ++i) {
      head.push_back(short_run(all.named.runs[i].id));
      speakers.push_back(i);
    }
  }
  if (shown.empty()) {
    return all.is_grouped ? "the runs have the same options, data and versions but for the seed\n"
                          : "the runs have the same options, data and versions\n";
  }
  Table table;
  table.add(std::move(head));
  for (const Difference& one : shown) {
    std::vector<std::string> cells{one.name, one.step};
    for (const std::size_t run : speakers) {
      cells.push_back(one.values[run].empty() ? "-" : one.values[run]);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace kdgat
