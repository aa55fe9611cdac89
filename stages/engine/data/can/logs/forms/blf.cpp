// Vector's binary logging format: objects, most often in compressed containers. Only what a frame
// needs is read. Layout of the objects: the public description of python-can's reader.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <span>

#include "engine/data/can/logs/forms/binary_reader.h"
#include "engine/data/can/logs/forms/civil_time.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/file/byte_cursor.h"

namespace kdgat::data {
namespace {

enum Object : uint32_t {
  kCanMessage = 1,
  kCanError = 2,
  kLogContainer = 10,
  kCanErrorExt = 73,
  kCanMessage2 = 86,
  kCanFdMessage = 100,
  kCanFdMessage64 = 101,
  kCanFdError64 = 104,
  kCanXlError = 140,
};

/// Other objects, by the numbers of their types; the first row that fits counts.
struct ObjectKind {
  uint32_t first, last;
  const char* name;
  Passed::Say say;
};
constexpr std::array<ObjectKind, 19> kOtherObjects = {
    {{3, 3, "overload frames", Passed::Say::kAlways},
     {4, 4, "statistics", Passed::Say::kAlways},
     {139, 139, "CAN XL frames", Passed::Say::kAlways},
     {11, 21, "LIN", Passed::Say::kAlways},
     {57, 64, "LIN", Passed::Say::kAlways},
     {29, 30, "FlexRay", Passed::Say::kAlways},
     {40, 41, "FlexRay", Passed::Say::kAlways},
     {47, 50, "FlexRay", Passed::Say::kAlways},
     {66, 66, "FlexRay", Passed::Say::kAlways},
     {71, 71, "Ethernet", Passed::Say::kAlways},
     {102, 103, "Ethernet", Passed::Say::kAlways},
     {120, 123, "Ethernet", Passed::Say::kAlways},
     {5, 5, "triggers", Passed::Say::kWithOthers},
     {6, 9, "variables", Passed::Say::kWithOthers},
     {72, 72, "variables", Passed::Say::kWithOthers},
     {65, 65, "comments", Passed::Say::kWithOthers},
     {92, 92, "comments", Passed::Say::kWithOthers},
     {96, 96, "comments", Passed::Say::kWithOthers},
     {0, ~uint32_t{0}, "other objects", Passed::Say::kAlways}}};

constexpr std::size_t kBaseHeader = 16;  // "LOBJ", size of the header, version, size, type
constexpr std::size_t kContainerHeader = 32;
constexpr std::size_t kPadding = 8;  // as many bytes may stand between two objects
constexpr std::size_t kMostHeader = 256;

/// The contents of the containers of a file, one after another.
class Containers {
 public:
  explicit Containers(file::ByteCursor& file) : file_(file) {}
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;
  ~Containers() { inflateEnd(&stream_); }

  /// At least one byte, at most `room`; 0 at the end. Throws std::string, what is wrong at at().
  std::size_t read(uint8_t* to, std::size_t room) {
    for (;;) {
      const std::size_t out = is_packed_ ? unpack(to, room) : copy(to, room);
      if (out > 0) return out;
      if (is_cut_ || !file_.skip_far(left_) || !open_next()) return 0;
    }
  }
  uint64_t at() const { return at_; }
  bool is_cut() const { return is_cut_; }

 private:
  bool open_next() {
    for (;;) {
      const uint8_t* header = find_object();
      if (header == nullptr) return false;
      at_ = file_.offset();
      const auto size = file::little<uint32_t>(header + 8);
      if (size < kContainerHeader)
        throw std::string("an object of " + std::to_string(size) + " bytes");
      if (file::little<uint32_t>(header + 12) != kLogContainer) {
        if (!file_.skip_far(size)) return cut();
        continue;
      }
      const auto method = file::little<uint16_t>(header + kBaseHeader);
      if (method != 0 && method != 2) {
        throw std::string("a container is packed by an unknown method, " + std::to_string(method));
      }
      file_.skip(kContainerHeader);
      left_ = size - kContainerHeader;
      is_packed_ = method == 2;
      if (is_packed_) {
        inflateEnd(&stream_);
        stream_ = {};
        if (inflateInit(&stream_) != Z_OK) throw std::string("out of memory");
        has_ended_ = false;
      }
      return true;
    }
  }

  const uint8_t* find_object() {
    for (std::size_t i = 0; i <= kPadding; ++i) {
      const uint8_t* there = file_.peek(kContainerHeader);
      if (there == nullptr) {
        is_cut_ |= file_.buffered() >= kPadding;
        return nullptr;
      }
      if (std::equal(there, there + 4, "LOBJ")) return there;
      file_.skip(1);
    }
    at_ = file_.offset();
    throw std::string("no object begins here");
  }

  bool cut() {
    is_cut_ = true;
    return false;
  }

  /// The next stored bytes of the container; none at its end.
  std::span<const uint8_t> stored() {
    if (left_ == 0) return {};
    const uint8_t* from = file_.peek(1);
    if (from == nullptr) {
      cut();
      return {};
    }
    return {from, std::min<std::size_t>(left_, file_.buffered())};
  }

  std::size_t copy(uint8_t* to, std::size_t room) {
    const std::span<const uint8_t> from = stored();
    const std::size_t bytes = std::min(from.size(), room);
    std::copy_n(from.data(), bytes, to);
    pass(bytes);
    return bytes;
  }

  std::size_t unpack(uint8_t* to, std::size_t room) {
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(room);
    while (!has_ended_ && stream_.avail_out == room) {
      const std::span<const uint8_t> from = stored();
      stream_.next_in = const_cast<Bytef*>(from.data());
      stream_.avail_in = static_cast<uInt>(from.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      pass(from.size() - stream_.avail_in);
      has_ended_ = code == Z_STREAM_END;
      if (code == Z_BUF_ERROR && from.empty()) {  // it asks for more, and there is no more
        cut();
        break;
      }
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        throw std::string("the container that begins here holds damaged data");
      }
    }
    return room - stream_.avail_out;
  }

  void pass(std::size_t bytes) {
    file_.skip(bytes);
    left_ -= static_cast<uint32_t>(bytes);
  }

  file::ByteCursor& file_;
  z_stream stream_{};
  uint64_t at_ = 0;
  uint32_t left_ = 0;  // stored bytes of the container
  bool is_packed_ = false, has_ended_ = false, is_cut_ = false;
};

class BlfReader : public BinaryStream {
 public:
  explicit BlfReader(file::ByteReader bytes)
      : BinaryStream(std::move(bytes)),
        containers_(file()),
        objects_([this](uint8_t* to, std::size_t room) { return containers_.read(to, room); }) {
    constexpr std::size_t kHeader = 72, kStartDate = 40;
    const uint8_t* header = file().peek(kHeader);
    if (header == nullptr) fail("the file ends inside its header");
    const auto size = file::little<uint32_t>(header + 4);
    if (size < kHeader) fail("a header of " + std::to_string(size) + " bytes");
    const auto date = [header](std::size_t i) {
      return static_cast<int64_t>(file::little<uint16_t>(header + kStartDate + 2 * i));
    };
    // year, month, day of the week, day, hour, minute, second, millisecond
    if (date(0) >= 1970 && date(1) >= 1 && date(1) <= 12 && date(3) >= 1) {
      start_ = seconds_of(date(0), date(1), date(3), date(4), date(5),
                          static_cast<double>(date(6)) + static_cast<double>(date(7)) / 1000);
    }
    if (!file().skip_far(size)) fail("the file ends inside its header");
    const uint8_t* first = file().peek(kBaseHeader);
    in_containers_ = first == nullptr || file::little<uint32_t>(first + 12) == kLogContainer;
  }

  const char* format() const override { return "blf"; }
  std::string where() const override {
    if (!in_containers_) return BinaryReader::where();
    return name() + " at byte " + std::to_string(containers_.at()) + ", " +
           std::to_string(objects_.offset()) + " unpacked";
  }

  Got next(CanFrame& frame) override {
    try {
      return next_of(in_containers_ ? objects_ : file(), frame);
    } catch (const std::string& what) {
      fail(what);
    }
  }

 private:
  Got next_of(file::ByteCursor& from, CanFrame& frame) {
    for (;;) {
      const uint8_t* object = find_object(from);
      if (object == nullptr) {
        if (containers_.is_cut() || from.buffered() >= kPadding) end_early("an object");
        return Got::kEnd;
      }
      stands_at(from.offset());
      const auto header = file::little<uint16_t>(object + 4);
      const auto size = file::little<uint32_t>(object + 8);
      const auto type = file::little<uint32_t>(object + 12);
      if (size < kBaseHeader || header < kBaseHeader || header > size || header > kMostHeader) {
        fail("an object of " + std::to_string(size) + " bytes with a header of " +
             std::to_string(header));
      }
      const bool is_error =
          type == kCanError || type == kCanErrorExt || type == kCanFdError64 || type == kCanXlError;
      const bool is_frame = type == kCanMessage || type == kCanMessage2 || type == kCanFdMessage ||
                            type == kCanFdMessage64;
      passed().error_frames += is_error ? 1 : 0;
      if (!is_frame) {
        if (!is_error) count(type);
        if (from.skip_far(size)) continue;
        end_early("an object");
        return Got::kEnd;
      }
      // What follows a frame in its object (bits on the wire, checksums) is not needed.
      constexpr std::size_t kMostFrame = kMostHeader + 128;
      const auto needed = static_cast<std::size_t>(std::min<uint32_t>(size, kMostFrame));
      object = from.peek(needed);
      if (object == nullptr) {
        end_early("an object");
        return Got::kEnd;
      }
      const Got got = read_frame({object, header, size, type}, frame);
      if (!from.skip_far(size) && got != Got::kFrame) return Got::kEnd;
      return got;
    }
  }

  static const uint8_t* find_object(file::ByteCursor& from) {
    for (std::size_t i = 0; i <= kPadding; ++i) {
      const uint8_t* there = from.peek(kBaseHeader);
      if (there == nullptr || std::equal(there, there + 4, "LOBJ")) return there;
      from.skip(1);
    }
    throw std::string("no object begins here");
  }

  void count(uint32_t type) {
    const auto fits = [type](const ObjectKind& one) {
      return type >= one.first && type <= one.last;
    };
    const auto kind = std::find_if(kOtherObjects.begin(), kOtherObjects.end(), fits);
    passed().count(kind->name, kind->say);
  }

  struct Frame {
    const uint8_t* object;  // as many bytes of it as a frame may need
    std::size_t header, size;
    uint32_t type;
  };

  Got read_frame(const Frame& from, CanFrame& frame) {
    constexpr std::size_t kTimedHeader = 32;
    if (from.header < kTimedHeader) return refuse("the frame has no time");
    constexpr uint32_t kTenMicroseconds = 1;
    const double unit = file::little<uint32_t>(from.object + 16) == kTenMicroseconds ? 1e-5 : 1e-9;
    // Before the start of the measurement times are negative.
    frame.time = start_ + unit * static_cast<double>(file::little<int64_t>(from.object + 24));
    if (from.type == kCanFdMessage64) return read_fd64(from, frame);
    const uint8_t* body = from.object + from.header;
    const std::size_t left = from.size - from.header;
    const bool may_be_fd = from.type == kCanFdMessage;
    const std::size_t data = may_be_fd ? 20 : 8;
    if (left < data) return refuse("the object is too short for a frame");
    constexpr uint8_t kSent = 1, kRemote = 0x80;
    frame.remote = (body[2] & kRemote) != 0;
    set_id(file::little<uint32_t>(body + 4), frame);
    frame.tx = (body[2] & kSent) != 0;
    frame.fd = may_be_fd && ((body[13] & 1) != 0 || body[14] > 8);
    if (frame.fd) frame.fd_flags = body[13] >> 1 & 3;
    set_remote_length(body[3], frame);
    const std::size_t length = length_of(body[3], frame);
    const std::size_t valid = may_be_fd ? body[14] : length;
    return read_data({body + data, left - data, valid}, length, file::little<uint16_t>(body),
                     frame);
  }

  Got read_fd64(const Frame& from, CanFrame& frame) {
    const uint8_t* body = from.object + from.header;
    constexpr std::size_t kData = 40, kDirection = 34, kExtension = 35;
    const std::size_t begin = from.header + kData;
    if (from.size < begin) return refuse("the object is too short for a frame");
    // What is behind the payload belongs to it no more.
    const std::size_t extension = body[kExtension];
    if (extension != 0 && (extension < begin || extension > from.size)) {
      return refuse("the extension of the frame does not lie in its object");
    }
    const std::size_t end = extension != 0 ? extension : from.size;
    constexpr uint32_t kRemote = 0x10, kFd = 0x1000;
    const auto flags = file::little<uint32_t>(body + 12);
    set_id(file::little<uint32_t>(body + 4), frame);
    frame.remote = (flags & kRemote) != 0;
    frame.fd = (flags & kFd) != 0 || body[2] > 8;
    if (frame.fd) frame.fd_flags = static_cast<uint8_t>(flags >> 13 & 3);  // behind kFd
    frame.tx = body[kDirection] == 1;
    set_remote_length(body[1], frame);
    return read_data({body + kData, end - begin, body[2]}, length_of(body[1], frame), body[0],
                     frame);
  }

  static void set_remote_length(uint8_t code, CanFrame& frame) {
    if (frame.remote) frame.remote_length = std::min<uint8_t>(code, 8);
  }

  static std::size_t length_of(uint8_t code, const CanFrame& frame) {
    if (frame.remote) return 0;
    return frame.fd ? kFdLengths[std::min<std::size_t>(code, 15)] : std::min<std::size_t>(code, 8);
  }

  struct Stored {
    const uint8_t* bytes;
    std::size_t there, valid;
  };

  /// The length is that of the code; what is not stored of it is 0. `channel` counts from 1.
  Got read_data(const Stored& data, std::size_t length, uint32_t channel, CanFrame& frame) {
    if (!frame.remote && data.valid > length) {
      return refuse("more bytes of payload than the length code says");
    }
    const std::size_t bytes = std::min({length, data.valid, data.there});
    if (!frame.fd && bytes < length) return refuse("the object ends inside its payload");
    if (!set_channel(channel == 0 ? 0 : channel - 1, frame)) return Got::kFault;
    std::copy_n(data.bytes, bytes, frame.payload.data());
    frame.length = static_cast<uint8_t>(length);
    return Got::kFrame;
  }

  Containers containers_;
  file::ByteCursor objects_;
  double start_ = 0;
  bool in_containers_ = false;
};

}  // namespace

bool is_blf(std::string_view head) { return head.starts_with("LOGG"); }

std::unique_ptr<FrameReader> open_blf(file::ByteReader bytes) {
  return std::make_unique<BlfReader>(std::move(bytes));
}

}  // namespace kdgat::data
