// Vector's text logging format. Layout of the lines: CANoe's and CANalyzer's own logs, and the
// public description of python-can's reader.
#include <array>
#include <cctype>
#include <optional>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/civil_time.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/text_reader.h"

namespace kdgat::data {

using namespace row;

namespace {

/// "Sat Sep 30 10:06:13.191 PM 2017", "Mit Okt 4 15:06:13.191 2017": English and German, 12 and 24
/// hours. As UTC: the log names no time zone.
std::optional<double> read_date(std::string_view text) {
  constexpr std::array<std::array<std::string_view, 3>, 12> kMonths = {
      {{"jan"},
       {"feb"},
       {"mar", "mrz", "m\xc3\xa4r"},
       {"apr"},
       {"may", "mai"},
       {"jun"},
       {"jul"},
       {"aug"},
       {"sep"},
       {"oct", "okt"},
       {"nov"},
       {"dec", "dez"}}};
  row::word(text);  // the day of the week
  std::string name(row::word(text).substr(0, 4));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("m\xe4r")) name = "mrz";  // Latin-1
  int64_t month = 0;
  for (std::size_t m = 0; m < kMonths.size(); ++m) {
    for (const std::string_view known : kMonths[m]) {
      if (!known.empty() && name.starts_with(known)) month = static_cast<int64_t>(m) + 1;
    }
  }
  int64_t day = 0, hour = 0, minute = 0, year = 0;
  double second = 0;
  std::string_view number = row::word(text);
  if (number.ends_with('.')) number.remove_suffix(1);
  const std::string_view clock = row::word(text);
  const std::size_t first = clock.find(':'), last = clock.rfind(':');
  if (month == 0 || !row::read_decimal(number, day) || first == last ||
      last == std::string_view::npos || !row::read_decimal(clock.substr(0, first), hour) ||
      !row::read_decimal(clock.substr(first + 1, last - first - 1), minute) ||
      row::read_time(clock.substr(last + 1), second) != nullptr) {
    return std::nullopt;
  }
  std::string_view next = row::word(text);
  const bool is_morning = row::same_word(next, "am"), is_evening = row::same_word(next, "pm");
  if (is_morning || is_evening) {
    hour = hour % 12 + (is_evening ? 12 : 0);
    next = row::word(text);
  }
  if (!row::read_decimal(next, year) || year < 1970 || year > 9999 || day < 1 || day > 31 ||
      hour < 0 || hour > 24 || minute < 0 || minute > 59) {
    return std::nullopt;
  }
  return seconds_of(year, month, day, hour, minute, second);
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
    if (first.front() < '0' || first.front() > '9') {
      read_header(first, rest);
      return nullptr;
    }
    double time = 0;
    KDGAT_TRY(row::read_time(first, time));
    if (is_relative_) time = clock_ += time;
    frame.time = start_ + time;
    const std::string_view bus = row::word(rest);
    if (bus == "CANFD") return read_fd(rest, frame, is_frame);
    // "Start of measurement", "CAN 1 Status:chip status ...", "LIN ...", "J1939TP ..."
    if (bus.empty() || bus.front() < '0' || bus.front() > '9') return nullptr;
    return read_classic(bus, rest, frame, is_frame);
  }

 private:
  void read_header(std::string_view key, std::string_view rest) {
    if (row::same_word(key, "base")) {
      is_decimal_ = row::same_word(row::word(rest), "dec");
      is_relative_ = row::same_word(row::word(rest), "timestamps") &&
                     row::same_word(row::word(rest), "relative");
    } else if (row::same_word(key, "date")) {
      read_start(rest);
    } else if (row::same_word(key, "begin") && !has_start_) {
      row::word(rest);  // Triggerblock
      if (!row::trim(rest).empty()) read_start(rest);
    }
  }

  void read_start(std::string_view date) {
    const std::optional<double> seconds = read_date(date);
    has_start_ = true;
    start_ = seconds.value_or(0);
    if (!seconds)
      note("the date is not understood; times count from 0: " + file::shown(row::trim(date)));
  }

  const char* read_classic(std::string_view bus, std::string_view rest, CanFrame& frame,
                           bool& is_frame) {
    const std::string_view id = row::word(rest);
    if (row::same_word(id, "errorframe")) {
      ++passed().error_frames;
      return nullptr;
    }
    const std::string_view direction = row::word(rest);
    // "Statistic: D 0 R 0 ...", and requests to send, whose frames follow
    if (direction != "Rx" && direction != "Tx") return nullptr;
    KDGAT_TRY(read_id(id, frame));
    const std::string_view kind = row::word(rest);
    if (kind == "r" || kind == "R") {
      frame.remote = true;
    } else if (kind == "d" || kind == "D") {
      int64_t code = 0;
      if (!read_number(row::word(rest), code) || code < 0 || code > 15) return row::kBadLength;
      KDGAT_TRY(read_bytes(rest, std::min<int64_t>(code, 8), frame));
    } else {
      return "neither data (d) nor a remote frame (r)";
    }
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  const char* read_fd(std::string_view rest, CanFrame& frame, bool& is_frame) {
    const std::string_view bus = row::word(rest), direction = row::word(rest), id = row::word(rest);
    if (row::same_word(id, "errorframe")) {
      ++passed().error_frames;
      return nullptr;
    }
    if (direction != "Rx" && direction != "Tx") return nullptr;
    frame.fd = true;
    KDGAT_TRY(read_id(id, frame));
    std::string_view flag = row::word(rest);  // bit rate switch, before it the name of the message
    if (flag != "0" && flag != "1") flag = row::word(rest);
    if (flag != "0" && flag != "1") return "no bit rate switch, which is 0 or 1";
    row::word(rest);  // error state indicator
    int64_t code = 0, length = 0;
    if (!read_number(row::word(rest), code) || !row::read_decimal(row::word(rest), length))
      return row::kBadLength;
    if (length < 0 || length > 64) return row::kLongFdPayload;
    frame.remote = length == 0 && code > 0;
    KDGAT_TRY(read_bytes(rest, length, frame));
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  const char* read_id(std::string_view text, CanFrame& frame) const {
    const bool is_extended = text.ends_with('x') || text.ends_with('X');
    if (is_extended) text.remove_suffix(1);
    KDGAT_TRY(is_decimal_ ? row::read_decimal_id(text, frame) : row::read_hex_id(text, frame));
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

  const char* read_bytes(std::string_view rest, int64_t length, CanFrame& frame) const {
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

  double start_ = 0, clock_ = 0;
  bool is_decimal_ = false, is_relative_ = false, has_start_ = false;
};

}  // namespace

bool is_asc(std::string_view head) {
  const auto begins = [head](std::string_view key) {
    return head.size() > key.size() + 1 && row::same_word(head.substr(0, key.size()), key) &&
           head[key.size()] == ' ' &&
           std::isalpha(static_cast<unsigned char>(head[key.size() + 1]));
  };
  return begins("date") || begins("base");
}

std::unique_ptr<FrameReader> open_asc(file::ByteReader bytes) {
  return std::make_unique<AscReader>(std::move(bytes));
}

}  // namespace kdgat::data
