// The words behind --alarm, taken apart: a kind, where to, options. Owns the words of one sink;
// knows no kind.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/show/quantity.h"

namespace kdgat {

/// Where the options of a kind stand.
enum class OptionsAt {
  kBehind,  ///< kind:target,key=value
  kBefore,  ///< kind,key=value:target; the target may hold anything
  kQuery,   ///< kind://target?key=value&key=value
};

class AlarmWords {
 public:
  /// `form`: how words of the kind look, for messages. Throws Error(kUsage) for what is no option.
  AlarmWords(const std::string& words, OptionsAt options, std::string form);

  /// The words without what stands before the colon, and without options; "" if there are none.
  const std::string& target() const { return target_; }

  /// An option that the kind has; every one must be asked for once, so that others are found.
  std::string option(const std::string& key, const std::string& otherwise);
  /// A whole number within bounds.
  int number(const std::string& key, int otherwise, int least, int most);
  /// "30s", "5min", "1h" or plain seconds; more than none, a day at most.
  double seconds(const std::string& key, double otherwise);
  /// "10/min", a whole number in any stretch of that length. `otherwise` may be "": no limit.
  std::optional<Rate> rate(const std::string& otherwise);

  /// Throws Error(kUsage) for an option that nobody asked for.
  void check_all_known() const;

  /// Throws Error(kUsage): the words, without secrets, why, and the form.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void add_option(const std::string& text);

  std::string words_, form_, target_;
  std::map<std::string, std::string> options_;
  std::set<std::string> known_;
};

/// "stdout" of "stdout,rate=1/s", "mqtt" of "mqtt://host/topic".
std::string alarm_kind_of(const std::string& words);

/// The whole number a text is, within bounds.
std::optional<int> whole_number(const std::string& text, int least, int most);

/// %41 as A; nullopt where % is not followed by two digits, or stands for a zero byte.
std::optional<std::string> percent_decoded(const std::string& text);

/// Words between blanks; one in quotes, single or double, may hold blanks. nullopt for a quote that
/// is never closed. Nothing else is special: this is no shell.
std::optional<std::vector<std::string>> words_between_blanks(const std::string& text);

}  // namespace kdgat
