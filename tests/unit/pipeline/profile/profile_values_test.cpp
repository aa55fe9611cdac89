// What profiles write in a short form: the home folder, and maps merged into others.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "pipeline/profile/profile.h"
#include "pipeline/system/home_path.h"
#include "support/can/log_text.h"
#include "support/runs/profile_case.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

/// HOME has a value of its own as long as this lives.
class HomeFolder {
 public:
  explicit HomeFolder(const char* folder) {
    if (const char* home = std::getenv("HOME")) former_ = home;
    ::setenv("HOME", folder, 1);
  }
  HomeFolder(const HomeFolder&) = delete;
  HomeFolder& operator=(const HomeFolder&) = delete;
  ~HomeFolder() { ::setenv("HOME", former_.c_str(), 1); }

 private:
  std::string former_;
};

}  // namespace

TEST_CASE("~/ is the home folder wherever a path is set", "[profile_values]") {
  const HomeFolder home("/home/ann");
  ProfileCase c;
  c.config("root: ~/runs\ndata: {path: ~/logs}\nstages: {autoencoder: }\n");
  CHECK(c.resolve().root == "/home/ann/runs");
  CHECK(c.resolve().data.path == "/home/ann/logs");
  c.request.environment = {{"KDGAT_ROOT", "~/of_variable"}};
  CHECK(c.resolve().root == "/home/ann/of_variable");
  c.set("root", "~/of_word");
  CHECK(c.resolve().root == "/home/ann/of_word");
  c.request.data = "~/given";
  CHECK(c.resolve().data.path == "/home/ann/given");
}

TEST_CASE("a home folder of somebody else, or none, is refused", "[profile_values]") {
  CHECK(expand_home("a~/b") == "a~/b");
  CHECK(expand_home("~backup") == "~backup");
  {
    const HomeFolder home("/home/ann");
    CHECK(expand_home_path("~") == "/home/ann");
    CHECK(expand_home("~/a b") == "/home/ann/a b");
    ProfileCase c;
    CHECK_THAT(
        c.config("root: ~bob/runs\nstages: {autoencoder: }\n").problems(),
        Contains("profile.yaml:1: root: ~bob/runs: the home folder of bob is not looked up"));
    CHECK_THAT(c.config("root: ~bob\nstages: {autoencoder: }\n").problems(),
               Contains("the home folder of bob"));
  }
  const HomeFolder none("");
  CHECK_THROWS_WITH(expand_home("~/a"), Contains("HOME is not set"));
}

TEST_CASE("a variable of the shell is refused with its place", "[profile_values]") {
  ProfileCase c;
  CHECK_THAT(c.config("dataset: a\nroot: ${SCRATCH}/runs\nstages: {autoencoder: }\n").problems(),
             Contains("profile.yaml:2: root: ${SCRATCH}/runs: variables are not expanded here: "
                      "${SCRATCH}"));
  CHECK_THAT(c.config("stages: {autoencoder: {monitor: \"a ${X} b\"}}\n").problems(),
             Contains("profile.yaml:1: monitor: a ${X} b: variables"));
  CHECK_THAT(c.config("root: $HOME/runs\nstages: {autoencoder: }\n").problems(),
             Contains("not expanded here: $HOME"));
  CHECK(c.config("root: a$b\nstages: {autoencoder: }\n").resolve().root == "a$b");
}

TEST_CASE("maps are merged into others, the nearer key wins", "[profile_values]") {
  ProfileCase c;
  c.config(
      "stages:\n"
      "  one: &a {stage: classifier, lr: 0.1, hidden: 7}\n"
      "  two: &b {<<: *a, lr: 0.2}\n"
      "  three:\n"
      "    hidden: 9\n"
      "    <<: [*b, *a]\n"
      "options:\n"
      "  autoencoder: {lr: 0.5}\n"
      "data: {window: 50}\n");
  const Profile p = c.resolve();
  CHECK(option(p, "two", "lr") == 0.2);
  CHECK(option(p, "two", "hidden") == 7);
  CHECK(option(p, "three", "lr") == 0.2);
  CHECK(option(p, "three", "hidden") == 9);
  CHECK_THAT(step(p, "two").options.origin.at("hidden"), Catch::EndsWith("profile.yaml:2"));
}

TEST_CASE("merges that are no maps, or have no end, are refused", "[profile_values]") {
  ProfileCase c;
  CHECK_THAT(c.config("stages:\n  autoencoder:\n    <<: 3\n").problems(),
             Contains("profile.yaml:3: << takes a map or a list of maps"));
  CHECK_THAT(c.config("stages:\n  autoencoder: &a\n    <<: *a\n").problems(),
             Contains("<< names too many maps, or itself"));
  std::string bomb = "options:\n  a: &a {lr: 1}\n";
  for (char name = 'b'; name < 'n'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    bomb += std::string("  ") + name + ": &" + name + " {<<: [" + before;
    for (int i = 1; i < 10; ++i) bomb += ", " + before;
    bomb += "]}\n";
  }
  CHECK_THAT(c.config(bomb).problems(), Contains("<< names too many maps"));
}

TEST_CASE("a profile of the world with merge keys is read", "[profile_values]") {
  const auto merge = shared_path("field/merge.yaml");
  const auto tilde = shared_path("field/tilde.yaml");
  if (!merge || !tilde) return;
  const HomeFolder home("/home/ann");
  ProfileCase c;
  for (const char* preset : {"vgae", "gat", "student"}) c.file(std::string(preset) + ".yaml", "");
  c.request.config = *tilde;
  CHECK_THAT(c.problems(), !Contains("~"));
  c.request.config = *merge;
  CHECK_THAT(c.problems(), !Contains("<<"));
}
