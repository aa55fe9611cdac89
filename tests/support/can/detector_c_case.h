// A detector exported as C beside the one of the program: both read the same frames, and what they
// say of each window and of each alarm is compared as text, times and scores by their bits.
#pragma once

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/export/c/detector_c.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/soak.h"

namespace kdgat::test {

using Frames = std::vector<data::CanFrame>;

/// Reads what frames_file() writes, prints what said_by() says. -DTIMES=n: the seconds of n passes
/// alone.
inline constexpr const char* kDetectorDriver = R"C(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"
#ifdef TIMES
#include <time.h>
#endif

typedef struct {
  double time;
  uint32_t id;
  uint8_t bus, length, fill[2];
  uint8_t data[64];
} frame;

static kdgat_state s;

static void bits_of(double value) {
  uint64_t bits;
  if (value != value) {
    printf(" nan");
    return;
  }
  memcpy(&bits, &value, 8);
  printf(" %08lX%08lX", (unsigned long)(bits >> 32), (unsigned long)(bits & 0xFFFFFFFFu));
}

static void tell(int said) {
  if (said & KDGAT_WINDOW) {
    printf("window");
    bits_of((double)kdgat_score(&s));
    printf("%s\n", said & KDGAT_FLAGGED ? " flagged" : "");
  }
  if (said & (KDGAT_OPENED | KDGAT_CLOSED)) {
    const kdgat_alarm a = kdgat_last_alarm(&s);
    printf("alarm %ld %s %ld %ld %ld %ld", (long)a.number, said & KDGAT_OPENED ? "open" : "closed",
           (long)a.first_window, (long)a.last_window, (long)a.windows, (long)a.peak_window);
    bits_of((double)a.peak);
    bits_of(a.begin_time);
    bits_of(a.end_time);
    printf("\n");
  }
}

int main(int argc, char** argv) {
  FILE* in = argc > 1 ? fopen(argv[1], "rb") : stdin;
  int said;
#ifdef TIMES
  static frame all[3000000];
  size_t n = fread(all, sizeof(frame), 3000000, in), i;
  int t;
  clock_t began = clock();
  for (t = 0; t < TIMES; ++t) {
    kdgat_init(&s);
    for (i = 0; i < n; ++i) kdgat_push_on(&s, all[i].bus, all[i].time, all[i].id, all[i].length, all[i].data);
  }
  printf("%lu frames, %.1f ns each, state %lu\n", (unsigned long)n,
         1e9 * (double)(clock() - began) / CLOCKS_PER_SEC / (double)n / TIMES, (unsigned long)sizeof(kdgat_state));
  (void)tell;
  (void)said;
#else
  frame f;
  kdgat_init(&s);
  if (in == NULL) return 1;
  while (fread(&f, sizeof(f), 1, in) == 1) {
    /* Exactly as many bytes as it has: a read beyond them is found. */
    uint8_t* data = malloc(f.length > 0 ? f.length : 1u);
    if (data == NULL) return 1;
    memcpy(data, f.data, f.length);
    said = f.bus == KDGAT_FIRST_BUS_OF_PROFILE
               ? kdgat_push(&s, f.time, f.id, f.length, f.length > 0 ? data : NULL)
               : kdgat_push_on(&s, f.bus, f.time, f.id, f.length, data);
    free(data);
    if (said != 0) tell(said);
  }
  while ((said = kdgat_finish(&s)) != 0) tell(said);
  if (sizeof(kdgat_state) != KDGAT_STATE_BYTES) return 1;
#endif
  return 0;
}
)C";

inline void write_frames(const std::filesystem::path& file, const Frames& frames) {
  std::string out;
  for (const data::CanFrame& frame : frames) {
    char bytes[80] = {};
    std::memcpy(bytes, &frame.time, 8);
    std::memcpy(bytes + 8, &frame.id, 4);
    bytes[12] = static_cast<char>(frame.channel);
    bytes[13] = static_cast<char>(frame.length);
    std::memcpy(bytes + 16, frame.payload.data(), 64);
    out.append(bytes, sizeof bytes);
  }
  write_text(file, out);
}

inline std::string bits_text(double value) {
  if (std::isnan(value)) return " nan";
  char text[24];
  std::snprintf(text, sizeof text, " %016llX",
                static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
  return text;
}

/// What `kdgat score` says of the frames as those of a vehicle of the model.
inline std::string said_by(const decision::DetectorModel& model, const std::string& vehicle,
                           const Frames& frames, double threshold = 0) {
  std::string out;
  std::map<int64_t, float> scores;  // by window: which one is an alarm's peak no event says
  const auto peak_of = [&](const AlarmEvent& alarm) {
    const auto begin = scores.lower_bound(alarm.first_window);
    const auto end = scores.upper_bound(alarm.last_window);
    return std::max_element(begin, end,
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  decision::ScoreOptions options;
  options.vehicle = vehicle;
  options.reasons = false;
  if (threshold != 0) options.threshold = {threshold};
  const auto seconds = [](const nlohmann::json& time) {
    return time.is_number() ? time.get<double>() : std::numeric_limits<double>::quiet_NaN();
  };
  decision::JudgeSink sink{
      [&](const WindowEvent& window) {
        scores[window.window] = window.score;
        out += "window" + bits_text(static_cast<double>(window.score)) +
               (window.decision == "attack" ? " flagged\n" : "\n");
      },
      [&](const AlarmEvent& alarm) {
        out += "alarm " + std::to_string(alarm.alarm) + (alarm.open ? " open " : " closed ") +
               std::to_string(alarm.first_window) + " " + std::to_string(alarm.last_window) + " " +
               std::to_string(alarm.windows) + " " + std::to_string(peak_of(alarm)) +
               bits_text(static_cast<double>(alarm.peak)) + bits_text(seconds(alarm.begin)) +
               bits_text(seconds(alarm.end)) + "\n";
      },
      [](const std::string&, const std::string&) {}, [] { return ExitCode::kOk; }};
  const data::DbcNames names;
  decision::LogScorer watch(model, options, "a.log", "", sink, nullptr, names);
  double last = -std::numeric_limits<double>::infinity();
  for (const data::CanFrame& frame : frames) {
    // As a CanLog has it.
    const bool restarts = last - frame.time >= data::kClockRestart;
    if (!std::isnan(frame.time)) last = frame.time;
    watch.add(frame, restarts);
  }
  watch.finish();
  return out;
}

/// Two texts of lines are the same; else it says where they part.
inline void check_lines(const std::string& wanted, const std::string& found) {
  if (wanted == found) {
    SUCCEED();
    return;
  }
  std::size_t at = 0, line = 1;
  while (at < wanted.size() && at < found.size() && wanted[at] == found[at]) {
    line += wanted[at++] == '\n' ? 1 : 0;
  }
  const auto line_of = [&](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  FAIL("line " << line << ": " << line_of(wanted) << " wanted, found " << line_of(found));
}

/// What the source must pass.
inline constexpr const char* kStrictC99 = " -std=c99 -Wall -Wextra -Werror -pedantic";

/// An exported model as a program.
class DetectorProgram {
 public:
  DetectorProgram(const decision::DetectorModel& model, const std::string& vehicle,
                  exporting::DetectorCOptions options = {}) {
    options.name = "model";
    for (const auto& [name, text] : exporting::detector_c(model, vehicle, options).files) {
      write_text(folder_ / name, text);
    }
    write_text(folder_ / "driver.c", kDetectorDriver);
    bus_ = decision::vehicle_named(model, vehicle).profile.ids.front().channel;
  }

  const ScratchFolder& folder() const { return folder_; }
  /// `command`: a compiler and its options.
  void compile(const std::string& command, const std::string& program = "program") const {
    const CommandResult run =
        run_shell(command + " -DKDGAT_FIRST_BUS_OF_PROFILE=" + std::to_string(bus_) +
                      " model.c driver.c -o " + program,
                  folder_.path());
    INFO(command << "\n" << run.err);
    REQUIRE(run.exit_code == 0);
  }
  /// What it says of frames; `runner`: ahead of the program's name.
  std::string says(const Frames& frames, const std::string& runner = "",
                   const std::string& program = "program") const {
    write_frames(folder_ / "frames", frames);
    const CommandResult run = run_shell(runner + " ./" + program + " frames", folder_.path());
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return run.out;
  }

  /// Its own vectors are met by what a compiler makes of it.
  void check(const std::string& command, const std::string& runner = "") const {
    const CommandResult run =
        run_shell(command + kStrictC99 + " model.c check.c -o check && " + runner + " ./check",
                  folder_.path());
    INFO(command << "\n" << run.out << run.err);
    CHECK(run.exit_code == 0);
  }

 private:
  ScratchFolder folder_;
  int bus_ = 0;
};

}  // namespace kdgat::test
