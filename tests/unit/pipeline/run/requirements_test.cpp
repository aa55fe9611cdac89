// Expressions of --require: read, checked against names, judged. No run and no disk.
#include "pipeline/run/requirements.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pipeline/run/step_metrics.h"

using namespace kdgat;
using Catch::Contains;
using nlohmann::json;

namespace {

Requirement read(const std::string& text) {
  std::vector<Diagnostic> problems;
  const auto out = read_requirement(text, "here", problems);
  INFO(text << (problems.empty() ? "" : problems.front().text()));
  REQUIRE(out);
  return *out;
}

std::string problem_of(const std::string& text) {
  std::vector<Diagnostic> problems;
  CHECK_FALSE(read_requirement(text, "here", problems));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].where == "here");
  CHECK_THAT(problems[0].hint, Contains("classifier.test_01.f1>=0.9"));
  return problems[0].message;
}

Figure figure(const std::string& model, const std::string& part, const std::string& name,
              double value) {
  Figure out(name, value);
  out.model = model;
  out.part = part;
  return out;
}

const std::vector<std::string> kSteps = {"autoencoder", "classifier", "classifier teacher",
                                         "evaluate"};

std::vector<Figure> some_figures() {
  return {figure("classifier", "", "val_loss", 0.05),
          figure("classifier", "", "best_epoch", 38200),
          figure("classifier", "val", "f1", 0.95),
          figure("classifier", "test_01_known", "f1", 0.8712),
          figure("classifier", "test_01_known", "auc", 0.99),
          figure("classifier", "test_02_new", "f1", 0.89999999),
          figure("classifier teacher", "test_01_known", "f1", 0.97)};
}

JudgedRequirement judged(const std::string& text) {
  return judge_requirements({read(text)}, kSteps, some_figures()).at(0);
}

KnownNames known() {
  UsualFigures usual = usual_figures();
  usual.of_parts.insert(usual.of_parts.end(), {"precision", "recall"});  // as evaluate announces
  return {kSteps, std::vector<std::string>{"train", "val", "test_01_known", "test_02_new"},
          usual.of_steps, usual.of_parts};
}

std::vector<Diagnostic> unknown(const std::string& text) {
  return check_names({read(text)}, known());
}

}  // namespace

TEST_CASE("a requirement is a figure, a relation and a number", "[require]") {
  const Requirement one = read(" classifier.test_01.f1 >= 0.9 ");
  CHECK(one.step == "classifier");
  CHECK(one.part == "test_01");
  CHECK(one.figure == "f1");
  CHECK(one.text() == "classifier.test_01.f1 >= 0.9");
  CHECK(read(one.text()).text() == one.text());  // as it is frozen for a job
  CHECK(read("fusion.best_epoch<3").part.empty());
  for (const auto& [relation, below, equal, above] :
       std::vector<std::tuple<std::string, bool, bool, bool>>{{">=", false, true, true},
                                                              {">", false, false, true},
                                                              {"<=", true, true, false},
                                                              {"<", true, false, false},
                                                              {"==", false, true, false}}) {
    const Requirement r = read("a.b" + relation + "-1.5e1");
    CHECK(r.holds(-16) == below);
    CHECK(r.holds(-15) == equal);
    CHECK(r.holds(-14) == above);
  }
}

TEST_CASE("what is no requirement says why", "[require]") {
  CHECK_THAT(problem_of("classifier.f1"), Contains("says no relation"));
  CHECK_THAT(problem_of("classifier.f1=0.9"), Contains("\"=\" is no relation"));
  CHECK_THAT(problem_of("classifier.f1=>0.9"), Contains("\"=>\" is no relation"));
  CHECK_THAT(problem_of("classifier.f1>=high"), Contains("\"high\" is not a number"));
  CHECK_THAT(problem_of("classifier.f1>=0.9x"), Contains("is not a number"));
  CHECK_THAT(problem_of("classifier.f1>=nan"), Contains("is not a number"));
  CHECK_THAT(problem_of("classifier.f1>="), Contains("is not a number"));
  CHECK_THAT(problem_of("f1>=0.9"), Contains("names no figure of a step"));
  CHECK_THAT(problem_of("a.b.c.d>=0.9"), Contains("names no figure of a step"));
  CHECK_THAT(problem_of("classifier..f1>=0.9"), Contains("names no figure of a step"));
  CHECK_THAT(problem_of(""), Contains("says no relation"));
}

TEST_CASE("names are found by their beginning, and typing mistakes before a run", "[require]") {
  for (const char* good :
       {"classifier.test_01.f1>=0.9", "auto.val_l<1", "Classifier-Teacher.val.F1>0",
        "eval.test_02.prec>=0", "classifier.best_epoch<9", "classifier.val.f1>=0"}) {
    INFO(good);
    CHECK(unknown(good).empty());
  }
  const auto message = [](const std::string& text) {
    const std::vector<Diagnostic> found = unknown(text);
    REQUIRE(found.size() == 1);
    return found[0].text();
  };
  CHECK_THAT(message("clasifier.test_01.f1>=0.9"),
             Contains("there is no step \"clasifier\"") && Contains("classifier teacher"));
  CHECK_THAT(message("class.val_loss<1"),
             Contains("more than one step begins with \"class\"") && Contains("classifier, "));
  CHECK_THAT(message("classifier.test_03.f1>=0.9"),
             Contains("there is no part \"test_03\"") && Contains("test_02_new"));
  CHECK_THAT(message("classifier.test.f1>=0.9"), Contains("more than one part begins with"));
  CHECK_THAT(message("classifier.test_01.fl>=0.9"),
             Contains("there is no figure of a part \"fl\"") && Contains("accuracy, "));
  CHECK_THAT(message("classifier.f1>=0.9"),
             Contains("there is no figure of a whole step \"f1\"") && Contains("val_loss"));
  CHECK(unknown("x.y.z>1").size() == 3);
  KnownNames early = known();  // before the data are imported
  early.parts.reset();
  CHECK(check_names({read("classifier.test_09.f1>=0.9")}, early).empty());
}

TEST_CASE("requirements are judged by the figures of a run", "[require]") {
  CHECK(judged("classifier.val.f1>=0.9").is_met);
  CHECK(judged("classifier.val_loss<0.1").value == 0.05);
  CHECK(judged("classifier_t.test_01.f1>0.96").is_met);
  CHECK(judged("classifier.test_01.f1>=0.9").problem ==
        "classifier.test_01.f1 is 0.871, required >= 0.9");
  // Enough digits to see that it is not met; whole numbers in full.
  CHECK(judged("classifier.test_02.f1>=0.9").problem ==
        "classifier.test_02.f1 is 0.89999999, required >= 0.9");
  CHECK(judged("classifier.best_epoch==2").problem ==
        "classifier.best_epoch is 38200, required == 2");
}

TEST_CASE("a figure that the run has not is not as required", "[require]") {
  const JudgedRequirement none = judged("autoencoder.val_loss<0.1");
  CHECK_FALSE(none.is_met);
  CHECK_FALSE(none.value);
  CHECK(none.problem ==
        "autoencoder.val_loss is not among the figures of this run, required < 0.1");
  CHECK_THAT(judged("classifier.test_01.recall>0").problem,
             Contains("(classifier.test_01_known: f1, auc)"));
  CHECK_THAT(judged("classifier.test_09.f1>0").problem,
             Contains("classifier: val_loss, best_epoch; classifier.val: f1"));
}

TEST_CASE("what was judged is recorded, and read again as text", "[require]") {
  const json list = {judged("classifier.val.f1>=0.9"), judged("classifier.test_01.f1>=0.9"),
                     judged("autoencoder.val_loss<0.1")};
  CHECK(list[1] == json{{"name", "classifier.test_01.f1"},
                        {"relation", ">="},
                        {"wanted", 0.9},
                        {"value", 0.8712},
                        {"met", false}});
  CHECK(requirements_text(list) ==
        std::vector<std::string>{"classifier.val.f1 >= 0.9: 0.950, met",
                                 "classifier.test_01.f1 >= 0.9: 0.871, not met",
                                 "autoencoder.val_loss < 0.1: no such figure, not met"});
  CHECK(requirements_text(json()).empty());
  CHECK(requirements_text({1, "x"}).size() == 2);  // of a damaged file: nothing is thrown
}

TEST_CASE("the figures of the usual forms have the names that stages give them", "[require]") {
  const UsualFigures usual = usual_figures();
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const char* name : {"val_loss", "val_auc", "val_f1", "val_rmse", "best_epoch", "epochs"}) {
    INFO(name);
    CHECK(has(usual.of_steps, name));
  }
  for (const char* name : {"accuracy", "f1", "auc", "mae", "rmse"}) {
    INFO(name);
    CHECK(has(usual.of_parts, name));
  }
  CHECK_FALSE(has(usual.of_parts, "val_loss"));
}
