#include "pipeline/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <list>
#include <map>

#include "pipeline/plugin/schema.h"
#include "pipeline/show/text.h"
#include "pipeline/system/home_path.h"

namespace kdgat {

namespace {

using Words = std::vector<std::string>;

/// Longer than any list of numbers, and not what CLI11 takes for "no end".
constexpr int kManyValues = 1 << 16;

/// CLI11 takes words from the back.
void parse_with(CLI::App& app, const Words& words) {
  try {
    app.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& e) {
    throw Error(ExitCode::kUsage, e.what(), "see kdgat --help");
  }
}

bool is_number(const std::string& word) { return plain_scalar(word).value.is_number(); }

/// Flags take the published spellings of truth too; profiles do not. "" for other words.
std::string truth_of(const std::string& word) {
  static const std::map<std::string, std::string> truths = {
      {"true", "true"},   {"True", "true"},   {"TRUE", "true"},   {"1", "true"},  {"yes", "true"},
      {"false", "false"}, {"False", "false"}, {"FALSE", "false"}, {"0", "false"}, {"no", "false"}};
  const auto found = truths.find(word);
  return found == truths.end() ? "" : found->second;
}

bool looks_like_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// `word` is one of the comma-separated `names`, with or without a value in the same word.
bool says(const std::string& word, const std::string& names) {
  for (const std::string& name : CLI::detail::split(names, ',')) {
    const bool is_short = name.size() == 2;
    if (word.rfind(name, 0) == 0 &&
        (word.size() == name.size() || is_short || word[name.size()] == '=')) {
      return true;
    }
  }
  return false;
}

}  // namespace

Command read_command(Context& context, const Words& words, const Words& names) {
  CLI::App app;
  app.set_help_flag("");
  Command command;
  const auto add_global_options = [&](CLI::App& to) {
    to.add_flag_callback("--json", [&] { context.json = true; });
    to.add_flag_callback("-h,--help", [&] { command.help = true; });
    const auto say = [&](std::int64_t by) { context.verbosity += static_cast<int>(by); };
    to.add_flag_function("-q,--quiet", [say](std::int64_t times) { say(-times); });
    to.add_flag_function("-v,--verbose", say);
    const auto add_folder = [&](const std::string& folder) {
      if (folder.empty()) throw Error(ExitCode::kUsage, "--plugin-dir needs a folder");
      context.plugin_folders.push_back(folder);
    };
    to.add_option_function<std::string>("--plugin-dir", add_folder)
        ->expected(0, 1)
        ->trigger_on_parse();
  };
  add_global_options(app);
  app.add_flag("--version", command.version);
  app.require_subcommand(0, 1);
  for (const std::string& name : names) {
    CLI::App& sub = *app.add_subcommand(name)->allow_extras();
    sub.set_help_flag("");
    add_global_options(sub);
  }
  app.prefix_command();
  parse_with(app, words);

  command.words = app.remaining();
  auto next = words.begin();
  // With words left before it (unknown options), a name is not the first.
  if (command.words.empty() && !app.get_subcommands().empty()) {
    const CLI::App& found = *app.get_subcommands().front();
    command.name = found.get_name();
    command.words = found.remaining();
    next = std::find(next, words.end(), command.name) + 1;
  }

  // CLI11 keeps the order of what it leaves, not the places.
  std::vector<int> positions;
  for (const std::string& word : command.words) {
    const auto at = std::find(next, words.end(), word);
    if (at != words.end()) next = at + 1;
    const auto index = std::max<std::ptrdiff_t>(next - words.begin() - 1, 0);
    positions.push_back(context.positions.at(static_cast<size_t>(index)));
  }
  context.positions = std::move(positions);
  return command;
}

Command read_action(Context& context, const std::string& verb, const Words& words,
                    const Words& names) {
  const std::string place = context.place(0);
  Command command = read_command(context, words, names);
  if (context.asked != nullptr && command.name.empty() && command.words.empty()) {
    context.asked->called = "kdgat " + verb;
    context.asked->actions = names;
    throw FormAsked();
  }
  if (!command.name.empty() || command.help) return command;
  const std::string help = "kdgat " + verb + " --help";
  if (command.words.empty()) {
    throw Error(ExitCode::kUsage, verb + " needs an action: " + CLI::detail::join(names, ", "),
                "see " + help);
  }
  const std::string& word = command.words.front();
  throw Error(ExitCode::kUsage, "unknown action " + word, suggestion(word, names, help), place);
}

std::string suggestion(const std::string& word, const Words& known, const std::string& otherwise) {
  const std::string near = nearest(word, known);
  return near.empty() ? "see " + otherwise : "did you mean " + near + "?";
}

Words stage_names(const PluginCatalog& catalog) {
  Words names;
  for (const auto& [name, plugin] : catalog.all()) names.push_back(name);
  return names;
}

void CommandLine::flag(const std::string& names, bool& is_set) {
  flags_.push_back({names, Takes::kNothing, [&](const std::string&) { is_set = true; }});
}

void CommandLine::value(const std::string& names, Use use, Offer offer) {
  const auto use_filled = [this, names, use = std::move(use)](const std::string& value) {
    if (value.empty()) return problem(names.substr(names.rfind(',') + 1) + " needs a value");
    use(value);
  };
  flags_.push_back({names, Takes::kOne, use_filled, std::move(offer)});
}

void CommandLine::value(const std::string& names, std::string& to, Offer offer) {
  value(
      names, [&](const std::string& value) { to = value; }, std::move(offer));
}

void CommandLine::word(std::string& to, Offer offer) {
  places_for_words_.push_back(&to);
  offers_.push_back(std::move(offer));
}

void CommandLine::words(Use use, Offer offer) {
  use_word_ = std::move(use);
  further_ = std::move(offer);
}

CommandLine::Set CommandLine::options_of(const nlohmann::json& schema, nlohmann::json& to,
                                         bool also_as_keys) {
  const auto set = [this, &schema, &to](const std::string& key, const std::string& text) {
    const std::string own = own_option_name(schema, key);
    if (own.empty()) {
      return problem("unknown option " + key,
                     suggestion(key, option_names(schema), called_ + " --help"));
    }
    const Checked checked = check_value(option_schema(schema, own), plain_scalar(with_home(text)));
    if (!checked.problem.empty()) return problem(key + ": " + checked.problem);
    to[own] = checked.value;
  };
  options({[&schema](const std::string& key) {
             const std::string own = own_option_name(schema, key);
             return own.empty() ? nullptr : &option_schema(schema, own);
           },
           [&schema] { return option_names(schema); }, set, also_as_keys});
  return set;
}

void CommandLine::problem(const std::string& message, const std::string& hint) {
  problems_.push_back({place_, message, hint});
}

/// The flag of an option, or of none, which takes the word after it out of the way.
CommandLine::Flag CommandLine::flag_named(const std::string& name) {
  std::string key = name.substr(2);
  std::replace(key.begin(), key.end(), '-', '_');
  const nlohmann::json* schema = options_.schema ? options_.schema(key) : nullptr;
  if (schema == nullptr) return {name, Takes::kOne, {}};
  const OptionSchema option = read_option(*schema);
  const bool is_list = option.type == "array" && option.element().type != "string";
  return {name,
          option.type == "boolean" ? Takes::kBoolean
          : is_list                ? Takes::kNumbers
                                   : Takes::kOne,
          [this, key](const std::string& value) { options_.set(key, value); }};
}

void CommandLine::fill(CommandForm& form) const {
  form.called = called_;
  for (const Flag& flag : flags_) {
    form.flags.push_back(
        {CLI::detail::split(flag.names, ','), flag.takes != Takes::kNothing, flag.offer});
  }
  for (const std::string& key : options_.keys ? options_.keys() : Words()) {
    form.options.push_back({key, read_option(*options_.schema(key))});
  }
  form.takes_keys = options_.also_as_keys;
  form.of_profile = options_.of_profile;
  form.words = offers_;
  form.further = further_;
}

std::vector<Diagnostic> CommandLine::read(const Words& words) {
  if (context_.asked != nullptr) {
    fill(*context_.asked);
    throw FormAsked();
  }
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  std::map<size_t, Said> said;  // by the index of the word
  std::vector<bool> is_used(words.size(), false);
  size_t next = 0;
  const auto add = [&](const Flag& flag) {
    const auto take = [&](const CLI::results_t& values) {
      const auto is_it = [&](const std::string& word) { return says(word, flag.names); };
      const auto found = std::find_if(words.begin() + next, words.end(), is_it);
      if (found == words.end()) return true;  // inside of -ab, which -a does not take
      const std::string& word = *found;
      next = found - words.begin();
      Said& one = said[next] = {&flag, std::nullopt};
      is_used[next++] = true;
      if (word[1] != '-' ? word.size() > 2 : word.find('=') != std::string::npos) {
        one.value = word.back() == '=' ? "" : values.front();
        return true;
      }
      // What CLI11 took for a flag that does not want it stays a word.
      const bool is_given = next < words.size() && values.front() == words[next];
      const std::string truth = truth_of(values.front());
      size_t count = is_given && flag.takes != Takes::kNothing ? 1 : 0;
      if (flag.takes == Takes::kBoolean) {
        if (truth.empty()) count = 0;
        one.value = count == 0 ? "true" : truth;
      } else if (count == 1) {
        one.value = values.front();
      }
      if (count == 1 && flag.takes == Takes::kNumbers && is_number(values.front())) {
        for (; count < values.size() && is_number(values[count]); ++count) {
          *one.value += ", " + values[count];
        }
        one.value = "[" + *one.value + "]";
      }
      for (; count > 0; --count) is_used[next++] = true;
      return true;
    };
    const int most = flag.takes == Takes::kNothing   ? 0
                     : flag.takes == Takes::kNumbers ? kManyValues
                                                     : 1;
    app.add_option(flag.names, CLI::callback_t(take))->expected(0, most)->trigger_on_parse();
  };
  for (const Flag& flag : flags_) add(flag);
  std::list<Flag> named;  // not a vector: CLI11's callbacks refer to them
  const auto end_of_flags = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end_of_flags; ++word) {
    const std::string name = word->substr(0, word->find('='));
    if (name.rfind("--", 0) == 0 && CLI::detail::valid_name_string(name.substr(2)) &&
        app.get_option_no_throw(name) == nullptr) {
      add(named.emplace_back(flag_named(name)));
    }
  }
  parse_with(app, words);
  const size_t end = static_cast<size_t>(end_of_flags - words.begin());
  for (size_t i = 0; i < words.size(); ++i) {
    place_ = context_.place(i);
    if (const auto found = said.find(i); found != said.end()) {
      use(found->second, words[i]);
    } else if (!is_used[i] && i < end && looks_like_flag(words[i])) {
      unknown(words[i]);
    } else if (!is_used[i] && i != end) {
      use({}, words[i]);
    }
  }
  return std::move(problems_);
}

void CommandLine::parse(const Words& words) {
  std::vector<Diagnostic> problems = read(words);
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

void CommandLine::use(const Said& said, const std::string& word) {
  if (said.flag == nullptr) {
    if (!places_for_words_.empty()) {
      *places_for_words_.front() = with_home(word);
      places_for_words_.erase(places_for_words_.begin());
    } else if (use_word_) {
      use_word_(with_home(word));
    } else {
      problem("unexpected word " + word, "see " + called_ + " --help");
    }
    return;
  }
  const std::string name = word.substr(0, word.find('='));
  if (!said.flag->use) return unknown(name);
  const bool wants_value = said.flag->takes != Takes::kNothing;
  if (wants_value != said.value.has_value()) {
    return problem(name + (wants_value ? " needs a value" : " takes no value"));
  }
  said.flag->use(with_home(said.value.value_or("")));
}

std::string CommandLine::with_home(const std::string& text) {
  try {
    return expand_home(text);
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics()) problem(one.message, one.hint);
    return text;
  }
}

void CommandLine::unknown(const std::string& name) {
  Words known = {"--json", "--help"};
  for (const Flag& flag : flags_) {
    for (const std::string& one : CLI::detail::split(flag.names, ',')) known.push_back(one);
  }
  if (options_.keys) {
    for (const std::string& key : options_.keys()) known.push_back(flag_of(key));
  }
  problem("unknown flag " + name, suggestion(name, known, called_ + " --help"));
}

}  // namespace kdgat
