#include "pipeline/verbs/commands/score_rows.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kdgat/event.h"
#include "kdgat/text.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/execute/device.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/show/status.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"
#include "pipeline/system/tensor_file.h"
#include "pipeline/verbs/commands/line_output.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kModelPort = "model";

/// What follows a flag among words, or stands behind its "="; "" = it was not said.
std::string value_after(const std::vector<std::string>& words, const std::string& flag) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(flag + "=")) return words[i].substr(flag.size() + 1);
  }
  return "";
}

/// The port that is not the model's.
const PortDescription& source_port(const PluginDescription& plugin) {
  const auto found =
      std::find_if(plugin.inputs.begin(), plugin.inputs.end(),
                   [](const PortDescription& port) { return port.name != kModelPort; });
  if (found != plugin.inputs.end()) return *found;
  throw Error(ExitCode::kPlugin, "the stage " + plugin.name + " takes nothing to score");
}

std::string cell_text(const json& cell) {
  if (cell.is_string()) return csv_field(cell.get<std::string>());
  if (cell.is_number_float()) return format_number("%.9g", cell.get<double>());
  return cell.is_null() ? "" : cell.dump();
}

/// What is told before the first row.
struct RowColumns {
  std::vector<std::string> columns;
  static auto keys() { return std::tuple{key("columns", &RowColumns::columns)}; }
};

/// Rows as text.
class Rows {
 public:
  Rows(std::ostream& out, const std::string& file, bool is_json)
      : out_(out, file, false), is_json_(is_json) {}

  void add(const MetricsEvent& event) {
    if (event.what == "columns") {
      columns_ = record::read<RowColumns>(event.values).columns;
      if (!is_json_) out_.write(line([](const std::string& name) { return name; }));
    }
    if (event.what != "row") return;
    out_.write_made([&] {
      if (is_json_) return json_line(event.values);
      return line(
          [&](const std::string& name) { return cell_text(event.values.value(name, json())); });
    });
  }
  LineOutput& output() { return out_; }

 private:
  template <class Cell>
  std::string line(const Cell& cell) const {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      out += (i == 0 ? "" : ",") + cell(columns_[i]);
    return out + "\n";
  }

  LineOutput out_;
  bool is_json_;
  std::vector<std::string> columns_;
};

}  // namespace

const PluginDescription* row_scorer(const Context& context, const std::vector<std::string>& words) {
  ModelWords said;
  said.run = value_after(words, "--run");
  said.model = value_after(words, "--model");
  if (const std::string root = value_after(words, "--root"); !root.empty()) said.root = root;
  if (said.run.empty()) return nullptr;
  fs::path file;
  try {
    file = said.find(context.catalog);
  } catch (const Error&) {
    return nullptr;  // said where windows are scored, behind what is wrong with the words
  }
  const std::string stage = tensor_metadata(file, "scored_by");
  if (stage.empty()) return nullptr;
  if (const PluginDescription* plugin = context.catalog.find(stage)) return plugin;
  throw Error(ExitCode::kPlugin,
              file.string() + ": the stage " + stage + ", which scores with it, is not there",
              "see kdgat plugins list");
}

int score_rows(Context& context, const PluginDescription& plugin,
               const std::vector<std::string>& words) {
  ModelWords asked;
  std::string source, output, device = "cpu", threads = "1";
  CommandLine line(context, "kdgat score");
  line.word(source, Offer::kFiles);
  line.value("--run", asked.run, Offer::kRuns);
  line.value("-o,--output", output, Offer::kFiles);
  line.value("--device", device, {"cpu", "cuda"});
  line.value("--threads", threads);
  asked.declare(line, plugin.options);
  std::vector<Diagnostic> problems = line.read(words);
  if (source.empty()) {
    problems.push_back({"", "kdgat score needs a file", "kdgat score --help shows examples"});
  }
  const json count = plain_scalar(threads).value;
  if (!count.is_number_integer() || count < 1) {
    problems.push_back({"", "--threads: " + threads + " is not a number of threads", ""});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  require_device(device, {&plugin}, Machine());
  require_input(source);
  const PortDescription& port = source_port(plugin);
  const auto input = [](const std::string& name, const std::string& path) {
    return json::array({{{"name", name}, {"kind", name}, {"path", path}}});
  };
  const StageCall call = {"run",
                          plugin,
                          {{"step", plugin.name},
                           {"options", asked.options},
                           {"device", device},
                           {"threads", count},
                           {"inputs",
                            {{kModelPort, input(kModelPort, asked.find(context.catalog).string())},
                             {port.name, input(port.name, source)}}}}};
  install_signal_flags();
  const auto status = terminal_status(context);
  Rows rows(context.out, output, context.json);
  const StageAnswer answer = call_shown(
      call, *status,
      [&](const json& event) {
        if (kind_of(event) == EventKind::kMetrics) rows.add(event.get<MetricsEvent>());
      },
      [&] { return rows.output().is_stopped(); });
  if (rows.output().is_closed()) return 0;
  if (!rows.output().is_stopped()) require_done(answer);
  rows.output().finish();
  if (!output.empty()) status->message("info", answer.made().summary.value_or("") + ": " + output);
  return 0;
}

}  // namespace kdgat
