// Making: one export while it is made; what every format needs. Knows no format.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/model/config/trained_model.h"
#include "engine/native/networks.h"
#include "export/c_size.h"
#include "export/check.h"
#include "export/check_windows.h"
#include "export/export_options.h"
#include "export/verify_page.h"
#include "export/written_folder.h"
#include "kdgat/stage.h"

namespace kdgat::exporting {

struct Making {
  const ExportOptions& options;
  const Request& request;
  const Host& host;
  std::filesystem::path file;  ///< of the model
  WrittenFolder folder;
  Exported about{};
  Checks checks{};
  std::optional<MeasuredSize> size{};  ///< where the machine can tell

  void stop_if_cancelled() const {
    const ExitCode code = host.cancelled();
    if (code != ExitCode::kOk) throw Error(code, "interrupted; nothing was written");
  }
  double threshold_or(double otherwise) const {
    return options.threshold.empty() ? otherwise : options.threshold.front();
  }
};

struct MadeNetwork {
  const model::TrainedModel& model;
  native::GraphNetwork& network;
  const CheckWindows& windows;
  double threshold;  ///< NaN: it has none, of formats that do not decide
};

}  // namespace kdgat::exporting
