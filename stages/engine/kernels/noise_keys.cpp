#include "engine/kernels/noise_keys.h"

namespace kdgat::kernels {

namespace {

uint64_t mix(uint64_t z) {  // splitmix64's finaliser
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

int32_t drop_threshold(double p) { return static_cast<int32_t>(p * 2147483648.0); }

uint64_t noise_base(const BatchTensors& batch, uint32_t layer) {
  return mix(mix(mix(batch.noise.seed) + static_cast<uint64_t>(batch.noise.step)) + layer);
}

std::vector<isa::DropKey> drop_keys(const BatchTensors& batch, uint32_t layer, double p) {
  const at::Tensor ids = batch.graph_id_G.cpu();
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const uint64_t base = noise_base(batch, layer);
  std::vector<isa::DropKey> out(static_cast<std::size_t>(batch.graphs));
  for (std::size_t g = 0; g < out.size(); ++g) {
    const uint64_t key = mix(base ^ mix(static_cast<uint64_t>(id[g])));
    out[g] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), drop_threshold(p)};
  }
  return out;
}

}  // namespace kdgat::kernels
