#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/file/safetensors.h"
#include "evaluate/evaluate.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using test::small_autoencoder;
using test::small_classifier;
using Fixture = test::StageFixture;
using nlohmann::json;

TEST_CASE("two models are trained, saved and evaluated", "[stages]") {
  Fixture f;
  classifier::ClassifierOptions c = small_classifier();
  c.max_epochs = 20;
  const json made = classifier::Classifier::run(c, f.request("classifier"), f.fake.host);
  CHECK(made.at("metrics").at("val_f1") > 0.9);
  CHECK(made.at("facts").at("num_ids") == 6);
  CHECK(made.at("summary").get<std::string>().find("val F1") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(f.folder / "classifier" / "checkpoint"));
  autoencoder::Autoencoder::run(small_autoencoder(), f.request("autoencoder"), f.fake.host);

  Request request = f.request("evaluate");
  request.inputs["models"] = {{"autoencoder", "model", f.folder / "autoencoder", {}},
                              {"classifier", "model", f.folder / "classifier", {}}};
  const json result = evaluate::Evaluate::run({}, request, f.fake.host);
  const json& rows = result.at("table").at("rows");
  REQUIRE(rows.size() == 4);  // the models of a part together
  CHECK(rows[0][0] == "val");
  CHECK(rows[0][1] == "autoencoder");
  CHECK(rows[1][0] == "");
  CHECK(rows[1][1] == "classifier");
  CHECK(rows[2][0] == "test_01");
  const json& models = result.at("tables").at(0).at("rows");
  CHECK(models.at(1).at(0) == "classifier");
  CHECK(models.at(1).at(1) == made.at("facts").at("parameters"));
  const json& metrics = result.at("metrics");
  CHECK(metrics.at("classifier").at("core").at("threshold") == 0.5);
  CHECK(metrics.at("test").at("classifier").at("test_01").at("core").at("f1") > 0.9);
  CHECK(metrics.at("test").at("autoencoder").at("test_01").at("core").at("threshold_from_val") ==
        metrics.at("autoencoder").at("core").at("optimal_threshold"));

  const file::SafetensorsFile file =
      file::SafetensorsFile::open(f.folder / "evaluate" / "predictions.safetensors");
  CHECK(file.require<float>("classifier/val/score", {40}).size() == 40);
  CHECK(file.require<int64_t>("autoencoder/test/test_01/prediction", {40}).size() == 40);

  std::ifstream in(f.folder / "evaluate" / "curves.json");
  const json curve = json::parse(in).at("classifier").at("test_01");
  const json& counts = curve.at("counts");
  const json& core = metrics.at("test").at("classifier").at("test_01").at("core");
  const double tp = counts.at("tp"), fp = counts.at("fp"), fn = counts.at("fn");
  CHECK(core.at("f1").get<double>() == Approx(2 * tp / (2 * tp + fp + fn)));
  const double attacks = curve.at("tp").back(), benign = curve.at("fp").back();
  CHECK(attacks == tp + fn);
  CHECK(attacks + benign == core.at("n_samples"));
  CHECK_FALSE(curve.contains("calibrated"));
}

TEST_CASE("an unknown vehicle gets a threshold from the clean start of its file", "[stages]") {
  Fixture f({0, 1}, 24);
  classifier::ClassifierOptions c = small_classifier();
  c.max_epochs = 20;
  classifier::Classifier::run(c, f.request("classifier"), f.fake.host);
  Request request = f.request("evaluate");
  request.inputs["models"] = {{"classifier", "model", f.folder / "classifier", {}}};
  evaluate::EvaluateOptions options;
  const json plain = evaluate::Evaluate::run(options, request, f.fake.host);
  CHECK(plain.at("metrics").at("test").at("classifier").at("test_01").at("core").at("n_samples") ==
        40);
  options.calibrate = {"st_01"};
  const json result = evaluate::Evaluate::run(options, request, f.fake.host);
  const json& part = result.at("metrics").at("test").at("classifier").at("test_01");
  // 24 windows set the threshold and count nowhere; 4 of the other 16 are attacks.
  CHECK(part.at("core").at("n_samples") == 16);
  const json& calibrated = part.at("calibrated");
  CHECK(calibrated.at("calibration_windows") == 24);
  CHECK(calibrated.at("n_samples") == 16);
  CHECK(calibrated.at("f1_all_attack").get<double>() == Approx(2 * 4.0 / (4 + 16)));
  CHECK(calibrated.at("f1_fixed") == part.at("core").at("f1"));
  CHECK(calibrated.at("auc") == part.at("core").at("auc"));
  CHECK(calibrated.at("files").size() == 1);
  CHECK(result.at("tables").size() == 2);

  const file::SafetensorsFile file =
      file::SafetensorsFile::open(f.folder / "evaluate" / "predictions.safetensors");
  const auto kept = file.require<int64_t>("classifier/test/test_01/calibrated", {40});
  CHECK(std::count(kept.begin(), kept.end(), -1) == 24);
  const auto label = file.require<int64_t>("classifier/test/test_01/label", {40});
  const auto score = file.require<float>("classifier/test/test_01/score", {40});
  int64_t tp = 0, flagged = 0;
  float highest_kept = 0, lowest_flagged = 2;
  for (std::size_t i = 0; i < 40; ++i) {
    if (kept[i] == 0) highest_kept = std::max(highest_kept, score[i]);
    if (kept[i] == 1) lowest_flagged = std::min(lowest_flagged, score[i]);
    flagged += kept[i] == 1 ? 1 : 0;
    tp += kept[i] == 1 && label[i] == 1 ? 1 : 0;
  }
  CHECK(highest_kept <= lowest_flagged);
  CHECK(calibrated.at("f1").get<double>() ==
        Approx(2.0 * static_cast<double>(tp) / static_cast<double>(4 + flagged)));

  // A limit leaves more windows to evaluate; one that is too small leaves the fixed threshold.
  options.calibration_windows = 21;
  CHECK(evaluate::Evaluate::run(options, request, f.fake.host)
            .at("metrics")
            .at("test")
            .at("classifier")
            .at("test_01")
            .at("core")
            .at("n_samples") == 19);
  options.calibration_windows = 5;
  const json fixed = evaluate::Evaluate::run(options, request, f.fake.host)
                         .at("metrics")
                         .at("test")
                         .at("classifier")
                         .at("test_01")
                         .at("calibrated");
  CHECK(fixed.at("f1") == fixed.at("f1_fixed"));
  CHECK(f.fake.log.find("not calibrated") != std::string::npos);
  // Of the file it is said once, however many models there are.
  request.inputs["models"].push_back({"twin", "model", f.folder / "classifier", {}});
  f.fake.log.clear();
  evaluate::Evaluate::run(options, request, f.fake.host);
  CHECK(f.fake.log.find("not calibrated") != std::string::npos);
  CHECK(f.fake.log.find("not calibrated") == f.fake.log.rfind("not calibrated"));
}

TEST_CASE("a stage stopped anywhere ends with the same model", "[stages]") {
  Fixture f;
  for (const char* precision : {"32", "bf16-mixed", "16-mixed"}) {
    INFO(precision);
    autoencoder::AutoencoderOptions options = small_autoencoder();
    options.precision = precision;
    const auto train = [&] {
      autoencoder::Autoencoder::run(options, f.request("autoencoder"), f.fake.host);
    };
    train();
    const std::string undisturbed = f.weights("autoencoder");
    for (const int64_t polls : {1, 7, 13}) {
      std::filesystem::remove_all(f.folder / "autoencoder");
      f.fake.polls_left = polls;
      CHECK_THROWS_WITH(train(), Catch::Contains("checkpoint at epoch"));
      f.fake.polls_left = -1;
      train();
      CHECK(f.weights("autoencoder") == undisturbed);
    }
  }
}

TEST_CASE("stages train in mixed precision", "[stages][precision]") {
  Fixture f;
  for (const char* precision : {"bf16-mixed", "16-mixed"}) {
    INFO(precision);
    classifier::ClassifierOptions c = small_classifier();
    c.precision = precision;
    c.max_epochs = 20;
    const json made = classifier::Classifier::run(c, f.request("classifier"), f.fake.host);
    CHECK(made.at("metrics").at("val_f1") > 0.9);
    f.fake.epochs.clear();
    autoencoder::AutoencoderOptions a = small_autoencoder();
    a.precision = precision;
    a.max_epochs = 6;
    autoencoder::Autoencoder::run(a, f.request("autoencoder"), f.fake.host);
    REQUIRE(f.fake.epochs.size() == 6);
    const auto loss = [&](std::size_t i) {
      return f.fake.epochs[i].at("train_loss").get<double>();
    };
    CHECK(loss(5) < 0.9 * loss(0));
    const bool scaled = std::string(precision) == "16-mixed";
    for (const json& epoch : f.fake.epochs) CHECK(epoch.contains("loss_scale") == scaled);
    CHECK((f.fake.log.find("slow") != std::string::npos) == scaled);
  }
}

TEST_CASE("one thread repeats itself bit by bit, more threads change rounding alone", "[stages]") {
  Fixture f;
  const auto losses = [&f](const auto& train, int threads) {
    Request request = f.request("model");
    request.threads = threads;
    f.fake.losses.clear();
    train(request);
    REQUIRE(f.fake.losses.size() >= 20);
    return f.fake.losses;
  };
  const auto check = [&](const auto& train) {
    const std::vector<double> one = losses(train, 1);
    const std::string weights = f.weights("model");
    CHECK(losses(train, 1) == one);
    CHECK(f.weights("model") == weights);
    const std::vector<double> two = losses(train, 2);
    REQUIRE(two.size() == one.size());
    for (std::size_t i = 0; i < 20; ++i) CHECK(std::abs(two[i] - one[i]) < 1e-4);
  };
  const auto many_steps = [](auto options) {
    options.optimize_batch_size = false;
    options.batch_size = 64;  // enough work for a second thread
    options.log_every_n_steps = 1;
    options.max_epochs = 12;
    options.heads = 4;
    return options;
  };
  check([&](const Request& request) {
    classifier::ClassifierOptions options = many_steps(small_classifier());
    options.hidden = 48;
    classifier::Classifier::run(options, request, f.fake.host);
  });
  check([&](const Request& request) {
    autoencoder::AutoencoderOptions options = many_steps(small_autoencoder());
    options.hidden_dims = {192, 96};
    autoencoder::Autoencoder::run(options, request, f.fake.host);
  });
}

TEST_CASE("data without the labels a stage needs is refused with a hint", "[stages]") {
  {
    Fixture f(std::set<int>{});
    CHECK_THROWS_WITH(classifier::Classifier::run(small_classifier(), f.request("c"), f.fake.host),
                      Catch::Contains("needs training graphs labelled benign and attack"));
    // All of it is taken as benign by the autoencoder.
    autoencoder::AutoencoderOptions o = small_autoencoder();
    o.max_epochs = 1;
    const json made = autoencoder::Autoencoder::run(o, f.request("a"), f.fake.host);
    CHECK(f.fake.log.find("no labels: all traffic is taken as benign") != std::string::npos);
    CHECK_FALSE(made.at("metrics").contains("val_auc"));
    Request request = f.request("evaluate");
    request.inputs["models"] = {{"a", "model", f.folder / "a", {}}};
    const json result = evaluate::Evaluate::run({}, request, f.fake.host);
    CHECK(result.at("table").at("rows").empty());
    CHECK(f.fake.log.find("quantile") != std::string::npos);
  }
  Fixture f(std::set<int>{0});
  CHECK_THROWS_WITH(classifier::Classifier::run(small_classifier(), f.request("c"), f.fake.host),
                    Catch::Contains("0 attack"));
  autoencoder::AutoencoderOptions o = small_autoencoder();
  o.monitor_metric = "val_auc";
  o.monitor_mode = "max";
  CHECK_THROWS_WITH(autoencoder::Autoencoder::run(o, f.request("a"), f.fake.host),
                    Catch::Contains("validation graphs of both classes"));
}

TEST_CASE("a model of another vocabulary is refused", "[stages]") {
  Fixture f;
  autoencoder::Autoencoder::run(small_autoencoder(), f.request("autoencoder"), f.fake.host);
  test::RandomGraphs wanted;
  wanted.node_features = 11;
  graph::GraphStoreData data = test::random_graphs(wanted);
  data.sections.ids->vocabulary.push_back(0x1000);
  graph::write_graph_store(f.folder / "data" / "graphs.safetensors", data);
  graph::write_split(
      f.folder / "data" / "split.safetensors",
      graph::make_split(graph::GraphStore::open(f.folder / "data" / "graphs.safetensors"), {}));
  Request request = f.request("evaluate");
  request.inputs["models"] = {{"autoencoder", "model", f.folder / "autoencoder", {}}};
  CHECK_THROWS_WITH(evaluate::Evaluate::run({}, request, f.fake.host),
                    Catch::Contains("other vocabulary: 5 ids, here 6"));
}

TEST_CASE("a plan states the published parameter counts", "[stages]") {
  const auto parameters = [](const json& facts) { return facts.at("parameters").get<int64_t>(); };
  for (const int64_t ids : {30, 53, 1791, 2049}) {
    Request request;
    request.inputs["graphs"] = {{"data", "graphs", "", {{"num_ids", ids}}}};
    autoencoder::AutoencoderOptions teacher, student;
    static_cast<model::VgaeSizes&>(student) = model::vgae_student();
    CHECK(parameters(autoencoder::Autoencoder::plan(teacher, request)) == 181950 + 130 * ids);
    CHECK(parameters(autoencoder::Autoencoder::plan(student, request)) == 8046 + 38 * ids);
    classifier::ClassifierOptions gat;
    static_cast<model::GatSizes&>(gat) = model::gat_teacher();
    CHECK(parameters(classifier::Classifier::plan(gat, request)) == 1638914 + 16 * ids);
    CHECK(classifier::Classifier::plan(gat, request).at("size") == "teacher");
  }
  Request unknown;
  unknown.inputs["graphs"] = {{"data", "graphs", "", json::object()}};
  CHECK(classifier::Classifier::plan({}, unknown).empty());
}

TEST_CASE("published names of options are known to a stage, or refused", "[stages]") {
  const json schema = options_schema<autoencoder::AutoencoderOptions>();
  const json& properties = schema.at("properties");
  CHECK(properties.at("hidden_dims").at("x-aliases") == json{"vgae_hidden_dims"});
  std::set<std::string> known;
  for (const auto& [name, value] : properties.items()) known.insert(name);
  for (const RefusedOption& r : autoencoder::Autoencoder::info().refused) {
    CHECK_FALSE(known.contains(r.name));
    known.insert(r.name);
  }
  for (const char* name : {"lr",
                           "max_epochs",
                           "batch_size",
                           "patience",
                           "weight_decay",
                           "gradient_clip",
                           "precision",
                           "use_scheduler",
                           "scheduler_type",
                           "scheduler_t_max",
                           "scheduler_step_size",
                           "scheduler_gamma",
                           "gradient_checkpointing",
                           "use_teacher_cache",
                           "clear_cache_every_n",
                           "offload_teacher_to_cpu",
                           "optimize_batch_size",
                           "safety_factor",
                           "memory_estimation",
                           "accumulate_grad_batches",
                           "save_top_k",
                           "monitor_metric",
                           "monitor_mode",
                           "log_every_n_steps",
                           "test_every_n_epochs",
                           "deterministic",
                           "cudnn_benchmark"}) {
    INFO(name);
    CHECK(known.contains(name));
  }
}
