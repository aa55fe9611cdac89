#include "fields/molecules/model/pocket_model.h"

#include "fields/molecules/data/molecule_store.h"
#include "fields/molecules/objective/pocket_objective.h"
#include "support/catch_torch.h"
#include "support/fields/molecules/molecule_fixture.h"
#include "support/graphs/golden.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::molecules;

namespace {

PocketConfig small_pocket() {
  PocketConfig config;
  config.hidden = {{8, 4, 3}};
  config.layers = 2;
  config.radial_hidden = 16;
  config.output = 12;
  config.norm = true;
  return config;
}

/// A model of the molecules of a store, in training mode.
PocketModel model_of(const molecules::MoleculeStore& store, PocketConfig config) {
  std::vector<int64_t> every(static_cast<std::size_t>(store.molecules()));
  std::iota(every.begin(), every.end(), int64_t{0});
  const AtomStatistics atoms = atom_statistics(store, every);
  if (config.atom_kinds > 0) config.atom_kinds = std::ssize(atoms.kinds);
  if (config.plain > 0) config.plain = std::ssize(atoms.kinds) + kDistanceColumns;
  config.output = store.embedding_width();
  torch::manual_seed(5);
  PocketModel out(config, std::ssize(store.ligands()));
  const torch::NoGradGuard no_grad;
  out->set_statistics(atoms);
  if (config.plain > 0) out->set_plain_statistics(store, every);
  out->catalogue.copy_(scaled_embeddings(store.embeddings(), store.embedding_width()));
  return out;
}

torch::Tensor vectors(PocketModel& model, const molecules::MoleculeStore& store,
                      const std::vector<int64_t>& ids, graph::NoiseKey noise = {}) {
  std::vector<MoleculeView> views;
  for (const int64_t id : ids) views.push_back(view_of(store, id));
  return model->forward(model->batch(views, ids, noise));
}

}  // namespace

TEST_CASE("a batch of molecules is each of them alone, with noise and without", "[molecules]") {
  const test::MoleculeFixture data(5, 50);
  const molecules::MoleculeStore store = data.store();
  PocketConfig config = small_pocket();
  config.atom_kinds = 1;
  config.plain = 1;
  config.dropout = 0.3;
  for (const std::string pooling : {"attention", "mean", "sum", "max"}) {
    INFO(pooling);
    config.pooling = pooling;
    PocketModel model = model_of(store, config);
    for (const bool training : {true, false}) {
      model->train(training);
      const torch::NoGradGuard no_grad;
      const graph::NoiseKey noise = {7, 3};
      const torch::Tensor all = vectors(model, store, {0, 1, 2, 3, 4}, noise);
      for (int64_t g = 0; g < 5; ++g) {
        CHECK(test::relative_error(vectors(model, store, {g}, noise)[0], all[g]) < 1e-5);
      }
      const double moved = test::relative_error(vectors(model, store, {0}, {7, 4})[0], all[0]);
      CHECK((moved > 1e-3) == training);
    }
  }
}

TEST_CASE("plain numbers do not change where a molecule is turned, moved, mirrored or renumbered",
          "[molecules]") {
  const test::MoleculeFixture data(4, 60);
  const molecules::MoleculeStore store = data.store();
  PocketConfig config = small_pocket();
  config.plain = 1;
  PocketModel model = model_of(store, config);
  model->eval();
  const torch::NoGradGuard no_grad;
  const int64_t id = 2;
  const MoleculeView view = view_of(store, id);
  const torch::Tensor right = vectors(model, store, {id});
  const auto atoms = view.pos.size() / 3;
  const double c = std::cos(0.7), s = std::sin(0.7);
  const double turn[3][3] = {{c, -s, 0}, {s * c, c * c, -s}, {s * s, s * c, c}};
  for (const double sign : {1.0, -1.0}) {
    std::vector<float> pos(view.pos.size());
    for (std::size_t a = 0; a < atoms; ++a) {
      for (std::size_t d = 0; d < 3; ++d) {
        double sum = 3.0 * static_cast<double>(d);
        for (std::size_t k = 0; k < 3; ++k) sum += sign * turn[d][k] * view.pos[3 * a + k];
        pos[3 * a + d] = static_cast<float>(sum);
      }
    }
    MoleculeView turned = view;
    turned.pos = pos;
    const MoleculeBatch batch = model->batch({&turned, 1}, {&id, 1}, {});
    CHECK((batch.plain - model->batch({&view, 1}, {&id, 1}, {}).plain).abs().max().item<double>() <
          1e-3);  // of deviations: positions are float
    CHECK((model->forward(batch) - right).norm().item<double>() <
          1e-5 * right.norm().item<double>());
  }
  // Atoms the other way round: what counts them does not see it.
  const KindPlaces kinds = places_of(atom_statistics(store, std::vector<int64_t>{id}).kinds);
  const std::size_t width = kinds.size() + kDistanceColumns;
  std::vector<float> x, pos, one(width), other(width);
  for (std::size_t a = atoms; a-- > 0;) {
    x.insert(x.end(), &view.x[3 * a], &view.x[3 * a] + 3);
    pos.insert(pos.end(), &view.pos[3 * a], &view.pos[3 * a] + 3);
  }
  MoleculeView reversed = view;
  reversed.x = x;
  reversed.pos = pos;
  count_plain_numbers(view, kinds, one);
  count_plain_numbers(reversed, kinds, other);
  for (std::size_t i = 0; i < width; ++i) CHECK(other[i] == Approx(one[i]).margin(1e-4));
}

TEST_CASE("two atoms stand in the two steps around their distance", "[molecules]") {
  const float carbon = 6, oxygen = 8;
  const std::vector<float> x = {0, carbon, 12, 0, oxygen, 16};
  for (const auto& [distance, step, share] :
       {std::tuple(2.5F, 2, 1.0F), std::tuple(2.75F, 2, 0.75F), std::tuple(0.2F, 0, 1.0F),
        std::tuple(19.75F, 19, 0.75F), std::tuple(20.75F, 20, 0.0F)}) {
    INFO(distance);
    const std::vector<float> pos = {0, 0, 0, distance, 0, 0};
    MoleculeView two;
    two.x = x;
    two.pos = pos;
    std::vector<float> out(kDistanceColumns);
    count_plain_numbers(two, {}, out);
    constexpr std::size_t kCarbonOxygen = 3;  // C-C, C-N, N-N, C-O
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<int64_t>(i) - static_cast<int64_t>(kCarbonOxygen * 20);
      const float expected = at == step && at < 20                           ? share
                             : at == step + 1 && at < 20 && distance < 20.0F ? 1 - share
                                                                             : 0.0F;
      CHECK(out[i] == Approx(expected).margin(1e-6));
    }
  }
}

TEST_CASE("blocks computed again in backward give the same gradients", "[molecules]") {
  const test::MoleculeFixture data(3, 50);
  const molecules::MoleculeStore store = data.store();
  PocketConfig config = small_pocket();
  config.dropout = 0.2;
  std::vector<torch::Tensor> found[2];
  for (const bool again : {false, true}) {
    config.checkpoints = again;
    PocketModel model = model_of(store, config);
    vectors(model, store, {0, 1, 2}, {1, 2}).sin().sum().backward();
    for (const torch::Tensor& p : model->parameters()) found[again].push_back(p.grad());
  }
  REQUIRE(found[0].size() == found[1].size());
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    REQUIRE(found[1][i].defined());
    CHECK(test::relative_error(found[1][i], found[0][i]) < 1e-5);
  }
}

TEST_CASE("messages over angles, dihedrals and pairs can be left out", "[molecules]") {
  const test::MoleculeFixture data(3, 50);
  const molecules::MoleculeStore store = data.store();
  PocketConfig config = small_pocket();
  const PocketModel all = model_of(store, config);
  config.multi_hop = config.nonbonded = false;
  PocketModel bare = model_of(store, config);
  CHECK(bare->parameters().size() < all->parameters().size());
  CHECK(vectors(bare, store, {0, 1}).isfinite().all().item<bool>());
  nlohmann::json saved = config;
  PocketConfig loaded;
  saved.get_to(loaded);
  CHECK(nlohmann::json(loaded) == saved);
  CHECK_FALSE(loaded.multi_hop);
  CHECK(loaded.hidden == config.hidden);
  CHECK(loaded.plain == 0);
  saved.erase("plain_numbers");  // a file of before
  CHECK_NOTHROW(saved.get_to(loaded));
  config.v3 = config.improved_layers = config.enhanced_invariants = config.rms_norm = true;
  config.norm = false;
  config.heads = 8;
  config.angle_weight = 0.25;
  nlohmann::json(config).get_to(loaded);
  CHECK(nlohmann::json(loaded) == nlohmann::json(config));
  CHECK((loaded.v3 && !loaded.norm && loaded.angle_weight == 0.25));
  saved = config;
  saved["num_attention_heads"] = 5;
  CHECK_THROWS_WITH(saved.get_to(loaded), Catch::Contains("num_attention_heads 5 does not divide"));
  saved["hidden_irreps"] = "4x3o";
  CHECK_THROWS_WITH(saved.get_to(loaded), Catch::Contains("4x3o"));
  saved = config;
  saved["pooling_type"] = "none";
  CHECK_THROWS_WITH(saved.get_to(loaded), Catch::Contains("pooling_type cannot be none"));
  CHECK(config.least_size().numbers < static_cast<double>(1 << 20));
}

TEST_CASE("statistics of atoms are those of the molecules named, and kinds never seen add nothing",
          "[molecules]") {
  const test::MoleculeFixture data(6, 50);
  const molecules::MoleculeStore store = data.store();
  const AtomStatistics some = atom_statistics(store, std::vector<int64_t>{1, 2});
  double sum = 0, count = 0;
  for (const int64_t id : {1, 2}) {
    const MoleculeView view = view_of(store, id);
    for (std::size_t i = 0; i < view.x.size(); i += 3) {
      sum += view.x[i + 2];
      ++count;
    }
  }
  CHECK(some.mean[2] == Approx(sum / count));
  CHECK(std::is_sorted(some.kinds.begin(), some.kinds.end()));
  const torch::Tensor scaled = scaled_embeddings(store.embeddings(), store.embedding_width());
  CHECK(scaled.mean(0).abs().max().item<double>() < 1e-6);

  PocketConfig config = small_pocket();
  config.atom_kinds = std::ssize(some.kinds);
  config.output = store.embedding_width();
  PocketModel model(config, std::ssize(store.ligands()));
  model->set_statistics(some);
  CHECK(model->encoder->input_embedding->kind_weight[0].abs().max().item<double>() == 0);
  std::vector<float> x(store.x().begin(), store.x().begin() + 3);
  x[0] += 0.5F;
  MoleculeView strange = view_of(store, 0);
  strange.x = std::span(x).first(3);
  strange.pos = strange.pos.first(3);
  for (auto* terms : {&strange.bonds, &strange.pairs, &strange.angles, &strange.dihedrals}) {
    *terms = {};
  }
  const int64_t id = 0;
  const MoleculeBatch batch = model->batch({&strange, 1}, {&id, 1}, {});
  CHECK(batch.kind[0].item<int64_t>() == 0);
  CHECK(batch.bonds->edges.edges() == 1);  // without a bond each atom is bonded to itself
  CHECK(model->forward(batch).isfinite().all().item<bool>());
}

TEST_CASE("the losses of parts add up to that of the step", "[molecules]") {
  const test::MoleculeFixture data(8, 50);
  const molecules::MoleculeStore store = data.store();
  for (const std::string loss : {"mse", "cosine", "cosine_mse", "catalogue"}) {
    INFO(loss);
    molecules::PocketLossOptions options;
    options.loss_fn = loss;
    molecules::PocketObjective objective(model_of(store, small_pocket()), store, options, {0, 1});
    CHECK_FALSE(objective.parts_differ());
    const auto of = [&](const std::vector<int64_t>& ids) {
      graph::GraphBatch batch;
      store.gather(ids, false, batch);
      return objective.loss(batch, {8}, {}).item<double>();
    };
    const double all = of({0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(of({0, 1, 2}) + of({3, 4, 5, 6, 7}) == Approx(all).epsilon(1e-5));
    graph::GraphBatch batch;
    store.gather(std::vector<int64_t>{4, 5}, false, batch);
    CHECK(objective.predict(batch).sizes() == torch::IntArrayRef({2, store.embedding_width()}));
    CHECK(objective.score(batch).sizes() == torch::IntArrayRef({2}));
  }
}
