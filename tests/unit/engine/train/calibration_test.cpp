#include "engine/train/calibration.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "engine/arrays/random.h"
#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

using namespace kdgat;

namespace {

double uniform(arrays::Random& random) {
  return (static_cast<double>(random.below(1 << 24)) + 0.5) / (1 << 24);
}

/// A store of one part whose files have the labels given.
train::Data data_of(const std::vector<std::vector<int>>& labels) {
  test::RandomGraphs wanted;
  wanted.files.clear();
  for (const auto& file : labels) wanted.files.push_back(static_cast<int>(file.size()));
  graph::GraphStoreData data = test::random_graphs(wanted);
  std::size_t g = 0;
  for (const auto& file : labels) {
    for (const int label : file) data.y[g++] = label;
  }
  const test::ScratchFolder folder;  // the mapping stays when it goes
  graph::write_graph_store(folder / "graphs.safetensors", data);
  return {graph::GraphStore::open(folder / "graphs.safetensors"), {}};
}

std::vector<int64_t> all_of(const train::Data& data) {
  std::vector<int64_t> ids;
  for (int64_t g = 0; g < data.store.graphs(); ++g) ids.push_back(g);
  return ids;
}

/// `zeros` benign windows, then `rest`.
std::vector<int> benign_then(int zeros, std::vector<int> rest) {
  rest.insert(rest.begin(), static_cast<std::size_t>(zeros), 0);
  return rest;
}

}  // namespace

TEST_CASE("a threshold agrees with a value worked out by hand", "[calibration]") {
  std::vector<float> scores;
  for (int i = 1; i <= 100; ++i) scores.push_back(static_cast<float>(i));
  // Ten scores above u = 90, by 5.5 in the mean; 10 of 100 are ten times 1 %.
  CHECK(train::calibrate(scores, 0.01) == Approx(90 + 5.5 * std::log(10.0)));
  CHECK(train::calibrate(scores, 0.1) == Approx(90));
  CHECK(train::calibrate(std::vector<float>{3, 1}, 0.05) == Approx(1 + 2 * std::log(10.0)));
  CHECK(train::calibrate(std::vector<float>{7}, 0.01) == 7);
  CHECK(train::calibrate(std::vector<float>(50, 2.5F), 0.001) == 2.5);
}

TEST_CASE("a threshold lets through about the false alarms it was asked for", "[calibration]") {
  arrays::Random random(5);
  const auto draw = [&] { return static_cast<float>(-std::log(uniform(random))); };
  double alarms = 0;
  constexpr int kTrials = 200, kFresh = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<float> benign(300);
    std::generate(benign.begin(), benign.end(), draw);
    const double threshold = train::calibrate(benign, 0.01);
    for (int i = 0; i < kFresh; ++i) alarms += draw() > threshold ? 1 : 0;
  }
  const double share = alarms / kTrials / kFresh;
  CHECK(share > 0.005);
  CHECK(share < 0.02);
}

TEST_CASE("a threshold moves with the scale of the scores and falls with false alarms",
          "[calibration]") {
  arrays::Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> scores(20 + random.below(300)), moved;
    for (float& s : scores) s = static_cast<float>(4 * uniform(random));
    for (const float s : scores) moved.push_back(2 * s - 8);
    CHECK(train::calibrate(moved, 0.01) ==
          Approx(2 * train::calibrate(scores, 0.01) - 8).margin(1e-4));
    CHECK(train::calibrate(scores, 0.001) > train::calibrate(scores, 0.01));
  }
}

TEST_CASE("the clean start of each file is for calibration", "[calibration]") {
  const std::vector<int> attack_free(60, 0);
  const train::Data data = data_of({benign_then(30, {1, 0, 0, 1, 0}), benign_then(25, {-1, 1}),
                                    benign_then(5, {1}), attack_free});
  std::vector<int64_t> ids = all_of(data);
  std::reverse(ids.begin(), ids.end());  // files and windows are put in order
  const auto files = train::by_file(data, ids, 0);
  REQUIRE(files.size() == 4);
  const auto graphs = [&](const std::vector<std::size_t>& positions) {
    std::vector<int64_t> out;
    for (const std::size_t i : positions) out.push_back(ids[i]);
    return out;
  };
  CHECK(files[0].prefix.size() == 30);
  CHECK(graphs(files[0].prefix).front() == 0);
  CHECK(graphs(files[0].rest) == std::vector<int64_t>{30, 31, 32, 33, 34});
  CHECK(files[1].prefix.size() == 25);  // a window without a label is not known to be clean
  CHECK(files[2].prefix.empty());       // too short to say anything
  CHECK(files[2].rest.size() == 6);
  CHECK(files[3].prefix.size() == 30);  // half of a file without attacks
  CHECK(files[3].source == 3);

  const auto limited = train::by_file(data, all_of(data), 22);
  CHECK(limited[0].prefix.size() == 22);
  CHECK(limited[0].rest.size() == 13);
  CHECK(train::by_file(data, all_of(data), 10)[0].prefix.empty());
}
