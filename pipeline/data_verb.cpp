// kdgat data import|inspect|verify|synth.
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pipeline/command_line.h"
#include "pipeline/data.h"
#include "pipeline/schema.h"
#include "pipeline/signals.h"
#include "pipeline/status.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kActions =
    R"(  kdgat data import SRC -o DIR [key=value ...]   logs or neurons to a graph store and its split
  kdgat data inspect PATH                        what a store, its folder, logs or neurons hold
  kdgat data verify PATH                         hashes, offsets and ranges of a store
  kdgat data synth -o DIR [key=value ...]        synthetic logs with labelled attacks, trees, points
)";

const char* example_of(const std::string& action) {
  if (action == "import") {
    return R"(  kdgat data import logs/ -o data/                 a folder in the published layout, or any logs
  kdgat data import drive.log.gz -o data/ window=50 --format candump
  zcat drive.csv.gz | kdgat data import - -o data/ --json
  kdgat data import neurons.tar.gz -o data/ --labels labels.csv subtrees=1000 --repair radius
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
  kdgat data synth -o trees/ --kind tree --graphs 300
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
Request read_request(const Context& context, const Command& command) {
  Request request;
  request.action = command.name;
  const bool writes = request.action == "import" || request.action == "synth";
  const json schema = takes_options(request.action) ? schema_of(request.action)
                                                    : json{{"properties", json::object()}};
  const std::string called = "kdgat data " + request.action;
  CommandLine line(context, called);
  const auto set = [&](const std::string& key, const std::string& text) {
    const std::string own = own_option_name(schema, key);
    if (own.empty()) {
      return line.problem("unknown option " + key,
                          suggestion(key, option_names(schema), called + " --help"));
    }
    const Checked checked = check_value(option_schema(schema, own), plain_scalar(text));
    if (!checked.problem.empty()) return line.problem(key + ": " + checked.problem);
    request.options[own] = checked.value;
  };
  if (writes) {
    line.value("-o,--output", request.output);
    line.flag("-n,--dry-run", request.dry_run);
  } else {
    line.value("-o", [&](const std::string&) {
      line.problem(called + " writes nothing: -o has no meaning");
    });
  }
  line.options({[&](const std::string& key) {
                  const std::string own = own_option_name(schema, key);
                  return own.empty() ? nullptr : &option_schema(schema, own);
                },
                [&] { return option_names(schema); }, set});
  line.words([&](const std::string& word) {
    if (is_setting(word)) {
      set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    } else if (request.path.empty() && request.action != "synth") {
      request.path = word;
    } else {
      line.problem("unexpected word " + word, "options are key=value");
    }
  });
  std::vector<Diagnostic> problems = line.read(command.words);
  const std::string usage = called + " --help shows examples";
  if (request.path.empty() && request.action != "synth") {
    problems.push_back({"", called + " needs a path", usage});
  }
  if (request.output.empty() && writes) problems.push_back({"", called + " needs -o DIR", usage});
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

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
  void row(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = printable(cell);  // names of files may hold anything
    rows_.push_back(std::move(cells));
  }

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

/// A table of more files is no help: --json has them all.
constexpr std::size_t kMostFiles = 100;

void print_import(std::ostream& out, const json& result) {
  const bool is_spatial = result.contains("spatial");
  Table table;
  Folders folders;
  for (const json& source : result.at("sources")) {
    const int64_t graphs = source.at("graphs");
    std::vector<std::string> cells = {
        folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
        is_spatial ? grouped(graphs) + (graphs == 1 ? " graph" : " graphs") : windows_text(graphs),
        source.at("format").get<std::string>()};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + (is_spatial ? " left out" : " malformed"));
    }
    table.row(std::move(cells));
  }
  if (!is_spatial || result.at("sources").size() <= kMostFiles) table.print(out);
  int64_t test = 0;
  for (const auto& [name, graphs] : result.at("parts").items()) {
    if (name.rfind("test", 0) == 0) test += graphs.get<int64_t>();
  }
  const json& parts = result.at("parts");
  out << graphs_text(result);
  if (!is_spatial) out << ", " << grouped(result.at("num_ids")) << " ids";
  out << ": train " << grouped(parts.value("train", 0)) << ", val "
      << grouped(parts.value("val", 0)) << ", test " << kdgat::grouped(test)
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

/// Graphs in space: files, parts, and the classes part by part.
void print_inspect_spatial(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  const json& spatial = facts.at("spatial");
  char length[32];
  std::snprintf(length, sizeof length, "%.4g",
                spatial.at("edge_length").at("median").get<double>());
  out << result.at("path").get<std::string>() << ": " << graphs_text(facts) << ", "
      << grouped(facts.at("unlabelled")) << " without class\n"
      << grouped(facts.at("node_features")) << " node features; "
      << grouped(facts.at("nodes").at("sum")) << " nodes, " << grouped(facts.at("edges").at("sum"))
      << " edges of median length " << length << ", " << grouped(spatial.at("paths").at("sum"))
      << " paths\n"
      << options_line(result.at("options"))
      << "\nnodes, edges and paths of a graph: p50/p95/p99/max " << sizes(facts.at("nodes")) << ", "
      << sizes(facts.at("edges")) << ", " << sizes(spatial.at("paths")) << "\n\n";
  const json& parts = result.at("parts");
  Table table;
  std::vector<std::string> heading = {"class", "graphs"};
  for (const auto& [name, part] : parts.items()) heading.push_back(name);
  table.row(std::move(heading));
  const auto row = [&](const std::string& name, const json& all, const auto& of_part) {
    std::vector<std::string> cells = {name, grouped(all)};
    for (const json& part : parts) cells.push_back(grouped(of_part(part)));
    table.row(std::move(cells));
  };
  for (std::size_t c = 0; c < spatial.at("classes").size(); ++c) {
    row(spatial.at("classes")[c].get<std::string>(), spatial.at("class_graphs")[c],
        [c](const json& part) { return part.at("classes")[c]; });
  }
  if (facts.at("unlabelled") != 0) {
    row("(none)", facts.at("unlabelled"), [](const json& part) { return part.at("unlabelled"); });
  }
  row("all", facts.at("graphs"), [](const json& part) { return part.at("graphs"); });
  table.print(out);
  if (result.at("files").size() > kMostFiles) return;
  out << '\n';
  Table files;
  Folders folders;
  files.row({"file", "rows", "graphs", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.row({name, grouped(file.at("rows")), grouped(file.at("graphs")), sizes(file.at("nodes")),
               sizes(file.at("edges"))});
  }
  files.print(out);
}

void print_inspect(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  if (facts.contains("spatial")) return print_inspect_spatial(out, result);
  out << result.at("path").get<std::string>() << ": "
      << windows_text(facts.at("graphs").get<int64_t>()) << ", " << grouped(facts.at("attack"))
      << " attack, " << grouped(facts.at("benign")) << " benign, "
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
  if (context.json) {
    print_json(context.out, what);
  } else {
    context.out << "would "
                << (request.action == "import" ? "import " + request.path : "write files") << " to "
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
    if (context.json) {
      print_json(context.out, result);
    } else if (context.verbosity >= 0) {
      print_import(context.out, result);
    }
  } else if (request.action == "inspect") {
    Display display(context, "inspect");
    const json result = inspect_data(request.path, request.options, display.progress(), is_stopped);
    if (context.json) {
      print_json(context.out, result);
    } else {
      print_inspect(context.out, result);
    }
  } else if (request.action == "verify") {
    std::vector<Diagnostic> problems = verify_data(request.path);
    if (context.json) {
      json list = json::array();
      for (const Diagnostic& d : problems) list.push_back(d.text());
      print_json(context.out, {{"ok", list.empty()}, {"problems", list}});
    }
    if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
    if (!context.json) context.out << "ok\n";
  } else {
    const std::vector<std::string> files =
        synthesize_data(request.output, request.options, is_stopped);
    if (context.json) {
      print_json(context.out, {{"folder", request.output}, {"files", files}});
    } else if (context.verbosity >= 0) {
      for (const std::string& file : files) context.out << request.output << "/" << file << '\n';
    }
  }
  return 0;
}

}  // namespace

int data_verb(Context& context, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return print_help(context.out, "");
  const Command command =
      read_action(context, "data", arguments, {"import", "inspect", "verify", "synth"});
  if (command.help) return print_help(context.out, command.name);
  const Request request = read_request(context, command);
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
