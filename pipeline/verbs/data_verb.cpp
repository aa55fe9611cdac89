// kdgat data import|inspect|verify|synth|inject|convert.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kdgat/text.h"
#include "pipeline/data/data.h"
#include "pipeline/data/data_tables.h"
#include "pipeline/show/status.h"
#include "pipeline/show/text.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/data/data_request.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

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

bool is_stopped() { return pending_signal() != 0; }

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
        : request.action == "inject"  ? "write attacks into " + joined(request.paths, " ")
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
  const auto log = record::read<ConvertedLog>(result);
  context.out << request.output << ": " << grouped(log.rows) << " frames, from " << log.format
              << (log.malformed == 0 ? "" : ", " + grouped(log.malformed) + " malformed") << '\n';
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
  const bool asks_nothing = arguments.empty() && context.asked == nullptr;
  const Command command = asks_nothing ? Command{"", {}, true}
                                       : read_action(context, "data", arguments, data_actions());
  if (command.help) {
    context.out << data_help(command.name);
    return 0;
  }
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
