#include "fields/molecules/model/pocket_encoder.h"

#include "fields/molecules/data/molecule_graph.h"
#include "support/catch_torch.h"
#include "support/graphs/golden.h"

using namespace kdgat;
using namespace kdgat::molecules;

namespace {

torch::Tensor golden_tensor(const file::SafetensorsFile& file, const std::string& name) {
  return test::exact_of(file, name);
}

MoleculeTerms terms_of(const torch::Tensor& index, const torch::Tensor& attr) {
  MoleculeTerms out;
  out.first = index[0];
  out.last = index[index.size(0) - 1];
  for (int64_t i = 1; i + 1 < index.size(0); ++i) out.centres.push_back(index[i]);
  out.attr = attr;
  return out;
}

MoleculeBatch batch_of(const file::SafetensorsFile& file, const PocketConfig& config,
                       const torch::Tensor& pos, torch::ScalarType type) {
  const auto tensor = [&](const std::string& name) { return golden_tensor(file, name); };
  MoleculeBatch out;
  out.x = tensor("x").to(type);
  out.molecule = tensor("batch");
  out.molecules = out.molecule.max().item<int64_t>() + 1;
  out.bonds = product_edges(tensor("edge_index"), tensor("edge_attr").to(type), pos, config);
  out.pairs = product_edges(tensor("nonbonded_edge_index"), tensor("nonbonded_edge_attr").to(type),
                            pos, config);
  out.angles = terms_of(tensor("triple_index"), tensor("triple_attr").to(type));
  out.dihedrals = terms_of(tensor("quadra_index"), tensor("quadra_attr").to(type));
  return out;
}

/// Weights of a golden file, or its gradients, by the names of the published modules.
void load(PocketEncoder& model, const file::SafetensorsFile& file) {
  const torch::NoGradGuard no_grad;
  int64_t found = 0;
  for (auto& item : model->named_parameters()) {
    item.value().copy_(golden_tensor(file, "weight." + item.key()));
    ++found;
  }
  int64_t wanted = 0;
  for (const auto& [name, view] : file.tensors()) wanted += name.starts_with("weight.") ? 1 : 0;
  CHECK(found == wanted);
}

PocketConfig small_config(const file::SafetensorsFile& file, bool norm) {
  PocketConfig config;
  config.hidden = {{6, 4, 3}};
  config.layers = 2;
  config.radial_hidden = 16;
  config.pooling_hidden = 16;
  config.output = golden_tensor(file, "output").size(1);
  config.norm = norm;
  return config;
}

int64_t parameters(const PocketConfig& config) {
  int64_t out = 0;
  for (const torch::Tensor& p : PocketEncoder(config)->parameters()) out += p.numel();
  return out;
}

}  // namespace

TEST_CASE("the encoder equals the golden one: states, output and gradients",
          "[molecules][golden]") {
  for (const bool norm : {false, true}) {
    const auto golden = test::fixture(norm ? "rna3e_encoder_norm" : "rna3e_encoder");
    if (!golden) return;
    INFO((norm ? "norm" : "no norm"));
    const PocketConfig config = small_config(*golden, norm);
    PocketEncoder model(config);
    model->to(torch::kDouble);
    model->eval();
    load(model, *golden);
    const torch::Tensor pos = golden_tensor(*golden, "pos");
    const MoleculeBatch batch = batch_of(*golden, config, pos, torch::kDouble);
    CHECK(test::relative_error(model->states(batch), golden_tensor(*golden, "states")) < 1e-9);
    const torch::Tensor out = model->forward(batch);
    CHECK(test::relative_error(out, golden_tensor(*golden, "output")) < 1e-9);
    const auto items = model->named_parameters();
    const auto grads = torch::autograd::grad({out.sin().sum()}, items.values());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      INFO(items[i].key());
      CHECK(test::relative_error(grads[i], golden_tensor(*golden, "grad." + items[i].key())) <
            1e-8);
    }
    // Turned and mirrored: the same output.
    for (const char* how : {"rotated", "mirrored"}) {
      const MoleculeBatch other = batch_of(
          *golden, config, golden_tensor(*golden, std::string(how) + ".pos"), torch::kDouble);
      CHECK(test::relative_error(model->forward(other),
                                 golden_tensor(*golden, std::string(how) + ".output")) < 1e-9);
      CHECK(test::relative_error(model->forward(other), out) < 1e-9);
    }
  }
}

TEST_CASE("gate and norm equal the golden ones", "[molecules][golden]") {
  const auto golden = test::fixture("rna3e_gate_norm");
  if (!golden) return;
  const auto tensor = [&](const std::string& name) { return golden_tensor(*golden, name); };
  const torch::Tensor x = tensor("gate.x").requires_grad_(), gated = gate(x, {});
  CHECK(test::relative_error(gated, tensor("gate.output")) < 1e-12);
  CHECK(test::relative_error(torch::autograd::grad({gated.sin().sum()}, {x})[0],
                             tensor("gate.grad.x")) < 1e-12);
  IrrepsNorm norm(Irreps{});
  norm->to(torch::kDouble);
  {
    const torch::NoGradGuard no_grad;
    norm->weight.copy_(tensor("norm.weight"));
    norm->bias.copy_(tensor("norm.bias"));
  }
  const torch::Tensor z = tensor("norm.x").requires_grad_(), normed = norm->forward(z);
  CHECK(test::relative_error(normed, tensor("norm.output")) < 1e-12);
  const auto grads = torch::autograd::grad({normed.sin().sum()}, {z, norm->weight, norm->bias});
  CHECK(test::relative_error(grads[0], tensor("norm.grad.x")) < 1e-12);
  CHECK(test::relative_error(grads[1], tensor("norm.grad.weight")) < 1e-12);
  CHECK(test::relative_error(grads[2], tensor("norm.grad.bias")) < 1e-12);
}

TEST_CASE("the radial basis equals the golden one and ends smoothly", "[molecules][golden]") {
  const auto golden = test::fixture("rna3e_algebra");
  if (!golden) return;
  const torch::Tensor found = radial_basis(golden_tensor(*golden, "distance"), 8, 6);
  CHECK(test::relative_error(found, golden_tensor(*golden, "radial_basis")) < 1e-10);
  CHECK(radial_basis(torch::tensor({6.0, 6.5, 100.0}), 8, 6).abs().max().item<double>() == 0);
}

TEST_CASE("encoders have the published numbers of parameters", "[molecules]") {
  PocketConfig config;
  CHECK(parameters(config) == 2769380);
  config.norm = true;
  CHECK(parameters(config) == 2770084);
  config.published_norm = true;
  CHECK(parameters(config) == 2769892);
  config.norm = false;
  config.layers = 6;
  CHECK(parameters(config) == 4092900);
  config.v3 = config.enhanced_invariants = config.improved_layers = true;
  config.heads = 8;
  CHECK(config.invariants() == 204);
  config.published_norm = true;
  CHECK(parameters(config) == 4378764);
  config.published_norm = false;
  CHECK(parameters(config) == 4378764 + 12 * 24);
}

TEST_CASE(
    "the encoder does not see turns, shifts, mirrors or the order of atoms, but with the "
    "published norm it does",
    "[molecules]") {
  torch::manual_seed(2);
  struct Case {
    Irreps irreps;
    bool is_v3 = false, is_rms = false;
  };
  const std::vector<Case> cases = {{{}},
                                   {{{8, 4, 0}}},
                                   {{{6, 0, 5}}},
                                   {{{12, 8, 4}}},
                                   {{{16, 8, 4}}},
                                   {{}, true},
                                   {{{8, 4, 0}}, true, true},
                                   {{{12, 8, 4}}, true}};
  for (const auto& [irreps, is_v3, is_rms] : cases) {
    INFO(irreps.text() << (is_v3 ? ", V3" : ""));
    PocketConfig config;
    config.v3 = config.enhanced_invariants = config.improved_layers = is_v3;
    config.rms_norm = is_rms;
    config.hidden = irreps;
    config.published_norm = irreps == Irreps{{16, 8, 4}};
    config.layers = 2;
    config.output = 32;
    config.norm = true;
    PocketEncoder model(config);
    model->eval();
    const int64_t atoms = 30;
    const torch::Tensor pos = 4 * torch::randn({atoms, 3}, torch::kDouble);
    const torch::Tensor x = torch::randn({atoms, 3});
    std::vector<int64_t> from, to;
    for (int64_t i = 0; i < atoms; ++i) {
      for (int64_t j = 0; j < atoms; ++j) {
        if (i != j && (pos[i] - pos[j]).norm().item<double>() < 5) {
          from.push_back(j);
          to.push_back(i);
        }
      }
    }
    const torch::Tensor index = torch::stack({torch::tensor(from), torch::tensor(to)});
    const torch::Tensor attr = torch::rand({index.size(1), 3});
    const torch::Tensor bonds = torch::tensor({{0, 1, 1, 2}, {1, 0, 2, 1}}, torch::kLong);
    const torch::Tensor bond_attr = torch::rand({4, 2});
    const torch::Tensor triples = torch::tensor({{0}, {1}, {2}}, torch::kLong);
    const torch::Tensor quads = torch::tensor({{0}, {1}, {2}, {3}}, torch::kLong);
    const torch::Tensor angle = torch::rand({1, 2}), dihedral = torch::rand({1, 3});
    // `order`: atom i of the original stands at order[i].
    const auto output = [&](const torch::Tensor& places, const torch::Tensor& order) {
      const torch::Tensor back = torch::empty_like(order).scatter(0, order, torch::arange(atoms));
      const auto at = [&](const torch::Tensor& terms) { return order.index({terms}); };
      MoleculeBatch batch;
      batch.x = x.index_select(0, back);
      batch.molecule = torch::zeros({atoms}, torch::kLong);
      batch.molecules = 1;
      const torch::Tensor moved = places.index_select(0, back);
      batch.bonds = product_edges(at(bonds), bond_attr, moved, config);
      batch.pairs = product_edges(at(index), attr, moved, config);
      batch.angles = terms_of(at(triples), angle);
      batch.dihedrals = terms_of(at(quads), dihedral);
      if (config.improved_layers) batch.angles.add_shapes(moved);
      if (config.improved_layers) batch.dihedrals.add_shapes(moved);
      return model->forward(batch);
    };
    const torch::Tensor same = torch::arange(atoms), plain = output(pos, same);
    const torch::Tensor q = std::get<0>(torch::linalg_qr(torch::randn({3, 3}, torch::kDouble)));
    const torch::Tensor shift = torch::tensor({3.0, -2.0, 7.0}, torch::kDouble);
    const double turned = test::relative_error(output(torch::matmul(pos, q), same), plain);
    if (config.published_norm) {
      CHECK(turned > 1e-2);
      continue;
    }
    CHECK(turned < 1e-5);
    CHECK(test::relative_error(output(pos + shift, same), plain) < 1e-5);
    CHECK(test::relative_error(output(-pos, same), plain) < 1e-5);
    CHECK(test::relative_error(output(pos, torch::randperm(atoms)), plain) < 1e-5);
    CHECK(test::relative_error(output(pos * 1.05, same), plain) > 1e-4);  // but sees distances
  }
}

TEST_CASE("shapes of terms and cosines of channels are those of the angles", "[molecules]") {
  const double angle = 0.7, turn = 2.1;
  // 0 - 1 - 2 bent by `angle`, and 3 turned by `turn` about 1 - 2.
  const torch::Tensor pos = torch::tensor({std::cos(angle), std::sin(angle), 0.0, 0.0, 0.0, 0.0,
                                           1.5, 0.0, 0.0, 1.5, std::cos(turn), std::sin(turn)},
                                          torch::kDouble)
                                .view({4, 3});
  const auto atom = [](int64_t i) { return torch::full({1}, i, torch::kLong); };
  const torch::Tensor bent = term_shapes({atom(0), atom(1), atom(2)}, pos);
  CHECK(bent.item<double>() == Approx(std::cos(angle)).epsilon(1e-6));
  const std::vector<torch::Tensor> four = {atom(0), atom(1), atom(2), atom(3)};
  for (const torch::Tensor& places : {pos, -pos}) {
    const torch::Tensor found = term_shapes(four, places);
    CHECK(found[0][0].item<double>() == Approx(std::cos(turn)).epsilon(1e-6));
    CHECK(found[0][1].item<double>() == Approx(std::cos(2 * turn)).epsilon(1e-6));
  }
  CHECK(term_shapes(four, torch::zeros({4, 3})).isfinite().all().item<bool>());

  const Irreps irreps = {{2, 3, 2}};
  CHECK(channel_pairs(irreps) == 4);
  torch::Tensor x = torch::randn({5, irreps.dim()}, torch::kDouble);
  x[4].zero_();
  x.requires_grad_();
  const torch::Tensor cosines = channel_cosines(x, irreps);
  const torch::Tensor a = x[0].slice(0, 2, 5), b = x[0].slice(0, 8, 11);
  CHECK(cosines[0][1].item<double>() ==
        Approx((a.dot(b) / (a.norm() * b.norm())).item<double>()).epsilon(1e-6));
  CHECK(cosines[4].abs().max().item<double>() == 0);
  cosines.sum().backward();
  CHECK(x.grad().isfinite().all().item<bool>());
}
