#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include <filesystem>
#include <fstream>

#include "engine/memory/arena.h"
#include "engine/train/checkpoint.h"
#include "engine/train/optimizer.h"
#include "engine/train/schedule.h"
#include "engine/train/train_options.h"
#include "support/programs/command.h"

using namespace kdgat;

namespace {

/// A few steps on a bowl, by our optimizer and by LibTorch's.
template <class Torch, class TorchOptions>
void compare(bool decoupled) {
  torch::manual_seed(1);
  torch::Tensor a = torch::randn({4, 3}, torch::requires_grad());
  torch::Tensor b = a.detach().clone().requires_grad_();
  const torch::Tensor target = torch::randn({4, 3});
  train::Optimizer ours({{"a", a}}, decoupled, 0.01);
  Torch theirs({b}, TorchOptions(0.05).weight_decay(0.01));
  for (int step = 0; step < 20; ++step) {
    ours.zero_grad();
    theirs.zero_grad();
    (a - target).square().sum().backward();
    (b - target).square().sum().backward();
    ours.clip(1.0);
    torch::nn::utils::clip_grad_norm_({b}, 1.0);
    ours.step(0.05);
    theirs.step();
    CHECK(torch::allclose(a, b, 1e-5, 1e-6));
  }
}

}  // namespace

TEST_CASE("Adam and AdamW step as LibTorch's", "[train]") {
  compare<torch::optim::Adam, torch::optim::AdamOptions>(false);
  compare<torch::optim::AdamW, torch::optim::AdamWOptions>(true);
}

TEST_CASE("clipping bounds the common norm and leaves small gradients", "[train]") {
  torch::Tensor a = torch::zeros({2}, torch::requires_grad());
  torch::Tensor b = torch::zeros({1}, torch::requires_grad());
  train::Optimizer optimizer({{"a", a}, {"b", b}}, false, 0);
  const auto set = [&](float x, float y, float z) {
    a.mutable_grad() = torch::tensor({x, y});
    b.mutable_grad() = torch::tensor({z});
  };
  set(3, 0, 4);
  optimizer.clip(1.0);
  CHECK(torch::allclose(a.grad(), torch::tensor({0.6f, 0.0f}), 1e-4));
  CHECK(torch::allclose(b.grad(), torch::tensor({0.8f}), 1e-4));
  set(0.3f, 0, 0.4f);
  optimizer.clip(1.0);
  CHECK(torch::equal(b.grad(), torch::tensor({0.4f})));
  set(3, 0, 4);
  optimizer.clip(0);
  CHECK(torch::equal(b.grad(), torch::tensor({4.0f})));
}

TEST_CASE("parameters without a gradient keep their value", "[train]") {
  torch::Tensor a = torch::ones({2}, torch::requires_grad());
  torch::Tensor b = torch::ones({2}, torch::requires_grad());
  train::Optimizer optimizer({{"a", a}, {"b", b}}, true, 0.1);
  a.sum().backward();
  optimizer.step(0.1);
  CHECK_FALSE(torch::equal(a, torch::ones({2})));
  CHECK(torch::equal(b, torch::ones({2})));
}

TEST_CASE("schedules follow their formulas", "[train]") {
  train::TrainOptions o;
  o.lr = 0.1;
  o.max_epochs = 10;
  CHECK(train::Schedule(o).rate(7) == 0.1);
  o.use_scheduler = true;
  CHECK(train::Schedule(o).rate(0) == Approx(0.1));
  CHECK(train::Schedule(o).rate(5) == Approx(0.05));
  o.scheduler_t_max = 5;
  CHECK(train::Schedule(o).rate(5) == Approx(0).margin(1e-12));
  o.scheduler_floor = 0.01;
  CHECK(train::Schedule(o).rate(0) == Approx(0.1));
  CHECK(train::Schedule(o).rate(5) == Approx(0.001));
  o.scheduler_type = "step";
  o.scheduler_step_size = 3;
  CHECK(train::Schedule(o).rate(2) == Approx(0.1));
  CHECK(train::Schedule(o).rate(3) == Approx(0.01));
  CHECK(train::Schedule(o).rate(8) == Approx(0.001));

  o.scheduler_type = "plateau";
  o.patience = 4;  // half of it is 2
  train::Schedule plateau(o);
  for (const double metric : {1.0, 1.0, 1.0}) plateau.observe(metric, true);
  CHECK(plateau.rate(3) == Approx(0.1));
  plateau.observe(1.0, true);
  CHECK(plateau.rate(4) == Approx(0.01));
  train::Schedule restored(o);
  restored.restore(plateau.state());
  CHECK(restored.rate(4) == plateau.rate(4));
  CHECK(restored.state() == plateau.state());
}

TEST_CASE("a checkpoint gives back what it was given", "[train]") {
  const test::ScratchFolder folder;
  const auto path = folder / "deep" / "state.safetensors";
  CHECK_FALSE(train::read_checkpoint_state(path));
  const torch::Tensor f = torch::randn({3, 2}), l = torch::arange(4),
                      d = torch::rand({}, torch::kDouble);
  train::save_checkpoint(path, {{"f", f}, {"l", l}, {"d", d}}, {{"best", 0.1}});
  const torch::Tensor f2 = torch::zeros({3, 2}), l2 = torch::zeros({4}, torch::kLong),
                      d2 = torch::zeros({}, torch::kDouble);
  train::load_checkpoint(path, {{"f", f2}, {"l", l2}, {"d", d2}});
  CHECK(torch::equal(f, f2));
  CHECK(torch::equal(l, l2));
  CHECK(torch::equal(d, d2));
  CHECK(train::read_checkpoint_state(path)->at("best") == 0.1);
}

TEST_CASE("a checkpoint is of the moment it was saved, whatever the tensors become", "[train]") {
  const test::ScratchFolder folder;
  const auto path = folder / "state.safetensors";
  const torch::Tensor a = torch::full({1 << 20}, 1.0);
  const auto value_of = [&] {
    const torch::Tensor read = torch::zeros({1 << 20});
    train::load_checkpoint(path, {{"a", read}});
    return std::pair(read.min().item<float>(), read.max().item<float>());
  };
  train::CheckpointWriter writer;
  writer.save(path, {{"a", a}}, nlohmann::json::object());
  a.fill_(2);
  writer.finish();
  CHECK(value_of() == std::pair(1.0F, 1.0F));

  SECTION("also where there is no memory for copies") {
    memory::Arena& arena = memory::Arena::instance();
    arena.fail_allocation(1);
    writer.save(path, {{"a", a}}, nlohmann::json::object());
    CHECK(value_of() == std::pair(2.0F, 2.0F));
  }
  SECTION("one that cannot be written is told by the next call, and the one before stands") {
    const auto taken = folder / "taken";
    std::filesystem::create_directories(taken / "by a folder");
    writer.save(taken, {{"a", a}}, nlohmann::json::object());
    CHECK_THROWS_AS(writer.finish(), Error);
    CHECK(value_of() == std::pair(1.0F, 1.0F));
  }
  SECTION("the copies are gone once they are written") {
    const int64_t before = memory::Arena::instance().counters().allocated;
    writer.save(path, {{"a", a}}, nlohmann::json::object());
    writer.release();
    CHECK(memory::Arena::instance().counters().allocated == before);
  }
}

TEST_CASE("a checkpoint that does not fit is refused and changes nothing", "[train]") {
  const test::ScratchFolder folder;
  const auto path = folder / "state.safetensors";
  train::save_checkpoint(path, {{"a", torch::ones({2})}, {"b", torch::ones({3})}},
                         nlohmann::json::object());
  const torch::Tensor a = torch::zeros({2}), wide = torch::zeros({4});
  CHECK_THROWS_WITH(train::load_checkpoint(path, {{"a", a}, {"b", wide}}),
                    Catch::Contains("tensor b has another shape"));
  CHECK_THROWS_WITH(train::load_checkpoint(path, {{"a", a}, {"c", wide}}),
                    Catch::Contains("tensor c is missing"));
  CHECK_THROWS_WITH(train::load_checkpoint(path, {{"a", a}}),
                    Catch::Contains("this model does not have"));
  CHECK(torch::equal(a, torch::zeros({2})));
}

TEST_CASE("a damaged checkpoint is refused with what to do about it", "[train]") {
  const test::ScratchFolder folder;
  const auto path = folder / "state.safetensors";
  train::save_checkpoint(path, {{"a", torch::ones({2})}}, nlohmann::json::object());
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-2, std::ios::end);
    file.put('\x55');
  }
  CHECK_THROWS_WITH(
      train::read_checkpoint_state(path),
      Catch::Contains("tensor 'a' differs from its hash") &&
          Catch::Contains("hint: the checkpoint is damaged; remove it to start over"));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK_THROWS_WITH(train::read_checkpoint_state(path), Catch::Contains("remove it to start over"));
}

TEST_CASE("rules across training options are checked", "[train]") {
  train::TrainOptions o;
  CHECK(o.validate().empty());
  o.cache_policy = {"every:5", "often"};
  REQUIRE(o.validate().size() == 1);
  CHECK_THAT(o.validate()[0].text(), Catch::Contains("\"often\" is not a policy"));
  o.cache_policy = {"auto"};
  o.monitor_metric = "val_auc";
  REQUIRE(o.validate().size() == 1);
  CHECK(o.validate().front().hint == "use monitor_mode=max");
}
