// The graph of a corpus as a stage sees it: three parts of one mapping. Knows no model.
#pragma once

#include <filesystem>
#include <vector>

#include "fields/texts/data/text_store.h"
#include "fields/texts/model/sparse_product.h"

namespace kdgat::textgcn {

/// Documents of a part, and the graph that all parts share.
struct TextSplit {
  texts::TextStore store;
  at::Tensor documents;  ///< [n] int64 nodes, ascending
  at::Tensor labels;     ///< [n] int64

  bool is_empty() const { return documents.numel() == 0; }
  texts::NodeMask mask() const;
};

struct TextSplits {
  TextSplit train, val, test;
  texts::SparseMatrix matrix;  ///< looks into the mapping; the weights of equal edges are its own
};

/// Of the store in `folder`; `weighted` false: all edges alike, D^-1/2 A D^-1/2 of ones. Throws
/// Error(kData) if it is no graph of texts, or no document is to be trained on.
TextSplits open_splits(const std::filesystem::path& folder, bool weighted);

}  // namespace kdgat::textgcn
