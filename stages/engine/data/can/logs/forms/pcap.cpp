// pcap and pcapng of SocketCAN: what tcpdump, tshark and Wireshark record on a bus. "Linux cooked"
// captures have a header ahead of the frame, and those on `any` say there which interface it is.
// Formats: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; LINKTYPE_CAN_SOCKETCAN,
// LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "engine/data/can/logs/forms/binary_reader.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/file/byte_cursor.h"

namespace kdgat::data {
namespace {

constexpr uint32_t kSocketCan = 227, kCooked = 113, kCooked2 = 276;

bool is_link_type(uint32_t type) {
  return type == kSocketCan || type == kCooked || type == kCooked2;
}

/// Where packets come from: an interface, and with kCooked2 any of several.
struct Link {
  uint32_t type = 0;
  /// Of the id in cooked packets: libpcap turned it to the order of networks for some versions and
  /// interfaces, and left it in the order of the host for others.
  bool is_host_order = false, is_order_known = false;
  int64_t undecided = 0;  ///< ids that could stand in either order, before it was known
};

constexpr std::size_t kMostPacket = std::size_t{1} << 18;  // the largest that Wireshark takes
constexpr uint32_t kError = 1U << 29, kRemote = 1U << 30;

/// What both share: numbers in either byte order, and the frame in a packet.
class PacketReader : public BinaryStream {
 public:
  using BinaryStream::BinaryStream;

 protected:
  template <typename T>
  T number(const uint8_t* from) const {
    return is_big_ ? file::big<T>(from) : file::little<T>(from);
  }
  void set_order(bool is_big) { is_big_ = is_big; }

  /// nullptr, and says so, where the file ends before that many bytes; all of them at most
  /// kMostPacket.
  const uint8_t* need(std::size_t bytes, const char* what) {
    const uint8_t* out = file().peek(bytes);
    if (out == nullptr && file().buffered() > 0) end_early(what);
    return out;
  }

  Link link_of(uint32_t type) const { return {type, type == kCooked2}; }

  /// kEnd: a packet that is no frame of data, counted. The bus is set where the packet names it.
  Got read_packet(const uint8_t* packet, std::size_t size, Link& link, CanFrame& frame) {
    return link.type == kSocketCan
               ? read_can(packet, size, is_fd_packet(packet, size), file::big<uint32_t>, frame)
               : read_cooked(packet, size, link, frame);
  }

 private:
  static constexpr std::size_t kCanHeader = 8;

  using ReadId = uint32_t (*)(const uint8_t*);

  static bool is_fd_packet(const uint8_t* packet, std::size_t size) {
    constexpr uint8_t kFd = 0x04;
    constexpr std::size_t kFdPacket = 72;
    return size >= kCanHeader && ((packet[5] & kFd) != 0 || packet[4] > 8 || size == kFdPacket);
  }

  Got read_can(const uint8_t* packet, std::size_t size, bool is_fd, ReadId read_id,
               CanFrame& frame) {
    if (size < kCanHeader) return refuse("the packet is too short for a frame");
    constexpr uint8_t kXl = 0x80;
    if ((packet[4] & kXl) != 0) return count_xl();
    const uint32_t id = read_id(packet);
    if ((id & kError) != 0) {
      ++passed().error_frames;
      return Got::kEnd;
    }
    set_id(id, frame);
    frame.remote = (id & kRemote) != 0;
    frame.fd = is_fd;
    const std::size_t length = packet[4];
    if (length > (frame.fd ? 64U : 8U)) {
      return refuse(frame.fd ? "the payload is over 64 bytes" : "the payload is over 8 bytes");
    }
    if (frame.fd) frame.fd_flags = packet[5] & 3;  // as in CanFrame
    if (frame.remote) {
      frame.remote_length = static_cast<uint8_t>(std::min<std::size_t>(length, 8));
    } else {
      if (length > size - kCanHeader) return refuse("the packet ends inside its payload");
      std::copy_n(packet + kCanHeader, length, frame.payload.data());
      frame.length = static_cast<uint8_t>(length);
    }
    return Got::kFrame;
  }

  Got read_cooked(const uint8_t* packet, std::size_t size, Link& link, CanFrame& frame) {
    const bool names_interface = link.type == kCooked2;
    const std::size_t header = names_interface ? 20 : 16;
    if (size < header) return refuse("the packet is too short for its header");
    const auto protocol = file::big<uint16_t>(packet + (names_interface ? 0 : 14));
    constexpr uint16_t kCan = 0x000c, kCanFd = 0x000d, kCanXl = 0x000e;
    if (protocol == kCanXl) return count_xl();
    if (protocol != kCan && protocol != kCanFd) {
      ++passed().others;
      return Got::kEnd;
    }
    const uint8_t* can = packet + header;
    if (size >= header + kCanHeader) settle_order(can, link);
    const bool is_big = !link.is_host_order || is_big_;
    const Got got = read_can(can, size - header, protocol == kCanFd,
                             is_big ? file::big<uint32_t> : file::little<uint32_t>, frame);
    constexpr uint16_t kSent = 4;
    frame.tx = (names_interface ? packet[10] : file::big<uint16_t>(packet)) == kSent;
    if (got != Got::kFrame || !names_interface) return got;
    const auto interface = file::big<uint32_t>(packet + 4);
    // Numbers of interfaces are given anew with each start of a system: none is that of a bus.
    const int channel = channels().number("ifindex " + std::to_string(interface) + " (any)");
    if (channel < 0) return refuse("a ninth channel: a log may hold eight buses");
    frame.channel = static_cast<uint8_t>(channel);
    return got;
  }

  /// Whether an id with its flags can be one: 11 bits where it is not extended, and of an error
  /// frame the classes of errors.
  static bool may_be_id(uint32_t id) {
    const bool is_extended = (id >> 31) != 0, is_error = (id & kError) != 0;
    return is_extended ? !is_error : (id & 0x1ffff800U) == 0;
  }

  /// The first id that can stand in one order alone says which one it is.
  void settle_order(const uint8_t* id, Link& link) {
    if (link.is_order_known) return;
    const bool may_be_network = may_be_id(file::big<uint32_t>(id));
    const bool may_be_host =
        may_be_id(is_big_ ? file::big<uint32_t>(id) : file::little<uint32_t>(id));
    if (may_be_network == may_be_host) {
      ++link.undecided;
      return;
    }
    if (link.is_host_order != may_be_host && link.undecided > 0) {
      note(
          "the ids are in the other byte order than usual for this kind of capture; those of the " +
          std::to_string(link.undecided) + " packets before this one may be wrong");
    }
    link.is_order_known = true;
    link.is_host_order = may_be_host;
  }

  Got count_xl() {
    passed().count("CAN XL frames");
    return Got::kEnd;
  }

  bool is_big_ = false;
};

std::string link_type_text(uint32_t type) {
  return "the link type is " + std::to_string(type) +
         ", not 227 (SocketCAN), 113 or 276 (Linux cooked)";
}
constexpr const char* kLinkHint = "record on the CAN interface itself: tcpdump -i can0 -w FILE";

class PcapReader : public PacketReader {
 public:
  explicit PcapReader(file::ByteReader bytes) : PacketReader(std::move(bytes)) {
    constexpr std::size_t kHeader = 24;
    const uint8_t* header = file().take(kHeader);
    if (header == nullptr) fail("the file ends inside its header");
    set_order(header[0] == 0xa1);
    unit_ = number<uint32_t>(header) == 0xa1b23c4d ? 1e-9 : 1e-6;
    const uint32_t type = number<uint32_t>(header + 20) & 0xffffU;
    if (!is_link_type(type)) fail(link_type_text(type), kLinkHint);
    link_ = link_of(type);
  }
  const char* format() const override { return "pcap"; }

  Got next(CanFrame& frame) override {
    constexpr std::size_t kHeader = 16;
    for (;;) {
      stands_at(file().offset());
      const uint8_t* packet = need(kHeader, "a packet");
      if (packet == nullptr) return Got::kEnd;
      const auto size = number<uint32_t>(packet + 8);
      if (size > kMostPacket) fail("a packet of " + std::to_string(size) + " bytes");
      packet = need(kHeader + size, "a packet");
      if (packet == nullptr) return Got::kEnd;
      frame.time = number<uint32_t>(packet) + unit_ * number<uint32_t>(packet + 4);
      const Got got = read_packet(packet + kHeader, size, link_, frame);
      file().skip(kHeader + size);
      if (got != Got::kEnd) return got;
    }
  }

 private:
  Link link_;
  double unit_ = 1e-6;
};

class PcapngReader : public PacketReader {
 public:
  explicit PcapngReader(file::ByteReader bytes) : PacketReader(std::move(bytes)) {}
  const char* format() const override { return "pcapng"; }

  Got next(CanFrame& frame) override {
    for (;;) {
      stands_at(file().offset());
      const uint8_t* block = need(kHeader, "a block");
      if (block == nullptr) return Got::kEnd;
      if (file::little<uint32_t>(block) == kSection) begin_section(block);
      const auto type = number<uint32_t>(block);
      const auto size = number<uint32_t>(block + 4);
      if (size < kHeader || size % 4 != 0) {
        fail("a block of " + std::to_string(size) + " bytes");
      }
      if (type != kInterface && type != kPacket) {
        passed().others += type == kSimplePacket ? 1 : 0;  // such packets have no time
        if (!file().skip_far(size)) {
          end_early("a block");
          return Got::kEnd;
        }
        continue;
      }
      if (size > kMostPacket) fail("a block of " + std::to_string(size) + " bytes");
      block = need(size, "a block");
      if (block == nullptr) return Got::kEnd;
      Got got = Got::kEnd;
      if (type == kInterface) {
        add_interface(block, size);
      } else {
        got = read_block(block, size, frame);
      }
      file().skip(size);
      if (got != Got::kEnd) return got;
    }
  }

 private:
  enum Block : uint32_t {
    kInterface = 1,
    kSimplePacket = 3,
    kPacket = 6,
    kSection = 0x0a0d0d0a,
  };
  static constexpr std::size_t kHeader = 12;  // type, length, and the byte order of a section
  struct Interface {
    Link link;
    double unit = 1e-6;
    double offset = 0;  // seconds
    std::string name;
    int channel = -1;  // known with its first packet
  };

  void begin_section(const uint8_t* block) {
    constexpr uint32_t kOrder = 0x1a2b3c4d;
    const auto order = file::little<uint32_t>(block + 8);
    if (order != kOrder && file::big<uint32_t>(block + 8) != kOrder)
      fail("no byte order of a section");
    set_order(order != kOrder);
    interfaces_.clear();
  }

  void add_interface(const uint8_t* block, std::size_t size) {
    constexpr std::size_t kFixed = 16, kMostInterfaces = 4096;
    if (size < kFixed + 4) fail("a block of " + std::to_string(size) + " bytes");
    if (interfaces_.size() == kMostInterfaces) fail("more than 4096 interfaces");
    Interface out;
    out.link = link_of(number<uint16_t>(block + 8));
    const uint8_t* end = block + size - 4;
    for (const uint8_t* option = block + kFixed; end - option >= 4;) {
      const auto code = number<uint16_t>(option), length = number<uint16_t>(option + 2);
      const uint8_t* value = option + 4;
      if (code == 0 || end - value < length) break;
      read_option(code, value, length, out);
      option = value + static_cast<std::ptrdiff_t>((length + 3) / 4 * 4);
      if (option > end) break;
    }
    interfaces_.push_back(std::move(out));
  }

  void read_option(uint16_t code, const uint8_t* value, std::size_t length, Interface& out) const {
    constexpr uint16_t kName = 2, kResolution = 9, kOffset = 14;
    if (code == kName) {
      constexpr std::size_t kLongestName = 64;
      out.name.assign(reinterpret_cast<const char*>(value), std::min(length, kLongestName));
    } else if (code == kResolution && length >= 1) {
      const int power = value[0] & 0x7f;
      out.unit = (value[0] & 0x80) != 0 ? std::ldexp(1.0, -power) : std::pow(10.0, -power);
    } else if (code == kOffset && length >= 8) {
      out.offset = static_cast<double>(number<int64_t>(value));
    }
  }

  /// What the options of a packet say of its direction.
  bool is_sent(const uint8_t* option, const uint8_t* end) const {
    constexpr uint16_t kFlags = 2;
    constexpr uint32_t kDirection = 3, kOutbound = 2;
    while (end - option >= 4) {
      const auto code = number<uint16_t>(option), length = number<uint16_t>(option + 2);
      if (code == 0 || end - option - 4 < length) return false;
      if (code == kFlags && length == 4) {
        return (number<uint32_t>(option + 4) & kDirection) == kOutbound;
      }
      const std::ptrdiff_t step = 4 + std::ptrdiff_t{length + 3} / 4 * 4;
      if (end - option < step) return false;
      option += step;
    }
    return false;
  }

  /// kEnd: nothing in it that is read.
  Got read_block(const uint8_t* block, std::size_t size, CanFrame& frame) {
    constexpr std::size_t kFixed = 28;
    if (size < kFixed + 4) return refuse("the block is too short for a packet");
    const auto number_of = number<uint32_t>(block + 8);
    const auto length = number<uint32_t>(block + 20);
    if (number_of >= interfaces_.size()) return refuse("the packet is of an unknown interface");
    if (length > size - kFixed - 4) return refuse("the packet is longer than its block");
    Interface& from = interfaces_[number_of];
    if (!is_link_type(from.link.type)) {
      ++passed().others;
      return Got::kEnd;
    }
    const uint64_t ticks =
        uint64_t{number<uint32_t>(block + 12)} << 32 | number<uint32_t>(block + 16);
    frame.time = from.offset + from.unit * static_cast<double>(ticks);
    if (from.channel < 0 && from.link.type != kCooked2) {
      // A bus has the number of its name, as in candump's logs, and not that of its place.
      from.channel = channels().number(from.name.empty() ? std::to_string(number_of) : from.name);
      if (from.channel < 0) return refuse("a ninth channel: a log may hold eight buses");
    }
    if (from.channel >= 0) frame.channel = static_cast<uint8_t>(from.channel);
    const Got got = read_packet(block + kFixed, length, from.link, frame);
    const std::size_t options = kFixed + (std::size_t{length} + 3) / 4 * 4;
    if (options < size - 4) frame.tx |= is_sent(block + options, block + size - 4);
    return got;
  }

  std::vector<Interface> interfaces_;
};

bool begins_with(std::string_view head, std::initializer_list<uint32_t> magics) {
  if (head.size() < sizeof(uint32_t)) return false;
  const auto first = file::big<uint32_t>(reinterpret_cast<const uint8_t*>(head.data()));
  return std::find(magics.begin(), magics.end(), first) != magics.end();
}

}  // namespace

bool is_pcap(std::string_view head) {
  return begins_with(head, {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1});
}
bool is_pcapng(std::string_view head) { return begins_with(head, {0x0a0d0d0a}); }

std::unique_ptr<FrameReader> open_pcap(file::ByteReader bytes) {
  return std::make_unique<PcapReader>(std::move(bytes));
}
std::unique_ptr<FrameReader> open_pcapng(file::ByteReader bytes) {
  return std::make_unique<PcapngReader>(std::move(bytes));
}

}  // namespace kdgat::data
