#include "fields/molecules/model/pocket_footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/memory/meter.h"
#include "engine/train/optimizer.h"
#include "engine/train/precision.h"
#include "fields/molecules/data/molecule_store.h"
#include "fields/molecules/objective/pocket_objective.h"
#include "support/cards/idle_card.h"
#include "support/catch_torch.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::kernels;
using namespace kdgat::molecules;

namespace {

/// Molecules of about so many atoms, with the pairs up to `cutoff` A.
struct Pockets : test::StageData {
  Pockets(int64_t molecules, int64_t atoms, double cutoff) {
    graph::SynthOptions synth = test::synth_of("molecules", molecules, atoms);
    synth.classes = 4;
    torch::set_num_threads(1);
    graph::write_synthetic(folder / "files", synth);
    data::import_source(data::all_domains(), folder / "files", folder / "data",
                        {{"distance_cutoff", cutoff}});
  }
  molecules::MoleculeStore store() const { return molecules::MoleculeStore::open(store_file()); }
};

PocketConfig pocket(const std::string& irreps, int64_t layers) {
  PocketConfig out;
  out.hidden = Irreps::parse(irreps);
  out.layers = layers;
  out.dropout = 0.1;
  out.norm = true;
  return out;
}

struct Compared {
  double predicted = 0, seen = 0, margin = 0;
  std::string phase;
};

/// What the trainer does in a step of the first molecules, and what is counted for it, without what
/// an allocator rounds.
Compared compare(const molecules::MoleculeStore& store, int64_t molecules, PocketConfig config,
                 const memory::StepForm& form, const std::string& loss = "cosine",
                 KernelSet kernels = KernelSet::kCpu) {
  const test::IdleCard card(kernels);
  std::vector<int64_t> some(static_cast<std::size_t>(molecules));
  std::iota(some.begin(), some.end(), int64_t{0});
  config.output = store.embedding_width();
  config.checkpoints = form.gradient_checkpointing;
  const memory::PeakScope scope(memory::meter(torch::kCPU));
  molecules::PocketLossOptions options;
  options.loss_fn = loss;
  std::vector<int32_t> ligands(store.ligand().begin(), store.ligand().end());
  molecules::PocketObjective objective(PocketModel(config, std::ssize(store.ligands())), store,
                                       options, ligands);
  train::Optimizer optimizer(train::parameters_of(objective.module()), true, 1e-4);
  std::vector<torch::Tensor> best;
  for (const torch::Tensor& one : objective.module().parameters()) {
    best.push_back(one.detach().clone());
  }
  for (const torch::Tensor& one : objective.module().buffers()) best.push_back(one.clone());
  graph::GraphBatch batch;
  store.gather(some, false, batch);
  objective.module().train();
  for (int part = 0; part < (form.accumulates() ? 2 : 1); ++part) {
    torch::Tensor value;
    {
      const train::Autocast in_16_bits(form.precision, torch::kCPU);
      value = objective.loss(batch, {batch.graphs, batch.nodes, batch.edges}, {1, part});
    }
    value.backward();
  }
  optimizer.clip(1);
  optimizer.step(1e-3);

  PocketSizes sizes;
  sizes.molecules = sizes.batch = store.molecules();
  sizes.atoms = store.atoms();
  sizes.bonds = store.bonds().count();
  sizes.pairs = store.pairs().count();
  sizes.angles = store.angles().count();
  sizes.dihedrals = store.dihedrals().count();
  sizes.catalogue = loss == "catalogue" ? std::ssize(store.ligands()) : 0;
  sizes.threads = at::get_num_threads();
  const memory::Size size{batch.graphs, batch.nodes, batch.edges};
  sizes.kernels = kernels;
  const memory::Footprint counted =
      footprint(dynamic_cast<PocketModelImpl&>(objective.module()).encoder, form, sizes,
                objective.module())
          .at(size);
  return {static_cast<double>(counted.held() +
                              static_cast<int64_t>(counted.largest(size).cost.of(size))),
          static_cast<double>(scope.peak() - scope.start()), counted.margin,
          counted.largest(size).name};
}

}  // namespace

TEST_CASE("a step of a pocket encoder needs what is counted from its shapes",
          "[molecules][memory]") {
  const std::string irreps[] = {"32x0e+16x1o+8x2e", "32x0e+8x1o+4x2e", "16x0e+4x1o"};
  std::vector<double> errors;
  for (const auto& [molecules, atoms, cutoff] :
       {std::tuple(2, 60, 3.0), std::tuple(4, 200, 4.0), std::tuple(8, 300, 6.0)}) {
    const Pockets data(molecules, atoms, cutoff);
    const molecules::MoleculeStore store = data.store();
    for (const std::string& hidden : irreps) {
      for (const int64_t layers : {1, 4}) {
        for (const bool checkpoints : {false, true}) {
          for (const std::string precision : {"32", "bf16-mixed"}) {
            const Compared found =
                compare(store, molecules, pocket(hidden, layers), {precision, checkpoints});
            const double error = found.predicted / found.seen - 1;
            errors.push_back(std::abs(error));
            INFO(store.atoms() << " atoms, " << store.pairs().count() << " pairs, " << hidden
                               << ", " << layers << " layers, " << precision
                               << (checkpoints ? ", with" : ", without") << " checkpointing: "
                               << found.seen << " bytes, counted " << found.predicted << ", "
                               << found.phase << ": " << 100 * error << " %");
            CHECK(std::abs(error) <= found.margin);
          }
        }
      }
    }
  }
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] <= 0.03);
}

TEST_CASE("a step of a pocket encoder by a card's kernels needs what is counted",
          "[molecules][memory]") {
  for (const auto& [molecules, atoms, cutoff] :
       {std::tuple(4, 200, 4.0), std::tuple(8, 300, 6.0)}) {
    const Pockets data(molecules, atoms, cutoff);
    const molecules::MoleculeStore store = data.store();
    for (const std::string hidden : {"32x0e+16x1o+8x2e", "16x0e+4x1o"}) {
      for (const int64_t layers : {1, 4}) {
        for (const bool checkpoints : {false, true}) {
          const Compared found = compare(store, molecules, pocket(hidden, layers),
                                         {"32", checkpoints}, "cosine", KernelSet::kCuda);
          INFO(store.atoms() << " atoms, " << store.pairs().count() << " pairs, " << hidden << ", "
                             << layers << " layers, " << (checkpoints ? "with" : "without")
                             << " checkpointing: " << found.seen << " bytes, counted "
                             << found.predicted << ", " << found.phase);
          CHECK(std::abs(found.predicted / found.seen - 1) <= found.margin);
        }
      }
    }
  }
}

TEST_CASE("a step of a pocket encoder in plain operations needs about what is counted",
          "[molecules][memory]") {
  const Pockets data(4, 100, 4.0);
  const molecules::MoleculeStore store = data.store();
  for (const std::string hidden : {"32x0e+16x1o+8x2e", "16x0e+4x1o"}) {
    for (const bool checkpoints : {false, true}) {
      const Compared found =
          compare(store, 4, pocket(hidden, 2), {"32", checkpoints}, "cosine", KernelSet::kPlain);
      INFO(hidden << (checkpoints ? ", with" : ", without") << " checkpointing: " << found.seen
                  << " bytes, counted " << found.predicted << ", " << found.phase);
      CHECK(found.predicted > 0.9 * found.seen);
      CHECK(found.predicted < 1.4 * found.seen);
    }
  }
}

TEST_CASE("a step of some molecules, in parts, with any loss and pooling needs what is counted",
          "[molecules][memory]") {
  const Pockets data(16, 200, 5);
  const molecules::MoleculeStore store = data.store();
  const auto check = [&](const std::string& what, int64_t molecules, const PocketConfig& config,
                         const memory::StepForm& form, const std::string& loss) {
    const Compared found = compare(store, molecules, config, form, loss);
    INFO(what << ", " << molecules << " molecules: " << found.seen << " bytes, counted "
              << found.predicted << ", " << found.phase);
    CHECK(std::abs(found.predicted / found.seen - 1) <= 0.03);
  };
  PocketConfig config = pocket("32x0e+16x1o+8x2e", 2);
  // The work of a product is divided into as many parts as there is of it.
  for (const int64_t molecules : {1, 2, 5, 12})
    check("size", molecules, config, {"32", false}, "mse");
  check("accumulating", 4, config, {"32", false, 2}, "cosine");
  check("a catalogue", 4, config, {"32", false}, "catalogue");
  check("16 bits", 4, config, {"16-mixed", true}, "catalogue");
  config.published_norm = true;
  config.pooling = "sum";
  check("the published norm", 4, config, {"32", false}, "cosine_mse");
  config.norm = false;
  config.dropout = 0;
  config.atom_kinds = 5;
  check("no norm", 4, config, {"32", false}, "infonce");
  config.v3 = config.enhanced_invariants = config.improved_layers = true;
  check("V3", 4, config, {"32", false}, "cosine");
  check("V3 in 16 bits", 4, config, {"bf16-mixed", true}, "cosine");
  config.v3 = config.enhanced_invariants = config.improved_layers = false;
  config.nonbonded = false;
  check("bonds alone", 8, config, {"32", false}, "cosine");
  config.multi_hop = false;
  check("no terms", 8, config, {"32", false}, "cosine");
}

TEST_CASE("a plan names the batch of pockets for cards of 8 to 80 GiB", "[molecules][memory]") {
  PocketConfig config = pocket("32x0e+16x1o+8x2e", 4);
  const PocketModel model(config, 196);
  // Of 100,000 pockets as those of the data set of RNA are: 231 atoms, 2,818 edges.
  PocketSizes sizes;
  sizes.molecules = sizes.batch = 100000;
  sizes.atoms = sizes.molecules * 231;
  sizes.bonds = sizes.molecules * 252;
  sizes.pairs = sizes.molecules * 1157;
  sizes.angles = sizes.molecules * 383;
  sizes.dihedrals = sizes.molecules * 712;
  const memory::Footprint counted = footprint(model->encoder, {"32", false}, sizes, *model);
  const memory::GraphSizes graphs = {
      {sizes.molecules, sizes.atoms, 2 * (sizes.bonds + sizes.pairs)}, {1, 1200, 20000}, -1};
  constexpr int64_t kContext = int64_t{500} << 20;
  int64_t before = 0;
  for (const int64_t gibibytes : {8, 16, 24, 40, 80}) {
    const memory::MemoryPlan plan = memory::make_plan(
        counted, graphs, {"card", gibibytes << 30, kContext, false}, {1 << 20, true});
    INFO(gibibytes << " GiB: " << plan.line());
    CHECK(plan.binds == "memory");
    CHECK(plan.expected.graphs > before);
    const auto usable = plan.share * static_cast<double>(gibibytes << 30);
    const auto needed = static_cast<double>(plan.predicted + kContext);
    CHECK(needed <= usable);
    CHECK(needed > 0.9 * usable);
    before = plan.expected.graphs;
  }
}

TEST_CASE("of uneven pockets the largest batch of an epoch is planned for", "[molecules][memory]") {
  const PocketConfig config = pocket("32x0e+8x1o+4x2e", 2);
  const PocketModel model(config, 4);
  PocketSizes sizes;
  sizes.molecules = 400;
  sizes.batch = 4;
  sizes.atoms = 400 * 200;
  sizes.pairs = 400 * 1000;
  const memory::Footprint counted = footprint(model->encoder, {"32", false}, sizes, *model);
  memory::GraphSizes graphs = {{400, 400 * 200, 400 * 2000}, {1, 700, 7000}, -1};
  const memory::DeviceMemory card = {"card", int64_t{8} << 30, 0, false};
  const auto plan = [&] { return memory::make_plan(counted, graphs, card, {4, false}); };
  const memory::MemoryPlan even = plan();
  CHECK(even.largest.nodes == even.expected.nodes);
  graphs.node_deviation = 100;
  graphs.edge_deviation = 1000;
  const memory::MemoryPlan uneven = plan();
  CHECK(uneven.expected.nodes == even.expected.nodes);
  // The largest of 100 sums of 4: three deviations above the mean.
  CHECK(uneven.largest.nodes == Approx(800 + 607).margin(2));
  CHECK(uneven.largest.edges == Approx(8000 + 6070).margin(10));
  CHECK(uneven.predicted > even.predicted);
  graphs.node_deviation = 1000;
  CHECK(plan().largest.nodes == 4 * 700);
}
