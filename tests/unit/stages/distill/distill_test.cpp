#include "distill/distill.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/file/safetensors.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using autoencoder::Autoencoder;
using classifier::Classifier;
using distill::Distill;
using test::small_autoencoder;
using test::small_classifier;
using Fixture = test::StageFixture;
using nlohmann::json;

namespace {

/// Trained teachers of both kinds in steps "gat" and "vgae", wider than the students.
struct Teachers : Fixture {
  Teachers() {
    auto c = small_classifier();
    c.hidden = 12;
    Classifier::run(c, request("gat"), fake.host);
    auto a = small_autoencoder();
    a.latent_dim = 12;
    Autoencoder::run(a, request("vgae"), fake.host);
  }

  template <class Options>
  Options distilling(Options o, const std::string& teacher) const {
    o.use_kd = true;
    o.teacher_path = (folder / teacher).string();
    return o;
  }
  classifier::ClassifierOptions of_gat() const { return distilling(small_classifier(), "gat"); }
  autoencoder::AutoencoderOptions of_vgae() const {
    return distilling(small_autoencoder(), "vgae");
  }

  template <class Stage, class Options>
  std::string weights_of(const Options& options) {
    const Request r = request("student");
    std::filesystem::remove_all(r.run_dir);
    std::filesystem::create_directories(r.run_dir);
    Stage::run(options, r, fake.host);
    return weights("student");
  }
};

template <class Stage, class Options>
std::string refusal(const Options& options, const Request& request, const Host& host) {
  try {
    Host same = host;
    Stage::run(options, request, same);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kUsage);
    return error.what();
  }
  FAIL("accepted");
  return "";
}

}  // namespace

TEST_CASE("how a teacher is kept changes no bit of its student", "[stages][distillation]") {
  Teachers f;
  const auto compare = [&]<class Stage>(Stage, auto options) {
    options.optimize_batch_size = false;
    options.batch_size = 53;  // the last batch of the last epoch is a small one
    options.teacher = "cache";
    const std::string cached = f.template weights_of<Stage>(options);
    CHECK_FALSE(std::filesystem::exists(f.folder / "student" / "teacher.safetensors"));
    for (const char* mode : {"resident", "offload", "auto"}) {
      INFO(mode);
      options.teacher = mode;
      CHECK(f.template weights_of<Stage>(options) == cached);
    }
    options.kd_alpha = 0.2;
    CHECK(f.template weights_of<Stage>(options) != cached);
    options.batch_size = 1;  // every matrix product over graphs has one row
    options.max_epochs = 1;
    options.teacher = "cache";
    const std::string one_by_one = f.template weights_of<Stage>(options);
    options.teacher = "resident";
    CHECK(f.template weights_of<Stage>(options) == one_by_one);
  };
  compare(Classifier{}, f.of_gat());
  compare(Autoencoder{}, f.of_vgae());
}

TEST_CASE("distill is the stage of its model with use_kd", "[stages][distillation]") {
  Teachers f;
  distill::DistillOptions o;
  static_cast<classifier::ClassifierOptions&>(o) = f.of_gat();
  CHECK(f.weights_of<Distill>(o) == f.weights_of<Classifier>(f.of_gat()));

  const auto vgae = f.of_vgae();
  o.model = "autoencoder";
  o.teacher_path = vgae.teacher_path;
  o.vgae_hidden_dims = vgae.hidden_dims;
  o.vgae_latent_dim = vgae.latent_dim;
  o.vgae_heads = vgae.heads;
  o.vgae_embedding_dim = vgae.embedding_dim;
  o.vgae_dropout = vgae.dropout;
  CHECK(f.weights_of<Distill>(o) == f.weights_of<Autoencoder>(vgae));
  o.use_kd = false;
  CHECK(o.validate().size() == 1);

  Request planned;
  planned.inputs["graphs"] = {{"data", "graphs", "", {{"num_ids", 2049}}}};
  CHECK_THROWS_WITH(Distill::plan({}, planned), Catch::Contains("needs a teacher"));
  planned.inputs["teacher"] = {{"teacher", "classifier", "", json::object()}};
  CHECK(Distill::plan({}, planned).at("parameters") == 102410);
  o = {};
  o.model = "autoencoder";
  CHECK(Distill::plan(o, planned).at("parameters") == 85908);
  CHECK(Distill::plan(o, planned).at("size") == "student");
}

TEST_CASE("a distillation stopped anywhere ends with the same student", "[stages][distillation]") {
  Teachers f;
  auto options = f.of_vgae();
  const std::string undisturbed = f.weights_of<Autoencoder>(options);
  CHECK(undisturbed.find("projection") == std::string::npos);
  // While the teacher's outputs are computed, in the first epoch, and later.
  for (const int64_t polls : {0, 3, 9, 15}) {
    INFO(polls << " polls");
    const Request request = f.request("student");
    std::filesystem::remove_all(request.run_dir);
    std::filesystem::create_directories(request.run_dir);
    f.fake.polls_left = polls;
    CHECK_THROWS_AS(Autoencoder::run(options, request, f.fake.host), Error);
    f.fake.polls_left = -1;
    const auto checkpoint = request.run_dir / "checkpoint" / "state.safetensors";
    if (std::filesystem::exists(checkpoint)) {
      const auto file = file::SafetensorsFile::open(checkpoint);
      CHECK(file.has("model.projection.weight"));
      CHECK(file.has("optimizer.mean.projection.bias"));
    } else {
      CHECK(polls == 0);
    }
    Autoencoder::run(options, request, f.fake.host);
    CHECK(f.weights("student") == undisturbed);
  }
}

TEST_CASE("the validation loss of a student holds its teacher's part", "[stages][distillation]") {
  Teachers f;
  f.fake.epochs.clear();
  f.weights_of<Classifier>(f.of_gat());
  REQUIRE(f.fake.epochs.size() == 3);
  for (const json& epoch : f.fake.epochs) {
    const double kd = epoch.at("val_kd"), task = epoch.at("val_task");
    CHECK(epoch.at("val_loss") == Approx(0.7 * kd + 0.3 * task));
    CHECK(kd > 0);
  }
  f.fake.epochs.clear();
  f.weights_of<Autoencoder>(f.of_vgae());
  for (const json& epoch : f.fake.epochs) {
    CHECK(epoch.at("val_loss") > 0.35 * (epoch.at("val_kd_latent").get<double>() +
                                         epoch.at("val_kd_reconstruction").get<double>()));
  }
}

TEST_CASE("use_kd wants one teacher, and a teacher wants use_kd", "[stages][distillation]") {
  Teachers f;
  auto options = small_classifier();
  options.use_kd = true;
  Request request = f.request("student");
  CHECK_THAT((refusal<Classifier>(options, request, f.fake.host)),
             Catch::Contains("teacher_path=RUN") && Catch::Contains("needs: of student"));
  // A dry run finds it, too.
  CHECK_THROWS_WITH(Classifier::plan(options, request), Catch::Contains("needs a teacher"));
  auto other = small_autoencoder();
  other.use_kd = true;
  CHECK_THROWS_WITH(Autoencoder::plan(other, request), Catch::Contains("needs a teacher"));
  request.inputs["teacher"] = {{"gat", "classifier", "", json::object()}};
  options.teacher_path = "not made yet";
  Classifier::plan(options, request);
  options.teacher_path.clear();
  const std::string by_path = f.weights_of<Classifier>(f.of_gat());

  request = f.request("student");
  request.inputs["teacher"] = {{"gat", "classifier", f.folder / "gat", json::object()}};
  Classifier::run(options, request, f.fake.host);
  CHECK(f.weights("student") == by_path);
  options.teacher_path = (f.folder / "gat" / "model.safetensors").string();
  Classifier::run(options, request, f.fake.host);
  CHECK(f.weights("student") == by_path);
  options.teacher_path = (f.folder / "vgae").string();
  CHECK_THAT((refusal<Classifier>(options, request, f.fake.host)),
             Catch::Contains("two teachers") && Catch::Contains("the step gat"));

  f.fake.log.clear();
  options = small_classifier();
  Classifier::run(options, request, f.fake.host);
  CHECK(f.fake.log.find("the teacher gat is not used: use_kd is false") != std::string::npos);
  CHECK(f.weights("student") != by_path);
}

TEST_CASE("a run folder teaches by kind", "[stages][distillation]") {
  Teachers f;
  const std::string by_step = f.weights_of<Classifier>(f.of_gat());
  std::filesystem::remove_all(f.folder / "student");  // or it would be a second classifier
  auto options = f.of_gat();
  options.teacher_path = f.folder.path().string();
  CHECK(f.weights_of<Classifier>(options) == by_step);
}
