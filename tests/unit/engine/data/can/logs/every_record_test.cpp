// Nothing vanishes: in each form the frames that are read, the malformed records and those that are
// reported as left out are all that was written; error frames are counted apart.
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <random>
#include <regex>

#include "engine/data/can/logs/form_facts.h"
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
  std::vector<std::string> errors = {};
  bool names_buses = true, has_eight_bytes = false;

  const FormFacts& facts() const {
    return *std::find_if(kFormFacts.begin(), kFormFacts.end(),
                         [&](const FormFacts& one) { return one.name == std::string(name); });
  }
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

std::string hex_id(const CanFrame& frame) {
  return digits(frame.extended ? "%08X" : "%03X", frame.id);
}

std::string packed_bytes(const CanFrame& frame) {
  std::string out = bytes_text(frame);
  std::erase(out, ' ');
  return out;
}

std::string listed_bytes(const CanFrame& frame, const char* format, std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    out += ',';
    if (i < frame.length) out += digits(format, frame.payload[i]);
  }
  return out;
}

std::string candump_row(const CanFrame& frame) {
  return "(" + time_text(frame) + ") can" + std::to_string(frame.channel) + " " + hex_id(frame) +
         (frame.fd       ? "##1"
          : frame.remote ? "#R"
                         : "#") +
         packed_bytes(frame);
}

std::string screen_row(const CanFrame& frame) {
  return "(" + time_text(frame) + ")  can" + std::to_string(frame.channel) + "  " + hex_id(frame) +
         digits(frame.fd ? "  [%02u] " : "  [%u] ", frame.length) +
         (frame.remote ? " remote request" : bytes_text(frame)) + "\n";
}

std::string table_row(const CanFrame& frame) {
  return time_text(frame) + digits(",%X,", frame.id) + packed_bytes(frame) + "," +
         std::to_string(frame.length) + "," + std::to_string(frame.channel) +
         (frame.extended ? ",1" : ",0") + (frame.remote ? ",1" : ",0") + (frame.fd ? ",1" : ",0") +
         ",0\n";
}

std::string recan_row(const CanFrame& frame) {
  std::string bits;
  for (int i = 0; i < 8 * frame.length; ++i) {
    bits += (frame.payload[static_cast<std::size_t>(i / 8)] >> (7 - i % 8) & 1) != 0 ? '1' : '0';
  }
  return time_text(frame) + ",can" + std::to_string(frame.channel) + "," + hex_id(frame) + "," +
         std::to_string(frame.length) + "," + bits + "\n";
}

std::string unchanged(const std::string& rows) { return rows; }

/// Those of which each line is a row by itself.
void add_text_forms(std::vector<Form>& out) {
  out.push_back({"can-train-and-test",
                 [](const CanFrame& frame) {
                   return time_text(frame) + "," + hex_id(frame) + "," + packed_bytes(frame) +
                          ",0\n";
                 },
                 {"1.0,XY,00,0\n", "1.0,123,0,0\n", "1.0,123\n", "words\n"},
                 {},
                 [](const std::string& rows) {
                   return "timestamp,arbitration_id,data_field,attack\n" + rows;
                 }});
  out.push_back({"can-table",
                 table_row,
                 {"1.0,XY,00,1,0,0,0,0,0\n", "1.0,123,00,2,0,0,0,0,0\n", "1.0\n",
                  "1.0,123,00,1,0,maybe,0,0,0\n"},
                 {},
                 [](const std::string& rows) {
                   return "Timestamp,CAN ID,Data,Length,Bus,Extended,Remote,FD,Error\n" + rows;
                 },
                 {"1.0,123,00,1,0,0,0,0,1\n"}});
  out.push_back({"hcrl",
                 [](const CanFrame& frame) {
                   return time_text(frame) + "," +
                          digits(frame.extended ? "%08X" : "%04X", frame.id) + "," +
                          std::to_string(frame.length) + listed_bytes(frame, "%02X", frame.length) +
                          ",R\n";
                 },
                 {"1.0,XY,0,R\n", "1.0,0123,2,00,R\n", "1.0,0123,0,Q\n", "words\n"},
                 {},
                 unchanged});
  out.push_back({"candump",
                 [](const CanFrame& frame) { return candump_row(frame) + "\n"; },
                 {"(1.0) can0 XYZ#00\n", "(1.0) can0 123#0\n", "(1.0) can0\n", "words\n"},
                 {},
                 unchanged,
                 {"(1.0) can0 20000080#0000000000000000\n", "(1.0) can1 20000004#00\n"}});
  out.push_back({"crysys",
                 [](const CanFrame& frame) { return candump_row(frame) + " False\tTrue\n"; },
                 {"(1.0) can0 XYZ#00 False\tFalse\n", "(1.0) can0 123#00 False\n", "words\n"},
                 {},
                 unchanged});
  out.push_back({"candump-screen",
                 screen_row,
                 {"(1.0) can0 XYZ [0]\n", "(1.0) can0 123 [2] 00\n", "(1.0) can0\n", "words\n"},
                 {},
                 unchanged,
                 {"(1.0) can0 20000080 [8] 00 00 00 00 00 00 00 00 ERRORFRAME\n"}});
  out.push_back({"recan",
                 recan_row,
                 {"1.0,can0,XY,1,00000000\n", "1.0,can0,123,2,00000000\n", "words\n"},
                 {},
                 unchanged});
  out.push_back({"hcrl-text",
                 [](const CanFrame& frame) {
                   return "Timestamp: " + time_text(frame) + "  ID: " + hex_id(frame) +
                          (frame.remote ? "  100" : "  000") +
                          "  DLC: " + std::to_string(frame.length) + bytes_text(frame) + "\n";
                 },
                 {"Timestamp: 1.0  ID: XY  000  DLC: 0\n", "Timestamp: 1.0  ID: 0123\n",
                  "Timestamp: 1.0  ID: 0123  000  DLC: 2  00\n", "words\n"},
                 {},
                 unchanged});
  out.push_back({"daga",
                 [](const CanFrame& frame) {
                   return time_text(frame) + "," + hex_id(frame) + "," +
                          std::to_string(8 * frame.length) + "," + packed_bytes(frame) +
                          ",0,False\n";
                 },
                 {"1.0,XY,8,00,0,False\n", "1.0,123,16,00,0,False\n", "1.0,123\n"},
                 {},
                 [](const std::string& rows) {
                   return "timestamp,CAN_ID,DLC,PAYLOAD_HEX,PAYLOAD_BIN,ANOMALY\n" + rows;
                 }});
  out.push_back({"otids",
                 [](const CanFrame& frame) {
                   return time_text(frame) + "," + digits("%u", frame.id) + ",0," +
                          std::to_string(frame.length) + listed_bytes(frame, "%u", 8) + ",0\n";
                 },
                 {"1.0,XY,0,0,,,,,,,,,0\n", "1.0,12,0,1,256,,,,,,,,0\n", "1.0,12\n"},
                 {},
                 [](const std::string& rows) {
                   return "Time,IntID1,IntID2,DLC,IntData1,IntData2,IntData3,IntData4,IntData5,"
                          "IntData6,IntData7,IntData8,Label\n" +
                          rows;
                 }});
  out.push_back({"road",
                 [](const CanFrame& frame) {
                   return digits("%u", frame.id) + listed_bytes(frame, "%u", 8) + ",0.0\n";
                 },
                 {"XY,0,0,0,0,0,0,0,0,0.0\n", "12,0,0,0,256,0,0,0,0,0.0\n", "12,0,0\n"},
                 {},
                 unchanged,
                 {},
                 false,
                 true});
}

/// A packet of pcapng of the interface: 0 and 1 are buses, 2 is none.
std::string pcapng_packet(const std::string& packet, uint32_t interface, uint32_t size) {
  std::string body;
  for (const uint32_t word : {interface, 0U, 1U, size, size}) test::put<uint32_t>(body, word);
  return test::pcapng_block(6, body + packet, false);
}

void add_pcapng(std::vector<Form>& out) {
  CanFrame plain;
  plain.id = 0x123;
  const auto packet = [](const std::string& bytes, uint32_t interface) {
    return pcapng_packet(bytes, interface, static_cast<uint32_t>(bytes.size()));
  };
  std::string error = test::can_packet(plain), xl = test::can_packet(plain);
  error[0] = 0x20;
  xl[4] = '\x80';
  out.push_back(
      {"pcapng",
       [packet](const CanFrame& frame) { return packet(test::can_packet(frame), frame.channel); },
       {packet("abc", 0), packet(test::can_packet(plain), 9),
        pcapng_packet(test::can_packet(plain), 1, 4000)},
       {packet(test::can_packet(plain), 2), packet(xl, 1),
        test::pcapng_block(3, std::string(8, '\0'), false)},
       [](const std::string& blocks) { return test::pcapng_of({}) + blocks; },
       {packet(error, 0), packet(error, 1)}});
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
                 {"0.1 1 Statistic: D 0\n", "0.1 L1 12 Rx 0\n", "// a comment\n",
                  "0.1 CANXL 1 Rx XLFF 1 2 3\n", "0.1 Start of measurement\n"},
                 [](const std::string& rows) {
                   return "base hex timestamps absolute\n0.0 1 Statistic: D 0\n" + rows;
                 },
                 {"0.1 1 ErrorFrame\n", "0.1 CANFD 1 Rx ErrorFrame\n",
                  "0.1 2 ErrorFrame Flags = 0x2 CodeExt = 0x20a2\n"}});
  out.push_back({"trc",
                 trc_row,
                 {" 1 1.0 DT 1 XY Rx - 0\n", " 1 1.0 DT 1 0001 Rx - 2 00\n", "words\n"},
                 {" 1 1.0 ST 1 Rx 00 00 00 00\n", " 1 1.0 EC 1 Rx 00 00\n"},
                 [](const std::string& rows) {
                   return ";$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n 1 1.0 ST 1\n" + rows;
                 },
                 {" 1 1.0 ER 1 Rx 04 00 02 00 00\n"}});
  out.push_back({"busmaster",
                 busmaster_row,
                 {"00:00:01:0 Rx 1 0xXY s 0\n", "00:00:01:0 Rx 1 0x1 s 2 01\n", "words\n"},
                 {},
                 [](const std::string& rows) {
                   return "***BUSMASTER Ver 3.2.2***\n***HEX***\n***ABSOLUTE MODE***\n" + rows;
                 }});
  out.push_back({"crtd",
                 crtd_row,
                 {"1.0 R11 XY\n", "1.0 R11 123 1\n", "words\n", "1.0 1Z11 123\n"},
                 {"1.0 CXX a comment\n", "1.0 CEV event\n", "1.0 CER error\n"},
                 [](const std::string& rows) { return "1.0 CER error\n" + rows; }});
  out.push_back({"blf",
                 [](const CanFrame& frame) { return test::blf_frame(frame, {}); },
                 {test::blf_object(1, "abc", 5, 2)},
                 {test::blf_object(139, std::string(32, '\1'), 5, 2),
                  test::blf_object(57, std::string(32, '\1'), 5, 2)},
                 [](const std::string& objects) { return test::blf_file(objects); },
                 {test::blf_object(2, std::string(16, '\1'), 5, 2),
                  test::blf_object(73, std::string(32, '\1'), 5, 2),
                  test::blf_object(104, std::string(64, '\1'), 5, 2)}});
  out.push_back({"pcap",
                 [](const CanFrame& frame) { return pcap_packet(test::can_packet(frame)); },
                 {pcap_packet("abc"), pcap_packet(broken_packet)},
                 {},
                 [](const std::string& packets) { return test::pcap_of({}) + packets; },
                 {pcap_packet(error_packet)},
                 false});
  out.push_back(
      {"pcap",
       [](const CanFrame& frame) { return pcap_packet(test::cooked_packet(frame, 113, false)); },
       {pcap_packet("abc")},
       {cooked(0x0e), cooked(0x0800)},
       [](const std::string& packets) { return test::pcap_of({}, false, false, 113) + packets; },
       {},
       false});
  add_pcapng(out);
  add_text_forms(out);
  return out;
}

/// Records that the problems of a log count as left out.
int64_t left_out(const std::string& problems) {
  static const std::regex count("log: ([0-9,]+) (objects that are no|records of other kinds)");
  int64_t out = 0;
  for (auto at = std::sregex_iterator(problems.begin(), problems.end(), count);
       at != std::sregex_iterator(); ++at) {
    std::string number = (*at)[1];
    std::erase(number, ',');
    out += std::stoll(number);
  }
  return out;
}

int64_t error_frames(const std::string& problems) {
  static const std::regex count("([0-9]+) error frames are counted, not read");
  std::smatch found;
  return std::regex_search(problems, found, count) ? std::stoll(found[1]) : 0;
}

/// What a log of the form can hold.
std::vector<CanFrame> frames_of(const Form& form) {
  std::vector<CanFrame> out = form_frames(300, form.facts().remote);
  std::erase_if(out, [&](const CanFrame& frame) { return frame.fd && form.facts().fd == Fd::kNo; });
  for (CanFrame& frame : out) {
    if (!form.facts().bus || !form.names_buses) frame.channel = 0;
    if (form.has_eight_bytes) frame.length = 8;
  }
  return out;
}

TEST_CASE("frames, malformed records and those left out are all that was written",
          "[every_record]") {
  std::mt19937 random(7);
  for (const Form& form : forms()) {
    INFO(form.name);
    const std::vector<CanFrame> frames = frames_of(form);
    std::string records;
    int64_t malformed = 0, others = 0, errors = 0, written = 0;
    constexpr int64_t kFirstLines = 20;  // by which a form is known
    for (const CanFrame& frame : frames) {
      const std::size_t what = ++written < kFirstLines ? 4 : random() % 5;
      if (what == 0) {
        records += form.malformed[random() % form.malformed.size()];
        ++malformed;
      } else if (what == 1 && !form.others.empty()) {
        records += form.others[random() % form.others.size()];
        ++others;
      } else if (what == 2 && !form.errors.empty()) {
        records += form.errors[random() % form.errors.size()];
        ++errors;
      }
      records += form.frame(frame);
    }
    const std::string first = form.frame(frames.front());
    const int64_t ahead = left_out(read_form(form.file(first)).problems);
    const ReadForm read = read_form(form.file(records));
    INFO(read.problems);
    CHECK(read.format == form.name);
    CHECK(read.malformed == malformed);
    CHECK(left_out(read.problems) == ahead + others);
    CHECK(error_frames(read.problems) == errors);
    REQUIRE(read.frames.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      REQUIRE(read.frames[i].key() == frames[i].key());
      REQUIRE(read.frames[i].extended == frames[i].extended);
      REQUIRE(read.frames[i].remote == frames[i].remote);
      const bool is_marked = form.facts().fd == Fd::kFlags;
      REQUIRE(read.frames[i].fd == (is_marked ? frames[i].fd : frames[i].length > 8));
      REQUIRE(read.frames[i].length == frames[i].length);
      REQUIRE(read.frames[i].payload == frames[i].payload);
    }
  }
}

TEST_CASE("each record of MF4 is a frame, malformed or an error frame", "[every_record]") {
  std::mt19937 random(11);
  for (const bool is_sorted : {false, true}) {
    for (const bool are_errors : {false, true}) {
      INFO(is_sorted << are_errors);
      std::vector<CanFrame> frames = form_frames(400), wanted;
      int64_t malformed = 0, errors = 0;
      for (CanFrame& frame : frames) {
        if (frame.remote && are_errors) {
          ++errors;
        } else if (!frame.remote && random() % 5 == 0) {
          frame.length = 70;  // of 64 bytes
          ++malformed;
        } else {
          wanted.push_back(frame);
        }
      }
      test::Mf4Writing how;
      how.is_sorted = is_sorted;
      std::string file = test::mf4_of(frames, how);
      const std::string remote = "CAN_RemoteFrame", error = "CAN_ErrorFrame";
      for (std::size_t at = 0; are_errors && (at = file.find(remote, at)) != std::string::npos;) {
        const std::size_t end = file.find('\0', at);
        const std::string part = file.substr(at + remote.size(), end - at - remote.size());
        file.replace(at, end - at, error + part + std::string(1, '\0'));
      }
      const ReadForm read = read_form(file);
      INFO(read.problems);
      CHECK(read.malformed == malformed);
      CHECK(error_frames(read.problems) == errors);
      REQUIRE(read.frames.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        REQUIRE(read.frames[i].key() == wanted[i].key());
        REQUIRE(read.frames[i].remote == wanted[i].remote);
        REQUIRE(read.frames[i].payload == wanted[i].payload);
      }
    }
  }
}

}  // namespace
}  // namespace kdgat::data
