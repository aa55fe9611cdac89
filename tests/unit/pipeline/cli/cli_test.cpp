#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>

#include "kdgat/options.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/verbs/verbs.h"
#include "support/programs/command.h"
#include "support/programs/shell_on_terminal.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using kdgat::test::ScratchFolder;

namespace {

struct Said {
  int code = -1;
  std::string out, err;
};

Said say(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = run_command(verbs(), words, out, err);
  return {code, out.str(), err.str()};
}

struct StageOptions {
  double lr = 0.003;
  bool use_scheduler = false;
  std::vector<int64_t> hidden_dims = {4, 2};
  std::vector<std::string> tags;
  static auto table() {
    using O = StageOptions;
    return std::tuple{field("lr", &O::lr, "Rate."),
                      field("use_scheduler", &O::use_scheduler, "Schedule."),
                      field("hidden_dims", &O::hidden_dims, "Widths.").alias("vgae_hidden_dims"),
                      field("tags", &O::tags, "Words.")};
  }
};

RunOptions parse(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  Context context{out, err, {}, {}, false, 0, {}};
  PluginDescription plugin;
  plugin.name = "autoencoder";
  plugin.options = options_schema<StageOptions>();
  plugin.refused = {{"precision", {}, ""}};
  context.catalog.add(plugin);
  for (size_t i = 0; i < words.size(); ++i) context.positions.push_back(static_cast<int>(i) + 2);
  bool origin = false;
  const RunOptions options = parse_run_options(
      context, words,
      {"kdgat run", [&](CommandLine& line, RunOptions&) { line.flag("--origin", origin); }});
  CHECK(origin == (std::find(words.begin(), words.end(), "--origin") != words.end()));
  return options;
}

/// "key=value" of every override, in order.
std::vector<std::string> overrides(const RunOptions& options) {
  std::vector<std::string> out;
  for (const auto& o : options.profile.overrides) out.push_back(o.key + "=" + o.value);
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("help begins with examples and names every verb that is not hidden", "[cli]") {
  const Said said = say({"--help"});
  CHECK(said.code == 0);
  CHECK(said.out.find("kdgat run --preset smoke") < said.out.find("usage:"));
  for (const Verb& verb : verbs()) {
    CHECK((said.out.find("\n  " + verb.name + " ") != std::string::npos) == !verb.hidden);
  }
  CHECK(said.err.empty());
}

TEST_CASE("nothing said prints help and is a usage error", "[cli]") {
  const Said said = say({});
  CHECK(said.code == 2);
  CHECK(said.out.empty());
  CHECK(said.err == say({"--help"}).out);
}

TEST_CASE("every verb has help", "[cli]") {
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    INFO(verb.name);
    const Said said = say({verb.name, "--help"});
    CHECK(said.code == 0);
    CHECK(said.out.size() > 60);
    CHECK(say({"help", verb.name}).out == said.out);
  }
}

TEST_CASE("help lines fit a hundred columns", "[cli]") {
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    std::istringstream lines(say({verb.name, "--help"}).out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  }
}

TEST_CASE("an unknown command names the nearest and exits 2", "[cli]") {
  const Said said = say({"rnu"});
  CHECK(said.code == 2);
  CHECK(said.err == "error: unknown command rnu\n  hint: did you mean kdgat run?\n");
  CHECK(say({"--bogus"}).err == "error: unknown option --bogus\n  hint: see kdgat --help\n");
}

TEST_CASE("global options stand anywhere, together or apart", "[cli]") {
  const std::string json = say({"version", "--json"}).out;
  CHECK(json.front() == '{');
  CHECK(say({"--json", "version"}).out == json);
  CHECK(say({"-qv", "version", "--json", "-v"}).out == json);
  CHECK(say({"--version"}).out == say({"version"}).out);
  CHECK(say({"--bogus", "version"}).err.find("unknown option --bogus") != std::string::npos);
  CHECK(say({"versoin", "version"}).err.find("unknown command versoin") != std::string::npos);
  CHECK(say({"version", "--plugin-dir"}).err == "error: --plugin-dir needs a folder\n");
}

TEST_CASE("a verb or action refuses words and flags it does not know, with their place", "[cli]") {
  CHECK(say({"version", "-q", "now"}).err ==
        "error: unexpected word now (command line, argument 3)\n"
        "  hint: see kdgat version --help\n");
  CHECK(say({"-q", "config", "init", "a", "--forec", "b"}).err ==
        "error: unknown flag --forec (command line, argument 5)\n"
        "  hint: did you mean --force?\n");
  CHECK(say({"plugins", "lst"}).err ==
        "error: unknown action lst (command line, argument 2)\n"
        "  hint: did you mean list?\n");
  CHECK(say({"config"}).err ==
        "error: config needs an action: show, schema, options, init\n"
        "  hint: see kdgat config --help\n");
  CHECK(say({"plugins", "show"}).code == 2);
}

TEST_CASE("help exit-codes lists the documented codes", "[cli]") {
  const Said said = say({"help", "exit-codes"});
  for (const ExitCode code :
       {ExitCode::kOk, ExitCode::kStageFailed, ExitCode::kUsage, ExitCode::kData, ExitCode::kPlugin,
        ExitCode::kDoesNotFit, ExitCode::kGpuMemory, ExitCode::kHostMemory, ExitCode::kRequeue,
        ExitCode::kInterrupted, ExitCode::kTerminated}) {
    CHECK(said.out.find(" " + std::to_string(static_cast<int>(code)) + "  ") != std::string::npos);
  }
}

TEST_CASE("config init writes a profile once", "[cli]") {
  const ScratchFolder folder;
  const std::string file = (folder / "my.yaml").string();
  CHECK(say({"config", "init", file}).code == 0);
  CHECK(kdgat::test::read_text(file).find("stages:") != std::string::npos);
  const Said again = say({"config", "init", file});
  CHECK(again.code == 2);
  CHECK(again.err == file + ": there already\n  hint: --force replaces it\n");
  CHECK(say({"config", "init", file, "--force", "-q"}).err.empty());
}

TEST_CASE("config schema is text for people and JSON for editors", "[cli]") {
  CHECK(say({"config", "schema", "data"}).out.find("--data.window N") != std::string::npos);
  const auto schema = nlohmann::json::parse(say({"config", "schema", "--json"}).out);
  CHECK(schema["properties"]["data"].dump().find("\"window\"") != std::string::npos);
  CHECK(schema["properties"].contains("experiment_root"));
  const Said unknown = say({"config", "schema", "dta"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("did you mean data?") != std::string::npos);
}

TEST_CASE("the completions of three shells ask the program", "[cli]") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Said said = say({"completion", shell});
    CHECK(said.code == 0);
    CHECK(said.out.find("completion at") != std::string::npos);
  }
  CHECK(say({"completion", "tcsh"}).code == 2);
}

TEST_CASE("a run is read from words, flags and files", "[cli]") {
  const RunOptions o =
      parse({"autoencoder", "--preset", "vgae,student", "p.yaml", "--data", "logs", "--root=out",
             "-n", "--force", "--until", "evaluate", "lr=0.1", "--device", "cpu", "--preset", "x"});
  CHECK(o.profile.problems.empty());
  CHECK(o.profile.stage == "autoencoder");
  CHECK(o.profile.presets == Words{"vgae", "student", "x"});
  CHECK(o.profile.config->string() == "p.yaml");
  CHECK(o.profile.data == "logs");
  CHECK(o.plan.until == "evaluate");
  CHECK((o.dry_run && o.plan.force && !o.in_process));
  CHECK(overrides(o) == Words{"root=out", "lr=0.1", "device=cpu"});
  CHECK(o.profile.overrides[1].origin == "command line, argument 13");
}

TEST_CASE("every option of a stage is a flag under its own and its published name", "[cli]") {
  const RunOptions o = parse({"--lr",
                              "-1",
                              "--autoencoder.lr",
                              "0.5",
                              "--vgae-hidden-dims",
                              "80",
                              "40",
                              "16",
                              "--use-scheduler",
                              "--use-scheduler",
                              "yes",
                              "--tags",
                              "a,b",
                              "autoencoder",
                              "--precision",
                              "16-mixed",
                              "--num-workers",
                              "4",
                              "--data.window",
                              "50",
                              "--origin"});
  CHECK(o.profile.problems.empty());
  CHECK(overrides(o) == Words{"lr=-1", "autoencoder.lr=0.5", "vgae_hidden_dims=[80, 40, 16]",
                              "use_scheduler=true", "use_scheduler=true", "tags=a,b",
                              "precision=16-mixed", "num_workers=4", "data.window=50"});
  CHECK(o.profile.stage == "autoencoder");
}

TEST_CASE("a flag leaves the words that are not its values", "[cli]") {
  const RunOptions o = parse({"--use-scheduler", "autoencoder", "--hidden-dims", "8", "4", "a.yaml",
                              "--lr=", "lr=2", "--hidden-dims=[3,2]", "--tags", "", "-n"});
  CHECK(o.profile.problems.empty());
  CHECK(o.profile.stage == "autoencoder");
  CHECK(o.profile.config->string() == "a.yaml");
  CHECK(o.dry_run);
  CHECK(overrides(o) == Words{"use_scheduler=true", "hidden_dims=[8, 4]", "lr=", "lr=2",
                              "hidden_dims=[3,2]", "tags="});
  CHECK(o.profile.overrides[3].origin == "command line, argument 9");
  const RunOptions empty = parse({"--data=", "autoencoder", "--force=1", "-nx", "--a:b"});
  std::string text;
  for (const Diagnostic& d : empty.profile.problems) text += problem_text(d) + "\n";
  CHECK(text ==
        "--data needs a value (command line, argument 2)\n"
        "--force takes no value (command line, argument 4)\n"
        "-nx takes no value (command line, argument 5)\n"
        "unknown flag --a:b (command line, argument 6)\n"
        "  hint: see kdgat run --help\n");
  CHECK(empty.profile.stage == "autoencoder");
}

TEST_CASE("problems of the command line wait to be reported with all others", "[cli]") {
  const RunOptions o = parse({"--vgae-hiden-dims", "4", "a.yaml", "b.yaml", "one", "two",
                              "--memory-limit", "8G", "--dryrun", "--data"});
  CHECK(overrides(o) == Words{"memory_limit=8G"});
  std::string text;
  for (const Diagnostic& d : o.profile.problems) text += problem_text(d) + "\n";
  CHECK(text ==
        "unknown flag --vgae-hiden-dims (command line, argument 2)\n"
        "  hint: did you mean --vgae-hidden-dims?\n"
        "a second profile file b.yaml (command line, argument 5)\n"
        "  hint: layer presets instead: --preset A,B\n"
        "cannot run both one and two (command line, argument 7)\n"
        "  hint: name one stage, or a profile with several; options are key=value\n"
        "unknown flag --dryrun (command line, argument 10)\n"
        "  hint: did you mean --dry-run?\n"
        "--data needs a value (command line, argument 11)\n");
}

TEST_CASE("a message repeats no value at any length", "[cli]") {
  const ScratchFolder scratch;
  const std::string kdgat = std::filesystem::absolute(test::kdgat_binary()).string();
  const std::string many(100'000, 'y');
  for (const std::string& words :
       {"KDGAT_STEPS=" + many + " '" + kdgat + "' run example -n",
        "'" + kdgat + "' run example -n steps=" + many, "'" + kdgat + "' run example --" + many,
        "'" + kdgat + "' run " + many, "'" + kdgat + "' run example --json steps=" + many,
        "'" + kdgat + "' runs show '" + many + "'", "'" + kdgat + "' run example --name " + many}) {
    const test::CommandResult said = test::run_shell(words, scratch.path());
    INFO(words.substr(0, 20) << said.err.substr(0, 3000));
    CHECK(said.exit_code != 0);
    CHECK(said.err.size() < 10'000);
    CHECK(said.err.find("bytes left out") != std::string::npos);
  }
}

TEST_CASE("a FIFO is no profile, and nothing waits for one", "[cli]") {
  const ScratchFolder scratch;
  REQUIRE(::mkfifo((scratch / "p.yaml").c_str(), 0600) == 0);
  const std::string kdgat = "'" + std::filesystem::absolute(test::kdgat_binary()).string() + "'";
  for (const std::string words : {"run --config p.yaml", "config show p.yaml", "plan p.yaml"}) {
    const test::CommandResult said = test::run_shell(kdgat + " " + words, scratch.path());
    INFO(words << said.err);
    CHECK(said.exit_code == 2);
    CHECK(said.err.find("p.yaml: cannot be read") != std::string::npos);
  }
}

TEST_CASE("a signal before any work ends the program with its code", "[cli]") {
  const ScratchFolder scratch;
  test::write_run(scratch / "runs", "set", test::kFirstRun, {});
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    test::ShellOnTerminal terminal(
        {std::filesystem::absolute(test::kdgat_binary()).string(), "runs", "rm", "01JDAAAA"},
        scratch.path(), {});
    REQUIRE(terminal.shows("[y/N]"));  // it waits for an answer
    CHECK(terminal.ends_by(signal) == code);
  }
}
