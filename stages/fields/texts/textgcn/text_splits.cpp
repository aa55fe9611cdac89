#include "fields/texts/textgcn/text_splits.h"

#include <ATen/ATen.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "kdgat/error.h"

namespace kdgat::textgcn {

namespace {

TextSplit split_of(const std::filesystem::path& file, const std::string& part) {
  TextSplit out{texts::TextStore::shared(file), {}, {}};
  const std::span<const bool> mask = out.store.mask(part);
  std::vector<int64_t> nodes, labels;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    nodes.push_back(static_cast<int64_t>(i));
    labels.push_back(out.store.y()[i]);
  }
  out.documents = at::tensor(nodes, at::kLong);
  out.labels = at::tensor(labels, at::kLong);
  return out;
}

/// Looks into the mapping, which it keeps.
template <class T>
at::Tensor view(const texts::TextStore& store, std::span<const T> data, at::ScalarType type) {
  // from_blob wants a pointer it could write through; nothing writes.
  return at::from_blob(
      const_cast<T*>(data.data()), {static_cast<int64_t>(data.size())},
      [mapping = store.mapping()](void*) {}, at::TensorOptions().dtype(type));
}

/// D^-1/2 A D^-1/2 where A is 1 at each nonzero.
at::Tensor equal_weights(const texts::TextStore& store) {
  const std::span<const int32_t> row_ptr = store.row_ptr(), col = store.col();
  std::vector<float> scale;
  for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
    scale.push_back(1 / std::sqrt(static_cast<float>(row_ptr[i + 1] - row_ptr[i])));
  }
  at::Tensor out = at::empty({store.nonzeros()}, at::kFloat);
  float* value = out.data_ptr<float>();
  for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
    for (int32_t e = row_ptr[i]; e < row_ptr[i + 1]; ++e) {
      const auto j = static_cast<std::size_t>(col[static_cast<std::size_t>(e)]);
      value[e] = scale[i] * scale[j];
    }
  }
  return out;
}

}  // namespace

texts::NodeMask TextSplit::mask() const {
  texts::NodeMask out(static_cast<std::size_t>(store.nodes()), false);
  const int64_t* node = documents.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < documents.numel(); ++i) out[static_cast<std::size_t>(node[i])] = true;
  return out;
}

TextSplits open_splits(const std::filesystem::path& folder, bool weighted) {
  const std::filesystem::path file = folder / "graphs.safetensors";
  TextSplits out{split_of(file, "train"), split_of(file, "val"), split_of(file, "test"), {}};
  const texts::TextStore& store = out.train.store;
  if (out.train.is_empty()) {
    throw Error(ExitCode::kData, "there are no documents to train on",
                "kdgat data inspect shows the parts");
  }
  out.matrix = {view(store, store.row_ptr(), at::kInt), view(store, store.col(), at::kInt),
                weighted ? view(store, store.value(), at::kFloat) : equal_weights(store)};
  return out;
}

}  // namespace kdgat::textgcn
