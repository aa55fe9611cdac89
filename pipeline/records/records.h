// What a run recorded, as numbers over time under their published names. The journal of each step
// is the one source, and everything here is derived from it: CSV and TensorBoard's event files
// (record_files.h), MLflow (mlflow_sync.h). Writes nothing and knows no server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/machine.h"

namespace kdgat {

/// One number of a series.
struct Point {
  std::string key;   ///< "val_loss"
  double value = 0;  ///< finite
  int64_t step = 0;  ///< epoch or episode; 0 at the start and of results
  double unix = 0;   ///< seconds since 1970
};

/// The whole lines of a journal, each once. A line that is no JSON object (a killed writer's) is
/// passed over; one without its end yet waits.
class JournalReader {
 public:
  struct Line {
    nlohmann::json event;
    int64_t end = 0;  ///< offset behind the line
  };

  explicit JournalReader(std::filesystem::path file, int64_t offset = 0)
      : file_(std::move(file)), offset_(offset) {}

  /// What came since the last call; none if the file cannot be read.
  std::vector<Line> read();
  int64_t offset() const { return offset_; }

 private:
  std::filesystem::path file_;
  int64_t offset_;
};

/// A step's folder, read only.
class RecordedStep {
 public:
  explicit RecordedStep(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path journal() const { return folder_ / "journal.jsonl"; }
  /// As frozen when the step started; an empty object if it is gone.
  nlohmann::json config() const;
  /// What step.json says the step made ("model", "size"); an empty object before its end.
  nlohmann::json facts() const;
  /// The numbers of an event: of an epoch, an episode, the machine's memory, and at a good end
  /// those of metrics.json. None for an event of another form: stages may send what they like.
  std::vector<Point> points(const nlohmann::json& event) const;

 private:
  bool is_on_gpu() const;

  std::filesystem::path folder_;
  mutable std::optional<bool> on_gpu_;  ///< once config.json was read
};

/// When an event was written, in seconds since 1970; 0 if it does not say.
double unix_of(const nlohmann::json& event);

/// The numbers of a step's result: `{model}_{metric}` and `test.{model}.{scenario}.{metric}` of
/// what holds such tables, `result.{metric}` of others. What is no flat number is left out.
std::vector<Point> result_points(const nlohmann::json& metrics, double unix);

/// The event that records the machine's memory: cpu_mem_percent, cpu_mem_used_gb,
/// cpu_mem_available_gb, in GiB. `index`: of the epoch, 0 at the start.
nlohmann::json memory_event(const Machine& machine, int64_t index);

/// The shortest text that reads back as this number.
std::string exact_number(double value);

}  // namespace kdgat
