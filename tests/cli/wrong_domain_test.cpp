// Data of a domain that a stage does not read: refused before anything runs.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/programs/cli.h"

namespace {

/// Data that had to be imported to be refused are no run.
bool has_run(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "run.json") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("data of a wrong domain is refused by the plan, before there is a run folder",
          "[cli][domain]") {
  if (!has_all_fields()) return;
  const ScratchFolder scratch;
  const std::vector<std::pair<std::string, std::string>> data = {
      {"can", "--seconds 4 --vehicles 1 --attacks dos"},
      {"space", "--kind tree --graphs 6 --nodes 20"},
      {"texts", "--kind text --graphs 12 --nodes 20"},
      {"ratings", "--kind ratings --graphs 12 --nodes 8"},
      {"molecules", "--kind molecules --graphs 12 --nodes 40"},
      {"graphs", "--kind graphs --graphs 40 --nodes 8 --classes 3"}};
  for (const auto& [domain, options] : data) {
    must_kdgat("data synth -o " + domain + " " + options, scratch.path());
  }
  // Each stage that reads a data set, by the domain it reads; some read labelled graphs, too.
  const std::map<std::string, std::vector<std::string>> stages = {
      {"can", {"autoencoder", "classifier", "curriculum", "distill", "fusion", "evaluate"}},
      {"space", {"gtssl", "finetune"}},
      {"texts", {"textgcn"}},
      {"ratings", {"graphsage"}},
      {"molecules", {"equivariant"}}};
  const std::set<std::string> of_both = {"classifier", "curriculum", "distill", "evaluate"};
  const std::set<std::string> of_two_classes = {"autoencoder", "fusion"};
  for (const auto& [own, names] : stages) {
    std::string profile = "stages:\n";
    for (const std::string& stage : names) profile += "  " + stage + ": {}\n";
    std::ofstream(scratch / (own + ".yaml")) << profile;
    for (const auto& [domain, options] : data) {
      if (domain == own) continue;
      const CommandResult run =
          run_kdgat("run --config " + own + ".yaml --data " + domain, scratch.path());
      CHECK(run.exit_code == 3);
      for (const std::string& stage : names) {
        INFO(stage << " on " << domain);
        const bool is_of_two = of_two_classes.contains(stage);
        const std::string read = own + (of_both.contains(stage) ? ", graphs"
                                        : is_of_two             ? ", graphs of 2 classes"
                                                                : "");
        const bool is_refused = run.err.find("the stage " + stage + " reads data of the domain " +
                                             read + ", this is " + domain) != std::string::npos;
        CHECK(is_refused == !(of_both.contains(stage) && domain == "graphs"));
      }
      CHECK_THAT(run.err, Catch::Contains("stages for such data: "));
      CHECK_FALSE(has_run(scratch / "runs"));
    }
  }
  // A store that is there says the same, and so does the plan alone.
  must_kdgat("data import texts -o store", scratch.path());
  for (const char* verb : {"run", "plan"}) {
    const CommandResult store =
        run_kdgat(std::string(verb) + " classifier --data store", scratch.path());
    CHECK(store.exit_code == 3);
    CHECK_THAT(store.err, Catch::Contains("domain can, graphs, this is texts"));
  }
  CHECK_FALSE(has_run(scratch / "runs"));
}

TEST_CASE("data that a run refuses, its dry run refuses", "[cli][domain]") {
  if (!has_all_fields()) return;
  const ScratchFolder scratch;
  must_kdgat("data synth -o can --seconds 4 --vehicles 1 --attacks dos", scratch.path());
  must_kdgat("data synth -o texts --kind text --graphs 12 --nodes 20", scratch.path());
  must_kdgat("data import can -o store window=50", scratch.path());
  const std::tuple<std::string, int, std::string> cases[] = {
      {"autoencoder --data nowhere", 3, "no such file"},
      {"autoencoder --data texts", 3, "this is texts"},
      {"autoencoder --data store data.window=80", 2, "was made with 50"},
      {"textgcn --data texts data.window=80", 2, "word_window"},
      {"textgcn --data store", 3, "this is can"},
      {"autoencoder", 2, "no input data is named"}};
  for (const auto& [words, code, said] : cases) {
    for (const char* verb : {"run ", "run --dry-run ", "plan --explain "}) {
      INFO(verb << words);
      const CommandResult result = run_kdgat(verb + words, scratch.path());
      CHECK(result.exit_code == code);
      CHECK_THAT(result.err, Catch::Contains(said));
    }
  }
}
