// Logs of made-up traffic as a data set for the stage `detector`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/can/logs/format_log.h"
#include "engine/data/core/graph_domain.h"
#include "kdgat/stage.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"
#include "support/runs/request_on.h"

namespace kdgat::test {

/// Logs of one data set: train_*/NAME.csv, test_*/NAME.csv. The form says whether buses are told
/// apart (candump) or attacks labelled (can-train-and-test).
class DetectorLogs {
 public:
  explicit DetectorLogs(std::string form = "can-train-and-test") : form_(std::move(form)) {}

  void write(const std::string& name, const std::vector<data::CanFrame>& frames) const {
    write_text_of(name, data::format_log(frames, form_));
  }
  void write_text_of(const std::string& name, const std::string& text) const {
    write_text(folder_ / "logs" / name, text);
  }
  /// `assume`: of rows without a label.
  void import(const std::string& assume = "") {
    graph::ImportOptions options;
    options.features = "v3";
    if (!assume.empty()) options.assume = assume;
    graph::import_logs(folder_ / "logs", folder_ / "data", options);
  }

  std::filesystem::path store() const { return folder_ / "data" / data::kStoreName; }
  const ScratchFolder& folder() const { return folder_; }
  Request request(const std::string& run, int64_t seed = 42) const {
    return request_on(folder_ / "data", folder_ / run, "detector", seed);
  }

 private:
  ScratchFolder folder_;
  std::string form_;
};

}  // namespace kdgat::test
