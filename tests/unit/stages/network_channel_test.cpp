// A fusion with the channel of a detector: its threshold keeps its budget, its files belong
// together, and evaluate judges both on the windows of both.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "detector/detector.h"
#include "engine/compare/judging.h"
#include "engine/decision/detector/joined_files.h"
#include "evaluate/evaluate.h"
#include "fusion/fusion.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/can/small_detector.h"
#include "support/runs/request_on.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::LogStore;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Two benign stretches of normal noise.
std::vector<Stretch> benign_noise(std::size_t windows, double seconds) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(-2, 1);
  std::vector<Stretch> out(2);
  for (Stretch& one : out) {
    for (std::size_t i = 0; i < windows; ++i) one.scores.push_back(noise(random));
    one.seconds = seconds;
  }
  return out;
}

struct Joined {
  Joined()
      : data({{"train_01/a.csv", drive(15, 0)},
              {"train_02/dos.csv", drive(15, 1, "dos")},
              {"test_01_known/dos.csv", drive(10, 7, "dos")},
              {"test_02_unknown_vehicle/dos.csv", drive(25, 9, "dos", 1)}}) {
    autoencoder::Autoencoder::run(test::small_autoencoder(), request("autoencoder"), fake.host);
    classifier::Classifier::run(test::small_classifier(), request("classifier"), fake.host);
    Detector::run(test::small_detector(20), request("detector"), fake.host);
  }
  Request request(const std::string& step) const {
    return test::request_on(data.data(), folder(step), step, 42, data.store().facts());
  }
  fs::path folder(const std::string& step) const { return data.folder() / step; }
  Request fusion_request() const {
    Request out = request("fusion");
    for (const char* name : {"autoencoder", "classifier", "detector"}) {
      out.inputs[name] = {{name, name, folder(name), {}}};
    }
    return out;
  }
  json fuse(double false_alarms = 0) {
    fusion::FusionOptions options;
    options.method = "weighted";
    options.channel_false_alarms = false_alarms;
    return fusion::Fusion::run(options, fusion_request(), fake.host);
  }

  LogStore data;
  test::FakeHost fake;
};

void change_one_byte(const fs::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(100);
  const char old = static_cast<char>(stream.peek());
  stream.put(old == '0' ? '1' : '0');
}

}  // namespace

TEST_CASE("a channel keeps its budget on what it was set by, and rises with the raw score",
          "[fusion][detector]") {
  const std::vector<Stretch> benign = benign_noise(2000, 1800);
  for (const double per_hour : {2.0, 5.0, 10.0}) {
    const NetworkChannel channel = NetworkChannel::fit(benign, per_hour);
    INFO(per_hour);
    CHECK(channel.budget.hours == Approx(1));
    int64_t flagged = 0;
    for (const Stretch& one : benign) {
      ChannelOnLog on(channel);
      std::vector<float> scores;
      for (const float raw : one.scores) scores.push_back(on.score(raw));
      flagged += std::count_if(scores.begin(), scores.end(), [](float one) { return one > 0; });
    }
    CHECK(flagged <= static_cast<int64_t>(per_hour));
    CHECK(2 * flagged >= static_cast<int64_t>(per_hour));  // and is used
    ChannelOnLog on(channel);
    CHECK(on.score(20) > 0);
    CHECK(on.score(-2) < 0);
    for (float raw = -6; raw < 6; raw += 0.25F) CHECK(on.score(raw + 0.25F) >= on.score(raw));
  }
  // As few as the time supports: one in all of it. Less is refused.
  CHECK(NetworkChannel::fit(benign, 0).budget.allowed.windows == 1);
  CHECK_THROWS_WITH(NetworkChannel::fit(benign, 0.5), Contains("0.5"));
}

TEST_CASE("a vehicle that a network finds odd throughout raises no alarm by that alone",
          "[fusion][detector]") {
  const NetworkChannel channel = NetworkChannel::fit(benign_noise(2000, 1800), 5);
  ChannelOnLog known(channel), strange(channel);
  for (const Stretch& one : benign_noise(150, 60)) {
    for (const float raw : one.scores) strange.learn(raw + 6);
  }
  CHECK(known.score(4.5F) > 0);
  CHECK(strange.score(4.5F) < 0);
  CHECK(strange.score(20) > 0);
  // What is usual on it and odd in validation, or the reverse, counts by the smaller.
  ChannelOnLog calm(channel);
  for (int i = 0; i < 100; ++i) calm.learn(-9);
  CHECK(calm.score(-2) == known.score(-2));
}

TEST_CASE("a channel is read as it was written, and nothing else is", "[fusion][detector]") {
  const test::ScratchFolder scratch;
  NetworkChannel channel = NetworkChannel::fit(benign_noise(500, 600), 0);
  channel.network = "a";
  channel.detector = "b";
  const fs::path file = scratch / kChannelFile;
  channel.write(file);
  const NetworkChannel back = NetworkChannel::read(file);
  CHECK(back.network == "a");
  CHECK(back.detector == "b");
  CHECK(back.budget.allowed.windows == 1);
  ChannelOnLog one(channel), other(back);
  for (float raw = -6; raw < 6; raw += 0.1F) CHECK(one.score(raw) == other.score(raw));

  change_one_byte(file);
  CHECK_THROWS_WITH(NetworkChannel::read(file), Contains(file.string()));

  for (const char* text :
       {"", "[", "[]", "{}", R"({"format":"kdgat.channel","version":2})",
        R"({"format":"kdgat.channel","version":1})", R"({"format":1,"version":"x"})"}) {
    INFO(text);
    std::ofstream(file) << text;
    CHECK_THROWS_AS(NetworkChannel::read(file), Error);
  }
  CHECK_THROWS_WITH(NetworkChannel::read(scratch / "none"), Contains("no such file"));
}

TEST_CASE("evaluate judges a fusion and the same with its detector", "[fusion][stages]") {
  Joined t;
  const json result = t.fuse();
  const json& facts = result.at("metrics").at("channel");
  CHECK(facts.at("benign_windows") > 10);
  CHECK(facts.at("benign_hours") > 0);
  CHECK(is_joined(t.folder("fusion")));

  Request judging = t.request("evaluate");
  for (const char* step : {"fusion", "detector"}) {
    judging.inputs["models"].push_back({step, "model", t.folder(step), {}});
  }
  const json parts =
      evaluate::Evaluate::run({}, judging, t.fake.host).at("metrics").at("baselines").at("parts");
  REQUIRE(parts.size() == 2);
  for (const auto& [part, methods] : parts.items()) {
    INFO(part);
    const json& both = methods.at("fusion with its detector");
    CHECK(both.at("n_samples") == methods.at("detector").at("n_samples"));
    // What either flags is flagged.
    CHECK(both.at("false_windows") >= methods.at("detector").at("false_windows"));
    CHECK(both.at("events_found") >= methods.at("detector").at("events_found"));
    CHECK(methods.contains("fusion"));
  }
}

TEST_CASE("a fusion without a detector leaves no channel", "[fusion][stages]") {
  Joined t;
  Request request = t.fusion_request();
  request.inputs.erase("detector");
  fusion::FusionOptions options;
  options.method = "weighted";
  const json result = fusion::Fusion::run(options, request, t.fake.host);
  CHECK(!result.at("metrics").contains("channel"));
  CHECK(!is_joined(t.folder("fusion")));
}

TEST_CASE("a budget that validation does not support, and files of another fusion, are refused",
          "[fusion][stages]") {
  Joined t;
  CHECK_THROWS_WITH(t.fuse(0.01), Contains("0.01"));
  t.fuse();
  const fs::path folder = t.folder("fusion");
  CHECK_NOTHROW(read_joined(folder));
  const auto refused = [&](const fs::path& file) {
    const test::ScratchFolder scratch;
    fs::copy(folder, scratch / "copy");
    change_one_byte(scratch / "copy" / file);
    CHECK_THROWS_WITH(read_joined(scratch / "copy"), Contains("not the file that the fusion"));
    fs::remove(scratch / "copy" / file);
    CHECK_THROWS_WITH(read_joined(scratch / "copy"), Contains("cannot read"));
  };
  refused(kChannelDetector);
  refused("model.safetensors");
}
