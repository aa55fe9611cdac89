#include "pipeline/alarms/udp_sender.h"

#include <netdb.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace kdgat {

UdpSender::UdpSender(const std::string& address) {
  constexpr int kMostPort = 65535;
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    throw std::invalid_argument("an address with colons stands in brackets: [::1]:9000");
  }
  if (colon == std::string::npos || host.empty() ||
      !whole_number(address.substr(colon + 1), 1, kMostPort)) {
    throw std::invalid_argument("\"" + address + "\" is no HOST:PORT");
  }
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &found);
  if (error != 0) {
    throw std::invalid_argument("there is no address of " + host + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::memcpy(&to_, found->ai_addr, found->ai_addrlen);
  size_ = found->ai_addrlen;
  // Not connected: that somebody did not hear the last datagram is no error of the next.
  socket_ = OwnedFd(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.get() < 0) throw std::invalid_argument(std::strerror(errno));
}

Delivery UdpSender::send(std::string_view datagram, const Patience& patience) const {
  while (true) {
    if (::sendto(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&to_), size_) >= 0) {
      return {};
    }
    if (errno == EMSGSIZE) return {Outcome::kRefused, "it is too long for a datagram"};
    if (errno == EAGAIN) {
      if (!patience.wait(socket_.get(), POLLOUT)) return {Outcome::kAgain, "nobody takes it"};
    } else if (errno != EINTR) {
      return {Outcome::kAgain, std::strerror(errno)};
    }
  }
}

}  // namespace kdgat
