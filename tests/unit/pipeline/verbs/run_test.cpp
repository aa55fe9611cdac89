// `kdgat run` as a person types it, with the example plugin and the probe.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "kdgat/atomic_file.h"
#include "pipeline/system/hash.h"
#include "support/programs/background.h"
#include "support/runs/probe_plugin.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("kdgat run does a stage, keeps it the next time and says why", "[run]") {
  const ScratchFolder scratch;
  const CommandResult first = run_kdgat("run example steps=4", scratch.path());
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK_THAT(first.err, Contains("counted to 4") && Contains("next: kdgat report 01"));
  REQUIRE(runs_in(scratch.path()).size() == 1);
  const fs::path step = runs_in(scratch.path())[0] / "example";
  CHECK(json::parse(read_text(step / "metrics.json")).at("count") == 4);
  CHECK(json::parse(read_text(step / "memory.json")).at("actual").at("peak_resident_bytes") > 0);

  const CommandResult again = run_kdgat("run example steps=4", scratch.path());
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.err, Contains("kept  same options, stage version 1 as run") &&
                            Contains("everything is up to date") &&
                            Contains("next: kdgat plan example steps=4 --explain"));
  const CommandResult runtime =
      run_kdgat("run example steps=4 seconds=0.001 --dry-run", scratch.path());
  CHECK_THAT(runtime.out, Contains("example  kept"));
  const CommandResult why = run_kdgat("plan example steps=5 --explain", scratch.path());
  CHECK(why.exit_code == 0);
  CHECK_THAT(why.out,
             Contains("run") &&
                 Contains("option changed: example.steps 4 -> 5 (command line, argument 3)"));
  CHECK(runs_in(scratch.path()).size() == 1);

  const CommandResult forced = run_kdgat("run example steps=4 --force --json", scratch.path());
  CHECK(forced.exit_code == 0);
  CHECK(json::parse(forced.out).at("steps")[0].at("result").at("facts").at("count") == 4);
  CHECK(runs_in(scratch.path()).size() == 2);

  fs::remove(step / "count.json");
  fs::remove(
      json::parse(forced.out).at("folder").get<std::string>().insert(0, (scratch / "").string()) +
      "/example/count.json");
  CHECK_THAT(run_kdgat("plan example steps=4 --explain", scratch.path()).out,
             Contains("is gone: ") && Contains("count.json"));
}

TEST_CASE("kdgat run prints a stage's table as its result and the rest beside it", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const CommandResult result = run_kdgat("run probe --plugin-dir plugins", scratch.path());
  CHECK(result.exit_code == 0);
  CHECK(result.out == "\n          F1\nprobe  0.500\n\n");
  const CommandResult lines =
      run_kdgat("run probe --plugin-dir plugins --force --progress jsonl", scratch.path());
  CHECK(lines.exit_code == 0);
  CHECK_THAT(lines.err, Contains("{\"event\":\"begin\",\"step\":\"probe\""));
  CHECK(run_kdgat("run probe --plugin-dir plugins --progress=xml", scratch.path()).exit_code == 2);
}

TEST_CASE("kdgat run skips what needs a failed step and ends with its code", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  write_file(scratch / "p.yaml", kProbeChain);
  const CommandResult result =
      run_kdgat("run p.yaml first.mode=fail --plugin-dir plugins", scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.err, Contains("error: first: a.csv:3: bad row") &&
                             Contains("needs first, which failed") && Contains("counted to 2"));
  for (const auto& [mode, code] :
       {std::pair{"abort", 1}, {"memory", 82}, {"exit", 1}, {"invalid", 2}}) {
    const CommandResult failed =
        run_kdgat(std::string("run probe --plugin-dir plugins mode=") + mode, scratch.path());
    CHECK(failed.exit_code == code);
  }
  // A failed run is continued once its reason is gone: what was done stays done.
  const CommandResult mended = run_kdgat("run p.yaml --plugin-dir plugins", scratch.path());
  CHECK(mended.exit_code == 0);
  CHECK_THAT(mended.err, Contains("third     kept"));
}

TEST_CASE("a stage that ran out of memory names its report and leaves its plan", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const CommandResult result = run_kdgat("run probe mode=oom --plugin-dir plugins", scratch.path());
  CHECK(result.exit_code == 82);
  const fs::path step = runs_in(scratch.path())[0] / "probe";
  CHECK_THAT(result.err, Contains("error: probe: out of host memory") &&
                             Contains("report: " + fs::relative(step, scratch.path()).string() +
                                      "/oom-report.md"));
  const json record = json::parse(read_text(step / "memory.json"));
  CHECK(record.at("planned").at("predicted") == 7);
}

TEST_CASE("kdgat run refuses a plugin that is not as described, and every broken one", "[run]") {
  const ScratchFolder scratch;
  const fs::path library = make_plugin(scratch / "plugins");
  json description = json::parse(read_text(scratch / "plugins/kdgat_probe.json"));
  const auto run = [&] { return run_kdgat("run probe --plugin-dir plugins", scratch.path()); };
  const auto expect = [&](const std::string& text) {
    const CommandResult result = run();
    CHECK(result.exit_code == 4);
    CHECK_THAT(result.err, Contains(text));
  };
  compile_plugin(scratch / "plugins", "probe", "-DMINOR=0u -DEXTRA -O1");
  expect("describes another build of");
  description["abi"]["major"] = 3;
  write_file(scratch / "plugins/kdgat_probe.json", description.dump());
  expect("speaks plugin ABI 3.0, this kdgat 1.0");
  write_file(scratch / "plugins/kdgat_probe.json", "{");
  expect("bad plugin description");
  make_plugin(scratch / "plugins");
  fs::remove(library);
  expect("is missing");
  CHECK(run_kdgat("describe-plugin plugins/kdgat_probe.so", scratch.path()).exit_code == 4);
}

TEST_CASE("kdgat run looks at every plugin it needs before the first step", "[run]") {
  const ScratchFolder scratch;
  const fs::path library = make_plugin(scratch / "plugins");
  write_file(scratch / "p.yaml", "stages: {example: {steps: 2}, last: {stage: probe}}\n");
  fs::remove(library);
  const CommandResult result = run_kdgat("run p.yaml --plugin-dir plugins", scratch.path());
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.err, Contains("is missing") && !Contains("counted to"));
  CHECK(runs_in(scratch.path()).empty());
  CHECK(run_kdgat("run p.yaml --plugin-dir plugins --dry-run", scratch.path()).exit_code == 4);
}

TEST_CASE("kdgat run stops with the file and the reason when the disk is full", "[run]") {
  const ScratchFolder scratch;
  const CommandResult full = run_shell(
      "ulimit -f 1; '" + fs::absolute(kdgat_binary()).string() + "' run example steps=100",
      scratch.path());
  INFO(full.err);
  CHECK(full.exit_code == 3);
  CHECK_THAT(full.err, Contains("journal.jsonl: File too large"));
  const CommandResult rest = run_kdgat("run example steps=100", scratch.path());
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.err, Contains("continuing run"));
}

TEST_CASE("kdgat never ends in 0 when its results cannot be written", "[run]") {
  const ScratchFolder scratch;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  for (const char* output : {">/dev/full", ">&-"}) {
    for (const char* command : {"--help ", "config show example --json ", "run example --json "}) {
      const CommandResult result = run_shell(kdgat + command + output, scratch.path());
      INFO(command << output);
      CHECK(result.exit_code == 1);
      CHECK_THAT(result.err, Contains("cannot be written to standard output"));
    }
  }
  CHECK_THAT(run_kdgat("run example", scratch.path()).err, Contains("everything is up to date"));
}

TEST_CASE("closed standard descriptors never stand for files of a run", "[run]") {
  const ScratchFolder scratch;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  const CommandResult read = run_shell(kdgat + "data import - -o imported <&-", scratch.path());
  CHECK(read.exit_code == 3);
  CHECK_THAT(read.err, Contains("standard input: the file is empty"));
  CHECK(run_shell(kdgat + "run example <&- 2>&-", scratch.path()).exit_code == 0);
  REQUIRE(runs_in(scratch.path()).size() == 1);
  const fs::path run = runs_in(scratch.path())[0];
  CHECK(json::parse(read_text(run / "run.json")).at("exit_code") == 0);
  CHECK(json::parse(read_text(run / "example/step.json")).at("step") == "example");
}

TEST_CASE("kdgat run shows the first of very many problems and how many more there are", "[run]") {
  const ScratchFolder scratch;
  std::string profile = "stages:\n  example:\n";
  for (int i = 0; i < 60; ++i) profile += "    k" + std::to_string(i) + ": 1\n";
  write_file(scratch / "p.yaml", profile);
  const CommandResult result = run_kdgat("run p.yaml", scratch.path());
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("p.yaml:3: unknown option example.k0") &&
                             Contains("error: and 10 more problems") && !Contains("k55"));
}

TEST_CASE("kdgat run says when it may open too few files", "[run]") {
  const ScratchFolder scratch;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  const CommandResult few = run_shell("ulimit -n 20; " + kdgat + "run example", scratch.path());
  CHECK(few.exit_code == 1);
  CHECK_THAT(few.err, Contains("only 20 files may be open at once\n  hint: ulimit -n 1024"));
  CHECK(run_shell("ulimit -S -n 20; " + kdgat + "run example", scratch.path()).exit_code == 0);
}

TEST_CASE("kdgat run needs little stack", "[run]") {
  const ScratchFolder scratch;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
#ifdef __SANITIZE_ADDRESS__
  const std::string stack = "128";  // sanitizers leave room around each object
#else
  const std::string stack = "64";
#endif
  const std::string line = "ulimit -s " + stack + "; " + kdgat + "run example";
  CHECK(run_shell(line, scratch.path()).exit_code == 0);
}

TEST_CASE("kdgat run refuses a root without a name and shows no control bytes", "[run]") {
  const ScratchFolder scratch;
  const CommandResult root = run_kdgat("run example --root ''", scratch.path());
  CHECK(root.exit_code == 2);
  CHECK_THAT(root.err, Contains("root: \"\" names no folder"));
  CHECK(fs::is_empty(scratch.path()));
  write_file(scratch / "p.yaml", "stages: {\"a\\e[31mb\": {stage: example}}\n");
  const CommandResult name = run_kdgat("run p.yaml", scratch.path());
  CHECK(name.exit_code == 2);
  CHECK_THAT(name.err, Contains("a?[31mb") && !Contains("\x1b"));
}

TEST_CASE("kdgat run quotes what was typed as a shell needs it", "[run]") {
  const ScratchFolder scratch;
  const CommandResult result = run_kdgat("run example --root \"it's here\"", scratch.path());
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("kdgat report 'it'\\''s here/"));
  const CommandResult again = run_kdgat("run example --root \"it's here\"", scratch.path());
  CHECK_THAT(again.err, Contains("kdgat plan example --root 'it'\\''s here' --explain"));
}

TEST_CASE("a dry run opens no plugin, writes nothing and with -v asks the stage", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const CommandResult verbose =
      run_kdgat("run probe --plugin-dir plugins --dry-run -v", scratch.path());
  CHECK(verbose.exit_code == 0);
  CHECK_THAT(verbose.err, Contains("probe: plans {\"count\":1}"));
  const CommandResult loads = run_shell("LD_DEBUG=files '" + fs::absolute(kdgat_binary()).string() +
                                            "' run probe --plugin-dir plugins --dry-run",
                                        scratch.path());
  CHECK_THAT(loads.err,
             Contains("libkdgat_graph.so") && !Contains("kdgat_probe.so") && !Contains("libtorch"));
  const CommandResult dry = run_kdgat("run probe --plugin-dir plugins -n --json", scratch.path());
  CHECK(dry.exit_code == 0);
  CHECK(json::parse(dry.out).at("steps")[0].at("reason") == "never ran");
  CHECK(!fs::exists(scratch / "runs"));
}

TEST_CASE("kdgat run --in-process does the same without another process", "[run]") {
  const ScratchFolder scratch;
  const CommandResult result = run_kdgat("run example steps=2 --in-process", scratch.path());
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("counted to 2"));
}

TEST_CASE("kdgat doctor opens each plugin in a process of its own", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const auto plugins_line = [&] {
    const json out =
        json::parse(run_kdgat("doctor --json --plugin-dir plugins", scratch.path()).out);
    for (const json& check : out.at("checks")) {
      if (check.at("check") == "plugins") return check;
    }
    return json();
  };
  json said = plugins_line();
  CHECK(said.at("verdict") == "ok");
  const fs::path library = scratch / "plugins/kdgat_probe.so";
  const std::string whole = read_text(library);
  fs::remove(library);
  write_file(library, whole.substr(0, 2000));
  said = plugins_line();
  CHECK(said.at("verdict") == "fail");
  CHECK_THAT(said.at("finding"),
             Contains("probe cannot be opened: ") && Contains("describes another build of"));
  // Described as it is, nothing but opening it shows what is wrong.
  const auto describe_file = [&] {
    const fs::path description = scratch / "plugins/kdgat_probe.json";
    json described = json::parse(read_text(description));
    described["library_hash"] = hash_file(library);
    write_file(description, described.dump());
  };
  describe_file();
  said = plugins_line();
  CHECK(said.at("verdict") == "fail");
  CHECK_THAT(said.at("finding"),
             Contains("probe cannot be opened: ") && !Contains("describes another build of"));
  // One that ends its process as it is loaded does not end kdgat.
  fs::remove(library);
  write_file(scratch / "ends.c",
             "#include <stdlib.h>\n"
             "__attribute__((constructor)) static void end(void) { abort(); }\n");
  const CommandResult built =
      run_shell("cc -shared -fPIC ends.c -o plugins/kdgat_probe.so", scratch.path());
  REQUIRE(built.exit_code == 0);
  describe_file();
  CHECK_THAT(plugins_line().at("finding"), Contains("was killed by signal 6"));
}

TEST_CASE("plugins, doctor and version say what is there", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const auto kdgat = [&](const std::string& words) { return run_kdgat(words, scratch.path()); };
  CHECK_THAT(kdgat("plugins list --plugin-dir plugins").out,
             Contains("probe") && Contains("Misbehaves on demand."));
  CHECK_THAT(kdgat("plugins show probe --plugin-dir plugins").out,
             Contains("reads          before (count), any number, optional") && Contains("--mode"));
  CHECK(json::parse(kdgat("plugins list --json --plugin-dir plugins").out).at("plugins").size() >=
        2);
  CHECK_THAT(kdgat("plugins show probes --plugin-dir plugins").err,
             Contains("did you mean probe?"));
  CHECK(kdgat("plugins show probes").exit_code == 2);
  CHECK(kdgat("plugins").exit_code == 2);

  const CommandResult doctor = kdgat("doctor --json");
  std::set<std::string> checks;
  const json listed = json::parse(doctor.out);
  for (const json& check : listed.at("checks")) {
    checks.insert(check.at("check"));
    CHECK((check.at("verdict") == "ok") == check.at("hint").get<std::string>().empty());
  }
  CHECK(checks == std::set<std::string>{"LibTorch", "cores", "curl", "device", "disk",
                                        "instructions", "kernels", "mappings", "memory",
                                        "plugins"});
  CHECK_THAT(
      run_shell("PATH=none '" + fs::absolute(kdgat_binary()).string() + "' doctor", scratch.path())
          .out,
      Contains("warn  curl") && Contains("no curl in PATH"));
  CHECK_THAT(
      run_shell("KDGAT_ISA=mmx '" + fs::absolute(kdgat_binary()).string() + "' doctor; echo $?",
                scratch.path())
          .out,
      Contains("fail  instructions") && Contains("unset KDGAT_ISA") && Catch::EndsWith("1\n"));
  CHECK_THAT(kdgat("version").out, Catch::StartsWith("kdgat ") && Contains("plugin ABI 1.0"));
  CHECK(json::parse(kdgat("version --json").out).at("plugin_abi") == "1.0");
}

TEST_CASE("a run is named as it begins, and shown by kdgat top while it works", "[run]") {
  const ScratchFolder scratch;
  Background run("run example steps=3000 seconds=0.2 --name first --tag a --tag b", scratch.path());
  REQUIRE(wait_for(scratch.path(), "now.json", "\"done\""));
  const json top = json::parse(run_kdgat("top --json", scratch.path()).out);
  REQUIRE(top.at("runs").size() == 1);
  const json& shown = top.at("runs").at(0);
  CHECK(shown.at("name") == "first");
  CHECK(shown.at("steps").at(0).at("step") == "example");
  CHECK(shown.at("steps").at(0).at("total") == 3000);
  CHECK_THAT(run_kdgat("top", scratch.path()).out, Contains("first  example"));
  run.end(SIGTERM);
  const CommandResult none = run_kdgat("top", scratch.path());
  CHECK(none.out.empty());
  CHECK_THAT(none.err, Contains("no run is at work"));
  const fs::path folder = runs_in(scratch.path()).at(0);
  CHECK_FALSE(fs::exists(folder / "example" / "now.json"));
  const json record = json::parse(read_text(folder / "run.json"));
  CHECK(record.at("versions").at("stages").contains("example"));
  CHECK(record.at("machine").at("cores") > 0);
  const json known = json::parse(run_kdgat("runs show first --json", scratch.path()).out);
  CHECK(known.at("tags") == json{"a", "b"});
  CHECK(run_kdgat("run example --name a/b", scratch.path()).exit_code == 2);
}
