// PEAK's trace files, versions 1.0 to 2.1. Layouts: "PCAN trace file formats" by PEAK-System.
#include <array>
#include <optional>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/binary_reader.h"
#include "engine/data/can/logs/forms/civil_time.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/text_reader.h"

namespace kdgat::data {

using namespace row;

namespace {

/// Letters of the columns as the header of version 2.1 names them: N number, O time in
/// milliseconds, T type, B bus, I id, d direction, R reserved, l bytes of the payload, L data
/// length code, D data. Versions without such a line have these, with a type that is "" or Rx, Tx,
/// Warng, Error.
struct Version {
  std::string_view name, columns;
};
constexpr std::array<Version, 6> kVersions = {{{"1.0", "NOIlD"},
                                               {"1.1", "NOTIlD"},
                                               {"1.2", "NOBTIlD"},
                                               {"1.3", "NOBTIRlD"},
                                               {"2.0", "NOTIdlD"},
                                               {"2.1", "NOTBIdRlD"}}};

class TrcReader : public TextReader {
 public:
  using TextReader::TextReader;
  const char* format() const override { return "trc"; }

 protected:
  const char* read_line(std::string_view line, CanFrame& frame, bool& is_frame) override {
    std::string_view rest = row::trim(line);
    if (rest.empty()) return nullptr;
    if (rest.front() == ';') {
      read_header(rest.substr(1));
      return nullptr;
    }
    std::string_view type = "Rx";
    std::string_view id, bus, direction;
    int64_t length = -1, code = -1;
    for (const char column : columns_) {
      if (column == 'D') break;
      const std::string_view text = row::word(rest);
      if (text.empty()) return row::kFewFields;
      switch (column) {
        case 'O':
          KDGAT_TRY(row::read_time(text, frame.time));
          break;
        case 'T':
          type = text;
          break;
        case 'd':
          direction = text;
          break;
        case 'B':
          bus = text;
          break;
        case 'I':
          id = text;
          break;
        case 'l':
          if (!row::read_decimal(text, length)) return row::kBadLength;
          break;
        case 'L':
          if (!row::read_decimal(text, code)) return row::kBadLength;
          break;
        default:
          break;  // number, reserved: no need of them
      }
      // Rows of other types have columns of their own.
      if (column == 'T' && !is_frame_type(type)) return nullptr;
    }
    constexpr double kMilliseconds = 1e-3;
    frame.time = start() + frame.time * kMilliseconds;
    frame.fd = type == "FD" || type == "FB" || type == "FE" || type == "BI";
    frame.remote = type == "RR";
    frame.tx = type == "Tx" || direction == "Tx";
    const bool is_fast = type == "FB" || type == "BI", is_passive = type == "FE" || type == "BI";
    frame.fd_flags = static_cast<uint8_t>((is_fast ? 1 : 0) | (is_passive ? 2 : 0));
    if (id == "FFFFFFFF") {  // version 1.0: the state of the bus
      ++passed().others;
      return nullptr;
    }
    KDGAT_TRY(row::read_hex_id(id, frame));
    constexpr std::size_t kStandardDigits = 4;
    frame.extended = id.size() > kStandardDigits;
    if (length < 0 && (code < 0 || code >= static_cast<int64_t>(kFdLengths.size()))) {
      return row::kBadLength;
    }
    if (length < 0) length = kFdLengths[static_cast<std::size_t>(code)];
    if (length > (frame.fd ? 64 : 8)) return frame.fd ? row::kLongFdPayload : row::kLongPayload;
    KDGAT_TRY(read_payload(rest, length, frame));
    if (frame.remote) frame.remote_length = static_cast<uint8_t>(length);
    if (!bus.empty()) KDGAT_TRY(set_channel(bus, frame));
    is_frame = true;
    return nullptr;
  }

 private:
  static const char* read_payload(std::string_view rest, int64_t length, CanFrame& frame) {
    if (frame.remote) return nullptr;
    for (int64_t i = 0; i < length; ++i) {
      const std::string_view byte = row::word(rest);
      if (byte == "RTR") {
        frame.remote = true;
        frame.payload = {};
        return nullptr;
      }
      if (byte.empty()) return row::kBadLength;
      if (byte.size() != 2 || (row::hex(byte[0]) | row::hex(byte[1])) < 0) return row::kBadPayload;
      frame.payload[static_cast<std::size_t>(i)] =
          static_cast<uint8_t>(row::hex(byte[0]) << 4 | row::hex(byte[1]));
    }
    if (length == 0 && row::trim(rest) == "RTR") frame.remote = true;
    const std::string_view behind = row::word(rest);
    if (behind.size() == 2 && (row::hex(behind[0]) | row::hex(behind[1])) >= 0) {
      return row::kBadLength;
    }
    frame.length = static_cast<uint8_t>(length);
    return nullptr;
  }

  /// Counts what is none.
  bool is_frame_type(std::string_view type) {
    for (const char* known : {"Rx", "Tx", "DT", "FD", "FB", "FE", "BI", "RR"}) {
      if (type == known) return true;
    }
    const bool is_error = type == "Error" || type == "ER";
    ++(is_error ? passed().error_frames : passed().others);
    return false;
  }

  void read_header(std::string_view text) {
    const auto value = [&](std::string_view key) {
      return text.starts_with(key) ? row::trim(text.substr(key.size())) : std::string_view();
    };
    if (const std::string_view version = value("$FILEVERSION="); !version.empty()) {
      bool is_known = false;
      for (const Version& one : kVersions) {
        if (version != one.name) continue;
        columns_ = one.columns;
        is_known = true;
      }
      if (!is_known)
        note("version " + file::shown(version) + " of the form is not known: read as 2.1");
      if (!is_known) columns_ = kVersions.back().columns;
    } else if (const std::string_view days = value("$STARTTIME="); !days.empty()) {
      // Days since the 30th of December 1899.
      constexpr double kDaysTo1970 = 25569, kDay = 86400;
      double start = 0;
      if (row::read_time(days, start) == nullptr && start > kDaysTo1970) {
        set_start((start - kDaysTo1970) * kDay);
        is_start_exact_ = true;
      }
    } else if (const std::string_view began = start_in_words(text); !began.empty()) {
      if (is_start_exact_) return;
      if (const std::optional<double> seconds = read_day_first(began)) {
        set_start(*seconds);
      } else {
        refuse_start("the start time", began);
      }
    } else if (const std::string_view columns = value("$COLUMNS="); !columns.empty()) {
      columns_.clear();
      for (const char c : columns) {
        if (c != ',' && !row::is_blank(c)) columns_ += c;
      }
    }
  }

  /// Version 1.0 has the start in words alone: ";   Start time: 24.06.2002 09:07:51.106.0".
  static std::string_view start_in_words(std::string_view comment) {
    constexpr std::string_view kKey = "Start time:";
    comment = row::trim(comment);
    return comment.starts_with(kKey) ? row::trim(comment.substr(kKey.size())) : std::string_view();
  }

  std::string columns_{kVersions.front().columns};
  bool is_start_exact_ = false;  // from a number of days
};

}  // namespace

bool is_trc(std::string_view head) {
  std::string_view rest = without_blanks(head);
  if (rest.starts_with(";####") || rest.starts_with(";    ")) return true;
  while (rest.starts_with(';')) {
    if (next_line(rest).starts_with(";$FILEVERSION=")) return true;
    rest = without_blanks(rest);
  }
  return false;
}

std::unique_ptr<FrameReader> open_trc(file::ByteReader bytes) {
  return std::make_unique<TrcReader>(std::move(bytes));
}

}  // namespace kdgat::data
