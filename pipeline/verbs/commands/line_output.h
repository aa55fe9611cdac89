// Lines of text as a verb's result, to standard output or to a file that appears whole or not at
// all.
#pragma once

#include <exception>
#include <optional>
#include <ostream>
#include <string>

#include "kdgat/atomic_file.h"

namespace kdgat {

class LineOutput {
 public:
  /// `file`: where to; "" = `out`, which outlives this. `flushes`: each text is wanted as it comes.
  LineOutput(std::ostream& out, const std::string& file, bool flushes);

  /// Throws nothing: it is called from inside of stages. Once it has failed nothing more is
  /// written.
  void write(const std::string& text);
  /// What was thrown inside of `make` counts as a failure to write.
  template <class Make>
  void write_made(const Make& make) {
    if (is_stopped()) return;
    try {
      put(make());
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  /// Throws Error(kData or kStageFailed) if not everything could be written.
  void finish();

  /// Whoever read the lines has gone, as `head` does: no failure, and nothing more to do.
  bool is_closed() const { return is_closed_; }
  bool is_stopped() const { return is_closed_ || failure_; }

 private:
  void put(const std::string& text);
  void check_written();

  std::ostream& out_;
  bool flushes_, is_closed_ = false;
  std::exception_ptr failure_;
  std::optional<AtomicFile> file_;
};

}  // namespace kdgat
