// That every stage keeps its promises: stage_contract.h. Those of fields are in their folders.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <memory>
#include <string>
#include <vector>

#include "adapt/adapt.h"
#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "curriculum/curriculum.h"
#include "detector/detector.h"
#include "distill/distill.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/core/graph_domain.h"
#include "engine/decision/detector/detector_model.h"
#include "evaluate/evaluate.h"
#include "fusion/fusion.h"
#include "score/score.h"
#include "support/can/can_drive.h"
#include "support/can/log_text.h"
#include "support/can/small_detector.h"
#include "support/graphs/class_fixture.h"
#include "support/runs/stage_contract.h"
#include "support/runs/stage_data.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using test::json;

namespace {

/// Windows, and the two detectors of them that other stages need.
struct Detectors : test::CanFixture {
  Detectors() {
    test::train_shortly<autoencoder::Autoencoder>(*this, "autoencoder", test::small_autoencoder());
    test::train_shortly<classifier::Classifier>(*this, "classifier", test::small_classifier());
  }
};

/// Logs with their frames.
struct Frames : test::StageData {
  Frames() {
    const auto write = [&](const char* name, const std::vector<data::CanFrame>& frames) {
      test::write_text(folder / "logs" / name, data::format_log(frames, "can-train-and-test"));
    };
    write("train_01/benign.csv", test::drive(15, 0));
    write("train_02/dos.csv", test::drive(15, 1, "dos"));
    write("test_01/spoofing.csv", test::drive(10, 7, "spoofing"));
    graph::ImportOptions options;
    options.features = "v3";
    graph::import_logs(folder / "logs", folder / "data", options);
  }
  json facts() const override {
    return graph::GraphStore::open(folder / "data" / data::kStoreName).facts();
  }
};

}  // namespace

TEST_CASE("detector keeps the contract of stages", "[contract]") {
  detector::DetectorOptions other = test::small_detector(10);
  other.trees = 12;
  test::ContractRow row = test::contract_row<detector::Detector>(std::make_shared<Frames>(),
                                                                 test::small_detector(10), other);
  row.file = "";
  row.polls = 4;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("adapt keeps the contract of stages", "[contract]") {
  const auto data = std::make_shared<Frames>();
  const auto train = [](const Request& r, Host& host) {
    return json(detector::Detector::run(test::small_detector(10), r, host));
  };
  REQUIRE(test::run_apart(train, data->request("detector")).code == ExitCode::kOk);
  adapt::AdaptOptions o;
  o.output = (data->folder / "adapted.json").string();
  adapt::AdaptOptions other = o;
  other.name = "van";
  test::ContractRow row = test::contract_row<adapt::Adapt>(data, o, other);
  row.inputs["model"] = data->folder / "detector" / decision::kDetectorFile;
  row.inputs["logs"] = data->folder / "logs" / "train_01";
  row.file = "";
  row.polls = 1;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("autoencoder keeps the contract of stages", "[contract]") {
  test::check_contract(test::training_row<autoencoder::Autoencoder>(
      std::make_shared<test::CanFixture>(), test::small_autoencoder()));
}

TEST_CASE("classifier keeps the contract of stages", "[contract]") {
  test::check_contract(test::training_row<classifier::Classifier>(
      std::make_shared<test::CanFixture>(), test::small_classifier()));
}

TEST_CASE("distill keeps the contract of stages", "[contract]") {
  distill::DistillOptions o;
  static_cast<classifier::ClassifierOptions&>(o) = test::small_classifier();
  o.use_kd = true;
  test::ContractRow row = test::training_row<distill::Distill>(std::make_shared<Detectors>(), o);
  row.inputs["teacher"] = row.data->folder / "classifier";
  test::check_contract(row);
}

TEST_CASE("curriculum keeps the contract of stages", "[contract]") {
  curriculum::CurriculumOptions other;
  other.scoring_chunk = 100;
  test::ContractRow row =
      test::contract_row<curriculum::Curriculum>(std::make_shared<Detectors>(), {}, other);
  row.inputs["autoencoder"] = row.data->folder / "autoencoder";
  row.file = "difficulty.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("curriculum of labelled graphs keeps the contract of stages", "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(3);
  test::train_shortly<classifier::Classifier>(*data, "scorer", test::small_gin());
  curriculum::CurriculumOptions other;
  other.scoring_chunk = 100;
  test::ContractRow row = test::contract_row<curriculum::Curriculum>(data, {}, other);
  row.inputs["classifier"] = row.data->folder / "scorer";
  row.file = "difficulty.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("a classifier by a curriculum of classes keeps the contract of stages",
          "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(6);
  test::train_shortly<classifier::Classifier>(*data, "scorer", test::small_gin());
  Request r = data->request("curriculum");
  r.inputs["classifier"] = {{"scorer", "classifier", data->folder / "scorer", {}}};
  const auto score = [](const Request& request, Host& host) {
    return curriculum::Curriculum::run({}, request, host);
  };
  REQUIRE(test::run_apart(score, r).code == ExitCode::kOk);
  classifier::ClassifierOptions o = test::small_gin();
  o.sampling = "curriculum";
  o.curriculum_start_ratio = 0.5;
  test::ContractRow row = test::training_row<classifier::Classifier>(data, o);
  row.inputs["difficulty"] = data->folder / "curriculum";
  test::check_contract(row);
}

TEST_CASE("evaluate keeps the contract of stages", "[contract]") {
  evaluate::EvaluateOptions other;
  other.false_alarms = 0.3;
  test::ContractRow row =
      test::contract_row<evaluate::Evaluate>(std::make_shared<Detectors>(), {}, other);
  row.inputs["models"] = row.data->folder / "classifier";
  row.file = "predictions.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("fusion keeps the contract of stages", "[contract]") {
  fusion::FusionOptions o;
  o.method = "mlp";
  o.mlp_hidden = 16;
  o.fusion_episodes = 6;
  o.validate_every = 2;
  fusion::FusionOptions other = o;
  other.fusion_lr *= 2;
  test::ContractRow row =
      test::contract_row<fusion::Fusion>(std::make_shared<Detectors>(), o, other);
  row.inputs["autoencoder"] = row.data->folder / "autoencoder";
  row.inputs["classifier"] = row.data->folder / "classifier";
  row.polls = 4;
  row.has_checkpoint = false;
  test::check_contract(row);
}

namespace {

autoencoder::AutoencoderOptions small_autoencoder_of_graphs() {
  autoencoder::AutoencoderOptions out = test::small_autoencoder();
  out.batch_size = 16;
  out.min_steps_per_epoch = 1;
  return out;
}

}  // namespace

TEST_CASE("an autoencoder of labelled graphs keeps the contract of stages", "[contract][classes]") {
  test::check_contract(test::training_row<autoencoder::Autoencoder>(
      std::make_shared<test::ClassFixture>(2), small_autoencoder_of_graphs()));
}

TEST_CASE("a fusion of labelled graphs keeps the contract of stages", "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(2);
  test::train_shortly<autoencoder::Autoencoder>(*data, "vgae", small_autoencoder_of_graphs());
  test::train_shortly<classifier::Classifier>(*data, "gin", test::small_gin());
  fusion::FusionOptions o;
  o.mlp_hidden = 16;
  o.fusion_episodes = 6;
  o.validate_every = 2;
  fusion::FusionOptions other = o;
  other.fusion_lr *= 2;
  test::ContractRow row = test::contract_row<fusion::Fusion>(data, o, other);
  row.inputs["autoencoder"] = data->folder / "vgae";
  row.inputs["classifier"] = data->folder / "gin";
  row.polls = 4;
  row.has_checkpoint = false;
  test::check_contract(row);
}

TEST_CASE("score keeps the contract of stages", "[contract]") {
  decision::ScoreOptions o;
  o.batch = 16;
  decision::ScoreOptions other = o;
  other.threshold = {0.9};
  test::ContractRow row = test::contract_row<score::Score>(std::make_shared<Detectors>(), o, other);
  row.inputs["model"] = row.data->folder / "classifier";
  row.inputs["log"] = row.data->folder / "files";
  row.file = "";
  row.polls = 3;
  row.has_checkpoint = false;
  test::check_contract(row);
}
