// The command line: reads its words, finds the verb in the list it is handed
// (pipeline/verbs/verbs.h), loads what the verb needs and runs it. Knows no verb by name.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/command_form.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// What a verb needs before it can run, in rising order of cost.
enum class Needs { kNothing, kCatalog, kPlugins };

/// What every verb gets. Results go to `out`, everything else to `err`.
struct Context {
  std::ostream& out;
  std::ostream& err;
  PluginCatalog catalog;                              ///< filled if the verb needs it
  std::vector<std::filesystem::path> plugin_folders;  ///< from --plugin-dir
  bool json = false;
  int verbosity = 0;           ///< -q -1, -v +1
  std::vector<int> positions;  ///< of each argument after the verb on the command line
  /// What a verb told of as an error without throwing; said again as JSON under --json.
  std::shared_ptr<std::vector<Failure>> failures = std::make_shared<std::vector<Failure>>();
  /// Where set, words are not read: what they may be is put there and FormAsked is thrown.
  CommandForm* asked = nullptr;

  /// "command line, argument 4" for the argument with this index.
  std::string place(size_t index) const;
};

/// Tells people on standard error what a verb does.
std::unique_ptr<Status> terminal_status(const Context& context);
/// `status`, which also keeps what it tells as errors in context.failures.
std::unique_ptr<Status> noting_failures(const Context& context, std::unique_ptr<Status> status);

/// What `kdgat VERB ARGUMENTS --help` prints.
using Help = std::function<std::string(const std::vector<std::string>& arguments,
                                       const PluginCatalog& catalog)>;

/// The same text whatever the arguments.
Help help_text(const char* text);

struct Verb {
  std::string name;
  std::string summary;
  Needs needs = Needs::kNothing;
  /// Arguments after the verb. Returns the exit code; throws Error.
  std::function<int(Context&, const std::vector<std::string>&)> run;
  Help help;  ///< empty: the verb answers --help itself
  bool hidden = false;
  /// What a word that is no verb may be of this one: "run --preset smoke"; "" if nothing.
  std::function<std::string(const std::string& word, const PluginCatalog& catalog)> meant{};
};

/// What may be typed after `words`, which come after the verb. Nothing is run; of words that the
/// verb does not understand, and of a hidden verb, the form is empty.
CommandForm form_of(const Verb& verb, const Context& context,
                    const std::vector<std::string>& words);

/// The documented exit codes, with what each means.
std::string exit_codes_text();
/// What `kdgat --help` prints.
std::string program_help(const std::vector<Verb>& verbs);

/// Parses and runs one command; prints errors to `err`, under --json as one line of JSON at its end
/// (json_error.h); results that cannot be written to `out` are an error. Never throws.
int run_command(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments,
                std::ostream& out, std::ostream& err);

}  // namespace kdgat
