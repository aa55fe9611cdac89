// Nothing vanishes: in each form with a reader of its own the frames that are read, the malformed
// records and those that are reported as left out are all that was written.
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <random>
#include <regex>

#include "support/can/log_forms.h"
#include "support/can/mf4_writer.h"
#include "support/can/read_form.h"

namespace kdgat::data {
namespace {

using test::form_frames;
using test::read_form;
using test::ReadForm;

/// How a form is written, record by record.
struct Form {
  const char* name;
  std::function<std::string(const CanFrame&)> frame;
  std::vector<std::string> malformed, others;
  std::function<std::string(const std::string& records)> file;
  bool has_fd = true, has_remote = true, has_buses = true;
};

std::string digits(const char* format, uint32_t number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string time_text(const CanFrame& frame) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", frame.time);
  return text;
}

std::string bytes_text(const CanFrame& frame) {
  std::string out;
  for (std::size_t i = 0; i < frame.length; ++i) out += digits(" %02X", frame.payload[i]);
  return out;
}

std::string asc_row(const CanFrame& frame) {
  const std::string bus = std::to_string(frame.channel + 1);
  const std::string id = digits("%X", frame.id) + (frame.extended ? "x" : "");
  const std::string length = std::to_string(frame.length);
  if (frame.fd) {
    return time_text(frame) + " CANFD " + bus + " Rx " + id + " 1 0 " +
           digits("%x", test::code_of(frame)) + " " + length + bytes_text(frame) + " 1 2 3000\n";
  }
  return time_text(frame) + " " + bus + " " + id + " Rx " +
         (frame.remote ? std::string("r") : "d " + length + bytes_text(frame)) + "\n";
}

std::string busmaster_row(const CanFrame& frame) {
  const auto ticks = static_cast<uint32_t>(frame.time * 1e5 + .5);
  return digits("00:00:%02u:", ticks / 100000) + digits("%05u", ticks % 100000) + " Rx " +
         std::to_string(frame.channel + 1) + digits(" 0x%X ", frame.id) +
         (frame.extended ? "x" : "s") + (frame.remote ? "r " : " ") + std::to_string(frame.length) +
         bytes_text(frame) + "\n";
}

std::string crtd_row(const CanFrame& frame) {
  return time_text(frame) + " " + std::to_string(frame.channel + 1) +
         (frame.extended ? "R29 " : "R11 ") + digits("%X", frame.id) + bytes_text(frame) + "\n";
}

std::string trc_row(const CanFrame& frame) {
  char time[32];
  std::snprintf(time, sizeof time, "%.3f", frame.time * 1e3);
  return std::string(" 1 ") + time +
         (frame.remote ? " RR "
          : frame.fd   ? " FD "
                       : " DT ") +
         std::to_string(frame.channel + 1) + digits(frame.extended ? " %08X" : " %04X", frame.id) +
         " Rx - " + std::to_string(test::code_of(frame)) + bytes_text(frame) + "\n";
}

std::string pcap_packet(const std::string& packet) {
  std::string out;
  for (const uint32_t word : {1U, 0U}) test::put<uint32_t>(out, word);
  for (int i = 0; i < 2; ++i) test::put<uint32_t>(out, static_cast<uint32_t>(packet.size()));
  return out + packet;
}

std::vector<Form> forms() {
  CanFrame plain;
  plain.id = 0x123;
  std::string broken_packet = test::can_packet(plain);
  broken_packet[4] = 9;  // a length beyond its 8 bytes
  std::string error_packet = test::can_packet(plain);
  error_packet[0] = 0x20;
  const auto cooked = [&](uint16_t protocol) {
    return pcap_packet(test::cooked_packet(plain, 113, false, protocol));
  };
  std::vector<Form> out;
  out.push_back({"asc",
                 asc_row,
                 {"0.1 1 XYZ Rx d 0\n", "0.1 1 123 Rx d 2 01\n", "words\n", "0.1\n"},
                 {"0.1 1 Statistic: D 0\n", "0.1 1 ErrorFrame\n", "0.1 L1 12 Rx 0\n",
                  "// a comment\n", "0.1 CANXL 1 Rx XLFF 1 2 3\n", "0.1 Start of measurement\n"},
                 [](const std::string& rows) {
                   return "base hex timestamps absolute\n0.0 1 Statistic: D 0\n" + rows;
                 }});
  out.push_back({"trc",
                 trc_row,
                 {" 1 1.0 DT 1 XY Rx - 0\n", " 1 1.0 DT 1 0001 Rx - 2 00\n", "words\n"},
                 {" 1 1.0 ST 1 Rx 00 00 00 00\n", " 1 1.0 ER 1 Rx 04 00 02 00 00\n"},
                 [](const std::string& rows) {
                   return ";$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n 1 1.0 ST 1\n" + rows;
                 }});
  out.push_back({"busmaster",
                 busmaster_row,
                 {"00:00:01:0 Rx 1 0xXY s 0\n", "00:00:01:0 Rx 1 0x1 s 2 01\n", "words\n"},
                 {},
                 [](const std::string& rows) {
                   return "***BUSMASTER Ver 3.2.2***\n***HEX***\n***ABSOLUTE MODE***\n" + rows;
                 },
                 true});
  out.push_back({"crtd",
                 crtd_row,
                 {"1.0 R11 XY\n", "1.0 R11 123 1\n", "words\n", "1.0 1Z11 123\n"},
                 {"1.0 CXX a comment\n", "1.0 CEV event\n", "1.0 CER error\n"},
                 [](const std::string& rows) { return "1.0 CER error\n" + rows; },
                 false,
                 false});
  out.push_back({"blf",
                 [](const CanFrame& frame) { return test::blf_frame(frame, {}); },
                 {test::blf_object(1, "abc", 5, 2)},
                 {test::blf_object(73, std::string(32, '\1'), 5, 2),
                  test::blf_object(139, std::string(32, '\1'), 5, 2),
                  test::blf_object(57, std::string(32, '\1'), 5, 2)},
                 [](const std::string& objects) { return test::blf_file(objects); }});
  out.push_back({"pcap",
                 [](const CanFrame& frame) { return pcap_packet(test::can_packet(frame)); },
                 {pcap_packet("abc"), pcap_packet(broken_packet)},
                 {pcap_packet(error_packet)},
                 [](const std::string& packets) { return test::pcap_of({}) + packets; },
                 true,
                 true,
                 false});
  out.push_back(
      {"pcap",
       [](const CanFrame& frame) { return pcap_packet(test::cooked_packet(frame, 113, false)); },
       {pcap_packet("abc")},
       {cooked(0x0e), cooked(0x0800)},
       [](const std::string& packets) { return test::pcap_of({}, false, false, 113) + packets; },
       true,
       true,
       false});
  return out;
}

/// Records that the problems of a log count as left out.
int64_t left_out(const std::string& problems) {
  static const std::regex count(
      "log: ([0-9,]+) (error frames are|objects that are no|records of other kinds)");
  int64_t out = 0;
  for (auto at = std::sregex_iterator(problems.begin(), problems.end(), count);
       at != std::sregex_iterator(); ++at) {
    std::string number = (*at)[1];
    std::erase(number, ',');
    out += std::stoll(number);
  }
  return out;
}

TEST_CASE("frames, malformed records and those left out are all that was written",
          "[every_record]") {
  std::mt19937 random(7);
  for (const Form& form : forms()) {
    INFO(form.name);
    std::vector<CanFrame> frames = form_frames(300, form.has_remote);
    std::erase_if(frames, [&](const CanFrame& frame) { return frame.fd && !form.has_fd; });
    std::string records;
    int64_t malformed = 0, others = 0;
    for (CanFrame& frame : frames) {
      if (!form.has_buses) frame.channel = 0;
      const std::size_t what = random() % 4;
      if (what == 0) {
        records += form.malformed[random() % form.malformed.size()];
        ++malformed;
      } else if (what == 1 && !form.others.empty()) {
        records += form.others[random() % form.others.size()];
        ++others;
      }
      records += form.frame(frame);
    }
    const int64_t ahead = left_out(read_form(form.file("")).problems);
    const ReadForm read = read_form(form.file(records));
    INFO(read.problems);
    CHECK(read.format == form.name);
    CHECK(read.malformed == malformed);
    CHECK(left_out(read.problems) == ahead + others);
    REQUIRE(read.frames.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      REQUIRE(read.frames[i].key() == frames[i].key());
      REQUIRE(read.frames[i].extended == frames[i].extended);
      REQUIRE(read.frames[i].remote == frames[i].remote);
      REQUIRE(read.frames[i].length == frames[i].length);
      REQUIRE(read.frames[i].payload == frames[i].payload);
    }
  }
}

}  // namespace
}  // namespace kdgat::data
