#include "support/cards/footprint_cases.h"
// The others need torch's macros gone.
#include <cmath>
#include <string>
#include <vector>

#include "support/cards/idle_card.h"

// What a step by a device's kernels holds, against its footprint.
namespace kdgat::kernels {
namespace {

/// Counted against measured, without what an allocator rounds.
template <class Config>
void compare_on(KernelSet kernels, const std::string& name, const Config& config, double margin,
                const std::vector<int64_t>& sizes, model::FootprintOptions options = {}) {
  const test::IdleCard card(kernels);
  options.kernels = kernels;
  for (const bool checkpointing : {false, true}) {
    options.checkpointing = checkpointing;
    const memory::Footprint of_any = model::footprint(config, options);
    for (const int64_t graphs : sizes) {
      const graph::GraphBatch batch = model::traffic(graphs);
      const memory::Size size{batch.graphs, batch.nodes, batch.edges};
      const memory::Footprint counted = of_any.at(size);
      const auto truth = static_cast<double>(model::measured_peak(config, options, graphs, true));
      const auto predicted =
          static_cast<double>(counted.held()) + counted.largest(size).cost.of(size);
      INFO(name << (checkpointing ? " with" : " without") << " checkpointing, " << graphs
                << " graphs: " << truth << " bytes, counted " << predicted << ", "
                << counted.largest(size).name);
      CHECK(std::abs(predicted / truth - 1) <= margin);
      CHECK(counted.peak(size) >= static_cast<int64_t>(predicted));
    }
  }
}

void compare_all(KernelSet kernels, double margin) {
  const std::vector<int64_t> of_student{8, 24, 64, 192}, of_teacher{4, 16, 48, 96};
  model::VgaeConfig autoencoder = model::VgaeConfig::student(model::kIds);
  compare_on(kernels, "autoencoder student", autoencoder, margin, of_student);
  compare_on(kernels, "autoencoder teacher", model::VgaeConfig::teacher(model::kIds), margin,
             of_teacher);
  autoencoder.norm = "graph";
  compare_on(kernels, "autoencoder, graph norm", autoencoder, margin, of_student);
  model::GatConfig classifier = model::GatConfig::student(model::kIds);
  compare_on(kernels, "classifier student", classifier, margin, of_student);
  compare_on(kernels, "classifier teacher", model::GatConfig::teacher(model::kIds), margin,
             of_teacher);
  classifier.conv = "gatv2";
  compare_on(kernels, "classifier, gatv2", classifier, margin, of_student);
  classifier.norm = "graph";
  compare_on(kernels, "classifier, gatv2 and graph norm", classifier, margin, of_student);
  model::GatConfig classes = model::GatConfig::student(1);
  classes.has_ids = false;
  classes.classes = 6;
  classes.conv = "gin";
  classes.norm = "batch";
  classes.pooling = "sum";
  classes.hidden = 32;
  classes.layers = 4;
  classes.fc_layers = 2;
  compare_on(kernels, "gin of six classes", classes, margin, of_student);
  model::FootprintOptions options;
  options.accumulating = true;
  compare_on(kernels, "classifier in parts", model::GatConfig::teacher(model::kIds), margin,
             of_teacher, options);
}

TEST_CASE("a step by a card's kernels needs what is counted", "[cuda][footprint]") {
  compare_all(KernelSet::kCuda, 0.05);
}

TEST_CASE("a step of a device without kernels needs about what is counted", "[cuda][footprint]") {
  compare_all(KernelSet::kPlain, 0.15);
  // More than with kernels.
  model::FootprintOptions options;
  options.kernels = KernelSet::kPlain;
  const memory::Footprint plain = model::footprint(model::GatConfig::student(model::kIds), options);
  options.kernels = KernelSet::kCuda;
  const memory::Footprint fast = model::footprint(model::GatConfig::student(model::kIds), options);
  CHECK(plain.largest({256, 7000, 11000}).cost.of({256, 7000, 11000}) >
        2 * fast.largest({256, 7000, 11000}).cost.of({256, 7000, 11000}));
}

TEST_CASE("a card's plan rounds, and the CPU's does not", "[cuda][footprint]") {
  const memory::Size size{256, 256 * 27, 256 * 45};
  for (const KernelSet kernels : {KernelSet::kCpu, KernelSet::kCuda, KernelSet::kPlain}) {
    model::FootprintOptions options;
    options.kernels = kernels;
    const memory::Footprint counted =
        model::footprint(model::GatConfig::teacher(model::kIds), options);
    CHECK((counted.rounding != nullptr) == (kernels != KernelSet::kCpu));
    if (!counted.rounding) continue;
    CHECK(counted.rounding_at(size) > 0);
    CHECK(counted.rounding_at(size) < counted.peak(size) / 3);
  }
}

}  // namespace
}  // namespace kdgat::kernels
