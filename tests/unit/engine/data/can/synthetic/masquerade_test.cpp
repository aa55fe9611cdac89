// Masquerade that holds counters, or breaks checksums.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "engine/data/can/frames/recording.h"
#include "engine/data/can/synthetic/payload_fields.h"
#include "support/can/injected.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::benign_traffic;
using test::inject_seeded;
using test::is_inside;
using test::refusal;

/// Rows of one id that were changed, with what they were.
template <class Looks>
void each_forged(const std::vector<CanFrame>& benign, const Injection& made, Looks looks) {
  REQUIRE(made.frames.size() == benign.size());
  for (std::size_t row = 0; row < benign.size(); ++row) {
    if (made.frames[row].label == 1) looks(benign[row], made.frames[row]);
  }
}

}  // namespace

TEST_CASE("a frozen masquerade holds the counter of its id", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(60);
  const Recording recording(benign);
  for (uint64_t seed = 1; seed < 6; ++seed) {
    const Injection made = inject_seeded(benign, "masquerade-frozen", {}, seed);
    for (const Attack& attack : made.attacks) {
      const auto id = std::find_if(recording.ids().begin(), recording.ids().end(),
                                   [&](const IdRows& one) { return one.id == attack.id; });
      const uint64_t counters = payload_fields(recording, *id).counters;
      REQUIRE(counters != 0);
      std::set<uint64_t> values;
      each_forged(benign, made, [&](const CanFrame&, const CanFrame& forged) {
        if (forged.id != attack.id || !is_inside({{}, {attack}}, forged.time)) return;
        values.insert(payload_bits(forged) & counters);
      });
      CHECK(values.size() == 1);
    }
  }
}

TEST_CASE("an unchecked masquerade goes on counting, and its checksum is wrong", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(60);
  const Recording recording(benign);
  const Injection made = inject_seeded(benign, "masquerade-unchecked");
  int64_t forged_rows = 0;
  each_forged(benign, made, [&](const CanFrame& frame, const CanFrame& forged) {
    const auto id = std::find_if(recording.ids().begin(), recording.ids().end(),
                                 [&](const IdRows& one) { return one.id == frame.id; });
    const PayloadFields fields = payload_fields(recording, *id);
    CHECK((fields.checks & ~fields.counters) != 0);
    CHECK((payload_bits(forged) & fields.counters) == (payload_bits(frame) & fields.counters));
    CHECK(payload_bits(forged) != payload_bits(frame));
    ++forged_rows;
  });
  CHECK(forged_rows > 20);
}

TEST_CASE("ids without a counter or a checksum are no target of what breaks them", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(30);
  for (CanFrame& frame : benign) frame.payload = {};
  CHECK_THAT(refusal(benign, "masquerade-frozen", ExitCode::kData), Contains("has a counter"));
  CHECK_THAT(refusal(benign, "masquerade-unchecked", ExitCode::kData), Contains("has a checksum"));
}

}  // namespace kdgat::data
