// What kdgat score writes: a line a window, alarms for people, and the count for --fail-on.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "kdgat/event.h"
#include "pipeline/cli/cli.h"
#include "pipeline/show/status.h"
#include "pipeline/verbs/commands/line_output.h"

namespace kdgat {

inline constexpr const char* kAttackDecision = "attack";  ///< of a flagged window

/// Alarms for people: each as it opens while a log is live, all of them in one line at the end.
class AlarmTexts {
 public:
  AlarmTexts(Status& status, bool names_files, bool is_live)
      : status_(status), names_files_(names_files), is_live_(is_live) {}

  void add(const AlarmEvent& alarm);
  /// Nothing of none.
  void finish();

 private:
  Status& status_;
  bool names_files_, is_live_;
  int64_t count_ = 0;
  std::string texts_;
};

/// Windows as text, to where the user wants them.
class WindowLines {
 public:
  /// `file`: "" = to standard output. `names_files`: a line says of which log it is.
  WindowLines(Context& context, const std::string& file, bool is_live, bool names_files)
      : out_(context.out, file, is_live), is_json_(context.json), names_files_(names_files) {}

  /// A window has at most so many reasons: a column each, where columns are not yet named.
  void set_reasons(std::size_t most) { reasons_ = most; }
  /// Frames that were injected are a column, where columns are not yet named.
  void show_frames() { shows_frames_ = true; }

  /// Throws nothing: it is called from inside the stage.
  void add(const nlohmann::json& event);

  void finish() { out_.finish(); }
  bool is_closed() const { return out_.is_closed(); }
  bool is_stopped() const { return out_.is_stopped(); }

 private:
  std::string csv_line(const WindowEvent& window);

  LineOutput out_;
  bool is_json_, names_files_;
  bool has_header_ = false, shows_frames_ = false;
  std::size_t reasons_ = 0;
};

/// How many windows were scored and flagged; for --fail-on.
class AttackCount {
 public:
  void add(const WindowEvent& window) {
    ++windows_;
    if (window.decision == kAttackDecision) ++flagged_;
  }
  /// The exit code of work that went well, after a sentence about attacks if it is to fail on them.
  int finish(const std::string& fail_on, Status& status) const;

 private:
  int64_t windows_ = 0, flagged_ = 0;
};

}  // namespace kdgat
