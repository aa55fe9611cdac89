#include "support/cards/footprint_cases.h"
// The others need torch's macros gone.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/products.h"
#include "engine/memory/tape.h"
#include "support/graphs/batches.h"

namespace kdgat::model {
namespace {

/// Counted against measured, for batches of so many graphs.
template <class Config>
void compare(const std::string& name, const Config& config, const std::vector<int64_t>& sizes,
             FootprintOptions options = {}) {
  for (const bool checkpointing : {false, true}) {
    options.checkpointing = checkpointing;
    options.threads = at::get_num_threads();
    const memory::Footprint of_any = footprint(config, options);
    for (const int64_t graphs : sizes) {
      const graph::GraphBatch batch = traffic(graphs, 0, options.largest_graph);
      const memory::Size size{batch.graphs, batch.nodes, batch.edges};
      const memory::Footprint counted = of_any.at(size);
      const auto truth = static_cast<double>(measured_peak(config, options, graphs));
      const auto predicted = static_cast<double>(counted.peak(size));
      INFO(name << (checkpointing ? " with" : " without") << " checkpointing, " << graphs
                << " graphs: " << truth << " bytes, counted " << predicted << ", "
                << counted.largest(size).name);
      CHECK(std::abs(predicted / truth - 1) <= counted.margin);
    }
  }
}

TEST_CASE("a tape follows memory from allocation to release", "[memory][footprint]") {
  memory::Tape tape;
  const memory::Cost nodes{.node = 1};
  const auto largest = [&tape](int64_t count) {
    double out = 0;
    for (const memory::Phase& phase : tape.phases()) {
      out = std::max(out, phase.cost.of({1, count, 0}));
    }
    return out;
  };
  {
    tape.enter("a product");
    const memory::Value x = tape.value(nodes, 3);
    const memory::Value y = tape.value(nodes, 5);
    tape.then(y, [&tape, x](const memory::Held&) {
      tape.give(x);
      tape.parameters({15});
    });
    CHECK(largest(100) == 4 * 8 * 100);
    tape.hold(nodes * 7);  // for a moment
    CHECK(largest(100) == (4 * 8 + 7) * 100);
    tape.give(y);
  }
  // y is gone, x is kept; the gradient of y lives until that of x and of the weights is there.
  tape.backward();
  CHECK(largest(100) == 4 * (8 + 5) * 100);
  const memory::Held later = tape.hold(nodes * (4 * 13.0));
  CHECK(largest(100) == 4 * 13 * 100 + 4 * 15);  // x's gradient went, that of the weights stays
  for (const memory::Phase& phase : tape.phases()) CHECK(phase.name.ends_with("of a product"));
}

TEST_CASE("a step needs what is counted from its shapes", "[memory][footprint]") {
  compare("autoencoder student", VgaeConfig::student(kIds), {8, 24, 64, 256, 1024});
  compare("autoencoder teacher", VgaeConfig::teacher(kIds), {4, 16, 64, 256});
  compare("classifier student", GatConfig::student(kIds), {64, 256, 1024});
  compare("classifier teacher", GatConfig::teacher(kIds), {16, 64, 256});
}

TEST_CASE("a step on large graphs needs what is counted", "[memory][footprint]") {
  for (const int64_t nodes : {400, 3000}) {
    FootprintOptions options;
    options.largest_graph = nodes;
    compare("classifier student on large graphs", GatConfig::student(kIds), {1, 8}, options);
    compare("autoencoder student on large graphs", VgaeConfig::student(kIds), {1, 8}, options);
  }
}

TEST_CASE("threads that a small batch has no work for need nothing", "[memory][footprint]") {
  const struct Threads {
    int before = at::get_num_threads();
    Threads() { at::set_num_threads(2); }
    ~Threads() { at::set_num_threads(before); }
  } two_threads;
  compare("autoencoder student", VgaeConfig::student(kIds), {8, 64});
  FootprintOptions options;
  options.threads = 2;
  const memory::Footprint two = footprint(VgaeConfig::student(kIds), options);
  options.threads = 1;
  const memory::Footprint one = footprint(VgaeConfig::student(kIds), options);
  const memory::Size small{64, 64 * 27, 64 * 45}, large{80, 80 * 27, 80 * 45};
  CHECK(two.at(small).peak(small) == one.at(small).peak(small));
  CHECK(two.at(large).peak(large) > one.at(large).peak(large));
}

TEST_CASE("a step of other forms of the models needs what is counted", "[memory][footprint]") {
  VgaeConfig autoencoder = VgaeConfig::student(kIds);
  autoencoder.norm = "graph";
  autoencoder.id_embedding = "unknown";
  autoencoder.standardise = true;
  compare("autoencoder, graph norm", autoencoder, {64, 256});
  GatConfig classifier = GatConfig::student(kIds);
  classifier.conv = "gatv2";
  classifier.standardise = true;
  compare("classifier, gatv2", classifier, {64, 256});
  classifier.norm = "graph";
  classifier.id_embedding = "hashed";
  compare("classifier, graph norm", classifier, {64, 256});
  classifier = GatConfig::student(kIds);
  classifier.jk = "lstm";
  compare("classifier, LSTM", classifier, {16, 64});
  classifier.layers = 3;
  compare("classifier, LSTM of three", classifier, {16, 64});
}

/// As profiles/graphs.yaml has it, for graphs without identifiers.
GatConfig of_classes(const std::string& conv, const std::string& norm, const std::string& pooling,
                     int64_t classes) {
  GatConfig out = GatConfig::student(1);
  out.has_ids = false;
  out.classes = classes;
  out.conv = conv;
  out.norm = norm;
  out.pooling = pooling;
  out.hidden = 32;
  out.layers = 4;
  out.fc_layers = 2;
  return out;
}

TEST_CASE("a step of a classifier of several classes needs what is counted",
          "[memory][footprint][classes]") {
  for (const char* conv : {"gin", "none"}) {
    for (const char* norm : {"batch", "none", "graph"}) {
      const std::string name = std::string(conv) + ", norm " + norm;
      compare(name + ", sum", of_classes(conv, norm, "sum", 6), {64, 256});
    }
    for (const char* pooling : {"mean", "max"}) {
      compare(std::string(conv) + ", " + pooling, of_classes(conv, "batch", pooling, 3), {64, 256});
    }
  }
  GatConfig standardised = of_classes("gin", "batch", "sum", 2);
  standardised.standardise = true;
  compare("gin, standardised", standardised, {64, 256});
  compare("gin, 300 classes", of_classes("gin", "batch", "sum", 300), {64, 256});
  GatConfig wide = of_classes("gin", "batch", "sum", 6);
  wide.hidden = 128;
  wide.layers = 2;
  compare("gin, wide", wide, {64, 256});
  for (const char* pooling : {"sum", "max"}) {
    GatConfig gat = of_classes("gat", "none", pooling, 6);
    compare(std::string("attention, ") + pooling, gat, {64, 256});
    gat.norm = "batch";
    compare(std::string("attention, batch norm, ") + pooling, gat, {64, 256});
    gat.jk = "lstm";
    compare(std::string("attention, LSTM, ") + pooling, gat, {16, 64});
  }
}

TEST_CASE("a step of a classifier of every convolution needs what is counted",
          "[memory][footprint][convs]") {
  for (const std::string& conv : conv_names()) {
    for (const char* norm : {"batch", "none", "graph"}) {
      GatConfig config = of_classes(conv, norm, "mean", 3);
      if (config.kind().has_heads) config.heads = 4;
      compare(conv + ", norm " + norm, config, {64, 256});
    }
    FootprintOptions in_16_bits;
    in_16_bits.precision = "bf16-mixed";
    compare(conv + " in 16 bits", of_classes(conv, "graph", "mean", 3), {64, 256}, in_16_bits);
    GatConfig narrow = of_classes(conv, "batch", "sum", 3);
    narrow.hidden = 6;  // fewer than the features of nodes
    compare(conv + ", narrow", narrow, {64, 256});
  }
}

/// For graphs without identifiers.
VgaeConfig without_ids(VgaeConfig out) {
  out.num_ids = 1;
  out.has_ids = false;
  out.standardise = true;
  return out;
}

TEST_CASE("a step of an autoencoder of nodes without identifiers needs what is counted",
          "[memory][footprint][classes]") {
  VgaeConfig student = without_ids(VgaeConfig::student(1));
  compare("student", student, {64, 256, 1024});
  compare("teacher", without_ids(VgaeConfig::teacher(1)), {16, 64, 256});
  student.norm = "graph";
  compare("graph norm", student, {64, 256});
  student.standardise = false;
  compare("features as they are", student, {64, 256});
  FootprintOptions options;
  options.distilling = true;
  for (const int64_t latent : {16, 48}) {
    options.teacher_latent = latent;
    compare("learning from another", without_ids(VgaeConfig::student(1)), {64, 256}, options);
  }
  options = {};
  options.accumulating = true;
  compare("in parts", without_ids(VgaeConfig::teacher(1)), {16, 64}, options);
  options = {};
  options.precision = "bf16-mixed";
  compare("in 16 bits", without_ids(VgaeConfig::student(1)), {64, 256}, options);
}

TEST_CASE("a step of a student of several classes, in parts or in 16 bits, needs what is counted",
          "[memory][footprint][classes]") {
  FootprintOptions options;
  options.distilling = true;
  compare("student", of_classes("gin", "batch", "sum", 6), {64, 256}, options);
  options = {};
  options.accumulating = true;
  compare("in parts", of_classes("gin", "batch", "sum", 6), {64, 256}, options);
  options = {};
  options.precision = "bf16-mixed";
  compare("in 16 bits", of_classes("gin", "batch", "sum", 6), {64, 256}, options);
}

TEST_CASE("a step of a student, or in parts, needs what is counted", "[memory][footprint]") {
  FootprintOptions options;
  options.distilling = true;
  compare("classifier", GatConfig::student(kIds), {64, 256}, options);
  for (const int64_t latent : {16, 48}) {
    options.teacher_latent = latent;
    compare("autoencoder", VgaeConfig::student(kIds), {64, 256}, options);
  }
  VgaeConfig narrow =
      VgaeConfig::student(kIds);  // most is held where its latent meets the teacher's
  narrow.hidden_dims = {12};
  narrow.latent_dim = 6;
  compare("narrow autoencoder", narrow, {64, 256}, options);
  options = {};
  options.accumulating = true;
  compare("classifier in parts", GatConfig::teacher(kIds), {16, 64}, options);
  compare("autoencoder in parts", VgaeConfig::teacher(kIds), {16, 64}, options);
}

TEST_CASE("a step in mixed precision needs what is counted", "[memory][footprint][precision]") {
  FootprintOptions options;
  options.precision = "bf16-mixed";
  compare("autoencoder student", VgaeConfig::student(kIds), {64, 256}, options);
  compare("autoencoder teacher", VgaeConfig::teacher(kIds), {16, 64}, options);
  compare("classifier student", GatConfig::student(kIds), {64, 256}, options);
  compare("classifier teacher", GatConfig::teacher(kIds), {16, 64}, options);
  GatConfig classifier = GatConfig::student(kIds);
  classifier.conv = "gatv2";
  compare("classifier, gatv2", classifier, {64, 256}, options);
  classifier.conv = "gat";
  classifier.jk = "lstm";
  compare("classifier, LSTM", classifier, {16, 64}, options);
  options.precision = "16-mixed";
  compare("autoencoder student in fp16", VgaeConfig::student(kIds), {16}, options);
  compare("classifier student in fp16", GatConfig::student(kIds), {16}, options);
}

TEST_CASE(
    "products in bfloat16 of our own need no more than those in 32 bits, LibTorch's are counted "
    "too",
    "[memory][footprint][precision]") {
  FootprintOptions rounded;
  rounded.precision = "bf16-mixed";
  test::at_every_isa([&] {
    compare("classifier student", GatConfig::student(kIds), {64, 256}, rounded);
    if (!kernels::ProductKernels::cpu().rounds(1000, 1)) return;
    const GatConfig teacher = GatConfig::teacher(kIds);
    CHECK(static_cast<double>(measured_peak(teacher, rounded, 256)) <
          1.001 * static_cast<double>(measured_peak(teacher, {}, 256)));
  });
}

TEST_CASE("checkpointing keeps two fifths fewer bytes for the backward pass", "[memory]") {
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  const graph::GraphBatch batch = traffic(64);
  const auto kept = [&](bool checkpointing) {
    FootprintOptions options;
    options.checkpointing = checkpointing;
    const auto objective = make(GatConfig::teacher(kIds), options);
    const int64_t before = meter.counters().allocated;
    const torch::Tensor loss = objective->loss(batch, {batch.graphs, batch.nodes, batch.edges}, {});
    return static_cast<double>(meter.counters().allocated - before);
  };
  CHECK(kept(true) < 0.6 * kept(false));
}

TEST_CASE("what is held between steps is counted exactly", "[memory][footprint]") {
  const auto check = [](const auto& config) {
    const auto objective = make(config, {});
    const memory::Footprint counted = footprint(config, {});
    const int64_t parameters = bytes_of(named(objective->module(), false));
    CHECK(counted.gradients == parameters);
    CHECK(counted.parameters + counted.embeddings == bytes_of(named(objective->module(), true)));
    CHECK(counted.weights_kept == counted.parameters + counted.embeddings);
    const train::Optimizer optimizer(named(objective->module(), false), false, 0);
    CHECK(counted.optimizer == bytes_of(optimizer.state()));
  };
  for (const char* conv : {"gin", "none", "gat"}) {
    for (const char* norm : {"batch", "none", "graph"}) {
      GatConfig config = of_classes(conv, norm, "sum", 6);
      check(config);
      config.standardise = true;
      check(config);
    }
  }
  for (const char* embedding : {"table", "unknown", "hashed"}) {
    VgaeConfig autoencoder = VgaeConfig::student(50);
    GatConfig classifier = GatConfig::student(50);
    autoencoder.id_embedding = classifier.id_embedding = embedding;
    check(autoencoder);
    check(classifier);
    autoencoder.standardise = classifier.standardise = true;
    autoencoder.norm = classifier.norm = "graph";
    classifier.conv = "gatv2";
    classifier.jk = "lstm";
    check(autoencoder);
    check(classifier);
  }
  check(VgaeConfig::teacher(kIds));
  check(GatConfig::teacher(kIds));
  for (const char* norm : {"batch", "graph"}) {
    VgaeConfig autoencoder = without_ids(VgaeConfig::teacher(1));
    autoencoder.norm = norm;
    check(autoencoder);
    autoencoder.standardise = false;
    check(autoencoder);
  }
}

}  // namespace
}  // namespace kdgat::model
