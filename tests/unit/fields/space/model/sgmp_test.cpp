#include "fields/space/model/sgmp.h"

#include <torch/nn/init.h>

#include <numeric>

#include "engine/file/safetensors.h"
#include "engine/kernels/paths.h"
#include "engine/memory/meter.h"
#include "fields/space/model/chunk_index.h"
#include "fields/space/model/path_features.h"
#include "support/fields/space/path_reference.h"
#include "support/graphs/batches.h"

namespace kdgat::space {
namespace {

using test::Adjacency;
using test::at_every_isa;
using test::check_close;
using test::random_adjacency;

/// A tensor of a golden file in its own type.
at::Tensor golden(const file::SafetensorsFile& file, const std::string& name) {
  const file::TensorView& view = file.tensor(name);
  const auto type = view.dtype == file::DType::kI64 ? at::kLong : at::kDouble;
  return torch::from_blob(const_cast<std::byte*>(view.data), view.shape, type).clone();
}

Adjacency adjacency_of(const at::Tensor& edge_index, int32_t nodes) {
  std::set<std::pair<int32_t, int32_t>> edges;
  for (int64_t e = 0; e < edge_index.size(1); ++e) {
    edges.emplace(edge_index[0][e].item<int32_t>(), edge_index[1][e].item<int32_t>());
  }
  return Adjacency(nodes, edges);
}

SgmpConfig config_of(int64_t hidden, const std::string& norm, const std::string& aggregation) {
  SgmpConfig out;
  out.node_features = 5;
  out.hidden = hidden;
  out.norm = norm;
  out.aggregation = aggregation;
  return out;
}

/// The chunk of all paths.
arrays::PathChunk whole(const arrays::OutEdges& edges) {
  arrays::PathChunk out;
  arrays::PathCursor(edges, 0, edges.nodes()).next(out, int64_t{1} << 20);
  return out;
}

/// A chunk's features a path, [6, P] as reference_features, paths ordered by their nodes.
at::Tensor features_of_paths(const kernels::PathFeatures& f, const arrays::PathChunk& chunk) {
  std::vector<int64_t> arc, triplet, name;
  for (int64_t a = 0; a < chunk.arcs; ++a) {
    for (int32_t t = chunk.triplet_ptr[a]; t < chunk.triplet_ptr[a + 1]; ++t) {
      for (int32_t p = chunk.path_ptr[t]; p < chunk.path_ptr[t + 1]; ++p) {
        arc.push_back(a);
        triplet.push_back(t);
        constexpr int64_t kNodes = 1000;
        name.push_back(((chunk.i[a] * kNodes + chunk.j[a]) * kNodes + chunk.k[t]) * kNodes +
                       chunk.p[p]);
      }
    }
  }
  const at::Tensor a = torch::tensor(arc, at::kLong), t = torch::tensor(triplet, at::kLong);
  return torch::stack({f.d_ij.index_select(0, a), f.d_jk.index_select(0, t), f.d_jp,
                       f.theta_ijk.index_select(0, t), f.theta_ijp, f.phi})
      .index_select(1, torch::tensor(name, at::kLong).argsort());
}

at::Tensor features_of_paths(const at::Tensor& pos, const arrays::PathChunk& chunk) {
  return features_of_paths(kernels::PathKernels::cpu().features(pos, chunk), chunk);
}

/// phi is compared on the circle.
void check_features(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  check_close(a.narrow(0, 0, 5), b.narrow(0, 0, 5), "lengths and angles", tolerance, 0);
  check_close(torch::sin(a[5] / 2).abs(), torch::sin(b[5] / 2).abs(), "phi", tolerance, 0);
  check_close(torch::sin(a[5]), torch::sin(b[5]), "sign of phi", tolerance, 0);
}

TEST_CASE("paths, geometry and a block equal the golden values", "[sgmp][golden]") {
  for (const char* name : {"gtssl_spatial", "gtssl_planar"}) {
    const auto file = test::fixture(name);
    if (!file) return;
    INFO(name);
    const at::Tensor pos = golden(*file, "pos"), path = golden(*file, "path");
    const Adjacency adjacency = adjacency_of(golden(*file, "edge_index"), 40);
    CHECK(test::brute_force_paths(adjacency.edges()).equal(path));
    const arrays::PathChunk chunk = whole(adjacency.edges());
    REQUIRE(chunk.paths == path.size(1));
    const at::Tensor features =
        torch::stack({golden(*file, "feature.d_ij"), golden(*file, "feature.d_jk"),
                      golden(*file, "feature.d_jp"), golden(*file, "feature.theta_ijk"),
                      golden(*file, "feature.theta_ijp"), golden(*file, "feature.phi")});
    check_features(features_of_paths(pos, chunk), features, 1e-10);
    check_features(features_of_paths(kernels::PathKernels::plain().features(pos, chunk), chunk),
                   features, 1e-10);

    SgmpBlock block(config_of(16, "none", "mean"));
    block->to(at::kDouble);
    const auto name_of = [](std::string key) {  // ours to the file's
      for (const auto& [ours, theirs] : {std::pair{".first.", ".0."},
                                         {".second.", ".2."},
                                         {"combine0", "combine.0"},
                                         {"combine1", "combine.2"},
                                         {"combine2", "combine.4"}}) {
        if (const auto at = key.find(ours); at != std::string::npos) {
          key.replace(at, std::string(ours).size(), theirs);
        }
      }
      return key;
    };
    for (auto& item : block->named_parameters()) {
      item.value().set_data(golden(*file, "weight." + name_of(item.key())));
    }
    at_every_isa([&] {
      for (const int64_t budget : {100000, 97}) {
        block->zero_grad();
        const at::Tensor h = golden(*file, "h").requires_grad_();
        const at::Tensor out = block->forward(h, pos, adjacency.edges(), budget);
        check_close(out, golden(*file, "output"), "output", 1e-10, 0);
        out.sin().sum().backward();
        check_close(h.grad(), golden(*file, "grad.h"), "grad.h", 1e-10, 1e-10);
        for (const auto& item : block->named_parameters()) {
          check_close(item.value().grad(), golden(*file, "grad." + name_of(item.key())), item.key(),
                      1e-10, 1e-10);
        }
      }
    });
  }
}

TEST_CASE("chunks with recomputation give the outputs and gradients of the plain form", "[sgmp]") {
  for (const auto& [norm, aggregation, directed] :
       {std::tuple{"layer", "mean", true}, {"none", "sum", true}, {"layer", "sum", false}}) {
    torch::manual_seed(3);
    const SgmpConfig config = config_of(8, norm, aggregation);
    SgmpBlock block(config);
    block->to(at::kDouble);
    for (at::Tensor& p : block->parameters()) torch::nn::init::normal_(p, 0, 0.3);
    const Adjacency adjacency = random_adjacency(30, directed ? 90 : 20, 4);
    const at::Tensor pos = torch::randn({30, 3}, at::kDouble) * 2;
    const at::Tensor start = torch::randn({30, 8}, at::kDouble);
    const at::Tensor paths = test::brute_force_paths(adjacency.edges());

    const at::Tensor h = start.clone().requires_grad_();
    const at::Tensor wanted =
        test::reference_block(block, h, pos, paths, config.cutoff, config.aggregation == "mean");
    wanted.sin().sum().backward();
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& p : block->parameters()) gradients.push_back(p.grad().clone());
    const double scale = wanted.abs().max().item<double>();

    at_every_isa([&] {
      for (const int64_t budget : {1, 17, 256, 100000}) {
        INFO("budget " << budget);
        block->zero_grad();
        const at::Tensor x = start.clone().requires_grad_();
        const at::Tensor out = block->forward(x, pos, adjacency.edges(), budget);
        check_close(out, wanted, "output", 1e-12 * scale, 1e-12);
        out.sin().sum().backward();
        const auto close = [](const at::Tensor& a, const at::Tensor& b, const std::string& what) {
          check_close(a, b, what, 1e-10 * b.abs().max().item<double>(), 1e-10);
        };
        close(x.grad(), h.grad(), "h");
        for (std::size_t i = 0; i < gradients.size(); ++i) {
          close(block->parameters()[i].grad(), gradients[i], block->named_parameters().keys()[i]);
        }
      }
    });
  }
}

TEST_CASE("between forward and backward nothing of a path is kept", "[sgmp][memory]") {
  const Adjacency adjacency = random_adjacency(60, 900, 5);
  const std::vector<int64_t> counts = arrays::count_paths(adjacency.edges());
  const int64_t paths = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  REQUIRE(paths > 100000);
  torch::manual_seed(1);
  SgmpEncoder encoder(config_of(16, "layer", "mean"));
  const at::Tensor x = torch::randn({60, 5}), pos = torch::randn({60, 3});
  const memory::MemoryMeter& meter = memory::meter(at::kCPU);
  const int64_t before = meter.counters().allocated;
  const at::Tensor h = encoder->forward({x, pos, adjacency.edges()});
  const int64_t kept = meter.counters().allocated - before;
  CHECK(kept > 0);
  CHECK(static_cast<double>(kept) < 5.0 * static_cast<double>(paths));  // at most 30 are promised
}

TEST_CASE("in floats the block stays near that in doubles", "[sgmp]") {
  torch::manual_seed(7);
  SgmpEncoder encoder([] {
    SgmpConfig c = config_of(64, "layer", "mean");
    return c;
  }());
  const Adjacency adjacency = random_adjacency(60, 150, 9);
  const at::Tensor x = torch::randn({60, 5}), pos = torch::randn({60, 3});
  const at::Tensor single = encoder->forward({x, pos, adjacency.edges()});
  single.sin().sum().backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& p : encoder->parameters()) gradients.push_back(p.grad().clone());
  encoder->zero_grad();
  encoder->to(at::kDouble);
  const at::Tensor exact =
      encoder->forward({x.to(at::kDouble), pos.to(at::kDouble), adjacency.edges()});
  check_close(single, exact, "output");
  exact.sin().sum().backward();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor wanted = encoder->parameters()[i].grad();
    check_close(gradients[i], wanted, encoder->named_parameters().keys()[i],
                1e-4 * wanted.abs().max().item<double>(), 1e-3);
  }
}

TEST_CASE("kernels along runs equal plain tensor operations", "[sgmp]") {
  const Adjacency adjacency = random_adjacency(40, 120, 2);
  const arrays::PathChunk chunk = whole(adjacency.edges());
  const ChunkIndex index(chunk, at::kCPU);
  const kernels::PathKernels &cpu = kernels::PathKernels::cpu(),
                             &plain = kernels::PathKernels::plain();
  const kernels::RowRuns runs{index.path_ptr_T1, index.p_P}, starts{index.path_ptr_A1, index.i_A};
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const int64_t columns : {1, 40, 130}) {
      torch::manual_seed(1);
      const auto random = [&](int64_t rows, int64_t width) {
        return torch::randn({rows, width}, type);
      };
      const at::Tensor x = random(chunk.paths, columns), of_run = random(chunk.triplets, columns);
      const at::Tensor wide = random(40, 3 * columns), bias = random(1, columns).squeeze(0);
      const at::Tensor sums = random(40, columns);
      const auto table = [columns](const at::Tensor& t) { return t.narrow(1, columns, columns); };
      at_every_isa([&] {
        for (const bool relu : {false, true}) {
          at::Tensor a = x.clone(), b = x.clone();
          cpu.add_runs(a, runs, of_run, table(wide), relu);
          plain.add_runs(b, runs, of_run, table(wide), relu);
          check_close(a, b, "add_runs", 1e-5, 1e-5);
          at::Tensor ga = x.clone(), gb = x.clone(), ta = wide.clone(), tb = wide.clone();
          const at::Tensor ra = cpu.sum_runs(ga, relu ? a : at::Tensor(), runs, table(ta));
          const at::Tensor rb = plain.sum_runs(gb, relu ? a : at::Tensor(), runs, table(tb));
          check_close(ga, gb, "masked", 0, 0);
          check_close(ra, rb, "sums of runs", 1e-5, 1e-5);
          check_close(ta, tb, "sums of nodes", 1e-4, 1e-5);
        }
        at::Tensor sa = torch::zeros_like(sums), sb = sa.clone();
        cpu.relu_sum(x, starts, bias, sa);
        plain.relu_sum(x, starts, bias, sb);
        check_close(sa, sb, "relu_sum", 1e-3, 1e-5);
        at::Tensor xa = x.clone(), xb = x.clone(), ba = torch::zeros_like(bias), bb = ba.clone();
        cpu.relu_sum_backward(xa, starts, bias, sums, ba);
        plain.relu_sum_backward(xb, starts, bias, sums, bb);
        check_close(xa, xb, "relu_sum backward", 0, 0);
        check_close(ba, bb, "bias", 1e-2, 1e-4);
      });
    }
  }
}

at::Tensor rotation(uint64_t seed) {
  torch::manual_seed(seed);
  const auto [q, r] = torch::linalg_qr(torch::randn({3, 3}, at::kDouble));
  return torch::linalg_det(q).item<double>() > 0 ? q : -q;
}

TEST_CASE("rigid motion changes no feature, reflection the sign of phi alone", "[sgmp]") {
  const Adjacency adjacency = random_adjacency(30, 80, 11);
  const arrays::PathChunk chunk = whole(adjacency.edges());
  torch::manual_seed(5);
  const at::Tensor pos = torch::randn({30, 3}, at::kDouble) * 3;
  const at::Tensor before = features_of_paths(pos, chunk);
  const at::Tensor moved = torch::mm(pos, rotation(1).t()) + torch::randn({1, 3}, at::kDouble);
  check_features(features_of_paths(moved, chunk), before, 1e-9);
  at::Tensor mirrored = before.clone();
  mirrored[5].neg_();
  const at::Tensor flip = torch::tensor({1.0, 1.0, -1.0}, at::kDouble);
  check_features(features_of_paths(pos * flip, chunk), mirrored, 1e-9);

  SgmpEncoder encoder(config_of(16, "layer", "mean"));
  const at::Tensor x = torch::randn({30, 5});
  check_close(encoder->forward({x, moved.to(at::kFloat), adjacency.edges()}),
              encoder->forward({x, pos.to(at::kFloat), adjacency.edges()}), "states", 1e-4, 0);
}

TEST_CASE("six numbers give back the four points, and in the plane phi is 0 or pi", "[sgmp]") {
  const Adjacency adjacency = random_adjacency(30, 80, 12);
  const arrays::PathChunk chunk = whole(adjacency.edges());
  const at::Tensor paths = test::brute_force_paths(adjacency.edges());
  const at::Tensor real = paths[0].ne(paths[1]).nonzero().squeeze(1);
  torch::manual_seed(6);
  const at::Tensor pos = torch::randn({30, 3}, at::kDouble) * 3;
  const at::Tensor f = features_of_paths(pos, chunk);
  const at::Tensor d1 = f[0], d2 = f[1], d3 = f[2], t1 = f[3], t2 = f[4], phi = f[5];
  const at::Tensor zero = torch::zeros_like(d1);
  const std::vector<at::Tensor> rebuilt = {
      torch::stack({zero, zero, -d1}, 1), torch::zeros({d1.size(0), 3}, at::kDouble),
      torch::stack({d2 * t1.sin(), zero, d2 * t1.cos()}, 1),
      torch::stack({d3 * t2.sin() * phi.cos(), d3 * t2.sin() * phi.sin(), d3 * t2.cos()}, 1)};
  const auto point = [&](int64_t place) { return pos.index_select(0, paths[place]); };
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto gap = [&](const at::Tensor& p, const at::Tensor& q) {
        return (p - q).square().sum(1).sqrt().index_select(0, real);
      };
      check_close(gap(rebuilt[a], rebuilt[b]),
                  gap(point(static_cast<int64_t>(a)), point(static_cast<int64_t>(b))), "distance",
                  1e-9, 0);
    }
  }
  const auto volume = [&](const at::Tensor& i, const at::Tensor& j, const at::Tensor& k,
                          const at::Tensor& p) {
    return (torch::linalg_cross(j - i, k - j) * (p - j)).sum(1).index_select(0, real);
  };
  check_close(volume(rebuilt[0], rebuilt[1], rebuilt[2], rebuilt[3]),
              volume(point(0), point(1), point(2), point(3)), "chirality", 1e-8, 1e-9);

  at::Tensor flat = pos.clone();
  flat.select(1, 2).zero_();
  const at::Tensor planar = features_of_paths(flat, chunk)[5];
  CHECK((planar.eq(0) | (planar - std::numbers::pi).abs().lt(1e-12)).all().item<bool>());
  CHECK(planar.gt(3).any().item<bool>());
}

TEST_CASE("states follow the numbers of nodes, and a graph alone is the same in a batch",
          "[sgmp]") {
  torch::manual_seed(8);
  SgmpEncoder encoder(config_of(16, "layer", "mean"));
  encoder->to(at::kDouble);
  const Adjacency first = random_adjacency(20, 50, 21), second = random_adjacency(15, 40, 22);
  const auto random = [](int64_t rows, int64_t columns) {
    return torch::randn({rows, columns}, at::kDouble);
  };
  const at::Tensor x1 = random(20, 5), x2 = random(15, 5), p1 = random(20, 3), p2 = random(15, 3);
  const at::Tensor alone = encoder->forward({x1, p1, first.edges()});

  Adjacency both = first;
  for (std::size_t v = 1; v < second.ptr.size(); ++v) {
    both.ptr.push_back(first.ptr.back() + second.ptr[v]);
  }
  for (const int32_t v : second.target) both.target.push_back(v + 20);
  const at::Tensor batched =
      encoder->forward({torch::cat({x1, x2}), torch::cat({p1, p2}), both.edges()});
  check_close(batched.narrow(0, 0, 20), alone, "in a batch", 1e-12, 1e-12);

  const at::Tensor order = torch::randperm(20);  // node v becomes number inverse[v]
  const at::Tensor inverse = order.argsort();
  std::set<std::pair<int32_t, int32_t>> renamed;
  for (int32_t v = 0; v < 20; ++v) {
    for (int32_t e = first.ptr[static_cast<std::size_t>(v)];
         e < first.ptr[static_cast<std::size_t>(v) + 1]; ++e) {
      renamed.emplace(inverse[v].item<int32_t>(),
                      inverse[first.target[static_cast<std::size_t>(e)]].item<int32_t>());
    }
  }
  const Adjacency permuted(20, renamed);
  check_close(
      encoder->forward({x1.index_select(0, order), p1.index_select(0, order), permuted.edges()}),
      alone.index_select(0, order), "permuted", 1e-12, 1e-12);
}

TEST_CASE("the published sizes have the published numbers of parameters", "[sgmp]") {
  SgmpEncoder encoder(config_of(64, "none", "sum"));
  const auto count = [](const torch::nn::Module& module) {
    int64_t out = 0;
    for (const at::Tensor& p : module.parameters()) out += p.numel();
    return out;
  };
  CHECK(count(*encoder->embedding) == 4544);
  CHECK(count(*encoder->blocks[0]) == 179904);
}

}  // namespace
}  // namespace kdgat::space
