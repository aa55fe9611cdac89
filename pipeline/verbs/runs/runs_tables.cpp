// kdgat runs pivot and kdgat runs export: runs as tables for other programs and for papers.
#include <ostream>

#include "kdgat/text.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/replicates.h"
#include "pipeline/run/run_pivot.h"
#include "pipeline/show/table_format.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"
#include "pipeline/verbs/runs/runs_words.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// A run of replicates has no figures: its replicates have.
std::vector<std::size_t> single_runs(RunIndex& index, const RunFilter& filter) {
  std::vector<std::size_t> out = matching_runs(index, filter);
  std::erase_if(out, [&](std::size_t run) {
    const RunRecord& record = index.runs()[run];
    return record.steps.empty() && !read_replicates(record.folder).empty();
  });
  return out;
}

struct PivotWords {
  RunWords runs;
  std::vector<std::string> rows, cols;
  std::string value, format = "text";
};

PivotWords read_pivot_words(Context& context, const std::vector<std::string>& words) {
  PivotWords out;
  CommandLine line(context, "kdgat runs pivot");
  out.runs.declare(line);
  line.value("--format", out.format, Offer(table_formats()));
  line.words([&](const std::string& word) {
    const std::size_t equal = word.find('=');
    const std::string key = word.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : word.substr(equal + 1);
    if (key == "rows") {
      out.rows = parts_of(value, ',');
    } else if (key == "cols") {
      out.cols = parts_of(value, ',');
    } else if (key == "value") {
      out.value = value;
    } else {
      line.problem("unexpected word " + word, "kdgat runs pivot rows=KEY cols=KEY value=KEY");
    }
  });
  line.parse(words);
  if (out.value.empty() || (out.rows.empty() && out.cols.empty())) {
    throw Error(ExitCode::kUsage, "kdgat runs pivot needs a value, and rows or columns",
                "kdgat runs pivot rows=classifier.lr cols=seed value=classifier.val_loss; kdgat "
                "runs export shows the keys there are");
  }
  return out;
}

json labels_json(const std::vector<RunKey>& keys, const std::vector<std::string>& labels) {
  json out = json::object();
  for (std::size_t i = 0; i < keys.size(); ++i) out[keys[i].name] = labels[i];
  return out;
}

json pivot_json(const RunIndex& index, const Pivot& pivot) {
  json cells = json::array();
  for (const auto& [at, cell] : pivot.cells) {
    json runs = json::array();
    for (const std::size_t run : cell.runs) runs.push_back(index.runs()[run].id);
    cells.push_back({{"row", labels_json(pivot.row_keys, pivot.rows[at.first])},
                     {"column", labels_json(pivot.col_keys, pivot.cols[at.second])},
                     {"mean", cell.mean},
                     {"n", cell.runs.size()},
                     {"runs", std::move(runs)}});
  }
  return {{"value", pivot.value_key.name},
          {"without_value", pivot.without_value},
          {"cells", std::move(cells)}};
}

std::string heading_of(const std::vector<std::string>& labels) {
  std::vector<std::string> shown;
  shown.reserve(labels.size());
  for (const std::string& label : labels) shown.push_back(label.empty() ? "-" : label);
  return joined(shown, ", ");
}

/// For people the mean as the figure is written elsewhere, with the number of runs where it is not
/// one; in CSV all digits, and the number in a column of its own.
MarkedTable pivot_table(const RunIndex& index, const Pivot& pivot, TableFormat format) {
  const bool is_csv = format == TableFormat::kCsv;
  MarkedTable out;
  out.texts = pivot.row_keys.size();
  for (const RunKey& key : pivot.row_keys) out.columns.push_back(key.name);
  for (const auto& labels : pivot.cols) {
    const std::string heading = pivot.col_keys.empty() ? pivot.value_key.name : heading_of(labels);
    out.columns.push_back(heading);
    if (is_csv) out.columns.push_back(heading + " n");
  }
  for (std::size_t row = 0; row < pivot.rows.size(); ++row) {
    std::vector<MarkedCell>& cells = out.rows.emplace_back();
    for (const std::string& label : pivot.rows[row]) cells.emplace_back(label);
    for (std::size_t col = 0; col < pivot.cols.size(); ++col) {
      const auto found = pivot.cells.find({row, col});
      if (found == pivot.cells.end()) {
        cells.emplace_back(is_csv ? "" : "-");
        if (is_csv) cells.emplace_back("0");
        continue;
      }
      const std::string n = std::to_string(found->second.runs.size());
      if (is_csv) {
        cells.emplace_back(json(found->second.mean).dump());
        cells.emplace_back(n);
      } else {
        cells.emplace_back(pivot_text(index, pivot, found->second) +
                           (n == "1" ? "" : " (n=" + n + ")"));
      }
    }
  }
  return out;
}

/// What stands in front of options and figures in each row of an export.
const std::vector<std::string>& exported_keys() {
  static const std::vector<std::string> keys = {"run",     "name",  "tag",     "profile",
                                                "dataset", "state", "started", "seconds"};
  return keys;
}

std::string export_csv(const RunIndex& index, const std::vector<std::size_t>& runs,
                       const std::vector<RunKey>& options, const std::vector<RunKey>& figures) {
  std::vector<RunKey> keys;
  for (const std::string& name : exported_keys()) keys.push_back({RunKey::Kind::kOfRun, name});
  keys.insert(keys.end(), options.begin(), options.end());
  keys.insert(keys.end(), figures.begin(), figures.end());
  MarkedTable out;
  for (const RunKey& key : keys) out.columns.push_back(key.name);
  for (const std::size_t run : runs) {
    std::vector<MarkedCell>& cells = out.rows.emplace_back();
    for (const RunKey& key : keys) {
      const auto value = value_of(index, run, key);
      cells.emplace_back(value ? value->text : "");
    }
  }
  return formatted(out, TableFormat::kCsv);
}

std::string export_jsonl(const RunIndex& index, const std::vector<std::size_t>& runs,
                         const std::vector<RunKey>& options, const std::vector<RunKey>& figures) {
  std::string out;
  for (const std::size_t run : runs) {
    const RunRecord& record = index.runs()[run];
    json line = {
        {"run", record.id},          {"name", record.name},       {"tags", record.tags},
        {"profile", record.profile}, {"dataset", record.dataset}, {"state", record.state},
        {"started", record.started}, {"options", json::object()}, {"figures", json::object()}};
    line["seconds"] = record.seconds() < 0 ? json() : json(record.seconds());
    for (const RunKey& key : options) {
      const auto cell = cell_of(index, run, key);
      if (cell && cell->text != "null") line["options"][key.name] = json::parse(cell->text);
    }
    for (const RunKey& key : figures) {
      if (const auto value = value_of(index, run, key)) line["figures"][key.name] = *value->number;
    }
    out += json_line(line);
  }
  return out;
}

}  // namespace

int pivot_runs(Context& context, const std::vector<std::string>& words) {
  const PivotWords wanted = read_pivot_words(context, words);
  const TableFormat format = table_format(wanted.format);
  RunIndex index(wanted.runs.root);
  const std::vector<std::size_t> runs = single_runs(index, wanted.runs.filter);
  index.read_values();
  index.save();
  if (runs.empty()) {
    tell_no_runs(context, wanted.runs, index.runs().size());
    if (context.json) {
      print_json(context, "kdgat.runs.pivot",
                 {{"value", wanted.value}, {"without_value", 0}, {"cells", json::array()}});
    }
    return 0;
  }
  const Pivot pivot = make_pivot(index, runs, wanted.rows, wanted.cols, wanted.value);
  if (context.json) {
    print_json(context, "kdgat.runs.pivot", pivot_json(index, pivot));
    return 0;
  }
  context.out << formatted(pivot_table(index, pivot, format), format);
  if (pivot.without_value > 0) {
    context.err << grouped(static_cast<int64_t>(pivot.without_value)) << " of "
                << grouped(static_cast<int64_t>(runs.size())) << " runs have no "
                << one_line(pivot.value_key.name) << '\n';
  }
  return 0;
}

int export_runs(Context& context, const std::vector<std::string>& words) {
  RunWords wanted;
  std::string format = "csv";
  CommandLine line(context, "kdgat runs export");
  wanted.declare(line);
  line.value("--format", format, {"csv", "jsonl"});
  line.parse(words);
  if (context.json) format = "jsonl";
  if (format != "csv" && format != "jsonl") {
    throw Error(ExitCode::kUsage, "--format " + format + ": there is no such form",
                "one of csv, jsonl; tables for people are made by kdgat runs pivot");
  }
  RunIndex index(wanted.root);
  const std::vector<std::size_t> runs = single_runs(index, wanted.filter);
  index.read_values();
  index.save();
  if (runs.empty()) {
    tell_no_runs(context, wanted, index.runs().size());
    return 0;
  }
  const std::vector<RunKey> options = differing_options(index, runs);
  const std::vector<RunKey> figures = all_keys(index, runs, RunKey::Kind::kFigure);
  context.out << (format == "csv" ? export_csv(index, runs, options, figures)
                                  : export_jsonl(index, runs, options, figures));
  return 0;
}

}  // namespace kdgat
