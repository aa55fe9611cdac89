// A small symmetric matrix with loops, in compressed rows and as a dense one. Needs torch first.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "fields/texts/model/sparse_product.h"
#include "support/catch_torch.h"

namespace kdgat::test {

struct SparseGraph {
  texts::SparseMatrix matrix;
  at::Tensor dense_NN;
};

/// Documents 0 .. documents-1 are joined to words and themselves, words to each other, too; node 0
/// to nothing but itself.
inline SparseGraph sparse_graph(int64_t documents, int64_t words, double density,
                                at::ScalarType type = at::kDouble, uint64_t seed = 1) {
  const int64_t nodes = documents + words;
  arrays::Random random(seed);
  at::Tensor dense = torch::zeros({nodes, nodes}, at::kDouble);
  auto value = dense.accessor<double, 2>();
  for (int64_t i = 0; i < nodes; ++i) {
    value[i][i] = 0.5 + random.uniform();
    for (int64_t j = std::max(i + 1, documents); j < nodes && i > 0; ++j) {
      if (random.uniform() < density) value[i][j] = value[j][i] = 0.1 + random.uniform();
    }
  }
  std::vector<int32_t> row_ptr{0}, col;
  std::vector<double> values;
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t j = 0; j < nodes; ++j) {
      if (value[i][j] == 0) continue;
      col.push_back(static_cast<int32_t>(j));
      values.push_back(value[i][j]);
    }
    row_ptr.push_back(static_cast<int32_t>(col.size()));
  }
  return {{torch::tensor(row_ptr, at::kInt), torch::tensor(col, at::kInt),
           torch::tensor(values, at::kDouble).to(type)},
          dense.to(type)};
}

inline texts::NodeMask all_of(int64_t nodes) {
  return texts::NodeMask(static_cast<std::size_t>(nodes), true);
}

/// Nodes [begin, end) of `nodes`.
inline texts::NodeMask span_of(int64_t nodes, int64_t begin, int64_t end) {
  texts::NodeMask out(static_cast<std::size_t>(nodes), false);
  for (int64_t i = begin; i < end; ++i) out[static_cast<std::size_t>(i)] = true;
  return out;
}

/// The mask as a column of 0 and 1, to multiply rows with.
inline at::Tensor column_of(const texts::NodeMask& mask, at::ScalarType type = at::kDouble) {
  at::Tensor out = torch::zeros({static_cast<int64_t>(mask.size()), 1}, type);
  for (std::size_t i = 0; i < mask.size(); ++i) out[static_cast<int64_t>(i)][0] = mask[i] ? 1 : 0;
  return out;
}

}  // namespace kdgat::test
