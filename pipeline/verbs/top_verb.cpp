// kdgat top: the runs at work now, from another shell.
#include <unistd.h>

#include <ostream>

#include "kdgat/text.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/run_index.h"
#include "pipeline/run/run_work.h"
#include "pipeline/show/printable_stream.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kClear = "\x1b[H\x1b[J";
constexpr int kPolls = 20;
constexpr useconds_t kPollMicroseconds = 100'000;

constexpr const char* kTopHelp =
    R"(Show the runs that are at work now, from any shell of the machine.

  kdgat top                                         on a terminal again every two seconds, to Ctrl-C
  kdgat top | cat                                   once
  kdgat top --root /scratch/runs --json

usage: kdgat top [--root DIR] [--once] [--json]

  --root DIR           folder that holds all runs (default runs)
  --once               one table, on a terminal, too

A line for each step at work: how far it is and what it came to, how long it has worked and will if
it goes on so, memory of its process (of a trial of a sweep: none, as trials share one), threads,
device, and the machine and process that hold the run. A step says so about once a second.
)";

std::string percent(const Progress& now) {
  if (now.total <= 0) return "";
  return format_number("%.0f %%",
                       100 * static_cast<double>(now.done) / static_cast<double>(now.total));
}

void add_step(Table& table, const RunWork& work, const StepWork& step) {
  const auto seconds = [](double value) { return value < 0 ? "" : format_seconds(value); };
  const RunRecord& run = work.run;
  table.add({short_run(run.id), run.name, step.step,
             step.now.unit.empty() ? "begun" : format_progress(step.now), percent(step.now),
             seconds(step.seconds), seconds(step.left),
             step.now.memory_bytes == 0 ? "" : format_bytes(step.now.memory_bytes),
             run.threads == 0 ? "" : std::to_string(run.threads), run.device, work.owner});
}

std::string top_text(const std::vector<RunWork>& works) {
  Table table;
  table.add(
      {"run", "name", "step", "at", "done", "time", "left", "memory", "threads", "device", "by"});
  for (const RunWork& work : works) {
    for (const StepWork& step : work.steps) add_step(table, work, step);
    if (work.steps.empty()) {  // between two steps, or before the first
      table.add({short_run(work.run.id), work.run.name, "", work.run.progress(), "", "", "", "", "",
                 work.run.device, work.owner});
    }
  }
  return table.text();
}

json top_json(const std::vector<RunWork>& works) {
  const auto known = [](double value) { return value < 0 ? json() : json(value); };
  json out = json::array();
  for (const RunWork& work : works) {
    json steps = json::array();
    for (const StepWork& step : work.steps) {
      steps.push_back({{"step", step.step},
                       {"stage", step.stage},
                       {"phase", step.now.phase},
                       {"unit", step.now.unit},
                       {"done", step.now.done},
                       {"total", step.now.total},
                       {"metrics", step.now.metrics},
                       {"seconds", known(step.seconds)},
                       {"seconds_left", known(step.left)},
                       {"memory_bytes", step.now.memory_bytes}});
    }
    out.push_back({{"id", work.run.id},
                   {"name", work.run.name},
                   {"folder", work.run.folder.string()},
                   {"started", work.run.started},
                   {"device", work.run.device},
                   {"threads", work.run.threads},
                   {"owner", work.owner},
                   {"steps", std::move(steps)}});
  }
  return {{"runs", std::move(out)}};
}

/// false: a signal came.
bool rest() {
  for (int i = 0; i < kPolls; ++i) {
    if (pending_signal() != 0) return false;
    ::usleep(kPollMicroseconds);
  }
  return pending_signal() == 0;
}

int top_verb(Context& context, const std::vector<std::string>& arguments) {
  std::string root = "runs";
  bool is_once = false;
  CommandLine line(context, "kdgat top");
  line.value("--root", root, Offer::kFiles);
  line.flag("--once", is_once);
  line.parse(arguments);
  const bool refreshes =
      !is_once && !context.json && Terminal::of(STDOUT_FILENO, context.verbosity).moves;
  if (refreshes) install_signal_flags();
  do {
    RunIndex index(root);
    index.save();
    const std::vector<RunWork> works = runs_at_work(index.runs());
    if (context.json) {
      print_json(context, "kdgat.top", top_json(works));
    } else {
      if (refreshes) write_control(context.out, kClear);
      if (works.empty()) {
        std::ostream& to = refreshes ? context.out : context.err;
        to << "no run is at work in " << one_line(root) << '\n';
      }
      context.out << (works.empty() ? "" : top_text(works));
      context.out << std::flush;
    }
  } while (refreshes && rest());
  return 0;
}

}  // namespace

Verb make_top_verb() {
  return {"top", "show the runs that are at work now", Needs::kNothing, top_verb,
          help_text(kTopHelp)};
}

}  // namespace kdgat
