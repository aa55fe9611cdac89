// kdgat_molecule_bench: what scripts/bench molecules measures inside one process. Prints one JSON
// object.
//
//   kdgat_molecule_bench step ATOMS EDGES LAYERS STEPS THREADS
//       training steps of the equivariant encoder on a synthetic pocket: atoms at the density of
//       RNA, its EDGES / 2 shortest pairs, 1.1 bonds, 1.7 angles and 3.3 dihedrals an atom. It is
//       drawn as the peer draws it, number for number. Seconds of each step by the wall and of the
//       processor, and peaks of tensor bytes and of resident memory over what stood before the first
//   kdgat_molecule_bench hygiene ATOMS EDGES LAYERS STEPS THREADS FORM RELEASE LIMIT
//       training steps of the embedding and the messages over bonds and pairs alone, on the same
//       pocket. FORM kept: weights of each edge, kept for backward, as published; factored: none.
//       Memory that no tensor uses is given back after every RELEASE-th step, 0 = never; tensors
//       stay below LIMIT MB, 0 = no limit. What the allocator counted, and where it had no more
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <time.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.h"
#include "engine/memory/arena.h"
#include "engine/memory/meter.h"
#include "engine/train/optimizer.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace {

namespace molecules = kdgat::molecules;
using kdgat::bench::seconds_since;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kDensity = 0.09;  // atoms in a cubic A

/// Of all threads of this process together.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

molecules::MoleculeTerms terms_of(const at::Tensor& index, const at::Tensor& attr) {
  molecules::MoleculeTerms out;
  const int64_t last = index.size(0) - 1;
  out.first = index[0].contiguous();
  out.last = index[last].contiguous();
  for (int64_t i = 1; i < last; ++i) out.centres.push_back(index[i].contiguous());
  out.attr = attr;
  return out;
}

at::Tensor places_of(int64_t atoms, const at::Generator& random) {
  const double count = static_cast<double>(atoms);
  const double side = std::cbrt(count / kDensity);
  const auto k = static_cast<int64_t>(std::ceil(std::pow(count, 1.0 / 3)));
  const at::Tensor line = at::arange(k);
  const at::Tensor all = at::stack(at::meshgrid({line, line, line}, "ij"), -1).reshape({-1, 3});
  const at::Tensor grid =
      all.index_select(0, at::randperm(k * k * k, random).narrow(0, 0, atoms)).to(at::kFloat);
  return grid * (side / static_cast<double>(k)) + 0.25 * at::randn({atoms, 3}, random);
}

/// The shortest pairs, [2,count], each once.
at::Tensor shortest_pairs(const at::Tensor& pos, int64_t edges) {
  constexpr int64_t kRows = 1024;
  const int64_t atoms = pos.size(0);
  const int64_t near = std::min(atoms - 1, std::max<int64_t>(8, 4 * edges / atoms));
  std::vector<at::Tensor> distances, pairs;
  for (int64_t begin = 0; begin < atoms; begin += kRows) {
    const int64_t end = std::min(begin + kRows, atoms);
    const auto [value, to] =
        at::topk(at::cdist(pos.slice(0, begin, end), pos), near + 1, 1, /*largest=*/false);
    const at::Tensor here = at::arange(begin, end).unsqueeze(1).expand_as(to);
    const at::Tensor keep = here < to;
    distances.push_back(value.masked_select(keep));
    pairs.push_back(at::stack({here.masked_select(keep), to.masked_select(keep)}));
  }
  const at::Tensor distance = at::cat(distances);
  const int64_t count = std::min(edges / 2, distance.size(0));
  return at::cat(pairs, 1).index_select(
      1, std::get<1>(at::topk(distance, count, 0, /*largest=*/false)));
}

molecules::MoleculeBatch synthetic(int64_t atoms, int64_t edges,
                                   const molecules::PocketConfig& config) {
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(0);
  const at::Tensor pos = places_of(atoms, random), pair = shortest_pairs(pos, edges);
  const auto often = [atoms](double times) {
    return static_cast<int64_t>(times * static_cast<double>(atoms));
  };
  const auto draw = [&](int64_t rows, int64_t count) {
    return at::randint(atoms, {rows, count}, random, at::TensorOptions(at::kLong));
  };
  const auto numbers = [&](int64_t rows, int64_t columns) {
    return at::rand({rows, columns}, random);
  };
  const at::Tensor from = at::arange(atoms - 1);
  const at::Tensor bonds = at::stack({from, from + 1});
  const auto both = [](const at::Tensor& one) { return at::cat({one, one.flip(0)}, 1); };
  molecules::MoleculeBatch out;
  out.x = at::randn({atoms, 3}, random);
  out.molecule = at::zeros({atoms}, at::kLong);
  out.molecules = 1;
  // The rows of an index are target and source there; both directions are in it.
  out.bonds = molecules::product_edges(both(bonds), numbers(2 * (atoms - 1), 2), pos, config);
  const at::Tensor angle = draw(3, often(1.7));
  out.angles = terms_of(angle, numbers(often(1.7), 2));
  const at::Tensor dihedral = draw(4, often(3.3));
  out.dihedrals = terms_of(dihedral, numbers(often(3.3), 3));
  out.pairs = molecules::product_edges(both(pair), numbers(2 * pair.size(1), 3), pos, config);
  return out;
}

json train(int64_t atoms, int64_t edges, int64_t layers, int64_t steps) {
  molecules::PocketConfig config;
  config.layers = layers;
  const molecules::MoleculeBatch batch = synthetic(atoms, edges, config);
  torch::manual_seed(0);
  molecules::PocketEncoder encoder(config);
  kdgat::train::Optimizer optimizer(kdgat::train::parameters_of(*encoder), /*decoupled=*/true,
                                    1e-6);
  const at::Tensor target = at::randn({batch.molecules, config.output});
  kdgat::memory::MemoryMeter& meter = kdgat::memory::meter(at::kCPU);
  meter.trim();
  meter.reset_peaks();
  const auto held = static_cast<double>(meter.counters().allocated);
  const double resident = peak_resident_bytes();
  std::vector<double> seconds, processor;
  double loss_value = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = Clock::now();
    const double processor_start = processor_seconds();
    const at::Tensor loss = (1 - at::cosine_similarity(encoder->forward(batch), target)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.clip(1.0);
    optimizer.step(2e-4);
    loss_value = loss.item<double>();
    seconds.push_back(seconds_since(start));
    processor.push_back(processor_seconds() - processor_start);
  }
  int64_t parameters = 0;
  for (const at::Tensor& one : encoder->parameters()) parameters += one.numel();
  return {{"atoms", atoms},
          {"nonbonded_edges", batch.pairs->edges.edges()},
          {"bonded_edges", batch.bonds->edges.edges()},
          {"layers", layers},
          {"parameters", parameters},
          {"threads", at::get_num_threads()},
          {"step_s", seconds},
          {"processor_s", processor},
          {"loss", loss_value},
          {"peak_tensor_mb", (static_cast<double>(meter.counters().peak_allocated) - held) * 1e-6},
          {"peak_resident_mb", (peak_resident_bytes() - resident) * 1e-6}};
}

/// Messages over bonds and pairs with the modules of an encoder, in either form.
class Messages {
 public:
  Messages(const molecules::PocketConfig& config, const molecules::MoleculeBatch& batch,
           bool is_kept)
      : batch_(batch), irreps_(config.hidden), is_kept_(is_kept), encoder_(config) {}

  torch::nn::Module& module() { return *encoder_; }

  at::Tensor loss() {
    at::Tensor h = encoder_->input_embedding->forward(batch_.x, batch_.kind);
    for (std::size_t layer = 0; layer < encoder_->bonded_mp_layers->size(); ++layer) {
      const auto of = [layer](const torch::nn::ModuleList& list) {
        return list->ptr<molecules::MessagePassingImpl>(layer);
      };
      const auto bonded = of(encoder_->bonded_mp_layers);
      const at::Tensor own = bonded->self_connection->forward(h);
      h = h + molecules::gate(own + message(*bonded, *batch_.bonds, batch_.bonds, h), irreps_) +
          molecules::gate(
              message(*of(encoder_->nonbonded_mp_layers), *batch_.pairs, batch_.pairs, h), irreps_);
    }
    return h.square().mean();
  }

 private:
  at::Tensor message(molecules::MessagePassingImpl& layer, const molecules::ProductEdges& edges,
                     const std::shared_ptr<const molecules::ProductEdges>& over,
                     const at::Tensor& h) {
    const at::Tensor state = layer.linear_in->forward(h);
    const auto linear = [&layer](std::size_t i) {
      return layer.radial_mlp->ptr<torch::nn::LinearImpl>(i);
    };
    const molecules::RadialWeights weights = {linear(0)->weight, linear(0)->bias,
                                              linear(2)->weight, linear(2)->bias,
                                              linear(4)->weight, linear(4)->bias};
    if (!is_kept_) return molecules::tensor_product(state, weights, over, irreps_);
    const auto places = [](const std::vector<int32_t>& ends) {
      return at::from_blob(const_cast<int32_t*>(ends.data()), {std::ssize(ends)}, at::kInt)
          .to(at::kLong);
    };
    return molecules::plain_tensor_product(state, weights, places(edges.edges.source),
                                           places(edges.edges.target), edges.harmonics,
                                           edges.radial, irreps_);
  }

  const molecules::MoleculeBatch& batch_;
  molecules::Irreps irreps_;
  bool is_kept_;
  molecules::PocketEncoder encoder_;
};

json hygiene(int64_t atoms, int64_t edges, int64_t layers, int64_t steps, const std::string& form,
             int64_t release, int64_t limit_mb) {
  if (form != "kept" && form != "factored") throw std::runtime_error("no form " + form);
  molecules::PocketConfig config;
  config.layers = layers;
  const molecules::MoleculeBatch batch = synthetic(atoms, edges, config);
  torch::manual_seed(0);
  Messages messages(config, batch, form == "kept");
  kdgat::train::Optimizer optimizer(kdgat::train::parameters_of(messages.module()),
                                    /*decoupled=*/true, 1e-6);
  kdgat::memory::MemoryMeter& meter = kdgat::memory::meter(at::kCPU);
  meter.trim();
  meter.set_limit(limit_mb * 1000000);
  meter.reset_peaks();
  const kdgat::memory::Counters before = meter.counters();
  int64_t given_back = 0;
  json out = {{"steps", 0}};
  double warm = 0, after = 0;
  try {
    for (int64_t step = 1; step <= steps; ++step) {
      optimizer.zero_grad();
      messages.loss().backward();
      optimizer.step(2e-4);
      out["steps"] = step;
      warm = after = static_cast<double>(meter.counters().reserved);
      if (release == 0 || step % release != 0) continue;
      given_back += meter.trim();
      after = static_cast<double>(meter.counters().reserved);
    }
  } catch (const std::exception& error) {
    if (!kdgat::memory::is_out_of_memory(error)) throw;
    const kdgat::memory::Failure failure = kdgat::memory::Arena::instance().last_failure();
    out["asked_mb"] = static_cast<double>(failure.bytes) * 1e-6;
    out["held_mb"] = static_cast<double>(failure.allocated) * 1e-6;
  }
  const kdgat::memory::Counters counters = meter.counters();
  out.update(
      {{"edges", batch.pairs->edges.edges()},
       {"peak_tensor_mb", static_cast<double>(counters.peak_allocated - before.allocated) * 1e-6},
       {"peak_reserved_mb", static_cast<double>(counters.peak_reserved) * 1e-6},
       {"between_steps_mb", warm * 1e-6},
       {"after_release_mb", after * 1e-6},
       {"given_back_mb", static_cast<double>(given_back) * 1e-6}});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t i) { return std::stoll(words.at(i)); };
  return kdgat::bench::run(
      "usage: kdgat_molecule_bench step ATOMS EDGES LAYERS STEPS THREADS\n"
      "       kdgat_molecule_bench hygiene ATOMS EDGES LAYERS STEPS THREADS FORM RELEASE LIMIT\n",
      [&] {
        const bool is_step = words.size() == 6 && words[0] == "step";
        if (!is_step && (words.size() != 9 || words[0] != "hygiene")) return false;
        at::set_num_threads(static_cast<int>(number(5)));
        std::cout << (is_step ? train(number(1), number(2), number(3), number(4))
                              : hygiene(number(1), number(2), number(3), number(4), words[6],
                                        number(7), number(8)))
                  << "\n";
        return true;
      });
}
