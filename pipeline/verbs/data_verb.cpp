// kdgat data import|inspect|verify|synth|inject|convert.
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "kdgat/text.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/data/data_tables.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/status.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kActions =
    R"(  kdgat data import SRC -o DIR [key=value ...]   logs, neurons, texts, ratings to a store
  kdgat data inspect PATH                        what a store, its folder, or such input holds
  kdgat data verify PATH                         hashes, offsets and ranges of a store
  kdgat data synth -o DIR [key=value ...]        synthetic logs, trees, points, texts, ratings
  kdgat data inject LOG ... -o DIR [key=value]   attacks, with labels, in recorded CAN logs
  kdgat data convert LOG -o FILE                 a CAN log in another form
)";

const char* example_of(const std::string& action) {
  if (action == "import") {
    return R"(  kdgat data import logs/ -o data/                 a folder in the published layout, or any logs
  kdgat data import drive.log.gz -o data/ window=50 --format candump
  zcat drive.csv.gz | kdgat data import - -o data/ --json
  kdgat data import neurons.tar.gz -o data/ --labels labels.csv subtrees=1000 --repair radius
  kdgat data import corpus/ -o data/ --format text word_window=15 remove_rare_words=10
  kdgat data import ml-100k/ -o data/ --format ratings
  kdgat data import pockets.tar.gz -o data/ labels=pockets.csv label_column=ligand
  kdgat data import entry.cif.gz -o data/ ligand=TPP pocket_cutoff=5
)";
  }
  if (action == "inspect") {
    return R"(  kdgat data inspect data/                         a folder with graphs.safetensors
  kdgat data inspect drive.csv window=50           a log: imported to a temporary place
  kdgat data inspect data/ --json | jq .facts
)";
  }
  if (action == "verify") return "  kdgat data verify data/\n";
  if (action == "inject") {
    return R"(  kdgat data inject drive.log.gz -o attacked/      every attack, drive-dos.csv and so on
  kdgat data inject drive.csv town.csv -o attacked/ --attacks dos,masquerade --seed 7
  kdgat data inject set/train_01_attack_free/ -o attacked/ --attacks fabrication --delay 0.001
  zcat drive.csv.gz | kdgat data inject - -o attacked/ --attacks spoofing --id 1A0 --rate 200
)";
  }
  if (action == "convert") {
    return R"(  kdgat data convert drive.blf -o drive.log        candump; also .csv, .asc, .blf, .pcapng
  kdgat data convert drive.mf4.gz -o drive.csv     with the labels of drive.labels.csv
  zstdcat drive.trc.zst | kdgat data convert - -o drive.pcapng
)";
  }
  return R"(  kdgat data synth -o logs/
  kdgat data synth -o logs/ --seconds 20 --seed 7 --attacks dos,replay --vehicles 2 --format hcrl
  kdgat data synth -o - --seconds 86400 --vehicles 6 | kdgat watch --replay - --model M
  kdgat data synth -o trees/ --kind tree --graphs 300
  kdgat data synth -o texts/ --kind text --graphs 400 --nodes 60 --classes 4
  kdgat data synth -o ratings/ --kind ratings --graphs 200 --nodes 40
  kdgat data synth -o pockets/ --kind molecules --graphs 60 --nodes 200 --classes 6
)";
}

bool takes_options(const std::string& action) { return action != "verify"; }
bool writes_files(const std::string& action) {
  return action == "import" || action == "synth" || action == "inject" || action == "convert";
}
bool reads_files(const std::string& action) { return action != "synth"; }

json schema_of(const std::string& action) {
  const SectionSchemas schemas = data_schemas();
  if (action == "inject") return inject_schema();
  if (action == "convert") return convert_schema();
  return action == "synth" ? schemas.synth : schemas.import;
}

int print_help(std::ostream& out, const std::string& action) {
  if (action.empty()) {
    out << "Examples\n"
        << kActions << "\n`kdgat data ACTION --help` shows more, and the options.\n";
    return 0;
  }
  out << "Examples\n" << example_of(action) << "\n";
  if (writes_files(action)) {
    out << (action == "convert" ? "  -o, --output FILE  what to write; its ending names the form\n"
                                : "  -o, --output DIR   where to write\n")
        << "  -n, --dry-run      only say what would be done\n";
  }
  out << "  --json             the result as JSON on standard output\n";
  if (takes_options(action)) {
    std::string options = options_text(schema_of(action));
    // A list is one word here, because a path may follow it.
    for (auto at = options.find(" TEXT TEXT ..."); at != std::string::npos;
         at = options.find(" TEXT TEXT ...")) {
      options.replace(at, 14, " TEXT,TEXT,...");
    }
    out << "\nOptions, as --name VALUE or name=VALUE\n" << options;
  }
  return 0;
}

// ---- the command line

constexpr std::string_view kSection = "data.";

struct DataRequest {
  std::string action, output;
  std::vector<std::string> paths;  ///< one; of inject one at least
  bool dry_run = false;
  json options = json::object();  ///< by canonical name, only those given
};

/// `key=value` where the key could be an option; a path with a slash or dot before the sign is not.
bool is_setting(const std::string& word) {
  const auto equals = word.find('=');
  return equals != std::string::npos && equals > 0 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == equals;
}

/// Throws Error(kUsage) with every problem.
DataRequest read_data_request(const Context& context, const Command& command) {
  DataRequest request;
  request.action = command.name;
  const bool writes = writes_files(request.action);
  const bool takes_path = reads_files(request.action);
  const json schema = takes_options(request.action) ? schema_of(request.action)
                                                    : json{{"properties", json::object()}};
  const std::string called = "kdgat data " + request.action;
  CommandLine line(context, called);
  const CommandLine::Set set = line.options_of(schema, request.options, true);
  if (writes) {
    line.value("-o,--output", request.output, Offer::kFiles);
    line.flag("-n,--dry-run", request.dry_run);
  }
  const bool imports = request.action == "import" || request.action == "inspect";
  const auto read_word = [&](const std::string& typed) {
    // Where kdgat run has these options, too, they are called data.key: so hints name them.
    const bool has_section =
        imports && typed.starts_with(kSection) && is_setting(typed.substr(kSection.size()));
    const std::string word = has_section ? typed.substr(kSection.size()) : typed;
    if (is_setting(word)) {
      set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    } else if (takes_path && (request.paths.empty() || request.action == "inject")) {
      request.paths.push_back(word);
    } else {
      line.problem("unexpected word " + word, "options are key=value");
    }
  };
  line.words(read_word, takes_path ? Offer(Offer::kFiles) : Offer());
  std::vector<Diagnostic> problems = line.read(command.words);
  const std::string usage = called + " --help shows examples";
  if (request.paths.empty() && takes_path) {
    problems.push_back({"", called + " needs a path", usage});
  }
  if (request.output.empty() && writes) {
    const char* what = request.action == "convert" ? " needs -o FILE" : " needs -o DIR";
    problems.push_back({"", called + what, usage});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

/// What long work shows: a bar on a terminal, lines elsewhere.
class Display {
 public:
  Display(Context& context, const std::string& name)
      : name_(name), is_verbose_(context.verbosity > 0), status_(terminal_status(context)) {
    status_->begin(name);
  }
  DataProgress progress() {
    return [this](int64_t done, int64_t total) {
      status_->progress({name_, "", "bytes", done, total, json::object(), 0});
    };
  }
  void warn_of(const json& result, bool all = false) {
    for (const Diagnostic& warning : warnings_of(result, all || is_verbose_)) {
      status_->message("warning", warning.text());
    }
  }

 private:
  std::string name_;
  bool is_verbose_;
  std::unique_ptr<Status> status_;
};

std::string in_one_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool is_stopped() { return pending_signal() != 0; }

// ---- results

int say_what_would_be(Context& context, const DataRequest& request) {
  json what = {
      {"action", request.action}, {"output", request.output}, {"options", request.options}};
  if (request.action == "import" || request.action == "convert") {
    what["source"] = request.paths.front();
    if (request.paths.front() != "-") require_input(request.paths.front());
  }
  if (request.action == "inject") what["sources"] = request.paths;
  if (context.json) {
    print_json(context, "kdgat.data.plan", what);
  } else {
    const std::string what_to_do =
        request.action == "import"    ? "import " + request.paths.front()
        : request.action == "convert" ? "convert " + request.paths.front()
        : request.action == "inject"  ? "write attacks into " + in_one_text(request.paths)
                                      : "write files";
    context.out << one_line("would " + what_to_do + " to " + request.output + " with ")
                << (request.options.empty() ? "its default options" : request.options.dump())
                << '\n';
  }
  return 0;
}

void act_inject(Context& context, const DataRequest& request) {
  Display display(context, "inject");
  const json result = inject_data({request.paths.begin(), request.paths.end()}, request.output,
                                  request.options, display.progress(), is_stopped);
  display.warn_of(result);
  if (context.json) return print_json(context, "kdgat.data.inject", result);
  if (context.verbosity >= 0) print_inject(context.out, result);
}

void act_convert(Context& context, const DataRequest& request) {
  Display display(context, "convert");
  const json result = convert_data(request.paths.front(), request.output, request.options,
                                   display.progress(), is_stopped);
  display.warn_of(result, true);
  if (context.json) return print_json(context, "kdgat.data.convert", result);
  if (context.verbosity < 0) return;
  const int64_t malformed = result.at("malformed");
  context.out << request.output << ": " << grouped(result.at("rows").get<int64_t>())
              << " frames, from " << result.at("format").get<std::string>()
              << (malformed == 0 ? "" : ", " + grouped(malformed) + " malformed") << '\n';
}

int act(Context& context, const DataRequest& request) {
  if (request.dry_run) return say_what_would_be(context, request);
  if (request.action == "import") {
    Display display(context, "import");
    const json result = import_data(request.paths.front(), request.output, request.options,
                                    display.progress(), is_stopped);
    display.warn_of(result);
    if (context.json) {
      print_json(context, "kdgat.data.import", result);
    } else if (context.verbosity >= 0) {
      print_import(context.out, result);
    }
  } else if (request.action == "inspect") {
    Display display(context, "inspect");
    const json result =
        inspect_data(request.paths.front(), request.options, display.progress(), is_stopped);
    display.warn_of(result);
    if (context.json) {
      print_json(context, "kdgat.data.inspect", result);
    } else {
      print_inspect(context.out, result);
    }
  } else if (request.action == "verify") {
    std::vector<Diagnostic> problems = verify_data(request.paths.front());
    if (context.json) {
      json list = json::array();
      for (const Diagnostic& d : problems) list.push_back(d.text());
      print_json(context, "kdgat.data.verify", {{"ok", list.empty()}, {"problems", list}});
    }
    if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
    if (!context.json) context.out << "ok\n";
  } else if (request.action == "inject") {
    act_inject(context, request);
  } else if (request.action == "convert") {
    act_convert(context, request);
  } else if (request.output == "-") {
    stream_synthetic_data(context.out, request.options, is_stopped);
  } else {
    const std::vector<std::string> files =
        synthesize_data(request.output, request.options, is_stopped);
    if (context.json) {
      print_json(context, "kdgat.data.synth", {{"folder", request.output}, {"files", files}});
    } else if (context.verbosity >= 0) {
      for (const std::string& file : files) context.out << request.output << "/" << file << '\n';
    }
  }
  return 0;
}

int data_verb(Context& context, const std::vector<std::string>& arguments) {
  if (arguments.empty() && context.asked == nullptr) return print_help(context.out, "");
  const Command command = read_action(
      context, "data", arguments, {"import", "inspect", "verify", "synth", "inject", "convert"});
  if (command.help) return print_help(context.out, command.name);
  const DataRequest request = read_data_request(context, command);
  install_signal_flags();
  try {
    return act(context, request);
  } catch (const Error&) {
    // A read cut short by the signal may look like bad input.
    if (!is_stopped()) throw;
    throw Error(static_cast<ExitCode>(pending_signal()), "interrupted; nothing was written");
  }
}

}  // namespace

Verb make_data_verb() {
  return {"data", "import, inspect, verify, synthesise and convert logs and graphs, inject attacks",
          Needs::kNothing, data_verb, nullptr};
}

}  // namespace kdgat
