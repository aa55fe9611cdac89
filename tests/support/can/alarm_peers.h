// What alarms are sent to in tests: sockets that are read from, and somebody who is told. Nothing
// here leaves the computer.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kdgat/event.h"
#include "pipeline/alarms/alarms.h"
#include "pipeline/system/owned_fd.h"
#include "support/programs/wait.h"

namespace kdgat::test {

/// In seconds, for what ends by a moment.
inline constexpr double kAlarmPatience = std::chrono::duration<double>(kHangLimit).count();

inline AlarmEvent alarm_event(int64_t number, bool open = true) {
  AlarmEvent event;
  event.file = "drive one.log";
  event.alarm = number;
  event.open = open;
  event.begin = 1672531203.5;
  event.end = 1672531204.25;
  event.windows = 2;
  event.peak = 1.5F;
  event.ids = {"2C0", "1:1A0"};
  event.reasons = {"2C0 comes too often", "an id that is not known"};
  event.model = "5f3a";
  return event;
}

/// The same as JSON.
inline std::string alarm_line(int64_t number, bool open = true) {
  return nlohmann::json(alarm_event(number, open)).dump();
}

/// Whoever is told of sinks; all that was said, a line each.
class Told {
 public:
  std::function<void(const std::string&, const std::string&)> tell() {
    return [this](const std::string& level, const std::string& message) {
      const std::lock_guard lock(mutex_);
      text_ += level + ": " + message + "\n";
    };
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// What comes next on a descriptor, 64 KiB at most; "" at the end, or if nothing comes.
inline std::string next_of(int fd) {
  std::string out(std::size_t{1} << 16, '\0');
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(kAlarmPatience * 1000)) <= 0) return "";
  const ssize_t got = ::read(fd, out.data(), out.size());
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

/// So many lines of a stream, without their ends.
inline std::vector<std::string> lines_of(int fd, std::size_t count) {
  std::vector<std::string> lines;
  std::string text;
  while (lines.size() < count) {
    if (const std::size_t end = text.find('\n'); end != std::string::npos) {
      lines.push_back(text.substr(0, end));
      text.erase(0, end + 1);
      continue;
    }
    const std::string more = next_of(fd);
    if (more.empty()) break;
    text += more;
  }
  return lines;
}

/// A Unix socket with a name.
inline OwnedFd unix_listener(const std::filesystem::path& path, int type) {
  OwnedFd out(::socket(AF_UNIX, type, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  if (type == SOCK_STREAM) REQUIRE(::listen(out.get(), 8) == 0);
  return out;
}

inline OwnedFd accepted(const OwnedFd& listener) {
  pollfd ready{listener.get(), POLLIN, 0};
  REQUIRE(::poll(&ready, 1, static_cast<int>(kAlarmPatience * 1000)) == 1);
  return OwnedFd(::accept(listener.get(), nullptr, nullptr));
}

/// A socket on 127.0.0.1 and its port: SOCK_DGRAM to read from, SOCK_STREAM to listen on.
inline std::pair<OwnedFd, int> loopback_socket(int type) {
  OwnedFd out(::socket(AF_INET, type, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(out.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return {std::move(out), ntohs(address.sin_port)};
}

/// A connection to a port of 127.0.0.1; -1 if nobody listens there.
inline OwnedFd connected(int port) {
  OwnedFd out(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    out.reset();
  }
  return out;
}

}  // namespace kdgat::test
