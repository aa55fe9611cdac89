// kdgat data import|inspect|verify|synth.
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pipeline/cli.h"
#include "pipeline/data.h"
#include "pipeline/schema.h"
#include "pipeline/signals.h"
#include "pipeline/status.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kActions =
    R"(  kdgat data import SRC -o DIR [key=value ...]   logs to a graph store and its split
  kdgat data inspect PATH                        what a store, its folder or logs hold
  kdgat data verify PATH                         hashes, offsets and ranges of a store
  kdgat data synth -o DIR [key=value ...]        synthetic logs with labelled attacks
)";

const char* example_of(const std::string& action) {
  if (action == "import") {
    return R"(  kdgat data import logs/ -o data/                 a folder in the published layout, or any logs
  kdgat data import drive.log.gz -o data/ window=50 --format candump
  zcat drive.csv.gz | kdgat data import - -o data/ --json
)";
  }
  if (action == "inspect") {
    return R"(  kdgat data inspect data/                         a folder with graphs.safetensors
  kdgat data inspect drive.csv window=50           a log: imported to a temporary place
  kdgat data inspect data/ --json | jq .facts
)";
  }
  if (action == "verify") return "  kdgat data verify data/\n";
  return R"(  kdgat data synth -o logs/
  kdgat data synth -o logs/ --seconds 20 --seed 7 --attacks dos,replay --vehicles 2 --format hcrl
)";
}

bool takes_options(const std::string& action) { return action != "verify"; }

json schema_of(const std::string& action) {
  const SectionSchemas schemas = data_schemas();
  return action == "synth" ? schemas.synth : schemas.import;
}

int print_help(std::ostream& out, const std::string& action) {
  if (action.empty()) {
    out << "Examples\n"
        << kActions << "\n`kdgat data ACTION --help` shows more, and the options.\n";
    return 0;
  }
  out << "Examples\n" << example_of(action) << "\n";
  if (action == "import" || action == "synth") {
    out << "  -o, --output DIR   where to write\n"
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

struct Request {
  std::string action, path, output;
  bool json = false, help = false, dry_run = false;
  nlohmann::json options = nlohmann::json::object();  ///< by canonical name, only those given
};

class RequestParser {
 public:
  RequestParser(const Context& context, const std::vector<std::string>& arguments)
      : context_(context), arguments_(arguments) {
    request_.json = context.json;
  }

  /// Throws Error(kUsage) with every problem.
  Request parse() {
    if (arguments_.empty() || is_help(arguments_[0])) {
      request_.help = true;
      return request_;
    }
    request_.action = arguments_[0];
    const std::vector<std::string> actions = {"import", "inspect", "verify", "synth"};
    if (std::find(actions.begin(), actions.end(), request_.action) == actions.end()) {
      throw Error(ExitCode::kUsage, "unknown action " + request_.action,
                  suggestion(request_.action, actions, "kdgat data --help"), context_.place(0));
    }
    schema_ = takes_options(request_.action) ? schema_of(request_.action)
                                             : json{{"properties", json::object()}};
    for (at_ = 1; at_ < arguments_.size(); ++at_) read(arguments_[at_]);
    if (!request_.help) require_words();
    if (!problems_.empty()) throw Error(ExitCode::kUsage, std::move(problems_));
    return request_;
  }

 private:
  static bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

  bool writes() const { return request_.action == "import" || request_.action == "synth"; }

  static std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                                const std::string& otherwise) {
    const std::string close = nearest(word, known);
    return close.empty() ? "see " + otherwise : "did you mean " + close + "?";
  }

  void problem(std::size_t at, const std::string& message, const std::string& hint = "") {
    problems_.push_back({context_.place(at), message, hint});
  }

  /// The value of the flag at at_, from `--flag=value` or the next argument.
  std::optional<std::string> value_of(const std::string& flag,
                                      const std::optional<std::string>& attached) {
    if (attached) return attached;
    if (at_ + 1 < arguments_.size()) return arguments_[++at_];
    problem(at_, flag + " needs a value");
    return std::nullopt;
  }

  void read(const std::string& word) {
    if (is_help(word)) {
      request_.help = true;
    } else if (word == "-o") {
      if (writes()) {
        request_.output = value_of(word, std::nullopt).value_or("");
      } else {
        problem(at_, "kdgat data " + request_.action + " writes nothing: -o has no meaning");
      }
    } else if (writes() && (word == "-n" || word == "--dry-run")) {
      request_.dry_run = true;
    } else if (word.rfind("--", 0) == 0) {
      read_flag(word);
    } else if (word.size() > 1 && word[0] == '-') {
      problem(at_, "unknown flag " + word, "see kdgat data " + request_.action + " --help");
    } else if (const auto equals = word.find('='); is_setting(word)) {
      set(at_, word.substr(0, equals), word.substr(equals + 1));
    } else if (request_.path.empty() && request_.action != "synth") {
      request_.path = word;
    } else {
      problem(at_, "unexpected word " + word, "options are key=value");
    }
  }

  /// `key=value` where the key could be an option; a path with a slash or dot before the sign is
  /// not.
  static bool is_setting(const std::string& word) {
    const auto equals = word.find('=');
    return equals != std::string::npos && equals > 0 &&
           word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == equals;
  }

  void read_flag(const std::string& word) {
    const std::size_t at = at_;
    const auto equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    std::optional<std::string> attached;
    if (equals != std::string::npos) attached = word.substr(equals + 1);
    if (flag == "--json") {
      request_.json = true;
    } else if (flag == "--output" && writes()) {
      request_.output = value_of(flag, attached).value_or("");
    } else {
      std::string key = flag.substr(2);
      std::replace(key.begin(), key.end(), '-', '_');
      if (own_option_name(schema_, key).empty()) {
        std::vector<std::string> known = {"--json", "--help"};
        if (writes()) known.insert(known.end(), {"--output", "--dry-run"});
        for (const std::string& name : option_names(schema_)) known.push_back(flag_of(name));
        problem(at, "unknown flag " + flag,
                suggestion(flag, known, "kdgat data " + request_.action + " --help"));
        if (!attached && at_ + 1 < arguments_.size() && arguments_[at_ + 1][0] != '-') ++at_;
        return;
      }
      if (!attached && is_switch(key)) attached = "true";
      if (const auto value = value_of(flag, attached)) set(at, key, *value);
    }
  }

  /// `--strict` alone is `--strict true`.
  bool is_switch(const std::string& key) const {
    if (option_schema(schema_, own_option_name(schema_, key)).at("type") != "boolean") return false;
    const std::string next = at_ + 1 < arguments_.size() ? arguments_[at_ + 1] : "";
    return next != "true" && next != "false";
  }

  void set(std::size_t at, const std::string& key, const std::string& text) {
    const std::string own = own_option_name(schema_, key);
    if (own.empty()) {
      problem(at, "unknown option " + key,
              suggestion(key, option_names(schema_), "kdgat data " + request_.action + " --help"));
      return;
    }
    const Checked checked = check_value(option_schema(schema_, own), plain_scalar(text));
    if (!checked.problem.empty()) {
      problem(at, key + ": " + checked.problem);
    } else {
      request_.options[own] = checked.value;
    }
  }

  void require_words() {
    const std::string usage = "kdgat data " + request_.action + " --help shows examples";
    if (request_.path.empty() && request_.action != "synth") {
      problems_.push_back({"", "kdgat data " + request_.action + " needs a path", usage});
    }
    if (request_.output.empty() && writes()) {
      problems_.push_back({"", "kdgat data " + request_.action + " needs -o DIR", usage});
    }
  }

  const Context& context_;
  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  json schema_;
  Request request_;
  std::vector<Diagnostic> problems_;
};

/// What long work shows: a bar on a terminal, lines elsewhere.
class Display {
 public:
  Display(Context& context, const std::string& name)
      : name_(name),
        status_(make_terminal_status(context.err, Terminal::of(STDERR_FILENO, context.verbosity),
                                     steady_clock())) {
    status_->begin(name);
  }
  DataProgress progress() {
    return [this](int64_t done, int64_t total) {
      status_->progress({name_, "", "bytes", done, total, json::object(), 0});
    };
  }
  void warn(const std::string& text) { status_->message("warning", text); }

 private:
  std::string name_;
  std::unique_ptr<Status> status_;
};

bool is_stopped() { return pending_signal() != 0; }

// ---- results

std::string grouped(const json& number) { return kdgat::grouped(number.get<int64_t>()); }

/// "23/27/29/30".
std::string sizes(const json& counts) {
  std::string out;
  for (const char* at : {"p50", "p95", "p99", "max"}) {
    if (!out.empty()) out += '/';
    out += std::to_string(counts.at(at).get<int64_t>());
  }
  return out;
}

/// Prints lines of cells, the first column to the left, the others to the right.
class Table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      if (row.size() == 1) continue;  // a heading of its own
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      out << row[0];
      for (std::size_t i = 1; i < row.size(); ++i) {
        if (i == 1) out << std::string(widths[0] - row[0].size(), ' ');
        out << "  " << std::setw(static_cast<int>(widths[i])) << row[i];
      }
      out << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Splits "folder/file" so that a table names each folder once.
class Folders {
 public:
  std::string name(Table& table, const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    if (folder != last_ && !folder.empty()) table.row({folder + "/"});
    last_ = folder;
    return folder.empty() ? path : "  " + path.substr(slash + 1);
  }

 private:
  std::string last_;
};

void print_import(std::ostream& out, const json& result) {
  Table table;
  Folders folders;
  for (const json& source : result.at("sources")) {
    std::vector<std::string> cells = {
        folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
        grouped(source.at("graphs")) + " windows", source.at("format").get<std::string>()};
    if (source.at("malformed") != 0)
      cells.push_back(grouped(source.at("malformed")) + " malformed");
    table.row(std::move(cells));
  }
  table.print(out);
  int64_t test = 0;
  for (const auto& [name, graphs] : result.at("parts").items()) {
    if (name.rfind("test", 0) == 0) test += graphs.get<int64_t>();
  }
  const json& parts = result.at("parts");
  out << grouped(result.at("graphs")) << " windows (" << grouped(result.at("attack"))
      << " attack), " << grouped(result.at("num_ids")) << " ids: train "
      << grouped(parts.value("train", 0)) << ", val " << grouped(parts.value("val", 0)) << ", test "
      << kdgat::grouped(test)
      << (result.at("reused").get<bool>() ? "; already in " : "; written to ")
      << result.at("folder").get<std::string>() << '\n';
}

/// "window=100 stride=100 ..." without what no one sets.
std::string options_line(const json& options) {
  std::string out = "options";
  for (const auto& [key, value] : options.items()) {
    if (key != "input") out += " " + key + "=" + value_text(value);
  }
  return wrapped(out, 8);
}

void print_inspect(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  out << result.at("path").get<std::string>() << ": " << grouped(facts.at("graphs")) << " windows, "
      << grouped(facts.at("attack")) << " attack, " << grouped(facts.at("benign")) << " benign, "
      << grouped(facts.at("unlabelled")) << " without label\n"
      << grouped(facts.at("num_ids")) << " ids, " << grouped(facts.at("node_features"))
      << " node and " << grouped(facts.at("edge_features")) << " edge features; "
      << grouped(facts.at("nodes").at("sum")) << " nodes, " << grouped(facts.at("edges").at("sum"))
      << " edges\n"
      << options_line(result.at("options")) << "\nnodes and edges of a window: p50/p95/p99/max\n\n";
  const auto counts = [](std::vector<std::string> cells, const json& c) {
    for (const char* key : {"graphs", "attack", "benign", "unlabelled", "ids"}) {
      cells.push_back(grouped(c.at(key)));
    }
    cells.push_back(sizes(c.at("nodes")));
    cells.push_back(sizes(c.at("edges")));
    return cells;
  };
  Table files;
  Folders folders;
  files.row({"file", "rows", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.row(counts({name, grouped(file.at("rows"))}, file));
  }
  files.print(out);
  if (result.at("parts").empty()) return;
  out << '\n';
  Table parts;
  Folders folders_of_parts;
  parts.row({"part", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const auto& [name, part] : result.at("parts").items())
    parts.row(counts({folders_of_parts.name(parts, name)}, part));
  parts.print(out);
}

void print_json(std::ostream& out, const json& value) {
  out << value.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

int say_what_would_be(Context& context, const Request& request) {
  json what = {
      {"action", request.action}, {"output", request.output}, {"options", request.options}};
  if (request.action == "import") what["source"] = request.path;
  if (request.json) {
    print_json(context.out, what);
  } else {
    context.out << "would "
                << (request.action == "import" ? "import " + request.path : "write logs") << " to "
                << request.output << " with " << request.options.dump() << '\n';
  }
  return 0;
}

int act(Context& context, const Request& request) {
  if (request.dry_run) return say_what_would_be(context, request);
  if (request.action == "import") {
    Display display(context, "import");
    const json result =
        import_data(request.path, request.output, request.options, display.progress(), is_stopped);
    for (const json& warning : result.at("warnings")) {
      const Diagnostic d{warning.at("where"), warning.at("message"), warning.at("hint")};
      display.warn(d.text());
    }
    if (request.json) {
      print_json(context.out, result);
    } else if (context.verbosity >= 0) {
      print_import(context.out, result);
    }
  } else if (request.action == "inspect") {
    Display display(context, "inspect");
    const json result = inspect_data(request.path, request.options, display.progress(), is_stopped);
    if (request.json) {
      print_json(context.out, result);
    } else {
      print_inspect(context.out, result);
    }
  } else if (request.action == "verify") {
    std::vector<Diagnostic> problems = verify_data(request.path);
    if (request.json) {
      json list = json::array();
      for (const Diagnostic& d : problems) list.push_back(d.text());
      print_json(context.out, {{"ok", list.empty()}, {"problems", list}});
    }
    if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
    if (!request.json) context.out << "ok\n";
  } else {
    const std::vector<std::string> files =
        synthesize_data(request.output, request.options, is_stopped);
    if (request.json) {
      print_json(context.out, {{"folder", request.output}, {"files", files}});
    } else if (context.verbosity >= 0) {
      for (const std::string& file : files) context.out << request.output << "/" << file << '\n';
    }
  }
  return 0;
}

}  // namespace

int data_verb(Context& context, const std::vector<std::string>& arguments) {
  const Request request = RequestParser(context, arguments).parse();
  if (request.help) return print_help(context.out, request.action);
  install_signal_flags();
  try {
    return act(context, request);
  } catch (const Error&) {
    // A read cut short by the signal may look like bad input.
    if (!is_stopped()) throw;
    throw Error(static_cast<ExitCode>(pending_signal()), "interrupted; nothing was written");
  }
}

}  // namespace kdgat
