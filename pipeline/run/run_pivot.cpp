#include "pipeline/run/run_pivot.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/run/run_figures.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using Labels = std::vector<std::string>;

std::vector<RunKey> find_keys(const std::vector<std::string>& typed, const RunIndex& index,
                              const std::vector<std::size_t>& runs) {
  std::vector<RunKey> out;
  out.reserve(typed.size());
  for (const std::string& one : typed) out.push_back(find_key(one, index, runs, false));
  return out;
}

Labels labels_of(const RunIndex& index, std::size_t run, const std::vector<RunKey>& keys) {
  Labels out;
  for (const RunKey& key : keys) {
    const auto value = value_of(index, run, key);
    out.push_back(value ? value->text : "");
  }
  return out;
}

/// Sorted key by key: numbers by size, texts behind them.
std::vector<Labels> in_order(const std::set<Labels>& labels) {
  std::vector<Labels> out(labels.begin(), labels.end());
  std::sort(out.begin(), out.end(), [](const Labels& a, const Labels& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = finite_number(a[i]), y = finite_number(b[i]);
      if (x && y && *x != *y) return *x < *y;
      if (x.has_value() != y.has_value()) return x.has_value();
      if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
  });
  return out;
}

std::size_t place_of(const std::vector<Labels>& all, const Labels& labels) {
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), labels) - all.begin());
}

}  // namespace

Pivot make_pivot(const RunIndex& index, const std::vector<std::size_t>& runs,
                 const std::vector<std::string>& rows, const std::vector<std::string>& cols,
                 const std::string& value) {
  Pivot out;
  out.row_keys = find_keys(rows, index, runs);
  out.col_keys = find_keys(cols, index, runs);
  out.value_key = find_key(value, index, runs, true);
  struct Found {
    std::size_t run;
    Labels row, col;
    double value;
    std::string result;
  };
  std::vector<Found> found;
  std::set<Labels> all_rows, all_cols;
  for (const std::size_t run : runs) {
    const auto of_run = value_of(index, run, out.value_key);
    if (!of_run || !of_run->number) {
      ++out.without_value;
      continue;
    }
    found.push_back({run, labels_of(index, run, out.row_keys), labels_of(index, run, out.col_keys),
                     *of_run->number, result_of(index, run, out.value_key)});
    all_rows.insert(found.back().row);
    all_cols.insert(found.back().col);
  }
  out.rows = in_order(all_rows);
  out.cols = in_order(all_cols);
  std::map<std::pair<PivotCell*, std::string>, std::size_t> place_in;  // of a result in a cell
  for (const Found& one : found) {
    PivotCell& cell = out.cells[{place_of(out.rows, one.row), place_of(out.cols, one.col)}];
    const auto [place, is_new] = place_in.try_emplace({&cell, one.result}, cell.runs.size());
    if (!is_new) {
      const bool is_own = one.result.starts_with(index.runs()[one.run].id + "/");
      if (is_own) cell.runs[place->second] = one.run;
      continue;
    }
    cell.runs.push_back(one.run);
    cell.mean += (one.value - cell.mean) / static_cast<double>(cell.runs.size());
  }
  return out;
}

std::string pivot_text(const RunIndex& index, const Pivot& pivot, const PivotCell& cell) {
  const auto value = cell_of(index, cell.runs.front(), pivot.value_key);
  if (pivot.value_key.kind != RunKey::Kind::kFigure || !value) return short_number(cell.mean);
  const Figure like = nlohmann::json::parse(value->text).get<Figure>();
  return figure_text(cell.runs.size() > 1 ? as_mean(like) : like, cell.mean);
}

std::vector<RunKey> differing_options(const RunIndex& index, const std::vector<std::size_t>& runs) {
  std::vector<RunKey> out = all_keys(index, runs, RunKey::Kind::kOption);
  std::erase_if(out, [&](const RunKey& key) {
    const std::optional<RunCell> first = cell_of(index, runs.front(), key);
    return std::all_of(runs.begin(), runs.end(), [&](std::size_t run) {
      const std::optional<RunCell> cell = cell_of(index, run, key);
      return first && cell && cell->text == first->text;
    });
  });
  return out;
}

}  // namespace kdgat
