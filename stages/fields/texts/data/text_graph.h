// The graph of a corpus as TextGCN has it (Yao, Mao, Luo: Graph Convolutional Networks for Text
// Classification, AAAI 2019): documents and words are nodes, a word and a document are joined by
// TF-IDF, two words by the pointwise mutual information (PMI) of their standing in one window, a
// node with itself by 1; then S = D^-1/2 A D^-1/2.
//
// D documents, V words, N = D + V nodes, T tokens in all, windows of w tokens.
//
// Rows are made one at a time from the tokens: the pairs around each place where the word stands
// are added up in V counters of the thread, so that neither windows nor pairs are ever listed. All
// rows are made twice, first to know their lengths and sums, then to be written, in whatever
// portions fit. The result does not depend on portions or threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kdgat::texts {

/// Throws Error(kData) if a size does not fit the 32 bits of an index, saying which.
void require_index_sizes(int64_t tokens, int64_t nodes, int64_t nonzeros);

/// Documents in the order of their nodes, which are
///   0 .. first_documents-1 | V words | the other documents.
struct TextTokens {
  std::span<const int32_t> token;    ///< [T] words 0 .. V-1
  std::span<const int32_t> doc_ptr;  ///< [D+1]
  int64_t words = 0;
  int64_t first_documents = 0;
  int64_t window = 20;

  int64_t documents() const { return static_cast<int64_t>(doc_ptr.size()) - 1; }
  int64_t nodes() const { return documents() + words; }
  int64_t node_of_document(int64_t document) const {
    return document < first_documents ? document : document + words;
  }
  int64_t node_of_word(int64_t word) const { return first_documents + word; }
};

/// Edges are directed: each pair counts twice.
struct TextGraphCounts {
  int64_t windows = 0;
  int64_t pairs = 0;  ///< unordered pairs of different words that share a window
  int64_t pmi_edges = 0, tfidf_edges = 0, nonzeros = 0;
  double pmi_mean = 0, pmi_max = 0, tfidf_mean = 0, tfidf_max = 0;
};

class TextGraphBuilder {
 public:
  /// The first pass. `tokens` must outlive the builder. `cancelled` is asked now and then by any
  /// thread; true ends the pass with Error(kInterrupted). Throws Error(kData) for a graph of more
  /// than 2^31-1 nonzeros.
  TextGraphBuilder(const TextTokens& tokens, int threads, std::function<bool()> cancelled = {});

  int64_t nodes() const { return tokens_.nodes(); }
  std::span<const int32_t> row_ptr() const { return row_ptr_; }  ///< [N+1]
  const TextGraphCounts& counts() const { return counts_; }
  /// Rows begin .. end-1 of S, columns ascending, from row_ptr()[begin] on.
  void fill(int64_t begin, int64_t end, int32_t* col, float* value) const;

 private:
  class Rows;
  struct Windows {
    int64_t count = 0;
    double log = 0;
  };

  void index_words();
  void count_windows();
  void measure_rows();
  void check_cancelled() const;

  TextTokens tokens_;
  int threads_;
  std::function<bool()> cancelled_;
  std::vector<int32_t> word_ptr_, place_;  // where each word stands: [V+1], [T] ascending
  std::vector<Windows> with_word_;         // [V]
  double log_windows_ = 0;                 // of all
  std::vector<double> small_logs_;         // of 1, 2, ...
  std::vector<double> idf_;                // [V] ln(D / documents with the word)
  std::vector<double> scale_;              // [N] degree^-1/2
  std::vector<int32_t> row_ptr_;
  TextGraphCounts counts_;
};

}  // namespace kdgat::texts
