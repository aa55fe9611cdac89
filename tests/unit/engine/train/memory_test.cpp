// Out of memory while training: an allocation of a short run fails, and the run ends as if nothing
// had happened, or says so and leaves what was there.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/memory/arena.h"
#include "engine/memory/out_of_memory.h"
#include "kdgat/host_memory.h"
#include "support/catch_torch.h"
#include "support/graphs/weights.h"
#include "support/programs/soak.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using Autoencoder = memory::Guarded<autoencoder::Autoencoder>;
using Classifier = memory::Guarded<classifier::Classifier>;
using test::json;
namespace fs = std::filesystem;

namespace {

/// One of so many requests is tried; in scripts/soak every one.
int64_t fail_every() { return std::max(1, 20 / test::soak(1)); }

/// Of three or four steps.
template <class Options>
Options short_run(Options o) {
  o.max_epochs = 1;
  o.batch_size = 40;
  o.optimize_batch_size = false;
  return o;
}

autoencoder::AutoencoderOptions short_autoencoder() {
  auto o = short_run(test::small_autoencoder());
  o.norm = "graph";  // a split step is the same step
  return o;
}

classifier::ClassifierOptions short_classifier() { return short_run(test::small_classifier()); }

using test::difference;
using test::Weights;
using test::weights_in;

/// No file of a folder is half-written.
bool is_whole(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().find(".tmp.") != std::string::npos) return false;
    if (entry.path().extension() == ".safetensors") file::SafetensorsFile::open(entry.path());
  }
  return true;
}

template <class Stage, class Options>
void fail_in_turn(const Options& options) {
  test::StageFixture f;
  memory::Arena& arena = memory::Arena::instance();
  Request request = f.request("stage");
  Stage::run(options, request, f.fake.host);  // loads what later runs find
  fs::remove_all(request.run_dir);
  fs::create_directories(request.run_dir);
  const int64_t before = arena.counters().allocations;
  const json plain = Stage::run(options, request, f.fake.host);
  const int64_t requests = arena.counters().allocations - before;
  const Weights wanted = weights_in(request.run_dir);
  REQUIRE(requests > 500);

  int finished = 0, split = 0, ended = 0;
  for (int64_t n = 1; n <= requests; n += fail_every()) {
    INFO("request " << n << " of " << requests << " fails");
    fs::remove_all(request.run_dir);
    fs::create_directories(request.run_dir);
    f.fake.memory.clear();
    arena.fail_allocation(n);
    try {
      const json result = Stage::run(options, request, f.fake.host);
      arena.fail_allocation(0);
      ++finished;
      split += result.at("memory").at("actual").at("splits").get<int>();
    } catch (const Error& error) {
      arena.fail_allocation(0);
      REQUIRE(error.code() == ExitCode::kHostMemory);
      REQUIRE(fs::exists(request.run_dir / "oom-report.md"));
      REQUIRE(is_whole(request.run_dir));
      ++ended;
      Stage::run(options, request, f.fake.host);  // goes on from what is there
    }
    REQUIRE(is_whole(request.run_dir));
    REQUIRE(difference(weights_in(request.run_dir), wanted) < 2e-5);
  }
  CHECK(finished > 0);
  CHECK(split > 0);
  CHECK(ended > 0);
}

}  // namespace

TEST_CASE("a step computed in another way is the same step", "[memory]") {
  struct Row {
    const char* name;
    double tolerance;  // of a weight after the step; 0: bit by bit
    std::function<void(train::TrainOptions&)> change;
    bool fails = false;  // an allocation in the middle of the step
  };
  // Adam's first step is lr * sign(gradient) but for epsilon: what rounding does to a gradient near
  // epsilon shows, at most.
  constexpr double kRounding = 2e-5;
  const std::vector<Row> table = {
      {"again", 0, [](auto&) {}},
      {"checkpointing", 0, [](auto& o) { o.gradient_checkpointing = !o.gradient_checkpointing; }},
      {"memory given back every step", 0,
       [](auto& o) {
         o.cache_policy = {"every:1", "epoch"};
       }},
      {"measured memory", 0, [](auto& o) { o.memory_estimation = "measured"; }},
      {"accumulation", kRounding,
       [](auto& o) {
         o.batch_size = 40;
         o.accumulate_grad_batches = 4;
       }},
      {"split after out of memory", kRounding, [](auto&) {}, true},
      {"split while accumulating", kRounding,
       [](auto& o) {
         o.batch_size = 80;
         o.accumulate_grad_batches = 2;
       },
       true}};
  int64_t requests = 0;  // of the last run
  const auto check = [&](const auto& run, auto options) {
    options.batch_size = 1000;  // one step
    options.memory_estimation = "static";
    const Weights wanted = run(options, 0).first;
    const int64_t all = requests;
    for (const Row& row : table) {
      INFO(row.name);
      auto changed = options;
      row.change(changed);
      // Of the requests in the middle of a run most are of the step.
      bool compared = false;
      for (int64_t n = row.fails ? all / 2 : 0; n <= all && !compared; n += all / 40) {
        const auto [weights, splits] = run(changed, n);
        if (row.fails && splits == 0) continue;
        CHECK(splits == (row.fails ? 1 : 0));
        CHECK(difference(weights, wanted) <= row.tolerance);
        compared = true;
      }
      CHECK(compared);
    }
  };
  test::StageFixture f;
  const auto runner = [&](auto stage) {
    return [&, stage](const auto& options, int64_t failing) {
      using Stage = decltype(stage);
      const Request request = f.request("stage");
      fs::remove_all(request.run_dir);
      fs::create_directories(request.run_dir);
      memory::Arena& arena = memory::Arena::instance();
      const int64_t before = arena.counters().allocations;
      arena.fail_allocation(failing);
      json result;
      try {
        result = Stage::run(options, request, f.fake.host);
      } catch (const Error&) {  // it was no request of the step
        return std::pair(Weights(), int64_t{0});
      }
      arena.fail_allocation(0);
      requests = arena.counters().allocations - before;
      return std::pair(weights_in(request.run_dir),
                       result.at("memory").at("actual").at("splits").get<int64_t>());
    };
  };
  check(runner(Autoencoder()), short_autoencoder());
  check(runner(Classifier()), short_classifier());
}

TEST_CASE("a measured plan holds where the gradients of several batches are added", "[memory]") {
  test::StageFixture f;
  auto o = short_classifier();
  o.hidden = 64;  // weights are most of what is held
  o.layers = 3;
  o.fc_layers = 4;
  o.batch_size = 8;
  o.memory_estimation = "measured";
  for (const int64_t batches : {1, 4}) {
    INFO(batches << " batches a step");
    o.accumulate_grad_batches = batches;
    const json memory =
        Classifier::run(o, f.request("of_" + std::to_string(batches)), f.fake.host).at("memory");
    const auto planned = memory.at("planned").at("predicted").get<double>();
    const auto seen = memory.at("actual").at("peak_tensor_bytes").get<double>();
    CHECK(planned * (1 + memory.at("planned").at("margin").get<double>()) >= seen);
    CHECK(planned < 1.1 * seen);
  }
}

TEST_CASE("an autoencoder survives the failure of any allocation", "[memory][oom]") {
  fail_in_turn<Autoencoder>(short_autoencoder());
}

TEST_CASE("a classifier survives the failure of any allocation", "[memory][oom]") {
  fail_in_turn<Classifier>(short_classifier());
}

TEST_CASE("a step that does not fit is computed in parts, under the limit", "[memory][oom]") {
  test::StageFixture f;
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  auto o = short_classifier();
  o.batch_size = 160;
  o.hidden = 256;
  o.layers = 3;
  const json plain = Classifier::run(o, f.request("plain"), f.fake.host);
  const json& needed = plain.at("memory").at("actual");
  CHECK(needed.at("splits") == 0);
  const int64_t step = plain.at("memory").at("planned").at("table").at("step");
  REQUIRE(step > 4 << 20);

  Request request = f.request("split");
  // What the process holds beside tensors, the spare the stage keeps of a limit, all that is held,
  // and two thirds of a step: the batch is exact, so the plan may not lower it.
  const int64_t held = needed.at("peak_tensor_bytes").get<int64_t>() - step;
  trim_heap();  // as the stage does
  const int64_t beside = memory::anonymous_memory() - meter.counters().reserved;
  request.memory.limit =
      static_cast<int64_t>(1.016 * static_cast<double>(beside + (7 << 20) + held + step * 2 / 3));
  const json split = Classifier::run(o, request, f.fake.host);
  const int64_t limit = meter.limit();
  meter.set_limit(0);
  CHECK(split.at("memory").at("actual").at("splits").get<int>() > 0);
  CHECK(split.at("memory").at("actual").at("peak_reserved_bytes").get<int64_t>() <= limit);
  CHECK(std::any_of(f.fake.memory.begin(), f.fake.memory.end(), [](const json& event) {
    return event.at("event") == "split" && event.at("same_step") == true;
  }));
  CHECK(difference(weights_in(f.folder / "split"), weights_in(f.folder / "plain")) < 2e-5);
}

TEST_CASE("a soak: epoch after epoch a process holds no more", "[memory]") {
  test::StageFixture f;
  auto o = test::small_classifier();
  o.max_epochs = test::soak(10);
  o.patience = o.max_epochs;
  Classifier::run(o, f.request("soak"), f.fake.host);
  REQUIRE(static_cast<int64_t>(f.fake.epochs.size()) == o.max_epochs);
  const std::size_t third = f.fake.epochs.size() / 3;
  const auto mean_rss = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t i = first; i < first + third; ++i) {
      sum += f.fake.epochs[i].at("memory").at("rss_anon").get<double>();
    }
    return sum / static_cast<double>(third);
  };
  CHECK(mean_rss(2 * third) - mean_rss(third) < 1 << 20);
  CHECK(f.fake.epochs.back().at("memory").at("allocated") ==
        f.fake.epochs[third].at("memory").at("allocated"));
}

TEST_CASE("below the floor a run names the smallest limit, and that one works", "[memory][oom]") {
  test::StageFixture f;
  auto o = short_classifier();
  o.optimize_batch_size = true;
  Request request = f.request("small");
  Classifier::run(o, request, f.fake.host);  // loads what later runs find
  fs::remove_all(request.run_dir);
  fs::create_directories(request.run_dir);
  request.memory.limit = 20 << 20;
  int64_t least = 0;
  try {
    Classifier::run(o, request, f.fake.host);
    FAIL("it fits");
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::kDoesNotFit);
    const std::string text = error.what();
    const std::string words = "smallest memory that works is ";
    REQUIRE_THAT(text, Catch::Contains(words));
    least = std::stoll(text.substr(text.find(words) + words.size()));
  }
  CHECK_FALSE(fs::exists(request.run_dir / "model.safetensors"));
  request.memory.limit = least << 20;
  const json result = Classifier::run(o, request, f.fake.host);
  const int64_t limit = memory::meter(torch::kCPU).limit();
  memory::meter(torch::kCPU).set_limit(0);
  CHECK(result.at("memory").at("actual").at("peak_reserved_bytes").get<int64_t>() <= limit);
}

TEST_CASE("a stage plans with no more than the limits that its program read",
          "[memory][oom][alone]") {
  test::StageFixture f;
  auto o = short_classifier();
  o.optimize_batch_size = true;
  Request request = f.request("told");
  request.memory.available = 20 << 20;
  try {
    Classifier::run(o, request, f.fake.host);
    FAIL("it fits");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kDoesNotFit);
    CHECK_THAT(std::string(error.what()), Catch::Contains("smallest memory that works is "));
  }
  // A larger limit of the user's does not change that.
  request.memory.limit = int64_t{4} << 30;
  CHECK_THROWS_AS(Classifier::run(o, request, f.fake.host), Error);
  request.memory.available = memory::anonymous_memory() + (256 << 20);
  const json result = Classifier::run(o, request, f.fake.host);
  const int64_t limit = memory::meter(torch::kCPU).limit();
  memory::meter(torch::kCPU).set_limit(0);
  CHECK(result.at("memory").at("planned").at("device").at("total") <= request.memory.available);
  CHECK(limit < 256 << 20);
}
