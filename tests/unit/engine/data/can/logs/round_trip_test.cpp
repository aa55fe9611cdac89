// What each form carries: kept through `data convert`, or counted; docs/data.md says the same.
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "engine/data/can/logs/convert_log.h"
#include "engine/data/can/logs/form_facts.h"
#include "engine/data/can/logs/frame_writer.h"
#include "support/can/log_text.h"
#include "support/can/read_form.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using test::ReadForm;

/// With all that a form may carry.
std::vector<CanFrame> full_frames(unsigned seed) {
  constexpr double kStart = 1672531200;
  std::mt19937 random(seed);
  std::vector<CanFrame> out = test::form_frames(400, true, seed);
  for (CanFrame& frame : out) {
    frame.time += kStart;
    frame.label = static_cast<int8_t>(random() % 2);
    frame.tx = random() % 3 == 0;
    if (frame.fd) frame.fd_flags = static_cast<uint8_t>(random() % 4);
    if (frame.remote) frame.remote_length = static_cast<uint8_t>(random() % 9);
  }
  std::swap(out[3].time, out[4].time);  // a step back
  std::swap(out[0].time, out[1].time);
  return out;
}

/// What a log of the form has of them once it was written.
std::vector<CanFrame> held(std::vector<CanFrame> frames, const FormFacts& form) {
  if (!form.remote) std::erase_if(frames, [](const CanFrame& frame) { return frame.remote; });
  for (CanFrame& frame : frames) {
    if (form.label != Label::kYes) frame.label = -1;
    if (!form.direction) frame.tx = false;
    if (!form.bus) frame.channel = 0;
    if (form.fd == Fd::kLong) frame.fd = frame.length > 8;
    if (form.fd != Fd::kFlags) frame.fd_flags = 0;
  }
  return frames;
}

void check_all(const std::vector<CanFrame>& got, const std::vector<CanFrame>& wanted) {
  constexpr double kMicrosecond = 1e-6;
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("frame " << i);
    const CanFrame &a = got[i], &b = wanted[i];
    REQUIRE(std::abs(a.time - b.time) < kMicrosecond);
    REQUIRE(a.key() == b.key());
    REQUIRE(a.extended == b.extended);
    REQUIRE(a.remote == b.remote);
    REQUIRE(int{a.remote_length} == int{b.remote_length});
    REQUIRE(a.fd == b.fd);
    REQUIRE(int{a.fd_flags} == int{b.fd_flags});
    REQUIRE(a.tx == b.tx);
    REQUIRE(int{a.label} == int{b.label});
    REQUIRE(a.length == b.length);
    REQUIRE(a.payload == b.payload);
  }
}

/// The number ahead of these words, "," left out; 0 without them.
int64_t told(const std::string& warnings, const std::string& words) {
  std::smatch found;
  if (!std::regex_search(warnings, found, std::regex("([0-9,]+) " + words))) return 0;
  std::string number = found[1];
  std::erase(number, ',');
  return std::stoll(number);
}

template <typename Fits>
int64_t count(const std::vector<CanFrame>& frames, Fits fits) {
  return std::count_if(frames.begin(), frames.end(), fits);
}

void check_losses(const std::vector<CanFrame>& from, const FormFacts& to,
                  const std::string& warnings) {
  INFO(warnings);
  const auto written = [&](const CanFrame& frame) { return to.remote || !frame.remote; };
  const auto expect = [&](bool is_lost, const char* words, auto fits) {
    const auto both = [&](const CanFrame& frame) { return written(frame) && fits(frame); };
    CHECK(told(warnings, words) == (is_lost ? count(from, both) : 0));
  };
  CHECK(told(warnings, "remote frames? (is|are) not written") ==
        count(from, [&](const CanFrame& frame) { return !written(frame); }));
  expect(to.label != Label::kYes, "rows are lost", [](const auto& one) { return one.label >= 0; });
  expect(!to.direction, "frames? that (was|were) sent", [](const auto& one) { return one.tx; });
  expect(to.fd != Fd::kFlags, "frames? of CAN FD become",
         [](const auto& one) { return one.fd && one.length <= 8; });
  expect(to.fd != Fd::kFlags, "frames? of CAN FD lose",
         [](const auto& one) { return one.fd_flags != 0; });
  std::set<int> buses;
  for (const CanFrame& frame : from) buses.insert(frame.channel);
  CHECK(told(warnings, "buses become one") ==
        (to.bus || buses.size() < 2 ? 0 : static_cast<int64_t>(buses.size())));
}

TEST_CASE("a conversion keeps what both forms hold and counts the rest", "[round_trip]") {
  const test::ScratchFolder folder;
  const nlohmann::json values;
  for (const FormFacts& from : kFormFacts) {
    for (const FormFacts& to : kFormFacts) {
      if (*from.written == 0 || *to.written == 0) continue;
      INFO(from.name << " to " << to.name);
      const std::vector<CanFrame> frames = held(full_frames(3), from);
      const auto source = folder / (std::string("in") + from.written);
      const auto target = folder / (std::string("out") + to.written);
      const auto writer = frame_writer(source.string());
      std::string log;
      for (const CanFrame& frame : frames) writer->add(frame, log);
      writer->finish(log);
      const std::string beginning = writer->beginning();
      log.replace(0, beginning.size(), beginning);
      test::write_text(source, log);

      const ConvertReport report = convert_log({}, {source, values, target, {}, {}});
      const ReadForm read = test::read_form(file::ByteReader(target));
      CHECK(report.format == std::string(from.name));
      CHECK(report.rows == static_cast<int64_t>(frames.size()));
      CHECK(report.malformed + read.malformed == 0);
      CHECK(read.format == to.name);
      check_all(read.frames, held(frames, to));
      std::string warnings;
      for (const Diagnostic& one : report.warnings) warnings += one.text() + "\n";
      check_losses(frames, to, warnings);
    }
  }
}

TEST_CASE("each form has its facts, and docs/data.md has them too", "[round_trip][docs]") {
  const auto names = log_formats();
  std::set<std::string> known(names.begin(), names.end()), listed;
  const std::string docs = test::read_text("docs/data.md");
  constexpr std::array kLabels = {"no", "read only", "yes"};
  constexpr std::array kFd = {"no", "long ones", "with flags"};
  const auto word = [](bool is_so) { return std::string(is_so ? "yes | " : "no | "); };
  std::size_t at = docs.find("| form | label | direction | bus | CAN FD | remote | error frames |");
  REQUIRE(at != std::string::npos);
  for (int line = 0; line < 2; ++line) at = docs.find('\n', at) + 1;
  for (const FormFacts& form : kFormFacts) {
    listed.insert(form.name);
    const std::string row =
        std::string("| `") + form.name + "` | " + kLabels[static_cast<std::size_t>(form.label)] +
        " | " + word(form.direction) + word(form.bus) + kFd[static_cast<std::size_t>(form.fd)] +
        " | " + word(form.remote) + (form.errors ? "counted | " : "no | ") + form.time + " |";
    const std::size_t end = docs.find('\n', at);
    CHECK(docs.substr(at, end - at) == row);
    at = end + 1;
  }
  CHECK(docs.substr(at, 1) == "\n");  // no further rows
  CHECK(listed == known);
}

}  // namespace
}  // namespace kdgat::data
