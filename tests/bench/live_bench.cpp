// What scripts/bench live measures inside a process.
//
//   kdgat_live_bench windows MODEL LOG
//       one JSON object: microseconds from the frame that completes a window to its score, natively, on
//       one thread
//   kdgat_live_bench send PORT LOG RATE SECONDS
//       sends the frames of a log, again and again, to a UDP port of this computer; prints how many
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/decision/stream/stream_model.h"
#include "support/can/udp_sender.h"

namespace {

using namespace kdgat;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::vector<data::CanFrame> frames_of(const std::string& log) {
  data::CanLog reader(file::ByteReader(std::filesystem::path(log)), "auto", false);
  std::vector<data::CanFrame> out;
  for (data::CanFrame frame; reader.next(frame);) out.push_back(frame);
  return out;
}

void windows(const std::string& model_file, const std::string& log) {
  decision::ScoreOptions options;
  options.batch = 1;
  const auto model = decision::open_stream_model(model_file, options, {});
  const std::vector<data::CanFrame> frames = frames_of(log);
  std::vector<double> took;
  double whole = 0;
  for (const bool counts : {false, true}) {  // caches warm up
    const auto judge = model->judge("log", {{},
                                            [](const AlarmEvent&) {},
                                            [](const std::string&, const std::string&) {},
                                            [] { return ExitCode::kOk; }});
    const auto start = Clock::now();
    for (const data::CanFrame& frame : frames) {
      const int64_t before = judge->windows();
      const auto begin = Clock::now();
      judge->add(frame, false);
      if (counts && judge->windows() == before + 1) {
        took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      }
    }
    whole = bench::seconds_since(start);
  }
  std::sort(took.begin(), took.end());
  const auto at = [&](double share) {
    return took.at(static_cast<std::size_t>(share * static_cast<double>(took.size() - 1)));
  };
  std::cout << json{{"windows", took.size()},
                    {"p50", at(0.5)},
                    {"p99", at(0.99)},
                    {"max", at(1)},
                    {"frames_per_second", static_cast<double>(frames.size()) / whole}}
                   .dump()
            << "\n";
}

void send(const std::string& port, const std::string& log, double rate, double seconds) {
  std::vector<can_frame> frames;
  for (const data::CanFrame& frame : frames_of(log)) {
    can_frame out{};
    out.can_id = frame.id | (frame.extended ? CAN_EFF_FLAG : 0);
    out.len = std::min<uint8_t>(frame.length, CAN_MAX_DLEN);
    std::copy_n(frame.payload.begin(), out.len, out.data);
    frames.push_back(out);
  }
  const test::UdpSender sender("udp:127.0.0.1:" + port);
  const auto count = static_cast<int64_t>(rate * seconds);
  const auto size = static_cast<int64_t>(frames.size());
  sender.send_at(rate, count,
                 [&](int64_t i) { return frames[static_cast<std::size_t>(i % size)]; });
  std::cout << json{{"sent", count}}.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  return kdgat::bench::run(
      "usage: kdgat_live_bench windows MODEL LOG | send PORT LOG RATE SECONDS\n", [&] {
        if (what == "windows" && argc == 4) {
          windows(argv[2], argv[3]);
        } else if (what == "send" && argc == 6) {
          send(argv[2], argv[3], std::atof(argv[4]), std::atof(argv[5]));
        } else {
          return false;
        }
        return true;
      });
}
