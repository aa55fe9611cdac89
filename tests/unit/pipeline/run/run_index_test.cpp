// The index of runs never says what the runs do not: whatever becomes of it, and of them.
#include "pipeline/run/run_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "kdgat/error.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/run_pivot.h"
#include "pipeline/run/run_query.h"
#include "support/programs/bytes_read.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kThird = "01JDCCCCCCCCCCCCCCCCCCCCP3";

/// Files of a moment ago are old enough to be kept.
int64_t an_hour_on() { return RunIndex::system_now() + int64_t{3600} * 1'000'000'000; }

/// Three runs of one step; the last one kept that of the first.
struct Indexed {
  Indexed() {
    for (const auto& [id, lr] : {std::pair{kFirstRun, 0.01}, {kSecondRun, 0.002}}) {
      const fs::path run = write_run(root.path(), "set", id, {step_state("gat", "classifier")},
                                     {{"data", {{"options", {{"window", 100}}}}}});
      write_training(run / "gat", 4, lr);
    }
    write_run(root.path(), "set", kThird,
              {step_state("gat", "classifier", "kept",
                          {{"folder", (first() / "gat").string()}, {"run", kFirstRun}})});
  }
  fs::path file() const { return cache / "runs/index.sqlite"; }
  fs::path values() const { return RunIndex::values_file(file()); }
  fs::path first() const { return root / "set" / kFirstRun; }
  fs::path second() const { return root / "set" / kSecondRun; }
  /// What every run has for a key.
  std::vector<std::string> all(const std::string& key) const {
    RunIndex index(root.path(), file(), an_hour_on);
    index.read_values();
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < index.runs().size(); ++i) runs.push_back(i);
    const RunKey found = find_key(key, index, runs, true);
    std::vector<std::string> out;
    for (const std::size_t run : runs) {
      const auto value = value_of(index, run, found);
      out.push_back(value ? value->text : "-");
    }
    index.save();
    return out;
  }
  std::vector<std::string> which(const std::vector<std::string>& conditions,
                                 std::vector<std::string> tags = {}) const {
    RunIndex index(root.path(), file(), an_hour_on);
    RunFilter filter;
    filter.tags = std::move(tags);
    std::vector<Diagnostic> problems;
    for (const std::string& text : conditions) {
      if (auto one = read_condition(text, "here", problems)) filter.conditions.push_back(*one);
    }
    if (!problems.empty()) throw Error(ExitCode::kUsage, problems);
    std::vector<std::string> out;
    for (const std::size_t run : matching_runs(index, filter)) {
      out.push_back(index.runs()[run].id.substr(4, 1));
    }
    index.save();
    return out;
  }
  ScratchFolder root, cache;
};

/// Files cannot grow beyond so many bytes: as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit now{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

using Words = std::vector<std::string>;

Words files_of(const fs::path& folder) {
  Words out;
  for (const auto& file : fs::directory_iterator(folder)) {
    out.push_back(file.path().filename().string());
  }
  return out;
}

}  // namespace

TEST_CASE("what was written within two seconds is not kept", "[runs]") {
  const Indexed runs;
  RunIndex index(runs.root.path(), runs.file());
  index.read_values();
  index.save();
  CHECK_FALSE(fs::exists(runs.file()));
  CHECK_FALSE(fs::exists(runs.values()));
}

TEST_CASE("the index of a root follows runs, labels and figures that change", "[runs]") {
  const Indexed runs;
  CHECK(runs.all("gat.lr") == Words{"0.01", "0.002", "0.01"});
  REQUIRE(fs::exists(runs.file()));
  const std::string whole = read_text(runs.file()), values = read_text(runs.values());
  const std::size_t read =
      bytes_read_by([&] { CHECK(RunIndex(runs.root.path(), runs.file()).runs().size() == 3); });
  CHECK(read < whole.size() + 200);  // no run.json

  const std::vector<RunRecord> listed = list_runs(runs.root.path());
  const RunIndex index(runs.root.path(), runs.file());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    CHECK(index.runs()[i].id == listed[i].id);
    CHECK(index.runs()[i].folder == listed[i].folder);
    CHECK(index.runs()[i].steps.at(0).folder == listed[i].steps.at(0).folder);
    CHECK(index.runs()[i].state == listed[i].state);
  }

  SECTION("a figure of a step, which a kept one shares") {
    json metrics = json::parse(read_text(runs.first() / "gat/metrics.json"));
    metrics["val_loss"] = 0.5;
    write_text(runs.first() / "gat/metrics.json", metrics.dump());
    CHECK(runs.all("val_loss") == Words{"0.5", "0.0425", "0.5"});
  }
  SECTION("a folder of a step that was removed by hand") {
    fs::remove_all(runs.first() / "gat");
    CHECK(runs.all("val_loss") == Words{"-", "0.0425", "-"});
  }
  SECTION("a run that was removed, and one that is new") {
    remove_run(runs.first());
    write_run(runs.root.path(), "other", "01JDDDDDDDDDDDDDDDDDDDDDQ4", {});
    CHECK(runs.all("run") == Words{"01JDDDDDDDDDDDDDDDDDDDDDQ4", kThird, kSecondRun});
  }
  SECTION("labels") {
    LabelChange change;
    change.name = "baseline";
    change.tags = {"paper"};
    change_labels(runs.second(), change);
    CHECK(runs.all("name") == Words{"-", "baseline", "-"});
    CHECK(runs.which({}, {"paper"}) == Words{"B"});
  }
  SECTION("a run that works again has no place in it") {
    write_run(runs.root.path(), "set", kSecondRun, {step_state("gat", "classifier", "running")},
              {{"exit_code", nullptr}});
    CHECK(runs.all("state") == Words{"done", "interrupted", "done"});
  }
  SECTION("an index that is gone, torn or another program's") {
    for (const fs::path& file : {runs.file(), runs.values()}) {
      const std::string whole = read_text(file);
      std::string torn = whole;
      torn[whole.size() / 3] = static_cast<char>(torn[whole.size() / 3] ^ 0x10);
      for (const std::string& text :
           {std::string(), whole.substr(0, whole.size() / 2), torn, whole + whole}) {
        write_text(file, text);
        CHECK(runs.all("gat.lr") == Words{"0.01", "0.002", "0.01"});
      }
    }
  }
  SECTION("files of the index that are not of the same time") {
    remove_run(runs.first());
    CHECK(runs.all("gat.lr") == Words{"-", "0.002"});
    const std::string later = read_text(runs.values());
    write_text(runs.values(), values);
    CHECK(runs.all("gat.lr") == Words{"-", "0.002"});
    write_text(runs.file(), whole);
    write_text(runs.values(), later);
    CHECK(runs.all("gat.lr") == Words{"-", "0.002"});
  }
  SECTION("a place that cannot be written") {
    for (const fs::path& file : {runs.values(), runs.file()}) {
      fs::remove(file);
      fs::create_directory(file);  // as if another's
      CHECK(runs.all("gat.lr") == Words{"0.01", "0.002", "0.01"});
    }
  }
  SECTION("values are read of no file of a step again") {
    RunIndex known(runs.root.path(), runs.file(), an_hour_on);
    const std::size_t read = bytes_read_by([&] { known.read_values(); });
    CHECK(read < values.size() + 200);
  }
  SECTION("options of the data of a run that works are read each time") {
    for (const int window : {50, 60}) {
      write_run(runs.root.path(), "set", kSecondRun, {step_state("gat", "classifier", "running")},
                {{"exit_code", nullptr}, {"data", {{"options", {{"window", window}}}}}});
      CHECK(runs.all("data.window") == Words{"-", std::to_string(window), "100"});
    }
  }
  SECTION("a disk without room keeps the index that was there") {
    remove_run(runs.first());
    {
      const FileSizeLimit no_room(100);
      CHECK(runs.all("gat.lr") == Words{"-", "0.002"});
    }
    CHECK(read_text(runs.file()) == whole);
    CHECK(read_text(runs.values()) == values);
    CHECK(files_of(runs.file().parent_path()).size() == 2);
  }
  SECTION("two who write it at once") {
    RunIndex one(runs.root.path(), runs.file(), an_hour_on);
    write_run(runs.root.path(), "other", "01JDDDDDDDDDDDDDDDDDDDDDQ4", {});
    RunIndex other(runs.root.path(), runs.file(), an_hour_on);
    remove_run(runs.second());
    RunIndex last(runs.root.path(), runs.file(), an_hour_on);
    for (RunIndex* index : {&other, &last, &one, &other}) {
      index->read_values();
      index->save();
      CHECK(runs.all("run") == Words{"01JDDDDDDDDDDDDDDDDDDDDDQ4", kThird, kFirstRun});
    }
  }
  SECTION("a lock on it changes nothing") {
    const int held = ::open(runs.file().c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX) == 0);
    remove_run(runs.second());
    CHECK(runs.all("gat.lr") == Words{"0.01", "0.01"});
    CHECK(read_text(runs.file()) != whole);
    ::close(held);
  }
}

TEST_CASE("conditions choose runs by options, figures and what they are", "[runs]") {
  const Indexed runs;
  CHECK(runs.which({}) == Words{"C", "B", "A"});
  CHECK(runs.which({"gat.lr<0.005"}) == Words{"B"});
  CHECK(runs.which({"lr >= 0.01", "run!=" + std::string(kThird)}) == Words{"A"});
  CHECK(runs.which({"data.window=100"}) == Words{"B", "A"});
  CHECK(runs.which({"data.window!=7"}) == Words{"B", "A"});  // the kept one says nothing of it
  CHECK(runs.which({"val_auc>0.955"}).empty());
  CHECK(runs.which({"val_auc==0.955", "monitor_mode=min", "state=done"}).size() == 3);
  CHECK(runs.which({"started<2026-03-02"}).size() == 3);
  const auto refused = [&](const char* text) {
    return error_of([&] { runs.which({text}); }, ExitCode::kUsage);
  };
  CHECK_THAT(refused("gat.lt<1"), Contains("did you mean gat.lr?"));
  CHECK_THAT(refused("vgae.lr<1"), Contains("did you mean gat.lr?"));
  for (const char* text : {"lr", "<1", "lr<", "lr<=", ""}) {
    CHECK_THAT(refused(text), Contains("is no condition"));
  }
}

TEST_CASE("a key that ends several says which", "[runs]") {
  const Indexed runs;
  const fs::path run = write_run(runs.root.path(), "set", "01JDDDDDDDDDDDDDDDDDDDDDQ4",
                                 {step_state("vgae", "autoencoder")});
  write_training(run / "vgae", 4);
  CHECK_THAT(error_of([&] { runs.which({"lr<1"}); }, ExitCode::kUsage),
             Contains("lr may be gat.lr, vgae.lr"));
}

TEST_CASE("a pivot has the mean of the results of a cell and their number", "[runs]") {
  const Indexed runs;
  json metrics = json::parse(read_text(runs.first() / "gat/metrics.json"));
  metrics["val_loss"] = 0.5;
  write_text(runs.first() / "gat/metrics.json", metrics.dump());
  const fs::path more = write_run(runs.root.path(), "set", "01JDDDDDDDDDDDDDDDDDDDDDQ4",
                                  {step_state("gat", "classifier")});
  write_training(more / "gat", 4, 0.01);
  write_run(runs.root.path(), "set", "01JDEEEEEEEEEEEEEEEEEEEEQ5", {});
  RunIndex index(runs.root.path(), "");
  index.read_values();
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4};
  const Pivot pivot = make_pivot(index, all, {"gat.lr"}, {"seed"}, "gat.val_loss");
  CHECK(pivot.rows == std::vector<Words>{{"0.002"}, {"0.01"}});
  CHECK(pivot.cols == std::vector<Words>{{"42"}});
  CHECK(pivot.without_value == 1);
  const PivotCell& cell = pivot.cells.at({1, 0});
  // The step that one run kept of the first is one result, of the run that made it.
  std::vector<std::string> ids;
  for (const std::size_t run : cell.runs) ids.push_back(index.runs()[run].id);
  CHECK(ids == Words{"01JDDDDDDDDDDDDDDDDDDDDDQ4", kFirstRun});
  CHECK(cell.mean == Approx((0.5 + 0.0425) / 2));
  CHECK(pivot_text(index, pivot, cell) == "0.2712");
  // Without that run it is still one, and what is no result is each run's own.
  const Pivot kept = make_pivot(index, {2, 3}, {"gat.lr"}, {}, "gat.val_loss");
  CHECK(kept.cells.at({1, 0}).runs == std::vector<std::size_t>{2});
  const Pivot threads = make_pivot(index, all, {"gat.lr"}, {}, "threads");
  CHECK(threads.cells.at({1, 0}).runs.size() == 3);
  const std::vector<RunKey> differing = differing_options(index, all);
  std::vector<std::string> names;
  for (const RunKey& key : differing) names.push_back(key.name);
  CHECK(std::find(names.begin(), names.end(), "gat.lr") != names.end());
  CHECK(differing_options(index, {1, 4}).size() == 1);  // data.window, which one does not say
}
