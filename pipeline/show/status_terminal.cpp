#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "kdgat/text.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/printable_stream.h"
#include "pipeline/show/status.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kLineSeconds = 10;
constexpr double kBarAfterSeconds = 0.5;
constexpr std::size_t kBarCells = 16;
constexpr std::size_t kMostNeeded = 2;  // parts of a line: the phase and the count

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t have = text_width(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t have = text_width(text);
  return have < width ? std::string(width - have, ' ') + text : text;
}

/// The first columns of a text, never cutting through a character, and a sign that there was more.
std::string clipped(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return text;
  std::string out;
  std::size_t columns = 1;  // of the sign
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && columns++ >= width) break;
    out += c;
  }
  return width == 0 ? "" : out + "~";
}

std::string format_metric(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return grouped(value.get<int64_t>());
  if (!value.is_number()) return value.dump();
  const double number = value.get<double>();
  const double size = std::abs(number);
  if (size >= 1e4) return format_count(number);
  return format_number(size >= 0.1 || size == 0 ? "%.3f" : "%.3g", number);
}

/// What format_progress() says, part by part: the phase and the count are the first.
std::vector<std::string> progress_parts(const Progress& now) {
  std::vector<std::string> out;
  if (!now.phase.empty()) out.push_back(now.phase);
  if (now.unit == "bytes") {
    const std::string done = format_bytes(static_cast<uint64_t>(std::max<int64_t>(now.done, 0)));
    out.push_back(now.total > 0 ? done + " of " + format_bytes(static_cast<uint64_t>(now.total))
                                : done);
  } else if (!now.unit.empty()) {
    out.push_back(now.unit + " " + std::to_string(now.done) +
                  (now.total > 0 ? "/" + std::to_string(now.total) : ""));
  }
  for (const auto& [name, value] : now.metrics.items()) {
    if (name != "rate" && name != "rate_unit") out.push_back(name + " " + format_metric(value));
  }
  if (const auto rate = number_there(now.metrics, "rate")) {
    const std::string unit = word(now.metrics, "rate_unit");
    out.push_back(" " + format_count(*rate) + " " + (unit.empty() ? "1/s" : unit));
  }
  return out;
}

class TerminalStatus : public Status {
 public:
  TerminalStatus(std::ostream& out, Terminal terminal, Clock clock)
      : out_(out), terminal_(terminal), clock_(std::move(clock)) {}
  TerminalStatus(const TerminalStatus&) = delete;
  TerminalStatus& operator=(const TerminalStatus&) = delete;
  ~TerminalStatus() override { erase(); }

  void announce(const std::vector<std::string>& steps) override {
    for (const std::string& step : steps) name_width_ = std::max(name_width_, text_width(step));
  }

  void begin(const std::string& step) override {
    started_ = clock_();
    // The first line of a quick step is its result; only longer work reports in between.
    next_ = started_ + (terminal_.moves ? kBarAfterSeconds : kLineSeconds);
    announce({step});
    rate_from_ = {started_, 0};
    phase_.clear();
  }

  void progress(const Progress& now) override {
    const double time = clock_();
    if (now.phase != phase_ || now.done < rate_from_.done) {
      phase_ = now.phase;
      rate_from_ = {time, now.done};
    }
    if (terminal_.verbosity < 0 || time < next_) return;
    next_ = time + (terminal_.moves ? kRedrawSeconds : kLineSeconds);
    const std::string name = padded(one_line(now.step), name_width_) + "  ";
    std::vector<std::string> tail;
    if (now.memory_bytes > 0) tail.push_back("  " + format_bytes(now.memory_bytes));
    const double left = time_left(now, time);
    if (left >= 0) tail.push_back("  " + format_seconds(left) + " left");
    if (!terminal_.moves) {
      out_ << name << one_line(format_progress(now)) << joined(tail, "") << '\n' << std::flush;
      return;
    }
    const std::string line = fitted(name, now, std::move(tail));
    erase();
    out_ << line << std::flush;
    is_drawn_ = true;
  }

  void end(const StepEnd& end) override {
    erase();
    const bool is_bad = end.outcome != "done" && end.outcome != "kept";
    if (terminal_.verbosity < 0 && !is_bad) return;
    announce({end.step});
    std::string text = printable(end.text);
    if (end.outcome != "done") text = end.outcome + (text.empty() ? "" : "  " + text);
    std::string tail;
    if (end.memory_bytes > 0) tail += "   " + format_bytes(end.memory_bytes);
    if (end.seconds > 0) tail += "  " + right(format_seconds(end.seconds), 7);
    std::string line = padded(one_line(end.step), name_width_) + "  " + text;
    const std::size_t room = static_cast<std::size_t>(std::min(terminal_.columns, 100));
    if (!tail.empty())
      line = padded(line, room > text_width(tail) ? room - text_width(tail) : 0) + tail;
    coloured(line, is_bad ? "31" : "");
    out_ << '\n' << std::flush;
  }

  void message(const std::string& level, const std::string& text) override {
    erase();
    if ((level == "info" || level == "note") && terminal_.verbosity < 0) return;
    if (level == "note") out_ << "note: ";
    if (level == "warning") coloured("warning: ", "33");
    if (level == "error") coloured("error: ", "31");
    out_ << printable(shortened(text, kLongestMessage)) << '\n' << std::flush;
  }

 private:
  struct Mark {
    double time = 0;
    int64_t done = 0;
  };

  void erase() {
    if (is_drawn_) write_control(out_, "\r\033[K");
    if (is_drawn_) out_ << std::flush;
    is_drawn_ = false;
  }

  /// One line of a terminal. What has no room is left out as a whole: the last figures first, then
  /// the bar, then what stands behind; a name or phase that is too long is cut.
  std::string fitted(const std::string& name, const Progress& now,
                     std::vector<std::string> tail) const {
    const auto columns = static_cast<std::size_t>(std::max(20, terminal_.columns - 1));
    std::string bar = bar_of(now);
    std::vector<std::string> parts = progress_parts(now);
    const auto line = [&] { return name + bar + one_line(joined(parts, "  ")) + joined(tail, ""); };
    while (text_width(line()) > columns) {
      if (parts.size() > kMostNeeded) {
        parts.pop_back();
      } else if (!bar.empty()) {
        bar.clear();
      } else if (tail.size() > 1) {
        tail.pop_back();
      } else {
        const std::size_t room = columns - std::min(columns, text_width(joined(tail, "")));
        return clipped(name + one_line(joined(parts, "  ")), room) + joined(tail, "");
      }
    }
    return line();
  }

  /// Writes a text in a colour; "" = in none.
  void coloured(const std::string& text, const std::string& code) {
    const bool has_colour = terminal_.colours && !code.empty();
    if (has_colour) write_control(out_, "\033[" + code + "m");
    out_ << text;
    if (has_colour) write_control(out_, "\033[0m");
  }

  static std::string bar_of(const Progress& now) {
    if (now.total <= 0) return "";
    const double part =
        std::clamp(static_cast<double>(now.done) / static_cast<double>(now.total), 0.0, 1.0);
    const std::size_t full = static_cast<std::size_t>(part * kBarCells);
    std::string cells(full, '=');
    if (full < kBarCells) cells += '>';
    return "[" + padded(cells, kBarCells) + "] " + format_number("%3.0f %%  ", part * 100);
  }

  /// Negative while it cannot be told.
  double time_left(const Progress& now, double time) const {
    const double done = static_cast<double>(now.done - rate_from_.done);
    if (now.total <= 0 || done <= 0 || time <= rate_from_.time) return -1;
    return static_cast<double>(now.total - now.done) * (time - rate_from_.time) / done;
  }

  std::ostream& out_;
  Terminal terminal_;
  Clock clock_;
  std::size_t name_width_ = 8;
  double started_ = 0, next_ = 0;
  Mark rate_from_;
  std::string phase_;
  bool is_drawn_ = false;
};

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Terminal Terminal::of(int fd, int verbosity) {
  Terminal terminal;
  terminal.verbosity = verbosity;
  const char* term = std::getenv("TERM");
  const bool is_dumb = term == nullptr || std::string(term) == "dumb";
  const bool is_terminal = ::isatty(fd) == 1;
  terminal.moves = is_terminal && !is_dumb;
  terminal.colours = terminal.moves && !is_set("NO_COLOR");
  const char* forced = std::getenv("CLICOLOR_FORCE");
  if (forced != nullptr && *forced != '\0' && std::string(forced) != "0" && !is_set("NO_COLOR")) {
    terminal.colours = true;
  }
  winsize size{};
  if (is_terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
  } else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && *columns != '\0') {
    terminal.columns = std::max(20, std::atoi(columns));
  }
  return terminal;
}

Clock steady_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

std::unique_ptr<Status> make_terminal_status(std::ostream& out, Terminal terminal, Clock clock) {
  return std::make_unique<TerminalStatus>(out, terminal, std::move(clock));
}

std::string format_progress(const Progress& now) { return joined(progress_parts(now), "  "); }

}  // namespace kdgat
