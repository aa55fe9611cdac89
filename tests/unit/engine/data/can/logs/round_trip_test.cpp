// What each form carries: kept through `data convert`, or counted; docs/data.md says the same.
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <utility>

#include "engine/data/can/logs/convert_log.h"
#include "engine/data/can/logs/form_facts.h"
#include "engine/data/can/logs/frame_writer.h"
#include "support/can/log_forms.h"
#include "support/can/log_text.h"
#include "support/can/mf4_writer.h"
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

/// Flags, direction and the length asked for, as "b": BRS, "e": ESI, "T": sent, "R5": remote.
std::string marks(const std::string& log) {
  std::string out;
  for (const CanFrame& frame : test::read_form(log).frames) {
    if (frame.fd) out += "f";
    if ((frame.fd_flags & 1) != 0) out += "b";
    if ((frame.fd_flags & 2) != 0) out += "e";
    if (frame.tx) out += "T";
    if (frame.remote) out += "R" + std::to_string(frame.remote_length);
    out += ".";
  }
  return out;
}

TEST_CASE("forms that are read alone give flags, directions and lengths too", "[round_trip]") {
  CHECK(marks(";$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n"
              " 1 1.0 DT 1 0123 Tx - 1 00\n 2 1.1 RR 1 0123 Rx - 5\n 3 1.2 FB 1 0123 Rx - 1 00\n"
              " 4 1.3 FE 1 0123 Rx - 1 00\n 5 1.4 BI 1 0123 Tx - 1 00\n") == "T.R5.fb.fe.fbeT.");
  CHECK(marks("***BUSMASTER Ver 3.2.2***\n***HEX***\n***ABSOLUTE MODE***\n"
              "00:00:01:0000 Tx 1 0x123 s 1 00\n00:00:01:0001 Rx 1 0x123 sr 4\n") == "T.R4.");
  CHECK(marks("1.0 1T11 123 00\n1.1 1R11 123 00\n") == "T..");
  CHECK(marks("base hex timestamps absolute\n0.1 1 123 Tx r 5\n0.2 1 123 Rx r\n"
              "0.3 CANFD 1 Tx 123 0 1 1 1 00 1 2 5000\n0.4 1 123 Tx d 0\n") == "TR5.R0.feT.T.");
}

TEST_CASE("cooked captures say what was sent", "[round_trip]") {
  CanFrame frame;
  frame.id = 0x123;
  for (const uint32_t type : {113U, 276U}) {
    std::string log = test::pcap_of({frame, frame}, false, false, type);
    const std::size_t packet = 24 + 16, place = type == 113 ? 1 : 10;
    log[packet + place] = 4;
    CHECK(marks(log) == "T..");
  }
}

TEST_CASE("records of MF4 have flags, directions and lengths", "[round_trip]") {
  const std::vector<CanFrame> frames = full_frames(5);
  for (const auto& [is_sorted, is_text] :
       {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    test::Mf4Writing how;
    how.is_sorted = is_sorted;
    how.direction_is_text = is_text;
    how.start_ns = 0;
    std::vector<CanFrame> wanted = frames;
    for (CanFrame& frame : wanted) {
      frame.time -= 1672531200;
      frame.label = -1;
    }
    const auto is_earlier = [](const auto& a, const auto& b) { return a.time < b.time; };
    std::stable_sort(wanted.begin(), wanted.end(), is_earlier);
    check_all(test::read_form(test::mf4_of(wanted, how)).frames, wanted);
  }
}

TEST_CASE("the longer BLF objects of CAN FD have flags and directions", "[round_trip]") {
  CanFrame frame;
  frame.id = 0x123;
  frame.fd = true;
  frame.channel = 1;  // which is written as such an object
  std::string object = test::blf_frame(frame, {});
  constexpr std::size_t kBody = 32;
  object[kBody + 13] = 0x70;  // CAN FD, BRS, ESI
  object[kBody + 34] = 1;
  CHECK(marks(test::blf_file(object)) == "fbeT.");
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
