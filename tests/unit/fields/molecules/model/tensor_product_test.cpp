#include "fields/molecules/model/tensor_product.h"

#include "engine/kernels/cpu/isa/level.h"
#include "fields/molecules/model/couplings.h"
#include "support/catch_torch.h"
#include "support/fields/molecules/product_case.h"
#include "support/graphs/golden.h"

using namespace kdgat;
using namespace kdgat::kernels;
using namespace kdgat::molecules;
using test::direction_of;
using test::gradients;
using Case = test::ProductCase;
using Catch::Contains;

namespace {

torch::Tensor dense(std::size_t l1, std::size_t l2, std::size_t l3) {
  torch::Tensor out = torch::zeros(
      {Irreps::components(l1), Irreps::components(l2), Irreps::components(l3)}, torch::kDouble);
  for (const CouplingTerm& term : coupling(l1, l2, l3)) out[term.a][term.b][term.c] += term.value;
  return out;
}

}  // namespace

TEST_CASE("instructions of irreps", "[molecules]") {
  const Irreps irreps = Irreps::parse("32x0e + 16x1o + 8x2e");
  CHECK(irreps == Irreps());
  CHECK(irreps.dim() == 120);
  CHECK(irreps.gated().dim() == 144);
  CHECK(Irreps::parse("8x2e+4x0e").mul == std::array<int64_t, 3>{4, 0, 8});
  CHECK(Irreps::parse("8x2e+4x0e").text() == "4x0e+8x2e");
  CHECK(edge_weights(irreps) == 4800);
  for (const char* bad : {"", "32x0o", "32x0e+16x3o", "16x1o", "x0e", "-1x0e", "2x0e+3x0e", "2x0e+",
                          "2000x0e", "32"}) {
    CHECK_THROWS_AS(Irreps::parse(bad), Error);
  }
  const std::vector<TensorPath> paths = tensor_paths(irreps);
  std::vector<int64_t> at_source;
  for (const TensorPath& path : paths) {
    if (path.at_source)
      at_source.push_back(static_cast<int64_t>(100 * path.l1 + 10 * path.l2 + path.l3));
  }
  CHECK(at_source == std::vector<int64_t>{11, 22, 112});
}

TEST_CASE("couplings and harmonics equal the golden ones", "[molecules][golden]") {
  const auto golden = test::fixture("rna3e_algebra");
  if (!golden) return;
  for (const TensorPath& path : tensor_paths({})) {
    const std::string name =
        std::to_string(path.l1) + std::to_string(path.l2) + std::to_string(path.l3);
    CHECK(test::relative_error(dense(path.l1, path.l2, path.l3),
                               test::exact_of(*golden, "coupling." + name)) < 1e-12);
  }
  const torch::Tensor r = test::exact_of(*golden, "r"), y = test::exact_of(*golden, "harmonics");
  for (int64_t e = 0; e < r.size(0); ++e) {
    const auto found = harmonics(direction_of(r[e]));
    for (int64_t i = 0; i < kHarmonics; ++i) {
      CHECK(found[static_cast<std::size_t>(i)] == Approx(y[e][i].item<double>()).margin(1e-12));
    }
  }
}

TEST_CASE("the tensor product equals the golden one, fast and plain", "[molecules][golden]") {
  for (const auto& [name, irreps] :
       std::vector<std::pair<std::string, Irreps>>{{"default", {}}, {"small", {{5, 1, 3}}}}) {
    const auto golden = test::fixture("rna3e_tensor_product_" + name);
    if (!golden) return;
    INFO(name);
    const auto tensor = [&](const std::string& of) { return test::exact_of(*golden, of); };
    const torch::Tensor index = tensor("edge_index").to(torch::kInt), x = tensor("x");
    Irreps shape = irreps;
    if (name == "small") {
      // 23 columns in, 28 out, 139 weights: found by trying.
      for (int64_t a = 1; a < 24; ++a) {
        for (int64_t b = 0; b < 8; ++b) {
          for (int64_t c = 0; c < 5; ++c) {
            const Irreps one{{a, b, c}};
            if (one.dim() == x.size(1) && one.gated().dim() == 28 && edge_weights(one) == 139)
              shape = one;
          }
        }
      }
    }
    REQUIRE(shape.dim() == x.size(1));
    RadialWeights weights = {
        tensor("weight.radial_mlp.0.weight"), tensor("weight.radial_mlp.0.bias"),
        tensor("weight.radial_mlp.2.weight"), tensor("weight.radial_mlp.2.bias"),
        tensor("weight.radial_mlp.4.weight"), tensor("weight.radial_mlp.4.bias")};
    for (torch::Tensor* w :
         {&weights.w1, &weights.b1, &weights.w2, &weights.b2, &weights.w3, &weights.b3}) {
      w->requires_grad_();
    }
    const torch::Tensor leaf = x.clone().requires_grad_();
    const torch::Tensor source = index[0].contiguous(), target = index[1].contiguous();
    const auto edges = static_cast<std::size_t>(source.numel());
    auto over = std::make_shared<ProductEdges>();
    over->edges = MoleculeEdges::of(x.size(0), {source.const_data_ptr<int32_t>(), edges},
                                    {target.const_data_ptr<int32_t>(), edges});
    const torch::Tensor order =
        torch::tensor(std::vector<int64_t>(over->edges.origin.begin(), over->edges.origin.end()));
    over->harmonics = tensor("harmonics").index_select(0, order);
    over->radial = tensor("radial_input").index_select(0, order);
    const torch::Tensor fast = tensor_product(leaf, weights, over, shape);
    const torch::Tensor plain =
        plain_tensor_product(leaf, weights, source.to(torch::kLong), target.to(torch::kLong),
                             tensor("harmonics"), tensor("radial_input"), shape);
    CHECK(test::relative_error(plain, tensor("output")) < 1e-10);
    CHECK(test::relative_error(fast, tensor("output")) < 1e-10);
    const std::vector<torch::Tensor> inputs = {leaf,       weights.w1, weights.b1, weights.w2,
                                               weights.b2, weights.w3, weights.b3};
    const std::vector<std::string> names = {"x",
                                            "radial_mlp.0.weight",
                                            "radial_mlp.0.bias",
                                            "radial_mlp.2.weight",
                                            "radial_mlp.2.bias",
                                            "radial_mlp.4.weight",
                                            "radial_mlp.4.bias"};
    for (const torch::Tensor& out : {fast, plain}) {
      const auto grads = torch::autograd::grad({out.sin().sum()}, inputs);
      for (std::size_t i = 0; i < grads.size(); ++i) {
        INFO(names[i]);
        CHECK(test::relative_error(grads[i], tensor("grad." + names[i])) < 1e-10);
      }
    }
  }
}

TEST_CASE("the fast tensor product and its gradients equal the plain ones", "[molecules]") {
  torch::manual_seed(3);
  const std::vector<Irreps> shapes = {{},          {{5, 3, 2}}, {{4, 0, 0}},
                                      {{6, 7, 0}}, {{3, 0, 9}}, {{16, 8, 4}}};
  for (const std::string& level : isa_levels_available()) {
    const std::string before(isa_level());
    set_isa_level(level);
    for (const Irreps& irreps : shapes) {
      for (const auto& [nodes, edges] :
           std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {1, 3}, {7, 1}, {40, 500}, {90, 60}}) {
        INFO(level << " " << irreps.text() << " nodes " << nodes << " edges " << edges);
        const Case c(irreps, nodes, edges, irreps.mul[0] == 16 ? 64 : 9, torch::kDouble);
        const torch::Tensor plain = c.plain(), fast = c.fast(), seed = torch::randn_like(plain);
        CHECK(test::relative_error(fast, plain) < 1e-11);
        const auto wanted = gradients(c, plain, seed), found = gradients(c, fast, seed);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          INFO("leaf " << i);
          CHECK(test::relative_error(
                    found[i], wanted[i].defined() ? wanted[i] : torch::zeros_like(found[i])) <
                1e-10);
        }
      }
    }
    set_isa_level(before);
  }
}

TEST_CASE("in single precision the fast tensor product equals the plain one", "[molecules]") {
  torch::manual_seed(6);
  for (const std::string& level : isa_levels_available()) {
    const std::string before(isa_level());
    set_isa_level(level);
    for (const Irreps& irreps : std::vector<Irreps>{{}, {{21, 11, 3}}}) {
      INFO(level << " " << irreps.text());
      const Case c(irreps, 60, 900, irreps.mul[0] == 32 ? 64 : 21, torch::kFloat);
      const torch::Tensor plain = c.plain(), fast = c.fast(), seed = torch::randn_like(plain);
      CHECK(test::relative_error(fast, plain) < 1e-5);
      const auto wanted = gradients(c, plain, seed), found = gradients(c, fast, seed);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        INFO("leaf " << i);
        CHECK(test::relative_error(found[i], wanted[i]) < 1e-4);
      }
    }
    set_isa_level(before);
  }
}

TEST_CASE("a state of scalars alone leaves the other paths out", "[molecules]") {
  torch::manual_seed(4);
  const Case c({}, 30, 200, 12, torch::kDouble, true);
  const torch::Tensor whole = c.fast(), part = c.fast(true), seed = torch::randn_like(whole);
  CHECK(test::relative_error(part, whole) < 1e-12);
  const auto wanted = gradients(c, whole, seed), found = gradients(c, part, seed);
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    CHECK(test::relative_error(found[i], wanted[i]) < 1e-12);
  }
  CHECK(test::relative_error(found[0].narrow(1, 0, 32), wanted[0].narrow(1, 0, 32)) < 1e-12);
}

TEST_CASE("the tensor product does not depend on the number of threads", "[molecules]") {
  torch::manual_seed(5);
  const Case c({}, 300, 6000, 64, torch::kFloat);
  const torch::Tensor seed = torch::randn({300, 144});
  const int before = torch::get_num_threads();
  std::vector<std::vector<torch::Tensor>> all;
  for (const int threads : {1, 2, 3}) {
    torch::set_num_threads(threads);
    const torch::Tensor out = c.fast();
    all.push_back(gradients(c, out, seed));
    all.back().push_back(out);
  }
  torch::set_num_threads(before);
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    for (std::size_t run = 1; run < all.size(); ++run) {
      CHECK(torch::equal(all[run][i], all[0][i]));
    }
  }
}
