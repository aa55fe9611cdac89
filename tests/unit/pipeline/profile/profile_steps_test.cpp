// Which steps a profile has, and of which stages.
#include "pipeline/profile/profile_steps.h"

#include <catch2/catch.hpp>

#include "support/runs/profile_case.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;

TEST_CASE("a profile keeps its steps in order and fills every default", "[profile]") {
  ProfileCase c;
  const Profile p = c.config(
                         "dataset: hcrl_sa\n"
                         "seed: 7\n"
                         "stages:\n"
                         "  classifier teacher: {stage: classifier, needs: [data]}\n"
                         "  autoencoder: {lr: 0.01}\n"
                         "  evaluate:\n")
                        .resolve();
  REQUIRE(p.steps.size() == 3);
  CHECK(p.name == "profile");
  CHECK(p.dataset == "hcrl_sa");
  CHECK(p.seed == 7);
  CHECK(p.steps[0].name == "classifier teacher");
  CHECK(p.steps[0].stage == "classifier");
  CHECK(p.steps[0].needs == std::vector<std::string>{"data"});
  CHECK(p.steps[1].options.values.size() == 6);
  CHECK(option(p, "autoencoder", "lr") == 0.01);
  CHECK(option(p, "autoencoder", "batch_size") == 4096);
  CHECK(p.steps[1].options.origin.at("lr") == (c.folder / "profile.yaml").string() + ":5");
  CHECK(p.steps[1].options.origin.at("batch_size") == "default");
  CHECK(p.steps[2].where == (c.folder / "profile.yaml").string() + ":6");
}

TEST_CASE("a step takes the options of its own presets, and no steps", "[profile]") {
  ProfileCase c;
  c.file("student.yaml", "options: {autoencoder: {lr: 0.5, batch_size: 7}, classifier: {lr: 1}}\n");
  c.file("gat.yaml", "preset: student\nstages: {autoencoder: {lr: 0.25}, evaluate: }\n");
  c.config(
      "stages:\n"
      "  small: {stage: autoencoder, preset: gat}\n"
      "  large: {stage: autoencoder, batch_size: 9, preset: [student]}\n"
      "options: {autoencoder: {max_epochs: 3}}\n");
  const Profile p = c.resolve();
  REQUIRE(p.steps.size() == 2);
  CHECK(p.name == "profile");
  CHECK(option(p, "small", "lr") == 0.25);
  CHECK(option(p, "small", "batch_size") == 7);
  CHECK(option(p, "small", "max_epochs") == 3);
  CHECK(option(p, "large", "lr") == 0.5);
  CHECK(option(p, "large", "batch_size") == 9);
  CHECK(step(p, "small").options.origin.at("lr") == (c.folder / "gat.yaml").string() + ":2");
  c.config("stages: {small: {stage: autoencoder, preset: studen}}\n");
  CHECK(c.problems() == "profile.yaml:1: unknown preset studen\n  hint: did you mean student?");
  c.file("gat.yaml", "stages: {mine: {stage: autoencoder, preset: gat}}\n");
  c.config("preset: gat\n");
  CHECK(c.problems().find("preset gat includes itself") != std::string::npos);
}

TEST_CASE("run STAGE chooses a step, or adds one", "[profile]") {
  ProfileCase c;
  c.request.stage = "autoencoder";
  CHECK(c.resolve().only == "autoencoder");
  c.config("stages:\n  big: {stage: classifier}\n  autoencoder:\n");
  CHECK(c.resolve().steps.size() == 2);
  c.request.stage = "classifier";
  CHECK(c.resolve().only == "big");
  c.config("stages:\n  big: {stage: classifier}\n  small: {stage: classifier}\n");
  CHECK(c.problems() == "several steps run the stage classifier\n  hint: name one: big, small");
  c.request.stage = "small";
  CHECK(c.resolve().only == "small");
  c.request.stage = "normal";
  CHECK(c.problems() ==
        "unknown stage normal (command line)\n"
        "  hint: the published stage normal is classifier here");
}

TEST_CASE("steps and stages with blanks are named with underscores in keys", "[profile]") {
  ProfileCase c;
  c.config("stages:\n  classifier teacher: {stage: classifier}\n  classifier:\n");
  c.set("classifier_teacher.lr", "0.1").set("classifier.lr", "0.2");
  const Profile p = c.resolve();
  CHECK(option(p, "classifier teacher", "lr") == 0.1);
  CHECK(option(p, "classifier", "lr") == 0.2);
}

TEST_CASE("a value for all steps leaves alone what sets steps of one stage apart", "[profile]") {
  ProfileCase c;
  c.file("two.yaml",
         "options: {classifier: {hidden: 16, lr: 0.1}}\n"
         "stages:\n"
         "  classifier:\n"
         "  without edges: {stage: classifier, hidden: 1, lr: 0.1}\n"
         "  autoencoder: {lr: 0.2}\n");
  c.request.presets = {"two"};
  const auto note = [](const Profile& p) {
    return p.notes.empty() ? "" : problem_text(p.notes[0]);
  };
  SECTION("the command line, the environment and a file above it alike, and a note says so") {
    const int way = GENERATE(0, 1, 2);
    if (way == 0) c.set("gat_hidden", "8");
    if (way == 1) c.request.environment["KDGAT_HIDDEN"] = "8";
    if (way == 2) c.config("hidden: 8\n");
    const Profile p = c.resolve();
    CHECK(option(p, "classifier", "hidden") == 8);
    CHECK(option(p, "without edges", "hidden") == 1);
    REQUIRE(p.notes.size() == 1);
    CHECK_THAT(note(p), Contains("hidden=8 does not apply to steps for which the profile sets"));
    CHECK_THAT(note(p), Contains("hidden: without edges (1)"));
    CHECK_THAT(note(p), Contains("hidden=8'"));
  }
  SECTION("a value that they share is changed in all of them, without a note") {
    const Profile p = c.set("lr", "0.3").resolve();
    for (const char* name : {"classifier", "without edges", "autoencoder"}) {
      CHECK(option(p, name, "lr") == 0.3);
    }
    CHECK(p.notes.empty());
  }
  SECTION("the name of the step changes that step") {
    const Profile p = c.set("without_edges.hidden", "4").set("classifier.hidden", "5").resolve();
    CHECK(option(p, "classifier", "hidden") == 5);
    CHECK(option(p, "without edges", "hidden") == 4);
    CHECK(p.notes.empty());
  }
  SECTION("the name of the stage changes all its steps, and a note says which had their own") {
    const Profile p = c.set("options.classifier.hidden", "8").resolve();
    CHECK(option(p, "without edges", "hidden") == 8);
    CHECK_THAT(note(p), Contains("classifier.hidden=8 replaces"));
    CHECK_THAT(note(p), Contains("single steps: without edges (1)"));
  }
  SECTION("a value that is refused is refused though it would not apply") {
    c.file("two.yaml",
           "stages:\n"
           "  a: {stage: classifier, hidden: 1}\n"
           "  b: {stage: classifier, hidden: 2}\n");
    CHECK_THAT(c.set("hidden", "many").problems(), Contains("a.hidden: \"many\" is not"));
  }
  SECTION("presets of a step count as the profile that names them") {
    c.file("large.yaml", "options: {classifier: {hidden: 64}}\n");
    c.config(
        "stages:\n"
        "  a: {stage: classifier, preset: large}\n"
        "  b: {stage: classifier}\n"
        "options: {classifier: {lr: 0.4}}\n");
    const Profile p = c.set("hidden", "8").set("lr", "0.7").resolve();
    CHECK(option(p, "a", "hidden") == 64);
    CHECK(option(p, "b", "hidden") == 8);
    CHECK(option(p, "a", "lr") == 0.7);
    CHECK_THAT(note(p), Contains("hidden: without edges (1), a (64)"));
  }
}

TEST_CASE("nothing named is an error that says what to type", "[profile]") {
  CHECK(ProfileCase().problems().find("nothing to run: no preset") == 0);
  ProfileCase c;
  CHECK(c.config("seed: 1\n").problems().find("nothing to run: profile has no stages") == 0);
}

TEST_CASE("a stage whose description is broken is a plugin error", "[profile]") {
  ProfileCase c;
  c.file("kdgat_distill.json", "{");
  c.catalog = PluginCatalog::scan({c.folder.path()});
  c.config("options: {distill: {temperature: 2}}\n");
  c.request.stage = "distill";
  try {
    c.resolve();
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kPlugin);
  }
}

TEST_CASE("a description whose options are malformed is broken", "[profile]") {
  ProfileCase c;
  c.file("kdgat_distill.json",
         R"({"name": "distill", "library": "kdgat_distill.so", "abi": {"major": 1, "minor": 0},
             "version": 1, "library_hash": "0", "inputs": [], "outputs": [],
             "options": {"properties": {"temperature": 3}}})");
  const PluginCatalog catalog = PluginCatalog::scan({c.folder.path()});
  CHECK(catalog.find("distill") == nullptr);
  REQUIRE(catalog.problems().contains("distill"));
  CHECK_THAT(catalog.problems().at("distill").message, Contains("an option is not an object"));
}
