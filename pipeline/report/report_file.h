// Writes a report where a user wants it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/report/report_model.h"

namespace kdgat {

/// Writes the page of the runs, whole or not at all; for its owner alone where commands hold
/// addresses. Returns its bytes.
std::size_t write_report(const std::vector<ReportRun>& runs, const std::filesystem::path& file,
                         const std::string& notes = "");

}  // namespace kdgat
