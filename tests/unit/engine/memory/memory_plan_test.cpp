#include "engine/memory/memory_plan.h"

#include <cmath>

#include "engine/memory/cache_policy.h"
#include "kdgat/error.h"
#include "support/catch_torch.h"

using namespace kdgat;
using memory::Footprint;
using memory::MemoryPlan;

namespace {

constexpr int64_t kMebibyte = 1 << 20;

Footprint some_footprint() {
  Footprint f;
  f.parameters = 10 * kMebibyte;
  f.embeddings = 5 * kMebibyte;
  f.gradients = 10 * kMebibyte;
  f.optimizer = 20 * kMebibyte;
  f.phases = {{"forward", {1e5, 100, 4000, 50}}, {"backward", {0, 100, 6000, 20}}};
  return f;
}

// 1,000 graphs of 30 nodes and 60 edges on average.
memory::GraphSizes some_graphs() { return {{1000, 30000, 60000}, {1, 90, 200}, 7}; }

}  // namespace

TEST_CASE("the largest phase of a batch decides its peak", "[memory][plan]") {
  const Footprint f = some_footprint();
  CHECK(f.largest({1, 10, 10000}).name == "forward");
  CHECK(f.largest({10, 300, 600}).name == "backward");
  CHECK(f.peak({10, 300, 600}) == 45 * kMebibyte + 1000 + 300 * 6000 + 600 * 20);
}

TEST_CASE("a batch planned by memory never needs more than there is", "[memory][plan]") {
  for (const int64_t total : {100, 130, 200, 500}) {
    const MemoryPlan plan = memory::make_plan(
        some_footprint(), some_graphs(), {"card", total * kMebibyte, 30 * kMebibyte, true}, {});
    CHECK(plan.share == 1);
    const int64_t peak = plan.footprint.peak(plan.batch) + plan.device.context;
    CHECK(plan.available == (total - 75) * kMebibyte);
    if (plan.binds == "memory") {
      CHECK(peak <= total * kMebibyte);
      CHECK(peak - 75 * kMebibyte > 0.9 * static_cast<double>(plan.available));
    }
    CHECK(plan.steps >= 10);
  }
  const auto of = [](int64_t total) {
    return memory::make_plan(some_footprint(), some_graphs(),
                             {"card", total * kMebibyte, 30 * kMebibyte, true}, {});
  };
  CHECK(of(85).binds == "memory");
  CHECK(of(500).binds == "min_steps_per_epoch");
}

TEST_CASE("a batch leaves room for what a device's allocator rounds", "[memory][plan]") {
  const memory::DeviceMemory card = {"card", 85 * kMebibyte, 30 * kMebibyte, true};
  const MemoryPlan exact = memory::make_plan(some_footprint(), some_graphs(), card, {});
  Footprint rounded = some_footprint();
  // A unit of 2 MiB for each 100 nodes begun.
  rounded.rounding = [](const memory::Size& size, const memory::OtherBlocks&) {
    return (size.nodes / 100 + 1) * 2 * kMebibyte;
  };
  const MemoryPlan plan = memory::make_plan(rounded, some_graphs(), card, {});
  CHECK(exact.binds == "memory");
  CHECK(plan.binds == "memory");
  CHECK(plan.batch.nodes < exact.batch.nodes);
  CHECK(rounded.peak(plan.batch) - rounded.held() <= plan.available);
  CHECK(plan.predicted == rounded.peak(plan.expected));
  // Where it alone is too much, not even one graph fits.
  rounded.rounding = [](const memory::Size&, const memory::OtherBlocks&) { return 60 * kMebibyte; };
  CHECK_THROWS_AS(memory::make_plan(rounded, some_graphs(), card, {}), Error);
}

TEST_CASE("what limits a plan is named", "[memory][plan]") {
  const memory::DeviceMemory large = {"card", 1 << 30, 0, false};
  const auto binds = [&](const memory::BatchOptions& options) {
    return memory::make_plan(some_footprint(), some_graphs(), large, options);
  };
  CHECK(binds({64, true, 0.5, 10, 1}).binds == "batch_size");
  CHECK(binds({64, true, 0.5, 10, 1}).packs == 16);
  CHECK(binds({64, true, 0.5, 10, 3}).steps == 10);  // 30 packs to make them
  CHECK(binds({4096, true, 0.5, 10, 1}).binds == "min_steps_per_epoch");
  CHECK(binds({4096, true, 0.5, 1, 1}).binds == "data");
  const MemoryPlan exact = binds({64, false, 0.5, 10, 1});
  CHECK(exact.batch.graphs == 64);
  CHECK(exact.batch.nodes == 0);
}

TEST_CASE("the safety factor is a share of the device, with one margin", "[memory][plan]") {
  const auto share = [](double safety) {
    return memory::make_plan(some_footprint(), some_graphs(), {"card", 1 << 30, 0, false},
                             {64, true, safety, 1, 1})
        .share;
  };
  CHECK(share(0.5) == Approx(0.65));
  CHECK(share(0.55) == Approx(0.70));
  CHECK(share(0.6) == Approx(0.75));
  CHECK(share(0.9) == Approx(0.85));
}

TEST_CASE("a plan without room for one graph says what would do", "[memory][plan]") {
  try {
    Footprint f = some_footprint();
    f.alternatives = {{"nothing", f}, {"teacher=cache", f}};
    f.teacher = 0;
    f.alternatives[1].footprint.optimizer -= 3 * kMebibyte;
    memory::make_plan(f, some_graphs(), {"card", 60 * kMebibyte, 30 * kMebibyte, true}, {});
    FAIL("it fits");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kDoesNotFit);
    const std::string text = error.diagnostics().at(0).text();
    CHECK_THAT(text, Catch::Contains("90 nodes and 200 edges"));
    CHECK_THAT(text, Catch::Contains("largest item is the context with 30.0 MiB"));
    CHECK_THAT(text, Catch::Contains("smallest memory that works is 88MiB"));
    CHECK_THAT(text, Catch::Contains("teacher=cache (saves 3.0 MiB)"));
    CHECK_THAT(text, !Catch::Contains("nothing"));
  }
  // Where a step ran, the context has grown by what the first one adds.
  Footprint after_a_step = some_footprint();
  after_a_step.mode = "measured";
  CHECK_THROWS_WITH(memory::make_plan(after_a_step, some_graphs(),
                                      {"card", 60 * kMebibyte, 30 * kMebibyte, true}, {}),
                    Catch::Contains("smallest memory that works is 84MiB"));
  // What it names works, for a context that is no larger than this one also less.
  for (const int64_t mebibytes : {80, 84, 88}) {
    const memory::DeviceMemory enough = {"card", mebibytes * kMebibyte, 30 * kMebibyte, true};
    CHECK(memory::make_plan(some_footprint(), some_graphs(), enough, {}).binds == "memory");
  }
}

TEST_CASE("a limit of tensors alone is enough where it is the least that was named",
          "[memory][plan]") {
  Footprint f = some_footprint();
  f.margin = 0.2;
  memory::DeviceMemory own = {"cpu", 500 * kMebibyte, 0, true};
  own.is_of_tensors = true;
  const MemoryPlan roomy = memory::make_plan(f, some_graphs(), own, {});
  CHECK(roomy.least == roomy.json().at("least"));
  own.total = roomy.least;
  CHECK(memory::make_plan(f, some_graphs(), own, {}).packs > 0);
  own.total = roomy.least - kMebibyte / 64;
  CHECK_THROWS_AS(memory::make_plan(f, some_graphs(), own, {}), Error);
  // A process has a context, and that of the next one differs.
  own.total = roomy.least;
  own.is_of_tensors = false;
  CHECK_THROWS_AS(memory::make_plan(f, some_graphs(), own, {}), Error);
}

TEST_CASE("a batch of exact size needs room for one graph, too", "[memory][plan]") {
  const memory::DeviceMemory small = {"card", 60 * kMebibyte, 30 * kMebibyte, true};
  CHECK_THROWS_WITH(memory::make_plan(some_footprint(), some_graphs(), small, {64, false}),
                    Catch::Contains("smallest memory that works is 88MiB"));
}

TEST_CASE("what others hold of a limit of the machine counts in the size that would do",
          "[memory][plan]") {
  memory::DeviceMemory here = {"cpu", 60 * kMebibyte, 30 * kMebibyte};
  here.bound = "cgroup /job";
  here.others = 25 * kMebibyte;
  std::string text;
  try {
    memory::make_plan(some_footprint(), some_graphs(), here, {});
  } catch (const Error& error) {
    text = error.diagnostics().at(0).text();
  }
  // 80 MiB are needed of what is planned with, 65 %; the rest is the others'.
  CHECK_THAT(text, Catch::Contains("usable on cpu within cgroup /job"));
  const std::string words = "smallest memory that works is ";
  REQUIRE_THAT(text, Catch::Contains(words));
  const int64_t least = std::stoll(text.substr(text.find(words) + words.size()));
  CHECK(least > 25 + 87 / 0.65);
  CHECK(least <= 25 + 88 / 0.65 + 1);
  CHECK_THAT(text, Catch::Contains("MiB for cgroup /job"));
  here.total = (least - 25) * kMebibyte;
  const MemoryPlan plan = memory::make_plan(some_footprint(), some_graphs(), here, {});
  CHECK(plan.json().at("device").at("bound") == "cgroup /job");
}

TEST_CASE("the budget line has the published form", "[memory][plan]") {
  Footprint f = some_footprint();
  f.input = {0, 0, 48, 8};
  const MemoryPlan plan = memory::make_plan(
      f, some_graphs(), {"card", 16000 * kMebibyte, 500 * kMebibyte, false}, {2048});
  CHECK(plan.line() ==
        "MemoryBudget(total=16000MB static=545.0MB [params=10.0 embed=5.0 opt=20.0 grad=10.0 "
        "teacher=0.0] activation=17.3MB per_graph=0.002MB available=9855.0MB batch_size=100 "
        "mode=static)");
  CHECK(plan.json().at("table").at("context") == 500 * kMebibyte);
  CHECK(plan.json().at("batch").at("nodes") == 3000);
}

TEST_CASE("cache policies are read, and an unknown one is named", "[memory]") {
  std::vector<Diagnostic> problems;
  const memory::CachePolicy p =
      memory::CachePolicy::parse({"every:5", "checkpoint", "fragmentation:1.4", "chunk"}, problems);
  CHECK(problems.empty());
  CHECK(p.every == 5);
  CHECK(p.checkpoint);
  CHECK(p.chunk);
  CHECK(p.fragmentation == Approx(1.4));
  CHECK_FALSE(p.automatic);
  const memory::CachePolicy h = memory::CachePolicy::parse({"hygiene"}, problems);
  CHECK(h.every == 5);
  CHECK(h.synchronize_every == 20);
  CHECK(h.epoch);
  for (const char* wrong :
       {"every", "every:0", "every:2.5", "every:x", "fragmentation:1", "often", "never:1"}) {
    problems.clear();
    memory::CachePolicy::parse({wrong}, problems);
    INFO(wrong);
    CHECK(problems.size() == 1);
  }
  problems.clear();
  memory::CachePolicy::parse({"never", "epoch"}, problems);
  CHECK(problems.size() == 1);
}
