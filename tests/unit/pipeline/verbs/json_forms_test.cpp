// What is printed under --json: the table of forms, the promise of their versions, and errors. That
// every answer is of its form: tests/cli/json_test.cpp.
#include "pipeline/verbs/json/json_forms.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "pipeline/cli/json_error.h"
#include "pipeline/verbs/verbs.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/json_schema.h"
#include "support/runs/probe_plugin.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr const char* kPublished = "tests/data/json_forms.txt";

struct Said {
  int code = -1;
  std::string out, err;
};

Said say_json(std::vector<std::string> words) {
  words.insert(words.begin(), "--json");
  std::ostringstream out, err;
  const int code = run_command(verbs(), words, out, err);
  return {code, out.str(), err.str()};
}

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line, last;
  while (std::getline(lines, line)) last = line;
  return last;
}

/// The error that is the last line, held against its form.
json error_of(const Said& said) {
  INFO(said.err);
  const json out = json::parse(last_line(said.err));
  const std::vector<std::string> problems =
      schema_problems(out, json_schema(*find_json_form("kdgat.error")));
  CHECK(problems == std::vector<std::string>{});
  CHECK(out.at("error").at("exit_code") == said.code);
  return out.at("error");
}

/// A line for each key: "runs[].seconds number|null".
void add_lines(const json& schema, const std::string& path, std::vector<std::string>& lines) {
  std::string types;
  const json type = schema.value("type", json("any"));
  for (const json& one : type.is_array() ? type : json::array({type})) {
    types += (types.empty() ? "" : "|") + one.get<std::string>();
  }
  const json others = schema.value("additionalProperties", json());
  if (!path.empty()) {
    lines.push_back(path + " " + (schema.contains("const") ? "const" : types) +
                    (others == true ? " open" : ""));
  }
  if (schema.contains("items")) add_lines(schema.at("items"), path + "[]", lines);
  if (others.is_object()) add_lines(others, path + ".*", lines);
  if (!schema.contains("properties")) return;
  const json required = schema.value("required", json::array());
  for (const auto& [key, below] : schema.at("properties").items()) {
    const bool is_there = std::find(required.begin(), required.end(), key) != required.end();
    std::string name = path;
    name.append(".").append(key).append(is_there ? "" : "?");
    add_lines(below, name, lines);
  }
}

/// By form and version, what is promised of it.
std::map<std::string, std::set<std::string>> published_lines() {
  std::map<std::string, std::set<std::string>> out;
  std::istringstream text(read_text(kPublished));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t blank = line.find(' ');
    out[line.substr(0, blank)].insert(line.substr(blank + 1));
  }
  return out;
}

}  // namespace

TEST_CASE("a form keeps what its version promises", "[json]") {
  const auto published = published_lines();
  std::string added;
  std::set<std::string> schemas;
  for (const JsonForm& form : json_forms()) {
    const std::string name = form.schema();
    CHECK(schemas.insert(name).second);
    CHECK(read_text("docs/json.md").find("| `" + name + "` |") != std::string::npos);
    std::vector<std::string> lines;
    add_lines(json_schema(form), "", lines);
    const auto found = published.find(name);
    const std::set<std::string> none, &before = found == published.end() ? none : found->second;
    for (const std::string& line : before) {
      INFO(name << " had the key \"" << line
                << "\": raise the version of the form in the table, and "
                << "put its lines in the place of the old ones");
      CHECK(std::find(lines.begin(), lines.end(), line) != lines.end());
    }
    for (const std::string& line : lines) {
      if (!before.contains(line)) added.append(name).append(" ").append(line).append("\n");
    }
  }
  INFO("new keys, to be added to " << kPublished);
  CHECK(added.empty());
  for (const auto& [name, lines] : published) {
    INFO("a form that is gone, or of an older version: " << name);
    CHECK(schemas.contains(name));
  }
  if (!added.empty()) WARN(added);
}

TEST_CASE("every verb that takes --json has a form, and no form is of another", "[json]") {
  std::map<std::string, int> forms;
  for (const JsonForm& form : json_forms()) {
    CHECK(form.command.starts_with("kdgat"));
    std::istringstream words(form.command);
    std::string word;
    words >> word >> word;
    ++forms[word];
  }
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    std::ostringstream out, err;
    run_command(verbs(), {verb.name, "--help"}, out, err);
    INFO(verb.name);
    if (verb.name != "fit" && out.str().find("--json") != std::string::npos) {
      CHECK(forms.contains(verb.name));
    }
    forms.erase(verb.name);
  }
  forms.erase("kdgat");  // errors
  CHECK(forms.empty());
}

TEST_CASE("kdgat help json lists the forms and shows one", "[json]") {
  const json list = json::parse(say_json({"help", "json"}).out);
  CHECK(list.at("schema") == "kdgat.help.json/1");
  CHECK(list.at("forms").size() == json_forms().size());
  for (const std::string name : {"runs.list", "kdgat.runs.list", "kdgat.runs.list/1"}) {
    const json schema = json::parse(say_json({"help", "json", name}).out);
    CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema.at("properties").at("schema").at("const") == "kdgat.runs.list/1");
    CHECK(schema.at("required") == json({"schema", "runs"}));
    const json& run = schema.at("properties").at("runs").at("items");
    CHECK(run.at("properties").at("bytes").at("type") == "integer");
  }
  CHECK(say_json({"help", "json", "runs", "list"}).code == 0);
  CHECK(error_of(say_json({"help", "json", "runs.lst"})).at("hint") == "did you mean runs.list?");
  CHECK(say_json({"help", "json", "runs.list/9"}).code == 2);
}

TEST_CASE("an error under --json is one line on standard error", "[json][cli]") {
  CHECK(json_schema(*find_json_form("kdgat.error")).at("title") == kErrorSchema);
  const Said unknown = say_json({"rnu"});
  CHECK(unknown.code == 2);
  CHECK(unknown.out.empty());
  CHECK(unknown.err == R"({"schema":"kdgat.error/1","error":{"kind":"usage","exit_code":2,)"
                       R"("message":"unknown command rnu","hint":"did you mean kdgat run?"}})"
                       "\n");
  const json flag = error_of(say_json({"config", "init", "a", "--forec"}));
  CHECK(flag.at("message") == "unknown flag --forec");
  CHECK(flag.at("argument") == 5);
  CHECK(flag.at("hint") == "did you mean --force?");
  CHECK_FALSE(flag.contains("problems"));
  CHECK(error_of(say_json({"runs", "show", "none", "--root", "/nowhere"})).at("kind") == "data");
  CHECK(error_of(say_json({})).at("message") == "no command is named");
}

TEST_CASE("several problems are a list under --json, each with its place", "[json][cli]") {
  const ScratchFolder scratch;
  write_text(scratch / "p.yaml", "stages:\n  a: {stage: none}\nsead: 3\n");
  const json error = error_of(say_json({"config", "show", (scratch / "p.yaml").string()}));
  REQUIRE(error.at("problems").size() == 2);
  const json first = error.at("problems").at(0);
  CHECK(error.at("message") == first.at("message"));
  std::set<int> lines;
  for (const json& one : error.at("problems")) {
    CHECK(one.at("file") == (scratch / "p.yaml").string());
    lines.insert(one.at("line").get<int>());
  }
  CHECK(lines == std::set<int>{2, 3});
}

TEST_CASE("what failed, its place and its files are keys of an error", "[json]") {
  const Failure failure{"gat", {{"", "no memory\nat all", "less"}}, "a/oom-report.md", "a/log.txt"};
  CHECK(failure.text() ==
        "gat: no memory\nat all\n  hint: less\n  report: a/oom-report.md\n  log: a/log.txt");
  const json one = json::parse(json_error(ExitCode::kGpuMemory, {failure}));
  CHECK(one.at("error") == json({{"kind", "gpu_memory"},
                                 {"exit_code", 81},
                                 {"message", "no memory\nat all"},
                                 {"step", "gat"},
                                 {"hint", "less"},
                                 {"report", "a/oom-report.md"},
                                 {"log", "a/log.txt"}}));
  const auto place = [](const std::string& where) {
    const Failure at_place{"", {{where, "bad", ""}}};
    json out = json::parse(json_error(ExitCode::kData, {at_place})).at("error");
    for (const char* key : {"kind", "exit_code", "message"}) out.erase(key);
    return out;
  };
  CHECK(place("a:b.yaml:12") == json({{"file", "a:b.yaml"}, {"line", 12}}));
  CHECK(place("command line, argument 4") == json({{"argument", 4}}));
  CHECK(place("command line").empty());
  CHECK(place("KDGAT_LR") == json({{"where", "KDGAT_LR"}}));
  CHECK(problem_text({"command line, argument 4", "lr: bad", "0.1"}) ==
        "lr: bad (command line, argument 4)\n  hint: 0.1");
  CHECK(problem_text({"KDGAT_LR", "bad", ""}) == "bad (KDGAT_LR)");
  CHECK(json(json(failure).get<Failure>()) == json(failure));
  CHECK(problem_text({"a.csv:3", "bad", ""}) == "a.csv:3: bad");
  CHECK(json::parse(json_error(ExitCode::kInterrupted, {})).at("error").at("message") ==
        "interrupted");
  const Failure secret{"", {{"", "http://me:secret@host/x is not there", ""}}};
  CHECK_THAT(json_error(ExitCode::kData, {secret}), !Contains("secret"));
}

TEST_CASE("results that cannot be written are an error under --json too", "[json][cli]") {
  struct Full : std::streambuf {
  } full;
  std::ostream out(&full);
  std::ostringstream err;
  CHECK(run_command(verbs(), {"version", "--json"}, out, err) == 1);
  CHECK_THAT(json::parse(err.str()).at("error").at("message"), Contains("standard output"));
}

TEST_CASE("work that fails without an exception ends in a line of JSON too", "[json][run]") {
  const ScratchFolder scratch;
  const CommandResult unmet =
      run_kdgat("run example steps=2 --require 'example.count>=5' --json", scratch.path());
  CHECK(unmet.exit_code == 11);
  const json error = error_of({unmet.exit_code, unmet.out, unmet.err});
  CHECK(error.at("kind") == "unmet");
  CHECK_THAT(error.at("message"), Contains("example.count"));
  CHECK(json::parse(unmet.out).at("exit_code") == 11);

  make_plugin(scratch / "plugins");
  write_text(scratch / "p.yaml",
             "stages:\n  a: {stage: probe, mode: oom}\n  b: {stage: probe, mode: fail}\n");
  const CommandResult failed = run_kdgat("run p.yaml --json --plugin-dir plugins", scratch.path());
  const json two = error_of({failed.exit_code, failed.out, failed.err});
  CHECK(two.at("kind") == "host_memory");
  CHECK(two.at("step") == "a");
  CHECK_THAT(two.at("message"), Contains("out of host memory") && !Contains("log"));
  CHECK_THAT(two.at("report"), Contains("/a/oom-report.md"));
  CHECK_THAT(two.at("log"), Contains("/a/log.txt"));
  REQUIRE(two.at("problems").size() == 2);
  CHECK_THAT(two.at("problems").at(1).at("log"), Contains("/b/log.txt"));

  const CommandResult seeds =
      run_kdgat("run p.yaml --seeds 1,2 --until a --json --plugin-dir plugins", scratch.path());
  const json of_seeds = error_of({seeds.exit_code, seeds.out, seeds.err});
  CHECK_THAT(of_seeds.at("step"), Contains("seed") && Contains(": a"));
  CHECK_THAT(of_seeds.at("message"), Contains("out of host memory") && !Contains("log"));
  CHECK_THAT(of_seeds.at("log"), Contains("/a/log.txt"));
}
