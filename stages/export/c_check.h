// The C files of an export, compiled by the machine's compiler and run, held against the native
// engine.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/log_reading.h"
#include "engine/data/core/dataset_files.h"
#include "engine/data/core/note.h"
#include "engine/decision/stream/score_options.h"
#include "export/c_size.h"
#include "export/check.h"

namespace kdgat::exporting {

class CCheck {
 public:
  /// `folder`: where the files are. `model`: what they were made of, judged with `options`.
  /// `is_exact`: its weights are not rounded. Throws Error(kData) where the files do not compile.
  CCheck(const std::filesystem::path& folder, std::string name, std::filesystem::path model,
         decision::ScoreOptions options, bool is_exact);
  ~CCheck();
  CCheck(const CCheck&) = delete;
  CCheck& operator=(const CCheck&) = delete;

  /// "cc"; none: this machine has no C compiler.
  static std::optional<std::string> compiler();
  /// The test vectors in the folder. Throws Error(kData) where one does not hold.
  void run_vectors() const;
  /// None where this machine cannot measure it.
  std::optional<MeasuredSize> size() const;
  /// Made-up traffic of these ids, by CanFrame::key(). `threshold`: of the decisions.
  Check run_made_up(std::span<const int64_t> keys, double threshold) const;
  /// All frames of the first bus of a log of any form; `notes` gets what CanLog::problems() says of
  /// it. Throws Error(kData) for a log without times, which candump's form cannot hold, and
  /// Error(kInterrupted) once `cancelled`.
  Check run_log(const data::LogFile& log, const data::LogReading& reading, double threshold,
                const std::function<bool()>& cancelled, data::Notes& notes) const;

 private:
  using NextFrame = std::function<bool(data::CanFrame&)>;
  Check run(const NextFrame& next, const std::string& where, double threshold) const;

  std::filesystem::path folder_, model_, work_;
  std::string name_;
  decision::ScoreOptions options_;
  bool is_exact_;
};

}  // namespace kdgat::exporting
