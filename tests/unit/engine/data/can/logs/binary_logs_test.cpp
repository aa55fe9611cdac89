// BLF, pcap and MF4: times before the start, payloads that are not stored whole, "Linux cooked"
// captures, and groups of records that are merged by time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "support/can/log_forms.h"
#include "support/can/log_text.h"
#include "support/can/mf4_writer.h"
#include "support/can/read_form.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::check_same;
using test::form_frames;
using test::on_one_bus;
using test::put;
using test::read_form;
using test::ReadForm;

TEST_CASE("BLF: frames before the start of the measurement have negative times", "[binary_logs]") {
  std::vector<CanFrame> frames = form_frames(20);
  for (CanFrame& frame : frames) frame.time -= 60;
  for (const bool in_tens : {false, true}) {
    const ReadForm read = read_form(test::blf_of(frames, {true, true, in_tens}));
    CHECK(read.problems.empty());
    check_same(read.frames, frames, test::kBlfStart);
  }
}

/// An object of the longer kind for CAN FD: 64 bytes by its code, of which `stored` are there;
/// behind them an extension at `extension` (0: none).
std::string fd64(std::size_t stored, std::size_t extension, uint8_t code = 15, uint8_t valid = 64) {
  std::string body;
  for (const int byte : {1, int{code}, int{valid}, 0})
    put<uint8_t>(body, static_cast<uint8_t>(byte));
  for (const uint32_t word : {0x123U, 0U, 0x3000U, 0U, 0U, 0U, 0U}) put<uint32_t>(body, word);
  put<uint16_t>(body, 0);
  put<uint8_t>(body, 0);
  put<uint8_t>(body, static_cast<uint8_t>(extension));
  put<uint32_t>(body, 0);
  body += std::string(stored, '\x11');
  if (extension != 0) body += std::string(16, '\xee');
  return test::blf_object(101, body, 5, 2);
}

TEST_CASE("BLF: of the longer kind of CAN FD frames what is not stored is 0", "[binary_logs]") {
  constexpr std::size_t kPayload = 32 + 40;
  for (const std::size_t stored : {0U, 48U, 64U}) {
    for (const bool has_extension : {false, true}) {
      INFO(stored << " bytes, " << has_extension);
      const ReadForm read =
          read_form(test::blf_file(fd64(stored, has_extension ? kPayload + stored : 0)));
      INFO(read.problems);
      REQUIRE(read.frames.size() == 1);
      const CanFrame& frame = read.frames[0];
      CHECK(frame.length == 64);
      for (std::size_t i = 0; i < 64; ++i) CHECK(frame.payload[i] == (i < stored ? 0x11 : 0));
    }
  }
  for (const std::size_t extension : {1U, 71U, 200U}) {
    const ReadForm read = read_form(test::blf_file(fd64(48, extension)));
    CHECK(read.malformed == 1);
    CHECK_THAT(read.problems, Contains("log at byte") && Contains("extension"));
  }
  const ReadForm more = read_form(test::blf_file(fd64(48, 0, 9, 48)));
  CHECK(more.malformed == 1);
  CHECK_THAT(more.problems, Contains("more bytes of payload than the length code says"));
}

TEST_CASE("BLF: objects of CAN XL and of other buses are counted", "[binary_logs]") {
  std::string objects = test::blf_frame(form_frames(1)[0], {});
  for (const uint32_t type : {139, 140, 11, 57, 71, 65, 92, 999}) {
    objects += test::blf_object(type, std::string(40, '\1'), 5, 2);
  }
  const ReadForm read = read_form(test::blf_file(objects));
  CHECK(read.frames.size() == 1);
  CHECK_THAT(read.problems, Contains("1 error frame is") && Contains("CAN XL frames 1") &&
                                Contains("LIN 2") && Contains("Ethernet 1") &&
                                Contains("comments 2") && Contains("other objects 1"));
}

TEST_CASE("pcap: cooked captures, with ids in the order of networks and of the host",
          "[binary_logs]") {
  for (const uint32_t type : {113U, 276U}) {
    std::vector<CanFrame> frames = form_frames(200);
    if (type == 113) frames = on_one_bus(frames);  // it does not say of which interface
    for (const bool in_host_order : {false, true}) {
      INFO("link type " << type << ", host order " << in_host_order);
      frames[0].id = 0x123;  // in either order no other id
      frames[0].extended = false;
      const ReadForm read = read_form(test::pcap_of(frames, false, false, type, in_host_order));
      INFO(read.problems);
      CHECK(read.format == "pcap");
      CHECK(read.malformed == 0);
      std::vector<CanFrame> wanted = frames;
      // Buses have the numbers in which they come.
      for (CanFrame& frame : wanted) {
        frame.channel = frame.channel == frames[0].channel ? 0 : 1;
      }
      check_same(read.frames, wanted, 0);
    }
  }
}

TEST_CASE("pcap: ids that were read in the wrong order at first are reported", "[binary_logs]") {
  std::vector<CanFrame> frames = on_one_bus(form_frames(3, false));
  for (CanFrame& frame : frames) frame.extended = false;
  frames[0].id = 0x180;  // in the other order an id of 29 bits
  frames[1].id = frames[2].id = 0x123;
  const ReadForm read = read_form(test::pcap_of(frames, false, false, 113, true));
  REQUIRE(read.frames.size() == 3);
  CHECK(read.frames[1].id == 0x123);
  CHECK_THAT(read.problems, Contains("the 1 packets before this one may be wrong"));
}

TEST_CASE("pcap: what a cooked capture holds beside CAN is counted", "[binary_logs]") {
  const std::vector<CanFrame> frames = on_one_bus(form_frames(2));
  for (const uint16_t protocol : {0x0e, 0x0800}) {
    std::string file = test::pcap_of(frames, false, false, 113);
    const std::size_t at = 24 + 16 + 14;
    file[at] = static_cast<char>(protocol >> 8);
    file[at + 1] = static_cast<char>(protocol);
    const ReadForm read = read_form(file);
    CHECK(read.frames.size() == 1);
    CHECK_THAT(read.problems, Contains(protocol == 0x0e ? "CAN XL frames 1" : "1 objects"));
  }
}

TEST_CASE("MF4: groups of an unsorted file are merged by time", "[binary_logs]") {
  const std::vector<CanFrame> frames = form_frames(400);
  // The recorder writes what it holds of one group, then of the other.
  std::vector<CanFrame> written = frames;
  for (auto from = written.begin(); from != written.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(60, written.end() - from);
    std::stable_partition(from, to, [](const CanFrame& frame) { return frame.remote; });
    from = to;
  }
  for (const bool apart : {false, true}) {
    for (const int packing : {0, 1}) {
      for (const bool is_finished : {true, false}) {
        if (!is_finished && packing != 0) continue;
        INFO("apart " << apart << ", packing " << packing << ", finished " << is_finished);
        const ReadForm read =
            read_form(test::mf4_of(written, {false, apart, is_finished, packing}));
        CHECK(read.problems.empty());
        check_same(read.frames, frames, 86400);
      }
    }
  }
}

TEST_CASE("binary logs from the field", "[binary_logs]") {
  const auto folder = test::shared_path("field");
  if (!folder) return;
  const auto read = [&](const char* name) { return read_form(file::ByteReader(*folder / name)); };
  const ReadForm early = read("blf_negative.blf");
  INFO(early.problems);
  REQUIRE(early.frames.size() >= 2);
  const double start = 1614592800.5;  // 2021-03-01 10:00:00.5
  CHECK(std::abs(early.frames[0].time - (start - 60)) < 1e-6);
  CHECK(std::abs(early.frames[1].time - (start - 59)) < 1e-6);
  const ReadForm extended = read("blf_fd64_ext.blf");
  CHECK(extended.malformed == 0);
  REQUIRE(extended.frames.size() == 5);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(extended.frames[i].length == 64);
    CHECK(extended.frames[i].payload[47] == 47);
    CHECK(extended.frames[i].payload[48] == 0);
    CHECK(extended.frames[i].payload[63] == 0);
  }
  const ReadForm cooked = read("pcap_sll.pcap");
  REQUIRE(cooked.frames.size() == 5);
  CHECK(cooked.frames[0].id == 0x123);
  CHECK(cooked.frames[4].id == 0x127);
  CHECK(cooked.malformed == 0);
  const ReadForm groups = read("real_mf4_two_groups.MF4.gz");
  CHECK(groups.frames.size() > 100);
  CHECK_THAT(groups.problems, !Contains("time goes backwards"));
}

}  // namespace
}  // namespace kdgat::data
