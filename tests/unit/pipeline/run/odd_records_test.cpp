// Files of a run in which others wrote something else than this program does.
#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/verbs/verbs.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Ended {
  int code = -1;
  std::string out, err;
};

Ended run_words_of(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = run_command(verbs(), words, out, err);
  return {code, out.str(), err.str()};
}

/// The places of every value of a document.
void add_places(const json& value, const json::json_pointer& at,
                std::vector<json::json_pointer>& to) {
  if (!at.empty()) to.push_back(at);
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    add_places(inner, value.is_array() ? at / std::stoul(key) : at / key, to);
  }
}

}  // namespace

TEST_CASE("run.json with a value of another type is refused by its name", "[runs]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kFirstRun, {step_state("gat", "classifier")});
  const json good = json::parse(read_text(run / "run.json"));
  for (const auto& [key, value] : {std::pair{"steps", json("x")},
                                   {"profile", json(7)},
                                   {"exit_code", json("0")},
                                   {"data", json::array({1})},
                                   {"steps", json::array({"gat"})}}) {
    json bad = good;
    bad[key] = value;
    write_text(run / "run.json", bad.dump());
    for (const char* verb : {"show", "report"}) {
      INFO(key << " " << verb);
      const Ended said =
          verb == std::string("show")
              ? run_words_of({"runs", "show", run.string()})
              : run_words_of({"report", run.string(), "-o", (root / "page").string()});
      CHECK(said.code == 3);
      CHECK_THAT(said.err, Contains((run / "run.json").string()) && Contains(" is not a"));
      CHECK(said.err.find("json.exception") == std::string::npos);
    }
  }
}

TEST_CASE("no value in a file of a run ends a command with another code than 3", "[runs]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun,
                {step_state("gat", "classifier"), step_state("evaluate", "evaluate")},
                {{"data", {{"folder", "x"}, {"windows", 3}}},
                 {"machine", {{"cpu", "c"}}},
                 {"git", {{"commit", "abc"}, {"dirty", true}}},
                 {"versions", {{"libtorch", "2"}}},
                 {"requirements", json::array({{{"figure", "f1"}, {"wanted", 0.5}}})}});
  write_training(run / "gat", 3);
  write_evaluation(run / "evaluate", "gat");
  int cases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = read_text(entry.path());
    const json good = json::parse(text);
    std::vector<json::json_pointer> places;
    add_places(good, json::json_pointer(), places);
    for (const json::json_pointer& place : places) {
      for (const json& other : {json("x"), json(-1.5), json::array({1}), json::object(), json()}) {
        if (good.at(place).type() == other.type() || ++cases % 3 != 0) continue;
        json bad = good;
        bad[place] = other;
        write_text(entry.path(), bad.dump());
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"runs", "show", run.string()},
              {"report", run.string(), "-o", (root / "page").string()},
              {"runs", "compare", run.string(), run.string()},
              {"runs", "list", "--root", root.path().string()},
              {"memory", "report", run.string()}}) {
          const Ended said = run_words_of(words);
          INFO(words[0] << " " << words[1] << ": " << entry.path() << " " << place.to_string()
                        << " = " << other << "\n"
                        << said.err);
          CHECK((said.code == 0 || said.code == 2 || said.code == 3));
          CHECK(said.err.find("json.exception") == std::string::npos);
        }
      }
    }
    write_text(entry.path(), text);
  }
  CHECK(cases > 100);
}
