// A report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/report_model.h"

namespace kdgat {

/// One run, or several with what they differ in before each of them. `made`: when, as text.
/// `notes`: Markdown that stands above all else; its HTML is escaped.
std::string report_html(const std::vector<ReportRun>& runs, const std::string& made,
                        const std::string& notes = "");

}  // namespace kdgat
