// The export stage: `kdgat export` as a plugin. Writes a model in a form that needs neither this
// program nor LibTorch, and checks what it wrote before it stands under its name.
#pragma once

#include "export/export_options.h"
#include "kdgat/stage.h"

namespace kdgat::exporting {

struct Export {
  using Options = ExportOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Input "model" is a model file, a detector file, or the folder of one; "graphs" the data set of
  /// its run, if that is there: its validation windows are what the export is checked on; each of
  /// "logs" a log that it is checked on as well. Writes the folder options.output, whole or not at
  /// all. The result: {"files": {name: bytes}, "checks": [{"what","windows","largest_difference",
  /// "decisions_differ"}], "not_checked": [sentences]}. Throws Error(kUsage) for a model that
  /// cannot be exported so, naming the part, Error(kData) where a check does not hold.
  static StageResult run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::exporting
