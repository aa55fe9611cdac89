#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <torch/nn/modules/batchnorm.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "engine/train/checkpoint.h"
#include "engine/train/trainer.h"
#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

using namespace kdgat;

namespace {

struct TinyImpl : torch::nn::Module {
  explicit TinyImpl(bool with_norm) {
    first = register_module("first", torch::nn::Linear(3, 8));
    if (with_norm) norm = register_module("norm", torch::nn::BatchNorm1d(8));
    last = register_module("last", torch::nn::Linear(8, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor h = first(x);
    if (norm) h = norm(h);
    return last(torch::relu(h));
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Tiny);

/// An objective whose loss is any function.
struct LossOf : train::Objective {
  using Function = std::function<torch::Tensor(const graph::GraphBatch&, const graph::StepTotals&,
                                               int64_t step)>;

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override {
    return function(batch, totals, noise.step);
  }
  torch::Tensor score(const graph::GraphBatch& batch) override { return at::zeros({batch.graphs}); }
  torch::nn::Module& module() override { return *model; }

  Function function;
  Tiny model{nullptr};
};

/// A store of 53 graphs, a small model that sees one number a graph, noise by step and graph, and a
/// Trainer around them.
struct Fixture {
  explicit Fixture(bool with_norm = true) : with_norm(with_norm), store(store_in(folder.path())) {
    torch::set_num_threads(1);
    for (int64_t g = 0; g < 53; ++g) ids.push_back(g);
    options.max_epochs = 4;
    options.batch_size = 8;
    options.lr = 0.01;
    options.optimizer = "adamw";
    options.monitor_metric = "train_loss";
    restart();
  }

  static graph::GraphStore store_in(const std::filesystem::path& folder) {
    test::RandomGraphs wanted;
    wanted.files = {53};
    return test::random_store(folder / "graphs.safetensors", wanted);
  }

  /// As a new process: fresh weights, nothing remembered but the checkpoint file.
  void restart() {
    torch::manual_seed(7);
    module = Tiny(with_norm);
    losses.clear();
    steps_in_training_mode = 0;
    objective.model = module;
    objective.function = [this](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                int64_t step) {
      torch::Tensor in = torch::zeros({batch.graphs, 3});
      torch::Tensor y = torch::zeros({batch.graphs, 1});
      for (int64_t g = 0; g < batch.graphs; ++g) {
        const auto nodes = batch.node_ptr[g + 1] - batch.node_ptr[g];
        in[g][0] = 0.1 * nodes;
        in[g][1] = 1e-3 * batch.x[batch.node_ptr[g] * 3 + 1];
        in[g][2] = 0.1 * std::sin(0.37 * static_cast<double>(step) +
                                  1.7 * static_cast<double>(batch.graph_id[g]));
        y[g][0] = static_cast<float>(batch.y[g]);
      }
      if (module->is_training()) ++steps_in_training_mode;
      return (module(in) - y).square().sum() / static_cast<double>(totals.graphs);
    };
    observer = {};
    observer.epoch = [this](int64_t, const nlohmann::json& metrics) {
      losses.push_back(metrics.at("train_loss"));
    };
  }

  train::Outcome train(graph::PackLimits limits = {8, 0, 0, 0}) {
    train::Training training{store, ids, limits};
    training.evaluate = evaluate;
    training.seed = 3;
    training.checkpoint = checkpoint;
    training.identity = identity;
    return train::Trainer(options, objective, std::move(training), observer).run();
  }

  std::vector<torch::Tensor> weights() const {
    std::vector<torch::Tensor> out;
    for (const auto& p : module->parameters()) out.push_back(p.detach().clone());
    for (const auto& b : module->buffers()) out.push_back(b.clone());
    return out;
  }

  test::ScratchFolder folder;
  bool with_norm;
  graph::GraphStore store;
  std::vector<int64_t> ids;
  train::TrainOptions options;
  Tiny module{nullptr};
  LossOf objective;
  std::function<nlohmann::json(const std::function<void()>&)> evaluate;
  std::string identity;
  train::Observer observer;
  std::filesystem::path checkpoint;
  std::vector<double> losses;
  int64_t steps_in_training_mode = 0;
};

bool same(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!torch::equal(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a seeded one-thread run repeats its losses exactly", "[train]") {
  Fixture f;
  f.train();
  const std::vector<double> first = f.losses;
  const auto weights = f.weights();
  f.restart();
  f.train();
  CHECK(first.size() == 4);
  CHECK(first.back() < first.front());
  CHECK(f.losses == first);
  CHECK(same(f.weights(), weights));
}

TEST_CASE("a run that continues ends with the weights of an undisturbed one", "[train]") {
  Fixture f;
  f.options.use_scheduler = true;
  f.options.scheduler_type = "plateau";
  f.options.patience = 2;
  f.options.accumulate_grad_batches = 2;
  f.train();
  const auto weights = f.weights();
  const std::vector<double> losses = f.losses;

  f.checkpoint = f.folder / "checkpoint" / "state.safetensors";
  // 4 steps an epoch: in the middle of epochs, at their ends, more than once.
  for (const std::vector<int64_t>& stops :
       std::vector<std::vector<int64_t>>{{1}, {3}, {4}, {5}, {9}, {2, 1, 6}, {1, 1, 1, 1, 1}}) {
    std::filesystem::remove_all(f.folder / "checkpoint");
    std::vector<double> seen;
    for (const int64_t stop : stops) {
      f.restart();
      int64_t left = stop;
      f.observer.cancelled = [&left] { return left-- > 0 ? ExitCode::kOk : ExitCode::kRequeue; };
      CHECK_THROWS_AS(f.train(), Error);
      seen.insert(seen.end(), f.losses.begin(), f.losses.end());
    }
    f.restart();
    const train::Outcome outcome = f.train();
    seen.insert(seen.end(), f.losses.begin(), f.losses.end());
    CHECK(seen == losses);
    CHECK(same(f.weights(), weights));
    CHECK(outcome.steps == 4 * static_cast<int64_t>(losses.size()));
  }
}

TEST_CASE("a periodic checkpoint continues like one written on cancellation", "[train]") {
  Fixture f;
  f.train();
  const auto weights = f.weights();
  f.checkpoint = f.folder / "checkpoint" / "state.safetensors";
  f.options.checkpoint_seconds = 0;  // after every step
  f.restart();
  const auto loss = f.objective.function;
  f.objective.function = [&](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                             int64_t step) {
    if (step == 17) throw std::runtime_error("killed");  // in the middle of the third epoch
    return loss(batch, totals, step);
  };
  CHECK_THROWS_WITH(f.train(), "killed");
  f.restart();
  f.train();
  CHECK(same(f.weights(), weights));
}

TEST_CASE("cancelling ends with the code asked for and names the checkpoint", "[train]") {
  Fixture f;
  f.checkpoint = f.folder / "checkpoint" / "state.safetensors";
  f.observer.cancelled = [] { return ExitCode::kTerminated; };
  try {
    f.train();
    FAIL("not cancelled");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kTerminated);
    CHECK(std::string(error.what()) == "checkpoint at epoch 1, step 0");
  }
  CHECK(std::filesystem::exists(f.checkpoint));
}

TEST_CASE("a checkpoint of another identity or seed is not continued", "[train]") {
  Fixture f;
  f.checkpoint = f.folder / "checkpoint" / "state.safetensors";
  f.options.checkpoint_seconds = 0;
  f.train();
  f.restart();
  f.identity = "other options";
  std::string warning;
  f.observer.log = [&warning](const std::string& level, const std::string& text) {
    if (level == "warning") warning = text;
  };
  f.train();
  CHECK(f.losses.size() == 4);
  CHECK_THAT(warning, Catch::Contains("of other options or data: starting over"));
}

TEST_CASE("accumulated batches make the step of one batch", "[train]") {
  Fixture f(/*with_norm=*/false);
  f.train({16, 0, 0, 0});
  const auto weights = f.weights();
  const std::vector<double> losses = f.losses;
  f.restart();
  f.options.accumulate_grad_batches = 4;
  const train::Outcome outcome = f.train({4, 0, 0, 0});
  CHECK(outcome.steps == 4 * 4);  // 53 graphs: three groups of 16 and a short one
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK(f.losses[i] == Approx(losses[i]).epsilon(1e-5));
  const auto accumulated = f.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK(torch::allclose(accumulated[i], weights[i], 1e-4, 1e-5));
  }
}

TEST_CASE("early stopping restores the weights of the best epoch", "[train]") {
  Fixture f;
  f.options.max_epochs = 50;
  f.options.patience = 3;
  f.options.monitor_metric = "val_loss";
  std::vector<std::vector<torch::Tensor>> after;
  f.evaluate = [&](const std::function<void()>&) -> nlohmann::json {
    CHECK_FALSE(f.module->is_training());
    CHECK_FALSE(torch::GradMode::is_enabled());
    const std::vector<double> scripted{3, 2, 1, 2, 1, 5, 0.5};
    after.push_back(f.weights());
    return {{"val_loss", scripted.at(after.size() - 1)}};
  };
  const train::Outcome outcome = f.train();
  CHECK(outcome.epochs == 6);
  CHECK(outcome.best_epoch == 3);
  CHECK(outcome.best.at("val_loss") == 1.0);
  CHECK(same(f.weights(), after.at(2)));
  CHECK_FALSE(same(after.at(2), after.at(5)));
}

TEST_CASE("a metric of which more is better chooses the largest", "[train]") {
  Fixture f;
  f.options.monitor_metric = "val_auc";
  f.options.monitor_mode = "max";
  int64_t epoch = 0;
  f.evaluate = [&](const std::function<void()>&) -> nlohmann::json {
    const std::vector<double> scripted{0.6, 0.9, 0.8, 0.7};
    return {{"val_auc", scripted.at(static_cast<std::size_t>(epoch++))}};
  };
  CHECK(f.train().best_epoch == 2);
}

TEST_CASE("batch statistics are learned, and evaluation leaves training mode", "[train]") {
  Fixture f;
  f.options.max_epochs = 2;
  f.evaluate = [](const std::function<void()>&) { return nlohmann::json::object(); };
  const train::Outcome outcome = f.train();
  CHECK(f.steps_in_training_mode == 14);
  CHECK(outcome.steps == 14);
  CHECK(f.module->norm->running_mean.abs().max().item<float>() > 0.01f);
  CHECK(f.module->norm->num_batches_tracked.item<int64_t>() == 14);
}

TEST_CASE("training in mixed precision repeats itself, learns, and ends in 32 bits",
          "[train][precision]") {
  Fixture f;
  f.train();
  const std::vector<double> in_32_bits = f.losses;
  for (const char* precision : {"bf16-mixed", "16-mixed"}) {
    INFO(precision);
    f.options.precision = precision;
    f.restart();
    f.train();
    const std::vector<double> losses = f.losses;
    const auto weights = f.weights();
    CHECK(losses.back() < losses.front());
    CHECK(losses != in_32_bits);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CHECK(losses[i] == Approx(in_32_bits[i]).epsilon(0.05));
    }
    for (const auto& p : f.module->parameters()) CHECK(p.scalar_type() == torch::kFloat);
    f.restart();
    f.train();
    CHECK(f.losses == losses);
    CHECK(same(f.weights(), weights));
  }
}

TEST_CASE("an overflow is skipped and counted, and a run continued across it is the same",
          "[train][precision]") {
  Fixture f;
  f.options.precision = "16-mixed";
  std::vector<nlohmann::json> journal;
  const auto begin = [&] {
    f.restart();
    f.observer.epoch = [&](int64_t, nlohmann::json metrics) {
      metrics.erase("memory");  // of this process
      journal.push_back(std::move(metrics));
    };
    const auto loss = f.objective.function;
    f.objective.function = [loss](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                  int64_t step) {
      const torch::Tensor value = loss(batch, totals, step);
      // In the second and third of four epochs of 7 steps; times 65536 this is no float.
      return step == 8 || step == 9 || step == 15 ? value * 1e36 : value;
    };
  };
  begin();
  f.train();
  const auto weights = f.weights();
  const std::vector<nlohmann::json> undisturbed = journal;
  REQUIRE(journal.size() == 4);
  // The first scale is too large here, as it often is.
  const double scale = journal[0].at("loss_scale");
  const int64_t skipped = journal[0].at("skipped_steps");
  CHECK(scale == std::ldexp(65536.0, static_cast<int>(-skipped)));
  CHECK(journal[1].at("loss_scale") == scale / 4);
  CHECK(journal[1].at("skipped_steps") == skipped + 2);
  CHECK(journal[3].at("loss_scale") == scale / 8);
  CHECK(journal[3].at("skipped_steps") == skipped + 3);
  for (const torch::Tensor& t : weights) CHECK(t.isfinite().all().item<bool>());

  f.checkpoint = f.folder / "checkpoint" / "state.safetensors";
  for (const std::vector<int64_t>& stops :
       std::vector<std::vector<int64_t>>{{8}, {9}, {10}, {5, 3, 8}}) {
    std::filesystem::remove_all(f.folder / "checkpoint");
    journal.clear();
    for (const int64_t stop : stops) {
      begin();
      int64_t left = stop;
      f.observer.cancelled = [&left] { return left-- > 0 ? ExitCode::kOk : ExitCode::kRequeue; };
      CHECK_THROWS_AS(f.train(), Error);
    }
    begin();
    f.train();
    CHECK(journal == undisturbed);
    CHECK(same(f.weights(), weights));
  }
}

TEST_CASE("gradients that no loss scale makes finite end the run", "[train][precision]") {
  Fixture f;
  f.options.precision = "16-mixed";
  f.options.max_epochs = 20;
  const auto loss = f.objective.function;
  f.objective.function = [loss](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                int64_t step) {
    const torch::Tensor value = loss(batch, totals, step);
    // Finite itself; the gradient of sqrt at 0 is not.
    return value + (value - value.detach()).abs().sqrt();
  };
  CHECK_THROWS_WITH(f.train(), Catch::Contains("finite at any loss scale"));
}

TEST_CASE("a loss that is not finite ends the run", "[train]") {
  Fixture f;
  f.objective.function = [&](const graph::GraphBatch&, const graph::StepTotals&, int64_t) {
    return f.module->parameters().front().sum() * std::numeric_limits<double>::infinity();
  };
  CHECK_THROWS_WITH(f.train(), Catch::Contains("train_loss is not finite (epoch 1"));
}

TEST_CASE("a metric that is not measured is named", "[train]") {
  Fixture f;
  f.options.monitor_metric = "val_loss";
  CHECK_THROWS_WITH(f.train(), Catch::Contains("val_loss is not measured"));
}
