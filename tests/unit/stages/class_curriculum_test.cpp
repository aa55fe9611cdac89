// The curriculum stage on labelled graphs of several classes, and a classifier that samples by it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "classifier/classifier.h"
#include "curriculum/curriculum.h"
#include "distill/distill.h"
#include "engine/file/safetensors.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/load_scorer.h"
#include "engine/train/sampling/difficulty.h"
#include "support/graphs/class_fixture.h"

using namespace kdgat;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

/// Graphs, a classifier of a few epochs that scores them, and what comes after.
struct ClassCurriculumFixture : test::ClassFixture {
  explicit ClassCurriculumFixture(int64_t classes) : ClassFixture(classes) {
    classifier::Classifier::run(test::small_gin(), request("scorer"), fake.host);
    fake.epochs.clear();
    fake.log.clear();
  }
  Request curriculum_request() const {
    Request r = request("curriculum");
    r.inputs["classifier"] = {{"scorer", "classifier", folder / "scorer", {}}};
    return r;
  }
  json score(int64_t chunk = 500) {
    curriculum::CurriculumOptions o;
    o.scoring_chunk = chunk;
    return curriculum::Curriculum::run(o, curriculum_request(), fake.host);
  }
  train::Difficulty difficulty() const {
    return train::load_difficulty(folder / "curriculum" / train::kDifficultyFile, data().store);
  }
  Request sampled_request(const std::string& step) const {
    Request r = request(step);
    r.inputs["difficulty"] = {{"curriculum", "difficulty", folder / "curriculum", {}}};
    return r;
  }
  json fit(const classifier::ClassifierOptions& o) {
    return classifier::Classifier::run(o, sampled_request("classifier"), fake.host);
  }
  /// Trains anew, stopped after so many polls and continued; -1 = not stopped.
  std::string weights_of(const classifier::ClassifierOptions& o, int64_t polls = -1) {
    fs::remove_all(folder / "classifier");
    if (polls >= 0) {
      fake.polls_left = polls;
      CHECK_THROWS_WITH(fit(o), Catch::Contains("checkpoint at epoch"));
      fake.polls_left = -1;
    }
    fit(o);
    return weights("classifier");
  }
};

/// A quarter of each class in the first epoch, all of it in the end.
classifier::ClassifierOptions sampled_gin() {
  classifier::ClassifierOptions o = test::small_gin();
  o.sampling = "curriculum";
  o.curriculum_start_ratio = 0.25;
  o.curriculum_end_ratio = 1;
  return o;
}

}  // namespace

TEST_CASE("every labelled training graph is as hard as its class is surprising, in any chunk",
          "[curriculum][classes]") {
  for (const int64_t classes : {2, 3, 6}) {
    ClassCurriculumFixture f(classes);
    const json made = f.score();
    const train::Data data = f.data();
    const train::Difficulty d = f.difficulty();
    CHECK(d.graph == train::labelled(data, data.part("train")));
    CHECK(d.formula == "cross entropy of the class");
    const auto scorer =
        objective::load_scorer(f.folder / "scorer" / "model.safetensors", torch::kCPU);
    auto& classifier = dynamic_cast<objective::ClassifierObjective&>(*scorer);
    for (std::size_t i = 0; i < d.graph.size(); i += 7) {
      graph::GraphBatch batch;
      graph::gather(data.store, std::span(d.graph).subspan(i, 1), false, batch);
      const double p =
          classifier.probabilities(batch)[0][data.store.label_of(d.graph[i])].item<double>();
      CHECK(d.value[i] == Approx(-std::log(p)).epsilon(1e-3).margin(1e-4));
    }
    const json& metrics = made.at("metrics");
    CHECK(metrics.at("graphs") == d.graph.size());
    CHECK(metrics.at("classes").size() == static_cast<std::size_t>(classes));
    CHECK_THAT(made.at("summary").get<std::string>(), Catch::Contains("labelled graphs"));
    for (const int64_t chunk : {1, 100, 100000}) {
      fs::remove(f.folder / "curriculum" / train::kDifficultyFile);
      f.score(chunk);
      CHECK(f.difficulty().value == d.value);  // bit by bit
    }
  }
}

TEST_CASE("a curriculum of classes has each class from the first epoch, and more with each",
          "[curriculum][classes]") {
  for (const int64_t classes : {2, 3, 6}) {
    ClassCurriculumFixture f(classes);
    f.score();
    const json made = f.fit(sampled_gin());
    REQUIRE(f.fake.epochs.size() == 4);
    int64_t before = 0;
    for (const json& epoch : f.fake.epochs) {
      const json& sample = epoch.at("sample");
      CHECK(sample.at("classes") == classes);
      CHECK(sample.at("of_smallest_class") == sample.at("of_largest_class"));
      CHECK(sample.at("of_smallest_class").get<int64_t>() > before);
      before = sample.at("of_smallest_class");
    }
    CHECK_THAT(f.fake.log, Catch::Contains("curriculum: " + std::to_string(classes) + " classes"));
    CHECK(made.at("metrics").contains("val_accuracy"));
  }
}

TEST_CASE("a curriculum of classes stopped anywhere ends with the same weights",
          "[curriculum][classes]") {
  ClassCurriculumFixture f(3);
  f.score();
  for (const char* schedule : {"ratio", "momentum"}) {
    classifier::ClassifierOptions o = sampled_gin();
    o.curriculum_schedule = schedule;
    o.difficulty_cache_update = 2;
    const std::string undisturbed = f.weights_of(o);
    CHECK(f.weights_of(o) == undisturbed);
    for (const int64_t polls : {3, 9, 14}) {
      INFO(schedule << ", stopped at poll " << polls);
      CHECK(f.weights_of(o, polls) == undisturbed);
    }
  }
}

TEST_CASE("classes of equal size and a ratio of one leave nothing to choose, which is said",
          "[curriculum][classes]") {
  ClassCurriculumFixture f(2);
  f.score();
  classifier::ClassifierOptions o = sampled_gin();
  o.max_epochs = 1;
  f.fit(o);
  CHECK_THAT(f.fake.log, !Catch::Contains("has all graphs already"));
  o.curriculum_start_ratio = o.curriculum_end_ratio = 5;
  f.fit(o);
  CHECK_THAT(f.fake.log, Catch::Contains("has all graphs already"));
}

TEST_CASE("a student of several classes samples by difficulty, and a control by chance",
          "[curriculum][classes]") {
  ClassCurriculumFixture f(3);
  f.score();
  distill::DistillOptions o;
  static_cast<classifier::ClassifierOptions&>(o) = sampled_gin();
  o.use_kd = true;
  Request r = f.sampled_request("student");
  r.inputs["teacher"] = {{"scorer", "classifier", f.folder / "scorer", {}}};
  distill::Distill::run(o, r, f.fake.host);
  CHECK(f.fake.epochs.front().at("sample").at("classes") == 3);
  classifier::ClassifierOptions control = sampled_gin();
  control.use_vgae_mining = false;
  f.fake.epochs.clear();
  classifier::Classifier::run(control, f.request("control"), f.fake.host);
  CHECK(f.fake.epochs.front().at("sample").at("mean_difficulty") < 1);
}

TEST_CASE("a curriculum of classes refuses what cannot score them, and says what does",
          "[curriculum][classes]") {
  ClassCurriculumFixture f(3);
  const Request without = f.request("curriculum");
  CHECK_THROWS_WITH(curriculum::Curriculum::plan({}, without),
                    Catch::Contains("add a step of the stage classifier"));
  CHECK_THROWS_WITH(curriculum::Curriculum::run({}, without, f.fake.host),
                    Catch::Contains("add a step of the stage classifier"));
  CHECK(curriculum::Curriculum::plan({}, f.curriculum_request()).is_object());
  // A classifier of other classes.
  const test::ClassFixture other(4);
  Request r = other.request("curriculum");
  r.inputs["classifier"] = {{"scorer", "classifier", f.folder / "scorer", {}}};
  CHECK_THROWS_WITH(curriculum::Curriculum::run({}, r, f.fake.host), Catch::Contains("classes"));
  // A file of other graphs.
  f.score();
  train::Difficulty some = f.difficulty();
  some.graph.pop_back();
  some.value.pop_back();
  train::write_difficulty(f.folder / "curriculum" / train::kDifficultyFile, some);
  CHECK_THROWS_WITH(f.fit(sampled_gin()), Catch::Contains("training graphs is not known"));
  CHECK_THROWS_WITH(classifier::Classifier::plan(sampled_gin(), f.request("classifier")),
                    Catch::Contains("after another classifier"));
}
