#include "pipeline/cli/cli.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/cli/json_error.h"
#include "pipeline/show/printable_stream.h"
#include "pipeline/show/text.h"
#include "pipeline/system/secrets.h"

namespace kdgat {

namespace {

/// A problem with a file and line begins with it, so that editors find the place; any other with
/// "error:", and with the argument at the end.
void print_problem(std::ostream& err, const Diagnostic& d) {
  const auto part = [](const std::string& text) {
    return shortened(without_secrets(text), kLongestMessage);
  };
  const Diagnostic shown{part(d.where), part(d.message), part(d.hint)};
  std::string text = printable(problem_text(shown));
  const bool has_place = !shown.where.empty() && text.starts_with(printable(shown.where) + ":");
  if (!has_place) text.insert(0, "error: ");
  // The place, or the word error, in colour; of other streams nothing is known.
  const bool has_colours = &err == &std::cerr && Terminal::of(STDERR_FILENO, 0).colours;
  const std::size_t head = has_place ? printable(shown.where).size() + 1 : 6;
  if (has_colours) {
    write_control(err, "\033[31m");
    err << text.substr(0, head);
    write_control(err, "\033[0m");
    err << text.substr(head) << '\n';
  } else {
    err << text << '\n';
  }
}

PluginCatalog scan_plugins(const Context& context) {
  const std::vector<std::filesystem::path>& named = context.plugin_folders;
  return PluginCatalog::scan(PluginCatalog::search_path(named), named.size());
}

void print_problems(std::ostream& err, const std::vector<Diagnostic>& list) {
  constexpr size_t kShown = 50;  // more of them have one cause
  for (size_t i = 0; i < std::min(list.size(), kShown); ++i) print_problem(err, list[i]);
  if (list.size() > kShown) {
    err << "error: and " << list.size() - kShown << " more problems\n";
  }
}

[[noreturn]] void unknown_verb(const std::vector<Verb>& verbs, const std::string& name,
                               const Context& context) {
  if (name[0] == '-') {
    throw Error(ExitCode::kUsage, "unknown option " + name, "see kdgat --help");
  }
  std::vector<std::string> known;
  for (const Verb& verb : verbs) {
    if (!verb.hidden) known.push_back(verb.name);
  }
  const PluginCatalog catalog = scan_plugins(context);
  std::string near;
  for (const Verb& verb : verbs) {
    if (near.empty() && verb.meant) near = verb.meant(name, catalog);
  }
  if (near.empty()) near = nearest(name, known);
  throw Error(ExitCode::kUsage, "unknown command " + name,
              near.empty() ? "see kdgat --help" : "did you mean kdgat " + near + "?");
}

/// Numbers of the words of a command line, from 1.
std::vector<int> places_of(std::size_t words) {
  std::vector<int> places(words);
  std::iota(places.begin(), places.end(), 1);
  return places;
}

int run_words(const std::vector<Verb>& verbs, const std::vector<std::string>& words,
              Context& context) {
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const Verb& verb : verbs) names.push_back(verb.name);
  context.positions = places_of(words.size());
  Command command = read_command(context, words, names);
  const auto find = [&](const std::string& name) -> const Verb& {
    return *std::find_if(verbs.begin(), verbs.end(),
                         [&](const Verb& row) { return row.name == name; });
  };
  if (command.version) return find("version").run(context, {});
  if (command.name.empty()) {
    if (!command.words.empty()) unknown_verb(verbs, command.words.front(), context);
    if (context.json && !command.help) {
      throw Error(ExitCode::kUsage, "no command is named", "see kdgat --help");
    }
    (command.help ? context.out : context.err) << program_help(verbs);
    return static_cast<int>(command.help ? ExitCode::kOk : ExitCode::kUsage);
  }
  const Verb& verb = find(command.name);
  if (verb.needs != Needs::kNothing) {  // help lists the options of stages, too
    context.catalog = scan_plugins(context);
  }
  if (command.help) {
    if (verb.help) {
      context.out << verb.help(command.words, context.catalog);
      return 0;
    }
    command.words.push_back("--help");
    context.positions.push_back(static_cast<int>(words.size()));
  }
  return verb.run(context, command.words);
}

/// --json as it stands on a command line, whether or not the rest of that can be read.
bool asks_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

class NotingStatus : public Status {
 public:
  NotingStatus(std::unique_ptr<Status> shown, std::shared_ptr<std::vector<Failure>> failures)
      : shown_(std::move(shown)), failures_(std::move(failures)) {}

  void announce(const std::vector<std::string>& steps) override { shown_->announce(steps); }
  void begin(const std::string& step) override { shown_->begin(step); }
  void progress(const Progress& now) override { shown_->progress(now); }
  void end(const StepEnd& end) override { shown_->end(end); }
  void message(const std::string& level, const std::string& text) override {
    if (level == "error") failures_->push_back({"", {{"", text, ""}}});
    shown_->message(level, text);
  }
  void failure(const Failure& one) override {
    failures_->push_back(one);
    shown_->failure(one);
  }

 private:
  std::unique_ptr<Status> shown_;
  std::shared_ptr<std::vector<Failure>> failures_;
};

}  // namespace

std::unique_ptr<Status> noting_failures(const Context& context, std::unique_ptr<Status> status) {
  return std::make_unique<NotingStatus>(std::move(status), context.failures);
}

std::unique_ptr<Status> terminal_status(const Context& context) {
  return noting_failures(
      context, make_terminal_status(context.err, Terminal::of(STDERR_FILENO, context.verbosity),
                                    steady_clock()));
}

std::string Context::place(size_t index) const {
  if (index >= positions.size()) return kCommandLine;
  return std::string(kCommandLine) + ", argument " + std::to_string(positions[index]);
}

Help help_text(const char* text) {
  return [text](const std::vector<std::string>&, const PluginCatalog&) { return text; };
}

CommandForm form_of(const Verb& verb, const Context& context,
                    const std::vector<std::string>& words) {
  if (verb.hidden) return {};  // such a verb may work without reading words
  CommandForm form;
  std::ostream nowhere(nullptr);
  Context asking{nowhere, nowhere, context.catalog,        context.plugin_folders,
                 false,   0,       places_of(words.size())};
  asking.asked = &form;
  try {
    verb.run(asking, words);
  } catch (const FormAsked&) {
    return form;
  } catch (const Error&) {
  }
  return {};
}

std::string exit_codes_text() {
  return R"(kdgat exit codes

    0  done
    1  a stage failed
    2  usage or configuration
    3  input data
    4  plugin or ABI
    5  the plan does not fit the device: not even one graph, even alone
   10  all done, and a window was flagged (kdgat score --fail-on attack)
   11  all done, and a figure is not as required (kdgat run --require)
   81  out of GPU memory, after smaller batches were tried; see oom-report.md of the step
   82  out of host memory, likewise
   85  checkpointed, please requeue
  129  the terminal was closed (SIGHUP)
  130  interrupted (SIGINT)
  131  quit (SIGQUIT)
  143  terminated (SIGTERM)

A failure never ends in 0.
)";
}

std::string program_help(const std::vector<Verb>& verbs) {
  std::string out =
      R"(kdgat learns what is normal on a CAN bus and raises alarms when the traffic changes. It trains
detectors and graph neural networks in stages on the GPU or CPU that you have.

  kdgat run --preset smoke                          try it: synthetic CAN traffic, under a minute
  kdgat fit logs/ -o mine                           a detector of attacks, from your CAN logs
  kdgat score drive.log --run mine                  a score for each window of a log
  kdgat run --preset graphs --data FOLDER           a classifier of your labelled graphs
  kdgat report RUN                                  what a run did, as one HTML file
  kdgat config show --preset smoke --origin         what would be set, and by whom
  kdgat doctor                                      is this machine ready?

usage: kdgat VERB [options] [key=value ...]

)";
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    out += "  " + verb.name + std::string(13 - verb.name.size(), ' ') + verb.summary + "\n";
  }
  return out + R"(
  --json               results as JSON, and an error as its last line on standard error
  -q, -v               print less, print more
  --plugin-dir DIR     look for stages here first
  --version            the version
  -h, --help           help; kdgat VERB --help for one verb

See kdgat help exit-codes for the exit codes, kdgat help json for the forms of JSON.
)";
}

int run_command(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments,
                std::ostream& out, std::ostream& err) {
  const bool is_json = asks_json(arguments);
  ExitCode code = ExitCode::kStageFailed;
  std::vector<Diagnostic> problems;
  std::vector<Failure> told;  // as the work went on
  try {
    Context context{out, err, {}, {}, false, 0, {}};
    code = static_cast<ExitCode>(run_words(verbs, arguments, context));
    if (code == ExitCode::kOk && !out.flush()) {
      code = ExitCode::kStageFailed;
      problems = {{"", "the results cannot be written to standard output", ""}};
    } else {
      told = *context.failures;
    }
  } catch (const Error& e) {
    code = e.code();
    problems = e.diagnostics();
  } catch (const nlohmann::json::exception& e) {
    // Who reads a file names it where it can; what is left is a value that nobody expected, or
    // text that is not UTF-8 in an answer of this program.
    constexpr int kNotUtf8 = 316;
    const std::string what = e.what();
    if (e.id == kNotUtf8) {
      problems = {{"", what, "this is a fault of kdgat: please report it"}};
    } else {
      code = ExitCode::kData;
      problems = {{"",
                   "a file of JSON holds a value of another type than it should: " +
                       what.substr(std::min(what.find("] ") + 2, what.size())),
                   "it was changed by hand or by another program"}};
    }
  } catch (const std::bad_alloc&) {
    code = ExitCode::kHostMemory;
    problems = {{"", "out of host memory", ""}};
  } catch (const std::exception& e) {
    problems = {{"", e.what(), ""}};
  }
  out.flush();
  if (is_json && code != ExitCode::kOk) {
    if (!problems.empty()) told = {{"", problems}};
    err << json_error(code, told) << '\n';
  } else {
    print_problems(err, problems);
  }
  err.flush();
  return static_cast<int>(code);
}

}  // namespace kdgat
