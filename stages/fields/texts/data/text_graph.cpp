#include "fields/texts/data/text_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "engine/arrays/index.h"
#include "engine/arrays/threads.h"
#include "kdgat/error.h"

namespace kdgat::texts {
namespace {

constexpr int64_t kMostIndices = std::numeric_limits<int32_t>::max();
constexpr int64_t kRowsAtOnce = 16;  // of a thread: the rows of frequent words come first and cost
constexpr int64_t kWordsAtOnce = 256;  // most
constexpr int64_t kPlacesAhead = 6;    // whose tokens are fetched beforehand: they stand anywhere
constexpr int64_t kSmallLogs = 4096;   // most pairs are rare: logarithms up to here are looked up

/// The document in which `place` stands; it is `from` or a later one.
int64_t document_at(std::span<const int32_t> doc_ptr, int64_t from, int32_t place) {
  const auto first = doc_ptr.begin() + static_cast<std::ptrdiff_t>(from);
  return std::upper_bound(first, doc_ptr.end(), place) - doc_ptr.begin() - 1;
}

int64_t windows_of(int64_t length, int64_t window) {
  return std::max<int64_t>(1, length - window + 1);
}

}  // namespace

void require_index_sizes(int64_t tokens, int64_t nodes, int64_t nonzeros) {
  const auto check = [](int64_t size, const char* what) {
    if (size <= kMostIndices) return;
    throw Error(ExitCode::kData,
                std::to_string(size) + " " + what + " are more than 32 bits count, " +
                    std::to_string(kMostIndices),
                "smaller: vocab_size, remove_rare_words, max_len, word_window");
  };
  check(tokens, "words of all documents");
  check(nodes, "nodes");
  check(nonzeros, "nonzeros of the graph");
}

/// Makes the rows of A, one at a time; the working memory of one thread.
class TextGraphBuilder::Rows {
 public:
  explicit Rows(const TextGraphBuilder& builder)
      : builder_(builder),
        tokens_(builder.tokens_),
        count_(arrays::at(tokens_.words)),
        touched_(arrays::at((tokens_.words + 63) / 64)) {}

  void make(int64_t node) {
    col.clear();
    weight.clear();
    pmi_edges = pairs = 0;
    const int64_t word = node - tokens_.first_documents;
    if (word >= 0 && word < tokens_.words) {
      make_word(word);
    } else {
      make_document(word < 0 ? node : node - tokens_.words);
    }
  }

  std::vector<int32_t> col;
  std::vector<double> weight;
  int64_t pmi_edges = 0,
          pairs = 0;  ///< of a word: with so many words; with so many it shares windows

 private:
  void push(int64_t column, double a) {
    col.push_back(static_cast<int32_t>(column));
    weight.push_back(a);
  }

  void add(int32_t word, int64_t times) {
    count_[static_cast<std::size_t>(word)] += times;
    touched_[static_cast<std::size_t>(word) >> 6] |= uint64_t{1} << (word & 63);
  }

  /// Calls take(word, count) for each word that was added, ascending, and forgets them.
  template <class F>
  void take_counts(F take) {
    for (std::size_t block = 0; block < touched_.size(); ++block) {
      for (uint64_t bits = touched_[block]; bits != 0; bits &= bits - 1) {
        const std::size_t word = 64 * block + static_cast<std::size_t>(std::countr_zero(bits));
        take(static_cast<int64_t>(word), count_[word]);
        count_[word] = 0;
      }
      touched_[block] = 0;
    }
  }

  void make_document(int64_t document) {
    const int64_t self = tokens_.node_of_document(document);
    const bool is_first = document < tokens_.first_documents;
    if (is_first) push(self, 1);
    for (int32_t p = tokens_.doc_ptr[arrays::at(document)];
         p < tokens_.doc_ptr[arrays::at(document) + 1]; ++p) {
      add(tokens_.token[static_cast<std::size_t>(p)], 1);
    }
    take_counts([&](int64_t word, int64_t times) {
      const double idf = builder_.idf_[arrays::at(word)];
      if (idf > 0) push(tokens_.node_of_word(word), static_cast<double>(times) * idf);
    });
    if (!is_first) push(self, 1);
  }

  void make_word(int64_t word) {
    const int32_t* place = builder_.place_.data() + builder_.word_ptr_[arrays::at(word)];
    const int32_t* const end = builder_.place_.data() + builder_.word_ptr_[arrays::at(word) + 1];
    const double idf = builder_.idf_[arrays::at(word)];
    bool has_words = false;
    for (int64_t document = 0; place != end;) {
      document = document_at(tokens_.doc_ptr, document, *place);
      if (document >= tokens_.first_documents && !has_words) {
        later_.clear();
        has_words = true;
      }
      const int32_t begin = tokens_.doc_ptr[arrays::at(document)],
                    stop = tokens_.doc_ptr[arrays::at(document) + 1];
      int64_t times = 0;
      for (; place != end && *place < stop; ++place, ++times) {
        if (end - place > kPlacesAhead)
          __builtin_prefetch(&tokens_.token[arrays::at(place[kPlacesAhead])]);
        add_neighbours(begin, stop, *place);
      }
      if (!(idf > 0)) continue;
      const double tfidf = static_cast<double>(times) * idf;
      if (has_words) {
        later_.emplace_back(document, tfidf);
      } else {
        push(document, tfidf);
      }
    }
    add(static_cast<int32_t>(word), 1);  // so that it comes up even where no pair is with itself
    take_counts([&](int64_t other, int64_t together) { push_word(word, other, together); });
    if (!has_words) return;
    for (const auto& [document, tfidf] : later_) push(tokens_.node_of_document(document), tfidf);
  }

  void push_word(int64_t word, int64_t other, int64_t together) {
    const int64_t column = tokens_.node_of_word(other);
    if (other == word) return push(column, 1);
    ++pairs;
    // PMI = ln(together * windows / (windows of one * windows of the other)), only where it is
    // positive; whole numbers decide, so that rounding cannot.
    using Wide = unsigned __int128;
    const auto joint = static_cast<Wide>(together) * static_cast<Wide>(builder_.counts_.windows);
    const Windows& one = builder_.with_word_[arrays::at(word)];
    const Windows& two = builder_.with_word_[arrays::at(other)];
    if (joint <= static_cast<Wide>(one.count) * static_cast<Wide>(two.count)) return;
    ++pmi_edges;
    const double log_together = together < kSmallLogs ? builder_.small_logs_[arrays::at(together)]
                                                      : std::log(static_cast<double>(together));
    push(column, log_together + (builder_.log_windows_ - (one.log + two.log)));
  }

  /// Adds each pair of `place` and another within a window's reach, as often as windows hold both.
  /// Of a document of L tokens with S windows, places a < b share the windows that start at
  /// max(0, b-w+1) .. min(a, S-1).
  void add_neighbours(int64_t begin, int64_t end, int64_t place) {
    const int64_t window = tokens_.window, length = end - begin, here = place - begin;
    const int64_t last = windows_of(length, window) - 1;
    const int32_t* const token = tokens_.token.data() + begin;
    if (here >= window - 1 && here <= last) {  // no window is cut off on either side
      for (int64_t k = 1; k < window; ++k) {
        add(token[here - k], window - k);
        add(token[here + k], window - k);
      }
      return;
    }
    for (int64_t a = std::max<int64_t>(0, here - window + 1); a < here; ++a) {
      add(token[a], std::min(a, last) - std::max<int64_t>(0, here - window + 1) + 1);
    }
    for (int64_t b = here + 1; b < std::min(length, here + window); ++b) {
      add(token[b], std::min(here, last) - std::max<int64_t>(0, b - window + 1) + 1);
    }
  }

  const TextGraphBuilder& builder_;
  const TextTokens& tokens_;
  std::vector<int64_t> count_;                     // [V] zero between two rows
  std::vector<uint64_t> touched_;                  // a bit a word: whether its count is not zero
  std::vector<std::pair<int64_t, double>> later_;  // documents that come behind the words
};

TextGraphBuilder::TextGraphBuilder(const TextTokens& tokens, int threads,
                                   std::function<bool()> cancelled)
    : tokens_(tokens), threads_(threads), cancelled_(std::move(cancelled)) {
  require_index_sizes(static_cast<int64_t>(tokens.token.size()), nodes(), nodes());
  index_words();
  count_windows();
  measure_rows();
}

void TextGraphBuilder::check_cancelled() const {
  if (cancelled_ && cancelled_()) throw Error(ExitCode::kInterrupted, "interrupted");
}

/// Where each word stands, by counting.
void TextGraphBuilder::index_words() {
  word_ptr_.assign(arrays::at(tokens_.words + 1), 0);
  place_.resize(tokens_.token.size());
  for (const int32_t word : tokens_.token) ++word_ptr_[static_cast<std::size_t>(word) + 1];
  for (std::size_t w = 1; w < word_ptr_.size(); ++w) word_ptr_[w] += word_ptr_[w - 1];
  std::vector<int32_t> next(word_ptr_.begin(), word_ptr_.end() - 1);
  for (std::size_t p = 0; p < tokens_.token.size(); ++p) {
    place_[static_cast<std::size_t>(next[static_cast<std::size_t>(tokens_.token[p])]++)] =
        static_cast<int32_t>(p);
  }
}

/// Windows in all and with each word; documents with each word.
void TextGraphBuilder::count_windows() {
  const int64_t window = tokens_.window;
  for (int64_t d = 0; d < tokens_.documents(); ++d) {
    counts_.windows +=
        windows_of(tokens_.doc_ptr[arrays::at(d) + 1] - tokens_.doc_ptr[arrays::at(d)], window);
  }
  log_windows_ = std::log(static_cast<double>(std::max<int64_t>(1, counts_.windows)));
  small_logs_.resize(arrays::at(kSmallLogs));
  for (int64_t n = 1; n < kSmallLogs; ++n)
    small_logs_[arrays::at(n)] = std::log(static_cast<double>(n));
  with_word_.assign(arrays::at(tokens_.words), {});
  idf_.assign(arrays::at(tokens_.words), 0);
  const auto measure = [&](int64_t word) {
    const int32_t* place = place_.data() + word_ptr_[arrays::at(word)];
    const int32_t* const end = place_.data() + word_ptr_[arrays::at(word) + 1];
    int64_t windows = 0, documents = 0;
    for (int64_t document = 0; place != end; ++documents) {
      document = document_at(tokens_.doc_ptr, document, *place);
      const int64_t begin = tokens_.doc_ptr[arrays::at(document)],
                    stop = tokens_.doc_ptr[arrays::at(document) + 1];
      const int64_t last = windows_of(stop - begin, window) - 1;
      int64_t next = 0;  // the first window not yet counted
      for (; place != end && *place < stop; ++place) {
        const int64_t here = *place - begin;
        const int64_t first = std::max(next, here - window + 1), past = std::min(here, last) + 1;
        windows += std::max<int64_t>(0, past - first);
        next = std::max(next, past);
      }
    }
    if (documents == 0) return;  // may be where documents are cut off at max_len
    with_word_[arrays::at(word)] = {windows, std::log(static_cast<double>(windows))};
    idf_[arrays::at(word)] =
        documents == tokens_.documents()
            ? 0
            : std::log(static_cast<double>(tokens_.documents()) / static_cast<double>(documents));
  };
  arrays::for_chunks(0, tokens_.words, kWordsAtOnce, threads_,
                     [&](int, int64_t begin, int64_t end) {
                       for (int64_t word = begin; word < end; ++word) measure(word);
                     });
}

/// Lengths, degrees and sums of all rows. Sums are kept by row and added in order, so that they do
/// not depend on the threads.
void TextGraphBuilder::measure_rows() {
  struct Sums {
    int32_t length = 0;
    int32_t pmi_edges = 0;
    int32_t pairs = 0;
    double pmi = 0, pmi_max = 0, tfidf = 0, tfidf_max = 0;
  };
  std::vector<Sums> sums(arrays::at(nodes()));
  std::vector<Rows> rows(arrays::at(threads_), Rows(*this));
  scale_.assign(arrays::at(nodes()), 0);
  const auto is_word = [this](int64_t node) {
    return node >= tokens_.first_documents && node < tokens_.first_documents + tokens_.words;
  };
  arrays::for_chunks(0, nodes(), kRowsAtOnce, threads_,
                     [&](int thread, int64_t begin, int64_t end) {
                       check_cancelled();
                       Rows& row = rows[arrays::at(thread)];
                       for (int64_t node = begin; node < end; ++node) {
                         row.make(node);
                         Sums& own = sums[arrays::at(node)];
                         own.length = static_cast<int32_t>(row.col.size());
                         own.pmi_edges = static_cast<int32_t>(row.pmi_edges);
                         own.pairs = static_cast<int32_t>(row.pairs);
                         double degree = 0;
                         for (std::size_t e = 0; e < row.col.size(); ++e) {
                           const double a = row.weight[e];
                           degree += a;
                           if (row.col[e] == node) continue;
                           const bool is_pmi = is_word(node) && is_word(row.col[e]);
                           (is_pmi ? own.pmi : own.tfidf) += a;
                           double& most = is_pmi ? own.pmi_max : own.tfidf_max;
                           most = std::max(most, a);
                         }
                         scale_[arrays::at(node)] =
                             1 / std::sqrt(degree);  // a degree is at least the 1 of the loop
                       }
                     });
  double pmi = 0, tfidf = 0;
  for (const Sums& own : sums) {
    counts_.nonzeros += own.length;
    counts_.pmi_edges += own.pmi_edges;
    counts_.pairs += own.pairs;
    counts_.pmi_max = std::max(counts_.pmi_max, own.pmi_max);
    counts_.tfidf_max = std::max(counts_.tfidf_max, own.tfidf_max);
    pmi += own.pmi;
    tfidf += own.tfidf;
  }
  counts_.pairs /= 2;
  counts_.tfidf_edges = counts_.nonzeros - counts_.pmi_edges - nodes();
  if (counts_.pmi_edges > 0) counts_.pmi_mean = pmi / static_cast<double>(counts_.pmi_edges);
  if (counts_.tfidf_edges > 0) {
    counts_.tfidf_mean = tfidf / static_cast<double>(counts_.tfidf_edges);
  }
  require_index_sizes(0, 0, counts_.nonzeros);
  row_ptr_.assign(arrays::at(nodes() + 1), 0);
  for (std::size_t n = 0; n < sums.size(); ++n) row_ptr_[n + 1] = row_ptr_[n] + sums[n].length;
}

void TextGraphBuilder::fill(int64_t begin, int64_t end, int32_t* col, float* value) const {
  std::vector<Rows> rows(arrays::at(threads_), Rows(*this));
  const int32_t start = row_ptr_[arrays::at(begin)];
  arrays::for_chunks(
      begin, end, kRowsAtOnce, threads_, [&](int thread, int64_t first, int64_t past) {
        check_cancelled();
        Rows& row = rows[arrays::at(thread)];
        for (int64_t node = first; node < past; ++node) {
          row.make(node);
          const std::ptrdiff_t to = row_ptr_[arrays::at(node)] - start;
          std::copy(row.col.begin(), row.col.end(), col + to);
          for (std::size_t e = 0; e < row.col.size(); ++e) {
            // The product of the scales first: the same number for (i,j) and (j,i).
            const double scale =
                scale_[arrays::at(node)] * scale_[static_cast<std::size_t>(row.col[e])];
            value[to + static_cast<std::ptrdiff_t>(e)] = static_cast<float>(row.weight[e] * scale);
          }
        }
      });
}

}  // namespace kdgat::texts
