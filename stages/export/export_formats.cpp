#include "export/export_formats.h"

#include "export/c_format.h"
#include "export/onnx_format.h"
#include "kdgat/rows.h"

namespace kdgat::exporting {
namespace {

constexpr ExportFormat kFormats[] = {
    {"c", "C",
     "NAME.c and NAME.h, C99 without heap and without libm, with all that kdgat score computes of "
     "a log (windows, features, graph, model, threshold and alarms), with main.c, which reads what "
     "candump -L writes, test vectors and a CMakeLists.txt for hosts, ESP-IDF and Zephyr; compiled "
     "by cc and held against the native engine, on made-up traffic and on each --check LOG",
     true, true, "", export_detector_c, export_network_c},
    {"onnx", "ONNX",
     "what is computed of a window's features, which stay outside as does the decision; checked by "
     "ONNX Runtime, where python3 -I has it",
     false, false, "quantise the ONNX file elsewhere", export_detector_onnx, export_network_onnx},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat& export_format(const std::string& name) {
  return row_named(kFormats, "format", name);
}

std::vector<std::string> export_format_names() { return row_names(kFormats); }

std::string export_formats_help() { return rows_help(kFormats); }

std::string export_titles() {
  std::vector<std::string> titles;
  for (const ExportFormat& format : kFormats) titles.push_back(format.title);
  return in_words(titles, "or");
}

std::string formats_with(bool ExportFormat::*is_so) {
  return in_words(row_names(kFormats, [=](const ExportFormat& one) { return one.*is_so; }), "or");
}

}  // namespace kdgat::exporting
