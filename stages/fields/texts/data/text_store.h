// TextStore: the graph of a corpus in one memory-mapped file, shared by training, validation and
// test. Owns the mapping. Knows nothing about models.
//
// D documents, V words, N = D + V nodes, C classes.
//
//   row_ptr [N+1] i32, col [nnz] i32, value [nnz] f32   S = D^-1/2 A D^-1/2, see text_graph.h;
//                                                       symmetric, columns ascending, loops too
//   y [N] i64                                           class of a document, -1 of a word
//   doc_mask, train_mask, val_mask, test_mask [N] bool
//   doc_source, doc_row [D] i32                         of each document, in the order of nodes:
//                                                       which of sources(), and line or number
//                                                       there, from 1
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/store_file.h"
#include "fields/texts/data/text_corpus.h"
#include "fields/texts/data/text_graph.h"

namespace kdgat::texts {

/// facts(): {"graphs":1,"unlabelled":0,"text":{"documents","words","nodes","classes":[names],
///  "class_documents":[of each],"first_documents","tokens","average_length","empty","window",
///  "windows","pairs","pmi_edges","pmi_mean","pmi_max","tfidf_edges","tfidf_mean","tfidf_max",
///  "nonzeros"},"parts":{"train","val","test": documents}}; edges are directed
class TextStore : public graph::StoreFile {
 public:
  static constexpr graph::StoreKind kKind = {"kdgat.text", 1, "graph of texts",
                                             "kdgat data import TEXTS -o DIR makes one"};
  /// Checks header, shapes, facts, hashes as `check` says, and that rows, columns, labels, masks
  /// and sources are in range. Throws Error(kData).
  static TextStore open(const std::filesystem::path& path,
                        graph::Check check = graph::Check::kOnce) {
    return {path, check};
  }
  /// As open(), but a file is opened once in this process: training, validation and test see one
  /// graph, at one address. Kept until forget_shared().
  static TextStore shared(const std::filesystem::path& path);
  static int64_t shared_bytes(const std::filesystem::path& path);  ///< 0 = not opened by shared()
  static void forget_shared();  ///< copies that are in use keep their mapping
  /// Whether the file says that it is one.
  static bool is_store(const file::SafetensorsFile& file) {
    return graph::StoreFile::is_store(file, kKind);
  }

  int64_t nodes() const { return static_cast<int64_t>(y_.size()); }
  int64_t nonzeros() const { return static_cast<int64_t>(col_.size()); }
  int64_t documents() const { return static_cast<int64_t>(doc_row_.size()); }
  int64_t words() const { return nodes() - documents(); }
  int64_t classes() const { return static_cast<int64_t>(classes_.size()); }

  std::span<const int32_t> row_ptr() const { return row_ptr_; }
  std::span<const int32_t> col() const { return col_; }
  std::span<const float> value() const { return value_; }
  std::span<const int64_t> y() const { return y_; }
  std::span<const bool> doc_mask() const { return doc_mask_; }
  /// Documents whose label is used in this part, "train", "val" or "test"; of the first only those
  /// that train_subsample took. May be empty but for training. Throws std::logic_error for others.
  std::span<const bool> mask(const std::string& part) const;
  std::span<const int32_t> doc_source() const { return doc_source_; }
  std::span<const int32_t> doc_row() const { return doc_row_; }

  const std::vector<std::string>& class_names() const { return classes_; }  ///< what y counts
  /// The word of each word node, in their order.
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }

  /// Data hashes, rows in order and in range, symmetry, masks and labels; empty when sound.
  std::vector<Diagnostic> verify() const;

 private:
  TextStore(const std::filesystem::path& path, graph::Check check);
  void check_facts() const;
  void check_ranges() const;

  std::span<const int32_t> row_ptr_, col_, doc_source_, doc_row_;
  std::span<const float> value_;
  std::span<const int64_t> y_;
  std::span<const bool> doc_mask_, masks_[3];
  std::vector<std::string> classes_, vocabulary_;
};

/// What a text store holds beside the graph.
struct TextStoreData {
  const TextCorpus& corpus;             ///< after choose_vocabulary()
  const std::vector<bool>& is_trained;  ///< [D]
  std::vector<graph::Source> sources;
  nlohmann::json options;
};

/// Writes atomically, with hashes and facts; at most about `budget` bytes of the graph, and a row,
/// are in memory at once. `graph` is that of the corpus. Throws Error(kData).
void write_text_store(const std::filesystem::path& path, const TextStoreData& data,
                      const TextTokens& tokens, const TextGraphBuilder& graph, int64_t budget);

}  // namespace kdgat::texts
