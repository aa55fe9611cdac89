#include "pipeline/verbs/commands/score_output.h"

#include <utility>

#include "kdgat/error.h"
#include "kdgat/text.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr int64_t kShown = 10;  // alarms

/// "12.340000 to 13.100000 s", or windows where the log has no times.
std::string span_of(const AlarmEvent& alarm) {
  if (!alarm.begin.is_number() || !alarm.end.is_number()) {
    return "windows " + std::to_string(alarm.first_window) + " to " +
           std::to_string(alarm.last_window);
  }
  return format_number("%.3f", alarm.begin.get<double>()) + " to " +
         format_number("%.3f", alarm.end.get<double>()) + " s";
}

std::string begin_of(const AlarmEvent& alarm) {
  if (!alarm.begin.is_number()) return "window " + std::to_string(alarm.first_window);
  return format_number("%.3f", alarm.begin.get<double>()) + " s";
}
std::string ids_of(const AlarmEvent& alarm) {
  std::string out;
  for (std::size_t i = 0; i < alarm.ids.size(); ++i) {
    out += (out.empty() ? " (" : ", ") + alarm.ids[i];
    const bool is_named = i < alarm.names.size() && !alarm.names[i].empty();
    if (is_named) out += " " + alarm.names[i];
  }
  return out.empty() ? out : out + ")";
}

}  // namespace

void AlarmTexts::add(const AlarmEvent& alarm) {
  if (alarm.open) {
    if (is_live_) status_.message("warning", "alarm at " + begin_of(alarm) + ids_of(alarm));
    return;
  }
  if (++count_ > kShown) return;
  texts_ += texts_.empty() ? "" : "; ";
  if (names_files_) texts_ += alarm.file + " ";
  texts_ += span_of(alarm) + ids_of(alarm);
}

void AlarmTexts::finish() {
  if (count_ == 0) return;
  if (count_ > kShown) texts_ += "; and " + grouped(count_ - kShown) + " more";
  status_.message("info", grouped(count_) + (count_ == 1 ? " alarm: " : " alarms: ") + texts_);
}

void WindowLines::add(const json& event) {
  const bool is_window = kind_of(event) == EventKind::kWindow;
  if (!is_window && !is_json_) return;
  out_.write_made([&] {
    return !is_json_ ? csv_line(event.get<WindowEvent>())
                     : json_line(is_window ? body_of(event) : event);
  });
}

std::string WindowLines::csv_line(const WindowEvent& window) {
  std::string line;
  if (!std::exchange(has_header_, true)) {
    line = "time,window,row,ids,score,decision";
    for (std::size_t i = 1; i <= reasons_; ++i) line += ",reason_" + std::to_string(i);
    line += shows_frames_ ? ",frames" : "";
    line += names_files_ ? ",file\n" : "\n";
  }
  line += window.time.is_null() ? "" : format_number("%.6f", window.time.get<double>());
  for (const int64_t number : {window.window, window.row, window.ids}) {
    line += "," + std::to_string(number);
  }
  line += format_number(",%.9g,", static_cast<double>(window.score)) + window.decision;
  for (std::size_t i = 0; i < reasons_; ++i) {
    line += "," + (i < window.reasons.size() ? csv_field(window.reasons[i]) : "");
  }
  if (shows_frames_) {
    std::string frames;
    for (const FrameEvent& one : window.frames) {
      frames += (frames.empty() ? "" : " ") + std::to_string(one.row);
    }
    line += "," + frames;
  }
  if (names_files_) line += "," + csv_field(window.file);
  return line + "\n";
}

int AttackCount::finish(const std::string& fail_on, Status& status) const {
  if (fail_on.empty() || flagged_ == 0) return 0;
  status.message("error", "attack found: " + grouped(flagged_) + " of " + grouped(windows_) +
                              " windows flagged");
  return static_cast<int>(ExitCode::kAttack);
}

}  // namespace kdgat
