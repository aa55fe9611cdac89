// What may be typed after a verb, as the verb declares it to CommandLine: the one place that
// completions are made from.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/plugin/schema.h"

namespace kdgat {

/// What a shell offers for a word or the value of a flag.
struct Offer {
  /// Runs also by their folders.
  enum Kind { kFiles, kRuns, kPresets, kSites, kStages, kCards, kVerbs };
  std::vector<Kind> kinds;
  std::vector<std::string> words;  ///< further ones, as they are typed

  Offer() = default;
  Offer(Kind kind) : kinds{kind} {}
  explicit Offer(std::vector<std::string> all) : words(std::move(all)) {}
  Offer(std::initializer_list<Kind> all) : kinds(all) {}
  Offer(std::initializer_list<const char*> all) : words(all.begin(), all.end()) {}
  Offer(Kind kind, std::initializer_list<const char*> all)
      : kinds{kind}, words(all.begin(), all.end()) {}
};

struct CommandForm {
  struct Flag {
    std::vector<std::string> names;  ///< "-o", "--output"
    bool takes_value = false;
    Offer offer{};  ///< of its value
  };
  /// An option that a schema describes: a flag and a key.
  struct Option {
    std::string key;
    OptionSchema option;

    bool takes_value() const { return option.type != "boolean"; }  ///< as a flag
  };

  std::string called;                ///< "kdgat data import"
  std::vector<std::string> actions;  ///< of a verb that needs one of these next; then no more here
  std::vector<Flag> flags;
  std::vector<Option> options;
  bool takes_keys = false;   ///< options also as key=value
  bool of_profile = false;   ///< options are those of any stage, and of steps of a profile
  std::vector<Offer> words;  ///< of the words that belong to no flag, in their order
  Offer further{};           ///< of all words after those
};

/// Thrown in place of reading words where Context::asked is set and filled. Not an exception that
/// anybody else catches.
struct FormAsked {};

}  // namespace kdgat
