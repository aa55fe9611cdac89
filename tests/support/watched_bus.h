// What tests of kdgat watch share: a detector, a bus of datagrams, and what is read of its output.
#pragma once

#include <arpa/inet.h>
#include <linux/can.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/cli.h"
#include "support/detector_run.h"
#include "support/scored_lines.h"

namespace kdgat::test {

/// Once for all tests of this file.
inline const DetectorRun& watched_run() {
  static const DetectorRun one;
  return one;
}

/// The lines that tell of alarms, as they are.
inline std::string alarm_lines(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (nlohmann::json::parse(line).value("event", "") == "alarm") out += line + "\n";
  }
  return out;
}

/// Waits until a file holds a text; false after a minute.
inline bool holds(const std::filesystem::path& file, const std::string& text) {
  for (int tries = 0; tries < 600; ++tries) {
    if (std::filesystem::exists(file) && read_text(file).find(text) != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

/// The rows of a log in the form of can-train-and-test as what a CAN socket gives.
inline std::vector<can_frame> frames_of(const std::filesystem::path& log) {
  std::vector<can_frame> out;
  for (const std::vector<std::string>& fields : log_rows(log)) {
    can_frame frame{};
    frame.can_id = static_cast<canid_t>(std::stoul(fields[1], nullptr, 16));
    frame.can_dlc = static_cast<uint8_t>(fields[2].size() / 2);
    for (uint8_t i = 0; i < frame.can_dlc; ++i) {
      frame.data[i] = static_cast<uint8_t>(std::stoul(fields[2].substr(2 * i, 2), nullptr, 16));
    }
    out.push_back(frame);
  }
  return out;
}

/// A port of this computer that nobody listens to.
inline int free_port() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

/// Far from the log's pace, so what comes is odd in any case.
inline void send_all(const std::vector<can_frame>& frames, int port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(port));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ::sendto(fd, &frames[i], sizeof(frames[i]), 0, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    if (i % 64 == 63) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::close(fd);
}

/// The last line that stands there as a whole.
inline nlohmann::json last_line_of(const std::filesystem::path& file) {
  std::string text = read_text(file);
  text.resize(text.rfind('\n'));
  return nlohmann::json::parse(text.substr(text.rfind('\n') + 1));
}

}  // namespace kdgat::test
