#include "fields/texts/data/text_corpus.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/arrays/index.h"
#include "engine/arrays/random.h"
#include "fields/texts/data/stop_words.h"
#include "fields/texts/data/text_graph.h"
#include "kdgat/text.h"

namespace kdgat::texts {
namespace {

constexpr std::size_t kFirstSlots = std::size_t{1} << 12;
constexpr double kShareSlack = 1e-6;  // of numbers written with few digits
constexpr uint64_t kTestStream = 21, kValStream = 22, kSubsampleStream = 23;

/// Eight bytes a step, mixed by multiplication (as wyhash does).
uint32_t hash_of(std::string_view word) {
  const auto mixed = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = 0x9E3779B97F4A7C15ULL ^ word.size();
  while (word.size() > 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, word.data(), 8);
    hash = mixed(hash ^ eight, 0xD6E8FEB86659FD93ULL);
    word.remove_prefix(8);
  }
  uint64_t rest = 0;
  if (!word.empty()) std::memcpy(&rest, word.data(), word.size());
  hash = mixed(hash ^ rest, 0xA0761D6478BD642FULL);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

using DocumentIds = std::vector<int64_t>;

/// Takes `share` of `ids` away, in a seeded order: of each class, or of all as if of one.
DocumentIds take_share(DocumentIds& ids, const TextCorpus& corpus, double share, bool by_class,
                       arrays::Random random) {
  std::vector<DocumentIds> groups(by_class ? corpus.classes.size() : 1);
  for (const int64_t id : ids)
    groups[by_class ? arrays::at(corpus.label[arrays::at(id)]) : 0].push_back(id);
  DocumentIds taken;
  double owed = 0;  // what rounding loses in one class is made up for in the next
  ids.clear();
  for (DocumentIds& group : groups) {
    random.shuffle(group);
    owed += share * static_cast<double>(group.size());
    const auto wanted = std::clamp(std::floor(owed + 0.5), 0.0, static_cast<double>(group.size()));
    owed -= wanted;
    const auto cut = group.begin() + static_cast<std::ptrdiff_t>(wanted);
    taken.insert(taken.end(), group.begin(), cut);
    ids.insert(ids.end(), cut, group.end());
  }
  return taken;
}

/// How often each word stands in the documents that `counts`.
template <class F>
std::vector<int64_t> count_words(const TextCorpus& corpus, F counts) {
  std::vector<int64_t> out(arrays::at(corpus.words.size()), 0);
  for (std::size_t d = 0; d < corpus.label.size(); ++d) {
    if (!counts(d)) continue;
    for (int32_t p = corpus.doc_ptr[d]; p < corpus.doc_ptr[d + 1]; ++p) {
      ++out[static_cast<std::size_t>(corpus.token[static_cast<std::size_t>(p)])];
    }
  }
  return out;
}

/// The words to keep, in the order of the vocabulary.
std::vector<int32_t> chosen_words(const TextCorpus& corpus, const TextOptions& options) {
  const bool is_seed = options.cleaning == "seed";
  const std::vector<int64_t> count = count_words(
      corpus, [&](std::size_t d) { return !is_seed || corpus.part[d] == TextPart::kTrain; });
  std::vector<int32_t> order(count.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int32_t word) { return count[static_cast<std::size_t>(word)] == 0; });
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return count[static_cast<std::size_t>(a)] > count[static_cast<std::size_t>(b)];
  });
  const auto keep_most_frequent = [&](int64_t words) {
    if (options.vocab_size > 0 && words < static_cast<int64_t>(order.size())) {
      order.resize(arrays::at(std::max<int64_t>(0, words)));
    }
  };
  if (is_seed) keep_most_frequent(options.vocab_size - 2);  // as published, before the next two
  std::erase_if(order, [&](int32_t word) {
    return count[static_cast<std::size_t>(word)] < options.remove_rare_words ||
           (options.remove_stopwords && is_stop_word(corpus.words.word(word)));
  });
  if (!is_seed) keep_most_frequent(options.vocab_size);
  return order;
}

}  // namespace

std::vector<Diagnostic> TextOptions::validate() const {
  if (tvt_split.empty()) return {};
  const std::string key = "tvt_split: ";
  const std::string hint = "three shares, of train, val and test: [0.7,0.2,0.1], [0.8,0,0.2]";
  if (tvt_split.size() != 3) {
    return {{"", key + std::to_string(tvt_split.size()) + " shares", hint}};
  }
  double sum = 0;
  for (const double share : tvt_split) {
    if (!(share >= 0 && share <= 1))
      return {{"", key + format_number("%g", share) + " is not a share", hint}};
    sum += share;
  }
  if (std::abs(sum - 1) > kShareSlack) {
    return {{"", key + "the shares add up to " + format_number("%g", sum) + ", not 1", hint}};
  }
  if (tvt_split[0] == 0) return {{"", key + "nothing would be left to train on", hint}};
  return {};
}

int32_t WordTable::add(std::string_view word) {
  if (2 * (end_.size() + 1) > slots_.size()) grow();
  const uint32_t hash = hash_of(word);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.number < 0) {
      slot = {hash, static_cast<int32_t>(end_.size())};
      text_ += word;
      end_.push_back(text_.size());
      require_index_sizes(0, size(), 0);
      return slot.number;
    }
    if (slot.hash == hash && this->word(slot.number) == word) return slot.number;
  }
}

void WordTable::grow() {
  std::vector<Slot> old(std::max(kFirstSlots, 2 * slots_.size()));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number < 0) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].number >= 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

std::vector<bool> divide(TextCorpus& corpus, const TextOptions& options, double val_fraction,
                         double test_fraction, int64_t seed, bool by_class) {
  const auto stream = [seed](uint64_t number) {
    return arrays::Random(static_cast<uint64_t>(seed), number);
  };
  if (!options.tvt_split.empty()) {
    const std::vector<double>& shares = options.tvt_split;
    std::fill(corpus.part.begin(), corpus.part.end(), TextPart::kNone);
    test_fraction = shares[2];
    val_fraction = shares[1] / (shares[0] + shares[1]);
  }
  DocumentIds rest;  // what the files do not say
  bool has_val = false, has_test = false;
  for (int64_t d = 0; d < corpus.documents(); ++d) {
    const TextPart part = corpus.part[arrays::at(d)];
    has_val = has_val || part == TextPart::kVal;
    has_test = has_test || part == TextPart::kTest;
    if (part == TextPart::kNone || part == TextPart::kTrain) rest.push_back(d);
  }
  const auto assign = [&](const DocumentIds& ids, TextPart part) {
    for (const int64_t id : ids) corpus.part[arrays::at(id)] = part;
  };
  if (!has_test) {
    assign(take_share(rest, corpus, test_fraction, by_class, stream(kTestStream)), TextPart::kTest);
  }
  if (!has_val) {
    assign(take_share(rest, corpus, val_fraction, by_class, stream(kValStream)), TextPart::kVal);
  }
  assign(rest, TextPart::kTrain);
  if (rest.empty()) {
    throw Error(ExitCode::kData, "no document is left to train on",
                "smaller: val_fraction and test_fraction, or set tvt_split");
  }
  std::vector<bool> is_trained(arrays::at(corpus.documents()), false);
  if (options.train_subsample < 1) {
    rest = take_share(rest, corpus, options.train_subsample, by_class, stream(kSubsampleStream));
  }
  if (rest.empty()) {
    throw Error(ExitCode::kData, "train_subsample: no document is left to train on");
  }
  for (const int64_t id : rest) is_trained[arrays::at(id)] = true;
  return is_trained;
}

int64_t choose_vocabulary(TextCorpus& corpus, const TextOptions& options,
                          std::vector<bool>& is_trained) {
  const std::vector<int32_t> chosen = chosen_words(corpus, options);
  if (chosen.empty() && corpus.is_foreign && options.cleaning != "none") {
    throw Error(ExitCode::kData,
                "no word is left: cleaning=" + options.cleaning +
                    " keeps letters from a to z alone, and most texts are in other letters",
                "data.cleaning=none keeps words as they are written");
  }
  if (chosen.empty()) {
    throw Error(ExitCode::kData, "no word is left in the vocabulary",
                "smaller: data.remove_rare_words; data.vocab_size=0 keeps all words");
  }
  std::vector<int32_t> number(arrays::at(corpus.words.size()), -1);
  for (std::size_t w = 0; w < chosen.size(); ++w) {
    number[static_cast<std::size_t>(chosen[w])] = static_cast<int32_t>(w);
    corpus.vocabulary.emplace_back(corpus.words.word(chosen[w]));
  }
  corpus.words = WordTable();

  // Words that go are squeezed out of where they stand; then documents are put in order.
  const bool drops_empty = options.cleaning == "seed";
  std::vector<int32_t> begin(corpus.label.size()), length(corpus.label.size());
  DocumentIds order;
  for (std::size_t d = 0; d < corpus.label.size(); ++d) {
    begin[d] = corpus.doc_ptr[d];
    for (int32_t p = corpus.doc_ptr[d]; p < corpus.doc_ptr[d + 1]; ++p) {
      const int32_t word =
          number[static_cast<std::size_t>(corpus.token[static_cast<std::size_t>(p)])];
      if (word < 0 || (options.max_len > 0 && length[d] == options.max_len)) continue;
      const int32_t to = begin[d] + length[d]++;
      corpus.token[static_cast<std::size_t>(to)] = word;
    }
    corpus.empty += length[d] == 0 ? 1 : 0;
    if (length[d] > 0 || !drops_empty) order.push_back(static_cast<int64_t>(d));
  }
  int64_t first = static_cast<int64_t>(order.size());
  if (options.node_order == "train-words-test") {
    const auto test = std::stable_partition(order.begin(), order.end(), [&](int64_t d) {
      return corpus.part[arrays::at(d)] != TextPart::kTest;
    });
    first = test - order.begin();
  }
  const auto picked = [&](const auto& values) {
    std::decay_t<decltype(values)> out;
    out.reserve(order.size());
    for (const int64_t d : order) out.push_back(values[arrays::at(d)]);
    return out;
  };
  std::vector<int32_t> token, doc_ptr{0};
  token.reserve(
      static_cast<std::size_t>(std::accumulate(length.begin(), length.end(), int64_t{0})));
  for (const int64_t d : order) {
    const auto from = corpus.token.begin() + begin[arrays::at(d)];
    token.insert(token.end(), from, from + length[arrays::at(d)]);
    doc_ptr.push_back(static_cast<int32_t>(token.size()));
  }
  corpus.token = std::move(token);
  corpus.doc_ptr = std::move(doc_ptr);
  corpus.label = picked(corpus.label);
  corpus.part = picked(corpus.part);
  corpus.source = picked(corpus.source);
  corpus.row = picked(corpus.row);
  is_trained = picked(is_trained);
  return first;
}

}  // namespace kdgat::texts
