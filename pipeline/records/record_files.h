// Files made of the numbers of each step, beside its journal:
//   metrics.csv                              time,step,name,value: one number a line
//   tensorboard/events.out.tfevents.T.kdgat  the same for TensorBoard; T = when the step first ran
// A file is a function of the journal: written again it has the same bytes, so what a killed writer
// left is completed, and what is not its own is replaced. A continued step says again what came
// after its checkpoint: metrics.csv then has what was said last, each number of a step once.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/records/record_sink.h"
#include "pipeline/records/records.h"

namespace kdgat {

/// How numbers become the bytes of a file.
struct RecordFormat {
  std::string (*name)(double unix);   ///< of the file, below the step's folder
  std::string (*start)(double unix);  ///< what it begins with; `unix`: of the first event
  std::string (*add)(const nlohmann::json& event, const std::vector<Point>& points);
  /// Whether a number that is said again takes the place of the first; else it follows it, for a
  /// reader that is at the file's end already.
  bool replaces = false;
};
const RecordFormat& csv_format();
const RecordFormat& tensorboard_format();

/// The file of one step.
class RecordFile {
 public:
  RecordFile(const std::filesystem::path& step_folder, const RecordFormat& format);

  /// Appends what came since the last call; the first call reads the journal from its beginning.
  /// Throws Error(kData) if the file cannot be written; the next call then begins anew.
  void update();

 private:
  void begin(const nlohmann::json& first_event);
  bool is_said_again(const std::vector<Point>& points);
  void begin_anew();
  void write();

  RecordedStep step_;
  const RecordFormat& format_;
  JournalReader reader_;
  std::map<std::string, int64_t> last_;  ///< step of each name's last number, where they replace
  bool has_begun_ = false;
  std::filesystem::path path_;
  std::string fresh_;    ///< not yet written
  int64_t written_ = 0;  ///< bytes
};

/// The file of every step of a run.
class FileSink : public RecordSink {
 public:
  FileSink(std::filesystem::path run, const RecordFormat& format)
      : run_(std::move(run)), format_(format) {}
  int64_t update() override;

 private:
  std::filesystem::path run_;
  const RecordFormat& format_;
  std::map<std::string, RecordFile> files_;  ///< by step
};

/// Folders of the steps of a run that have a journal, in the order of their names.
std::vector<std::filesystem::path> recorded_steps(const std::filesystem::path& run);

}  // namespace kdgat
