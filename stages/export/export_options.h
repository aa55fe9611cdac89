// Options of the export stage.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/logs/log_reading.h"
#include "engine/export/c/c_source.h"
#include "export/export_formats.h"
#include "kdgat/options.h"

namespace kdgat::exporting {

struct ExportOptions : data::LogReading {
  std::string format = export_formats().front().name;
  std::string output;
  bool replace = false;
  std::string name = "detector";
  std::string weights = "float32";
  std::string vehicle;
  std::vector<double> threshold;

  static auto table() {
    using O = ExportOptions;
    auto own = std::tuple{
        field("format", &O::format, export_formats_help() + ".").choices(export_format_names()),
        field("output", &O::output, "Folder that is written, whole or not at all.")
            .set_by({"export"}),
        field("replace", &O::replace, "An export that is there already is replaced.")
            .set_by({"export"}),
        field("name", &O::name, "Name of the files: letters, digits and _."),
        field("weights", &O::weights,
              "With " + formats_with(&ExportFormat::takes_int8) +
                  ": float32, exact; int8, a quarter of the size and nearly the same scores.")
            .choices({"float32", "int8"}),
        field("vehicle", &O::vehicle,
              "Of a detector that knows several vehicles: the one it is exported for, by name."),
        field("threshold", &O::threshold, Purpose::kAlarms,
              "With " + formats_with(&ExportFormat::decides) +
                  ": windows that score above it are attacks; [] = the model's own threshold, of a "
                  "detector 0.")
            .set_by({"export"})};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems;
    if (const std::string problem = c_name_problem(name); !problem.empty()) {
      problems.push_back({"", "name: \"" + name + "\" " + problem,
                          "use letters, digits and _, a letter first: my_detector"});
    }
    const ExportFormat& wanted = export_format(format);
    if (weights != "float32" && !wanted.takes_int8) {
      problems.push_back(
          {"", "weights: int8 requires --format " + formats_with(&ExportFormat::takes_int8),
           wanted.instead_of_int8});
    }
    if (threshold.size() > 1) problems.push_back({"", "threshold: one number, or none", ""});
    return problems;
  }
};

}  // namespace kdgat::exporting
