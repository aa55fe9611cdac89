// kdgat_engine_bench: what scripts/bench measures of training inside one process. Prints one JSON
// object a call.
//
//   kdgat_engine_bench machine THREADS
//       memory bandwidth (GB/s) and the rate of multiply-adds in registers (GFLOP/s)
//   kdgat_engine_bench train STORE MODEL SIZE BATCH EPOCHS THREADS [PRECISION]
//       MODEL autoencoder or classifier, SIZE teacher or student: seconds of each epoch, then one
//       epoch with every operation timed: milliseconds a step, GFLOP/s, GB/s
//   kdgat_engine_bench score STORE SIZE LIMIT THREADS
//       difficulty of graphs by the autoencoder: graphs/s, all at once and one at a time
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/train/scoring.h"
#include "engine/train/trainer.h"

namespace {

using kdgat::bench::seconds_since;
using kdgat::graph::GraphStore;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// ---- the machine

#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
float multiply_adds(int64_t rounds, float factor) {
  typedef float Vector __attribute__((vector_size(64)));
  constexpr int kChains = 12;  // enough to hide the latency of two units
  Vector sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = Vector{} + static_cast<float>(i);
  const Vector scale = Vector{} + factor;
  for (int64_t n = 0; n < rounds; ++n) {
    for (Vector& s : sum) s = s * scale + scale;
  }
  for (int i = 1; i < kChains; ++i) sum[0] += sum[i];
  return sum[0][0];
}
constexpr double kFlopsOfRound = 2.0 * 16 * 12;

/// Seconds until body has ended in `threads` threads at once, the best of three.
double in_threads(int threads, const std::function<void(int)>& body) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    std::vector<std::thread> all;
    const auto start = Clock::now();
    for (int t = 0; t < threads; ++t) all.emplace_back(body, t);
    for (std::thread& t : all) t.join();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

json measure_machine(int threads) {
  constexpr int64_t kRounds = 20'000'000;
  std::vector<float> sink(static_cast<std::size_t>(threads));
  const double compute = in_threads(
      threads, [&](int t) { sink[static_cast<std::size_t>(t)] = multiply_adds(kRounds, 0.25f); });
  constexpr std::size_t kFloats = 32 << 20;  // of each of three arrays: 128 MiB, beyond every cache
  std::vector<float> a(kFloats, 1), b(kFloats, 2), c(kFloats, 3);
  const double memory = in_threads(threads, [&](int t) {
    const auto part = static_cast<std::size_t>(t), parts = static_cast<std::size_t>(threads);
    for (std::size_t i = kFloats * part / parts; i < kFloats * (part + 1) / parts; ++i) {
      a[i] = b[i] + 0.5f * c[i];
    }
  });
  return {{"threads", threads},
          {"gflops", threads * kRounds * kFlopsOfRound / compute * 1e-9},
          {"gbytes", 3.0 * kFloats * sizeof(float) / memory * 1e-9},
          {"check", sink[0] + a[0]}};
}

// ---- time of each operation

struct Cost {
  double flops = 0, bytes = 0;
};

std::vector<at::Tensor> tensors_of(const at::RecordFunction& call) {
  std::vector<at::Tensor> out;
  for (const c10::IValue& value : call.inputs()) {
    if (value.isTensor() && value.toTensor().defined()) out.push_back(value.toTensor());
  }
  return out;
}

/// Multiply-adds count twice; of memory, what is read and written at least once. Zero where it is
/// not known.
Cost cost_of(const at::RecordFunction& call) {
  const std::string name = call.name();
  const std::vector<at::Tensor> in = tensors_of(call);
  if ((name == "aten::mm" && in.size() >= 2) || (name == "aten::addmm" && in.size() >= 3)) {
    const at::Tensor &a = in[in.size() - 2], &b = in[in.size() - 1];
    const auto m = static_cast<double>(a.size(0)), k = static_cast<double>(a.size(1)),
               n = static_cast<double>(b.size(1));
    return {2 * m * n * k, 4 * (m * k + k * n + m * n)};
  }
  if (in.empty() || in[0].dim() != 2) return {};
  const auto rows = static_cast<double>(in[0].size(0)),
             columns = static_cast<double>(in[0].size(1));
  if (name == "kdgat::product" || name == "kdgat::add_product") {  // a b, or g^T x
    return {2 * rows * columns * static_cast<double>(in[1].size(1)), 0};
  }
  if (name == "kdgat::head") {  // logits; with gradients two more products
    const bool with_grad = call.inputs()[2].toBool();
    return {(with_grad ? 6 : 2) * rows * columns * static_cast<double>(in[1].size(0)), 0};
  }
  // Matrices of this size read or written, caches aside.
  const auto matrices = [&](double count) { return Cost{0, 4 * count * rows * columns}; };
  if (name == "kdgat::relu_dropout") return matrices(2);
  if (name == "kdgat::norm") return matrices(4);       // sums, squares, result
  if (name == "kdgat::attention") return matrices(3);  // scores, sums
  if (name.find("::ReluDropout") != std::string::npos) return matrices(2 + 1.0 / 32);
  if (name.find("::NormReluDropout") != std::string::npos) return matrices(7);
  if (name.find("::Attention") != std::string::npos) return matrices(5);
  return {};
}

struct Operation {
  int64_t calls = 0;
  double seconds = 0;
  Cost cost;
};

/// Seconds each operation spent in itself, not in operations it called.
class Profile {
 public:
  Profile() {
    current() = this;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&Profile::enter, &Profile::leave)
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() {
    at::removeCallback(handle_);
    current() = nullptr;
  }

  json table(int64_t steps) const {
    std::vector<std::pair<std::string, Operation>> rows(operations_.begin(), operations_.end());
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    json out = json::array();
    for (const auto& [name, op] : rows) {
      json row = {{"operation", name},
                  {"calls", static_cast<double>(op.calls) / static_cast<double>(steps)},
                  {"ms", 1e3 * op.seconds / static_cast<double>(steps)}};
      if (op.cost.flops > 0) row["gflops"] = op.cost.flops / op.seconds * 1e-9;
      if (op.cost.bytes > 0) row["gbytes"] = op.cost.bytes / op.seconds * 1e-9;
      out.push_back(row);
    }
    return out;
  }

 private:
  struct Frame {
    std::string name;
    Clock::time_point start;
    double inside = 0;
    Cost cost;
  };

  static Profile*& current() {
    static Profile* profile = nullptr;
    return profile;
  }
  static std::vector<Frame>& stack() { return current()->frames_; }
  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& call) {
    if (std::this_thread::get_id() != current()->thread_) return nullptr;
    stack().push_back({call.name(), Clock::now(), 0, cost_of(call)});
    return nullptr;
  }
  static void leave(const at::RecordFunction&, at::ObserverContext*) {
    if (std::this_thread::get_id() != current()->thread_ || stack().empty()) return;
    const Frame frame = stack().back();
    stack().pop_back();
    const double seconds = seconds_since(frame.start);
    if (!stack().empty()) stack().back().inside += seconds;
    Operation& op = current()->operations_[frame.name];
    ++op.calls;
    op.seconds += seconds - frame.inside;
    op.cost.flops += frame.cost.flops;
    op.cost.bytes += frame.cost.bytes;
  }

  std::thread::id thread_ =
      std::this_thread::get_id();  ///< what others do is inside its operations
  at::CallbackHandle handle_{};
  std::vector<Frame> frames_;
  std::map<std::string, Operation> operations_;
};

// ---- training and scoring

std::vector<int64_t> all_graphs(const GraphStore& store) {
  std::vector<int64_t> ids(static_cast<std::size_t>(store.graphs()));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

template <class Config>
Config config_of(const std::string& size, const GraphStore& store) {
  if (size != "teacher" && size != "student") throw std::runtime_error("no size " + size);
  return size == "teacher" ? Config::teacher(store.ids()->count())
                           : Config::student(store.ids()->count());
}

std::unique_ptr<kdgat::train::Objective> make_objective(const std::string& model,
                                                        const std::string& size,
                                                        const GraphStore& store) {
  using namespace kdgat;
  if (model == "autoencoder") {
    return std::make_unique<objective::AutoencoderObjective>(
        model::make_model(config_of<model::VgaeConfig>(size, store)));
  }
  if (model == "classifier") {
    return std::make_unique<objective::ClassifierObjective>(
        model::make_model(config_of<model::GatConfig>(size, store)));
  }
  throw std::runtime_error("no model " + model);
}

json train(const std::string& path, const std::string& model, const std::string& size,
           int64_t batch, int64_t epochs, const std::string& precision) {
  const GraphStore store = GraphStore::open(path);
  torch::manual_seed(42);
  const std::unique_ptr<kdgat::train::Objective> objective = make_objective(model, size, store);
  kdgat::train::TrainOptions options;
  options.monitor_metric = "train_loss";
  options.lr = 0.002;
  options.precision = precision;
  std::vector<double> seconds, losses;
  int64_t steps = 0;
  const auto run = [&](int64_t count) {
    options.max_epochs = count;
    auto start = Clock::now();
    kdgat::train::Observer observer;
    observer.epoch = [&](int64_t, const json& metrics) {
      seconds.push_back(seconds_since(start));
      losses.push_back(metrics.at("train_loss"));
      start = Clock::now();
    };
    kdgat::train::Training training{store, all_graphs(store), {batch, 0, 0, 0}};
    training.seed = 42;
    kdgat::train::Trainer trainer(options, *objective, std::move(training), observer);
    steps = trainer.run().steps;
  };
  run(epochs);
  json out = {{"graphs", store.graphs()},
              {"epoch_s", seconds},
              {"loss", losses},
              {"peak_rss_mib", peak_mib()}};
  const Profile profile;
  run(1);
  out["profiled_epoch_ms_a_step"] = 1e3 * seconds.back() / static_cast<double>(steps);
  out["operations"] = profile.table(steps);
  return out;
}

json score(const std::string& path, const std::string& size, int64_t limit) {
  const GraphStore store = GraphStore::open(path);
  torch::manual_seed(42);
  kdgat::objective::AutoencoderObjective objective(
      kdgat::model::make_model(config_of<kdgat::model::VgaeConfig>(size, store)));
  std::vector<int64_t> ids = all_graphs(store);
  if (static_cast<int64_t>(ids.size()) > limit) ids.resize(static_cast<std::size_t>(limit));
  const auto count = static_cast<double>(ids.size());
  const auto difficulty = [&](const kdgat::graph::GraphBatch& b) {
    return objective.difficulty(b);
  };
  auto start = Clock::now();
  kdgat::train::score_all(store, ids, false, difficulty);
  const double batched = count / seconds_since(start);
  start = Clock::now();
  kdgat::graph::GraphBatch batch;
  for (const int64_t id : ids) {
    kdgat::graph::gather(store, std::span(&id, 1), false, batch);
    difficulty(batch);
  }
  return {{"graphs", ids.size()},
          {"batched_graphs_per_s", batched},
          {"one_at_a_time_graphs_per_s", count / seconds_since(start)},
          {"peak_rss_mib", peak_mib()}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto is = [&](const char* verb, std::size_t count) {
    return words.size() == count + 1 && words[0] == verb;
  };
  return kdgat::bench::run(
      "usage: kdgat_engine_bench machine THREADS\n"
      "       kdgat_engine_bench train STORE MODEL SIZE BATCH EPOCHS THREADS [PRECISION]\n"
      "       kdgat_engine_bench score STORE SIZE LIMIT THREADS\n",
      [&] {
        if (is("machine", 1)) {
          std::cout << measure_machine(std::stoi(words[1])) << "\n";
        } else if (is("train", 6) || is("train", 7)) {
          at::set_num_threads(std::stoi(words[6]));
          std::cout << train(words[1], words[2], words[3], std::stoll(words[4]),
                             std::stoll(words[5]), words.size() > 7 ? words[7] : "32")
                    << "\n";
        } else if (is("score", 4)) {
          at::set_num_threads(std::stoi(words[4]));
          std::cout << score(words[1], words[2], std::stoll(words[3])) << "\n";
        } else {
          return false;
        }
        return true;
      });
}
