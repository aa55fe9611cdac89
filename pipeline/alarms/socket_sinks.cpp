// Alarms to sockets: Unix and UDP, and the system's log behind one.
#include <poll.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "pipeline/alarms/sinks.h"
#include "pipeline/alarms/udp_sender.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

/// A Unix socket of either kind, connected when something is to be sent.
class LocalSocket {
 public:
  /// Throws std::invalid_argument for a path that is none.
  explicit LocalSocket(const std::string& path) {
    address_.sun_family = AF_UNIX;
    if (path.empty()) throw std::invalid_argument("which socket?");
    if (path.size() >= sizeof address_.sun_path) {
      throw std::invalid_argument("the path of a socket has " +
                                  std::to_string(sizeof address_.sun_path - 1) + " bytes at most");
    }
    path.copy(address_.sun_path, path.size());
  }

  /// A datagram, or a line of a stream.
  Delivery send(std::string_view text, const Patience& patience) {
    Delivery out;
    // Whoever was there may have gone and come back: a second time at once, on a new connection.
    for (int i = 0; i < 2; ++i) {
      out = connect();
      if (out.outcome == Outcome::kDone) out = send_on(text, patience);
      if (out.outcome != Outcome::kAgain) return out;
      socket_.reset();
    }
    return out;
  }

 private:
  Delivery connect() {
    if (socket_.get() >= 0) return {};
    int error = 0;
    for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
      OwnedFd made(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (made.get() >= 0 && ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address_),
                                       sizeof address_) == 0) {
        socket_ = std::move(made);
        is_stream_ = type == SOCK_STREAM;
        return {};
      }
      error = errno;
      if (error != EPROTOTYPE) break;
    }
    return {Outcome::kAgain, std::strerror(error)};
  }

  Delivery send_on(std::string_view text, const Patience& patience) {
    const std::string bytes = std::string(text) + (is_stream_ ? "\n" : "");
    std::size_t done = 0;
    while (true) {
      const ssize_t sent =
          ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent >= 0) done += static_cast<std::size_t>(sent);
      if (sent >= 0 && done == bytes.size()) return {};
      if (sent >= 0 || errno == EINTR) continue;
      if (errno == EMSGSIZE) return {Outcome::kRefused, "it is too long for a datagram"};
      if (errno != EAGAIN) return {Outcome::kAgain, std::strerror(errno)};
      // A peer that goes away wakes nobody who waits for room in its queue: asked every second.
      if (!patience.wait(socket_.get(), POLLOUT, deadline_in(1)) && patience.is_over()) {
        return {Outcome::kAgain, "nobody takes it"};
      }
    }
  }

  sockaddr_un address_{};
  OwnedFd socket_;
  bool is_stream_ = false;
};

LocalSocket local_socket(const AlarmWords& words, const std::string& path) {
  try {
    return LocalSocket(path);
  } catch (const std::invalid_argument& e) {
    words.refuse(e.what());
  }
}

/// Hands lines to what has a send() of its own.
template <class Sender>
class SenderSink : public AlarmSink {
 public:
  explicit SenderSink(Sender sender) : sender_(std::move(sender)) {}
  Delivery write(const AlarmNews& news, const Patience& patience) override {
    return sender_.send(news.line(), patience);
  }

 private:
  Sender sender_;
};
using UnixSink = SenderSink<LocalSocket>;
using UdpSink = SenderSink<UdpSender>;

struct Facility {
  const char* name;
  int code;
};
constexpr std::array<Facility, 12> kFacilities = {{{"daemon", LOG_DAEMON},
                                                   {"user", LOG_USER},
                                                   {"auth", LOG_AUTH},
                                                   {"authpriv", LOG_AUTHPRIV},
                                                   {"local0", LOG_LOCAL0},
                                                   {"local1", LOG_LOCAL1},
                                                   {"local2", LOG_LOCAL2},
                                                   {"local3", LOG_LOCAL3},
                                                   {"local4", LOG_LOCAL4},
                                                   {"local5", LOG_LOCAL5},
                                                   {"local6", LOG_LOCAL6},
                                                   {"local7", LOG_LOCAL7}}};

int facility_named(const AlarmWords& words, const std::string& name) {
  std::vector<std::string> names;
  for (const Facility& facility : kFacilities) {
    if (name == facility.name) return facility.code;
    names.emplace_back(facility.name);
  }
  words.refuse("there is no facility " + name + ": " + joined(names, ", "));
}

/// RFC 3164 without the name of the host, as daemons expect it on their local socket.
class SyslogSink : public AlarmSink {
 public:
  SyslogSink(int facility, LocalSocket socket) : facility_(facility), socket_(std::move(socket)) {}

  Delivery write(const AlarmNews& news, const Patience& patience) override {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    std::array<char, 32> time{};
    ::localtime_r(&now, &local);
    std::strftime(time.data(), time.size(), "%b %e %H:%M:%S", &local);
    std::string text = "<" +
                       std::to_string(facility_ | (news.alarm().open ? LOG_WARNING : LOG_NOTICE)) +
                       ">" + time.data() + " kdgat[" + std::to_string(::getpid()) + "]: ";
    return socket_.send(text.append(news.line()), patience);
  }

 private:
  int facility_;
  LocalSocket socket_;
};

}  // namespace

std::unique_ptr<AlarmSink> make_unix_sink(AlarmWords& words) {
  return std::make_unique<UnixSink>(local_socket(words, words.target()));
}

std::unique_ptr<AlarmSink> make_udp_sink(AlarmWords& words) {
  try {
    return std::make_unique<UdpSink>(UdpSender(words.target()));
  } catch (const std::invalid_argument& e) {
    words.refuse(e.what());
  }
}

std::unique_ptr<AlarmSink> make_syslog_sink(AlarmWords& words) {
  const std::string name = words.target().empty() ? "daemon" : words.target();
  return std::make_unique<SyslogSink>(facility_named(words, name),
                                      local_socket(words, words.option("socket", "/dev/log")));
}

}  // namespace kdgat
