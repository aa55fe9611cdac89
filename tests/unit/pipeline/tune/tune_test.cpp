// What is tried in a sweep, who is admitted when, and which trials are stopped early.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

#include "pipeline/tune/admission.h"
#include "pipeline/tune/space.h"
#include "pipeline/tune/sweep.h"
#include "pipeline/tune/sweep_table.h"

using namespace kdgat;

namespace {

constexpr int64_t kMiB = int64_t{1} << 20, kGiB = int64_t{1} << 30;

std::set<std::string> names_of(const std::vector<TrialSpec>& trials) {
  std::set<std::string> out;
  for (const TrialSpec& trial : trials) out.insert(trial.name);
  return out;
}

}  // namespace

TEST_CASE("values to try are lists and ranges") {
  const auto list = read_dimension("lr", "[0.001, 0.01]", false);
  REQUIRE(list);
  CHECK(list->values == std::vector<std::string>{"0.001", "0.01"});
  CHECK_FALSE(read_dimension("lr", "0.001", false));
  CHECK_FALSE(read_dimension("name", "plain(text)", false));

  // One value of the option is a list itself.
  CHECK_FALSE(read_dimension("hidden_dims", "[480,240]", true));
  const auto lists = read_dimension("hidden_dims", "[[480,240],[64]]", true);
  REQUIRE(lists);
  CHECK(lists->values == std::vector<std::string>{"[480,240]", "[64]"});

  const auto range = read_dimension("lr", "log(1e-4, 1e-2)", false);
  REQUIRE(range);
  CHECK(range->range->from == 1e-4);
  CHECK(range->range->to == 1e-2);

  CHECK_THROWS_AS(read_dimension("lr", "log(0,1)", false), Error);
  CHECK_THROWS_AS(read_dimension("lr", "uniform(2,1)", false), Error);
  CHECK_THROWS_AS(read_dimension("lr", "int(2)", false), Error);
  CHECK_THROWS_AS(read_dimension("lr", "[1,,2]", false), Error);
  CHECK_THROWS_AS(read_dimension("lr", "[]", false), Error);
}

TEST_CASE("a grid has every combination once, under names that are folders") {
  const auto trials = grid_trials({*read_dimension("hidden_dim", "[16,32]", false),
                                   *read_dimension("classifier.lr", "[0.1,0.01,1e-3]", false)});
  CHECK(trials.size() == 6);
  CHECK(names_of(trials).size() == 6);
  CHECK(trials.front().name == "h16-lr0.1");
  for (const TrialSpec& trial : trials) CHECK(trial.name.find('/') == std::string::npos);
  // Names that would be the same are told apart.
  const auto odd = grid_trials({*read_dimension("path", "[a/b,a-b]", false)});
  CHECK(odd.front().name == "patha-b");
  CHECK(odd.back().name == "patha-b-2");
  CHECK_THROWS_AS(grid_trials({*read_dimension("lr", "log(1e-4,1e-2)", false)}), Error);
}

TEST_CASE("random trials are a function of the seed and keep to their ranges") {
  const std::vector<Dimension> space = {*read_dimension("lr", "log(1e-4,1e-2)", false),
                                        *read_dimension("hidden", "int(3,7)", false),
                                        *read_dimension("dropout", "uniform(0,0.5)", false),
                                        *read_dimension("loss", "[mse,combined]", false)};
  const auto trials = random_trials(space, 200, 7);
  CHECK(trials.size() == 200);
  int below = 0;
  std::set<std::string> widths;
  for (const TrialSpec& trial : trials) {
    const double lr = std::stod(trial.values[0].second), width = std::stod(trial.values[1].second);
    CHECK((lr >= 0.99e-4 && lr <= 1.01e-2));
    CHECK((width >= 3 && width <= 7));
    CHECK((std::stod(trial.values[2].second) >= 0 && std::stod(trial.values[2].second) <= 0.5));
    if (lr < 1e-3) ++below;
    widths.insert(trial.values[1].second);
  }
  CHECK((below > 60 && below < 140));  // half of a logarithmic range lies below its middle
  CHECK(widths.size() == 5);
  CHECK(random_trials(space, 200, 7).front().values == trials.front().values);
  CHECK(random_trials(space, 200, 8).front().values != trials.front().values);
  // A space of two points has two trials, however many are drawn.
  CHECK(random_trials({*read_dimension("a", "[1,2]", false)}, 50, 1).size() == 2);
}

TEST_CASE("the published sweeps have as many configurations as published") {
  CHECK(published_trials("example").size() == 11);
  CHECK(published_trials("architecture").size() == 30);
  CHECK(published_trials("loss").size() == 5);
  CHECK(published_trials("grid").size() == 16);
  CHECK(published_trials("other").empty());
  for (const char* mode : {"example", "architecture", "loss", "grid"}) {
    CHECK(names_of(published_trials(mode)).size() == published_trials(mode).size());
  }
  CHECK(published_trials("architecture").front().name == "h16-l1");
  CHECK(published_trials("architecture").back().name == "h512-l5");
}

TEST_CASE("admission takes the largest that fits and fills what is left with smaller ones") {
  Admission admission({{"a", 100}}, 0);
  for (const auto& [trial, bytes] :
       std::vector<std::pair<std::size_t, int64_t>>{{0, 30}, {1, 80}, {2, 25}, {3, 10}}) {
    admission.add(trial, bytes);
  }
  CHECK(admission.next()->trial == 1);
  CHECK(admission.next()->trial == 3);  // 30 and 25 wait for more
  CHECK_FALSE(admission.next());
  CHECK(admission.reserved(0) == 90);
  admission.finish(1);
  CHECK(admission.next()->trial == 0);
  CHECK(admission.next()->trial == 2);
  CHECK_FALSE(admission.next());
  for (const std::size_t trial : {0, 2, 3}) admission.finish(trial);
  CHECK(admission.is_idle());
  CHECK(admission.reserved(0) == 0);
}

TEST_CASE("a second device takes trials by the memory it has free") {
  Admission admission({{"small", 40}, {"large", 100}}, 0);
  for (std::size_t i = 0; i < 4; ++i) admission.add(i, 35);
  CHECK(admission.next()->device == 1);
  CHECK(admission.next()->device == 1);  // 65 free there, 40 here
  CHECK(admission.next()->device == 0);
  CHECK_FALSE(admission.next());
  CHECK(admission.waiting() == 1);
}

TEST_CASE("a trial out of memory waits for twice as much, at last for a device of its own") {
  Admission admission({{"a", 100}}, 0);
  admission.add(0, 30);
  admission.add(1, 30);
  admission.next();
  admission.next();
  CHECK(admission.requeue_larger(0));
  CHECK(admission.next()->bytes == 60);  // beside the 30 of the other
  CHECK(admission.requeue_larger(0));
  CHECK_FALSE(admission.next());
  admission.finish(1);
  CHECK(admission.next()->bytes == 100);
  CHECK_FALSE(admission.requeue_larger(0));  // there is no more
  CHECK(admission.is_idle());
  CHECK(admission.reserved(0) == 0);
}

TEST_CASE("no reservation is exceeded and none is lost, whatever trials come") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    const std::size_t devices = 1 + random() % 3, trials = 1 + random() % 40;
    std::vector<DeviceRoom> rooms;
    for (std::size_t i = 0; i < devices; ++i) {
      rooms.push_back({"d", static_cast<int64_t>(50 + random() % 100)});
    }
    const std::size_t at_once = random() % 4;  // 0 = no bound
    Admission admission(rooms, at_once);
    for (std::size_t i = 0; i < trials; ++i) admission.add(i, static_cast<int64_t>(random() % 200));
    std::vector<std::size_t> running, ended;
    while (admission.waiting() > 0 || !running.empty()) {
      while (const auto start = admission.next()) running.push_back(start->trial);
      REQUIRE_FALSE(running.empty());  // what waits can always run in the end
      CHECK((at_once == 0 || running.size() <= at_once));
      for (std::size_t i = 0; i < devices; ++i) CHECK(admission.reserved(i) <= rooms[i].bytes);
      const std::size_t pick = random() % running.size();
      const std::size_t trial = running[pick];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(pick));
      if (random() % 5 == 0 && admission.requeue_larger(trial)) continue;
      admission.finish(trial);
      ended.push_back(trial);
    }
    std::sort(ended.begin(), ended.end());
    CHECK(ended.size() == trials);
    CHECK(std::adjacent_find(ended.begin(), ended.end()) == ended.end());
  }
}

TEST_CASE("the published rule admits nine trials on 16 GB") {
  CHECK(published_workers(16, 2, 1.5) == 9);
  CHECK(published_workers(8, 2, 1.5) == 4);
  CHECK(published_workers(12, 2, 1.5) == 6);
  CHECK(published_workers(24, 2, 1.5) == 14);
  CHECK(published_workers(32, 2, 1.5) == 20);
  CHECK(published_workers(2, 2, 1.5) == 1);
}

TEST_CASE("a simulated device runs trials by their bytes and seconds") {
  // Eight of a second each, two at once.
  const std::vector<MeasuredTrial> equal(8, {kGiB, kGiB / 2, 1});
  Simulation simulation = simulate(equal, {{"a", 2 * kGiB}}, 0);
  CHECK(simulation.seconds == Approx(4.0));
  CHECK(simulation.mean_admitted == Approx(2.0));
  CHECK(simulation.peak_reserved == 2 * kGiB);
  CHECK(simulation.exceeded == 0);
  // All at once where there is memory for all.
  simulation = simulate(equal, {{"a", 100 * kGiB}}, 0);
  CHECK(simulation.seconds == Approx(1.0));
  CHECK(simulation.mean_admitted == Approx(8.0));
  // One that needed more than was reserved is told.
  CHECK(simulate({{kMiB, 2 * kMiB, 1}}, {{"a", kGiB}}, 0).exceeded == 1);
}

TEST_CASE("successive halving lets the best third of a rung go on") {
  Rungs rungs(1, 3, /*is_less_better=*/true);
  CHECK(rungs.goes_on(1, 2, 100));  // no rung
  CHECK(rungs.goes_on(2, 1, 0.5));  // too few to compare with
  CHECK(rungs.goes_on(3, 1, 0.9));
  CHECK_FALSE(rungs.goes_on(4, 1, 0.7));
  CHECK(rungs.goes_on(5, 1, 0.1));
  CHECK_FALSE(rungs.goes_on(6, 1, 0.4));
  CHECK(rungs.goes_on(7, 1, 0.2));  // second of six
  CHECK(rungs.goes_on(8, 3, 9));    // a rung of its own
  // Continued, a trial says its epochs again: six trials stay six.
  CHECK(rungs.goes_on(7, 1, 0.2));
  CHECK_FALSE(rungs.goes_on(6, 1, 0.4));
  Rungs more(2, 2, /*is_less_better=*/false);
  CHECK(more.goes_on(9, 2, 0.5));
  CHECK(more.goes_on(10, 2, 0.6));
  CHECK_FALSE(more.goes_on(11, 2, 0.4));
}

TEST_CASE("trials are compared by validation, losses and errors downward") {
  CHECK(choose_metric("val_ndcg", {{"monitor_metric", "val_loss"}}) == "val_ndcg");
  CHECK(choose_metric("", {{"monitor_metric", "val_loss"}}) == "val_loss");
  CHECK(choose_metric("", nlohmann::json::object()) == "val_rmse");
}

TEST_CASE("test data are told of the chosen trial alone") {
  SweepRecord record;
  record.options.metric = "val_rmse";
  for (const double value : {0.9, 0.8, 1.1}) {
    Trial trial;
    trial.name = "t" + std::to_string(record.trials.size());
    trial.state = "done";
    trial.value = value;
    trial.metrics = {{"val_rmse", value}, {"test_rmse", value + 0.1}};
    record.trials.push_back(trial);
  }
  record.trials.push_back(record.trials[1]);
  record.trials.back().stopped_at = 1;  // stopped early: not what the others are compared with
  record.trials.back().value = 0.1;
  const SavedSweep out = record.saved();
  CHECK(out.best == "t1");
  CHECK(out.trials[1].metric("test_rmse") == 0.8 + 0.1);
  CHECK_FALSE(out.trials[0].metric("test_rmse"));
  CHECK_FALSE(out.trials[2].metric("test_rmse"));
  CHECK(out.trials[2].metric("val_rmse") == 1.1);
  const auto written = record::write<nlohmann::json>(out);
  CHECK(written.at("trials")[3].at("stopped_at") == 1);
  CHECK_FALSE(written.at("trials")[0].contains("stopped_at"));
  CHECK(record::write<nlohmann::json>(record::read<SavedSweep>(written)) == written);
  CHECK(best_lines(out).find("0.9000") != std::string::npos);
  CHECK(trials_table(out).find("t1") < trials_table(out).find("t0"));
}
