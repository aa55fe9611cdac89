// What tests of kdgat watch share: a detector, a bus of datagrams, and what is read of its output.
#pragma once

#include <linux/can.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"
#include "support/can/udp_sender.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"

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

// The kernel chooses a port that is free.
constexpr const char* kAnyBus = "udp:127.0.0.1:0";

/// The bus that `kdgat watch` in `folder` reads, as it names it once it reads; "" if it never does.
inline std::string watched_bus(const std::filesystem::path& folder) {
  std::smatch found;
  const std::regex name("udp:127\\.0\\.0\\.1:[1-9][0-9]*");
  comes_true([&] {
    const std::string out = read_text(folder / "out");
    return std::regex_search(out.begin(), out.end(), name);
  });
  const std::string out = read_text(folder / "out");
  return std::regex_search(out, found, name) ? found.str() : "";
}

/// Sends frames, far from the log's pace, so that what comes is odd in any case, again and again:
/// on a busy machine most may be lost. Whether `holds` came true.
inline bool send_until(const std::vector<can_frame>& frames, const std::string& bus,
                       const std::function<bool()>& holds) {
  const UdpSender sender(bus);
  std::size_t next = 0;
  return comes_true([&] {
    for (int i = 0; i < 64; ++i, ++next) sender.send(frames[next % frames.size()]);
    return holds();
  });
}

/// An address that no other process uses: of the loopback network, by the number of this one.
inline std::string own_address() {
  const int pid = ::getpid();
  return "127.77." + std::to_string(pid >> 8 & 255) + "." + std::to_string(pid & 255) + ":" +
         std::to_string(10000 + pid % 20000);
}

/// The last complete line of a file; null if it has none.
inline nlohmann::json last_line_of(const std::filesystem::path& file) {
  std::string text = read_text(file);
  if (text.find('\n') == std::string::npos) return nullptr;
  text.resize(text.rfind('\n'));
  return nlohmann::json::parse(text.substr(text.rfind('\n') + 1));
}

}  // namespace kdgat::test
