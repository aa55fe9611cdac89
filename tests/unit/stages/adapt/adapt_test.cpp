// Adapting a detector: what it learns of one more vehicle, and what it refuses.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <filesystem>
#include <functional>

#include "adapt/adapt.h"
#include "engine/compare/judging.h"
#include "engine/data/can/logs/format_log.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/can/small_detector.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using Catch::Contains;
using decision::DetectorModel;
using kdgat::test::drive;
using kdgat::test::json;

namespace fs = std::filesystem;

namespace {

/// A detector of one vehicle, and logs of two others.
class Garage {
 public:
  Garage() : logs_({{"train_01/a.csv", drive(60, 0)}, {"train_01/b.csv", drive(60, 1)}}) {
    test::detector_of(logs_, 20).write(model());
    write("known.csv", drive(30, 6));
    write("new-1.csv", drive(30, 3, "", 2));
    write("new-2.csv", drive(20, 4, "", 2));
    write("short.csv", drive(1, 4, "", 2));
    write("attacked.csv", drive(30, 5, "fuzzing", 2));
    test::write_text(folder_ / "empty.csv", "");
  }

  fs::path model() const { return folder_ / "detector.json"; }
  const test::ScratchFolder& folder() const { return folder_; }

  StageResult adapt(const std::vector<std::string>& logs, adapt::AdaptOptions options = {},
                    const std::string& from = "detector.json") const {
    if (options.output.empty()) options.output = (folder_ / "out.json").string();
    Request request;
    request.step = "adapt";
    request.inputs["model"] = {{"model", kind::kModel, folder_ / from, {}}};
    for (const std::string& log : logs) {
      request.inputs["logs"].push_back({"logs", kind::kBenignLog, folder_ / log, {}});
    }
    test::FakeHost fake;
    StageResult out = adapt::Adapt::run(options, request, fake.host);
    log = fake.log;
    return out;
  }

  mutable std::string log;  ///< what the last adapt() warned of

 private:
  void write(const std::string& name, const std::vector<data::CanFrame>& frames) const {
    test::write_text(folder_ / name, data::format_log(frames, "can-train-and-test"));
  }

  test::LogStore logs_;
  test::ScratchFolder folder_;
};

const Garage& garage() {
  static const Garage one;
  return one;
}

}  // namespace

TEST_CASE("a vehicle that a detector does not know is added, with thresholds of its length",
          "[adapt]") {
  const Garage& g = garage();
  const json said = g.adapt({"new-1.csv", "new-2.csv"}).metrics;
  const DetectorModel before = DetectorModel::read(g.model());
  const DetectorModel after = DetectorModel::read(g.folder() / "out.json");
  REQUIRE(after.vehicles.size() == before.vehicles.size() + 1);
  CHECK(after.vehicles.front().profile.json() == before.vehicles.front().profile.json());
  CHECK(after.classifier.json() == before.classifier.json());
  const data::Vehicle& added = after.vehicles.back();
  CHECK(added.name == "new-1.csv");
  CHECK(added.own == said.at("windows"));
  CHECK(said.at("replaced").is_null());
  CHECK(said.at("rows").get<int64_t>() / 100 == added.own);
  // As training would learn it of the same rows.
  data::ProfileBuilder builder;
  for (const auto& [seconds, day] : {std::pair{30, 3}, {20, 4}}) {
    builder.restart();
    for (const data::CanFrame& frame : drive(seconds, day, "", 2)) builder.add(frame);
  }
  CHECK(added.profile.frames == builder.profile().frames);
  CHECK(added.profile.ids.size() == builder.profile().ids.size());

  // A log of the vehicle is judged by that profile from its first window on.
  const test::LogStore logs({{"test_01/dos.csv", drive(40, 9, "dos", 2)}});
  const data::StoredLog log = logs.logs().front();
  const compare::JudgedLog judged = compare::judge(log, after);
  CHECK(judged.profile == "new-1.csv");
  CHECK(judged.own == 0);
  CHECK(compare::judge(log, before).own > 0);
}

TEST_CASE("a vehicle that a detector knows is learned again", "[adapt]") {
  const Garage& g = garage();
  adapt::AdaptOptions options;
  options.windows = 50;
  const StageResult result = g.adapt({"known.csv"}, options);
  CHECK(result.metrics.at("replaced") == "train_01/a.csv");
  CHECK(result.metrics.at("windows") == 50);
  CHECK_THAT(*result.summary, Contains("train_01/a.csv learned again from 50 windows"));
  const DetectorModel after = DetectorModel::read(g.folder() / "out.json");
  REQUIRE(after.vehicles.size() == 1);
  CHECK(after.vehicles.front().own == 50);
  options.name = "van";
  CHECK_THAT(*g.adapt({"known.csv"}, options).summary,
             Contains("van learned again") && Contains("it was called train_01/a.csv"));
  // Adapted once more, to a third.
  fs::copy_file(g.folder() / "out.json", g.folder() / "van.json");
  CHECK(g.adapt({"new-1.csv"}, {}, "van.json").metrics.at("vehicles") == 2);
}

TEST_CASE("rows labelled as attacks teach nothing", "[adapt]") {
  const Garage& g = garage();
  const json said = g.adapt({"attacked.csv"}).metrics;
  CHECK(said.at("attack_rows") > 100);
  std::vector<data::CanFrame> benign;
  for (const data::CanFrame& frame : drive(30, 5, "fuzzing", 2)) {
    if (frame.label != 1) benign.push_back(frame);
  }
  CHECK(said.at("rows") == benign.size());
  CHECK(said.at("ids") == data::profile_of(benign).ids.size());
}

TEST_CASE("what a vehicle cannot be learned from is refused, and nothing is written", "[adapt]") {
  const Garage& g = garage();
  adapt::AdaptOptions options;
  options.output = (g.folder() / "none.json").string();
  const auto refused = [&](const std::vector<std::string>& logs, ExitCode code,
                           const std::string& says, const std::string& from = "detector.json") {
    INFO(says);
    CHECK_THAT(test::error_of([&] { g.adapt(logs, options, from); }, code), Contains(says));
    CHECK_FALSE(fs::exists(options.output));
  };
  refused({"short.csv"}, ExitCode::kData, "windows of benign traffic");
  refused({"empty.csv"}, ExitCode::kData, "the file is empty");
  refused({"absent.csv"}, ExitCode::kData, "absent.csv");
  refused({"known.csv", "new-1.csv"}, ExitCode::kData, "not of the vehicle of known.csv");
  refused({"known.csv"}, ExitCode::kData, "new-1.csv", "new-1.csv");
  options.name = "train_01/a.csv";
  refused({"new-1.csv"}, ExitCode::kUsage, "has a vehicle train_01/a.csv already");
  options.output = (g.folder() / "no/such/folder.json").string();
  refused({"known.csv"}, ExitCode::kData, "cannot create");
}
