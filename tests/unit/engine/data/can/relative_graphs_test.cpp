#include "engine/data/can/relative_graphs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/can/vehicles/learn_windows.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/can/windows/relative_graph.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::drive;
using test::NamedLogs;

graph::ImportOptions relative(std::vector<std::string> inject = {"fuzzing"}) {
  graph::ImportOptions options;
  options.features = kRelativeFeatures;
  options.inject = std::move(inject);
  return options;
}

struct Imported {
  test::ScratchFolder folder;
  ImportReport report;
  std::optional<graph::GraphStore> store;

  Imported(const NamedLogs& logs, const graph::ImportOptions& options) {
    for (const auto& [name, frames] : logs) {
      test::write_text(folder / "logs" / name, format_log(frames, "can-train-and-test"));
    }
    report = graph::import_logs(folder / "logs", folder / "data", options);
    store.emplace(graph::GraphStore::open(folder / "data" / kStoreName, graph::Check::kAlways));
  }
  std::vector<int64_t> graphs_of(const std::string& path) const {
    std::vector<int64_t> out;
    for (int64_t g = 0; g < store->graphs(); ++g) {
      const auto source = static_cast<std::size_t>(store->source_of()[static_cast<std::size_t>(g)]);
      if (store->sources()[source].path == path) out.push_back(g);
    }
    return out;
  }
};

NamedLogs known_and_new() {
  return {{"train_01/a.csv", drive(40, 0)},
          {"train_01/b.csv", drive(40, 1, "dos")},
          {"test_01/known.csv", drive(20, 2, "spoofing")},
          {"test_02/new.csv", drive(40, 0, "spoofing", 1)}};
}

}  // namespace

TEST_CASE("windows relative to profiles: several of each row of training, one of a test's",
          "[import][relative]") {
  const Imported imported(known_and_new(), relative());
  const graph::GraphStore& store = *imported.store;
  CHECK(store.verify().empty());
  CHECK(store.ids() == nullptr);
  CHECK(store.node_feature_names() == relative_node_names());
  CHECK(store.edge_feature_names() == relative_edge_names());
  CHECK(store.frames() != nullptr);
  CHECK(store.facts().at("num_ids") == 1);

  std::map<int64_t, int> seen;
  for (const int64_t g : imported.graphs_of("train_01/a.csv")) {
    ++seen[store.row_begin()[static_cast<std::size_t>(g)]];
  }
  CHECK(seen.size() > 50);
  int most = 0;
  for (const auto& [row, count] : seen) most = std::max(most, count);
  CHECK(most > 5);  // other drives, own beginnings, each also forgetful

  for (const char* test : {"test_01/known.csv", "test_02/new.csv"}) {
    int64_t next = -1, attacks = 0;
    const std::vector<int64_t> graphs = imported.graphs_of(test);
    REQUIRE(graphs.size() > 20);
    for (const int64_t g : graphs) {
      const auto at = static_cast<std::size_t>(g);
      const int64_t row = store.row_begin()[at];
      if (next >= 0) CHECK(row == next);
      next = store.row_end()[at];
      attacks += store.y()[at] == 1 ? 1 : 0;
    }
    CHECK(attacks > 3);
    // What a vehicle never seen is learned from is no graph.
    const int64_t first = store.row_begin()[static_cast<std::size_t>(graphs.front())];
    CHECK((first == 0) == (std::string(test) == "test_01/known.csv"));
  }
}

TEST_CASE("no row is in a training window and in one of validation", "[import][relative]") {
  const Imported imported(known_and_new(), relative());
  const graph::Split split = make_split(*imported.store, {});
  const auto rows_of = [&](const char* part) {
    std::set<std::pair<int32_t, int64_t>> out;
    for (const int64_t g : split.parts.at(part)) {
      const auto at = static_cast<std::size_t>(g);
      for (int64_t row = imported.store->row_begin()[at]; row < imported.store->row_end()[at];
           ++row) {
        out.insert({imported.store->source_of()[at], row});
      }
    }
    return out;
  };
  const auto val = rows_of("val");
  CHECK(split.parts.at("val").size() * 10 > split.parts.at("train").size());
  for (const auto& row : rows_of("train")) CHECK_FALSE(val.contains(row));
}

TEST_CASE("the same logs and options give the same store, and injected attacks are labelled",
          "[import][relative]") {
  const NamedLogs benign = {{"train_01/a.csv", drive(40, 0)}, {"train_01/b.csv", drive(40, 1)}};
  const auto attacks = [](const graph::GraphStore& store) {
    return std::count(store.y().begin(), store.y().end(), 1);
  };
  const Imported one(benign, relative()), two(benign, relative()), none(benign, relative({}));
  CHECK(std::ranges::equal(one.store->x(), two.store->x()));
  CHECK(std::ranges::equal(one.store->edge_attr(), two.store->edge_attr()));
  CHECK(std::ranges::equal(one.store->y(), two.store->y()));
  CHECK(attacks(*one.store) > 10);
  CHECK(attacks(*none.store) == 0);
  NamedLogs attacked = benign;
  attacked[1].second = drive(40, 1, "dos");
  const Imported with(attacked, relative({})), without(attacked, [&] {
    graph::ImportOptions options = relative({});
    options.use_labels = false;
    return options;
  }());
  CHECK(attacks(*with.store) > 10);
  CHECK(attacks(*without.store) == 0);
}

TEST_CASE("a test log with too little of its own has no graph, and that is said",
          "[import][relative]") {
  NamedLogs logs = known_and_new();
  std::vector<CanFrame>& odd = logs.back().second;
  for (CanFrame& frame : odd) frame.label = 1;
  const Imported imported(logs, relative());
  CHECK(imported.graphs_of("test_02/new.csv").empty());
  bool is_said = false;
  for (const Note& note : imported.report.warnings) {
    is_said = is_said || (note.where == "test_02/new.csv" &&
                          note.message.find("no graph is made of it") != std::string::npos);
  }
  CHECK(is_said);
}

TEST_CASE("rows that are said of an injected window are those it was made of",
          "[import][relative]") {
  const test::LogStore store(NamedLogs{{"train_01/a.csv", drive(60, 0)}});
  const std::vector<StoredLog> logs = store.logs();
  LearningOptions options;
  options.inject = {"dos", "suspension", "fuzzing"};
  options.forgotten = 0;
  /// Times of what was sent, by window.
  struct Times : WindowTaker {
    const StoredLog& log;
    int64_t& checked;
    std::vector<CanFrame> frames;
    int64_t given = 0;
    Times(const StoredLog& of, int64_t& count) : log(of), checked(count) {}
    void add(const CanFrame& frame, bool /*restarts*/) override { frames.push_back(frame); }
    void take(const RelativeWindows& windows, const SeenWindow* seen) override {
      const int64_t first = given;
      given += windows.window().frames;
      if (seen == nullptr || seen->kind < 0) return;
      ++checked;
      for (int64_t i = first; i < given; ++i) {
        const CanFrame& frame = frames[static_cast<std::size_t>(i)];
        if (frame.label == 1) continue;
        bool is_there = false;
        for (int64_t row = seen->row; row < seen->end && !is_there; ++row) {
          is_there = log.frame(row).id == frame.id && log.frame(row).payload == frame.payload;
        }
        CHECK(is_there);
      }
    }
  };
  int64_t checked = 0;
  const std::vector<std::vector<std::size_t>> vehicles = group_by_vehicle(logs);
  WindowLearner learner(logs, vehicles, 100, options, 7, [&](const VehicleProfile&) {
    return std::make_unique<Times>(logs.front(), checked);
  });
  learner.learn(0);
  CHECK(checked > 100);
}

TEST_CASE("benign windows of logs without labels stay without one", "[import][relative]") {
  NamedLogs logs = {{"train_01/a.log", drive(40, 0)}};
  for (CanFrame& frame : logs[0].second) frame.label = -1;
  test::ScratchFolder folder;
  test::write_text(folder / "logs" / "train_01" / "a.log", format_log(logs[0].second, "candump"));
  graph::import_logs(folder / "logs", folder / "data", relative());
  const auto store = graph::GraphStore::open(folder / "data" / kStoreName);
  CHECK(std::count(store.y().begin(), store.y().end(), 0) == 0);
  CHECK(std::count(store.y().begin(), store.y().end(), 1) > 10);
}

TEST_CASE("attack rows behind the last window of a log are counted", "[import][relative]") {
  NamedLogs logs = known_and_new();
  auto& tail = logs[2].second;
  tail.resize(tail.size() / 100 * 100 + 99, tail.back());
  for (std::size_t i = 0; i < tail.size(); ++i) tail[i].label = i + 99 >= tail.size() ? 1 : 0;
  logs[1].second = drive(40, 1);
  logs[3].second = drive(40, 0, "", 1);
  const Imported imported(logs, relative());
  bool is_said = false;
  for (const Note& note : imported.report.warnings) {
    is_said = is_said || note.message.find("99 of 99 attack rows") != std::string::npos;
  }
  CHECK(is_said);
}

TEST_CASE("options of relative windows go with them alone", "[import][relative]") {
  const auto problem = [](const graph::ImportOptions& options) {
    const std::vector<Diagnostic> found = options.data::CanImportOptions::validate();
    return found.empty() ? std::string() : found.front().message;
  };
  CHECK(problem(relative()).empty());
  graph::ImportOptions options;
  CHECK(problem(options).empty());
  options.inject = {"dos"};
  CHECK_THAT(problem(options), Contains("inject"));
  options = relative();
  options.stride = 50;
  CHECK_THAT(problem(options), Contains("no stride"));
  options = relative();
  options.split = "random";
  CHECK_THAT(problem(options), Contains("same rows"));
  options = relative();
  options.chunk_rows = 1000;
  CHECK_THAT(problem(options), Contains("chunk_rows"));
  options = relative();
  options.window = 20'000;
  CHECK_THAT(problem(options), Contains("10,000"));
}

}  // namespace kdgat::data
