// kdgat score: a line for each window of a log, from the score stage in this process.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <ostream>
#include <utility>

#include "kdgat/atomic_file.h"
#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/run/find_model.h"
#include "pipeline/show/status.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ScoreRequest {
  std::string log, run, model, output, root = "runs", device = "cpu", threads = "1";
  json options = json::object();
};

/// Nothing ends a pipe or a terminal but whoever writes to it: lines are wanted as they come.
bool is_live(const std::string& log) {
  std::error_code ignored;
  return log == "-" || (fs::exists(log, ignored) && !fs::is_regular_file(log, ignored) &&
                        !fs::is_directory(log, ignored));
}

/// Throws Error(kUsage) with every problem.
ScoreRequest read_request(const Context& context, const json& schema,
                          const std::vector<std::string>& words) {
  ScoreRequest request;
  CommandLine line(context, "kdgat score");
  line.word(request.log);
  line.value("--run", request.run);
  line.value("--model", request.model);
  line.value("-o,--output", request.output);
  line.value("--root", request.root);
  line.value("--device", request.device);
  line.value("--threads", request.threads);
  const auto set = [&](const std::string& key, const std::string& text) {
    const std::string own = own_option_name(schema, key);
    if (own.empty()) {
      return line.problem("unknown option " + key,
                          suggestion(key, option_names(schema), "kdgat score --help"));
    }
    const Checked checked = check_value(option_schema(schema, own), plain_scalar(text));
    if (!checked.problem.empty()) return line.problem(key + ": " + checked.problem);
    request.options[own] = checked.value;
  };
  line.value("--threshold", [&](const std::string& text) { set("threshold", text); });
  line.options({[&](const std::string& key) {
                  const std::string own = own_option_name(schema, key);
                  return own.empty() ? nullptr : &option_schema(schema, own);
                },
                [&] { return option_names(schema); }, set});
  std::vector<Diagnostic> problems = line.read(words);
  const std::string usage = "kdgat score --help shows examples";
  if (request.log.empty()) problems.push_back({"", "kdgat score needs a log", usage});
  if (request.run.empty()) problems.push_back({"", "kdgat score needs --run", usage});
  const json threads = plain_scalar(request.threads).value;
  if (!threads.is_number_integer() || threads < 1) {
    problems.push_back({"", "--threads: " + request.threads + " is not a number of threads", ""});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Windows as text, to where the user wants them.
class Lines {
 public:
  Lines(Context& context, const ScoreRequest& request)
      : out_(context.out),
        is_json_(context.json),
        names_files_(fs::is_directory(request.log)),
        is_live_(is_live(request.log)) {
    if (!request.output.empty()) file_.emplace(request.output);
  }

  /// Throws nothing: it is called from inside the stage.
  void add(const json& event) {
    if (is_stopped()) return;
    try {
      write(is_json_ ? json_line(event) : csv_line(event.get<WindowEvent>()));
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  /// Throws Error(kData or kStageFailed) if not everything could be written.
  void finish() {
    if (failure_) std::rethrow_exception(failure_);
    if (file_) return file_->commit();
    errno = 0;
    out_.flush();
    check_written();
  }

  /// Whoever read the lines has gone, as `head` does: no failure, and nothing more to do.
  bool is_closed() const { return is_closed_; }
  bool is_stopped() const { return is_closed_ || failure_; }

 private:
  static std::string json_line(const json& event) {
    return body_of(event).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }

  std::string csv_line(const WindowEvent& window) {
    std::string line;
    if (!std::exchange(has_header_, true)) {
      line = std::string("time,window,row,ids,score,decision") + (names_files_ ? ",file\n" : "\n");
    }
    line += window.time.is_null() ? "" : format_number("%.6f", window.time.get<double>());
    for (const int64_t number : {window.window, window.row, window.ids}) {
      line += "," + std::to_string(number);
    }
    line += format_number(",%.9g,", static_cast<double>(window.score)) + window.decision;
    if (names_files_) line += "," + csv_field(window.file);
    return line + "\n";
  }

  void write(const std::string& text) {
    if (file_) return file_->write(text);
    errno = 0;
    out_ << text;
    if (is_live_) out_.flush();
    check_written();
  }

  void check_written() {
    if (out_) return;
    if (errno != EPIPE) {
      throw Error(ExitCode::kStageFailed,
                  std::string("cannot write to standard output: ") + std::strerror(errno));
    }
    is_closed_ = true;
    // What waits in the stream's buffer has nowhere to go, and is no error at the end.
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) ::close(nowhere);
    out_.clear();
  }

  std::ostream& out_;
  bool is_json_, names_files_, is_live_;
  bool has_header_ = false, is_closed_ = false;
  std::exception_ptr failure_;
  std::optional<AtomicFile> file_;
};

constexpr const char* kScoreHelp =
    R"(Score the windows of a log with a trained model: one line a window on standard output.

  kdgat score drive.log --run runs/my/01JD.../classifier     a step's folder, or its model file
  kdgat score drive.csv.gz --run 01JD                        a run by its id, or its beginning
  candump -L can0 | kdgat score - --run 01JD --calibrate 100 lines come as windows fill
  kdgat score logs/ --run 01JD --model student --json -o scores.jsonl

usage: kdgat score LOG --run RUN [options]

LOG is a log of any form, gzip or not, a folder of logs, or - for standard input. Vocabulary,
features and windows are the model file's own, which is all that is needed. Columns:

  time       of the window's first row, in the log's own clock; empty where the log has none
  window     number in its log, from 0
  row        the window's first row in its log, from 0; malformed rows do not count
  ids        distinct ids
  score      probability of attack (classifier), reconstruction error (autoencoder)
  decision   attack, benign, or calibration: taken as benign to set the threshold
  file       for a folder of logs

  --run RUN            a run's id or folder, a step's folder, or a model file
  --model STEP         which model of a run that has several (else the fusion, else the classifier)
  -o, --output FILE    write there, whole or not at all
  --json               a JSON object a line
  --root DIR           folder that holds all runs (default runs)
  --device D           cpu, cuda or cuda:N (default cpu)
  --threads N          threads (default 1)

)";

constexpr const char* kScoreEnd = R"(
Exit codes: 0 every window was scored; 2 usage, or no threshold; 3 the log or the model cannot be
read, or fills no window; 130 and 143 stopped by a signal, after the lines written so far.
)";

std::string score_help(const std::vector<std::string>&, const PluginCatalog& catalog) {
  const PluginDescription* plugin = catalog.find_taking(kind::kLog);
  return kScoreHelp + (plugin == nullptr ? "" : options_text(plugin->options)) + kScoreEnd;
}

int score_verb(Context& context, const std::vector<std::string>& arguments) {
  const PluginDescription* plugin = context.catalog.find_taking(kind::kLog);
  if (plugin == nullptr) {
    throw Error(ExitCode::kPlugin, "the score plugin is not there", "see kdgat plugins list");
  }
  ScoreRequest request = read_request(context, plugin->options, arguments);
  require_input(request.log);
  const fs::path model = find_model(request.run, request.model, request.root, context.catalog);
  if (is_live(request.log)) request.options["batch"] = 1;
  const StageCall call{
      "run",
      *plugin,
      {{"step", plugin->name},
       {"options", request.options},
       {"device", request.device},
       {"threads", plain_scalar(request.threads).value},
       {"inputs",
        {{"model",
          json::array({{{"name", "model"}, {"kind", kind::kModel}, {"path", model.string()}}})},
         {"log", json::array({{{"name", "log"}, {"kind", kind::kLog}, {"path", request.log}}})}}}}};

  install_signal_flags();
  Lines lines(context, request);
  const auto status = make_terminal_status(
      context.err, Terminal::of(STDERR_FILENO, context.verbosity), steady_clock());
  const StageAnswer answer = call_stage(
      call,
      [&](const json& event) {
        if (kind_of(event) == EventKind::kWindow) return lines.add(event);
        if (kind_of(event) != EventKind::kLog) return;
        const LogEvent log = event.get<LogEvent>();
        status->message(log.level, log.message);
      },
      [&] {
        return lines.is_stopped() ? static_cast<int>(ExitCode::kInterrupted) : pending_signal();
      });
  if (lines.is_closed()) return 0;
  if (answer.code != 0 && !lines.is_stopped()) {
    // A wait cut short by a signal says only that it was interrupted.
    throw Error(static_cast<ExitCode>(pending_signal() != 0 ? pending_signal() : answer.code),
                answer.diagnostics);
  }
  lines.finish();
  if (lines.is_closed()) return 0;
  if (!request.output.empty()) {
    status->message("info", answer.result.value("summary", "") + ": " + request.output);
  }
  return 0;
}

}  // namespace

Verb make_score_verb() {
  return {"score", "score the windows of a log with a trained model", Needs::kCatalog, score_verb,
          score_help};
}

}  // namespace kdgat
