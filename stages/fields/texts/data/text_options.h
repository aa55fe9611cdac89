// Options of imports of texts.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/import_options.h"
#include "kdgat/options.h"

namespace kdgat::texts {

struct TextOptions {
  std::string text_column = "text";
  std::string cleaning = "original";
  bool remove_stopwords = true;
  int64_t remove_rare_words = 5;
  int64_t vocab_size = 0;
  int64_t max_len = 0;
  int64_t word_window = 20;
  std::string node_order = "documents-words";
  std::vector<double> tvt_split;
  double train_subsample = 1;
  int64_t build_memory_mb = 64;
  int64_t build_threads = 0;

  static auto table() {
    using O = TextOptions;
    return std::tuple{
        field("text_column", &O::text_column, "Texts in a CSV: the column of the text."),
        field("cleaning", &O::cleaning,
              "Texts: original keeps the published tokens, vocabulary of all documents; seed drops "
              "URLs, encoded files and punctuation, vocabulary of the training documents alone, no "
              "empty document; none keeps words as they are.")
            .choices({"original", "seed", "none"}),
        field("remove_stopwords", &O::remove_stopwords,
              "Texts: leave out the 179 English stop words of NLTK."),
        field("remove_rare_words", &O::remove_rare_words,
              "Texts: leave out words that occur less often; 0 = none.")
            .range(0, 1 << 30),
        field("vocab_size", &O::vocab_size,
              "Texts: keep so many words, the most frequent; 0 = all. With cleaning=seed as "
              "published: two fewer, taken before stop words and rare words are left out.")
            .range(0, 1 << 30),
        field("max_len", &O::max_len, "Texts: keep so many words of a document; 0 = all.")
            .range(0, 1 << 30),
        field("word_window", &O::word_window,
              "Texts: words that occur in one window of so many are counted together.")
            .range(2, 1 << 16),
        field("node_order", &O::node_order,
              "Texts: documents-words, or as first published train-words-test, where words come "
              "between the documents for training and those for testing.")
            .choices({"documents-words", "train-words-test"}),
        field("tvt_split", &O::tvt_split,
              "Texts: shares of train, val and test of all documents, e.g. [0.7,0.2,0.1]; empty = "
              "as the files say, with val_fraction and test_fraction for what they do not."),
        field("train_subsample", &O::train_subsample,
              "Texts: share of the training documents whose label is used.")
            .range(0.0, 1.0),
        field("build_memory_mb", &O::build_memory_mb,
              "Texts: MiB of the graph that are in memory at once while it is made.")
            .range(1, 1 << 20)
            .runtime(),
        field("build_threads", &O::build_threads,
              "Texts: threads that make the graph; 0 = as many as this process may use.")
            .range(0, 1024)
            .runtime()};
  }

  /// Shares that are no shares, or do not add up to 1.
  std::vector<Diagnostic> validate() const;
};

/// All options that matter to texts.
struct TextImportOptions : data::SharedOptions, data::LabelOptions, TextOptions {
  static auto table() {
    return std::tuple_cat(std::tuple{format_row(), strict_row(), label_row()}, split_rows(),
                          TextOptions::table());
  }
};

}  // namespace kdgat::texts
