// Plans for a card against a simulated one: the blocks that steps ask for, laid out as LibTorch's
// allocator of cards does, with the workspaces of cuBLAS.
#include "support/cards/footprint_cases.h"
// The others need torch's macros gone.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "engine/arrays/random.h"
#include "support/cards/idle_card.h"
#include "support/cards/recorded_blocks.h"
#include "support/graphs/variable.h"
#include "support/programs/soak.h"

namespace kdgat::kernels {
namespace {

constexpr int64_t kMiB = 1 << 20;
/// The most of a thread, as on sm_90 and sm_100.
constexpr int64_t kWorkspace = 65 * kMiB / 2;

/// Batches of an epoch whose largest has so many graphs. They are the host's.
std::vector<graph::GraphBatch> some_batches(int64_t graphs) {
  std::vector<graph::GraphBatch> out;
  for (const double share : {0.97, 1.0, 0.94, 0.99, 1.0}) {
    out.push_back(model::traffic(static_cast<int64_t>(share * static_cast<double>(graphs)), 0, 27));
  }
  return out;
}

/// What the trainer does on a card.
template <class Config>
void train_on(const std::vector<graph::GraphBatch>& batches, const Config& config,
              const model::FootprintOptions& options, test::RecordedBlocks& blocks) {
  const auto objective = model::make(config, options);
  train::NamedTensors best;
  for (const auto& [name, tensor] : model::named(objective->module(), true)) {
    best.emplace_back(name, tensor.detach().clone());
  }
  train::Optimizer optimizer(model::named(objective->module(), false), false, 1e-4);
  objective->module().train();
  blocks.mark();
  for (const graph::GraphBatch& batch : batches) {
    const BatchTensors seen = to_tensors(batch, torch::kCPU);
    std::vector<at::Tensor> copies;
    for (const at::Tensor& t : {seen.x_NF, seen.node_ptr_G1, seen.in_ptr_N1, seen.in_source_E,
                                seen.y_G, seen.graph_id_G}) {
      if (t.defined()) copies.push_back(t.clone());
    }
    torch::Tensor loss;
    {
      const train::Autocast in_16_bits(options.precision, torch::kCPU);
      loss = objective->loss(batch, {batch.graphs, batch.nodes, batch.edges}, {1, 0});
    }
    loss.backward();
    optimizer.clip(1);
    optimizer.step(1e-3);
  }
}

/// Bytes planned over bytes reserved, for batches whose largest has so many graphs.
template <class Config>
double planned_over_reserved(const std::string& name, const Config& config,
                             model::FootprintOptions options, int64_t graphs) {
  const test::IdleCard card(options.kernels);
  const memory::Segments segments = memory::segments_in_use();
  const std::vector<graph::GraphBatch> batches = some_batches(graphs);
  const graph::GraphBatch& largest = batches[1];
  memory::Footprint counted = model::footprint(config, options);
  counted.workspaces = 2 * kWorkspace;
  const int64_t planned = counted.peak({largest.graphs, largest.nodes, largest.edges});
  test::RecordedBlocks blocks;
  train_on(batches, config, options, blocks);
  const int64_t reserved = blocks.reserved_on_card(segments, kWorkspace);
  INFO(name << ", " << graphs << " graphs, " << options.precision
            << (options.checkpointing ? ", checkpointing" : "")
            << (options.distilling ? ", distilling" : "")
            << (segments == memory::Segments::kOwn ? ", segments of their own" : "") << ": planned "
            << planned << ", simulated " << reserved);
  CHECK(reserved > 2 * kWorkspace);
  CHECK(planned >= reserved);
  // Nor is it of no use.
  CHECK(planned <= reserved + reserved / 4 + 96 * kMiB);
  return static_cast<double>(planned) / static_cast<double>(reserved);
}

template <class Config>
void compare_with_plan(const std::string& name, const Config& config,
                       const model::FootprintOptions& options) {
  for (const int64_t graphs : {16, 192}) planned_over_reserved(name, config, options, graphs);
}

/// Between both, each ratio as likely as another.
int64_t drawn(arrays::Random& random, double low, double high) {
  return std::llround(low * std::pow(high / low, random.uniform()));
}

double of_drawn_plan(arrays::Random& random) {
  model::FootprintOptions options;
  options.kernels = random.below(3) == 0 ? KernelSet::kPlain : KernelSet::kCuda;
  options.checkpointing = random.below(2) == 0;
  options.precision =
      options.kernels == KernelSet::kCuda && random.below(2) == 0 ? "bf16-mixed" : "32";
  options.distilling = random.below(3) == 0;
  const int64_t graphs = drawn(random, 8, 256), heads = int64_t{1} << random.below(4);
  const std::string number = std::to_string(graphs);
  if (random.below(2) == 0) {
    model::GatConfig config = model::GatConfig::student(model::kIds);
    config.hidden = drawn(random, 4, 64);
    config.layers = 1 + static_cast<int64_t>(random.below(5));
    config.heads = heads;
    config.fc_layers = 1 + static_cast<int64_t>(random.below(5));
    config.embedding_dim = drawn(random, 4, 64);
    return planned_over_reserved("drawn classifier", config, options, graphs);
  }
  model::VgaeConfig config = model::VgaeConfig::student(model::kIds);
  config.hidden_dims = {drawn(random, 32, 256), drawn(random, 8, 32)};
  config.latent_dim = drawn(random, 4, 64);
  config.heads = heads;
  config.embedding_dim = drawn(random, 4, 64);
  options.teacher_latent = random.below(2) == 0 ? config.latent_dim : 48;
  return planned_over_reserved("drawn autoencoder", config, options, graphs);
}

void compare_all(const char* settings) {
  const test::Variable general("PYTORCH_ALLOC_CONF", "");
  const test::Variable of_cards("PYTORCH_CUDA_ALLOC_CONF", settings);
  for (const auto& [kernels, precision, checkpointing] :
       {std::tuple{KernelSet::kCuda, "32", false}, std::tuple{KernelSet::kCuda, "32", true},
        std::tuple{KernelSet::kCuda, "bf16-mixed", false},
        std::tuple{KernelSet::kCuda, "bf16-mixed", true},
        std::tuple{KernelSet::kPlain, "32", false}, std::tuple{KernelSet::kPlain, "32", true}}) {
    model::FootprintOptions options;
    options.kernels = kernels;
    options.checkpointing = checkpointing;
    options.precision = precision;
    compare_with_plan("autoencoder student", model::VgaeConfig::student(model::kIds), options);
    compare_with_plan("autoencoder teacher", model::VgaeConfig::teacher(model::kIds), options);
    compare_with_plan("classifier student", model::GatConfig::student(model::kIds), options);
    compare_with_plan("classifier teacher", model::GatConfig::teacher(model::kIds), options);
  }
}

TEST_CASE("no plan is below what a simulated card reserves", "[cuda][footprint]") {
  compare_all("expandable_segments:True");
}

TEST_CASE("no plan is below what a simulated card reserves in segments of their own",
          "[cuda][footprint]") {
  compare_all("max_split_size_mb:64");
}

// SOAK=10 draws a hundred.
TEST_CASE("plans of drawn trainings are not below what a simulated card reserves",
          "[cuda][footprint]") {
  const test::Variable general("PYTORCH_ALLOC_CONF", "");
  const test::Variable of_cards("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  arrays::Random random(1);
  std::vector<double> ratios;
  for (int i = 0; i < test::soak(10); ++i) ratios.push_back(of_drawn_plan(random));
  std::sort(ratios.begin(), ratios.end());
  if (test::soak(1) > 1) {
    std::printf("%zu plans: minimum %.3f, median %.3f, maximum %.3f\n", ratios.size(),
                ratios.front(), ratios[ratios.size() / 2], ratios.back());
  }
}

}  // namespace
}  // namespace kdgat::kernels
