// kdgat report: one HTML file of one run or several.
#include <ostream>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/report/report_html.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/run/find_model.h"
#include "pipeline/system/clock.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

int report_verb(Context& context, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  std::string output, root = "runs";
  CommandLine line(context, "kdgat report");
  line.words([&](const std::string& name) { names.push_back(name); });
  line.value("-o,--output", output);
  line.value("--root", root);
  line.parse(arguments);
  if (names.empty()) {
    throw Error(ExitCode::kUsage, "kdgat report needs a run",
                "a run's id or folder; kdgat runs list shows them");
  }
  std::vector<ReportRun> runs;
  runs.reserve(names.size());
  for (const std::string& name : names) runs.push_back(read_report(find_run(name, root)));
  const std::string page = report_html(runs, time_text(iso_now()));
  if (output == "-") {
    context.out << page;
    return 0;
  }
  const fs::path file = output.empty() ? runs.front().record.folder /
                                             (runs.size() == 1 ? "report.html" : "compare.html")
                                       : fs::path(output);
  write_file(file, page);
  if (context.json) {
    json ids = json::array();
    for (const ReportRun& run : runs) ids.push_back(run.record.id);
    context.out << json{{"file", file.string()}, {"bytes", page.size()}, {"runs", ids}}.dump(1)
                << '\n';
  } else {
    context.out << file.string() << '\n';
  }
  return 0;
}

}  // namespace kdgat
