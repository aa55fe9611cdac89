// kdgat adapt: a detector that knows one more vehicle, from the adapt stage in this process.
#include <filesystem>

#include "kdgat/kinds.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/verbs/commands/log_stage.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct AdaptRequest : ModelWords {
  std::string output;
  std::vector<std::string> logs;
  bool force = false;
};

/// Throws Error(kUsage) with every problem.
AdaptRequest read_adapt_request(const Context& context, const json& schema,
                                const std::vector<std::string>& words) {
  AdaptRequest request;
  CommandLine line(context, "kdgat adapt");
  line.word(request.run, Offer::kRuns);
  line.words([&](const std::string& log) { request.logs.push_back(log); }, Offer::kFiles);
  line.value("-o,--output", request.output, Offer::kFiles);
  line.flag("--force", request.force);
  request.declare(line, schema);
  std::vector<Diagnostic> problems = line.read(words);
  const std::string usage = "kdgat adapt --help shows examples";
  if (request.run.empty()) problems.push_back({"", "kdgat adapt needs a detector", usage});
  if (request.logs.empty()) problems.push_back({"", "kdgat adapt needs a log", usage});
  if (request.output.empty()) problems.push_back({"", "kdgat adapt needs -o FILE", usage});
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  std::error_code ignored;
  if (fs::exists(request.output, ignored) && !request.force) {
    throw Error(ExitCode::kUsage, "there already", "--force replaces it", request.output);
  }
  return request;
}

constexpr const char* kAdaptHelp =
    R"(Teach a detector what is usual on one more vehicle, from its own benign traffic.

  kdgat adapt runs/my/01JD.../detector first-drive.log -o mine.json
  kdgat adapt cars first-drive.log -o mine.json     the detector that comes with kdgat
  kdgat adapt 01JD monday.csv.gz tuesday.csv.gz -o mine.json --name van-7
  candump -L can0 | kdgat adapt detector.json - -o mine.json --windows 3000
  kdgat score drive.log --run mine.json

usage: kdgat adapt DETECTOR LOG... -o FILE [options]

DETECTOR is a run's id or folder, a step's folder, a detector.json, or cars, the one that comes with
kdgat. Each LOG is a log of any form, gzip or not, a folder of logs, or - for standard input, all of
one vehicle and without attacks: rows labelled as attacks are left out. A vehicle that the detector
knows, by its ids, is learned again; any other is added. Trees and thresholds stay; for this vehicle
those are taken that were found for profiles of about so many windows. A few minutes are enough, 20
windows are the least.

  --model STEP         which model of a run that has several
  -o, --output FILE    write the detector there, whole or not at all
  --force              replace the file if it is there
  --json               what was done, as JSON on standard output
  --root DIR           folder that holds all runs (default runs)

)";

constexpr const char* kAdaptEnd = R"(
Exit codes: 0 written; 2 usage, or the file is there already; 3 a log or the detector cannot be
read, the logs are too short or of several vehicles; 129, 130, 131 and 143 stopped by a
signal, nothing written.
)";

int adapt_verb(Context& context, const std::vector<std::string>& arguments) {
  const PluginDescription& plugin = stage_behind("adapt", kind::kBenignLog, context.catalog);
  AdaptRequest request =
      read_adapt_request(context, options_of_verb(plugin.options, "adapt"), arguments);
  json logs = json::array();
  for (const std::string& log : request.logs) {
    require_input(log);
    logs.push_back({{"name", "logs"}, {"kind", kind::kBenignLog}, {"path", log}});
  }
  const fs::path model = request.find(context.catalog);
  request.options["output"] = request.output;
  const json inputs = {
      {"model",
       json::array({{{"name", "model"}, {"kind", kind::kModel}, {"path", model.string()}}})},
      {"logs", logs}};
  return write_by_stage(context, plugin, request.options, inputs, "kdgat.adapt", request.output);
}

}  // namespace

Verb make_adapt_verb() {
  return {"adapt", "teach a detector what is usual on one more vehicle", Needs::kCatalog,
          adapt_verb, help_around("adapt", kAdaptHelp, kind::kBenignLog, kAdaptEnd)};
}

}  // namespace kdgat
