#include "fields/texts/data/synth_text.h"

#include <algorithm>
#include <cstdio>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::texts {
namespace {

constexpr uint64_t kTextStream = 13;
constexpr uint64_t kTopicWords = 192;    // of a class
constexpr uint64_t kCommonWords = 2048;  // of all

/// A number below `count`, a power of two; small ones are more frequent, about as 1/(1+n). Of whole
/// numbers alone, so that it is the same everywhere.
uint64_t zipf(arrays::Random& random, uint64_t count) {
  int levels = 0;
  while ((uint64_t{1} << levels) < count) ++levels;
  const uint64_t level = random.below(static_cast<uint64_t>(levels) + 1);
  return std::min(count - 1, random.below(uint64_t{1} << level));
}

/// The word of that number: one syllable for the first, four for the last.
std::string made_up_word(uint64_t number) {
  constexpr const char* kConsonants[] = {"b", "d", "f", "g", "k", "l", "m",  "n",
                                         "p", "r", "s", "t", "v", "z", "br", "st"};
  constexpr const char* kVowels[] = {"a", "e", "i", "o", "u", "ai", "ou", "ei"};
  std::string word;
  for (number += 9; number > 0; number /= 128) {
    word += kConsonants[number % 16];
    word += kVowels[number / 16 % 8];
  }
  return word;
}

std::string common_word(arrays::Random& random) {
  constexpr const char* kStops[] = {"the", "of", "and", "to", "in", "a", "is", "it's"};
  if (random.below(3) == 0) return kStops[random.below(std::size(kStops))];
  return made_up_word(zipf(random, kCommonWords));
}

/// A word of the topic of `of_class`; half of the words of all topics are the same.
std::string topic_word(arrays::Random& random, int64_t of_class) {
  const uint64_t number = zipf(random, kTopicWords);
  const uint64_t topic = number % 2 == 0 ? 0 : 1 + static_cast<uint64_t>(of_class);
  return made_up_word(kCommonWords + topic * kTopicWords + number);
}

}  // namespace

std::string synthetic_text(const data::SynthSize& options, int64_t document) {
  arrays::Random random(arrays::Random(static_cast<uint64_t>(options.seed), kTextStream).next(),
                        static_cast<uint64_t>(document));
  const int64_t of_class = document % options.classes;
  const int64_t words =
      std::max<int64_t>(4, options.nodes * (60 + static_cast<int64_t>(random.below(81))) / 100);
  std::string text;
  int64_t in_sentence = 0;
  for (int64_t w = 0; w < words; ++w) {
    std::string word;
    if (random.below(3) == 0) {
      const bool is_next = random.below(4) == 0;
      word = topic_word(random, is_next ? (of_class + 1) % options.classes : of_class);
    } else {
      word = common_word(random);
    }
    if (in_sentence++ == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
    if (!text.empty()) text += ' ';
    text += word;
    if (in_sentence > 5 && random.below(6) == 0) {
      text += random.below(5) == 0 ? '!' : '.';
      in_sentence = 0;
    } else if (random.below(12) == 0) {
      text += ',';
    } else if (random.below(80) == 0) {
      text += " http://www." + made_up_word(random.below(kCommonWords)) + ".org/" +
              std::to_string(random.below(1000));
    }
  }
  return text;
}

void write_synthetic_texts(const std::filesystem::path& folder, const data::SynthSize& options,
                           const std::function<bool()>& cancelled) {
  data::make_folder(folder);
  std::string train, test;
  for (int64_t document = 0; document < options.graphs; ++document) {
    if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
    const bool tests = document / options.classes % 3 == 2;
    (tests ? test : train) += "topic_" + std::to_string(document % options.classes) + "\t" +
                              synthetic_text(options, document) + "\n";
  }
  write_file(folder / "corpus.train.en", train);
  write_file(folder / "corpus.test.en", test);
}

}  // namespace kdgat::texts
