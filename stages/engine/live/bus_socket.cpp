#include "engine/live/bus_socket.h"

#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include "engine/live/clock_steps.h"

namespace kdgat::live {
namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int64_t kMicroseconds = 1'000'000;

std::string reason(int error) { return std::strerror(error); }

template <class T>
bool set_option(int fd, int level, int option, const T& value) {
  return ::setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/// Frames that the kernel dropped since the socket was opened.
std::optional<uint32_t> dropped_of(int fd) {
  std::array<uint32_t, SK_MEMINFO_VARS> facts{};
  socklen_t size = sizeof(facts);
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, facts.data(), &size) != 0 ||
      size <= SK_MEMINFO_DROPS * sizeof(uint32_t)) {
    return std::nullopt;
  }
  return facts[SK_MEMINFO_DROPS];
}

bool is_loopback(const sockaddr_storage& address) {
  constexpr uint32_t kFirstByte = 24;
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr);
  }
  return ntohl(reinterpret_cast<const sockaddr_in*>(&address)->sin_addr.s_addr) >> kFirstByte ==
         IN_LOOPBACKNET;
}

}  // namespace

bool read_frame(std::span<const std::byte> bytes, data::CanFrame& frame, bool& is_error) {
  canfd_frame raw{};
  static_assert(CAN_MTU < sizeof(raw) && CANFD_MTU == sizeof(raw));
  static_assert(offsetof(can_frame, data) == offsetof(canfd_frame, data));
  const bool is_fd = bytes.size() == CANFD_MTU;
  if (!is_fd && bytes.size() != CAN_MTU) return false;
  std::memcpy(&raw, bytes.data(), bytes.size());
  if (raw.len > (is_fd ? CANFD_MAX_DLEN : CAN_MAX_DLEN)) return false;
  is_error = (raw.can_id & CAN_ERR_FLAG) != 0;
  frame = data::CanFrame();
  frame.extended = (raw.can_id & CAN_EFF_FLAG) != 0;
  frame.id = raw.can_id & (frame.extended ? CAN_EFF_MASK : CAN_SFF_MASK);
  frame.fd = is_fd;
  frame.remote = !is_fd && (raw.can_id & CAN_RTR_FLAG) != 0;
  if (frame.remote) return true;  // its length is that of the answer
  frame.length = raw.len;
  std::copy_n(raw.data, raw.len, frame.payload.begin());
  return true;
}

BusSocket::BusSocket(BusAddress address, uint8_t channel, std::vector<can_filter> filters,
                     int receive_buffer)
    : address_(std::move(address)),
      channel_(channel),
      filters_(std::move(filters)),
      receive_buffer_(receive_buffer),
      messages_(kBatch),
      parts_(kBatch),
      heads_(kBatch),
      frames_(kBatch) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    parts_[i] = {messages_[i].bytes.data(), messages_[i].bytes.size()};
    heads_[i].msg_hdr.msg_iov = &parts_[i];
    heads_[i].msg_hdr.msg_iovlen = 1;
    heads_[i].msg_hdr.msg_control = messages_[i].control.data();
  }
  if (std::optional<Diagnostic> problem = open()) {
    close();
    throw Error(ExitCode::kUsage, {std::move(*problem)});
  }
}

BusSocket::~BusSocket() { close(); }

void BusSocket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::optional<Diagnostic> BusSocket::open() {
  dropped_ = 0;
  received_ = monotonic_now();
  return address_.is_udp() ? open_udp() : open_can();
}

std::optional<Diagnostic> BusSocket::open_can() {
  const std::string what = "cannot read " + address_.name + ": ";
  fd_ = ::socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
  if (fd_ < 0 && (errno == EPERM || errno == EACCES)) {
    return Diagnostic{"", what + reason(errno), "opening a CAN socket is not allowed here"};
  }
  if (fd_ < 0) {
    return Diagnostic{"", what + "this kernel has no CAN sockets (" + reason(errno) + ")",
                      "load them with `modprobe can_raw`; a container has those of its host's "
                      "kernel; where there are none, frames can come by UDP: udp:HOST:PORT"};
  }
  const unsigned int index = ::if_nametoindex(address_.name.c_str());
  if (index == 0) {
    return Diagnostic{"", what + "there is no such interface",
                      "`ip -br link show type can` lists them; vcan0 is made by `ip link add vcan0 "
                      "type vcan && ip link set vcan0 up`"};
  }
  set_options();
  const int is_on = 1;
  set_option(fd_, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, is_on);  // a kernel without has none to give
  const can_err_mask_t errors = CAN_ERR_MASK;
  set_option(fd_, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, errors);
  if (!filters_.empty() &&
      ::setsockopt(fd_, SOL_CAN_RAW, CAN_RAW_FILTER, filters_.data(),
                   static_cast<socklen_t>(filters_.size() * sizeof(can_filter))) != 0) {
    return Diagnostic{"", what + "the kernel refuses the filters: " + reason(errno),
                      "at most " + std::to_string(CAN_RAW_FILTER_MAX) + " are possible"};
  }
  sockaddr_can address{};
  address.can_family = AF_CAN;
  address.can_ifindex = static_cast<int>(index);
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return {};
  const int error = errno;
  return Diagnostic{"", what + (error == ENODEV ? "it is no CAN interface" : reason(error)),
                    error == ENODEV ? "`ip -br link show type can` lists those" : ""};
}

std::optional<Diagnostic> BusSocket::open_udp() {
  const std::string what = "cannot read " + address_.name + ": ";
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_DGRAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(address_.host.c_str(), address_.port.c_str(), &wanted, &found);
  if (fault != 0) {
    return Diagnostic{"", what + ::gai_strerror(fault),
                      "HOST is an address of this machine, as 127.0.0.1, or 0.0.0.0 for all"};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  fd_ = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return Diagnostic{"", what + reason(errno), ""};
  set_options();
  if (::bind(fd_, found->ai_addr, found->ai_addrlen) != 0) {
    const char* hint = errno == EADDRINUSE      ? "another program reads this port"
                       : errno == EACCES        ? "ports below 1024 are the system's"
                       : errno == EADDRNOTAVAIL ? "HOST is an address of this machine"
                                                : "";
    return Diagnostic{"", what + reason(errno), hint};
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  const in_port_t port = bound.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                             : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port;
  is_exposed_ = !is_loopback(bound);
  if (address_.port != "0") return {};
  // What is opened again is the same port.
  address_.port = std::to_string(ntohs(port));
  address_.name.replace(address_.name.rfind(':') + 1, std::string::npos, address_.port);
  return {};
}

/// Ahead of binding, so that the first frame has its time.
void BusSocket::set_options() {
  const int is_on = 1;
  set_option(fd_, SOL_SOCKET, SO_TIMESTAMPNS, is_on);
  set_option(fd_, SOL_SOCKET, SO_RXQ_OVFL, is_on);
  // What the system allows everybody at most, if it does not allow this program more.
  if (!set_option(fd_, SOL_SOCKET, SO_RCVBUFFORCE, receive_buffer_)) {
    set_option(fd_, SOL_SOCKET, SO_RCVBUF, receive_buffer_);
  }
}

void BusSocket::receive() {
  next_ = count_ = 0;
  has_more_ = false;
  if (fd_ < 0) return;
  for (std::size_t i = 0; i < kBatch; ++i) {  // the kernel wrote how much it used
    heads_[i].msg_hdr.msg_controllen = messages_[i].control.size();
    heads_[i].msg_hdr.msg_flags = 0;
  }
  const int got = ::recvmmsg(fd_, heads_.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    if (errno == ENETDOWN) {  // the socket goes on when the interface does
      set_state(BusState::kDown);
    } else {
      count_drops();
      close();
      set_state(BusState::kGone);
    }
    return;
  }
  has_more_ = got == kBatch;
  const Clocks now = clocks();
  for (int i = 0; i < got; ++i) {
    if (take(heads_[i], messages_[i], now, frames_[count_])) ++count_;
  }
}

BusSocket::Clocks BusSocket::clocks() {
  timespec real{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  const int64_t now = monotonic_now();
  return {now, int64_t{real.tv_sec} * kNanoseconds + real.tv_nsec - now};
}

/// false: there is no frame in it that is wanted.
bool BusSocket::take(const mmsghdr& head, const Message& message, const Clocks& clocks,
                     LiveFrame& to) {
  int64_t time = 0;
  for (cmsghdr* control = CMSG_FIRSTHDR(&head.msg_hdr); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&head.msg_hdr), control)) {
    if (control->cmsg_level != SOL_SOCKET) continue;
    if (control->cmsg_type == SO_TIMESTAMPNS) {
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(control), sizeof(stamp));
      time = int64_t{stamp.tv_sec} * kNanoseconds + stamp.tv_nsec;
    } else if (control->cmsg_type == SO_RXQ_OVFL) {
      uint32_t ever = 0;
      std::memcpy(&ever, CMSG_DATA(control), sizeof(ever));
      lost_ += count_dropped(ever);
    }
  }
  bool is_error = false;
  const bool is_whole = (head.msg_hdr.msg_flags & MSG_TRUNC) == 0;
  if (!is_whole || !read_frame({message.bytes.data(), head.msg_len}, to.frame, is_error)) {
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (is_error) {
    error_frames_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (address_.is_udp() && !filters_.empty()) {  // a CAN socket filters by itself
    const canid_t id = to.frame.id | (to.frame.extended ? CAN_EFF_FLAG : 0);
    if (!is_wanted(id, filters_)) return false;
  }
  if (time == 0) time = clocks.now + clocks.behind;
  to.received = received_ = receive_moment(time, clocks.now, clocks.behind, received_);
  // A CAN socket marks so what another socket of this computer sent; of UDP it means nothing.
  to.is_sent_here = !address_.is_udp() && (head.msg_hdr.msg_flags & MSG_DONTROUTE) != 0;
  // Whole microseconds, as candump writes them: what is judged now is judged the same of its log.
  const int64_t microseconds = time / (kNanoseconds / kMicroseconds);
  to.frame.time = static_cast<double>(microseconds) / kMicroseconds;
  to.frame.channel = channel_;
  to.lost = static_cast<uint32_t>(
      std::min<int64_t>(std::exchange(lost_, 0), std::numeric_limits<uint32_t>::max()));
  return true;
}

/// `ever`: since the socket was opened, modulo 2^32. What of it is new.
int64_t BusSocket::count_dropped(uint32_t ever) {
  // What a frame carries is older than what count_drops() may have asked for.
  const auto more = static_cast<int32_t>(ever - dropped_);
  if (more <= 0) return 0;
  dropped_ = ever;
  kernel_drops_.fetch_add(more, std::memory_order_relaxed);
  return more;
}

void BusSocket::count_drops() {
  if (fd_ < 0) return;
  if (const std::optional<uint32_t> ever = dropped_of(fd_)) lost_ += count_dropped(*ever);
}

void BusSocket::revive() {
  if (is_up()) return;
  if (fd_ < 0) {
    if (open()) {
      close();
      return;
    }
    set_state(BusState::kDown);  // as far as is known
  }
  ifreq asked{};
  address_.name.copy(asked.ifr_name, IFNAMSIZ - 1);
  // An interface of this name that is another one now was told of by ENODEV.
  if (address_.is_udp() || (::ioctl(fd_, SIOCGIFFLAGS, &asked) == 0 &&
                            (static_cast<unsigned>(asked.ifr_flags) & IFF_UP) != 0)) {
    set_state(BusState::kUp);
  }
}

void BusSocket::set_state(BusState state) {
  const BusState before = state_.load(std::memory_order_relaxed);
  if (before == state) return;
  state_.store(state, std::memory_order_relaxed);
  if (before == BusState::kUp) interruptions_.fetch_add(1, std::memory_order_relaxed);
}

BusCounts BusSocket::counts() const {
  BusCounts out;
  out.name = address_.name;
  out.state = state_.load(std::memory_order_relaxed);
  out.frames = frames_given_.load(std::memory_order_relaxed);
  out.error_frames = error_frames_.load(std::memory_order_relaxed);
  out.malformed = malformed_.load(std::memory_order_relaxed);
  out.kernel_drops = kernel_drops_.load(std::memory_order_relaxed);
  out.queue_drops = queue_drops_.load(std::memory_order_relaxed);
  out.interruptions = interruptions_.load(std::memory_order_relaxed);
  return out;
}

}  // namespace kdgat::live
