#include "engine/file/safetensors_stream.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/file/tensor_hash.h"
#include "kdgat/atomic_file.h"

namespace kdgat::file {
namespace {

constexpr std::size_t kHashLength = 32;  // characters

}  // namespace

struct SafetensorsStream::Impl {
  Impl(const std::filesystem::path& path, std::vector<TensorPlace> places,
       std::map<std::string, std::string> texts)
      : file(path), tensors(std::move(places)), metadata(std::move(texts)) {
    for (TensorPlace& tensor : tensors) {
      tensor.bytes = tensor_bytes(tensor.dtype, tensor.shape);
      tensor.hash.assign(kHashLength, '0');
    }
    hashes.resize(tensors.size());
    place_tensors(tensors);
    written.assign(tensors.size(), 0);
    header = header_bytes(tensors, metadata, true, file.path().string()).size();
  }

  AtomicFile file;
  std::vector<TensorPlace> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<TensorHash> hashes;
  std::vector<std::size_t> written;  // of each tensor
  std::size_t header = 0;            // bytes of it
};

SafetensorsStream::SafetensorsStream(const std::filesystem::path& path,
                                     std::vector<TensorPlace> tensors,
                                     std::map<std::string, std::string> metadata)
    : impl_(std::make_unique<Impl>(path, std::move(tensors), std::move(metadata))) {}
SafetensorsStream::~SafetensorsStream() = default;

void SafetensorsStream::write_bytes(const std::string& name, DType dtype, const void* data,
                                    std::size_t bytes) {
  const auto found = std::find_if(impl_->tensors.begin(), impl_->tensors.end(),
                                  [&](const TensorPlace& tensor) { return tensor.name == name; });
  const auto i = static_cast<std::size_t>(found - impl_->tensors.begin());
  if (found == impl_->tensors.end() || found->dtype != dtype ||
      bytes > found->bytes - impl_->written[i]) {
    throw std::logic_error("values that tensor '" + name + "' has no place for");
  }
  if (bytes == 0) return;
  impl_->file.write_at(impl_->header + found->offset + impl_->written[i], data, bytes);
  impl_->hashes[i].update(data, bytes);
  impl_->written[i] += bytes;
}

void SafetensorsStream::finish() {
  for (std::size_t i = 0; i < impl_->tensors.size(); ++i) {
    TensorPlace& tensor = impl_->tensors[i];
    if (impl_->written[i] != tensor.bytes) {
      throw std::logic_error("tensor '" + tensor.name + "' is not filled");
    }
    tensor.hash = impl_->hashes[i].text();
    static constexpr std::array<char, kTensorAlignment> kZeros{};
    impl_->file.write_at(impl_->header + tensor.offset + tensor.bytes, kZeros.data(),
                         tensor.padding);
  }
  const std::string header =
      header_bytes(impl_->tensors, impl_->metadata, true, impl_->file.path().string());
  if (header.size() != impl_->header) throw std::logic_error("the header has changed its length");
  impl_->file.write_at(0, header.data(), header.size());
  impl_->file.commit();
}

}  // namespace kdgat::file
