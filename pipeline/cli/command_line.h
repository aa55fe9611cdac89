// Reads words of a command line with CLI11, whose only user this is. Knows the form of flags; what
// they mean is said by the verb that declares them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/cli/command_form.h"

namespace kdgat {

/// A verb, or an action of one, and what stands after it.
struct Command {
  std::string name;                ///< "" if the words do not begin with a known name
  std::vector<std::string> words;  ///< after the name; without one all of them
  bool help = false, version = false;
};

/// Finds which of `names` comes first. Global options are taken into `context`, wherever they
/// stand; context.positions become those of Command::words.
Command read_command(Context& context, const std::vector<std::string>& words,
                     const std::vector<std::string>& names);
/// The same for the actions of a verb: throws Error(kUsage) without one, unless help is asked for.
Command read_action(Context& context, const std::string& verb,
                    const std::vector<std::string>& words, const std::vector<std::string>& names);

/// "did you mean NEAREST?", or "see OTHERWISE".
std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise);

/// Of every stage there is, for suggestion().
std::vector<std::string> stage_names(const PluginCatalog& catalog);

/// What the words after a verb or an action may be. Declare, then read once.
class CommandLine {
 public:
  using Use = std::function<void(const std::string& value)>;

  /// `called` is how a user types it: "kdgat data import".
  CommandLine(const Context& context, std::string called)
      : context_(context), called_(std::move(called)) {}

  /// A flag without a value. `names` as "-n,--dry-run".
  void flag(const std::string& names, bool& is_set);
  /// A flag with one value, which may be said again.
  void value(const std::string& names, Use use, Offer offer = {});
  void value(const std::string& names, std::string& to, Offer offer = {});
  /// One word that belongs to no flag; the first one declared is the first one said.
  void word(std::string& to, Offer offer = {});
  /// All further words that belong to no flag.
  void words(Use use, Offer offer = {});

  /// Options that schemas describe, each a flag: a boolean takes a value or none, a list of numbers
  /// several, any other one. They are given to CLI11 as they are named, for there may be hundreds.
  struct Options {
    /// The schema of a key ("classifier.lr"); nullptr if there is no such option.
    std::function<const nlohmann::json*(const std::string& key)> schema;
    /// Keys for the hint at an unknown one.
    std::function<std::vector<std::string>()> keys;
    std::function<void(const std::string& key, const std::string& value)> set;
    bool also_as_keys = false;  ///< words() takes them as key=value, too
    bool of_profile = false;    ///< see CommandForm
  };
  void options(Options options) { options_ = std::move(options); }
  /// Those of one schema, by their own names and aliases: what is said is checked, and stands in
  /// `to` by own name. Gives what does so, for options that are said in another form as well; it is
  /// to be called while words are read. `schema` and `to` must outlive this.
  using Set = std::function<void(const std::string& key, const std::string& text)>;
  Set options_of(const nlohmann::json& schema, nlohmann::json& to, bool also_as_keys = false);

  /// Calls what was declared, in the order of the words, and returns every problem. Throws
  /// FormAsked where the context asks for the form.
  std::vector<Diagnostic> read(const std::vector<std::string>& words);
  /// The same; throws Error(kUsage) with every problem.
  void parse(const std::vector<std::string>& words);

  /// Of the word being used: "command line, argument 4".
  const std::string& place() const { return place_; }
  /// Adds a problem with the word being used.
  void problem(const std::string& message, const std::string& hint = "");

 private:
  enum class Takes { kNothing, kOne, kBoolean, kNumbers };
  struct Flag {
    std::string names;
    Takes takes = Takes::kOne;
    Use use;  ///< none: an unknown flag
    Offer offer{};
  };
  /// A flag that was said.
  struct Said {
    const Flag* flag = nullptr;
    std::optional<std::string> value;
  };

  Flag flag_named(const std::string& name);
  void fill(CommandForm& form) const;
  void use(const Said& said, const std::string& word);
  void unknown(const std::string& name);
  /// expand_home(); where it refuses the text that is a problem of the word.
  std::string with_home(const std::string& text);

  const Context& context_;
  std::string called_;
  std::vector<Flag> flags_;
  std::vector<std::string*> places_for_words_;
  std::vector<Offer> offers_;  ///< of those
  Use use_word_;
  Offer further_;
  Options options_;
  std::string place_;
  std::vector<Diagnostic> problems_;
};

}  // namespace kdgat
