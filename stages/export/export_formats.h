// The formats of `kdgat export`, a row each: choices and help of the options, what is refused, what
// is written and how VERIFY.md calls it follow from it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kdgat::data {
struct Vehicle;
}  // namespace kdgat::data
namespace kdgat::decision {
struct DetectorModel;
}  // namespace kdgat::decision

namespace kdgat::exporting {

struct Making;
struct MadeNetwork;

struct ExportFormat {
  const char* name;             ///< of the option
  const char* title;            ///< in sentences
  const char* help;             ///< what is written, and how it is checked
  bool decides;                 ///< the threshold is part of what is written
  bool takes_int8;              ///< rounded weights
  const char* instead_of_int8;  ///< what to do where it takes none
  /// Write their files and check them.
  void (*detector)(Making& making, const decision::DetectorModel& model,
                   const data::Vehicle& vehicle);
  void (*network)(Making& making, const MadeNetwork& made);
};

std::span<const ExportFormat> export_formats();
/// Throws Error(kUsage) for an unknown name.
const ExportFormat& export_format(const std::string& name);
std::vector<std::string> export_format_names();
std::string export_formats_help();
/// "C or ONNX"
std::string export_titles();
/// Names of those that do it: "c or onnx".
std::string formats_with(bool ExportFormat::*is_so);

}  // namespace kdgat::exporting
