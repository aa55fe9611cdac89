// What every stage promises, whatever it computes: a row a stage, and what is asked of each. A
// stage runs in a process of its own, as it does in the program; one that computes gradients could
// not be forked from, so this process computes none.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapt/adapt.h"
#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "curriculum/curriculum.h"
#include "data/can/can_writer.h"
#include "data/graph_domain.h"
#include "detector/detector.h"
#include "detector/detector_model.h"
#include "distill/distill.h"
#include "equivariant/equivariant.h"
#include "evaluate/evaluate.h"
#include "finetune/finetune.h"
#include "fusion/fusion.h"
#include "graphsage/graphsage.h"
#include "gtssl/gtssl.h"
#include "score/score.h"
#include "support/can_drive.h"
#include "support/class_fixture.h"
#include "support/log_text.h"
#include "support/small_detector.h"
#include "support/stage_data.h"
#include "support/stage_fixture.h"
#include "textgcn/textgcn.h"

using namespace kdgat;
using test::json;
namespace fs = std::filesystem;

namespace {

/// A stage, data for it, and options for a run of a second.
struct Row {
  std::shared_ptr<test::StageData> data;
  std::function<json(const Request&)> plan;
  std::function<json(const Request&, Host&)> run, run_other;  ///< with options, and with other ones
  /// The file that holds what it computed; empty = its result alone does.
  std::string file = "model.safetensors";
  int64_t polls = 6;  ///< so often it asks whether to go on before it is in the middle of its work
  bool has_checkpoint = true;
  std::map<std::string, fs::path> inputs;  ///< beside "graphs", by port

  Request request(const std::string& step) const {
    Request out = data->request(step);
    for (const auto& [port, path] : inputs) out.inputs[port] = {{port, port, path, {}}};
    return out;
  }
};

template <class Stage>
Row row(std::shared_ptr<test::StageData> data, const typename Stage::Options& options,
        const typename Stage::Options& other) {
  Row out;
  out.data = std::move(data);
  out.plan = [options](const Request& request) { return Stage::plan(options, request); };
  out.run = [options](const Request& r, Host& host) { return Stage::run(options, r, host); };
  out.run_other = [other](const Request& r, Host& host) { return Stage::run(other, r, host); };
  return out;
}

/// Of a stage that trains: the other options have another learning rate.
template <class Stage>
Row training(std::shared_ptr<test::StageData> data, typename Stage::Options options) {
  options.checkpoint_seconds = 0;  // after every step
  typename Stage::Options other = options;
  other.lr *= 2;
  return row<Stage>(std::move(data), options, other);
}

/// How a process ended that ran a stage.
struct Ended {
  int signal = 0;  ///< that killed it
  ExitCode code = ExitCode::kOk;
  std::string error, log;
  json result;
};

using Run = std::function<json(const Request&, Host&)>;

/// Runs a stage in a process of its own. When it asks for the time after `polls` whether to go on
/// it is told to leave, or killed; -1 = never.
Ended run_apart(const Run& run, const Request& request, int64_t polls = -1, bool kills = false) {
  const fs::path report = request.run_dir.parent_path() / (request.step + ".json");
  std::fflush(nullptr);  // or the child writes what waits in the parent's buffers again
  const pid_t child = ::fork();
  if (child == 0) {
    test::FakeHost fake;
    fake.polls_left = polls;
    fake.kills = kills;
    json said = {{"code", 0}, {"error", ""}, {"result", nullptr}};
    try {
      said["result"] = run(request, fake.host);
    } catch (const Error& error) {
      said["code"] = static_cast<int>(error.code());
      said["error"] = error.what();
    } catch (const std::exception& error) {
      said["code"] = static_cast<int>(ExitCode::kStageFailed);
      said["error"] = error.what();
    }
    said["log"] = fake.log;
    std::ofstream(report) << Host::dump(said);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  Ended out;
  if (WIFSIGNALED(status)) {
    out.signal = WTERMSIG(status);
    return out;
  }
  const json said = json::parse(test::read_text(report));
  out.code = static_cast<ExitCode>(said.at("code").get<int>());
  out.error = said.at("error");
  out.log = said.at("log");
  out.result = said.at("result");
  return out;
}

/// Runs to the end; everything that was computed, to be compared bit by bit.
std::string outcome_of(const Row& row, const Run& run, const std::string& step,
                       std::string* log = nullptr) {
  const Ended ended = run_apart(run, row.request(step));
  INFO(step << ": " << ended.error);
  REQUIRE(ended.signal == 0);
  REQUIRE(ended.code == ExitCode::kOk);
  if (log != nullptr) *log = ended.log;
  if (row.file.empty()) return ended.result.at("metrics").dump();
  CHECK_FALSE(fs::exists(row.data->folder / step / "checkpoint"));
  return row.data->weights(step, row.file);
}

void check_left(const Row& row, const std::string& step) {
  if (!row.file.empty()) CHECK_FALSE(fs::exists(row.data->folder / step / row.file));
  CHECK(fs::exists(row.data->folder / step / "checkpoint") == row.has_checkpoint);
}

/// A plan says what it can of what it is told, and touches nothing.
void check_plan(const Row& row) {
  Request request = row.request("planned");
  CHECK(row.plan(request).is_object());
  CHECK(fs::is_empty(request.run_dir));
  request.inputs.at("graphs").front() = {"data", "graphs", "", json::object()};
  json of_nothing = row.plan(request);
  of_nothing.erase("figures");  // names of its own figures depend on no data
  CHECK(of_nothing.empty());
}

/// A stage that is told to leave does so with the code it was told, and goes on to what an
/// undisturbed run computes.
void check_cancel(const Row& row, const std::string& undisturbed) {
  const Ended ended = run_apart(row.run, row.request("cancelled"), row.polls);
  REQUIRE(ended.signal == 0);
  CHECK(ended.code == ExitCode::kRequeue);
  if (row.has_checkpoint) {
    CHECK_THAT(ended.error, Catch::StartsWith("checkpoint at epoch "));
  } else {
    CHECK_THAT(ended.error, Catch::StartsWith("stopped ") || Catch::StartsWith("interrupted "));
  }
  check_left(row, "cancelled");
  std::string log;
  CHECK(outcome_of(row, row.run, "cancelled", &log) == undisturbed);
  CHECK((log.find("continues from the checkpoint at epoch ") != std::string::npos) ==
        row.has_checkpoint);
}

/// So does one whose process is killed, with what was written by then.
void check_kill(const Row& row, const std::string& undisturbed) {
  const Ended ended = run_apart(row.run, row.request("killed"), row.polls, /*kills=*/true);
  REQUIRE(ended.signal == SIGKILL);
  check_left(row, "killed");
  std::string log;
  CHECK(outcome_of(row, row.run, "killed", &log) == undisturbed);
  CHECK((log.find("continues from the checkpoint at epoch ") != std::string::npos) ==
        row.has_checkpoint);
}

/// What a run with other options left is not continued but said to be there.
void check_other_options(const Row& row, const std::string& undisturbed) {
  const std::string other = outcome_of(row, row.run_other, "other");
  if (row.has_checkpoint) CHECK(other != undisturbed);
  REQUIRE(run_apart(row.run, row.request("changed"), row.polls).code == ExitCode::kRequeue);
  std::string log;
  CHECK(outcome_of(row, row.run_other, "changed", &log) == other);
  CHECK((log.find("the checkpoint is of other options or data: starting over") !=
         std::string::npos) == row.has_checkpoint);
}

void check_contract(const Row& row) {
  check_plan(row);
  const std::string undisturbed = outcome_of(row, row.run, "undisturbed");
  check_cancel(row, undisturbed);
  check_kill(row, undisturbed);
  check_other_options(row, undisturbed);
}

/// A model of an epoch that other stages need.
template <class Stage>
void train_shortly(const test::StageData& data, const std::string& step,
                   typename Stage::Options options) {
  options.max_epochs = 1;
  const auto run = [&](const Request& r, Host& host) { return Stage::run(options, r, host); };
  const Ended ended = run_apart(run, data.request(step));
  INFO(ended.error);
  REQUIRE(ended.code == ExitCode::kOk);
}

/// Windows, and the two detectors of them that other stages need.
struct Detectors : test::CanFixture {
  Detectors() {
    train_shortly<autoencoder::Autoencoder>(*this, "autoencoder", test::small_autoencoder());
    train_shortly<classifier::Classifier>(*this, "classifier", test::small_classifier());
  }
};

/// Logs with their frames.
struct Frames : test::StageData {
  Frames() {
    const auto write = [&](const char* name, const std::vector<graph::CanFrame>& frames) {
      test::write_text(folder / "logs" / name, graph::format_log(frames, "can-train-and-test"));
    };
    write("train_01/benign.csv", test::drive(15, 0));
    write("train_02/dos.csv", test::drive(15, 1, "dos"));
    write("test_01/spoofing.csv", test::drive(10, 7, "spoofing"));
    graph::ImportOptions options;
    options.features = "v3";
    graph::import_logs(folder / "logs", folder / "data", options);
  }
  json facts() const override {
    return graph::GraphStore::open(folder / "data" / graph::kStoreName).facts();
  }
};

}  // namespace

TEST_CASE("detector keeps the contract of stages", "[contract]") {
  detector::DetectorOptions other = test::small_detector(10);
  other.trees = 12;
  Row row = ::row<detector::Detector>(std::make_shared<Frames>(), test::small_detector(10), other);
  row.file = "";
  row.polls = 4;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("adapt keeps the contract of stages", "[contract]") {
  const auto data = std::make_shared<Frames>();
  const auto train = [](const Request& r, Host& host) {
    return json(detector::Detector::run(test::small_detector(10), r, host));
  };
  REQUIRE(run_apart(train, data->request("detector")).code == ExitCode::kOk);
  adapt::AdaptOptions o;
  o.output = (data->folder / "adapted.json").string();
  adapt::AdaptOptions other = o;
  other.name = "van";
  Row row = ::row<adapt::Adapt>(data, o, other);
  row.inputs["model"] = data->folder / "detector" / detector::kDetectorFile;
  row.inputs["logs"] = data->folder / "logs" / "train_01";
  row.file = "";
  row.polls = 1;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("autoencoder keeps the contract of stages", "[contract]") {
  check_contract(training<autoencoder::Autoencoder>(std::make_shared<test::CanFixture>(),
                                                    test::small_autoencoder()));
}

TEST_CASE("classifier keeps the contract of stages", "[contract]") {
  check_contract(training<classifier::Classifier>(std::make_shared<test::CanFixture>(),
                                                  test::small_classifier()));
}

TEST_CASE("distill keeps the contract of stages", "[contract]") {
  distill::DistillOptions o;
  static_cast<classifier::ClassifierOptions&>(o) = test::small_classifier();
  o.use_kd = true;
  Row row = training<distill::Distill>(std::make_shared<Detectors>(), o);
  row.inputs["teacher"] = row.data->folder / "classifier";
  check_contract(row);
}

TEST_CASE("gtssl keeps the contract of stages", "[contract]") {
  gtssl::GtsslOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 2;
  check_contract(training<gtssl::Gtssl>(std::make_shared<test::TreeFixture>(), o));
}

TEST_CASE("finetune keeps the contract of stages", "[contract]") {
  finetune::FinetuneOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 3;
  check_contract(training<finetune::Finetune>(std::make_shared<test::TreeFixture>(), o));
}

TEST_CASE("equivariant keeps the contract of stages", "[contract]") {
  equivariant::EquivariantOptions o;
  o.hidden_irreps = "6x0e + 4x1o + 3x2e";
  o.num_layers = 2;
  o.radial_hidden_dim = 8;
  o.max_epochs = 2;
  o.loss_fn = "catalogue";
  o.use_atom_kinds = true;
  o.use_plain_numbers = true;
  check_contract(training<equivariant::Equivariant>(std::make_shared<test::MoleculeFixture>(), o));
}

TEST_CASE("textgcn keeps the contract of stages", "[contract]") {
  textgcn::TextGcnOptions o;
  o.hidden_dims = {16};
  o.max_epochs = 12;
  for (const char* stop : {"mean_loss", "best"}) {  // the second keeps weights in its checkpoint
    INFO(stop);
    o.stop = stop;
    check_contract(training<textgcn::TextGcn>(std::make_shared<test::TextFixture>(), o));
  }
}

TEST_CASE("graphsage keeps the contract of stages", "[contract]") {
  graphsage::GraphsageOptions o;
  o.hidden_dim = 16;
  o.batch_size = 64;
  o.max_epochs = 3;
  o.loss = "combined";
  o.leave_target_out = true;
  check_contract(training<graphsage::Graphsage>(std::make_shared<test::RatingsFixture>(), o));
}

TEST_CASE("curriculum keeps the contract of stages", "[contract]") {
  curriculum::CurriculumOptions other;
  other.scoring_chunk = 100;
  Row row = ::row<curriculum::Curriculum>(std::make_shared<Detectors>(), {}, other);
  row.inputs["autoencoder"] = row.data->folder / "autoencoder";
  row.file = "difficulty.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("curriculum of labelled graphs keeps the contract of stages", "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(3);
  train_shortly<classifier::Classifier>(*data, "scorer", test::small_gin());
  curriculum::CurriculumOptions other;
  other.scoring_chunk = 100;
  Row row = ::row<curriculum::Curriculum>(data, {}, other);
  row.inputs["classifier"] = row.data->folder / "scorer";
  row.file = "difficulty.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("a classifier by a curriculum of classes keeps the contract of stages",
          "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(6);
  train_shortly<classifier::Classifier>(*data, "scorer", test::small_gin());
  Request r = data->request("curriculum");
  r.inputs["classifier"] = {{"scorer", "classifier", data->folder / "scorer", {}}};
  const auto score = [](const Request& request, Host& host) {
    return curriculum::Curriculum::run({}, request, host);
  };
  REQUIRE(run_apart(score, r).code == ExitCode::kOk);
  classifier::ClassifierOptions o = test::small_gin();
  o.sampling = "curriculum";
  o.curriculum_start_ratio = 0.5;
  Row row = training<classifier::Classifier>(data, o);
  row.inputs["difficulty"] = data->folder / "curriculum";
  check_contract(row);
}

TEST_CASE("evaluate keeps the contract of stages", "[contract]") {
  evaluate::EvaluateOptions other;
  other.false_alarms = 0.3;
  Row row = ::row<evaluate::Evaluate>(std::make_shared<Detectors>(), {}, other);
  row.inputs["models"] = row.data->folder / "classifier";
  row.file = "predictions.safetensors";
  row.polls = 1;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("fusion keeps the contract of stages", "[contract]") {
  fusion::FusionOptions o;
  o.method = "mlp";
  o.mlp_hidden = 16;
  o.fusion_episodes = 6;
  o.validate_every = 2;
  fusion::FusionOptions other = o;
  other.fusion_lr *= 2;
  Row row = ::row<fusion::Fusion>(std::make_shared<Detectors>(), o, other);
  row.inputs["autoencoder"] = row.data->folder / "autoencoder";
  row.inputs["classifier"] = row.data->folder / "classifier";
  row.polls = 4;
  row.has_checkpoint = false;
  check_contract(row);
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
  check_contract(training<autoencoder::Autoencoder>(std::make_shared<test::ClassFixture>(2),
                                                    small_autoencoder_of_graphs()));
}

TEST_CASE("a fusion of labelled graphs keeps the contract of stages", "[contract][classes]") {
  const auto data = std::make_shared<test::ClassFixture>(2);
  train_shortly<autoencoder::Autoencoder>(*data, "vgae", small_autoencoder_of_graphs());
  train_shortly<classifier::Classifier>(*data, "gin", test::small_gin());
  fusion::FusionOptions o;
  o.mlp_hidden = 16;
  o.fusion_episodes = 6;
  o.validate_every = 2;
  fusion::FusionOptions other = o;
  other.fusion_lr *= 2;
  Row row = ::row<fusion::Fusion>(data, o, other);
  row.inputs["autoencoder"] = data->folder / "vgae";
  row.inputs["classifier"] = data->folder / "gin";
  row.polls = 4;
  row.has_checkpoint = false;
  check_contract(row);
}

TEST_CASE("score keeps the contract of stages", "[contract]") {
  score::ScoreOptions o;
  o.batch = 16;
  score::ScoreOptions other = o;
  other.threshold = {0.9};
  Row row = ::row<score::Score>(std::make_shared<Detectors>(), o, other);
  row.inputs["model"] = row.data->folder / "classifier";
  row.inputs["log"] = row.data->folder / "files";
  row.file = "";
  row.polls = 3;
  row.has_checkpoint = false;
  check_contract(row);
}
