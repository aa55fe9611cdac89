// What a run recorded, as numbers over time under their published names. The journal of each step
// (run/journal.h) is the one source, at a good end with its figures, and everything is derived from
// it: CSV and TensorBoard's event files (record_files.h), MLflow (mlflow_sync.h). Writes nothing
// and knows no server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/run/journal.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// One number of a series.
struct Point {
  std::string key;   ///< "val_loss"
  double value = 0;  ///< finite
  int64_t step = 0;  ///< epoch or episode; 0 at the start and of results
  double unix = 0;   ///< seconds since 1970
};

/// What step.json says of the model a step made; "" = not said.
struct ModelFacts {
  std::string model, size;
  static auto keys() {
    return std::tuple{key("model", &ModelFacts::model), key("size", &ModelFacts::size)};
  }
};

/// A step's folder, read only.
class RecordedStep {
 public:
  explicit RecordedStep(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path journal() const { return folder_ / kJournalFile; }
  ModelFacts facts() const;
  /// The numbers of an event: of an epoch, an episode, the machine's memory, and at a good end
  /// those of metrics.json. None for an event of another form: stages may send what they like.
  std::vector<Point> points(const nlohmann::json& event) const;

 private:
  bool is_on_gpu() const;

  std::filesystem::path folder_;
  mutable std::optional<bool> on_gpu_;  ///< once config.json was read
};

/// The figures of a step's metrics: `{model}_{figure}` of a model on validation,
/// `test.{model}.{part}.{figure}` on another part, `result.{figure}` of a step itself.
std::vector<Point> result_points(const std::vector<Figure>& figures, double unix);

/// The shortest text that reads back as this number.
std::string exact_number(double value);

}  // namespace kdgat
