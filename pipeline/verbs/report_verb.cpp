// kdgat report: one HTML file of one run or several.
#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>

#include "kdgat/atomic_file.h"
#include "kdgat/small_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/report/report_file.h"
#include "pipeline/report/report_html.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/text.h"
#include "pipeline/system/clock.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kReportHelp =
    R"(Write one HTML file of what a run did, or of how several differ.

  kdgat report 01JD                                 by the beginning of its id
  kdgat report 01JD…K7                              as kdgat run shows it
  kdgat report runs/my/01JD... -o report.html       by its folder
  kdgat report 01JD…K7 01JD…B2                      two runs side by side, then each of them
  kdgat report 01JD --root elsewhere -o - > page.html
  kdgat report 01JD --log dos.csv -o dos.svg        only the scores of this log, as a picture

usage: kdgat report RUN [RUN...] [-o FILE] [--notes FILE.md] [--root DIR] [--json]
       kdgat report RUN --log LOG [-o FILE] [--root DIR] [--json]

  -o, --output FILE    write there, - for standard output (default report.html in the run's folder,
                       of several runs compare.html in that of the first)
  --log LOG            write one SVG picture instead: the scores of this log over time, with its
                       attacks and alarms (default LOG.svg in the run's folder). LOG is the name of
                       a log of the report, with its folder if two folders have one of that name
  --notes FILE.md      text in Markdown, put above all else; at most 1 MB
  --root DIR           folder that holds all runs (default runs)
  --json               name of the file, its size and the runs, as JSON

What ran and why, failures with the end of their logs, warnings, the figures of each step, what a
step gains over its teacher, ablations and baselines, results, curves of training, ROC and precision
against recall, decisions at the thresholds, models beside baselines, scores over time with attacks
and alarms, memory planned and measured, options and who set them, the data. The file needs no
network and no script, reads well on a phone and prints.
Runs that are still running, failed or were interrupted are shown as far as they came. Prints the
file's name.
)";

/// In the place of a run of replicates, its replicates.
std::vector<ReportRun> read_reports(const std::vector<fs::path>& folders,
                                    const PluginCatalog& catalog) {
  const NamedRuns named = read_named_runs(folders);
  std::vector<ReportRun> out;
  for (std::size_t i = 0; i < named.runs.size(); ++i) {
    out.push_back(read_report(named.runs[i].folder, catalog));
    out.back().seed = named.seeds[i];
    out.back().group = named.group_of[i];
    out.back().name = named.names[i];
  }
  if (out.empty()) out.push_back(read_report(folders.front(), catalog));  // no replicate has begun
  return out;
}

/// The picture of a log, by the log's name with or without its folder.
LogPicture picture_of(const std::vector<ReportRun>& runs, const std::string& log) {
  if (runs.size() != 1) {
    throw Error(ExitCode::kUsage, "--log takes one run, got " + std::to_string(runs.size()));
  }
  const std::vector<LogPicture> drawn = log_pictures(runs.front());
  std::vector<LogPicture> found;
  std::copy_if(drawn.begin(), drawn.end(), std::back_inserter(found), [&](const LogPicture& one) {
    return one.log == log || one.log.ends_with("/" + log);
  });
  if (found.size() == 1) return found.front();
  constexpr std::size_t kMostNames = 8;
  const std::vector<LogPicture>& choice = found.empty() ? drawn : found;
  std::string names;
  for (std::size_t i = 0; i < std::min(choice.size(), kMostNames); ++i) {
    names += (i == 0 ? "" : ", ") + choice[i].log;
  }
  if (choice.size() > kMostNames) names += ", ...";
  if (!found.empty()) {
    throw Error(ExitCode::kUsage, "several folders have a log " + log + " (--log)",
                "write one of " + names);
  }
  throw Error(
      ExitCode::kUsage, "the report of this run draws no log " + log + " (--log)",
      names.empty() ? "only runs that scored CAN logs have such pictures" : "it draws " + names);
}

int report_verb(Context& context, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  std::string output, notes_file, log, root = "runs";
  CommandLine line(context, "kdgat report");
  line.words([&](const std::string& name) { names.push_back(name); }, Offer::kRuns);
  line.value("-o,--output", output, Offer::kFiles);
  line.value("--notes", notes_file, Offer::kFiles);
  line.value("--log", log, Offer::kFiles);
  line.value("--root", root, Offer::kFiles);
  line.parse(arguments);
  if (names.empty()) {
    throw Error(ExitCode::kUsage, "kdgat report needs a run",
                "a run's id or folder; kdgat runs list shows them");
  }
  const std::vector<fs::path> folders = find_runs(names, root);
  const std::vector<ReportRun> runs = read_reports(folders, context.catalog);
  std::string notes;
  if (!notes_file.empty()) notes = small_file(notes_file, kLargestNotes);
  const std::optional<LogPicture> picture =
      log.empty() ? std::nullopt : std::optional(picture_of(runs, log));
  if (output == "-") {
    context.out << (picture ? picture->svg : report_html(runs, time_text(iso_now()), notes));
    return 0;
  }
  const fs::path file =
      !output.empty() ? fs::path(output)
      : picture       ? folders.front() / (fs::path(picture->log).filename() += ".svg")
                      : folders.front() / (folders.size() == 1 ? "report.html" : "compare.html");
  if (picture) write_file(file, picture->svg);
  const std::size_t bytes = picture ? picture->svg.size() : write_report(runs, file, notes);
  if (context.json) {
    json ids = json::array();
    for (const ReportRun& run : runs) ids.push_back(run.record.id);
    print_json(context, "kdgat.report",
               {{"file", file.string()}, {"bytes", bytes}, {"runs", std::move(ids)}});
  } else {
    context.out << file.string() << '\n';
    if (context.verbosity >= 0) {
      const std::string what = picture ? "picture of " + picture->log
                                       : "report of " + std::to_string(runs.size()) +
                                             (runs.size() == 1 ? " run" : " runs");
      context.err << what << " written, " << format_bytes(bytes) << '\n';
    }
  }
  return 0;
}

}  // namespace

Verb make_report_verb() {
  return {"report", "one HTML file of what runs did: curves, tables, memory, differences",
          Needs::kCatalog, report_verb, help_text(kReportHelp)};
}

}  // namespace kdgat
