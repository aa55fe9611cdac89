// The two files a step's numbers are written to beside its journal:
//   metrics.csv                              time,step,name,value: one number a line
//   tensorboard/events.out.tfevents.T.kdgat  the same for TensorBoard; T = when the step first ran
// Both are functions of the journal: written again they have the same bytes, so what a killed
// writer left is completed, and what is not theirs is replaced.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/records/records.h"

namespace kdgat {

class RecordFiles {
 public:
  RecordFiles(const std::filesystem::path& step_folder, bool csv, bool tensorboard);

  /// Appends what came since the last call; the first call reads the journal from its beginning.
  /// Throws Error(kData) if a file cannot be written; the next call then begins anew.
  void update();

 private:
  struct File {
    std::filesystem::path path;
    std::string fresh;    ///< not yet written
    int64_t written = 0;  ///< bytes
  };

  void begin(const nlohmann::json& first_event);
  void add(const nlohmann::json& event);
  void write(File& file) const;

  RecordedStep step_;
  bool csv_, tensorboard_;
  JournalReader reader_;
  bool begun_ = false;
  File csv_file_, event_file_;
};

}  // namespace kdgat
