// The log file of a step. Owns the file; the standard output and error of the stage's process go to
// the same file, so both only append.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace kdgat {

class StepLog {
 public:
  /// Throws Error(kData) naming the path if it cannot be opened for appending.
  explicit StepLog(const std::filesystem::path& path);
  ~StepLog();
  StepLog(StepLog&&) noexcept;
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  StepLog& operator=(StepLog&&) = delete;

  /// `level`: "info", "warning" or "error". Written at once; a full disk is no error here.
  void write(const std::string& level, const std::string& text);

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

/// The last lines of a file, for a message; "" if it cannot be read.
std::string last_lines(const std::filesystem::path& path, int count);

}  // namespace kdgat
