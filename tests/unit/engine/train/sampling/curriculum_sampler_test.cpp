#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "engine/arrays/random.h"
#include "engine/train/sampling/class_sampler.h"
#include "engine/train/sampling/curriculum_sampler.h"

using namespace kdgat;
using nlohmann::json;
using train::CurriculumSampler;
using train::SamplingOptions;
using train::Windows;

namespace {

/// Attacks are 0, 3, 6, ... and benign windows 1000, 1007, ...; difficulties random, every fourth
/// equal to the one before.
Windows windows(int64_t attacks, int64_t benign, uint64_t seed = 1) {
  arrays::Random random(seed);
  Windows out;
  for (int64_t i = 0; i < attacks; ++i) out.attacks.push_back(3 * i);
  for (int64_t i = 0; i < benign; ++i) {
    out.benign.push_back(1000 + 7 * i);
    out.difficulty.push_back(i % 4 == 3 ? out.difficulty.back() : random.uniform());
  }
  return out;
}

SamplingOptions curriculum(const std::string& schedule = "ratio") {
  SamplingOptions out;
  out.sampling = "curriculum";
  out.curriculum_schedule = schedule;
  return out;
}

struct Draw {
  std::set<int64_t> attacks, benign;
  json composition = json::object();
};

/// Checks what holds for every draw of every sampler.
Draw draw(train::Sampler& sampler, const Windows& from, int64_t epoch) {
  Draw out;
  const std::vector<int64_t> ids = sampler.draw(epoch, out.composition);
  for (const int64_t id : ids) {
    const bool is_attack = std::count(from.attacks.begin(), from.attacks.end(), id) > 0;
    CHECK((is_attack || std::count(from.benign.begin(), from.benign.end(), id) > 0));
    CHECK((is_attack ? out.attacks : out.benign).insert(id).second);  // no window twice
  }
  CHECK(out.attacks.size() == from.attacks.size());
  CHECK(out.composition.at("attack") == out.attacks.size());
  CHECK(out.composition.at("benign") == out.benign.size());
  CHECK(out.composition.at("ratio").get<double>() ==
        Approx(static_cast<double>(out.benign.size()) / static_cast<double>(out.attacks.size())));
  json again;
  CHECK(sampler.draw(epoch, again) == ids);
  return out;
}

double difficulty_of(const Windows& from, int64_t id) {
  return from.difficulty[static_cast<std::size_t>((id - 1000) / 7)];
}

/// The published rule, written down anew: sizes and threshold of a ratio schedule.
struct Published {
  double ratio, percentile, threshold;
  std::size_t pool, chosen;
};

Published published(const SamplingOptions& o, const Windows& from, int64_t epoch, int64_t epochs) {
  const double p = std::min(1.0, static_cast<double>(epoch) / static_cast<double>(epochs));
  Published out{};
  out.ratio = o.curriculum_start_ratio + p * (o.curriculum_end_ratio - o.curriculum_start_ratio);
  out.percentile =
      o.difficulty_percentile + p * (o.difficulty_percentile_end - o.difficulty_percentile);
  std::vector<double> sorted = from.difficulty;
  std::sort(sorted.begin(), sorted.end());
  const auto at = static_cast<std::size_t>(
      std::floor(static_cast<double>(sorted.size()) * out.percentile / 100));
  out.threshold = sorted[std::min(at, sorted.size() - 1)];
  out.pool = static_cast<std::size_t>(
      std::count_if(sorted.begin(), sorted.end(), [&](double d) { return d >= out.threshold; }));
  const double wanted = std::floor(static_cast<double>(from.attacks.size()) * out.ratio);
  out.chosen = std::min(std::max<std::size_t>(1, static_cast<std::size_t>(wanted)), out.pool);
  return out;
}

}  // namespace

TEST_CASE("a ratio schedule draws what the published rule says, from the pool", "[sampling]") {
  for (const auto& [attacks, benign] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {1, 50}, {7, 3}, {10, 400}, {60, 90}, {3, 1000}}) {
    for (const auto& [start, end] :
         std::vector<std::pair<double, double>>{{75, 95}, {75, 0}, {0, 100}, {100, 100}, {0, 0}}) {
      SamplingOptions o = curriculum();
      o.difficulty_percentile = start;
      o.difficulty_percentile_end = end;
      const Windows from = windows(attacks, benign);
      CurriculumSampler sampler(o, 12, from, 5, {});
      for (int64_t epoch = 0; epoch < 14; ++epoch) {
        INFO(attacks << " attacks, " << benign << " benign, percentile " << start << " to " << end
                     << ", epoch " << epoch);
        const Draw d = draw(sampler, from, epoch);
        const Published p = published(o, from, epoch, 12);
        CHECK(d.benign.size() == p.chosen);
        CHECK(d.composition.at("pool") == p.pool);
        CHECK(d.composition.at("threshold") == p.threshold);
        CHECK(d.composition.at("percentile").get<double>() == Approx(p.percentile));
        CHECK(d.composition.at("ratio_wanted").get<double>() == Approx(p.ratio));
        double sum = 0;
        for (const int64_t id : d.benign) {
          CHECK(difficulty_of(from, id) >= p.threshold);
          sum += difficulty_of(from, id);
        }
        CHECK(d.composition.at("mean_difficulty").get<double>() ==
              Approx(sum / static_cast<double>(d.benign.size())));
      }
    }
  }
}

TEST_CASE("a curriculum moves from epoch to epoch, and with the seed", "[sampling]") {
  const Windows from = windows(20, 2000);
  CurriculumSampler sampler(curriculum(), 10, from, 5, {});
  CurriculumSampler other(curriculum(), 10, from, 6, {});
  std::vector<double> thresholds;
  std::vector<std::set<int64_t>> seen;
  for (int64_t epoch = 0; epoch < 10; ++epoch) {
    const Draw d = draw(sampler, from, epoch);
    thresholds.push_back(d.composition.at("threshold"));
    const bool is_whole_pool = d.composition.at("pool") == d.benign.size();
    CHECK((draw(other, from, epoch).benign != d.benign || is_whole_pool));
    for (const auto& before : seen) CHECK(before != d.benign);
    seen.push_back(d.benign);
  }
  CHECK(std::is_sorted(thresholds.begin(), thresholds.end()));
  CHECK(thresholds.front() < thresholds.back());
  // Not the first of the pool in the order of the data, as published: the last occur too.
  CHECK(*seen[0].rbegin() > 1000 + 7 * 1500);
}

TEST_CASE("the pool decides the ratio where it is smaller than what is asked for", "[sampling]") {
  const Windows from = windows(100, 1000);
  CurriculumSampler shrinks(curriculum(), 10, from, 5, {});
  std::vector<double> ratio;
  for (int64_t epoch = 0; epoch <= 10; ++epoch) {
    ratio.push_back(draw(shrinks, from, epoch).composition.at("ratio"));
  }
  CHECK(ratio.front() == 1);
  CHECK(*std::max_element(ratio.begin(), ratio.end()) < 3);
  CHECK(ratio.back() < 1);
  SamplingOptions o = curriculum();
  o.difficulty_percentile_end = 0;
  CurriculumSampler grows(o, 10, from, 5, {});
  CHECK(draw(grows, from, 10).composition.at("ratio") == 10);
}

TEST_CASE("a momentum schedule goes from balanced to natural around the hardest", "[sampling]") {
  for (const auto& [attacks, benign] :
       std::vector<std::pair<int64_t, int64_t>>{{10, 400}, {60, 90}, {90, 60}, {1, 1}, {5, 2}}) {
    SamplingOptions o = curriculum("momentum");
    o.momentum_tau = 4;
    const Windows from = windows(attacks, benign);
    CurriculumSampler sampler(o, 30, from, 5, {});
    std::vector<double> hardest = from.difficulty;
    std::sort(hardest.rbegin(), hardest.rend());
    std::size_t before = 0;
    for (int64_t epoch = 0; epoch < 30; ++epoch) {
      INFO(attacks << " attacks, " << benign << " benign, epoch " << epoch);
      const Draw d = draw(sampler, from, epoch);
      const double natural = 1 - std::exp(-static_cast<double>(epoch) / 4);
      const auto least = static_cast<double>(std::min(attacks, benign));
      CHECK(d.benign.size() == static_cast<std::size_t>((1 - natural) * least +
                                                        natural * static_cast<double>(benign)));
      CHECK(d.benign.size() >= before);
      before = d.benign.size();
      const auto hard = static_cast<std::size_t>(0.2 * static_cast<double>(d.benign.size()));
      CHECK(d.composition.at("hard_buffer") == hard);
      std::vector<double> drawn;
      for (const int64_t id : d.benign) drawn.push_back(difficulty_of(from, id));
      std::sort(drawn.rbegin(), drawn.rend());
      for (std::size_t i = 0; i < hard; ++i) CHECK(drawn[i] == hardest[i]);
    }
  }
  SamplingOptions o = curriculum("momentum");  // tau = a third of the epochs
  const Windows from = windows(10, 1000);
  CurriculumSampler sampler(o, 30, from, 5, {});
  CHECK(draw(sampler, from, 0).benign.size() == 10);
  CHECK(draw(sampler, from, 30).benign.size() > 900);
}

TEST_CASE("balanced draws as many benign windows, others each epoch", "[sampling]") {
  for (const auto& [attacks, benign] :
       std::vector<std::pair<int64_t, int64_t>>{{10, 400}, {60, 60}, {90, 60}, {1, 1}, {1, 2}}) {
    const Windows from = windows(attacks, benign);
    train::BalancedSampler sampler(from, 5);
    std::set<int64_t> all;
    for (int64_t epoch = 0; epoch < 800; ++epoch) {
      const Draw d = draw(sampler, from, epoch);
      CHECK(d.benign.size() == static_cast<std::size_t>(std::min(attacks, benign)));
      all.insert(d.benign.begin(), d.benign.end());
    }
    CHECK(all.size() == static_cast<std::size_t>(benign));  // each has its turn
  }
}

TEST_CASE("every benign window of the pool is as likely", "[sampling]") {
  Windows from = windows(10, 40);
  SamplingOptions o = curriculum();
  o.difficulty_percentile = o.difficulty_percentile_end = 50;
  o.curriculum_end_ratio = 1;
  CurriculumSampler sampler(o, 1000, from, 9, {});
  std::map<int64_t, int> drawn;
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    json ignored;
    for (const int64_t id : sampler.draw(epoch, ignored)) {
      if (id >= 1000) ++drawn[id];
    }
  }
  const Published p = published(o, from, 0, 1000);
  REQUIRE(drawn.size() == p.pool);
  const double expected = 1000.0 * 10 / static_cast<double>(p.pool);
  double chi2 = 0;
  for (const auto& [id, count] : drawn) chi2 += std::pow(count - expected, 2) / expected;
  CHECK(chi2 < 60);  // 99.999 % quantile for about 20 windows; the draws are seeded
}

TEST_CASE("ranks are in [0, 1], equal values share theirs", "[sampling]") {
  using V = std::vector<double>;
  CHECK(train::unit_ranks({3, 1, 2}) == V{1, 0, 0.5});
  CHECK(train::unit_ranks({5, 5, 7, 5, 9}) == V{0.25, 0.25, 0.75, 0.25, 1});
  CHECK(train::unit_ranks({4}) == V{0});
  CHECK(train::unit_ranks({}).empty());
}

TEST_CASE("the classifier's score is half of the difficulty once it is asked", "[sampling]") {
  Windows from = windows(4, 40);
  SamplingOptions o = curriculum();
  o.difficulty_cache_update = 3;
  o.curriculum_end_ratio = 1;
  int asked = 0;
  const CurriculumSampler::Score score = [&](const std::vector<int64_t>& ids,
                                             const std::function<void()>&) {
    ++asked;
    CHECK(ids == from.benign);
    std::vector<float> out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out.push_back(static_cast<float>((ids.size() - i + static_cast<std::size_t>(asked)) % 40));
    }
    return out;
  };
  CurriculumSampler sampler(o, 12, from, 5, score);
  const auto in_use = [](const CurriculumSampler& s) {
    const at::Tensor t = s.state().at(0).second;
    return std::vector<double>(t.const_data_ptr<double>(), t.const_data_ptr<double>() + t.numel());
  };
  for (int64_t epoch = 0; epoch < 7; ++epoch) {
    sampler.prepare(epoch, [] {});
    CHECK(asked == epoch / 3);
    json composition = json::object();
    sampler.draw(epoch, composition);
    CHECK(composition.value("scored_in_epoch", int64_t{0}) == (epoch < 3 ? 0 : epoch / 3 * 3 + 1));
  }
  std::vector<double> scores(40);
  for (std::size_t i = 0; i < 40; ++i) scores[i] = static_cast<double>((40 - i + 2) % 40);
  const std::vector<double> mine = train::unit_ranks(scores),
                            given = train::unit_ranks(from.difficulty);
  for (std::size_t i = 0; i < 40; ++i) CHECK(in_use(sampler)[i] == (mine[i] + given[i]) / 2);

  // Another process continues in the middle of an epoch: no prepare(), the state is put back.
  CurriculumSampler later(o, 12, from, 5, {});
  later.state().at(0).second.copy_(sampler.state().at(0).second);
  json ignored;
  CHECK(later.draw(6, ignored) == sampler.draw(6, ignored));
  CHECK(later.identity() == sampler.identity());

  const CurriculumSampler::Score broken = [](const std::vector<int64_t>& ids,
                                             const std::function<void()>&) {
    std::vector<float> out(ids.size(), 0);
    out[2] = std::numeric_limits<float>::quiet_NaN();
    return out;
  };
  CurriculumSampler diverged(o, 12, from, 5, broken);
  CHECK_THROWS_WITH(diverged.prepare(3, [] {}),
                    Catch::Contains("the score of graph 1014 is not finite"));
}

TEST_CASE("a rescoring that is cancelled leaves the difficulties as they were", "[sampling]") {
  SamplingOptions o = curriculum();
  o.difficulty_cache_update = 3;
  const CurriculumSampler::Score score = [](const std::vector<int64_t>& ids,
                                            const std::function<void()>& check) {
    check();
    return std::vector<float>(ids.size(), 1);
  };
  CurriculumSampler sampler(o, 12, windows(4, 40), 5, score);
  const at::Tensor before = sampler.state().at(0).second.clone();
  const auto cancelled = [] { throw Error(ExitCode::kRequeue, "cancelled"); };
  CHECK_THROWS_WITH(sampler.prepare(3, cancelled), "cancelled");
  CHECK(at::equal(sampler.state().at(0).second, before));
  sampler.prepare(3, [] {});
  CHECK_FALSE(at::equal(sampler.state().at(0).second, before));
}

TEST_CASE("the control has random difficulties, other ones when scored again", "[sampling]") {
  Windows from = windows(4, 40);
  from.difficulty.clear();
  SamplingOptions o = curriculum();
  o.use_vgae_mining = false;
  o.difficulty_cache_update = 2;
  CurriculumSampler sampler(o, 12, from, 5, {});
  const auto in_use = [&] { return sampler.state().at(0).second.clone(); };
  const at::Tensor first = in_use();
  sampler.prepare(1, [] {});
  CHECK(at::equal(in_use(), first));
  sampler.prepare(2, [] {});
  CHECK_FALSE(at::equal(in_use(), first));
  CHECK(first.min().item<double>() >= 0);
  CHECK(first.max().item<double>() < 1);
  CHECK(first.std().item<double>() > 0.2);
}

TEST_CASE("a sampler refuses windows it cannot choose among", "[sampling]") {
  Windows from = windows(0, 5);
  CHECK_THROWS_WITH(train::BalancedSampler(from, 1), Catch::Contains("there are 5 and 0"));
  CHECK_THROWS_WITH(CurriculumSampler(curriculum(), 3, windows(2, 0), 1, {}),
                    Catch::Contains("there are 0 and 2"));
  from = windows(2, 5);
  from.difficulty.pop_back();
  CHECK_THROWS_WITH(CurriculumSampler(curriculum(), 3, from, 1, {}),
                    Catch::Contains("4 difficulties for 5 benign windows"));
  from.difficulty.push_back(std::nan(""));
  CHECK_THROWS_WITH(CurriculumSampler(curriculum(), 3, from, 1, {}),
                    Catch::Contains("the difficulty of graph 1028 is not finite"));
}

TEST_CASE("classes are drawn alike, the smallest as a whole, others anew each epoch",
          "[sampling]") {
  std::vector<int64_t> ids, labels;
  for (int64_t i = 0; i < 30; ++i) {
    ids.push_back(100 + i);
    labels.push_back(i < 4 ? 0 : i < 14 ? 1 : 5);
  }
  train::ClassSampler sampler(ids, labels, 3), same(ids, labels, 3);
  std::set<std::vector<int64_t>> drawn;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    json composition;
    const std::vector<int64_t> of_epoch = sampler.draw(epoch, composition);
    std::map<int64_t, std::set<int64_t>> by_class;
    for (const int64_t id : of_epoch)
      by_class[labels[static_cast<std::size_t>(id - 100)]].insert(id);
    for (const int64_t label : {0, 1, 5}) CHECK(by_class[label].size() == 4);
    CHECK(composition == json{{"classes", 3}, {"of_each_class", 4}});
    json unused;
    CHECK(same.draw(epoch, unused) == of_epoch);
    drawn.insert(of_epoch);
  }
  CHECK(drawn.size() == 4);
  CHECK_THROWS(train::ClassSampler({}, {}, 1));
}
