// The forms of logs that have a reader of their own: what writers wrote comes back frame by frame,
// and what is damaged is told.
#include "support/can/log_forms.h"

#include <zstd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/format_log.h"
#include "support/can/log_text.h"
#include "support/can/mf4_writer.h"
#include "support/can/read_form.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::data_error;

using test::check_same;
using test::form_frames;
using test::on_one_bus;
using test::read_form;
using test::ReadForm;

TEST_CASE("BLF: objects in containers and without, in both units of time", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(500);
  for (const bool in_containers : {false, true}) {
    for (const bool is_packed : {false, true}) {
      for (const bool in_tens : {false, true}) {
        const ReadForm read = read_form(test::blf_of(frames, {in_containers, is_packed, in_tens}));
        INFO(read.problems);
        CHECK(read.format == "blf");
        CHECK(read.problems.empty());
        check_same(read.frames, frames, test::kBlfStart);
      }
    }
  }
}

TEST_CASE("BLF: a file that ends early gives what came before, and says so", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(60);
  for (const bool is_packed : {false, true}) {
    const std::string whole = test::blf_of(frames, {true, is_packed});
    std::size_t last = 0;
    for (std::size_t size = 144 + 40; size < whole.size(); size += 13) {
      CanLog log(file::ByteReader("log", whole.substr(0, size)), "auto", false);
      CanFrame frame;
      std::vector<CanFrame> got;
      while (log.next(frame)) got.push_back(frame);
      REQUIRE(got.size() <= frames.size());
      REQUIRE(got.size() >= last);
      last = got.size();
      check_same(got, {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(got.size())},
                 test::kBlfStart);
      if (is_packed) continue;
      std::string problems;
      for (const Diagnostic& one : log.problems()) problems += one.text();
      if (got.size() < frames.size() && got.size() > 0) {
        CHECK_THAT(problems, Contains("the file ends inside an object"));
      }
    }
    CHECK(last > frames.size() / 2);
  }
}

TEST_CASE("BLF: sizes that cannot be are errors with their place", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(3);
  for (const uint32_t size : {0U, 1U, 15U}) {
    std::string file = test::blf_of(frames, {false});
    std::string bytes;
    test::put<uint32_t>(bytes, size);
    file.replace(144 + 8, 4, bytes);
    CHECK_THAT(data_error([&] { read_form(file); }),
               Contains("log at byte 144") && Contains("an object of " + std::to_string(size)));
  }
  std::string unknown = test::blf_of(frames, {true});
  unknown[144 + 16] = 9;
  CHECK_THAT(data_error([&] { read_form(unknown); }), Contains("unknown method, 9"));
  std::string damaged = test::blf_of(frames, {true});
  damaged[144 + 40] = static_cast<char>(damaged[144 + 40] ^ 0x55);
  CHECK_THAT(data_error([&] { read_form(damaged); }), Contains("damaged"));
}

TEST_CASE("BLF: error frames are counted, objects that are not known are passed over",
          "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(4);
  std::string objects = test::blf_object(65, "a text of the logger", 5, 2);
  for (const CanFrame& frame : frames) {
    objects += test::blf_frame(frame, {}) + test::blf_object(73, std::string(32, '\1'), 5, 2);
  }
  const ReadForm read = read_form(test::blf_file(objects));
  check_same(read.frames, frames, test::kBlfStart);
  CHECK(read.problems == "log: 4 error frames are counted, not read\n");
}

TEST_CASE("a ninth bus is refused frame by frame", "[log_forms]") {
  std::vector<CanFrame> frames = on_one_bus(form_frames(12, false));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].fd = false;
    frames[i].length = std::min<uint8_t>(frames[i].length, 8);
    std::fill(frames[i].payload.begin() + frames[i].length, frames[i].payload.end(), uint8_t{0});
    frames[i].channel = static_cast<uint8_t>(i % 12);
  }
  const ReadForm read = read_form(test::blf_of(frames));
  CHECK(read.frames.size() == 8);
  CHECK(read.malformed == 4);
  CHECK_THAT(read.problems, Contains("a ninth channel"));
}

TEST_CASE("pcap: both byte orders, micro- and nanoseconds", "[log_forms]") {
  const std::vector<CanFrame> frames = on_one_bus(form_frames(300));
  for (const bool in_nanoseconds : {false, true}) {
    for (const bool is_big : {false, true}) {
      const ReadForm read = read_form(test::pcap_of(frames, in_nanoseconds, is_big));
      CHECK(read.format == "pcap");
      CHECK(read.problems.empty());
      check_same(read.frames, frames, 0);
    }
  }
  CHECK_THAT(data_error([&] { read_form(test::pcap_of(frames, false, false, 1)); }),
             Contains("the link type is 1, not 227"));
  const std::string whole = test::pcap_of(frames);
  const ReadForm cut = read_form(whole.substr(0, whole.size() - 3));
  CHECK(cut.frames.size() == frames.size() - 1);
  CHECK_THAT(cut.problems, Contains("ends inside a packet"));
}

TEST_CASE("pcapng: interfaces are buses, in both byte orders", "[log_forms]") {
  std::vector<CanFrame> frames = form_frames(300);
  for (const bool is_big : {false, true}) {
    const ReadForm read = read_form(test::pcapng_of(frames, is_big));
    CHECK(read.format == "pcapng");
    CHECK(read.problems.empty());
    check_same(read.frames, frames, 0);
  }
  frames[7].channel = 2;  // the third interface, which is no bus
  const ReadForm read = read_form(test::pcapng_of(frames) + test::pcapng_of(frames, true));
  CHECK(read.frames.size() == 2 * (frames.size() - 1));
  CHECK_THAT(read.problems, Contains("2 objects that are no CAN frames"));
}

TEST_CASE("MF4: sorted and unsorted, payloads apart, packed, not brought to their end",
          "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(200);
  int read_files = 0;
  for (const bool is_sorted : {true, false}) {
    for (const bool apart : {false, true}) {
      for (const int packing : {0, 1, 2}) {
        for (const bool is_finished : {true, false}) {
          if (!is_finished && (packing != 0 || is_sorted)) continue;
          INFO("sorted " << is_sorted << ", apart " << apart << ", packing " << packing
                         << ", finished " << is_finished);
          const ReadForm read =
              read_form(test::mf4_of(frames, {is_sorted, apart, is_finished, packing}));
          CHECK(read.format == "mf4");
          CHECK(read.problems.empty());
          check_same(read.frames, frames, 86400);
          ++read_files;
        }
      }
    }
  }
  CHECK(read_files == 14);
}

TEST_CASE("MF4: records in blocks of values, as MDF 4.2 has them", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(120);
  for (const bool apart : {false, true}) {
    for (const int packing : {0, 1, 2}) {
      INFO("apart " << apart << ", packing " << packing);
      test::Mf4Writing how{true, apart, true, packing};
      how.are_values = true;
      const ReadForm read = read_form(test::mf4_of(frames, how));
      CHECK(read.problems.empty());
      check_same(read.frames, frames, 86400);
    }
  }
}

TEST_CASE("MF4: groups of one column each are refused with the block", "[log_forms]") {
  test::Mf4Writing how;
  how.are_values = true;
  std::string file = test::mf4_of(form_frames(3), how);
  const std::size_t group = file.find("##CG");
  file[group + 24 + 48 + 16] |= 8;  // the times are in another group
  CHECK_THAT(data_error([&] { read_form(file); }), Contains("at byte " + std::to_string(group)) &&
                                                       Contains("block CG") && Contains("MDF 4.2"));
}

TEST_CASE("MF4: a file that ends early gives what came before", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(50);
  const std::string whole = test::mf4_of(frames, {false, true, false});
  std::size_t last = frames.size();
  for (std::size_t cut = 1; cut < 1500; cut += 7) {
    const ReadForm read = read_form(whole.substr(0, whole.size() - cut));
    REQUIRE(read.frames.size() <= last);
    last = read.frames.size();
    check_same(read.frames, {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(last)},
               86400);
  }
  CHECK(last < frames.size());
  CHECK_THAT(read_form(whole.substr(0, whole.size() - 5)).problems,
             Contains("ends inside a record"));
}

TEST_CASE("MF4: what holds no bus, and other versions, are refused with words", "[log_forms]") {
  std::string file = test::mf4_of(form_frames(3));
  for (std::size_t at = 0; (at = file.find("CAN_", at)) != std::string::npos;) file[at] = 'X';
  CHECK_THAT(data_error([&] { read_form(file); }), Contains("no frames of a CAN bus"));
  std::string old = test::mf4_of(form_frames(3));
  old[28] = 74;  // 330
  old[29] = 1;
  CHECK_THAT(data_error([&] { read_form(old); }), Contains("version 3.30") && Contains("MDF 4"));
}

std::string zstd_of(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

TEST_CASE("zstd and gzip are unpacked on the way, a damaged one is told", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(5000);
  const test::ScratchFolder scratch;
  for (const std::string& bytes : {test::blf_of(frames, {false}), test::mf4_of(frames)}) {
    const double start = bytes.starts_with("MDF") ? 86400 : test::kBlfStart;
    test::write_gzip(scratch / "a.gz", bytes);
    test::write_text(scratch / "a.zst", zstd_of(bytes));
    test::write_text(scratch / "b.zst",
                     zstd_of(bytes.substr(0, 70000)) + zstd_of(bytes.substr(70000)));
    for (const char* name : {"a.gz", "a.zst", "b.zst"}) {
      check_same(read_form(file::ByteReader(scratch / name)).frames, frames, start);
    }
  }
  const std::string packed = test::read_text(scratch / "a.zst");
  test::write_text(scratch / "bad.zst", packed.substr(0, 4) + std::string(40, '\xff'));
  CHECK_THAT(data_error([&] { read_form(file::ByteReader(scratch / "bad.zst")); }),
             Contains("damaged zstd data"));
}

TEST_CASE("packed logs that are cut short are read up to there, with a warning", "[log_forms]") {
  const std::vector<CanFrame> frames = form_frames(5000);
  const test::ScratchFolder scratch;
  test::write_gzip(scratch / "a.gz", test::blf_of(frames, {false}));
  test::write_text(scratch / "a.zst", zstd_of(test::blf_of(frames, {false})));
  for (const char* name : {"a.gz", "a.zst"}) {
    const std::string packed = test::read_text(scratch / name);
    test::write_text(scratch / "cut", packed.substr(0, packed.size() - packed.size() / 4));
    const ReadForm read = read_form(file::ByteReader(scratch / "cut"));
    CHECK(read.frames.size() > frames.size() / 4);
    CHECK(read.frames.size() < frames.size());
    check_same(read.frames,
               {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(read.frames.size())},
               test::kBlfStart);
    CHECK_THAT(read.problems, Contains("data ends too early: read up to there"));
  }
}

TEST_CASE("ASC: dates, bases, CAN FD, remote and error frames", "[log_forms]") {
  const std::string lines =
      "internal events logged\n// a comment\nBegin Triggerblock Sat Sep 30 10:06:13.191 PM 2017\n"
      "   0.000000 Start of measurement\n"
      "   0.015991 CAN 1 Status:chip status error active\n"
      "   1.000000 1  6F9             Rx   d 8 05 0C 00 00 00 00 00 FF  Length = 240015 ID = 1785\n"
      "   1.500000 2  18EBFF00x       Tx   d 2 01 A0\n"
      "   1.500000 2  18EBFF00x       TxRq d 2 01 A0\n"
      "   2.000000 1  7FF             Rx   r 8\n"
      "   2.100000 1  ErrorFrame\n"
      "   2.200000 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%\n"
      "   3.000000 CANFD   2 Rx   11  Generic_Name_12 1 0 9 12 01 02 03 04 05 06 07 08 09 0A 0B 0C "
      "1 2\n"
      "   3.500000 CANFD   3 Tx   50005x   0 0 5 0 140000 73 200050\n"
      "   4.000000 1  800             Rx   d 0\n"
      "   4.500000 1  1               Rx   d 3 01 02\n"
      "End TriggerBlock\n";
  const double start = 1506809173.191;  // 22:06:13.191 UTC
  for (const char* date :
       {"date Sat Sep 30 10:06:13.191 PM 2017", "date Sam Sep 30 22:06:13.191 2017"}) {
    const ReadForm read =
        read_form(std::string(date) + "\nbase hex  timestamps absolute\n" + lines);
    CHECK(read.format == "asc");
    REQUIRE(read.frames.size() == 5);
    CHECK(std::abs(read.frames[0].time - start - 1) < 1e-6);
    CHECK(read.frames[0].id == 0x6f9);
    CHECK(read.frames[0].length == 8);
    CHECK(read.frames[0].payload[7] == 0xff);
    CHECK(read.frames[1].extended);
    CHECK(read.frames[1].id == 0x18ebff00);
    CHECK(read.frames[1].channel == 1);
    CHECK(read.frames[2].remote);
    CHECK(read.frames[3].fd);
    CHECK(read.frames[3].length == 12);
    CHECK(read.frames[3].payload[11] == 12);
    CHECK(read.frames[4].remote);
    CHECK(read.frames[4].channel == 2);
    CHECK(read.malformed == 2);
    CHECK_THAT(read.problems, Contains("log:16: an id beyond 11 bits") &&
                                  Contains("log:17: the length does not agree") &&
                                  Contains("1 error frame is"));
  }
  const ReadForm dates = read_form(
      "date Mit M\xc3\xa4r 01 1:00:00 am 2023\nbase dec timestamps relative\n"
      "1.0 1 291 Rx d 2 255 16\n2.5 1 291x Rx d 0\n");
  REQUIRE(dates.frames.size() == 2);
  CHECK(dates.frames[0].time == 1677632401);
  CHECK(dates.frames[0].id == 291);
  CHECK(dates.frames[0].payload[1] == 16);
  CHECK(dates.frames[1].time == 1677632403.5);
  CHECK(dates.frames[1].extended);
  CHECK_THAT(read_form("date whenever\nbase hex timestamps absolute\n1.0 1 1 Rx d 0\n").problems,
             Contains("log:1: the date is not understood"));
}

TEST_CASE("TRC: versions 1.0 to 2.1", "[log_forms]") {
  const std::string head = ";$FILEVERSION=";
  const std::string start = "\n;$STARTTIME=25570.5\n;\n";  // the 2nd of January 1970, noon
  const double noon = 86400 + 43200;
  struct Case {
    std::string text;
    double start;
    int channel;
  };
  const std::vector<Case> cases = {
      {";##########\n;  a comment\n"
       "     1)      1841 0001 8 00 01 02 03 04 05 06 07\n     2)  1842 FFFFFFFF 4 00 00 00 08\n"
       "     3)      1843 18FF00EF 2 RTR\n",
       0, 0},
      {head + "1.1" + start +
           "     1)      1841.0  Rx         0001  8  00 01 02 03 04 05 06 07\n"
           "     2)  1842.0 Warng FFFFFFFF  4 00 00 00 08\n"
           "     3)      1843.0  Tx     18FF00EF  2  RTR\n",
       noon, 0},
      {head + "1.2" + start +
           "     1)      1841.0 2  Rx        0001  8  00 01 02 03 04 05 06 07\n"
           "     3)      1843.0 2  Tx    18FF00EF  2  RTR\n",
       noon, 1},
      {head + "1.3" + start +
           "     1)      1841.0 2  Rx        0001 -  8  00 01 02 03 04 05 06 07\n"
           "     3)      1843.0 2  Tx    18FF00EF -  2  RTR\n",
       noon, 1},
      {head + "2.0" + start +
           ";$COLUMNS=N,O,T,I,d,l,D\n"
           "      1      1841.0 DT     0001 Rx 8  00 01 02 03 04 05 06 07\n"
           "      2      1842.0 ST          Rx    00 00 00 00\n"
           "      3      1843.0 RR 18FF00EF Rx 2\n",
       noon, 0},
      {head + "2.1" + start +
           ";$COLUMNS=N,O,T,B,I,d,R,L,D\n"
           "      1      1841.0 DT 2      0001 Rx -  8    00 01 02 03 04 05 06 07\n"
           "      3      1843.0 RR 2  18FF00EF Rx -  2\n",
       noon, 1}};
  for (const Case& one : cases) {
    INFO(one.text);
    const ReadForm read = read_form(one.text);
    INFO(read.problems);
    CHECK(read.format == "trc");
    REQUIRE(read.frames.size() == 2);
    CHECK(std::abs(read.frames[0].time - one.start - 1.841) < 1e-6);
    CHECK(read.frames[0].id == 1);
    CHECK(read.frames[0].length == 8);
    CHECK(read.frames[0].payload[7] == 7);
    CHECK(read.frames[0].channel == one.channel);
    CHECK(read.frames[1].remote);
    CHECK(read.frames[1].extended);
    CHECK(read.malformed == 0);
  }
  const ReadForm fd = read_form(head + "2.1" + start +
                                ";$COLUMNS=N,O,T,B,I,d,R,L,D\n"
                                " 1 1.0 FB 1 0300 Rx - 9 00 01 02 03 04 05 06 07 08 09 0A 0B\n"
                                " 2 2.0 DT 1 0300 Rx - 9 00\n 3 3.0 DT 1 0300 Rx - 2 00\n");
  REQUIRE(fd.frames.size() == 1);
  CHECK(fd.frames[0].fd);
  CHECK(fd.frames[0].length == 12);
  CHECK(fd.malformed == 2);
}

TEST_CASE("what python-can writes comes back frame by frame", "[log_forms]") {
  const std::optional<std::string> python = test::python_with("can, asammdf");
  if (!python) return;
  // python-can's trace files hold no CAN FD, and its channels count from 1 there.
  std::vector<CanFrame> frames = form_frames(2000, false);
  const test::ScratchFolder scratch;
  test::write_text(scratch / "frames.log", format_log(frames, "candump"));
  test::write_text(scratch / "write.py", R"(
import can, sys
for form in ("blf", "asc", "mf4"):
    with can.Logger("out." + form) as log:
        for m in can.LogReader("frames.log"):
            m.channel = int(str(m.channel)[3:])
            log(m)
)");
  const auto ran = test::run_shell(*python + " write.py", scratch.path());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  for (const char* form : {"blf", "asc", "mf4"}) {
    const ReadForm read = read_form(file::ByteReader(scratch / (std::string("out.") + form)));
    INFO(form << " " << read.problems);
    CHECK(read.format == form);
    REQUIRE(read.frames.size() == frames.size());
    check_same(read.frames, frames, read.frames[0].time - frames[0].time);
  }
}

TEST_CASE("asammdf reads the unsorted, unfinished file that our reader reads", "[log_forms]") {
  const std::optional<std::string> python = test::python_with("asammdf");
  if (!python) return;
  // It loses the place where a payload that stands apart has no bytes.
  std::vector<CanFrame> frames = form_frames(300, false);
  std::erase_if(frames, [](const CanFrame& frame) { return frame.length == 0; });
  const test::ScratchFolder scratch;
  for (const bool apart : {false, true}) {
    for (const bool is_finished : {true, false}) {
      test::write_text(scratch / "a.mf4", test::mf4_of(frames, {false, apart, is_finished}));
      test::write_text(scratch / "read.py", R"(
from asammdf import MDF
m = MDF("a.mf4")
s = m.get("CAN_DataFrame.ID")
print(len(s.samples), int(s.samples.astype("u8").sum()))
b = m.get("CAN_DataFrame.DataBytes").samples
n = m.get("CAN_DataFrame.DataLength").samples
print(sum(int(sum(int(x) for x in row[:k])) for row, k in zip(b, n)))
)");
      const auto ran = test::run_shell(*python + " read.py 2>/dev/null", scratch.path());
      uint64_t ids = 0, bytes = 0;
      for (const CanFrame& frame : frames) {
        ids += frame.id;
        for (const uint8_t byte : frame.payload) bytes += byte;
      }
      INFO("apart " << apart << ", finished " << is_finished << ": " << ran.err);
      CHECK(ran.out == std::to_string(frames.size()) + " " + std::to_string(ids) + "\n" +
                           std::to_string(bytes) + "\n");
    }
  }
}

}  // namespace
}  // namespace kdgat::data
