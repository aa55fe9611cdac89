#include "pipeline/run/run_pivot.h"

#include <algorithm>
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

RunKey key_of(const RunIndex& index, RunKey::Kind kind, uint32_t id) {
  return {kind, index.texts().text(id), id};
}

std::vector<RunKey> sorted_keys(const RunIndex& index, RunKey::Kind kind,
                                const std::set<uint32_t>& ids) {
  std::vector<RunKey> out;
  out.reserve(ids.size());
  for (const uint32_t id : ids) out.push_back(key_of(index, kind, id));
  std::sort(out.begin(), out.end(),
            [](const RunKey& a, const RunKey& b) { return a.name < b.name; });
  return out;
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
  if (pivot.value_key.kind == RunKey::Kind::kFigure) {
    for (const FigureCell& one : index.values(cell.runs.front()).figures) {
      if (one.key != pivot.value_key.id) continue;
      const Figure like = figure_of(one, index.texts());
      return figure_text(cell.runs.size() > 1 ? as_mean(like) : like, cell.mean);
    }
  }
  return short_number(cell.mean);
}

std::vector<RunKey> differing_options(const RunIndex& index, const std::vector<std::size_t>& runs) {
  struct Seen {
    uint32_t value = 0;
    std::size_t count = 0, last = 0;
    bool differs = false;
  };
  std::map<uint32_t, Seen> seen;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const OptionCell& cell : index.values(runs[i]).options) {
      Seen& one = seen[cell.key];
      if (one.count > 0 && one.last == i) continue;  // said by several steps: the first counts
      one.differs = one.differs || (one.count > 0 && one.value != cell.value);
      one.value = cell.value;
      one.last = i;
      ++one.count;
    }
  }
  std::set<uint32_t> ids;
  for (const auto& [key, one] : seen) {
    if (one.differs || one.count < runs.size()) ids.insert(key);
  }
  return sorted_keys(index, RunKey::Kind::kOption, ids);
}

std::vector<RunKey> all_figures(const RunIndex& index, const std::vector<std::size_t>& runs) {
  std::set<uint32_t> ids;
  for (const std::size_t run : runs) {
    for (const FigureCell& cell : index.values(run).figures) ids.insert(cell.key);
  }
  return sorted_keys(index, RunKey::Kind::kFigure, ids);
}

}  // namespace kdgat
