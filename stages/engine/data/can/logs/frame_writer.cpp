#include "engine/data/can/logs/frame_writer.h"

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <string_view>
#include <type_traits>

#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/logs/forms/binary_reader.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

template <typename T>
void put(std::string& out, std::type_identity_t<T> value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_payload(std::string& out, const CanFrame& frame, std::size_t bytes) {
  out.append(reinterpret_cast<const char*>(frame.payload.data()), bytes);
}

/// The smallest code whose length holds the payload.
int code_of(const CanFrame& frame) {
  int code = 0;
  while (kFdLengths[static_cast<std::size_t>(code)] < frame.length) ++code;
  return code;
}

/// A double holds the microseconds of a time since 1970, and no more.
uint64_t nanoseconds(double seconds) {
  constexpr double kMost = 1.8e10;  // of 64 bits
  require_time(seconds, 0, kMost);
  constexpr double kFine = 1e8;
  return static_cast<uint64_t>(seconds < kFine ? std::llround(seconds * 1e9)
                                               : std::llround(seconds * 1e6) * 1000);
}

std::tm calendar(double seconds) {
  constexpr double kYear10000 = 253402300800;
  require_time(seconds, 0, kYear10000 - 1);  // readers know no date before 1970
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm out{};
  ::gmtime_r(&whole, &out);
  return out;
}

class RowsWriter : public FrameWriter {
 public:
  explicit RowsWriter(const char* format)
      : header_(log_header(format)), append_(row_writer(format)) {}
  void add(const CanFrame& frame, std::string& out) override {
    out += header_;
    header_ = "";
    append_(out, frame);
  }
  void finish(std::string& out) override { out += header_; }

 private:
  const char* header_;
  RowWriter append_;
};

/// Without a label in the first row there is no column of labels, or unknown would become benign.
class TableWriter : public FrameWriter {
 public:
  void add(const CanFrame& frame, std::string& out) override {
    if (!has_begun_) begin(frame.label >= 0, out);
    if (has_labels_ != (frame.label >= 0)) {
      throw Error(ExitCode::kData, "some rows have a label and others have none",
                  "a .csv needs one in every row or in none; .log holds the frames alone");
    }
    append_table_row(out, frame, has_labels_);
  }
  void finish(std::string& out) override {
    if (!has_begun_) begin(true, out);
  }

 private:
  void begin(bool has_labels, std::string& out) {
    has_begun_ = true;
    has_labels_ = has_labels;
    out += has_labels ? log_header("can-train-and-test") : "timestamp,arbitration_id,data_field\n";
  }

  bool has_begun_ = false, has_labels_ = false;
};

/// Times count from the second in which the log begins, as its date says.
class AscWriter : public FrameWriter {
 public:
  void add(const CanFrame& frame, std::string& out) override {
    if (!has_begun_) begin(frame.time, out);
    char text[96];
    const double time = frame.time - start_;
    const char* const direction = frame.tx ? "Tx" : "Rx";
    if (frame.fd) {
      std::snprintf(text, sizeof text,
                    frame.extended ? "%11.6f CANFD %3d %s %11Xx  %d %d %x %2d"
                                   : "%11.6f CANFD %3d %s %12X  %d %d %x %2d",
                    time, frame.channel + 1, direction, frame.id, frame.fd_flags & 1,
                    frame.fd_flags >> 1 & 1, code_of(frame), frame.length);
    } else if (frame.remote) {
      std::snprintf(text, sizeof text,
                    frame.extended ? "%11.6f %d  %Xx %s r" : "%11.6f %d  %X %s r", time,
                    frame.channel + 1, frame.id, direction);
      out += text;
      text[0] = 0;
      if (frame.remote_length > 0) std::snprintf(text, sizeof text, " %d", frame.remote_length);
    } else {
      std::snprintf(text, sizeof text,
                    frame.extended ? "%11.6f %d  %Xx %s d %x" : "%11.6f %d  %X %s d %x", time,
                    frame.channel + 1, frame.id, direction, frame.length);
    }
    out += text;
    constexpr const char* kDigits = "0123456789ABCDEF";
    for (std::size_t i = 0; i < frame.length; ++i) {
      out += {' ', kDigits[frame.payload[i] >> 4], kDigits[frame.payload[i] & 15]};
    }
    text[0] = 0;
    if (frame.fd) {  // flags: the format of CAN FD, BRS, ESI
      const int flags = 0x1000 | (frame.fd_flags & 1) << 13 | (frame.fd_flags >> 1 & 1) << 14;
      std::snprintf(text, sizeof text, " 0 0 %x 0 0 0 0 0", flags);
    }
    out += text;
    out += '\n';
  }
  void finish(std::string& out) override {
    if (!has_begun_) begin(0, out);
    out += "End TriggerBlock\n";
  }

 private:
  void begin(double time, std::string& out) {
    has_begun_ = true;
    start_ = std::floor(time);
    const std::tm at = calendar(start_);
    constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char date[64];
    std::snprintf(date, sizeof date, "%s %s %02d %02d:%02d:%02d.000 %04d",
                  kDays[static_cast<std::size_t>(at.tm_wday)],
                  kMonths[static_cast<std::size_t>(at.tm_mon)], at.tm_mday, at.tm_hour, at.tm_min,
                  at.tm_sec, at.tm_year + 1900);
    out +=
        std::string("date ") + date + "\nbase hex  timestamps absolute\ninternal events logged\n";
    out += std::string("Begin Triggerblock ") + date + "\n   0.000000 Start of measurement\n";
  }

  bool has_begun_ = false;
  double start_ = 0;
};

/// Objects in packed containers of 128 KiB.
class BlfWriter : public FrameWriter {
 public:
  void add(const CanFrame& frame, std::string& out) override {
    if (count_ == 0) begin(frame.time, out);
    ++count_;
    last_ = std::max(last_, frame.time);
    const uint32_t id = frame.id | (frame.extended ? 1U << 31 : 0);
    constexpr uint32_t kFrame = 86, kFdFrame = 100, kNanoseconds = 2;
    constexpr std::size_t kHeader = 32, kBody = 16, kFdBody = 84;
    const std::size_t body = frame.fd ? kFdBody : kBody;
    objects_ += "LOBJ";
    put<uint16_t>(objects_, kHeader);
    put<uint16_t>(objects_, 1);
    put<uint32_t>(objects_, static_cast<uint32_t>(kHeader + body));
    put<uint32_t>(objects_, frame.fd ? kFdFrame : kFrame);
    put<uint32_t>(objects_, kNanoseconds);
    put<uint32_t>(objects_, 0);
    put<int64_t>(objects_, since_start(frame.time));
    put<uint16_t>(objects_, static_cast<uint16_t>(frame.channel + 1));
    put<uint8_t>(objects_, static_cast<uint8_t>((frame.remote ? 0x80 : 0) | (frame.tx ? 1 : 0)));
    put<uint8_t>(objects_,
                 frame.remote ? frame.remote_length : static_cast<uint8_t>(code_of(frame)));
    put<uint32_t>(objects_, id);
    if (frame.fd) {
      put<uint32_t>(objects_, 0);
      put<uint8_t>(objects_, 0);
      put<uint8_t>(objects_, static_cast<uint8_t>(1 | (frame.fd_flags & 3) << 1));  // CAN FD
      put<uint8_t>(objects_, frame.length);
      objects_.append(5, '\0');
    }
    put_payload(objects_, frame, frame.fd ? 64 : 8);
    constexpr std::size_t kContainer = std::size_t{1} << 17;
    if (objects_.size() >= kContainer) pack(out);
  }
  void finish(std::string& out) override {
    if (count_ == 0) begin(0, out);
    if (!objects_.empty()) pack(out);
  }
  std::string beginning() const override { return header(); }

 private:
  static constexpr std::size_t kHeaderBytes = 144;

  /// In nanoseconds; a frame that steps back may lie before the first.
  int64_t since_start(double time) const {
    constexpr double kMost = 9e9;  // of 64 bits
    require_time(time - start_, -kMost, kMost);
    return std::llround((time - start_) * 1e9);
  }

  void begin(double time, std::string& out) {
    start_ = std::floor(time * 1000) / 1000;
    out += header();
  }

  static void put_date(std::string& out, double time) {
    const std::tm at = calendar(time);
    const auto milliseconds =
        static_cast<int>(std::lround((time - std::floor(time)) * 1000)) % 1000;
    for (const int part : {at.tm_year + 1900, at.tm_mon + 1, at.tm_wday, at.tm_mday, at.tm_hour,
                           at.tm_min, at.tm_sec, milliseconds}) {
      put<uint16_t>(out, static_cast<uint16_t>(part));
    }
  }

  std::string header() const {
    std::string out = "LOGG";
    put<uint32_t>(out, kHeaderBytes);
    for (const uint8_t byte : {5, 0, 0, 0, 2, 6, 8, 1}) put<uint8_t>(out, byte);  // as of 2.6.8.1
    put<uint64_t>(out, kHeaderBytes + packed_bytes_);
    put<uint64_t>(out, kHeaderBytes + object_bytes_);
    put<uint32_t>(out, static_cast<uint32_t>(count_));
    put<uint32_t>(out, 0);
    put_date(out, start_);
    put_date(out, std::max(last_, start_));
    return out.append(kHeaderBytes - out.size(), '\0');
  }

  void pack(std::string& out) {
    uLongf size = ::compressBound(objects_.size());
    std::string packed(size, '\0');
    constexpr int kFast = 1;
    if (::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                    reinterpret_cast<const Bytef*>(objects_.data()), objects_.size(),
                    kFast) != Z_OK) {
      throw Error(ExitCode::kHostMemory, "no memory to pack a container");
    }
    packed.resize(size);
    const std::size_t before = out.size();
    out += "LOBJ";
    put<uint16_t>(out, 16);
    put<uint16_t>(out, 1);
    put<uint32_t>(out, static_cast<uint32_t>(32 + packed.size()));
    put<uint32_t>(out, 10);
    put<uint16_t>(out, 2);
    out.append(6, '\0');
    put<uint32_t>(out, static_cast<uint32_t>(objects_.size()));
    put<uint32_t>(out, 0);
    out += packed;
    out.append(packed.size() % 4, '\0');
    packed_bytes_ += out.size() - before;
    object_bytes_ += 32 + objects_.size();
    objects_.clear();
  }

  std::string objects_;
  int64_t count_ = 0;
  uint64_t packed_bytes_ = 0, object_bytes_ = 0;
  double start_ = 0, last_ = 0;
};

/// An interface for each bus, described when its first frame comes; times in nanoseconds.
class PcapngWriter : public FrameWriter {
 public:
  void add(const CanFrame& frame, std::string& out) override {
    begin(out);
    int& interface = interface_[frame.channel];
    if (interface < 0) interface = describe(frame.channel, out);
    const uint64_t time = nanoseconds(frame.time);
    const std::size_t payload = frame.fd ? 64 : 8;
    const auto size = static_cast<uint32_t>(8 + payload);
    const uint32_t block = 32 + size + (frame.tx ? kOptions : 0);
    put<uint32_t>(out, 6);
    put<uint32_t>(out, block);
    put<uint32_t>(out, static_cast<uint32_t>(interface));
    put<uint32_t>(out, static_cast<uint32_t>(time >> 32));
    put<uint32_t>(out, static_cast<uint32_t>(time));
    put<uint32_t>(out, size);
    put<uint32_t>(out, size);
    put<uint32_t>(out, __builtin_bswap32(frame.id | (frame.extended ? 1U << 31 : 0) |
                                         (frame.remote ? 1U << 30 : 0)));
    put<uint8_t>(out, frame.remote ? frame.remote_length : frame.length);
    put<uint8_t>(out, frame.fd ? static_cast<uint8_t>(4 | (frame.fd_flags & 3)) : 0);
    put<uint16_t>(out, 0);
    put_payload(out, frame, payload);
    if (frame.tx) {  // its flags: outbound; those that came need no mark
      put<uint32_t>(out, 2 | 4U << 16);
      put<uint32_t>(out, 2);
      put<uint32_t>(out, 0);
    }
    put<uint32_t>(out, block);
  }
  void finish(std::string& out) override { begin(out); }

 private:
  static constexpr uint32_t kOptions = 12;  // bytes

  void begin(std::string& out) {
    if (has_begun_) return;
    has_begun_ = true;
    interface_.fill(-1);
    put<uint32_t>(out, 0x0a0d0d0a);
    put<uint32_t>(out, 28);
    put<uint32_t>(out, 0x1a2b3c4d);
    put<uint32_t>(out, 1);
    put<int64_t>(out, -1);
    put<uint32_t>(out, 28);
  }

  int describe(int channel, std::string& out) {
    constexpr uint32_t kSize = 40;
    put<uint32_t>(out, 1);
    put<uint32_t>(out, kSize);
    put<uint32_t>(out, 227);  // SocketCAN
    put<uint32_t>(out, 0);
    put<uint32_t>(out, 2 | 4U << 16);  // the name, 4 bytes
    out += "can";
    out += static_cast<char>('0' + channel);
    put<uint32_t>(out, 9 | 1U << 16);  // nanoseconds
    put<uint32_t>(out, 9);
    put<uint32_t>(out, 0);
    put<uint32_t>(out, kSize);
    return count_++;
  }

  bool has_begun_ = false;
  int count_ = 0;
  std::array<int, kMostChannels> interface_{};
};

}  // namespace

const FormFacts& form_written(const std::string& file_name) {
  const std::string ending = std::filesystem::path(file_name).extension().string();
  for (const FormFacts& form : kFormFacts) {
    if (!ending.empty() && ending == form.written) return form;
  }
  throw Error(ExitCode::kUsage, "the ending of " + file_name + " names no form that is written",
              "known: .log (candump), .csv (can-train-and-test), .asc, .blf, .pcapng");
}

std::unique_ptr<FrameWriter> frame_writer(const std::string& file_name) {
  const std::string_view form = form_written(file_name).name;
  if (form == "can-train-and-test") return std::make_unique<TableWriter>();
  if (form == "asc") return std::make_unique<AscWriter>();
  if (form == "blf") return std::make_unique<BlfWriter>();
  if (form == "pcapng") return std::make_unique<PcapngWriter>();
  return std::make_unique<RowsWriter>("candump");
}

}  // namespace kdgat::data
