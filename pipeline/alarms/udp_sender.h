// Datagrams to one UDP address. Owns the socket; knows no alarm. What nobody hears it does not
// know.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "pipeline/alarms/alarm_sink.h"

namespace kdgat {

class UdpSender {
 public:
  /// "127.0.0.1:9000", "[::1]:9000", "logs.example:9000": looked up here, once. Throws
  /// std::invalid_argument saying what is wrong.
  explicit UdpSender(const std::string& address);

  Delivery send(std::string_view datagram, const Patience& patience) const;

 private:
  sockaddr_storage to_{};
  socklen_t size_ = 0;
  OwnedFd socket_;
};

}  // namespace kdgat
