#include "pipeline/run/run_labels.h"

#include <catch2/catch.hpp>
#include <thread>

#include "pipeline/run/find_model.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOlder = "01JDAAAAAAAAAAAAAAAAAAAAK7";
constexpr const char* kNewer = "01JDBBBBBBBBBBBBBBBBBBBBM2";

}  // namespace

TEST_CASE("labels are changed one after another, and none is lost where several write", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kOlder, {});
  CHECK(read_labels(run).tags.empty());
  std::vector<std::thread> writers;
  writers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      LabelChange change;
      change.tags = {"tag " + std::to_string(i)};
      change.note = "note";
      change_labels(run, change);
    });
  }
  for (std::thread& writer : writers) writer.join();
  RunLabels labels = read_labels(run);
  CHECK(labels.tags.size() == 8);
  CHECK(labels.notes.size() == 8);
  LabelChange change;
  change.name = "baseline";
  change.tags = {"tag 1"};
  change.untag = {"tag 2", "none"};
  change_labels(run, change);
  labels = read_labels(run);
  CHECK(labels.name == "baseline");
  CHECK(labels.tags.size() == 7);
  CHECK_FALSE(labels.has("tag 2"));
  write_text(run / kLabelsFile, "{");
  CHECK(read_labels(run).name.empty());
}

TEST_CASE("a name or tag that would be taken for something else is refused", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kOlder, {});
  for (const char* bad : {"a/b", "-x", "a,b", " a", "a\n", "\xff", "\xc2\x9b", "$(x)", "`x`",
                          "it's", "\"x\"", "a\\"}) {
    LabelChange change;
    change.tags = {bad};
    CHECK_THAT(error_of([&] { change_labels(run, change); }, ExitCode::kUsage),
               Contains("the tag"));
    CHECK_FALSE(label_problem(bad).empty());
  }
  CHECK(label_problem("GAT große 2") == "");
  CHECK(label_problem(std::string(101, 'a')) == "is longer than 100 bytes");
  CHECK_FALSE(fs::exists(run / kLabelsFile));
}

TEST_CASE("a note has a largest size, and more that others wrote is not read", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kOlder, {});
  LabelChange change;
  change.note = std::string(10'000, 'x');
  CHECK(change_labels(run, change).notes.size() == 1);
  change.note += "x";
  CHECK_THAT(error_of([&] { change_labels(run, change); }, ExitCode::kUsage),
             Contains("10001 bytes") && Contains("--notes"));
  // As another program may write them.
  nlohmann::json notes = nlohmann::json::array();
  for (int i = 0; i < 2000; ++i) notes.push_back({{"time", "t"}, {"text", "short"}});
  notes[0]["text"] = std::string(1 << 20, 'y');
  write_text(
      run / kLabelsFile,
      nlohmann::json{{"name", std::string(1 << 20, 'n')}, {"notes", std::move(notes)}}.dump());
  const RunLabels labels = read_labels(run);
  CHECK(labels.notes.size() == 1000);
  CHECK(labels.notes.front().text.size() < 10'000);
  CHECK(labels.name.size() < 200);
  CHECK_THAT(error_of(
                 [&] {
                   change_labels(run, {{}, {}, {}, "one more"});
                 },
                 ExitCode::kUsage),
             Contains("1000 notes"));
}

TEST_CASE("a run is found by its name, and several of a name are listed", "[runs]") {
  const ScratchFolder root;
  const fs::path older = write_run(root.path(), "set", kOlder, {});
  const fs::path newer = write_run(root.path(), "other", kNewer, {});
  LabelChange change;
  change.name = "baseline";
  change_labels(older, change);
  CHECK(find_run("baseline", root.path()) == older);
  CHECK_THAT(error_of([&] { find_run("baselime", root.path()); }, ExitCode::kData),
             Contains("did you mean baseline?"));
  change_labels(newer, change);
  CHECK_THAT(error_of([&] { find_run("baseline", root.path()); }, ExitCode::kUsage),
             Contains("2 runs") && Contains("01JD…M2 (baseline), 01JD…K7 (baseline)"));
  // A name that is the beginning of another's id means either; a whole id means one.
  change.name = "01JDA";
  change_labels(newer, change);
  CHECK_THAT(error_of([&] { find_run("01JDA", root.path()); }, ExitCode::kUsage),
             Contains("2 runs"));
  change.name = kOlder;
  change_labels(newer, change);
  CHECK(find_run(kOlder, root.path()) == older);
}
