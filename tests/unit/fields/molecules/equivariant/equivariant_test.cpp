#include "fields/molecules/equivariant/equivariant.h"

#include "fields/molecules/equivariant/baselines.h"
#include "fields/molecules/equivariant/physics.h"
#include "fields/molecules/equivariant/plain_network.h"
#include "fields/molecules/equivariant/pocket_data.h"
#include "fields/molecules/equivariant/ranking_report.h"
#include "fields/molecules/model/plain_numbers.h"
#include "fields/molecules/model/pocket_model.h"
#include "support/catch_torch.h"
#include "support/fields/molecules/molecule_fixture.h"
#include "support/programs/command.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::equivariant;
using test::json;

namespace {

EquivariantOptions small_options() {
  EquivariantOptions o;
  o.hidden_irreps = "8x0e + 4x1o + 2x2e";
  o.num_layers = 1;
  o.radial_hidden_dim = 16;
  o.loss_fn = "catalogue";
  o.use_atom_kinds = true;
  o.use_layer_norm = true;
  o.lr = 5e-3;
  o.batch_size = 4;
  o.max_epochs = 12;
  o.monitor_metric = "val_mrr";
  o.monitor_mode = "max";
  return o;
}

}  // namespace

TEST_CASE("an encoder learns which ligand binds, and writes what it says", "[equivariant]") {
  test::MoleculeFixture data(60, 60, 4);
  const json result =
      Equivariant::run(small_options(), data.request("equivariant"), data.fake.host);
  const json& metrics = result.at("metrics");
  const json& test = metrics.at("parts").at("test");
  INFO(metrics.dump());
  CHECK(test.at("mrr").get<double>() > metrics.at("chance").at("mrr").get<double>() + 0.15);
  CHECK(metrics.at("baselines").size() == 3);
  CHECK(metrics.at("val_mrr").get<double>() > 0);
  const std::string csv = test::read_text(data.folder / "equivariant/predictions.csv");
  CHECK_THAT(csv, Catch::Contains("molecule,part,ligand,rank,ligand_1,distance_1,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') ==
        1 + test.at("molecules").get<int64_t>() +
            metrics.at("parts").at("val").at("molecules").get<int64_t>());
  CHECK(result.at("facts").at("model") == "pocket");
  CHECK(result.at("memory").at("planned").at("predicted").get<int64_t>() > 0);
}

TEST_CASE("16 bits, checkpointing and every loss run", "[equivariant]") {
  for (const std::string loss : {"mse", "cosine_mse", "infonce"}) {
    test::MoleculeFixture data(16, 40, 3);
    EquivariantOptions o = small_options();
    o.loss_fn = loss;
    o.max_epochs = 2;
    if (loss == "mse") o.scheduler_type = "none";
    o.precision = loss == "mse" ? "bf16-mixed" : "32";
    o.gradient_checkpointing = loss == "cosine_mse";
    o.use_v3_model = o.use_improved_layers = o.use_enhanced_invariants = loss != "infonce";
    o.use_physics_loss = true;
    o.use_plain_numbers = true;
    const json result = Equivariant::run(o, data.request("equivariant"), data.fake.host);
    INFO(loss);
    CHECK(result.at("metrics").at("val_loss").get<double>() > 0);
    CHECK(result.at("metrics").at("physics_loss").get<double>() > 0);
    CHECK_THAT(data.fake.log, Catch::Contains("nothing is learned from it"));
  }
}

TEST_CASE("the published word for a schedule stands for it, none for none", "[equivariant]") {
  const json schema = options_schema<EquivariantOptions>();
  const json& row = schema.at("properties").at("scheduler_type");
  CHECK(row.at("x-aliases") == json{"scheduler"});
  CHECK(row.at("enum") == json{"cosine", "step", "plateau", "none"});
  EquivariantOptions o;
  CHECK(o.resolved().use_scheduler);
  o.scheduler_type = "none";
  CHECK_FALSE(o.resolved().use_scheduler);
  CHECK(o.resolved().scheduler_type == "plateau");
}

TEST_CASE("what an encoder cannot be trained on is named", "[equivariant]") {
  test::MoleculeFixture data(12, 40, 3);
  EquivariantOptions o = small_options();
  o.output_dim = 7;
  CHECK_THROWS_WITH(Equivariant::run(o, data.request("equivariant"), data.fake.host),
                    Catch::Contains("output_dim: 7, and the ligands' embeddings have"));
  o = small_options();
  o.hidden_irreps = "8x0e + 4x3o";
  CHECK(o.validate().size() == 1);
  o = small_options();
  o.loss_fn = "infonce";
  o.batch_size = 1;
  CHECK(o.validate().size() == 1);
  Request two = data.request("equivariant");
  two.ranks.world = 2;
  o.batch_size = 4;
  CHECK_THROWS_WITH(Equivariant::run(o, two, data.fake.host),
                    Catch::Contains("which several processes would share"));
}

TEST_CASE("plain numbers count kinds of atoms and distances, and the nearest of a copy is itself",
          "[equivariant]") {
  const test::MoleculeFixture data(12, 40, 3);
  const PocketData pockets = open_pockets(data.folder / "data");
  const molecules::PlainNumbers numbers =
      molecules::plain_numbers(pockets.store, pockets.train, pockets.train);
  const molecules::MoleculeView first = molecules::view_of(pockets.store, pockets.train[0]);
  const std::size_t atoms = first.pos.size() / 3;
  float counted = 0, pairs = 0;
  const std::size_t kinds = static_cast<std::size_t>(numbers.width) - 10 * 20;
  for (std::size_t i = 0; i < kinds; ++i) counted += numbers.row(0)[i];
  for (std::size_t i = kinds; i < numbers.row(0).size(); ++i) pairs += numbers.row(0)[i];
  CHECK(counted == static_cast<float>(atoms));
  CHECK(pairs > 0);
  CHECK(pairs <= 1.00001F * static_cast<float>(atoms * (atoms - 1) / 2));  // sums of shares

  const auto embeddings = pockets.store.embeddings();
  const train::Catalogue catalogue{embeddings, pockets.store.embedding_width(), true};
  for (const int64_t rank : ranks_by_nearest(pockets, pockets.train, catalogue)) CHECK(rank == 1);
  for (const int64_t rank : ranks_by_mean(pockets, pockets.train, catalogue)) {
    CHECK(rank >= 1);
    CHECK(rank <= catalogue.ligands());
  }
}

TEST_CASE("a network on plain numbers learns, by its seed alone", "[equivariant]") {
  const test::MoleculeFixture data(60, 60, 4);
  const PocketData pockets = open_pockets(data.folder / "data");
  const auto embeddings = pockets.store.embeddings();
  const train::Catalogue catalogue{embeddings, pockets.store.embedding_width(), true};
  int64_t epochs = 0;
  const auto ranks = [&](const std::vector<int64_t>& ids, int64_t seed) {
    return ranks_by_plain_network(pockets, ids, catalogue, seed, [&] { ++epochs; });
  };
  const std::vector<int64_t> of_train = ranks(pockets.train, 1), of_test = ranks(pockets.test, 1);
  CHECK(epochs == 80);
  const auto mrr = [&](const std::vector<int64_t>& of) -> double {
    return train::retrieval_metrics(of, catalogue.ligands()).at("mrr");
  };
  const double chance = train::chance_metrics(catalogue.ligands()).at("mrr");
  CHECK(mrr(of_train) > 0.9);
  CHECK(mrr(of_test) > chance + 0.15);
  torch::manual_seed(99);
  CHECK(ranks(pockets.test, 1) == of_test);
  CHECK_THROWS_WITH(ranks_by_plain_network(pockets, pockets.test, catalogue, 1,
                                           [] { throw Error(ExitCode::kRequeue, "stop"); }),
                    Catch::Contains("stop"));
}

TEST_CASE("a ranking is told apart by what was seen, with intervals by entry", "[equivariant]") {
  const Ranking ranking{
      "m", "test", {1, 1, 4, 20}, {true, true, false, false}, {"a", "a", "b", "c"}};
  const json metrics = ranking_metrics(ranking, 20);
  CHECK(metrics.at("hit_10").get<double>() == Approx(0.5));
  CHECK(metrics.at("seen").at("mrr").get<double>() == Approx(1));
  CHECK(metrics.at("unseen").at("median_rank").get<double>() == Approx(12));
  const std::vector<double> interval = metrics.at("interval").at("mrr");
  CHECK(interval[0] <= metrics.at("mrr").get<double>());
  CHECK(interval[1] >= metrics.at("mrr").get<double>());
  CHECK(interval[0] < interval[1]);
  CHECK(ranking_table({ranking}, 20).rows.size() == 4);
}

TEST_CASE("the energy of bonded terms is finite, and 0 of nothing", "[equivariant]") {
  const test::MoleculeFixture data(4, 40, 3);
  const molecules::MoleculeStore store = data.store();
  const std::vector<int64_t> one = {0}, all = {0, 1, 2, 3};
  const double energy = physics_loss(store, one);
  CHECK(energy > 0);
  CHECK(std::isfinite(physics_loss(store, all)));
  CHECK(physics_loss(store, {}) == 0);
}
