// How far a training is, and what continues it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <limits>
#include <string>
#include <vector>

#include "engine/train/progress.h"
#include "support/programs/command.h"

using namespace kdgat;
using nlohmann::json;
using train::Progress;

namespace {

/// After `values`, of which less is better, an epoch each.
Progress after(const std::vector<double>& values) {
  Progress out({}, "options", 7);
  double best = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    ++out.epoch;
    if (out.judge({{"loss", value}}, value < best)) best = value;
  }
  return out;
}

}  // namespace

TEST_CASE("the best epoch is the first of the best, and patience counts from it", "[train]") {
  const Progress progress = after({3, 1, 2, 1});
  CHECK(progress.best_epoch == 2);
  CHECK(progress.best.at("loss") == 1.0);
  CHECK(progress.standing == 2);
  CHECK(progress.goes_on(5, 3));
  CHECK_FALSE(progress.goes_on(5, 2));
  CHECK_FALSE(progress.goes_on(4, 3));
}

TEST_CASE("a checkpoint is continued by what has its identity and seed alone", "[train]") {
  const test::ScratchFolder folder;
  const std::filesystem::path file = folder / "state.safetensors";
  at::Tensor weights = at::ones({2});
  Progress written(file, "options", 7);
  CHECK_FALSE(written.read());
  written.epoch = 3;
  written.step = 41;
  CHECK(written.judge({{"loss", 0.5}}, false));
  written.save({{"weights", weights}}, {{"more", 1}});
  CHECK(written.saves() == 1);

  std::vector<std::string> said;
  const train::Log log = [&said](const std::string& level, const std::string& text) {
    said.push_back(level + ": " + text);
  };
  Progress same(file, "options", 7);
  const json state = same.read().value();
  CHECK(state.at("more") == 1);
  CHECK(same.resume(state, log));
  CHECK((same.epoch == 3 && same.step == 41 && same.best_epoch == 3));
  CHECK(same.best == written.best);
  CHECK(said.back() == "info: continues from the checkpoint at epoch 4, step 41");
  at::Tensor read = at::zeros({2});
  same.load({{"weights", read}});
  CHECK(read.equal(weights));

  for (Progress other : {Progress(file, "other options", 7), Progress(file, "options", 8)}) {
    CHECK_FALSE(other.resume(state, log));
    CHECK(said.back() == "warning: the checkpoint is of other options or data: starting over");
    CHECK((other.epoch == 0 && other.best_epoch == 0));
  }
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("a state as each loop once wrote it is continued", "[train]") {
  const json of_texts = {
      {"identity", "options"}, {"seed", 7}, {"epoch", 5}, {"best_epoch", 4}, {"best", {{"x", 1}}}};
  const json of_ratings = {{"identity", "options"}, {"epoch", 1},      {"step", 9},
                           {"standing", 1},         {"best_epoch", 0}, {"best", json::object()}};
  Progress texts({}, "options", 7), ratings({}, "options", 7);
  CHECK(texts.resume(of_texts, {}));
  CHECK((texts.epoch == 5 && texts.step == 5 && texts.best_epoch == 4));  // an epoch is a step
  CHECK(ratings.resume(of_ratings, {}));
  CHECK((ratings.epoch == 1 && ratings.step == 9 && ratings.standing == 1));
}

TEST_CASE("a number that is not finite ends a training, naming the place", "[train]") {
  Progress progress = after({1});
  progress.step = 12;
  progress.check_finite(1, "val_loss", "lower lr");
  CHECK_THROWS_WITH(progress.check_finite(std::nan(""), "val_loss", "lower lr"),
                    Catch::StartsWith("val_loss is not finite (epoch 2, step 12)"));
}

TEST_CASE("a training that leaves says whether it can be continued", "[train]") {
  CHECK_THROWS_WITH(after({1}).leave(ExitCode::kRequeue), "stopped in epoch 2, after step 0");
  CHECK_THROWS_WITH(Progress("state.safetensors", "", 1).leave(ExitCode::kRequeue),
                    "checkpoint at epoch 1, step 0");
}
