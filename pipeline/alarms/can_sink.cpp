// Alarms as frames on a CAN bus, with the bytes of kdgat/alarm_frame.h.
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kdgat/alarm_frame.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/alarms/udp_sender.h"

namespace kdgat {
namespace {

constexpr const char* kOverUdp = "udp:";

can_frame frame_of(uint32_t id, const AlarmNews& news) {
  const AlarmBytes bytes = alarm_bytes(news.alarm(), news.suppressed);
  can_frame frame{};
  frame.can_id = id;
  frame.can_dlc = CAN_MAX_DLEN;
  static_assert(sizeof bytes == CAN_MAX_DLEN);
  std::copy(bytes.begin(), bytes.end(), frame.data);
  return frame;
}

/// An interface of SocketCAN.
class CanSocket {
 public:
  explicit CanSocket(std::string interface) : interface_(std::move(interface)) {}

  const std::string& interface() const { return interface_; }

  /// "" or why it cannot be written to.
  std::string open() {
    OwnedFd made(::socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, CAN_RAW));
    if (made.get() < 0) {
      return errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT
                 ? "this kernel has no CAN (modprobe can_raw may bring it)"
                 : std::strerror(errno);
    }
    sockaddr_can address{};
    address.can_family = AF_CAN;
    address.can_ifindex = static_cast<int>(::if_nametoindex(interface_.c_str()));
    if (address.can_ifindex == 0) return "there is no interface " + interface_;
    // It only writes: nothing is to wait here to be read.
    if (::setsockopt(made.get(), SOL_CAN_RAW, CAN_RAW_FILTER, nullptr, 0) != 0 ||
        ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return std::strerror(errno);
    }
    socket_ = std::move(made);
    return "";
  }

  Delivery send(const can_frame& frame) {
    if (socket_.get() < 0) {
      if (const std::string why = open(); !why.empty()) return {Outcome::kAgain, why};
    }
    if (::write(socket_.get(), &frame, sizeof frame) == sizeof frame) return {};
    const int error = errno;
    // A queue that is full empties; an interface that went away may come back as another.
    if (error != ENOBUFS && error != EAGAIN) socket_.reset();
    return {Outcome::kAgain, std::strerror(error)};
  }

 private:
  std::string interface_;
  OwnedFd socket_;
};

class CanSink : public AlarmSink {
 public:
  CanSink(uint32_t id, CanSocket socket) : id_(id), socket_(std::move(socket)) {}
  Delivery write(const AlarmNews& news, const Patience&) override {
    return socket_.send(frame_of(id_, news));
  }
  std::optional<BusFrames> bus_frames() const override {
    return BusFrames{socket_.interface(), id_};
  }

 private:
  uint32_t id_;
  CanSocket socket_;
};

/// Frames as datagrams of their 16 bytes, for where there is no bus. It names no bus_frames():
/// anybody can send a datagram, and nothing of one proves who did.
class CanUdpSink : public AlarmSink {
 public:
  CanUdpSink(uint32_t id, UdpSender sender) : id_(id), sender_(std::move(sender)) {}
  Delivery write(const AlarmNews& news, const Patience& patience) override {
    const can_frame frame = frame_of(id_, news);
    return sender_.send({reinterpret_cast<const char*>(&frame), sizeof frame}, patience);
  }

 private:
  uint32_t id_;
  UdpSender sender_;
};

/// As candump writes them: of more than three digits is one of 29 bits.
uint32_t can_id_of(AlarmWords& words) {
  constexpr std::size_t kShort = 3;
  constexpr int kHex = 16;
  const std::string text = words.option("id", "");
  if (text.empty()) words.refuse("on which id? id=6F0");
  const char* end = text.data() + text.size();
  uint32_t id = 0;
  const auto [at, error] = std::from_chars(text.data(), end, id, kHex);
  const bool is_long = text.size() > kShort;
  if (error != std::errc() || at != end || id > (is_long ? CAN_EFF_MASK : CAN_SFF_MASK)) {
    words.refuse("id=" + text +
                 " is no id: three hexadecimal digits up to 7FF, or more up to 1FFFFFFF");
  }
  return is_long ? id | CAN_EFF_FLAG : id;
}

}  // namespace

std::unique_ptr<AlarmSink> make_can_sink(AlarmWords& words) {
  const std::string& target = words.target();
  if (target.empty()) words.refuse("which interface?");
  const uint32_t id = can_id_of(words);
  if (target.starts_with(kOverUdp)) {
    try {
      return std::make_unique<CanUdpSink>(id, UdpSender(target.substr(std::strlen(kOverUdp))));
    } catch (const std::invalid_argument& e) {
      words.refuse(e.what());
    }
  }
  CanSocket socket(target);
  if (const std::string why = socket.open(); !why.empty()) words.refuse(why);
  return std::make_unique<CanSink>(id, std::move(socket));
}

}  // namespace kdgat
