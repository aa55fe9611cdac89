#include "pipeline/run/run_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/run_figures.h"
#include "support/programs/bytes_read.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// As if a process worked on the run.
class HeldLock {
 public:
  explicit HeldLock(const fs::path& run)
      : fd_(::open((run / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    REQUIRE(::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0);
  }

 private:
  OwnedFd fd_;
};

}  // namespace

TEST_CASE("a run's state is what its end or its lock says", "[runs]") {
  const ScratchFolder root;
  const auto state = [&](const json& more) {
    return read_run(write_run(root.path(), "set", kFirstRun, {}, more)).state;
  };
  CHECK(state(json::object()) == "done");
  CHECK(state({{"exit_code", 82}}) == "failed");
  for (const int code : {85, 129, 130, 131, 143}) {
    CHECK(state({{"exit_code", code}}) == "interrupted");
  }
  CHECK(state({{"exit_code", nullptr}}) == "interrupted");
  const HeldLock lock(root / "set" / kFirstRun);
  CHECK(state({{"exit_code", nullptr}}) == "running");
  CHECK(is_worked_on(root / "set" / kFirstRun));
}

TEST_CASE("runs are listed newest first, of one data set if asked", "[runs]") {
  const ScratchFolder root;
  write_run(root.path(), "set", kFirstRun, {});
  write_run(root.path(), "other", kSecondRun, {step_state("a", "trainer")});
  write_text(root / "set" / "01JDTORN" / "run.json", "{");
  const std::vector<RunRecord> all = list_runs(root.path());
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == kSecondRun);
  CHECK(all[0].dataset == "other");
  CHECK(all[0].steps.at(0).reason == "never ran");
  CHECK(all[1].seconds() == 27);
  CHECK(list_runs(root.path(), "set").size() == 1);
  CHECK(list_runs(root / "none").empty());
}

TEST_CASE("to list runs nothing is read of them but run.json", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kFirstRun, {step_state("gat", "classifier")},
                                 {{"headline", "F1 0.838  gat, val"}});
  write_training(run / "gat", 100);
  const fs::path kept =
      write_run(root.path(), "set", kSecondRun,
                {step_state("gat", "classifier", "kept", {{"folder", (run / "gat").string()}})},
                {{"device", ""}});
  std::vector<RunRecord> all;
  CHECK(bytes_read_by([&] { all = list_runs(root.path()); }) <
        fs::file_size(kept / "run.json") + fs::file_size(run / "run.json") + 300);
  REQUIRE(all.size() == 2);
  CHECK(all[1].headline == "F1 0.838  gat, val");
  CHECK(all[0].device == "");
  look_closer(all[0]);
  CHECK(all[0].steps.at(0).seconds == 4);
}

TEST_CASE("a run's figures are those of its best judge", "[runs]") {
  const ScratchFolder root;
  const PluginCatalog catalog;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun,
                {step_state("vgae", "autoencoder"), step_state("gat", "classifier"),
                 step_state("evaluate", "evaluate")});
  write_training(run / "vgae", 3);
  CHECK(headline(read_run(run), catalog) == "F1 0.838  AUC 0.955  loss 0.0425  vgae, val");
  write_evaluation(run / "evaluate", "gat");
  CHECK(headline(read_run(run), catalog) == "F1 0.838  AUC 0.991  gat, val");
  const std::vector<Figure> all = figures(read_run(run));
  CHECK(all.size() == 6 + 5 + 5);
  CHECK(all.front().model == "vgae");
  CHECK(all.back().part == "test_01");
  CHECK(figure_text(Figure("graphs_per_second", 0), 12469.4) == "12,470");
  CHECK(figure_text(Figure("parameters", 0), 102'411) == "102,411");
  CHECK(headline(read_run(write_run(root.path(), "set", kSecondRun, {})), catalog) == "");
}

TEST_CASE("a figure that is kept out of headlines does not speak for a run", "[runs]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun, {step_state("evaluate", "evaluate")});
  const auto figure = [](const char* model, double value, int headline) {
    return json{{"model", model}, {"part", "val"}, {"name", "f1"},        {"value", value},
                {"label", "F1"},  {"place", 1},    {"headline", headline}};
  };
  write_text(run / "evaluate" / "metrics.json",
             json{{"figures", {figure("gat", 0.8, 1), figure("gat rewired", 0.5, 0)}}}.dump());
  const std::vector<Figure> all = figures(read_run(run));
  REQUIRE(all.size() == 2);
  CHECK(all.back().model == "gat rewired");
  CHECK(headline(read_run(run), PluginCatalog()) == "F1 0.800  gat, val");
}

TEST_CASE("runs differ in options, data, steps and threads", "[runs]") {
  const ScratchFolder root;
  const fs::path a =
      write_run(root.path(), "set", kFirstRun,
                {step_state("gat", "classifier"), step_state("vgae", "autoencoder")});
  const fs::path b = write_run(root.path(), "set", kSecondRun, {step_state("gat", "classifier")},
                               {{"threads", 8}});
  write_training(a / "gat", 3, 0.01);
  write_training(b / "gat", 3, 0.002);
  write_training(a / "vgae", 3);
  const auto text = [](const std::vector<Difference>& list) {
    std::string out;
    for (const Difference& one : list) {
      out += one.step + "." + one.name + ":";
      for (const std::string& value : one.values) out += " " + value;
      out += "\n";
    }
    return out;
  };
  CHECK(text(differences({read_run(a), read_run(b)})) ==
        ".threads: 2 8\ngat.lr: 0.01 0.002\nvgae.stage: autoencoder \n");
  CHECK(differences({read_run(a), read_run(a)}).empty());
  const std::vector<FigureRow> rows = side_by_side({figures(read_run(b)), figures(read_run(a))});
  CHECK(rows.size() == 12);
  CHECK(rows.front().values.at(1) == rows.front().values.at(0));
  CHECK_FALSE(rows.back().values.at(0));
}

TEST_CASE("a removed run is gone as a whole, one in use is not removed", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kFirstRun, {step_state("a", "trainer")});
  write_text(run / "a" / "model.safetensors", "weights");
  CHECK(size_on_disk(run) > 7);
  {
    const HeldLock lock(run);
    CHECK_THAT(error_of([&] { remove_run(run); }, ExitCode::kUsage),
               Contains("a process works on"));
    CHECK(fs::exists(run / "a" / "model.safetensors"));
  }
  remove_run(run);
  CHECK(fs::is_empty(root / "set"));
  CHECK(list_runs(root.path()).empty());
}
