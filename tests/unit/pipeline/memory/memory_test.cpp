// What the host knows of memory: cards, traces, plans as tables, reports and their picture.
#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "pipeline/execute/memory_trace.h"
#include "pipeline/memory/cards.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/memory/memory_svg.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/profile/profile_keys.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kMiB = 1 << 20;

/// A run of three steps: one that planned and trained twice, one without a plan, one that never
/// ran.
fs::path make_run(const fs::path& root) {
  const fs::path run = root / "01RUN";
  write_text(run / "run.json", json{{"id", "01RUN"},
                                    {"steps",
                                     {{{"step", "a < b"}},
                                      {{"step", "kept"}, {"folder", (root / "old").string()}},
                                      {{"step", "never"}}}}}
                                   .dump());
  const auto event = [](double unix, json more) {
    more["unix"] = unix;
    return more.dump() + "\n";
  };
  const auto epoch = [&](double unix, double bytes) {
    return event(
        unix,
        {{"event", "metrics"},
         {"what", "epoch"},
         {"values",
          {{"memory", {{"allocated", 1}, {"peak_allocated", bytes}, {"reserved", 2 * bytes}}}}}});
  };
  const auto mark = [&](double unix, const char* kind) {
    return event(unix, {{"event", "metrics"}, {"what", "memory"}, {"values", {{"event", kind}}}});
  };
  write_text(run / "a < b" / "journal.jsonl",
             event(100, {{"event", "start"}}) + epoch(105, 9 * kMiB) +
                 event(200, {{"event", "start"}}) + mark(200, "plan") + epoch(202, 90 * kMiB) +
                 mark(203, "release") + mark(203, "split") + epoch(204, 100 * kMiB) +
                 event(206, {{"event", "end"}}) + "{\"torn");
  write_text(run / "a < b" / "memory.json",
             json{{"planned", {{"predicted", 103 * kMiB}}},
                  {"actual",
                   {{"peak_tensor_bytes", 100 * kMiB},
                    {"releases", 1},
                    {"released_bytes", 2048},
                    {"splits", 1},
                    {"peak_anonymous_bytes", 300 * kMiB}}},
                  {"timeline", {{"seconds", {0, 5}}, {"bytes", {kMiB, 300 * kMiB}}}}}
                 .dump());
  write_text(root / "old" / "memory.json",
             json{{"planned", nullptr}, {"actual", {{"peak_anonymous_bytes", 3 * kMiB}}}}.dump());
  return run;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("cards are found by name, in any case and with a unit", "[memory]") {
  for (const Card& card : known_cards()) {
    CHECK(find_card(card.name).total == card.total);
    CHECK(card.total > card.context);
    // What a driver reports is less than the name says, by no more than an eighth.
    const double named = std::stod(card.name.substr(card.name.rfind('-') + 1)) * 1024 * kMiB;
    CHECK(static_cast<double>(card.total) < named);
    CHECK(static_cast<double>(card.total) > 0.875 * named);
  }
  CHECK(find_card("V100-16GB").name == "v100-16");
  CHECK(find_card("RTX 3090-24").name == "rtx3090-24");
  const std::string refusal = error_of([] { find_card("v100-61"); }, ExitCode::kUsage);
  CHECK_THAT(refusal, Contains("unknown card v100-61") && Contains("did you mean v100-16?") &&
                          Contains("a100-40") && Contains("--device 16GiB"));
  CHECK(card_of_size(uint64_t{16} << 30).name == "16GiB");
}

TEST_CASE("limits and allocator settings that cannot be are refused", "[memory]") {
  const auto problem = [](const std::string& key, const std::string& text) {
    return check_host_value(key, plain_scalar(text)).text();
  };
  CHECK(problem("memory_limit", "0").empty());
  CHECK(problem("memory_limit", "1MiB").empty());
  CHECK(problem("memory_limit", "8") ==
        "8 is less than 1 MiB\n  hint: a size has a unit: 4GiB, 512MiB");
  CHECK_THAT(problem("memory_limit", "8 pounds"), Contains("\"8 pounds\" has an unknown unit"));
  CHECK(problem("allocator", "").empty());
  CHECK(problem("allocator", "expandable_segments:True,max_split_size_mb:128").empty());
  CHECK(problem("allocator", "garbage_collection_threshold:0.8,backend:cudaMallocAsync").empty());
  CHECK(problem("allocator", "expandable_segment:True") ==
        "\"expandable_segment\" is not a setting of the allocator\n"
        "  hint: did you mean expandable_segments?");
  CHECK(problem("allocator", "expandable_segments:yes") ==
        "expandable_segments: \"yes\" is not True or False");
  for (const char* value : {":20", ":", "", ":many", ":inf", ":128x"}) {
    CHECK_THAT(problem("allocator", std::string("max_split_size_mb") + value),
               Contains("is not a number of at least 21"));
  }
}

TEST_CASE("a memory trace stays short and loses no peak", "[memory]") {
  MemoryTrace trace;
  constexpr int kLooks = 100'000;
  constexpr uint64_t kPeak = 1'000'000;
  for (int i = 0; i < kLooks; ++i) trace.add(0.01 * i, i == 77'777 ? kPeak : 1000 + i % 7);
  const json points = trace.json();
  CHECK(trace.peak() == kPeak);
  REQUIRE(points.at("seconds").size() == points.at("bytes").size());
  // Where the points lie: no clock is read, the times are those that were given.
  const std::vector<double> places = points.at("seconds");
  CHECK(places.size() < 400);
  CHECK(places.size() > 100);
  CHECK(std::is_sorted(places.begin(), places.end()));
  CHECK(places.back() > 0.98 * 0.01 * kLooks);
  const std::vector<uint64_t> bytes = points.at("bytes");
  const auto peak = std::max_element(bytes.begin(), bytes.end());
  CHECK(*peak == kPeak);
  const double interval = places[1] - places[0];
  CHECK(std::abs(places[peak - bytes.begin()] - 777.77) <= interval);
  CHECK(MemoryTrace().json().at("bytes").empty());
}

TEST_CASE("plans of memory are a column a step, without rows that say nothing", "[memory]") {
  const json memory = {{"line", "MemoryBudget(total=16384MB)"},
                       {"device", {{"name", "v100-16"}, {"total", 16384 * kMiB}, {"share", 0.65}}},
                       {"table", {{"context", 500 * kMiB}, {"teacher", 0}}},
                       {"batch", {{"graphs", 12345}}},
                       {"binds", "memory"},
                       {"available", -2 * kMiB},
                       {"cache_policy", {"every:5", "epoch"}},
                       {"epochs", 30}};
  const std::vector<PlannedMemory> plans = {
      {"one", memory},
      {"none", json()},
      {"two", {{"line", "B"}, {"mode", "static"}, {"teacher", "cache"}}}};
  CHECK(memory_table(plans) ==
        "                            one  two\n"
        "device                  v100-16\n"
        "its memory             16.0 GiB\n"
        "share used                 65 %\n"
        "context                 500 MiB\n"
        "teacher                       0\n"
        "left for a step        -2.0 MiB\n"
        "graphs a batch           12,345\n"
        "limited by               memory\n"
        "epochs                       30\n"
        "cache policy     every:5, epoch\n"
        "teacher kept                     cache\n"
        "numbers                          static\n");
  CHECK(memory_lines(plans) == "one  MemoryBudget(total=16384MB)\ntwo  B\n");
  CHECK(memory_table({{"none", json()}}).empty());
}

TEST_CASE("a report sets what was planned beside what was measured", "[memory]") {
  const ScratchFolder root;
  const std::vector<StepMemory> steps = read_run_memory(make_run(root.path()));
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].step == "a < b");
  CHECK(steps[0].seconds == 6);  // of the second attempt alone
  CHECK(steps[0].tensors == MemorySeries{{2, 90 * kMiB}, {4, 100 * kMiB}});
  CHECK(steps[0].reserved == MemorySeries{{2, 180 * kMiB}, {4, 200 * kMiB}});
  CHECK(steps[0].resident == MemorySeries{{0, kMiB}, {5, 300 * kMiB}});
  CHECK(steps[0].events ==
        std::vector<std::pair<double, std::string>>{{3, "release"}, {3, "split"}});
  const json report = memory_report_json(steps);
  CHECK(report[0].at("error_percent").get<double>() == Approx(3));
  CHECK(report[1].at("error_percent").is_null());
  CHECK(memory_report_text(steps) ==
        "MiB    planned  measured  error %  reserved  context  process  given back  times  splits\n"
        "a < b    103.0     100.0     +3.0                       300.0         0.0      1       1\n"
        "kept                                                      3.0\n");
  CHECK_THAT(error_of([&] { read_run_memory(root / "none"); }, ExitCode::kData),
             Contains("run.json"));
}

TEST_CASE("of a stage without tensors what its process held beyond its context counts",
          "[memory]") {
  StepMemory step{
      "one", {{"predicted", 22 * kMiB}}, {{"peak_anonymous_bytes", 80 * kMiB}}, 0, {}, {}, {}, {}};
  CHECK(step.actual_peak() == -1);
  step.actual["context_bytes"] = 60 * kMiB;
  CHECK(step.actual_peak() == 20 * kMiB);
  CHECK(memory_report_json({step})[0].at("error_percent").get<double>() == Approx(10));
  step.actual["peak_tensor_bytes"] = 11 * kMiB;
  CHECK(step.actual_peak() == 11 * kMiB);
}

TEST_CASE("the picture of a run's memory has a band a step and a curve a series", "[memory]") {
  const ScratchFolder root;
  const std::string svg = memory_svg("run <1>", read_run_memory(make_run(root.path())));
  CHECK(svg.rfind("<svg xmlns=", 0) == 0);
  CHECK_THAT(svg, Contains("run &lt;1&gt;") && Contains("a &lt; b") && Contains(">MiB</text>") &&
                      Contains("planned peak") && Contains("given back"));
  CHECK(count(svg, "class=\"line") == 4);  // three measured, and the plan
  CHECK(count(svg, "class=\"band") + count(svg, "class=\"paper\" x=") == 2);
  CHECK(count(svg, "nan") + count(svg, "inf") + count(svg, "href") + count(svg, "<script") == 0);
  // Nothing measured: still a picture.
  CHECK(count(memory_svg("", {StepMemory{}}), "</svg>") == 1);
}
