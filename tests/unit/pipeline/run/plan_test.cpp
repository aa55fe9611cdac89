#include "pipeline/run/plan.h"

#include <catch2/catch.hpp>

#include "support/runs/fake_plan.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

constexpr const char* kData = "3f9c0123456789";  // its fingerprint

const Profile kUsual = fake_profile(
    {fake_step("a", "trainer"), fake_step("b", "trainer"), fake_step("score", "scorer")});

Plan plan_of(const Profile& profile, const std::vector<PastStep>& past = {},
             const PlanRequest& request = {}, const std::string& data = kData) {
  return make_plan(profile, fake_catalog(), data, past, request);
}

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> out;
  for (const PlannedStep& step : plan.steps) out.push_back(step.spec.name);
  return out;
}

std::string actions(const Plan& plan) {
  std::string out;
  for (const PlannedStep& step : plan.steps) out += step.action == Action::kKeep ? 'k' : 'r';
  return out;
}

std::string message_of(const Profile& profile, const PlanRequest& request = {}) {
  try {
    plan_of(profile, {}, request);
  } catch (const Error& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "no error";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("plan gives graphs from the data and models from every earlier step", "[plan]") {
  const Plan plan = plan_of(kUsual);
  CHECK(names(plan) == Words{"a", "b", "score"});
  CHECK(plan.steps[0].inputs.at("graphs") == Words{"data"});
  CHECK(plan.steps[2].inputs.at("models") == Words{"a", "b"});
  CHECK(plan.steps[2].needs == Words{"data", "a", "b"});
  CHECK(actions(plan) == "rrr");
  CHECK(plan.steps[0].reason == "never ran");
}

TEST_CASE("plan lets needs override what would be taken by kind", "[plan]") {
  Profile profile = kUsual;
  profile.steps[2].needs = {"b"};
  const Plan plan = plan_of(profile);
  CHECK(plan.steps[2].inputs.at("models") == Words{"b"});
  CHECK(plan.steps[2].inputs.at("graphs") == Words{"data"});
}

TEST_CASE("plan orders steps by their needs and by the file where free", "[plan]") {
  const Plan plan =
      plan_of(fake_profile({fake_step("late", "refiner", {"early"}), fake_step("free", "trainer"),
                            fake_step("early", "trainer")}));
  CHECK(names(plan) == Words{"free", "early", "late"});
}

TEST_CASE("data of a domain that a stage does not read is refused with what would fit", "[plan]") {
  PluginCatalog catalog = fake_catalog();
  PluginDescription trees = *catalog.find("trainer");
  trees.name = "trees";
  trees.inputs.front().domain = "space";
  catalog.add(trees);
  const auto check = [&](const Profile& profile, const std::string& domain) {
    check_domains(make_plan(profile, catalog, kUnknownData, {}, {}), catalog, {domain});
  };
  const Profile of_trees = fake_profile({fake_step("a", "trees")});
  CHECK_NOTHROW(check(of_trees, "space"));
  CHECK_NOTHROW(check(of_trees, ""));     // not known yet
  CHECK_NOTHROW(check(kUsual, "texts"));  // its stages read any
  try {
    check(of_trees, "texts");
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kData);
    CHECK_THAT(e.what(), Contains("p.yaml:1: a: the stage trees reads data of the domain space, "
                                  "this is texts") &&
                             Contains("no stage here reads such data"));
  }
}

TEST_CASE("labelled graphs of more classes than a stage takes are refused with what would fit",
          "[plan]") {
  PluginCatalog catalog = fake_catalog();
  PluginDescription two = *catalog.find("trainer");
  two.name = "two";
  two.inputs.front().domain = "can, graphs of 2 classes";
  catalog.add(two);
  PluginDescription any = two;
  any.name = "any";
  any.inputs.front().domain = "can, graphs";
  catalog.add(any);
  const auto check = [&](const std::string& stage, const DataKind& data) {
    const Profile profile = fake_profile({fake_step("a", stage)});
    check_domains(make_plan(profile, catalog, kUnknownData, {}, {}), catalog, data);
  };
  for (const int64_t classes : {-1, 2}) CHECK_NOTHROW(check("two", {"graphs", classes}));
  CHECK_NOTHROW(check("two", {"can"}));
  for (const int64_t classes : {-1, 0, 1, 2, 20}) CHECK_NOTHROW(check("any", {"graphs", classes}));
  for (const int64_t classes : {0, 1, 3, 20}) {
    try {
      check("two", {"graphs", classes});
      FAIL("it was not refused");
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kData);
      CHECK_THAT(e.what(),
                 Contains("p.yaml:1: a: the stage two reads data of the domain can, graphs "
                          "of 2 classes, this is graphs " +
                          (classes == 0 ? std::string("without classes\n")
                                        : "of " + std::to_string(classes) +
                                              (classes == 1 ? " class\n" : " classes\n"))) &&
                     Contains("stages for such data: any"));
    }
  }
  CHECK_THROWS_WITH(check("two", {"texts", 2}), Contains("2 classes, this is texts\n"));
}

TEST_CASE("what data of a domain alone require may lack for other data", "[plan]") {
  PluginCatalog catalog = fake_catalog();
  PluginDescription judge = *catalog.find("refiner");
  judge.name = "judge";
  judge.inputs = {{"graphs", "graphs", true, false, "can, graphs"},
                  {"teacher", "model", true, false, "can"},
                  {"helper", "model", false}};
  catalog.add(judge);
  const auto check = [&](const Profile& profile, const std::string& domain) {
    const Plan plan = make_plan(profile, catalog, kUnknownData, {}, {});
    check_domains(plan, catalog, {domain});
    return plan.steps.back();
  };
  const Profile alone = fake_profile({fake_step("a", "judge")});
  CHECK_NOTHROW(check(alone, "graphs"));
  CHECK_NOTHROW(check(alone, ""));  // not known yet
  try {
    check(alone, "can");
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kUsage);
    CHECK_THAT(e.what(), Contains("p.yaml:1: input \"teacher\" of judge") &&
                             Contains("made by no step before it") && Contains("trainer"));
  }
  // Where a step before it makes it, it is taken by kind as any required input is.
  const Profile after = fake_profile({fake_step("t", "trainer"), fake_step("a", "judge")});
  const PlannedStep step = check(after, "can");
  CHECK(step.inputs.at("teacher") == Words{"t"});
  CHECK_FALSE(step.inputs.contains("helper"));
}

TEST_CASE("plan refuses two producers for a single input and names them", "[plan]") {
  const std::string text = message_of(fake_profile(
      {fake_step("a", "trainer"), fake_step("b", "trainer"), fake_step("r", "refiner")}));
  CHECK_THAT(text, Contains("2 p.yaml:1: input \"teacher\"") && Contains("a and b make it"));
}

TEST_CASE("plan refuses what cannot be wired, all at once", "[plan]") {
  CHECK_THAT(message_of(fake_profile({fake_step("r", "refiner")})), Contains("made by no step"));
  CHECK_THAT(message_of(fake_profile(
                 {fake_step("a", "trainer", {"x"}), fake_step("b", "trainer", {"y"})})),
             Contains("needs x, which is not a step") && Contains("needs y, which is not a step"));
  CHECK_THAT(message_of(fake_profile(
                 {fake_step("a", "refiner", {"b"}), fake_step("b", "refiner", {"a"})})),
             Contains("in a circle: a, b"));
  CHECK_THAT(message_of(fake_profile({fake_step("a", "trainer", {"a"})})),
             Contains("needs itself"));
  CHECK_THAT(
      message_of(fake_profile({fake_step("a", "painter")})),
      Contains("4 p.yaml:1: no plugin for stage painter") && Contains("refiner, scorer, trainer"));
  CHECK_THAT(message_of(fake_profile({fake_step("data", "trainer")})),
             Contains("cannot name a step"));
  CHECK_THAT(message_of(fake_profile({fake_step("../a", "trainer")})),
             Contains("cannot name a step"));
  CHECK_THAT(message_of(fake_profile({})), Contains("no steps"));
}

TEST_CASE("plan keeps a step whose fingerprint stands and says as what", "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual));
  const Plan plan = plan_of(kUsual, past);
  CHECK(actions(plan) == "kkk");
  CHECK(plan.steps[0].reason == "same data 3f9c…, options, stage version 1 as run 01JD…B2");
  CHECK(plan.steps[0].kept->facts.at("width") == 4);
  CHECK(plan.warnings.empty());
}

TEST_CASE("plan reruns a step whose option changed, and what reads it", "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual));
  Profile profile = kUsual;
  profile.steps[0].options.values["lr"] = 0.001;
  const Plan plan = plan_of(profile, past);
  CHECK(actions(plan) == "rkr");
  CHECK(plan.steps[0].reason == "option changed: a.lr 0.1 -> 0.001 (p.yaml:7)");
  CHECK(plan.steps[2].reason == "input changed: a is new");
}

TEST_CASE("plan keeps a step when only an option without effect on results changed", "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual));
  Profile profile = kUsual;
  profile.steps[0].options.values["log_every"] = 99;
  CHECK(actions(plan_of(profile, past)) == "kkk");
}

TEST_CASE("plan keeps what was made before an option came, as long as that is at its default",
          "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual));
  PluginCatalog catalog = fake_catalog();
  PluginDescription trainer = *catalog.find("trainer");
  trainer.options["properties"]["ablate"] = {
      {"type", "string"}, {"default", "none"}, {"x-later", true}};
  trainer.options["properties"]["depth"] = {{"type", "integer"}, {"default", 2}};
  catalog.add(trainer);
  Profile profile = kUsual;
  const auto plan = [&] { return make_plan(profile, catalog, kData, past, {}); };
  const std::string before = plan_of(kUsual).fingerprint;
  profile.steps[0].options.values["ablate"] = "none";
  CHECK(actions(plan()) == "kkk");
  CHECK(plan().fingerprint == before);  // and an unfinished run is continued
  profile.steps[0].options.values["ablate"] = "structure";
  CHECK(actions(plan()) == "rkr");
  CHECK(plan().steps[0].reason == "option changed: a.ablate (new) -> \"structure\"");
  profile.steps[0].options.values["ablate"] = "none";
  profile.steps[0].options.values["depth"] = 2;  // was not always so
  CHECK(actions(plan()) == "rkr");
}

TEST_CASE("plan reruns a step whose input, seed or stage version changed", "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual));
  const Plan other_data = plan_of(kUsual, past, {}, "77aa0123456789");
  CHECK(actions(other_data) == "rrr");
  CHECK(other_data.steps[0].reason == "input changed: data 3f9c… -> 77aa…");

  Profile seeded = kUsual;
  seeded.seed = 1;
  CHECK(plan_of(seeded, past).steps[1].reason == "seed changed: 42 -> 1");

  PluginCatalog catalog = fake_catalog();
  PluginDescription trainer = *catalog.find("trainer");
  trainer.version = 2;
  catalog.add(trainer);
  const Plan newer = make_plan(kUsual, catalog, "3f9c0123456789", past, {});
  CHECK(actions(newer) == "rrr");
  CHECK(newer.steps[0].reason == "stage version changed: 1 -> 2");
}

TEST_CASE("plan warns about a plugin built again but keeps its results", "[plan]") {
  std::vector<PastStep> past = past_of(plan_of(kUsual));
  past[0].library_hash = "another";
  const Plan plan = plan_of(kUsual, past);
  CHECK(actions(plan) == "kkk");
  REQUIRE(plan.warnings.size() == 1);
  CHECK_THAT(plan.warnings[0], Contains("a: its plugin was built again since run 01JD…B2"));
  // One cause is one warning.
  past[1].library_hash = past[2].library_hash = "another";
  const Plan all = plan_of(kUsual, past);
  CHECK(actions(all) == "kkk");
  REQUIRE(all.warnings.size() == 1);
  CHECK_THAT(all.warnings[0], Contains(": their plugins were built again since run 01JD…B2"));
}

TEST_CASE("plan does not keep a step whose output files are gone", "[plan]") {
  std::vector<PastStep> past = past_of(plan_of(kUsual));
  past[0].missing = "runs/a/model.safetensors";
  const Plan plan = plan_of(kUsual, past);
  CHECK(actions(plan) == "rkk");
  CHECK(plan.steps[0].reason == "output of run 01JD…B2 is gone: runs/a/model.safetensors");
}

TEST_CASE("plan keeps nothing while the data is not imported", "[plan]") {
  const std::vector<PastStep> past = past_of(plan_of(kUsual, {}, {}, kUnknownData));
  const Plan plan = plan_of(kUsual, past, {}, kUnknownData);
  CHECK(actions(plan) == "rrr");
  CHECK(plan.steps[2].reason == "unknown until imported");
}

TEST_CASE("plan narrows to a step with its needs, from, until, and forces from there on",
          "[plan]") {
  const Profile chain = fake_profile(
      {fake_step("a", "trainer"), fake_step("r", "refiner"), fake_step("score", "scorer", {"r"})});
  const std::vector<PastStep> past = past_of(plan_of(chain));
  const auto with = [&](const PlanRequest& request) { return plan_of(chain, past, request); };
  CHECK(names(with({"r", "", "", false})) == Words{"a", "r"});
  CHECK(names(with({"", "", "r", false})) == Words{"a", "r"});
  CHECK(names(with({"", "score", "", false})) == Words{"a", "r", "score"});
  CHECK(actions(with({"", "score", "", false})) == "kkr");
  CHECK(actions(with({"", "r", "", false})) == "krr");
  CHECK(actions(with({"", "", "", true})) == "rrr");
  CHECK(actions(with({"", "r", "", true})) == "krr");
  CHECK(actions(with({"r", "", "", true})) == "kr");
  CHECK(with({"", "r", "", true}).steps[1].reason == "forced");
  CHECK_THAT(message_of(chain, {"x", "", "", false}), Contains("no step is called x"));
  CHECK_THAT(message_of(chain, {"", "y", "", false}), Contains("--from: no step is called y"));
  CHECK_THAT(message_of(chain, {"", "r", "a", false}), Contains("comes before"));
}

TEST_CASE("from makes no step again that does not depend on it", "[plan]") {
  const PlanRequest from_b{"", "b", "", false};
  const Plan plan = plan_of(kUsual, past_of(plan_of(kUsual)), from_b);
  CHECK(names(plan) == Words{"a", "b", "score"});
  CHECK(actions(plan) == "krr");
  const PlanRequest from_a{"", "a", "", false};
  CHECK(actions(plan_of(kUsual, past_of(plan_of(kUsual)), from_a)) == "rkr");
}

TEST_CASE("plan names an unfinished run by all its steps", "[plan]") {
  Profile profile = kUsual;
  const std::string before = plan_of(profile).fingerprint;
  CHECK(plan_of(profile).fingerprint == before);
  CHECK(plan_of(profile, past_of(plan_of(profile))).fingerprint == before);
  profile.steps[1].options.values["lr"] = 0.5;
  CHECK(plan_of(profile).fingerprint != before);
}

TEST_CASE("a limit of memory is part of what was done, and of nothing where none is set",
          "[plan]") {
  const Plan free = plan_of(kUsual);
  CHECK(!free.steps[0].ingredients.contains("memory_limit"));
  Profile limited = kUsual;
  limited.memory_limit = uint64_t{2} << 30;
  const Plan plan = plan_of(limited, past_of(free));
  CHECK(actions(plan) == "rrr");
  CHECK(plan.steps[0].reason == "memory limit changed: none -> 2GiB");
  CHECK(actions(plan_of(limited, past_of(plan))) == "kkk");
  // How memory is kept changes no result.
  limited.allocator = "max_split_size_mb:128";
  CHECK(plan_of(limited).fingerprint == plan.fingerprint);
}
