#include "pipeline/verbs/data/data_request.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pipeline/data/data.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kSummary =
    R"(  kdgat data import SRC -o DIR [key=value ...]   logs, neurons, texts, ratings to a store
  kdgat data inspect PATH                        what a store, its folder, or such input holds
  kdgat data verify PATH                         hashes, offsets and ranges of a store
  kdgat data synth -o DIR [key=value ...]        synthetic logs, trees, points, texts, ratings
  kdgat data inject LOG ... -o DIR [key=value]   attacks, with labels, in recorded CAN logs
  kdgat data convert LOG -o FILE                 a CAN log in another form
)";

enum class Writes { kNothing, kFile, kFolder };

struct DataAction {
  const char* name;
  Writes writes;
  bool reads;         ///< from a path
  json (*options)();  ///< a schema; none: it takes no options
  const char* examples;
};

const DataAction kActions[] = {
    {"import", Writes::kFolder, true, [] { return data_schemas().import; },
     R"(  kdgat data import logs/ -o data/                 the published layout, or any logs
  kdgat data import drive.log.gz -o data/ window=50 --format candump
  zcat drive.csv.gz | kdgat data import - -o data/ --json
  kdgat data import neurons.tar.gz -o data/ --labels labels.csv subtrees=1000 --repair radius
  kdgat data import corpus/ -o data/ --format text word_window=15 remove_rare_words=10
  kdgat data import ml-100k/ -o data/ --format ratings
  kdgat data import pockets.tar.gz -o data/ labels=pockets.csv label_column=ligand
  kdgat data import entry.cif.gz -o data/ ligand=TPP pocket_cutoff=5
)"},
    {"inspect", Writes::kNothing, true, [] { return data_schemas().import; },
     R"(  kdgat data inspect data/                         a folder with graphs.safetensors
  kdgat data inspect drive.csv window=50           a log: imported to a temporary place
  kdgat data inspect data/ --json | jq .facts
)"},
    {"verify", Writes::kNothing, true, nullptr,
     R"(  kdgat data verify data/
)"},
    {"synth", Writes::kFolder, false, [] { return data_schemas().synth; },
     R"(  kdgat data synth -o logs/
  kdgat data synth -o logs/ --seconds 20 --seed 7 --attacks dos,replay --vehicles 2 --format hcrl
  kdgat data synth -o - --seconds 86400 --vehicles 6 | kdgat watch --replay - --model M
  kdgat data synth -o trees/ --kind tree --graphs 300
  kdgat data synth -o texts/ --kind text --graphs 400 --nodes 60 --classes 4
  kdgat data synth -o ratings/ --kind ratings --graphs 200 --nodes 40
  kdgat data synth -o pockets/ --kind molecules --graphs 60 --nodes 200 --classes 6
)"},
    {"inject", Writes::kFolder, true, inject_schema,
     R"(  kdgat data inject drive.log.gz -o attacked/      every attack, drive-dos.csv and so on
  kdgat data inject drive.csv town.csv -o attacked/ --attacks dos,masquerade --seed 7
  kdgat data inject set/train_01_attack_free/ -o attacked/ --attacks fabrication --delay 0.001
  zcat drive.csv.gz | kdgat data inject - -o attacked/ --attacks spoofing --id 1A0 --rate 200
)"},
    {"convert", Writes::kFile, true, convert_schema,
     R"(  kdgat data convert drive.blf -o drive.log        candump; also .csv, .asc, .blf, .pcapng
  kdgat data convert drive.mf4.gz -o drive.csv     with the labels of drive.labels.csv
  zstdcat drive.trc.zst | kdgat data convert - -o drive.pcapng
)"},
};

const DataAction& action_named(const std::string& name) {
  return *std::find_if(std::begin(kActions), std::end(kActions),
                       [&](const DataAction& row) { return row.name == name; });
}

constexpr std::string_view kSection = "data.";

/// `key=value` where the key could be an option; a path with a slash or dot before the sign is not.
bool is_setting(const std::string& word) {
  const auto equals = word.find('=');
  return equals != std::string::npos && equals > 0 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == equals;
}

}  // namespace

std::vector<std::string> data_actions() {
  std::vector<std::string> out;
  for (const DataAction& action : kActions) out.emplace_back(action.name);
  return out;
}

DataRequest read_data_request(const Context& context, const Command& command) {
  DataRequest request;
  request.action = command.name;
  const DataAction& action = action_named(command.name);
  const bool writes = action.writes != Writes::kNothing;
  const json schema =
      action.options != nullptr ? action.options() : json{{"properties", json::object()}};
  const std::string called = "kdgat data " + request.action;
  CommandLine line(context, called);
  const CommandLine::Set set = line.options_of(schema, request.options, true);
  if (writes) {
    line.value("-o,--output", request.output, Offer::kFiles);
    line.flag("-n,--dry-run", request.dry_run);
  }
  // Where kdgat run has these options, too, they are called data.key: so hints name them.
  const bool imports = request.action == "import" || request.action == "inspect";
  const auto read_word = [&](const std::string& typed) {
    const bool has_section =
        imports && typed.starts_with(kSection) && is_setting(typed.substr(kSection.size()));
    const std::string word = has_section ? typed.substr(kSection.size()) : typed;
    if (is_setting(word)) {
      set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    } else if (action.reads && (request.paths.empty() || request.action == "inject")) {
      request.paths.push_back(word);
    } else {
      line.problem("unexpected word " + word, "options are key=value");
    }
  };
  line.words(read_word, action.reads ? Offer(Offer::kFiles) : Offer());
  std::vector<Diagnostic> problems = line.read(command.words);
  const std::string usage = called + " --help shows examples";
  if (request.paths.empty() && action.reads) {
    problems.push_back({"", called + " needs a path", usage});
  }
  if (request.output.empty() && writes) {
    const char* what = action.writes == Writes::kFile ? " needs -o FILE" : " needs -o DIR";
    problems.push_back({"", called + what, usage});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

std::string data_help(const std::string& name) {
  if (name.empty()) {
    return std::string("Examples\n") + kSummary +
           "\n`kdgat data ACTION --help` shows more, and the options.\n";
  }
  const DataAction& action = action_named(name);
  std::string out = std::string("Examples\n") + action.examples + "\n";
  if (action.writes != Writes::kNothing) {
    out += action.writes == Writes::kFile
               ? "  -o, --output FILE  what to write; its ending names the form\n"
               : "  -o, --output DIR   where to write\n";
    out += "  -n, --dry-run      only say what would be done\n";
  }
  out += "  --json             the result as JSON on standard output\n";
  if (action.options == nullptr) return out;
  std::string options = options_text(action.options());
  // A list is one word here, because a path may follow it.
  const std::string list = " TEXT TEXT ...";
  for (auto at = options.find(list); at != std::string::npos; at = options.find(list)) {
    options.replace(at, list.size(), " TEXT,TEXT,...");
  }
  return out + "\nOptions, as --name VALUE or name=VALUE\n" + options;
}

}  // namespace kdgat
