// kdgat export: a trained model in a form that needs neither this program nor LibTorch, from the
// export stage in this process.
#include <filesystem>

#include "kdgat/kinds.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/run_record.h"
#include "pipeline/verbs/commands/log_stage.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ExportRequest : ModelWords {
  std::string output;
  std::vector<std::string> logs;
  bool force = false;
};

/// Throws Error(kUsage) with every problem.
ExportRequest read_export_request(const Context& context, const json& schema,
                                  const std::vector<std::string>& words) {
  ExportRequest request;
  CommandLine line(context, "kdgat export");
  line.value(
      "--check", [&](const std::string& log) { request.logs.push_back(log); }, Offer::kFiles);
  line.word(request.run, Offer::kRuns);
  line.value("-o,--output", request.output, Offer::kFiles);
  line.flag("--force", request.force);
  const CommandLine::Set set = request.declare(line, schema);
  line.value("--threshold", [&](const std::string& text) { set("threshold", text); });
  const std::string usage = "kdgat export --help shows examples";
  std::vector<Diagnostic> problems = line.read(words);
  if (request.output.empty()) problems.push_back({"", "kdgat export needs -o DIR", usage});
  if (request.run.empty()) problems.push_back({"", "kdgat export needs a model", usage});
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

/// The data set of the run that `model` stands in, its folder or its file; "" where it is not
/// there.
fs::path data_of(const fs::path& model) {
  const fs::path step = fs::is_directory(model) ? model : model.parent_path();
  try {
    const fs::path folder = read_run(step.parent_path()).data.value_or(RunData()).folder;
    return !folder.empty() && find_prepared(folder) ? folder : fs::path();
  } catch (const Error&) {
    return {};  // a model file that somebody copied
  }
}

constexpr const char* kExportHelp =
    R"(Write a trained model in a form that needs neither kdgat nor LibTorch, and check it.

  kdgat export runs/my/01JD.../classifier --format c -o ecu     one C99 file and its test vectors
  kdgat export mine.json --format c -o ecu --vehicle van-7      a detector, for one of its vehicles
  kdgat export 01JD --model student --format c --weights int8 -o ecu --check drives/
  kdgat export 01JD --model student --format onnx -o onnx       the network, for ONNX Runtime

usage: kdgat export MODEL -o DIR [options]

MODEL is a run's id or folder, a step's folder, or a model file or detector.json.

What was written is checked before it stands under its name: the native engine against LibTorch on
the validation windows of the run, or on made-up traffic where its data are not there; then the
files, as --format below says. An exact export that differs by more than 1e-5 is not written.
VERIFY.md says what was checked, and what could not be. Scoring without LibTorch on a computer needs
no export: kdgat score and kdgat watch do so themselves.

  --model STEP         which model of a run that has several
  -o, --output DIR     folder that is written, whole or not at all
  --check LOG          a log, or a folder of logs, that it is checked on as well; may be said again
  --threshold T        in the place of the model's own, where the format has one
  --force              replace the export that is there
  --json               what was done, as JSON on standard output
  --root DIR           folder that holds all runs (default runs)

)";

constexpr const char* kExportEnd = R"(
Exit codes: 0 written; 2 usage, something stands in DIR, or the model cannot be exported so; 3 the
model or a log cannot be read, or a check did not hold; 129, 130, 131 and 143 stopped by a
signal, nothing written.
)";

int export_verb(Context& context, const std::vector<std::string>& arguments) {
  const PluginDescription& plugin = stage_behind("export", kind::kCheckLog, context.catalog);
  ExportRequest request = read_export_request(context, plugin.options, arguments);
  const auto input = [](const char* name, const char* of_kind, const std::string& path) {
    return json{{"name", name}, {"kind", of_kind}, {"path", path}};
  };
  json logs = json::array();
  for (const std::string& log : request.logs) {
    require_input(log);
    logs.push_back(input("logs", kind::kCheckLog, log));
  }
  const fs::path model = request.find(context.catalog);
  request.options["output"] = request.output;
  request.options["replace"] = request.force;
  json inputs = {{"model", json::array({input("model", kind::kModel, model.string())})}};
  if (!logs.empty()) inputs["logs"] = logs;
  if (const fs::path data = data_of(model); !data.empty()) {
    inputs["graphs"] = json::array({input("graphs", kind::kGraphs, data.string())});
  }
  return write_by_stage(context, plugin, request.options, inputs, "kdgat.export", request.output);
}

}  // namespace

Verb make_export_verb() {
  return {"export", "write a model for use without kdgat, and check it", Needs::kCatalog,
          export_verb, help_around("export", kExportHelp, kind::kCheckLog, kExportEnd)};
}

}  // namespace kdgat
