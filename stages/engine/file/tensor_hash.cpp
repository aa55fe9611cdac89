#include "engine/file/tensor_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <vector>

#include "engine/file/safetensors.h"
#include "kdgat/error.h"
#include "kdgat/small_file.h"

namespace kdgat::file {
namespace {

std::string hash_text(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string out;
  for (const unsigned char c : canonical.digest) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

}  // namespace

struct TensorHash::Impl {
  XXH3_state_t state;
};

TensorHash::TensorHash() : impl_(std::make_unique<Impl>()) { XXH3_128bits_reset(&impl_->state); }
TensorHash::TensorHash(TensorHash&&) noexcept = default;
TensorHash::~TensorHash() = default;

void TensorHash::update(const void* data, std::size_t bytes) {
  XXH3_128bits_update(&impl_->state, data, bytes);
}

std::string TensorHash::text() const { return hash_text(XXH3_128bits_digest(&impl_->state)); }

std::string hash_bytes(const void* data, std::size_t bytes) {
  return hash_text(XXH3_128bits(data, bytes));
}

std::string hash_file(const std::filesystem::path& file, const std::string& hint) {
  std::ifstream in = regular_file(file);
  TensorHash hash;
  std::vector<char> block(std::size_t{1} << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    hash.update(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) throw Error(ExitCode::kData, "cannot read " + file.string(), hint);
  return hash.text();
}

}  // namespace kdgat::file
