// The graph of a corpus as its definition says: every window is made, every pair of places in it is
// counted, and the matrix is dense. Slow and large; for comparison with
// fields/texts/data/text_graph.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "fields/texts/data/text_graph.h"

namespace kdgat::test {

/// Documents of words 0 .. words-1.
struct SmallCorpus {
  std::vector<std::vector<int32_t>> documents;
  int64_t words = 0;

  std::vector<int32_t> token, doc_ptr;  ///< of tokens()
  /// Views of this corpus, which must live on.
  texts::TextTokens tokens(int64_t first_documents, int64_t window) {
    token.clear();
    doc_ptr = {0};
    for (const auto& document : documents) {
      token.insert(token.end(), document.begin(), document.end());
      doc_ptr.push_back(static_cast<int32_t>(token.size()));
    }
    return {token, doc_ptr, words, first_documents, window};
  }
};

/// `length` words at most a document, some of them empty; small numbers are more frequent.
inline SmallCorpus random_corpus(int64_t documents, int64_t words, int64_t length,
                                 arrays::Random& random) {
  SmallCorpus out;
  out.words = words;
  for (int64_t d = 0; d < documents; ++d) {
    auto& document = out.documents.emplace_back();
    for (uint64_t left = random.below(static_cast<uint64_t>(length) + 1); left > 0; --left) {
      const uint64_t most = 1 + random.below(static_cast<uint64_t>(words));
      document.push_back(static_cast<int32_t>(random.below(most)));
    }
  }
  return out;
}

struct DenseTextGraph {
  std::vector<std::vector<double>> a;  ///< [N][N] before normalisation, with loops
  std::vector<std::vector<double>> s;  ///< D^-1/2 A D^-1/2
  int64_t windows = 0, pairs = 0;
};

inline DenseTextGraph reference_text_graph(const SmallCorpus& corpus, int64_t first_documents,
                                           int64_t window) {
  const auto documents = static_cast<int64_t>(corpus.documents.size());
  const auto at = [](int64_t i) { return static_cast<std::size_t>(i); };
  const auto nodes = at(documents + corpus.words);
  DenseTextGraph out;
  out.a.assign(nodes, std::vector<double>(nodes, 0));

  std::vector<std::vector<int32_t>> windows;
  for (const auto& document : corpus.documents) {
    const auto length = static_cast<int64_t>(document.size());
    if (length <= window) {
      windows.push_back(document);
    } else {
      for (int64_t start = 0; start + window <= length; ++start) {
        windows.emplace_back(document.begin() + start, document.begin() + start + window);
      }
    }
  }
  std::map<int32_t, int64_t> holding;
  std::map<std::pair<int32_t, int32_t>, int64_t> together;
  for (const auto& one : windows) {
    for (const int32_t word : std::set<int32_t>(one.begin(), one.end())) ++holding[word];
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t j = i + 1; j < one.size(); ++j) {
        if (one[i] != one[j]) ++together[std::minmax(one[i], one[j])];
      }
    }
  }
  out.windows = static_cast<int64_t>(windows.size());
  out.pairs = static_cast<int64_t>(together.size());
  const auto word_node = [&](int64_t word) { return at(first_documents + word); };
  for (const auto& [pair, count] : together) {
    const double pmi = std::log(
        static_cast<double>(count) * static_cast<double>(windows.size()) /
        (static_cast<double>(holding[pair.first]) * static_cast<double>(holding[pair.second])));
    if (pmi <= 0) continue;
    out.a[word_node(pair.first)][word_node(pair.second)] = pmi;
    out.a[word_node(pair.second)][word_node(pair.first)] = pmi;
  }

  std::vector<int64_t> with_word(at(corpus.words), 0);
  for (const auto& document : corpus.documents) {
    for (const int32_t word : std::set<int32_t>(document.begin(), document.end())) {
      ++with_word[at(word)];
    }
  }
  for (int64_t d = 0; d < documents; ++d) {
    const std::size_t node = at(d < first_documents ? d : d + corpus.words);
    const auto& document = corpus.documents[at(d)];
    for (const int32_t word : std::set<int32_t>(document.begin(), document.end())) {
      const double times = static_cast<double>(std::count(document.begin(), document.end(), word));
      const double tfidf = times * std::log(static_cast<double>(documents) /
                                            static_cast<double>(with_word[at(word)]));
      out.a[node][word_node(word)] = out.a[word_node(word)][node] = tfidf;
    }
  }

  std::vector<double> scale(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    out.a[n][n] = 1;
    double degree = 0;
    for (const double weight : out.a[n]) degree += weight;
    scale[n] = 1 / std::sqrt(degree);
  }
  out.s = out.a;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) out.s[i][j] *= scale[i] * scale[j];
  }
  return out;
}

}  // namespace kdgat::test
