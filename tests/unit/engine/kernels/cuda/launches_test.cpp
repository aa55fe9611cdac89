#include <ATen/record_function.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "support/cards/footprint_cases.h"
#include "support/cards/idle_card.h"

// How often a training step turns to a card: kernels of our own, and LibTorch's operations. On a
// fast card that is what a step of a small model takes.
namespace kdgat::kernels {
namespace {

/// Innermost operations of LibTorch, by name. Backward runs in the same thread on the CPU.
class Operations {
 public:
  Operations() {
    current() = this;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&Operations::begin, &Operations::end)
                                        .scopes({at::RecordScope::FUNCTION}));
  }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  ~Operations() {
    at::removeCallback(handle_);
    current() = nullptr;
  }

  int64_t count() const {
    int64_t out = 0;
    for (const auto& [name, times] : of_device_) out += times;
    return out;
  }
  std::string text() const {
    std::multimap<int64_t, std::string, std::greater<>> most;
    for (const auto& [name, times] : of_device_) most.emplace(times, name);
    std::string out;
    for (const auto& [times, name] : most) out += std::to_string(times) + " " + name + "\n";
    return out;
  }

 private:
  struct Frame : at::ObserverContext {
    Frame* outer = nullptr;
    bool has_inner = false;
  };
  static Operations*& current() {
    static Operations* now = nullptr;
    return now;
  }
  static Frame*& top() {
    thread_local Frame* frame = nullptr;
    return frame;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) {
    auto frame = std::make_unique<Frame>();
    frame->outer = top();
    top() = frame.get();
    return frame;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    const auto* frame = static_cast<Frame*>(context);
    top() = frame->outer;
    const bool counts = frame->has_inner || starts_something(function.name());
    if (counts && frame->outer != nullptr) frame->outer->has_inner = true;
    if (counts && !frame->has_inner) ++current()->of_device_[function.name()];
  }
  /// Views, memory without values and what looks at a number of the CPU start nothing on a card.
  static bool starts_something(std::string_view name) {
    constexpr std::string_view kNothing =
        " _local_scalar_dense _reshape_alias _unsafe_view alias as_strided detach empty empty_like "
        "empty_strided expand is_same_size item lift_fresh narrow reshape resize_ resolve_conj "
        "resolve_neg result_type select set_ slice split squeeze t to transpose unbind unsqueeze "
        "view view_as ";
    if (name.starts_with("autograd::")) return false;
    const std::string word = " " + std::string(name.substr(name.rfind(':') + 1)) + " ";
    return kNothing.find(word) == std::string_view::npos;
  }

  std::map<std::string, int64_t> of_device_;
  at::CallbackHandle handle_ = 0;
};

struct Step {
  int64_t kernels = 0, operations = 0;
  std::string text;
};

template <class Config>
Step step_of(const Config& config) {
  model::FootprintOptions options;
  options.kernels = KernelSet::kCuda;
  const test::IdleCard card(KernelSet::kCuda);
  const graph::GraphBatch batch = model::traffic(64);
  const auto objective = model::make(config, options);
  objective->module().train();
  train::Optimizer optimizer(model::named(objective->module(), false), false, 1e-4);
  Step out;
  for (int time = 0; time < 2; ++time) {
    const int64_t before = card.launched();
    const Operations operations;
    const torch::Tensor loss =
        objective->loss(batch, {batch.graphs, batch.nodes, batch.edges}, {1, 0});
    loss.backward();
    optimizer.clip(1);
    optimizer.step(1e-3);
    optimizer.zero_grad();
    out = {card.launched() - before, operations.count(), operations.text()};
  }
  return out;
}

TEST_CASE("a step starts few kernels and operations on a card", "[cuda]") {
  const auto check = [](const std::string& name, const Step& step, int64_t kernels,
                        int64_t operations) {
    INFO(name << ": " << step.kernels << " kernels, " << step.operations << " operations:\n"
              << step.text);
    CHECK(step.kernels <= kernels);
    CHECK(step.operations <= operations);
  };
  check("classifier student", step_of(model::GatConfig::student(model::kIds)), 28, 52);
  check("classifier teacher", step_of(model::GatConfig::teacher(model::kIds)), 38, 53);
  check("autoencoder student", step_of(model::VgaeConfig::student(model::kIds)), 63, 165);
  check("autoencoder teacher", step_of(model::VgaeConfig::teacher(model::kIds)), 63, 165);
}

// For scripts/bench gpu.
TEST_CASE("what a step starts on a card, as a list", "[.starts]") {
  const auto list = [](const char* name, const Step& step) {
    std::printf("starts: %s: %lld kernels and %lld operations\n", name,
                static_cast<long long>(step.kernels), static_cast<long long>(step.operations));
    CHECK(step.kernels > 0);
  };
  list("classifier student", step_of(model::GatConfig::student(model::kIds)));
  list("classifier teacher", step_of(model::GatConfig::teacher(model::kIds)));
  list("autoencoder student", step_of(model::VgaeConfig::student(model::kIds)));
  list("autoencoder teacher", step_of(model::VgaeConfig::teacher(model::kIds)));
}

}  // namespace
}  // namespace kdgat::kernels
