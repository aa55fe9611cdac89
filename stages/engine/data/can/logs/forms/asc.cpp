// Vector's text logging format. Layout of the lines: CANoe's and CANalyzer's own logs, and the
// public descriptions of python-can's reader and of can-utils.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/binary_reader.h"
#include "engine/data/can/logs/forms/civil_time.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/text_reader.h"

namespace kdgat::data {

using namespace row;

namespace {

using Say = Passed::Say;

/// Lines with a time that are no frames, by how the word behind the time begins; the first that
/// fits counts.
struct LineKind {
  std::string_view word;
  const char* name;
  Say say;
};
constexpr std::array<LineKind, 10> kLineKinds = {
    {{"Start", "starts", Say::kWithOthers},
     {"//", "comments", Say::kWithOthers},
     {"log", "triggers", Say::kWithOthers},
     {"CAN", "states of a controller", Say::kWithOthers},
     {"LIN", "LIN", Say::kAlways},
     {"Li", "LIN", Say::kAlways},
     {"L", "LIN", Say::kAlways},
     {"Fr", "FlexRay", Say::kAlways},
     {"ETH", "Ethernet", Say::kAlways},
     {"", "events", Say::kAlways}}};

/// A number, or a minus and a number.
bool begins_as_time(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && word.front() >= '0' && word.front() <= '9';
}

class AscReader : public TextReader {
 public:
  using TextReader::TextReader;
  const char* format() const override { return "asc"; }

 protected:
  const char* read_line(std::string_view line, CanFrame& frame, bool& is_frame) override {
    std::string_view rest = line;
    const std::string_view first = row::word(rest);
    if (first.empty()) return nullptr;
    if (!begins_as_time(first)) return read_header(first, rest);
    double time = 0;
    KDGAT_TRY(row::read_time(first, time));
    frame.time = seconds_since_1970(time);
    if (!std::isfinite(frame.time)) return row::kBadTime;  // a sum of relative times
    const std::string_view bus = row::word(rest);
    if (bus == "CANFD") return read_fd(rest, frame, is_frame);
    if (bus == "CANXL") return read_xl(rest, frame, is_frame);
    if (bus.empty()) return row::kFewFields;
    if (bus.front() >= '0' && bus.front() <= '9') return read_classic(bus, rest, frame, is_frame);
    for (const LineKind& kind : kLineKinds) {
      if (!bus.starts_with(kind.word)) continue;
      passed().count(kind.name, kind.say);
      break;
    }
    return nullptr;
  }

 private:
  const char* read_header(std::string_view key, std::string_view rest) {
    if (is_comment(key)) {
      passed().count("comments", Say::kWithOthers);
    } else if (row::same_word(key, "base")) {
      return read_base(rest);
    } else if (row::same_word(key, "date")) {
      read_start(rest, "the date");
    } else if (row::same_word(key, "begin")) {
      row::word(rest);  // Triggerblock
      if (!row::trim(rest).empty()) read_start(rest, "the date of the trigger block");
    } else if (!row::same_word(key, "end") && !row::same_word(key, "internal") &&
               !row::same_word(key, "no") && !row::same_word(key, "previous")) {
      return "neither a frame nor a known line of an ASC log";
    }
    return nullptr;
  }

  const char* read_base(std::string_view rest) {
    const std::string_view base = row::word(rest);
    is_decimal_ = row::same_word(base, "dec");
    if (!is_decimal_ && !row::same_word(base, "hex")) return "the base is neither hex nor dec";
    is_relative_ = row::same_word(row::word(rest), "timestamps") &&
                   row::same_word(row::word(rest), "relative");
    return nullptr;
  }

  /// The date of the file may be that of its writing; that of a trigger block, which follows it, is
  /// when its times begin.
  void read_start(std::string_view text, const char* what) {
    text = row::trim(text);
    const std::optional<double> seconds = read_date(text);
    if (!seconds && has_start()) {
      note(std::string(what) + " is not understood and not used: " + file::shown(text));
    } else if (!seconds) {
      refuse_start(what, text);
    } else if (has_time_ && !is_relative_) {
      next_start_ = *seconds;
    } else {
      set_start(*seconds);
      clock_ = 0;
    }
  }

  double seconds_since_1970(double time) {
    if (is_relative_) return start() + (clock_ += time);
    // The times of a later block may go on, or begin anew: only then they count from its date.
    const bool begins_anew = next_start_ && time < last_time_;
    if (begins_anew) set_start(*next_start_);
    if (begins_anew || !has_time_) count_from_midnight(time);
    next_start_.reset();
    has_time_ = true;
    last_time_ = time;
    return start() + time;
  }

  /// BUSMASTER writes the time of day, which is about that of the date.
  void count_from_midnight(double time) {
    constexpr double kDay = 86400, kNear = 60, kEarly = 300;
    const double time_of_day = std::fmod(start(), kDay);
    if (!has_start() || time < kEarly || std::abs(time - time_of_day) > kNear) return;
    set_start(start() - time_of_day);
    note("the first time is the time of day of the date: times are read as seconds since midnight");
  }

  const char* read_classic(std::string_view bus, std::string_view rest, CanFrame& frame,
                           bool& is_frame) {
    const std::string_view id = row::word(rest);
    if (row::same_word(id, "errorframe")) return count_error();
    if (id.starts_with("Statistic")) return count("statistics");
    if (row::same_word(id, "overloadframe")) return count("overload frames");
    const std::string_view direction = row::word(rest);
    if (direction == "TxRq") return count_request();
    if (!is_direction(direction)) return kBadDirection;
    frame.tx = direction == "Tx";
    KDGAT_TRY(read_id(id, frame));
    const std::string_view kind = row::word(rest);
    if (kind == "r" || kind == "R") {
      set_remote(rest, frame);
    } else if (kind == "d" || kind == "D") {
      int64_t code = 0, more = 0;
      if (!read_number(row::word(rest), code) || code < 0 || code > 15) return row::kBadLength;
      KDGAT_TRY(read_bytes(rest, std::min<int64_t>(code, 8), frame));
      if (read_number(row::word(rest), more)) return row::kBadLength;
    } else {
      return "neither data (d) nor a remote frame (r)";
    }
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  const char* read_fd(std::string_view rest, CanFrame& frame, bool& is_frame) {
    const std::string_view bus = row::word(rest), direction = row::word(rest), id = row::word(rest);
    if (row::same_word(id, "errorframe")) return count_error();
    if (direction == "TxRq") return count_request();
    if (!is_direction(direction)) return kBadDirection;
    frame.tx = direction == "Tx";
    KDGAT_TRY(read_id(id, frame));
    std::string_view flag = row::word(rest);  // bit rate switch, before it the name of the message
    if (flag != "0" && flag != "1") flag = row::word(rest);
    if (flag != "0" && flag != "1") return "no bit rate switch, which is 0 or 1";
    const std::string_view error_state = row::word(rest);
    int64_t code = 0, length = 0;
    if (!read_number(row::word(rest), code) || !row::read_decimal(row::word(rest), length)) {
      return row::kBadLength;
    }
    KDGAT_TRY(read_long_bytes(rest, length, frame));
    row::word(rest);  // duration
    row::word(rest);  // bits
    constexpr uint64_t kFd = 0x1000, kRemote = 0x10;
    uint64_t flags = kFd;  // without them the line says by its kind what the frame is
    if (const std::string_view text = row::word(rest); !text.empty()) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flags, 16);
      if (error != std::errc() || end != text.data() + text.size()) {
        return "the flags are not hexadecimal";
      }
    }
    frame.fd = (flags & kFd) != 0 || length > 8;
    frame.remote = (!frame.fd && (flags & kRemote) != 0) || (length == 0 && code > 0);
    if (frame.remote) frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(code, 0, 8));
    if (frame.fd) {
      frame.fd_flags = static_cast<uint8_t>((flag == "1" ? 1 : 0) | (error_state == "1" ? 2 : 0));
    }
    KDGAT_TRY(check_length(code, frame));
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  /// A channel of CAN XL also carries frames of CAN and CAN FD, with 11 and 29 bits.
  const char* read_xl(std::string_view rest, CanFrame& frame, bool& is_frame) {
    const std::string_view bus = row::word(rest), direction = row::word(rest);
    const std::string_view kind = row::word(rest);
    if (row::same_word(kind, "errorframe")) return count_error();
    if (direction == "TxRq") return count_request();
    if (!is_direction(direction)) return kBadDirection;
    if (kind == "XLFF") return count("CAN XL frames");
    frame.tx = direction == "Tx";
    const bool is_extended = kind == "CEFF" || kind == "FEFF";
    if (!is_extended && kind != "CBFF" && kind != "FBFF") return "a frame format that is not known";
    row::word(rest);  // duration
    row::word(rest);  // bits
    std::string_view id = row::word(rest);
    if (is_extended && !id.ends_with('x')) {
      KDGAT_TRY(read_digits(id, frame));
      frame.extended = true;
    } else {
      KDGAT_TRY(read_id(id, frame));
      if (frame.extended != is_extended) return "the id does not agree with the frame format";
    }
    int64_t code = 0, length = 0;
    std::string_view number = row::word(rest), next = row::word(rest);
    if (!read_number(number, code) || !row::read_decimal(next, length)) {  // a name stands there
      if (!read_number(next, code) || !row::read_decimal(row::word(rest), length)) {
        return row::kBadLength;
      }
    }
    KDGAT_TRY(read_long_bytes(rest, length, frame));
    frame.fd = kind.front() == 'F';
    frame.remote = !frame.fd && length == 0 && code > 0;
    if (frame.remote) frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(code, 0, 8));
    KDGAT_TRY(check_length(code, frame));
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  static constexpr const char* kBadDirection = "the direction is neither Rx, Tx nor TxRq";
  static bool is_direction(std::string_view word) { return word == "Rx" || word == "Tx"; }

  const char* count(const char* kind) {
    passed().count(kind);
    return nullptr;
  }
  const char* count_error() {
    ++passed().error_frames;
    return nullptr;
  }
  /// A request to send: its frame follows when it is on the bus.
  const char* count_request() {
    passed().count("requests to send", Say::kWithOthers);
    return nullptr;
  }

  /// The length that it asks for may stand behind the letter.
  void set_remote(std::string_view rest, CanFrame& frame) const {
    frame.remote = true;
    int64_t code = 0;
    if (read_number(row::word(rest), code)) {
      frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(code, 0, 8));
    }
  }

  /// What the length code says must be the bytes that follow.
  static const char* check_length(int64_t code, const CanFrame& frame) {
    if (code < 0 || code >= static_cast<int64_t>(kFdLengths.size())) return row::kBadLength;
    if (frame.remote) return frame.length == 0 ? nullptr : row::kBadLength;
    const int64_t length =
        frame.fd ? kFdLengths[static_cast<std::size_t>(code)] : std::min<int64_t>(code, 8);
    return frame.length == length ? nullptr : row::kBadLength;
  }

  const char* read_digits(std::string_view text, CanFrame& frame) const {
    return is_decimal_ ? row::read_decimal_id(text, frame) : row::read_hex_id(text, frame);
  }

  const char* read_id(std::string_view text, CanFrame& frame) const {
    const bool is_extended = text.ends_with('x') || text.ends_with('X');
    if (is_extended) text.remove_suffix(1);
    KDGAT_TRY(read_digits(text, frame));
    if (!is_extended && frame.id >= 2048) return "an id beyond 11 bits without an x behind it";
    frame.extended = is_extended;
    return nullptr;
  }

  /// In the base of the log.
  bool read_number(std::string_view text, int64_t& value) const {
    if (is_decimal_) return row::read_decimal(text, value);
    if (text.empty() || text.size() > 2) return false;
    value = 0;
    for (const char c : text) {
      const int digit = row::hex(c);
      if (digit < 0) return false;
      value = value * 16 + digit;
    }
    return true;
  }

  const char* read_long_bytes(std::string_view& rest, int64_t length, CanFrame& frame) const {
    return length < 0 || length > 64 ? row::kLongFdPayload : read_bytes(rest, length, frame);
  }

  const char* read_bytes(std::string_view& rest, int64_t length, CanFrame& frame) const {
    for (int64_t i = 0; i < length; ++i) {
      const std::string_view text = row::word(rest);
      int64_t byte = 0;
      if (text.empty()) return row::kBadLength;
      if (!read_number(text, byte) || byte < 0 || byte > 255) return row::kBadPayload;
      frame.payload[static_cast<std::size_t>(i)] = static_cast<uint8_t>(byte);
    }
    frame.length = static_cast<uint8_t>(length);
    return nullptr;
  }

  double clock_ = 0, last_time_ = 0;
  std::optional<double> next_start_;  // of a later trigger block
  bool is_decimal_ = false, is_relative_ = false, has_time_ = false;
};

}  // namespace

bool is_asc(std::string_view head) {
  std::string_view rest = without_comments(head);
  const std::string_view line = next_line(rest);
  std::string_view words = line;
  const std::string_view key = row::word(words);
  if (row::same_word(key, "base")) {
    const std::string_view base = row::word(words);
    return row::same_word(base, "hex") || row::same_word(base, "dec");
  }
  if (!row::same_word(key, "date")) return false;
  // A table may begin with a column of that name: a date has a clock, or the base follows.
  const std::string_view clock = line.substr(std::min(line.find(':'), line.size()));
  if (clock.find(':', 1) != std::string_view::npos && line.find(',') == std::string_view::npos) {
    return true;
  }
  std::string_view second = next_line(rest = without_comments(rest));
  return row::same_word(row::word(second), "base");
}

std::unique_ptr<FrameReader> open_asc(file::ByteReader bytes) {
  return std::make_unique<AscReader>(std::move(bytes));
}

}  // namespace kdgat::data
