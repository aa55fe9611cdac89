// The journal of a step, journal.jsonl: only here is it read. What an event is stands in
// kdgat/event.h; here are what a whole journal comes to, and the names under which its numbers are
// drawn and recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/event.h"
#include "pipeline/system/machine.h"

namespace kdgat {

inline constexpr const char* kJournalFile = "journal.jsonl";

/// The whole lines of a journal, each once. A line that is no JSON object (a killed writer's), or
/// is nested deeper than kDeepestJson, is passed over; one without its end yet waits.
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

/// When an event was written: as it says, and in seconds since 1970; "" and 0 if it does not say.
std::string time_of(const nlohmann::json& event);
double unix_of(const nlohmann::json& event);

/// Values over epochs, or bytes over seconds.
using Series = std::vector<std::pair<double, double>>;

/// One start of a step's process, and its end.
struct JournalAttempt {
  double started = 0;           ///< seconds since 1970; 0 = not said
  std::optional<double> ended;  ///< none: it still runs, or was killed
  EndEvent end;
};

/// What the last attempt said of memory, over seconds since its start.
struct JournalMemory {
  double seconds = 0;  ///< to the last event
  Series tensors, reserved;
  std::vector<std::pair<double, std::string>> events;  ///< kMemorySplit, kMemoryRelease, ...
};

/// What a step said while it ran. Of a step that was continued, every epoch once, as it was last.
struct StepJournal {
  std::string unit;                      ///< kEpoch or kEpisode; "" if there are none
  std::map<std::string, Series> series;  ///< by name: train_loss, val_loss, lr, ...; numbers alone
  std::vector<JournalAttempt> attempts;
  std::vector<std::string> warnings;  ///< and errors
  JournalMemory memory;

  /// Seconds of all attempts that came to an end.
  double seconds() const;
};

StepJournal read_journal(const std::filesystem::path& step_folder);

/// In which chart a series is drawn.
enum class Curve { kNone, kLoss, kShare, kError, kTerm, kLearningRate };
Curve curve_of(const std::string& series);
/// The series by which several runs are laid over one another.
const std::vector<std::string>& compared_series();

/// The numbers of an event under the names in which they are recorded; none for one whose numbers
/// are no series.
std::vector<std::pair<std::string, double>> recorded_numbers(const MetricsEvent& event,
                                                             bool is_on_gpu);

/// The plan of memory that an event tells; null if it tells none.
nlohmann::json announced_plan(const MetricsEvent& event);

/// The event that records the machine's memory: cpu_mem_percent, cpu_mem_used_gb,
/// cpu_mem_available_gb, in GiB. `index`: of the epoch, 0 at the start.
MetricsEvent memory_event(const Machine& machine, int64_t index);

}  // namespace kdgat
