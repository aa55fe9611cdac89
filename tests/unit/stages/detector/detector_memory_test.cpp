// What a detector is planned to need: the windows that it learns from, counted beforehand, and what
// is said where they do not fit.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "detector/detector_memory.h"
#include "detector/learning.h"
#include "engine/data/can/vehicles/learning_size.h"
#include "support/can/watched_drives.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::watched_logs;

namespace {

Learning learned(const std::vector<StoredLog>& logs, const DetectorOptions& options) {
  return learn(logs, group_by_vehicle(logs), options, 42, [](double) {});
}

int64_t windows_of(const std::vector<data::WindowRange>& pieces) {
  int64_t out = 0;
  for (const data::WindowRange& piece : pieces) out += piece.end - piece.begin;
  return out;
}

std::string refusal(const DetectorOptions& options, int64_t limit) {
  Request request;
  request.memory.limit = limit;
  try {
    planned_memory(watched_logs().logs(), 100, options, request);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kDoesNotFit);
    return error.diagnostics().front().text();
  }
  return "";
}

}  // namespace

TEST_CASE("windows to learn from are counted as they are learned from", "[detector][memory]") {
  const std::vector<StoredLog> logs = watched_logs().training();
  DetectorOptions options;
  options.inject.clear();
  for (const double forgotten : {0.0, 0.5}) {
    options.forgotten = forgotten;
    INFO(forgotten);
    const Learning learning = learned(logs, options);
    const data::LearningSize size = data::learning_size(logs, options.window, options);
    CHECK(size.rows == std::ssize(learning.rows.labels));
    CHECK(size.windows == learning.windows);
    int64_t held = 0;
    for (const Held& one : learning.held) {
      held += std::ssize(one.values) / static_cast<int64_t>(data::kRelativeColumns);
    }
    CHECK(held <= size.held);
    CHECK(held >= size.held * 9 / 10);
  }
}

TEST_CASE("rows of injected attacks are foreseen, rather too many than too few",
          "[detector][memory]") {
  const std::vector<StoredLog> logs = watched_logs().training();
  DetectorOptions options;
  options.forgotten = 0;
  const std::vector<std::string> all = options.inject;
  options.inject.clear();
  const int64_t without = data::learning_size(logs, options.window, options).rows;
  const auto check = [&](const std::string& name) {
    INFO(name);
    const int64_t rows = std::ssize(learned(logs, options).rows.labels) - without;
    const int64_t foreseen = data::learning_size(logs, options.window, options).rows - without;
    CHECK(rows > 0);
    CHECK(rows <= foreseen);
    CHECK(foreseen <= 5 * rows / 2);
  };
  for (const std::string& kind : all) {
    options.inject = {kind};
    check(kind);
  }
  options.inject = all;
  check("all of them");
}

TEST_CASE("no more windows are learned from than asked for, however short the logs",
          "[detector][memory]") {
  constexpr int64_t kMost = 50'000;
  for (const int64_t of_log : {100, 1000, 5000, 100'000}) {
    for (const int64_t logs : {2, 30, 1000}) {
      const int64_t all = logs * of_log;
      INFO(logs << " logs of " << of_log << " windows");
      const std::vector<data::WindowRange> pieces = data::pieces_of(of_log, 0, all, kMost);
      const int64_t taken = logs * windows_of(pieces);
      if (all <= kMost) {
        CHECK(taken == all);
        continue;
      }
      CHECK(taken <=
            kMost + (of_log * kMost / all < data::kLeastPiece ? logs * data::kLeastPiece : 0));
      CHECK(taken >= kMost / 2);
      CHECK(pieces.front().begin == 0);
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        CHECK(pieces[i].begin >= pieces[i - 1].end);
        CHECK(pieces[i].end - pieces[i].begin <= data::kPieceWindows);
        CHECK(pieces[i].end <= of_log);
      }
    }
  }
  // A thousand logs of a thousand windows: fifty of each, not five hundred.
  CHECK(windows_of(data::pieces_of(1000, 0, 1'000'000, kMost)) == 50);
  CHECK(data::pieces_of(100, 30, 3000, kMost).front().begin == 0);
}

TEST_CASE("a detector's memory grows with what it learns from", "[detector][memory]") {
  const std::vector<StoredLog> logs = watched_logs().logs();
  const auto peak = [&](const DetectorOptions& options, int64_t threads = 1) {
    return memory_footprint(logs, options, 100, threads).peak({});
  };
  const DetectorOptions usual;
  DetectorOptions other;
  other.forgotten = 0;
  CHECK(peak(other) < peak(usual));
  other = usual;
  other.inject = {"spoofing"};
  CHECK(peak(other) < peak(usual));
  other = usual;
  other.monotonic = true;
  CHECK(peak(other) > peak(usual));
  other = usual;
  other.window = 20;
  CHECK(peak(other) > peak(usual));
  const memory::Footprint footprint = memory_footprint(logs, usual, 100, 1);
  CHECK(footprint.phases.size() == 4);
  REQUIRE(footprint.alternatives.size() == 3);
  for (const memory::Alternative& one : footprint.alternatives) {
    CHECK(one.footprint.peak({}) <= footprint.peak({}));
  }
}

TEST_CASE("what does not fit says what would, and that fits", "[detector][memory]") {
  constexpr int64_t kMiB = 1 << 20;
  const DetectorOptions options;
  const std::string said = refusal(options, 8 * kMiB);
  CHECK_THAT(said, Contains("training on ") && Contains(" windows does not fit: of ") &&
                       Contains("the largest item is ") && Contains("forgotten=0 (saves "));
  const std::string named = "the smallest memory that works is ";
  const std::size_t at = said.find(named);
  REQUIRE(at != std::string::npos);
  const int64_t least = std::stoll(said.substr(at + named.size()));
  CHECK(refusal(options, least * kMiB).empty());
  CHECK_FALSE(refusal(options, (least - 8) * kMiB).empty());
}
