// The autoencoder stage on labelled graphs of two classes: it learns the first and tells the second
// from it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <filesystem>
#include <string>

#include "autoencoder/autoencoder.h"
#include "distill/distill.h"
#include "engine/file/safetensors.h"
#include "engine/graph/pack.h"
#include "evaluate/evaluate.h"
#include "support/graphs/class_fixture.h"

using namespace kdgat;
using autoencoder::Autoencoder;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

autoencoder::AutoencoderOptions small_vgae() {
  autoencoder::AutoencoderOptions o;
  o.hidden_dims = {16, 16};
  o.latent_dim = 8;
  o.heads = 2;
  o.dropout = 0;
  o.lr = 0.01;
  o.batch_size = 16;
  o.max_epochs = 30;
  o.min_steps_per_epoch = 1;
  return o;
}

/// Runs the stage in a folder of its own, stopped after so many polls and continued; -1 = not.
std::string weights_of(test::ClassFixture& f, const autoencoder::AutoencoderOptions& o,
                       int64_t polls = -1) {
  fs::remove_all(f.folder / "vgae");
  if (polls >= 0) {
    f.fake.polls_left = polls;
    CHECK_THROWS_WITH(Autoencoder::run(o, f.request("vgae"), f.fake.host),
                      Catch::Contains("checkpoint at epoch"));
    f.fake.polls_left = -1;
  }
  Autoencoder::run(o, f.request("vgae"), f.fake.host);
  return f.weights("vgae");
}

/// What a plan and a run refuse with; the same of both.
std::string refusal(test::ClassFixture& f, const autoencoder::AutoencoderOptions& o,
                    ExitCode code) {
  std::string said;
  for (const bool is_plan : {true, false}) {
    try {
      is_plan ? Autoencoder::plan(o, f.request("vgae"))
              : Autoencoder::run(o, f.request("vgae"), f.fake.host);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == code);
      if (!said.empty()) CHECK(error.what() == said);
      said = error.what();
    }
  }
  return said;
}

}  // namespace

TEST_CASE("an autoencoder of one class tells graphs whose edges alone are of another",
          "[autoencoder][classes]") {
  test::ClassFixture f(2, 240);
  const json plan = Autoencoder::plan(small_vgae(), f.request("vgae"));
  CHECK(plan.contains("memory"));
  const json made = Autoencoder::run(small_vgae(), f.request("vgae"), f.fake.host);
  const json& metrics = made.at("metrics");
  CHECK(metrics.at("val_auc").get<double>() > 0.8);
  CHECK(metrics.contains("val_threshold"));
  CHECK(plan.at("parameters") == made.at("facts").at("parameters"));

  Request r = f.request("evaluate");
  r.inputs["models"] = {{"vgae", "model", f.folder / "vgae", {}}};
  const json judged = evaluate::Evaluate::run({}, r, f.fake.host).at("metrics");
  const json& core = judged.at("test").at("vgae").at("test").at("core");
  CHECK(core.at("auc").get<double>() > 0.75);
  CHECK(core.at("balanced_accuracy").get<double>() > 0.6);
  CHECK(judged.at("test").at("majority class").at("test").at("core").at("auc") == 0.5);
  // What validation said of the same graphs in training.
  CHECK(judged.at("vgae").at("core").at("auc").get<double>() ==
        Approx(metrics.at("val_auc").get<double>()).epsilon(1e-4));
  CHECK(judged.at("vgae").at("core").at("accuracy").get<double>() ==
        Approx(metrics.at("val_accuracy").get<double>()).epsilon(1e-4));
}

TEST_CASE("statistics and training of an autoencoder are of the first class, unless of all",
          "[autoencoder][classes]") {
  test::ClassFixture f(2);
  autoencoder::AutoencoderOptions o = small_vgae();
  o.max_epochs = 2;
  const auto mean_of = [&] {
    return file::SafetensorsFile::open(f.folder / "vgae" / "model.safetensors")
        .require<float>("input.node_mean", {f.data().store.node_features()})[0];
  };
  Autoencoder::run(o, f.request("vgae"), f.fake.host);
  const train::Data data = f.data();
  double sum = 0;
  int64_t nodes = 0;
  for (const int64_t g : data.with_label(data.part("train"), 0)) {
    graph::GraphBatch batch;
    graph::gather(data.store, std::span(&g, 1), false, batch);
    for (int64_t n = 0; n < batch.nodes; ++n, ++nodes) sum += batch.x[n * batch.node_features];
  }
  CHECK(mean_of() == Approx(sum / static_cast<double>(nodes)).epsilon(1e-4).margin(1e-5));
  const std::string of_one = f.weights("vgae");
  o.train_on = "all";
  CHECK(weights_of(f, o) != of_one);
}

TEST_CASE("an autoencoder of labelled graphs stopped anywhere ends with the same weights",
          "[autoencoder][classes]") {
  test::ClassFixture f(2);
  autoencoder::AutoencoderOptions o = small_vgae();
  o.max_epochs = 4;
  const std::string undisturbed = weights_of(f, o);
  for (const int64_t polls : {3, 9, 14}) {
    INFO("stopped at poll " << polls);
    CHECK(weights_of(f, o, polls) == undisturbed);
  }
}

TEST_CASE("a smaller autoencoder of labelled graphs learns from a larger one",
          "[autoencoder][classes][distillation]") {
  test::ClassFixture f(2);
  autoencoder::AutoencoderOptions o = small_vgae();
  o.max_epochs = 4;
  Autoencoder::run(o, f.request("vgae"), f.fake.host);
  distill::DistillOptions student;
  static_cast<train::TrainOptions&>(student) = o;
  student.model = "autoencoder";
  student.vgae_hidden_dims = {8, 4};
  student.vgae_latent_dim = 4;
  Request r = f.request("student");
  r.inputs["teacher"] = {{"vgae", "autoencoder", f.folder / "vgae", {}}};
  CHECK(distill::Distill::plan(student, r).contains("parameters"));
  const json made = distill::Distill::run(student, r, f.fake.host);
  CHECK(f.fake.epochs.back().contains("val_auc"));
  CHECK(made.at("facts").at("model") == "vgae");
}

TEST_CASE("an autoencoder refuses labelled graphs of several classes, and says why",
          "[autoencoder][classes]") {
  test::ClassFixture three(3, 40);
  CHECK_THAT(refusal(three, small_vgae(), ExitCode::kData),
             Catch::StartsWith("an autoencoder learns one class and tells the other from it: that "
                               "takes two classes, these graphs have 3\n"));
  test::ClassFixture two(2, 40);
  autoencoder::AutoencoderOptions o = small_vgae();
  o.id_embedding = "hashed";
  CHECK_THAT(refusal(two, o, ExitCode::kUsage), Catch::Contains("have no identifiers"));
  o = small_vgae();
  o.neighbour_weight = 0;
  CHECK_THAT(refusal(two, o, ExitCode::kUsage), Catch::StartsWith("neighbour_weight=0: the score"));
}
