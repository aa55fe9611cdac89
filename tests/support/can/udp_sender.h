// What sends frames as the gateway of a bus does: a datagram with the bytes of a CAN socket for
// each. At a rate, if wanted, against moments and not by spans, so that lateness does not add up.
#pragma once

#include <arpa/inet.h>
#include <linux/can.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace kdgat::test {

/// A frame of the bus; `id` with the flags of a CAN socket.
inline can_frame classic_frame(canid_t id, std::initializer_list<uint8_t> payload = {}) {
  can_frame out{};
  out.can_id = id;
  for (const uint8_t byte : payload) out.data[out.len++] = byte;
  return out;
}

/// Of CAN FD, its payload 0, 1, 2, ...
inline canfd_frame fd_frame(canid_t id, uint8_t length) {
  canfd_frame out{};
  out.can_id = id;
  out.len = length;
  for (uint8_t i = 0; i < length; ++i) out.data[i] = i;
  return out;
}

class UdpSender {
 public:
  /// `bus`: "udp:A.B.C.D:PORT", as a reader of it is called.
  explicit UdpSender(const std::string& bus)
      : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::size_t host = bus.find(':') + 1, port = bus.rfind(':') + 1;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(bus.substr(port))));
    if (fd_ < 0 ||
        ::inet_pton(AF_INET, bus.substr(host, port - 1 - host).c_str(), &to.sin_addr) != 1 ||
        ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
      throw std::runtime_error("cannot send to " + bus);
    }
  }
  UdpSender(const UdpSender&) = delete;
  UdpSender& operator=(const UdpSender&) = delete;
  ~UdpSender() { ::close(fd_); }

  void send_bytes(const void* bytes, std::size_t size) const {
    while (::send(fd_, bytes, size, 0) < 0) {
      // That nobody reads the port yet is told with the next datagram.
      if (errno != ECONNREFUSED && errno != EINTR) {
        throw std::runtime_error(std::string("sending: ") + std::strerror(errno));
      }
    }
  }
  void send(const can_frame& frame) const { send_bytes(&frame, sizeof(frame)); }
  void send(const canfd_frame& frame) const { send_bytes(&frame, sizeof(frame)); }

  /// Sends make(0), ..., make(count - 1), `rate` of them a second.
  template <class Make>
  void send_at(double rate, int64_t count, Make make) const {
    timespec begin{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int64_t i = 0; i < count; ++i) {
      const auto ahead = static_cast<int64_t>(static_cast<double>(i) * 1e9 / rate);
      const int64_t nanoseconds = begin.tv_nsec + ahead;
      timespec due{};
      due.tv_sec = begin.tv_sec + static_cast<time_t>(nanoseconds / 1'000'000'000);
      due.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
      while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) continue;
      send(make(i));
    }
  }

 private:
  int fd_;
};

}  // namespace kdgat::test
