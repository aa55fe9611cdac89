// kdgat why: what made a detector's score, from the score stage in this process.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "kdgat/result.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/show/status.h"
#include "pipeline/show/table.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct WhyRequest : ModelWords, EngineWords {
  std::string log;
};

/// Throws Error(kUsage) with every problem.
WhyRequest read_why_request(const Context& context, const json& schema,
                            const std::vector<std::string>& words) {
  WhyRequest request;
  std::vector<std::string> chosen;
  CommandLine line(context, "kdgat why");
  line.word(request.log, Offer::kFiles);
  line.value("--run", request.run, Offer::kRuns);
  request.ModelWords::declare(line, schema);
  request.EngineWords::declare(line);
  const auto choice = [&](const std::string& flag, const std::string& what, bool is_number) {
    line.value(flag, [&, flag, what, is_number](const std::string& text) {
      const json at = plain_scalar(text).value;
      if (!at.is_number() || (is_number && (!at.is_number_integer() || at < 0))) {
        line.problem(flag + ": " + text +
                     (is_number ? " is no number from 0 on" : " is no time in seconds"));
        return;
      }
      chosen.push_back(flag);
      request.options["explain"] = what;
      request.options["explain_at"] = at;
    });
  };
  request.options["explain"] = "alarms";
  choice("--window", "window", true);
  choice("--time", "time", false);
  choice("--event", "alarm", true);
  std::vector<Diagnostic> problems = line.read(words);
  const std::string usage = "kdgat why --help shows examples";
  if (request.log.empty()) problems.push_back({"", "kdgat why needs a log", usage});
  if (chosen.size() > 1) {
    problems.push_back(
        {"", chosen[0] + " and " + chosen[1] + " both say what is explained", "give one of them"});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

constexpr const char* kWhyHelp =
    R"(Say what made a detector's score: the ids, gaps and bytes behind it, and the part of each.

  kdgat why drive.log --model 01JD                  every alarm, at its highest window
  kdgat why drive.log --model detector.json --event 2
  kdgat why drive.csv.gz --model 01JD --time 12.5   the window at that time
  kdgat why drive.log --model 01JD --window 120 --json
  zcat drive.log.gz | kdgat why - --model 01JD

usage: kdgat why LOG [--model DETECTOR] [options]

LOG is a log of any form, gzip or not, a folder of logs, or - for standard input; it is judged as
kdgat score judges it. Ids are taken out of the window one after another, each time the one without
which the score falls most, and what it falls by is the part of that id. Ids that the vehicle does
not have may be taken out together, so may known ids of which no single one makes a difference. The
row "everything else" is the score of what is left, so that all parts add up to the score; it is
below 0 where nothing else in the window is unusual. A window that was not flagged can be explained
too. Without --window, --time or --event the ten highest alarms are.

  --model DETECTOR     a run's id or folder, a step's folder, or a detector.json; without it, the
                       one that comes with kdgat
  --run RUN            the same, as kdgat score calls it; --model then is the step of the run
  --window N           the window of that number, as kdgat score gives it
  --time T             the window at T seconds of the log's own clock
  --event N            the alarm of that number, from 0, at its highest window
  --json               an object a line for each window, with all numbers
  --engine E           auto, native or libtorch, as kdgat score has it
  --root DIR           folder that holds all runs (default runs)

)";

constexpr const char* kWhyEnd = R"(
Exit codes: 0 done, also where there is no alarm; 2 usage, no detector, or no such window, time or
alarm; 3 the log or the model cannot be read; 129, 130, 131 and 143 stopped by a signal.
)";

int why_verb(Context& context, const std::vector<std::string>& arguments) {
  const PluginDescription& plugin = stage_behind("why", kind::kLog, context.catalog);
  const WhyRequest request =
      read_why_request(context, options_of_verb(plugin.options, "why"), arguments);
  require_input(request.log);
  const fs::path model = request.find(context.catalog);
  install_signal_flags();
  const auto status = terminal_status(context);
  if (const std::string said = request.said_of_model(); !said.empty()) {
    status->message("info", said);
  }
  const StageAnswer answer =
      call_shown(log_stage_call(request.choose(plugin, context.catalog, model), request.options,
                                model, request.log),
                 *status, [&](const json& event) {
                   if (kind_of(event) != EventKind::kMetrics) return;
                   const json values = event.get<MetricsEvent>().values;
                   const StageResult told = values.get<StageResult>();
                   if (!told.summary) return;
                   if (context.json) {
                     context.out << json_line(told.metrics);
                   } else {
                     context.out << *told.summary << '\n' << tables_text(values);
                   }
                 });
  require_done(answer);
  return 0;
}

}  // namespace

Verb make_why_verb() {
  return {"why", "say what made a detector's score, id by id", Needs::kCatalog, why_verb,
          help_around("why", kWhyHelp, kind::kLog, kWhyEnd)};
}

}  // namespace kdgat
