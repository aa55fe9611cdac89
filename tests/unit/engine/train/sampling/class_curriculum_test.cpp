// A curriculum of labelled graphs of several classes.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/train/sampling/class_curriculum.h"

using namespace kdgat;
using nlohmann::json;
using train::ClassCurriculum;
using train::LabelledGraphs;
using train::SamplingOptions;

namespace {

/// Graphs 500, 503, ...; classes of these sizes, mixed; difficulties random.
LabelledGraphs graphs_of(const std::vector<int64_t>& sizes, uint64_t seed = 1) {
  arrays::Random random(seed);
  LabelledGraphs out;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    out.label.insert(out.label.end(), static_cast<std::size_t>(sizes[c]), static_cast<int64_t>(c));
  }
  random.shuffle(out.label);
  for (std::size_t i = 0; i < out.label.size(); ++i) {
    out.graph.push_back(500 + 3 * static_cast<int64_t>(i));
    out.difficulty.push_back(random.uniform());
  }
  return out;
}

SamplingOptions by_schedule(const std::string& schedule) {
  SamplingOptions out;
  out.sampling = "curriculum";
  out.curriculum_schedule = schedule;
  return out;
}

/// Graphs of an epoch by class.
std::map<int64_t, std::set<int64_t>> drawn(ClassCurriculum& sampler, const LabelledGraphs& from,
                                           int64_t epoch, json* said = nullptr) {
  json composition = json::object();
  std::map<int64_t, std::set<int64_t>> out;
  for (const int64_t id : sampler.draw(epoch, composition)) {
    const auto at = static_cast<std::size_t>((id - 500) / 3);
    REQUIRE(from.graph.at(at) == id);
    CHECK(out[from.label[at]].insert(id).second);  // none twice
  }
  if (said != nullptr) *said = composition;
  return out;
}

/// The `count` hardest graphs of a class.
std::set<int64_t> hardest(const LabelledGraphs& from, int64_t label, int64_t count) {
  std::vector<std::pair<double, int64_t>> all;
  for (std::size_t i = 0; i < from.graph.size(); ++i) {
    if (from.label[i] == label) all.emplace_back(-from.difficulty[i], from.graph[i]);
  }
  std::sort(all.begin(), all.end());
  std::set<int64_t> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) out.insert(all[i].second);
  return out;
}

bool contains(const std::set<int64_t>& all, const std::set<int64_t>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

const std::vector<std::vector<int64_t>> kSizes = {
    {60, 10}, {40, 40}, {1, 80, 30}, {12, 12, 50, 100, 31, 12}};

}  // namespace

TEST_CASE("a ratio schedule has every class in every epoch, as the ratio says", "[sampling]") {
  constexpr int64_t kEpochs = 8;
  for (const std::vector<int64_t>& sizes : kSizes) {
    const LabelledGraphs from = graphs_of(sizes);
    const int64_t smallest = *std::min_element(sizes.begin(), sizes.end());
    ClassCurriculum sampler(by_schedule("ratio"), kEpochs, from, 3, {});
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const double p = static_cast<double>(epoch) / kEpochs;
      const double ratio = 1 + 9 * p, percentile = 75 + 20 * p;
      json said;
      const auto by_class = drawn(sampler, from, epoch, &said);
      REQUIRE(by_class.size() == sizes.size());
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        INFO("class " << c << " of " << sizes[c] << ", epoch " << epoch);
        const std::set<int64_t>& mine = by_class.at(static_cast<int64_t>(c));
        const auto wanted =
            std::min(sizes[c], static_cast<int64_t>(static_cast<double>(smallest) * ratio));
        CHECK(std::ssize(mine) == wanted);
        const int64_t above =
            sizes[c] - static_cast<int64_t>(static_cast<double>(sizes[c]) * percentile / 100);
        CHECK(contains(hardest(from, static_cast<int64_t>(c), std::max(wanted, above)), mine));
      }
      CHECK(said.at("classes") == sizes.size());
      CHECK(said.at("ratio_wanted").get<double>() == Approx(ratio));
      CHECK(said.at("of_smallest_class") == smallest);
    }
  }
}

TEST_CASE("with a ratio below one the hardest of each class come first, and more with each epoch",
          "[sampling]") {
  const LabelledGraphs from = graphs_of({40, 40, 40});
  SamplingOptions o = by_schedule("ratio");
  o.curriculum_start_ratio = 0.25;
  o.curriculum_end_ratio = 1;
  o.difficulty_percentile = o.difficulty_percentile_end = 100;
  ClassCurriculum sampler(o, 4, from, 3, {});
  std::vector<double> means;
  for (const int64_t epoch : {0, 2, 4}) {
    json said;
    const auto by_class = drawn(sampler, from, epoch, &said);
    const int64_t wanted = 10 + 30 * epoch / 4;
    for (int64_t c = 0; c < 3; ++c) CHECK(by_class.at(c) == hardest(from, c, wanted));
    means.push_back(said.at("mean_difficulty"));
  }
  CHECK(means[0] > means[1]);
  CHECK(means[1] > means[2]);
}

TEST_CASE("a momentum schedule goes from as many of each class to all of each", "[sampling]") {
  constexpr int64_t kEpochs = 9;
  for (const std::vector<int64_t>& sizes : kSizes) {
    const LabelledGraphs from = graphs_of(sizes);
    const int64_t smallest = *std::min_element(sizes.begin(), sizes.end());
    SamplingOptions o = by_schedule("momentum");
    o.hard_buffer_share = 0.5;
    ClassCurriculum sampler(o, kEpochs, from, 3, {});
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const double natural = 1 - std::exp(-static_cast<double>(epoch) / 3);
      const auto by_class = drawn(sampler, from, epoch);
      REQUIRE(by_class.size() == sizes.size());
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        const int64_t wanted =
            smallest + static_cast<int64_t>(natural * static_cast<double>(sizes[c] - smallest));
        const std::set<int64_t>& mine = by_class.at(static_cast<int64_t>(c));
        CHECK(std::ssize(mine) == wanted);
        CHECK(contains(mine, hardest(from, static_cast<int64_t>(c), wanted / 2)));
      }
    }
    CHECK(sampler.count(sampler.largest(), 1000) == *std::max_element(sizes.begin(), sizes.end()));
  }
}

TEST_CASE("a seed draws the same graphs of classes again, another one others", "[sampling]") {
  const LabelledGraphs from = graphs_of({8, 90, 60});
  for (const char* schedule : {"ratio", "momentum"}) {
    ClassCurriculum one(by_schedule(schedule), 9, from, 3, {}),
        same(by_schedule(schedule), 9, from, 3, {}), other(by_schedule(schedule), 9, from, 4, {});
    CHECK(one.identity() == same.identity());
    std::set<std::vector<int64_t>> all;
    for (int64_t epoch = 4; epoch >= 0; --epoch) {  // in any order
      json unused;
      const std::vector<int64_t> ids = one.draw(epoch, unused);
      CHECK(same.draw(epoch, unused) == ids);
      CHECK(other.draw(epoch, unused) != ids);
      all.insert(ids);
    }
    CHECK(all.size() == 5);
  }
  CHECK(ClassCurriculum(by_schedule("ratio"), 9, graphs_of({8, 90, 60}, 2), 3, {}).identity() !=
        ClassCurriculum(by_schedule("ratio"), 9, from, 3, {}).identity());
}

TEST_CASE("scored again, difficulties are half ranks within each class", "[sampling]") {
  const LabelledGraphs from = graphs_of({5, 20, 12});
  SamplingOptions o = by_schedule("ratio");
  o.difficulty_cache_update = 2;
  std::vector<double> scores;
  const train::DifficultyScore score = [&](const std::vector<int64_t>& ids,
                                           const std::function<void()>& check) {
    check();
    CHECK(ids == from.graph);
    std::vector<float> out;
    scores.clear();
    for (const int64_t id : ids) {
      out.push_back(static_cast<float>(id * 7 % 37));
      scores.push_back(out.back());
    }
    return out;
  };
  ClassCurriculum sampler(o, 12, from, 5, score);
  const at::Tensor state = sampler.state().at(0).second, before = state.clone();
  sampler.prepare(1, [] {});
  CHECK(at::equal(state, before));
  CHECK_THROWS(sampler.prepare(2, [] { throw std::runtime_error("cancelled"); }));
  CHECK(at::equal(state, before));
  sampler.prepare(2, [] {});
  for (int64_t c = 0; c < 3; ++c) {
    std::vector<double> now, given, in_use;
    for (std::size_t i = 0; i < from.graph.size(); ++i) {
      if (from.label[i] != c) continue;
      now.push_back(scores[i]);
      given.push_back(from.difficulty[i]);
      in_use.push_back(state.const_data_ptr<double>()[i]);
    }
    CHECK(in_use == train::half_ranks(now, given));
  }
  json composition;
  sampler.draw(3, composition);
  CHECK(composition.at("scored_in_epoch") == 3);

  // Another process continues in the middle of an epoch: no prepare(), the state is put back.
  ClassCurriculum later(o, 12, from, 5, {});
  later.state().at(0).second.copy_(state);
  json unused;
  CHECK(later.draw(3, unused) == sampler.draw(3, unused));
}

TEST_CASE("the control of classes is random, and needs no difficulties", "[sampling]") {
  LabelledGraphs from = graphs_of({10, 40});
  from.difficulty.clear();
  CHECK_THROWS_WITH(ClassCurriculum(by_schedule("ratio"), 4, from, 3, {}),
                    Catch::Contains("0 difficulties for 50 graphs"));
  SamplingOptions o = by_schedule("ratio");
  o.use_vgae_mining = false;
  o.difficulty_cache_update = 1;
  ClassCurriculum sampler(o, 4, from, 3, {});
  const at::Tensor before = sampler.state().at(0).second.clone();
  CHECK(drawn(sampler, from, 0).size() == 2);
  sampler.prepare(1, [] {});
  CHECK_FALSE(at::equal(before, sampler.state().at(0).second));
  from = graphs_of({3, 4});
  from.difficulty[2] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(ClassCurriculum(by_schedule("ratio"), 4, from, 3, {}),
                    Catch::Contains("difficulty of graph 506 is not finite"));
  CHECK_THROWS_WITH(ClassCurriculum(by_schedule("ratio"), 4, {}, 3, {}),
                    Catch::Contains("no labelled graph"));
}
