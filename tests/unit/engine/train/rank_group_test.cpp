// Training shared by several processes (here threads, which share nothing but the wire) is the
// training of one.
#include "engine/train/rank_group.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/arrays/random.h"
#include "engine/graph/pack.h"
#include "engine/memory/arena.h"
#include "engine/memory/meter.h"
#include "engine/train/probe.h"
#include "kdgat/host_memory.h"
#include "support/catch_torch.h"
#include "support/graphs/weights.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using test::json;
namespace fs = std::filesystem;

namespace {

/// Calls body(group) once for each rank, in a thread of its own; hands on the first exception.
void in_ranks(int world, const std::function<void(train::RankGroup&)>& body) {
  const test::ScratchFolder folder;
  const fs::path store = folder / "store";
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        train::RankGroup group({rank, world, "file:" + store.string()}, torch::kCPU);
        body(group);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

struct Trained {
  test::Weights weights;
  std::vector<json> epochs;
  std::vector<int> codes;  ///< of each rank
  int64_t splits = 0;
  std::string error;  ///< of the first rank
};

/// Runs a stage in `world` ranks, all in the folder "stage" but the later ones, which have their
/// own. `polls`: after so many looks the last rank is told to leave; -1 = never.
template <class Stage, class Options>
Trained run_in_ranks(const test::StageFixture& f, const Options& options, int world,
                     int64_t polls = -1, int threads = 1) {
  const fs::path store = f.folder / "store";
  fs::remove(store);
  std::vector<test::FakeHost> hosts(static_cast<std::size_t>(world));
  hosts.back().polls_left = polls;
  Trained out;
  out.codes.resize(static_cast<std::size_t>(world));
  std::vector<std::thread> started;
  std::atomic<bool> has_ended{false};
  for (int rank = 0; rank < world; ++rank) {
    // LibTorch's generator, from which weights begin, is one for all threads: the first takes its
    // own before the others come.
    while (rank == 1 && !fs::exists(store) && !has_ended) std::this_thread::yield();
    started.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      Request request = f.request(rank == 0 ? "stage" : "rank" + std::to_string(rank));
      request.threads = threads;
      if (world > 1) request.ranks = {rank, world, "file:" + store.string()};
      try {
        const json result = Stage::run(options, request, hosts[at].host);
        if (rank == 0) out.splits = result.at("memory").at("actual").at("splits");
      } catch (const Error& error) {
        out.codes[at] = static_cast<int>(error.code());
        if (rank == 0) out.error = error.what();
      } catch (const std::exception& error) {
        out.codes[at] = static_cast<int>(ExitCode::kHostMemory);
        if (rank == 0) out.error = error.what();
      }
      if (rank == 0) has_ended = true;
    });
  }
  for (std::thread& thread : started) thread.join();
  out.epochs = hosts.front().epochs;
  if (out.codes.front() == 0) out.weights = test::weights_in(f.folder / "stage");
  return out;
}

template <class Options>
Options exact(Options o, int64_t batch_size) {
  o.batch_size = batch_size;
  o.optimize_batch_size = false;
  o.memory_estimation = "static";
  return o;
}

autoencoder::AutoencoderOptions autoencoder_with(const std::string& norm, int64_t batch_size) {
  auto o = exact(test::small_autoencoder(), batch_size);
  o.norm = norm;
  return o;
}

/// Biases ahead of a norm have no gradient but for rounding, of which Adam makes steps of their
/// own; running statistics follow them with a delay: with norm: batch the validation loss is less
/// sure.
void check_same_epochs(const std::vector<json>& a, const std::vector<json>& b, double tolerance,
                       double val_tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("epoch " << i + 1);
    const auto close = [&](const char* name, double within) {
      CHECK(a[i].at(name).get<double>() ==
            Approx(b[i].at(name).get<double>()).epsilon(within).margin(0));
    };
    close("train_loss", tolerance);
    close("val_loss", val_tolerance);
  }
}

void check_same_epochs(const std::vector<json>& a, const std::vector<json>& b, double tolerance) {
  check_same_epochs(a, b, tolerance, tolerance);
}

}  // namespace

TEST_CASE("each graph of a pack is in one piece, and the pieces are of about equal work",
          "[ranks]") {
  test::StageFixture f;
  const graph::GraphStore store = graph::GraphStore::open(f.folder / "data/graphs.safetensors");
  arrays::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> ids;
    for (uint64_t left = random.below(60); left > 0; --left) {
      ids.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(store.graphs()))));
    }
    const int world = 1 + static_cast<int>(random.below(6));
    const auto work = [&](std::span<const int64_t> some) {
      const graph::StepTotals size = train::size_of(store, some);
      return static_cast<double>(size.nodes + size.edges);
    };
    double largest = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      largest = std::max(largest, work(std::span(ids).subspan(i, 1)));
    }
    std::vector<int64_t> joined;
    for (int rank = 0; rank < world; ++rank) {
      const auto piece = train::piece_of(store, ids, rank, world);
      joined.insert(joined.end(), piece.begin(), piece.end());
      CHECK(work(piece) <= work(ids) / world + largest);
    }
    CHECK(joined == ids);
  }
}

TEST_CASE("sums are of all processes, also of those that have nothing left", "[ranks]") {
  in_ranks(3, [](train::RankGroup& group) {
    const int rank = group.rank();
    // Rank r adds r + 1 times: the others have finished by then.
    for (int turn = 0; turn <= rank; ++turn) {
      std::vector<double> values = {1, static_cast<double>(rank), static_cast<double>(turn)};
      group.sum(values);
      double ranks = 0;
      for (int other = turn; other < 3; ++other) ranks += other;
      CHECK(values == std::vector<double>{3.0 - turn, ranks, (3.0 - turn) * turn});
    }
    group.finish_step();
    CHECK(group.largest(10 - rank) == 10);
    CHECK(group.from_first("text of " + std::to_string(rank)) == "text of 0");
    CHECK(group.from_first(rank == 0 ? "" : "anything").empty());
    const torch::Tensor tensor = torch::full({3}, rank + 1.0);
    group.sum(tensor);
    CHECK(tensor.equal(torch::full({3}, 6.0)));
    group.from_first({{"a", tensor.fill_(rank)}});
    CHECK(tensor.equal(torch::zeros({3})));
  });
}

TEST_CASE("a gradient that no process has stays away", "[ranks]") {
  in_ranks(2, [](train::RankGroup& group) {
    train::NamedTensors parameters;
    for (const char* name : {"both", "first", "none"}) {
      parameters.emplace_back(name, torch::zeros({2}).requires_grad_());
    }
    parameters[0].second.mutable_grad() = torch::full({2}, group.rank() + 1.0);
    if (group.is_first()) parameters[1].second.mutable_grad() = torch::ones({2});
    group.sum_gradients(parameters);
    CHECK(parameters[0].second.grad().equal(torch::full({2}, 3.0)));
    CHECK(parameters[1].second.grad().equal(torch::ones({2})));
    CHECK_FALSE(parameters[2].second.grad().defined());
  });
}

TEST_CASE("a step that one process abandons ends in all of them", "[ranks]") {
  in_ranks(3, [](train::RankGroup& group) {
    std::vector<double> values = {1};
    group.sum(values);
    if (group.rank() == 1) {
      group.abandon_step();
    } else if (group.rank() == 2) {
      CHECK_THROWS_AS(group.sum(values), train::StepAbandoned);
    } else {
      CHECK_THROWS_AS(group.finish_step(), train::StepAbandoned);
    }
    group.sum(values);  // the next attempt
    group.finish_step();
  });
}

TEST_CASE("a process that is gone is an error in the others", "[ranks]") {
  try {
    in_ranks(2, [](train::RankGroup& group) {
      group.largest(1);
      if (group.is_first()) group.largest(2);
    });
    FAIL("it was not missed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kStageFailed);
    CHECK_THAT(error.what(), Catch::Contains("rank 0 of 2 lost the other processes"));
  }
}

TEMPLATE_TEST_CASE_SIG("a step of several processes is the step of one", "[ranks]",
                       ((int world), world), 2, 3) {
  test::StageFixture f;
  // Adam's first step is lr * sign(gradient) but for epsilon, to which it lifts the rounding of a
  // gradient that is near it: a weight may differ by this much of lr, and the validation loss by
  // what many such weights make of it. With a small lr that stays below what is asked of the loss.
  constexpr double kLr = 1e-4, kRounding = 0.0067 * kLr;
  const auto check = [&](auto stage, auto options, double val_tolerance = 1e-5) {
    using Stage = decltype(stage);
    options.max_epochs = 1;
    options.lr = kLr;
    const Trained one = run_in_ranks<Stage>(f, options, 1);
    const Trained all = run_in_ranks<Stage>(f, options, world);
    REQUIRE(one.error.empty());
    REQUIRE(all.error.empty());
    CHECK(test::difference(one.weights, all.weights) <= kRounding);
    check_same_epochs(one.epochs, all.epochs, 1e-5, val_tolerance);
  };
  for (const char* norm : {"batch", "graph", "none"}) {
    INFO("norm " << norm);
    check(autoencoder::Autoencoder(), autoencoder_with(norm, 1000),
          std::string(norm) == "batch" ? 1e-3 : 1e-5);
  }
  check(classifier::Classifier(), exact(test::small_classifier(), 1000));
  INFO("accumulated");
  auto accumulated = exact(test::small_classifier(), 40);
  accumulated.accumulate_grad_batches = 10;
  check(classifier::Classifier(), accumulated);
}

TEST_CASE("epochs of several processes are those of one", "[ranks]") {
  test::StageFixture f;
  const auto check = [&](auto stage, auto options, int world, double val_tolerance = 1e-5) {
    using Stage = decltype(stage);
    const Trained one = run_in_ranks<Stage>(f, options, 1);
    const Trained all = run_in_ranks<Stage>(f, options, world);
    REQUIRE(all.error.empty());
    check_same_epochs(one.epochs, all.epochs, 1e-5, val_tolerance);
    CHECK(one.epochs.back().at("val_auc").template get<double>() ==
          Approx(all.epochs.back().at("val_auc").template get<double>()).margin(1e-3));
  };
  // The last batch holds fewer graphs than there are processes.
  check(autoencoder::Autoencoder(), autoencoder_with("batch", 53), 3, 1e-3);
  check(classifier::Classifier(), exact(test::small_classifier(), 53), 2);
  INFO("a sampler chooses");
  auto sampled = exact(test::small_classifier(), 40);
  sampled.sampling = "balanced";
  check(classifier::Classifier(), sampled, 2);
}

TEST_CASE("all leave at the same step, and one goes on where several stopped", "[ranks]") {
  test::StageFixture f;
  auto options = exact(test::small_classifier(), 20);
  const Trained undisturbed = run_in_ranks<classifier::Classifier>(f, options, 1);
  fs::remove_all(f.folder / "stage");
  const Trained stopped = run_in_ranks<classifier::Classifier>(f, options, 2, /*polls=*/13);
  CHECK(stopped.codes == std::vector<int>{85, 85});
  CHECK_THAT(stopped.error, Catch::Contains("checkpoint at epoch"));
  CHECK_FALSE(fs::exists(f.folder / "rank1" / "checkpoint"));
  const Trained rest = run_in_ranks<classifier::Classifier>(f, options, 1);
  REQUIRE(rest.error.empty());
  std::vector<json> epochs = stopped.epochs;
  epochs.insert(epochs.end(), rest.epochs.begin(), rest.epochs.end());
  check_same_epochs(epochs, undisturbed.epochs, 1e-4);
}

TEST_CASE("a run goes on with another number of threads", "[ranks]") {
  test::StageFixture f;
  auto options = exact(test::small_classifier(), 20);  // more than 20 steps in three epochs
  const Trained undisturbed = run_in_ranks<classifier::Classifier>(f, options, 1);
  fs::remove_all(f.folder / "stage");
  const Trained stopped = run_in_ranks<classifier::Classifier>(f, options, 1, /*polls=*/5);
  REQUIRE(stopped.codes.front() == 85);
  const Trained rest = run_in_ranks<classifier::Classifier>(f, options, 1, -1, /*threads=*/2);
  std::vector<json> epochs = stopped.epochs;
  epochs.insert(epochs.end(), rest.epochs.begin(), rest.epochs.end());
  check_same_epochs(epochs, undisturbed.epochs, 1e-4);
}

TEST_CASE("a process without memory for its piece does not disturb the others", "[ranks][oom]") {
  test::StageFixture f;
  memory::Arena& arena = memory::Arena::instance();
  const auto check = [&](const std::string& norm, double tolerance) {
    INFO("norm " << norm);
    auto options = autoencoder_with(norm, 1000);
    options.max_epochs = 2;
    const int64_t before = arena.counters().allocations;
    const Trained wanted = run_in_ranks<autoencoder::Autoencoder>(f, options, 2);
    const int64_t requests = arena.counters().allocations - before;
    int64_t split = 0;
    for (int64_t n = requests / 4; n < requests; n += requests / 24) {
      arena.fail_allocation(n);
      fs::remove_all(f.folder / "stage");
      const Trained got = run_in_ranks<autoencoder::Autoencoder>(f, options, 2);
      arena.fail_allocation(0);
      if (!got.error.empty()) continue;  // it was no request of a step
      split += got.splits;
      check_same_epochs(got.epochs, wanted.epochs, tolerance);
    }
    CHECK(split > 0);
  };
  check("graph", 1e-4);
  check("batch", 0.05);  // the halves have statistics of their own
}

TEST_CASE("packs settled beforehand are kept, and split where memory is short",
          "[ranks][oom][alone]") {
  test::StageFixture f;
  auto options = test::small_classifier();
  options.hidden = 256;
  options.layers = 3;
  options.max_epochs = 1;
  options.batch_size = 1000;
  options.min_steps_per_epoch = 1;
  Request request = f.request("stage");
  request.memory.packs = FrozenPacks{160, 0, 0, 0};
  const json roomy = classifier::Classifier::run(options, request, f.fake.host);
  CHECK(roomy.at("metrics").at("batch").at("packs") == 1);
  const test::Weights wanted = test::weights_in(request.run_dir);
  const json& planned = roomy.at("memory").at("planned").at("table");

  fs::remove_all(request.run_dir);
  fs::create_directories(request.run_dir);
  f.fake.memory.clear();
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  trim_heap();  // as the stage does
  const int64_t beside = memory::anonymous_memory() - meter.counters().reserved;
  const int64_t held = roomy.at("memory").at("actual").at("peak_tensor_bytes").get<int64_t>() -
                       planned.at("step").get<int64_t>();
  request.memory.limit =
      static_cast<int64_t>(1.016 * static_cast<double>(beside + (6 << 20) + held +
                                                       planned.at("step").get<int64_t>() * 9 / 10));
  const json tight = classifier::Classifier::run(options, request, f.fake.host);
  meter.set_limit(0);
  CHECK(tight.at("metrics").at("steps") == roomy.at("metrics").at("steps"));
  CHECK(test::difference(test::weights_in(request.run_dir), wanted) < 1e-4);
  CHECK(std::any_of(f.fake.memory.begin(), f.fake.memory.end(),
                    [](const json& event) { return event.at("event") == "settled_packs"; }));
}
