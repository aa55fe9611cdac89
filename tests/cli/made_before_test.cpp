// Today's program reads what that of commit 55b65d4 made: stores, finished steps and checkpoints.
// tests/data/made_by_55b65d4/make has made them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "support/programs/cli.h"

namespace {

const fs::path kMade = "tests/data/made_by_55b65d4";

/// Kinds of data that were made, and a stage that reads each.
const std::map<std::string, std::string> kKinds = {{"can", "autoencoder"},
                                                   {"trees", "gtssl"},
                                                   {"points", "gtssl"},
                                                   {"texts", "textgcn"},
                                                   {"ratings", "graphsage"}};

/// Those that this program has. A build may leave out fields.
std::vector<std::string> existing_kinds() {
  std::vector<std::string> out;
  for (const auto& [kind, stage] : kKinds) {
    if (has_stage(stage)) out.push_back(kind);
  }
  return out;
}

/// A line of runs.txt: a run, and the steps in which it was stopped once.
struct MadeRun {
  std::string name, words;
  std::vector<std::string> stopped_in;
};

std::vector<MadeRun> made_runs() {
  std::vector<MadeRun> out;
  std::ifstream lines(kMade / "runs.txt");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    MadeRun run;
    std::string steps;
    words >> run.name >> steps >> std::ws;
    std::getline(words, run.words);
    std::istringstream names(steps);
    for (std::string step; std::getline(names, step, ',');) run.stopped_in.push_back(step);
    if (has_stage(kKinds.at(run.name))) out.push_back(run);
  }
  REQUIRE(!out.empty());
  return out;
}

/// All that was made, to work in.
class MadeBefore {
 public:
  MadeBefore() {
    for (const std::string& kind : existing_kinds()) {
      const fs::path archive = fs::absolute(kMade / (kind + ".tar.gz"));
      const CommandResult unpacked =
          run_shell("tar -xzf '" + archive.string() + "'", scratch_.path());
      INFO(unpacked.err);
      REQUIRE(unpacked.exit_code == 0);
    }
    fs::copy_file(kMade / "smoke.yaml", scratch_ / "smoke.yaml");
  }
  const fs::path& path() const { return scratch_.path(); }
  fs::path operator/(const std::string& name) const { return scratch_ / name; }

  /// Today's program, on one thread and with the instructions that `make` took.
  CommandResult must_run(const std::string& words) const {
    CommandResult result = run_shell(
        "KDGAT_ISA=portable ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE "
        "ONEDNN_MAX_CPU_ISA=SSE41 OMP_NUM_THREADS=1 " +
            kdgat_word() + " " + words + " --threads 1 --json",
        scratch_.path());
    INFO(words << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    return result;
  }

 private:
  ScratchFolder scratch_;
};

/// What became of each step.
std::map<std::string, std::string> states(const CommandResult& result) {
  std::map<std::string, std::string> out;
  const json said = json::parse(result.out);
  for (const json& step : said.at("steps")) out[step.at("step")] = step.at("status");
  REQUIRE(!out.empty());
  return out;
}

/// Numbers of the epochs that the journal of a step tells of.
std::vector<int64_t> epochs_of(const fs::path& step) {
  std::vector<int64_t> out;
  std::istringstream journal(read_text(step / "journal.jsonl"));
  for (std::string line; std::getline(journal, line);) {
    const json event = json::parse(line);
    if (event.value("what", "") == "epoch") out.push_back(event.at("index"));
  }
  return out;
}

std::map<int64_t, double> train_losses(const fs::path& step) {
  std::map<int64_t, double> out;
  std::istringstream journal(read_text(step / "journal.jsonl"));
  for (std::string line; std::getline(journal, line);) {
    const json event = json::parse(line);
    if (event.value("what", "") == "epoch") {
      out[event.at("index")] = event.at("values").at("train_loss");
    }
  }
  return out;
}

/// Of every epoch, up to what rounding comes to: other draws differ in the first one.
void check_close_losses(const fs::path& step, const fs::path& other) {
  constexpr int64_t kEarly = 6;
  const std::map<int64_t, double> one = train_losses(step), two = train_losses(other);
  REQUIRE(!one.empty());
  REQUIRE(one.size() == two.size());
  for (const auto& [epoch, loss] : one) {
    INFO("epoch " << epoch);
    CHECK(loss == Approx(two.at(epoch)).epsilon(epoch <= kEarly ? 1e-6 : 0.01));
  }
}

/// Bit for bit, or by the losses of every epoch: each kind of processor rounds in its own way (seen
/// on two of AMD's and two of Intel's), and kernels that became faster since then do, too.
void check_same_weights(const fs::path& step, const fs::path& other) {
  INFO(step << " and " << other);
  REQUIRE(fs::exists(step / "model.safetensors"));
#if defined(__x86_64__)
  const auto one = kdgat::file::SafetensorsFile::open(step / "model.safetensors");
  const auto two = kdgat::file::SafetensorsFile::open(other / "model.safetensors");
  REQUIRE(one.tensors().size() == two.tensors().size());
  std::vector<std::string> differ;
  for (const auto& [name, tensor] : one.tensors()) {
    INFO(name);
    const auto& twin = two.tensor(name);
    REQUIRE(twin.bytes == tensor.bytes);
    if (!std::equal(tensor.data, tensor.data + tensor.bytes, twin.data)) differ.push_back(name);
  }
  if (!differ.empty()) check_close_losses(step, other);
#endif
}

/// What must be the same in a store's file: all of it but the hash of what was imported, which
/// holds the version of the import, and the hashes of headers that hold this one. Of `points` the
/// data alone: its graphs have so many paths that that commit counted some triplets twice, and the
/// header says how many there are.
std::string contents(const fs::path& file, const std::string& domain) {
  static const std::regex changed(R"((\\?"(input|hash\.header|store_hash)\\?":\\?")[0-9a-f]{32})");
  const std::string text = read_text(file);
  if (domain != "points") return std::regex_replace(text, changed, "$1");
  uint64_t length = 0;
  REQUIRE(text.size() > sizeof length);
  std::memcpy(&length, text.data(), sizeof length);
  return text.substr(sizeof length + length);
}

}  // namespace

TEST_CASE("stores made by commit 55b65d4 are sound and are what they were", "[cli][before]") {
  const MadeBefore made;
  std::istringstream hashes(read_text(kMade / "hashes.txt"));
  for (std::string domain, hash; hashes >> domain >> hash;) {
    if (!has_stage(kKinds.at(domain))) continue;
    INFO(domain);
    CHECK(must_kdgat("data verify stores/" + domain, made.path()).out == "ok\n");
    const json seen =
        json::parse(must_kdgat("data inspect stores/" + domain + " --json", made.path()).out);
    CHECK(seen.at("content_hash") == hash);
  }
}

TEST_CASE("what commit 55b65d4 imported is imported to the same bytes", "[cli][before]") {
  const MadeBefore made;
  for (const auto& entry : fs::directory_iterator(made / "sources")) {
    const std::string domain = entry.path().filename().string();
    INFO(domain);
    must_kdgat("data import sources/" + domain + " -o again/" + domain, made.path());
    for (const auto& file : fs::directory_iterator(made / "stores" / domain)) {
      INFO(file.path());
      CHECK(contents(file.path(), domain) ==
            contents(made / "again" / domain / file.path().filename(), domain));
    }
  }
}

TEST_CASE("finished steps of commit 55b65d4 are kept, and its runs are read", "[cli][before]") {
  const MadeBefore made;
  for (const MadeRun& run : made_runs()) {
    INFO(run.name);
    const std::string root = "finished/" + run.name;
    const fs::path folder = newest_run(made / root / run.name);
    for (const auto& [step, state] : states(made.must_run(run.words + " --root " + root))) {
      INFO(step);
      CHECK(state == "kept");
    }
    const std::string id = folder.filename().string();
    CHECK_THAT(must_kdgat("runs list --root " + root, made.path()).out, Catch::Contains("done"));
    CHECK_THAT(must_kdgat("runs show " + folder.string(), made.path()).out, Catch::Contains(id));
    must_kdgat("report " + folder.string() + " -o " + run.name + ".html", made.path());
    CHECK_THAT(read_text(made / (run.name + ".html")), Catch::Contains(id));
  }
}

TEST_CASE("runs that commit 55b65d4 was stopped in end with the weights of its undisturbed ones",
          "[cli][before]") {
  const MadeBefore made;
  for (const MadeRun& run : made_runs()) {
    const fs::path undisturbed = newest_run(made / "finished" / run.name / run.name);
    for (const std::string& stopped : run.stopped_in) {
      INFO(run.name << " stopped in " << stopped);
      const std::string root = "stopped/" + stopped;
      const fs::path folder = newest_run(made / root / run.name, stopped);
      REQUIRE(epochs_of(folder / stopped).size() >= 2);
      REQUIRE_FALSE(fs::exists(folder / stopped / "model.safetensors"));
      const fs::path finished = folder / "autoencoder" / "journal.jsonl";  // if it was, by then
      const std::string journal = stopped == "classifier" ? read_text(finished) : "";
      for (const auto& [step, state] : states(made.must_run(run.words + " --root " + root))) {
        INFO(step);
        CHECK(state == "done");
      }
      if (stopped == "classifier") CHECK(read_text(finished) == journal);
      CHECK(newest_run(made / root / run.name, stopped) == folder);
      CHECK(epochs_of(folder / stopped) == epochs_of(undisturbed / stopped));  // none twice
      check_same_weights(folder / stopped, undisturbed / stopped);
    }
  }
}

TEST_CASE("today's program trains to the weights of commit 55b65d4", "[cli][before]") {
  const MadeBefore made;
  for (const MadeRun& run : made_runs()) {
    INFO(run.name);
    made.must_run(run.words + " --root again");
    const fs::path today = newest_run(made / "again" / run.name);
    const fs::path before = newest_run(made / "finished" / run.name / run.name);
    for (const std::string& step : run.stopped_in) check_same_weights(today / step, before / step);
  }
}
