// The curriculum stage, the file it writes, and a classifier that samples by it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "curriculum/curriculum.h"
#include "engine/file/safetensors.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/load_scorer.h"
#include "engine/train/data_set.h"
#include "engine/train/sampling/difficulty.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using nlohmann::json;
using test::small_autoencoder;
using test::small_classifier;

namespace fs = std::filesystem;

namespace {

/// The data, an autoencoder of one epoch, and its difficulties on demand.
struct Fixture : test::StageFixture {
  Fixture() {
    autoencoder::AutoencoderOptions o = small_autoencoder();
    o.max_epochs = 1;
    autoencoder::Autoencoder::run(o, request("autoencoder"), fake.host);
    forget();
  }

  /// The host is as new.
  void forget() {
    fake.log.clear();
    fake.epochs.clear();
    fake.progress.clear();
    fake.polls_left = -1;
  }

  json score(int64_t chunk = 500, int threads = 1) {
    Request r = request("curriculum");
    r.threads = threads;
    r.inputs["autoencoder"] = {{"autoencoder", "autoencoder", folder / "autoencoder", {}}};
    curriculum::CurriculumOptions o;
    o.scoring_chunk = chunk;
    return curriculum::Curriculum::run(o, r, fake.host);
  }
  fs::path file() const { return folder / "curriculum" / train::kDifficultyFile; }
  train::Data data() const { return train::open_data(folder / "data"); }
  train::Difficulty difficulty() const { return train::load_difficulty(file(), data().store); }

  Request classifier_request() const {
    Request r = request("classifier");
    r.inputs["difficulty"] = {{"curriculum", "difficulty", folder / "curriculum", {}}};
    return r;
  }
  json fit(const classifier::ClassifierOptions& o) {
    return classifier::Classifier::run(o, classifier_request(), fake.host);
  }
};

classifier::ClassifierOptions curriculum_options() {
  classifier::ClassifierOptions o = small_classifier();
  o.max_epochs = 6;
  o.batch_size = 16;
  o.min_steps_per_epoch = 2;
  o.sampling = "curriculum";
  return o;
}

}  // namespace

TEST_CASE("every benign training window has the difficulty it has alone", "[curriculum]") {
  Fixture f;
  const json made = f.score();
  const train::Data data = f.data();
  const train::Difficulty d = f.difficulty();
  CHECK(d.graph == data.with_label(data.part("train"), 0));
  REQUIRE(d.value.size() > 100);
  CHECK(d.formula.find("0.1 cross entropy") != std::string::npos);
  CHECK(d.model ==
        file::SafetensorsFile::open(f.folder / "autoencoder" / "model.safetensors").header_hash());
  const auto scorer =
      objective::load_scorer(f.folder / "autoencoder" / "model.safetensors", torch::kCPU);
  auto& autoencoder = dynamic_cast<objective::AutoencoderObjective&>(*scorer);
  double sum = 0;
  for (std::size_t i = 0; i < d.graph.size(); ++i) {
    graph::GraphBatch batch;
    graph::gather(data.store, std::span(d.graph).subspan(i, 1), false, batch);
    const auto alone = autoencoder.difficulty(batch).item<double>();
    CHECK(std::abs(d.value[i] - alone) <= 1e-5 + 1e-4 * std::abs(alone));
    CHECK(alone > autoencoder.score(batch).item<double>());
    sum += d.value[i];
  }
  const json& metrics = made.at("metrics");
  CHECK(metrics.at("graphs") == d.graph.size());
  CHECK(metrics.at("difficulty").at("mean").get<double>() ==
        Approx(sum / static_cast<double>(d.graph.size())));
  CHECK(metrics.at("difficulty").at("max") == *std::max_element(d.value.begin(), d.value.end()));
  CHECK(metrics.at("cache").at("releases") == metrics.at("chunks"));
  CHECK(made.at("summary").get<std::string>().find("benign windows") != std::string::npos);
}

TEST_CASE("the size of chunks does not show in difficulties, nor do threads", "[curriculum]") {
  Fixture f;
  f.score();
  const std::vector<float> whole = f.difficulty().value;
  const std::size_t reports = f.fake.progress.size();
  for (const int64_t chunk : {1, 99, 100, 101, 1000000}) {
    fs::remove(f.file());
    const json made = f.score(chunk);
    CHECK(f.difficulty().value == whole);  // bit by bit
    CHECK(made.at("metrics").at("chunks") == (chunk <= 100 ? 2 : 1));
  }
  CHECK(f.fake.progress.size() > reports + 5);
  CHECK(f.fake.progress.back().at("done") == whole.size());
  f.score(500, 2);
  const std::vector<float> threads = f.difficulty().value;
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(std::abs(threads[i] - whole[i]) < 1e-6);
}

TEST_CASE("scoring can be stopped and refuses a model it cannot use", "[curriculum]") {
  Fixture f;
  f.fake.polls_left = 1;
  CHECK_THROWS_WITH(f.score(), Catch::Contains("stopped after 100 of"));
  CHECK_FALSE(fs::exists(f.file()));
  f.fake.polls_left = -1;

  classifier::ClassifierOptions o = small_classifier();
  o.max_epochs = 1;
  classifier::Classifier::run(o, f.request("classifier"), f.fake.host);
  Request r = f.request("curriculum");
  r.inputs["autoencoder"] = {{"classifier", "autoencoder", f.folder / "classifier", {}}};
  CHECK_THROWS_WITH(curriculum::Curriculum::run({}, r, f.fake.host),
                    Catch::Contains("gat is not an autoencoder"));

  test::RandomGraphs wanted;
  wanted.node_features = 11;
  graph::GraphStoreData other = test::random_graphs(wanted);
  other.sections.ids->vocabulary.push_back(0x1000);
  const fs::path store = f.folder / "data" / "graphs.safetensors";
  graph::write_graph_store(store, other);
  graph::write_split(f.folder / "data" / "split.safetensors",
                     graph::make_split(graph::GraphStore::open(store), {}));
  CHECK_THROWS_WITH(f.score(), Catch::Contains("other vocabulary"));
}

TEST_CASE("a difficulty file that does not fit the data is refused", "[curriculum]") {
  Fixture f;
  f.score();
  const train::Data data = f.data();
  const train::Difficulty good = f.difficulty();
  const auto refused = [&](const train::Difficulty& bad) -> std::string {
    train::write_difficulty(f.file(), bad);
    try {
      f.fit(curriculum_options());
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kData);
      return e.what();
    }
    return "";
  };
  train::Difficulty bad = good;
  bad.store = "another";
  CHECK_THAT(refused(bad), Catch::Contains("is of other graphs: store another"));
  bad = good;
  bad.value[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refused(bad), Catch::Contains("difficulty of graph " + std::to_string(good.graph[3]) +
                                           " is not finite"));
  bad = good;
  bad.graph[1] = bad.graph[0];
  CHECK_THAT(refused(bad), Catch::Contains("twice"));
  bad = good;
  bad.graph[1] = 100000;
  CHECK_THAT(refused(bad), Catch::Contains("names graph 100000 of"));
  bad = good;
  bad.graph.resize(bad.graph.size() - 2);
  bad.value.resize(bad.graph.size());
  CHECK_THAT(refused(bad),
             Catch::Contains("the difficulty of 2 of " + std::to_string(good.graph.size())));
  // More windows than are asked for do no harm.
  train::write_difficulty(f.file(), good);
  const std::vector<double> two{good.value[5], good.value[2]};
  CHECK(train::values_of(f.difficulty(), {good.graph[5], good.graph[2]}) == two);
  fs::resize_file(f.file(), fs::file_size(f.file()) - 1);
  CHECK_THROWS_AS(f.fit(curriculum_options()), Error);
  fs::remove(f.file());
  CHECK_THROWS_AS(f.fit(curriculum_options()), Error);
}

TEST_CASE("a curriculum without difficulties says what the profile lacks", "[curriculum]") {
  test::StageFixture f;
  classifier::ClassifierOptions o = curriculum_options();
  const Request r = f.request("classifier");
  CHECK_THROWS_WITH(classifier::Classifier::run(o, r, f.fake.host),
                    Catch::Contains("needs: [curriculum]"));
  CHECK_THROWS_WITH(classifier::Classifier::plan(o, r), Catch::Contains("needs: [curriculum]"));
  o.use_vgae_mining = false;  // the control needs none
  o.max_epochs = 2;
  classifier::Classifier::run(o, r, f.fake.host);
  CHECK(f.fake.epochs.at(1).at("sample").at("mean_difficulty") < 1);
  CHECK(f.fake.log.find("curriculum: ") != std::string::npos);
  o.sampling = "balanced";
  classifier::Classifier::run(o, r, f.fake.host);
  CHECK(f.fake.epochs.back().at("sample").at("ratio") == 1);
}

TEST_CASE("the composition of epochs moves over a run", "[curriculum]") {
  Fixture f;
  f.score();
  classifier::ClassifierOptions o = curriculum_options();
  o.difficulty_percentile = 60;
  for (const std::string schedule : {"ratio", "momentum"}) {
    o.curriculum_schedule = schedule;
    f.forget();
    fs::remove_all(f.folder / "classifier");
    const json made = f.fit(o);
    REQUIRE(f.fake.epochs.size() == 6);
    std::vector<double> ratio, threshold;
    for (const json& epoch : f.fake.epochs) {
      ratio.push_back(epoch.at("sample").at("ratio"));
      threshold.push_back(epoch.at("sample").at("threshold"));
      CHECK(epoch.at("sample").at("attack") == f.fake.epochs[0].at("sample").at("attack"));
    }
    INFO(schedule);
    CHECK(std::adjacent_find(threshold.begin(), threshold.end()) == threshold.end());
    CHECK(ratio.front() == Approx(1));
    CHECK(ratio[1] != ratio[0]);
    CHECK(made.at("metrics").contains("sample"));
  }
}

TEST_CASE("a curriculum stopped anywhere ends with the same weights", "[curriculum]") {
  Fixture f;
  f.score();
  for (const int64_t every : {0, 2}) {
    classifier::ClassifierOptions o = curriculum_options();
    o.difficulty_cache_update = every;
    fs::remove_all(f.folder / "classifier");
    f.fit(o);
    const std::string undisturbed = f.weights("classifier");
    for (const int64_t polls : {3, 12, 17, 30}) {
      INFO("difficulty_cache_update " << every << ", stopped at poll " << polls);
      fs::remove_all(f.folder / "classifier");
      f.fake.polls_left = polls;
      CHECK_THROWS_WITH(f.fit(o), Catch::Contains("checkpoint at epoch"));
      f.fake.polls_left = -1;
      f.fit(o);
      CHECK(f.weights("classifier") == undisturbed);
    }
  }
}

TEST_CASE("a curriculum does not continue from another one's checkpoint", "[curriculum]") {
  Fixture f;
  f.score();
  f.fake.polls_left = 12;
  CHECK_THROWS_AS(f.fit(curriculum_options()), Error);
  f.forget();
  train::Difficulty other = f.difficulty();
  std::reverse(other.value.begin(), other.value.end());
  train::write_difficulty(f.file(), other);
  f.fit(curriculum_options());
  CHECK(f.fake.log.find("starting over") != std::string::npos);
  CHECK(f.fake.epochs.size() == 6);
}
