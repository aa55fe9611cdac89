// A port of this machine that is the test's own, also while nothing listens there: what was free a
// moment ago may belong to another test by now.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

namespace kdgat::test {

/// A TCP port of 127.0.0.1 outside the range from which the kernel gives ports to others. Other
/// tests leave it alone because its name, a Unix socket without a file, is taken.
class HeldPort {
 public:
  HeldPort() {
    int first = 0, last = 0;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
    constexpr int kLowest = 10000, kPorts = 20000;
    // Where the kernel gives away all of them, any that is free.
    for (const bool is_any : {false, true}) {
      for (int i = 0; i < kPorts; ++i) {
        const int port = kLowest + (static_cast<int>(::getpid()) * 31 + i) % kPorts;
        if (!is_any && port >= first && port <= last) continue;
        if (take(port)) return;
      }
    }
    throw std::runtime_error("no port is free");
  }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  ~HeldPort() { ::close(name_); }
  int number() const { return port_; }
  std::string text() const { return std::to_string(port_); }

 private:
  bool take(int port) {
    sockaddr_un named{};
    named.sun_family = AF_UNIX;
    const std::string name = "kdgat-test-port-" + std::to_string(port);
    name.copy(named.sun_path + 1, name.size());  // behind a NUL: it stands in no folder
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    const int holds = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int tries = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const bool is_free =
        ::bind(holds, reinterpret_cast<const sockaddr*>(&named), size) == 0 &&
        ::bind(tries, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(tries);
    if (!is_free) {
      ::close(holds);
      return false;
    }
    name_ = holds;
    port_ = port;
    return true;
  }

  int name_ = -1, port_ = 0;
};

/// Whether something takes connections at this port of 127.0.0.1 now.
inline bool is_served(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int tries = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool out =
      ::connect(tries, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(tries);
  return out;
}

}  // namespace kdgat::test
