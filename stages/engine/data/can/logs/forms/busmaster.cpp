// Logs of BUSMASTER: what its header says holds for all rows behind it. Layout: the public examples
// of SavvyCAN, and what BUSMASTER's own source writes.
#include <array>
#include <cmath>
#include <optional>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/civil_time.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/text_reader.h"

namespace kdgat::data {

using namespace row;

namespace {

constexpr std::string_view kStars = "***";
constexpr double kDay = 86400;

class BusmasterReader : public TextReader {
 public:
  using TextReader::TextReader;
  const char* format() const override { return "busmaster"; }

 protected:
  const char* read_line(std::string_view line, CanFrame& frame, bool& is_frame) override {
    std::string_view rest = row::trim(line);
    if (rest.empty()) return nullptr;
    if (rest.starts_with(kStars)) {
      rest.remove_prefix(kStars.size());
      if (rest.ends_with(kStars)) rest.remove_suffix(kStars.size());
      read_header(row::trim(rest));
      return nullptr;
    }
    if (other_protocol_ != nullptr) {
      passed().count(other_protocol_);
      return nullptr;
    }
    return read_frame(rest, frame, is_frame);
  }

 private:
  enum class Mode { kUnknown, kSystem, kAbsolute, kRelative };

  void read_header(std::string_view text) {
    constexpr std::string_view kStart = "START DATE AND TIME", kProtocol = "PROTOCOL";
    if (text == "HEX" || text == "DEC") is_decimal_ = text == "DEC";
    if (text == "SYSTEM MODE") mode_ = Mode::kSystem;
    if (text == "ABSOLUTE MODE") mode_ = Mode::kAbsolute;
    if (text == "RELATIVE MODE") mode_ = Mode::kRelative;
    if (text.starts_with(kStart)) begin_session(row::trim(text.substr(kStart.size())));
    if (!text.starts_with(kProtocol)) return;
    const std::string_view protocol = row::trim(text.substr(kProtocol.size()));
    other_protocol_ = protocol == "CAN"     ? nullptr
                      : protocol == "LIN"   ? "LIN"
                      : protocol == "J1939" ? "J1939"
                                            : "rows of another protocol";
  }

  void begin_session(std::string_view date) {
    if (const std::optional<double> seconds = read_day_first(date)) {
      set_start(*seconds);
    } else {
      refuse_start("the start time", date);
    }
    clock_ = 0;
    last_time_of_day_ = std::fmod(start(), kDay);
    midnight_ = start() - last_time_of_day_;
  }

  const char* read_frame(std::string_view rest, CanFrame& frame, bool& is_frame) {
    double time = 0;
    KDGAT_TRY(read_clock(row::word(rest), time));
    frame.time = seconds_since_1970(time);
    const std::string_view direction = row::word(rest), bus = row::word(rest);
    if (direction != "Rx" && direction != "Tx") return "the direction is neither Rx nor Tx";
    std::string_view id = row::word(rest);
    if (id.starts_with("0x") || id.starts_with("0X")) id.remove_prefix(2);
    KDGAT_TRY(is_decimal_ ? row::read_decimal_id(id, frame) : row::read_hex_id(id, frame));
    const std::string_view type = row::word(rest);
    frame.extended = row::same_word(type, "x") || row::same_word(type, "xr");
    frame.remote = row::same_word(type, "sr") || row::same_word(type, "xr");
    if (!frame.extended && !frame.remote && !row::same_word(type, "s")) {
      return "the type is neither s, x, sr nor xr";
    }
    if (!frame.extended && frame.id >= 2048) return "an id beyond 11 bits that is not extended";
    int64_t length = 0;
    if (!row::read_decimal(row::word(rest), length)) return row::kBadLength;
    frame.tx = direction == "Tx";
    if (frame.remote) {
      frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(length, 0, 8));
    } else {
      KDGAT_TRY(read_payload(rest, length, frame));
    }
    KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

  /// "00:00:01:1667": behind the seconds their fraction. Hours may be beyond 23.
  static const char* read_clock(std::string_view text, double& time) {
    std::array<int64_t, 4> parts{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_last = i + 1 == parts.size();
      const std::size_t end = is_last ? text.size() : text.find(':');
      if (end == std::string_view::npos || end == 0 || end > 9) return row::kBadTime;
      if (!row::read_decimal(text.substr(0, end), parts[i]) || parts[i] < 0) return row::kBadTime;
      digits = end;
      text.remove_prefix(is_last ? end : end + 1);
    }
    time = static_cast<double>(parts[0] * 3600 + parts[1] * 60 + parts[2]) +
           static_cast<double>(parts[3]) / std::pow(10.0, static_cast<double>(digits));
    return nullptr;
  }

  double seconds_since_1970(double time) {
    switch (mode_) {
      case Mode::kSystem: {
        constexpr double kHalf = kDay / 2;
        if (time + kHalf < last_time_of_day_) midnight_ += kDay;
        last_time_of_day_ = time;
        return midnight_ + time;
      }
      case Mode::kRelative:
        return start() + (clock_ += time);
      case Mode::kUnknown:
        note("the header does not say what times count from: they are read as ABSOLUTE MODE");
        mode_ = Mode::kAbsolute;
        break;
      case Mode::kAbsolute:
        break;
    }
    return start() + time;
  }

  const char* read_payload(std::string_view rest, int64_t length, CanFrame& frame) const {
    if (length < 0 || length > 64) return row::kLongFdPayload;
    frame.fd = length > 8;
    for (int64_t i = 0; i < length; ++i) {
      const std::string_view text = row::word(rest);
      int64_t byte = 0;
      if (text.empty()) return row::kBadLength;
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), byte, is_decimal_ ? 10 : 16);
      if (error != std::errc() || end != text.data() + text.size() || byte < 0 || byte > 255) {
        return is_decimal_ ? "the payload is not decimal" : row::kBadPayload;
      }
      frame.payload[static_cast<std::size_t>(i)] = static_cast<uint8_t>(byte);
    }
    frame.length = static_cast<uint8_t>(length);
    return row::trim(rest).empty() ? nullptr : row::kBadLength;
  }

  Mode mode_ = Mode::kUnknown;
  bool is_decimal_ = false;
  const char* other_protocol_ = nullptr;
  double clock_ = 0, midnight_ = 0, last_time_of_day_ = 0;
};

}  // namespace

bool is_busmaster(std::string_view head) {
  return without_comments(head).starts_with("***BUSMASTER Ver");
}

std::unique_ptr<FrameReader> open_busmaster(file::ByteReader bytes) {
  return std::make_unique<BusmasterReader>(std::move(bytes));
}

}  // namespace kdgat::data
