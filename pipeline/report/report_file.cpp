#include "pipeline/report/report_file.h"

#include <string>

#include "pipeline/report/report_html.h"
#include "pipeline/show/text.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/secrets.h"

namespace kdgat {

std::size_t write_report(const std::vector<ReportRun>& runs, const std::filesystem::path& file,
                         const std::string& notes) {
  const std::string page = report_html(runs, time_text(iso_now()), notes);
  // The page itself names addresses that are nobody's (of its form of pictures).
  std::string commands = notes;
  for (const ReportRun& run : runs) commands += run.record.command;
  write_guarded(file, page, holds_address(commands));
  return page.size();
}

}  // namespace kdgat
