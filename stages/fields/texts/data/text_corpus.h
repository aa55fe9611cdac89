// TextCorpus: documents as numbers of words, labels and where they came from; read, divided into
// parts and cut down to a vocabulary, in this order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fields/texts/data/text_options.h"

namespace kdgat::texts {

enum class TextPart : int8_t { kNone = -1, kTrain, kVal, kTest };
inline constexpr const char* kTextParts[] = {"train", "val", "test"};

/// Different words, numbered as they come. The words stand one behind the other in one string.
class WordTable {
 public:
  /// The number of `word`; a new one is added.
  int32_t add(std::string_view word);
  int64_t size() const { return static_cast<int64_t>(end_.size()); }
  std::string_view word(int64_t number) const {
    const auto n = static_cast<std::size_t>(number);
    const std::size_t begin = n == 0 ? 0 : end_[n - 1];
    return std::string_view(text_).substr(begin, end_[n] - begin);
  }

 private:
  void grow();

  struct Slot {
    uint32_t hash = 0;
    int32_t number = -1;
  };
  std::string text_;
  std::vector<std::size_t> end_;
  std::vector<Slot> slots_;  // a power of two of them, at most half in use
};

/// D documents of T tokens.
struct TextCorpus {
  WordTable words;                      ///< before the vocabulary is chosen; what token counts
  std::vector<int32_t> token;           ///< [T]
  std::vector<int32_t> doc_ptr{0};      ///< [D+1]
  std::vector<int32_t> label;           ///< [D] into classes
  std::vector<TextPart> part;           ///< [D] as the files say, kNone = they do not
  std::vector<int32_t> source, row;     ///< [D] which file, and its line or number there
  std::vector<std::string> classes;     ///< ascending
  std::vector<std::string> vocabulary;  ///< once it is chosen: what token counts then
  int64_t empty = 0;                    ///< documents without a word, left out or kept
  bool is_foreign = false;              ///< most letters are none of a to z

  int64_t documents() const { return static_cast<int64_t>(label.size()); }
};

/// Sets `part` of every document: by tvt_split, else as the files say, with a share of the others
/// for validation and, if none is for testing, for that. Shares are of each class, rounded so that
/// they add up, or with split=random of all. Gives the documents whose label is used in training:
/// train_subsample of them. Throws Error(kData) if no document is left to train on.
std::vector<bool> divide(TextCorpus& corpus, const TextOptions& options, double val_fraction,
                         double test_fraction, int64_t seed, bool by_class);

/// Chooses the vocabulary, most frequent words first (ties: as they come), and leaves out all other
/// words; with cleaning=seed also documents without one. Documents are put in the order of their
/// nodes; `is_trained` follows. Gives the number of documents that stand before the words. Throws
/// Error(kData) if no word is left.
int64_t choose_vocabulary(TextCorpus& corpus, const TextOptions& options,
                          std::vector<bool>& is_trained);

}  // namespace kdgat::texts
