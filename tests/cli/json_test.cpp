// Every verb that takes --json, once with something to say: each answer is of the form that the
// program publishes of it (`kdgat help json FORM --json`), without a key that the form does not
// name.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/json_schema.h"
#include "support/runs/fake_cluster.h"

namespace {

/// Forms as published, and which of them answers were held against.
class Forms {
 public:
  Forms() {
    const json list =
        json::parse(must_kdgat("help json --json", fs::current_path()).out).at("forms");
    for (const json& form : list) all_[form.at("schema")] = form.at("name");
  }

  void check(const std::string& schema, const json& answer) {
    INFO(schema);
    REQUIRE(all_.contains(schema));
    const auto [found, is_new] = schemas_.try_emplace(schema);
    if (is_new) {
      found->second = json::parse(
          must_kdgat("help json " + all_.at(schema) + " --json", fs::current_path()).out);
    }
    CHECK(schema_problems(answer, found->second) == std::vector<std::string>{});
  }
  /// One document, whose first key says of what form it is.
  json document(const std::string& words, const CommandResult& said) {
    INFO(words << "\n" << said.out.substr(0, 400) << "\n" << said.err);
    const auto ordered = nlohmann::ordered_json::parse(said.out);
    REQUIRE(ordered.is_object());
    CHECK(ordered.begin().key() == "schema");
    json out = ordered;
    check(out.at("schema"), out);
    return out;
  }
  /// Lines of several forms are told apart by `event`.
  void lines(const std::string& words, const CommandResult& said, const std::string& otherwise) {
    INFO(words << "\n" << said.err);
    CHECK_FALSE(said.out.empty());
    for (const json& line : json_lines(said.out)) {
      const std::string event = line.value("event", "");
      check(event == "alarm"     ? "kdgat.score.alarm/1"
            : event == "traffic" ? "kdgat.watch.traffic/1"
                                 : otherwise,
            line);
    }
  }
  /// Those that no answer was of.
  std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& [schema, name] : all_) {
      if (!schemas_.contains(schema)) out.push_back(schema);
    }
    return out;
  }

 private:
  std::map<std::string, std::string> all_;
  std::map<std::string, json> schemas_;
};

/// In a folder of its own.
struct Said {
  Forms& forms;
  const ScratchFolder scratch{};

  json document(const std::string& words, int code = 0) const {
    const CommandResult said = run_kdgat(words + " --json", scratch.path());
    INFO(words << "\n" << said.err);
    REQUIRE(said.exit_code == code);
    return forms.document(words, said);
  }
};

void check_program(Forms& forms) {
  const Said said{forms};
  for (const char* words : {"version --all", "plugins list", "plugins show classifier",
                            "config options", "help json"}) {
    said.document(words);
  }
  const CommandResult doctor = run_kdgat("doctor --json", said.scratch.path());
  forms.document("doctor", doctor);  // this machine may lack something
  const CommandResult error = run_kdgat("runs show none --json", said.scratch.path());
  CHECK(error.out.empty());
  const json line = json::parse(error.err);
  forms.check(line.at("schema"), line);
}

void check_runs(Forms& forms) {
  const Said said{forms};
  const std::string run = "run example steps=3 --require 'example.count>=3' ";
  said.document(run + "-n -v");
  said.document(run + "--name base --tag paper");
  CHECK(said.document(run).at("id").is_null());
  CHECK(said.document(run + "-n").at("steps").at(0).at("action") == "keep");
  said.document("run example --seeds 1..2 -n");
  said.document("run example --seeds 1..2");
  said.document("run example steps=4 --require 'example.count>=9'", 11);
  said.document("plan example");
  const json list = said.document("runs list").at("runs");
  REQUIRE(list.size() == 5);
  std::string all;
  for (const json& one : list) {
    const std::string folder = " '" + one.at("folder").get<std::string>() + "'";
    all += folder;
    CHECK(said.document("runs show" + folder).contains("seeds") == one.at("steps").empty());
    said.document("runs note" + folder + " words");
  }
  said.document("runs compare" + all);
  said.document("runs compare --by-run" + all);
  said.document("runs pivot rows=seed cols=example.steps value=example.count");
  said.document("runs pivot rows=seed value=example.count --name none");
  forms.lines("runs export", must_kdgat("runs export --json", said.scratch.path()),
              "kdgat.runs.export/1");
  said.document("report base");
  said.document("memory report base");
  said.document("sync");
  said.document("top");
  said.document("runs rm -n '" + list.at(0).at("folder").get<std::string>() + "'");
  // A run at work, as a process of another program would see it.
  const Background at_work("run example steps=10000 seconds=0.2 --root slow", said.scratch.path());
  json top;
  REQUIRE(comes_true([&] {
    const CommandResult shown = run_kdgat("top --root slow --json", said.scratch.path());
    if (shown.out.find("\"unit\": \"s") == std::string::npos) return false;
    top = forms.document("top", shown);
    return true;
  }));
  REQUIRE(top.at("runs").size() == 1);
  CHECK(top.at("runs").at(0).at("steps").size() == 1);
}

void check_tune(Forms& forms) {
  const Said said{forms};
  const std::string tune =
      "tune classifier --preset smoke data.synth.seconds=20 max_epochs=1 "
      "--threads 1 'hidden=[8,16]' ";
  said.document(tune + "-n");
  const std::string run = said.document(tune).at("folder");
  said.document("tune show '" + run + "'");
  said.document("tune show '" + run + "' --simulate 16GiB");
  said.document("runs list");
  said.document("runs show '" + run + "'");
  said.document("memory report '" + run + "'");
  said.document("plan classifier --estimate");
  if (has_stage("graphsage")) {
    said.document("plan graphsage --legacy hidden_dim=64 num_layers=2");
    said.document("plan graphsage --legacy");
  }
  said.document("plan --preset smoke --static data.synth.seconds=20");
  said.document("plan --preset smoke --static data.synth.seconds=20 --memory-limit 1MiB", 5);
}

void check_jobs(Forms& forms) {
  const Cluster cluster;
  const auto document = [&](const std::string& words, int code = 0) {
    const CommandResult said = cluster.kdgat(words + " --json");
    INFO(words << "\n" << said.err);
    REQUIRE(said.exit_code == code);
    return forms.document(words, said);
  };
  document("submit p.yaml -n");
  cluster.set("hold");
  document("submit p.yaml");
  cluster.set("state-101", "RUNNING");
  cluster.set("state-102", "PENDING Reason=Dependency");
  const std::string run = " '" + cluster.run().string() + "'";
  CHECK(document("jobs" + run).at("jobs").size() == 2);
  CHECK(document("cancel" + run).at("cancelled").size() == 2);
  cluster.set("state-101", "NODE_FAIL");
  cluster.set("state-102", "CANCELLED Reason=DependencyNeverSatisfied");
  CHECK(document("jobs --retry" + run).at("submitted").size() == 2);
  for (const char* step : {" first", " second"}) cluster.kdgat("job" + run + step);
  CHECK(document("submit p.yaml").at("steps").empty());
}

void check_data(Forms& forms) {
  const Said said{forms};
  std::vector<std::string> kinds = {"can", "graphs"};
  const std::pair<const char*, const char*> of_fields[] = {{"gtssl", "tree"},
                                                           {"textgcn", "text"},
                                                           {"graphsage", "ratings"},
                                                           {"equivariant", "molecules"}};
  for (const auto& [stage, kind] : of_fields) {
    if (has_stage(stage)) kinds.push_back(kind);
  }
  for (const std::string& kind : kinds) {
    said.document("data synth -o " + kind + " --graphs 40 --nodes 40 --seconds 10" +
                  (kind == "can" ? "" : " --kind " + kind));
    said.document("data import " + kind + " -o " + kind + "-store");
    said.document("data inspect " + kind + "-store");
  }
  said.document("data verify can-store");
  said.document("data import can -o other -n");
  said.document("data inject can/train_01_attack_free -o attacked -n");
  const std::string log = "can/train_01_attack_free/attack-free-vehicle1.csv";
  said.document("data inspect " + log);
  said.document("data inject " + log + " -o attacked --attacks dos");
  said.document("data convert " + log + " -o drive.log");
}

void check_logs(Forms& forms) {
  const DetectorRun t;
  const auto document = [&](const std::string& words) {
    const CommandResult said = t.kdgat(words + " --json");
    INFO(words << "\n" << said.err);
    REQUIRE(said.exit_code == 0);
    return forms.document(words, said);
  };
  const std::string model = " '" + t.model().string() + "' ", log = std::string(kKnownLog);
  forms.lines("score", t.score(log + " --json" + t.named()), "kdgat.score.window/1");
  forms.lines("why", t.kdgat("why " + log + " --json" + t.named()), "kdgat.why/1");
  forms.lines("why", t.kdgat("why " + log + " --window 2 --json" + t.named()), "kdgat.why/1");
  forms.lines("watch", t.kdgat("watch --speed max --json --replay " + log + " --model" + model),
              "none");
  document("adapt" + model +
           "logs/train_01_attack_free/attack-free-vehicle1.csv -o mine.json --name one");
  const std::string vehicle = json::parse(read_text(t.model())).at("vehicles").front().at("name");
  document("export" + model + "--format c -o ecu --vehicle '" + vehicle + "' --check " + log);
  document("runs show '" + t.run.string() + "'");
  document(
      "run --preset detector --data logs --root runs --threads 1 take_supported=true trees=40 "
      "baselines=false own_seconds=12");
}

void check_pockets(Forms& forms) {
  const ScratchFolder scratch;
  must_kdgat("data synth -o files --kind molecules --graphs 20 --nodes 50 --classes 4",
             scratch.path());
  must_kdgat(
      "run --preset pocket --data files --threads 1 num_layers=1 hidden_irreps=8x0e+4x1o+2x2e "
      "radial_hidden_dim=16 num_epochs=1",
      scratch.path());
  const std::string pockets = " --run '" + newest_run(scratch / "runs/files").string() + "'";
  forms.lines("score", must_kdgat("score files --json --top 2" + pockets, scratch.path()),
              "kdgat.score.ligand/1");
}

void check_rows(Forms& forms) {
  const ScratchFolder scratch;
  must_kdgat("data synth --kind graphs -o own --graphs 60 --nodes 24 --classes 3", scratch.path());
  must_kdgat("run classifier --preset graphs --data own max_epochs=1 --threads 1", scratch.path());
  const std::string classes = " --run '" + newest_run(scratch / "runs/own").string() + "'";
  forms.lines("score", must_kdgat("score own --json" + classes, scratch.path()),
              "kdgat.score.class/1");
}

}  // namespace

TEST_CASE("every answer under --json is of its published form", "[cli][json]") {
  Forms forms;
  check_program(forms);
  check_runs(forms);
  check_tune(forms);
  check_jobs(forms);
  check_data(forms);
  check_logs(forms);
  check_rows(forms);
  std::vector<std::string> left;
  if (!has_stage("graphsage")) left.push_back("kdgat.memory.published/1");
  if (has_stage("equivariant")) {
    check_pockets(forms);
  } else {
    left.push_back("kdgat.score.ligand/1");
  }
  CHECK(forms.left() == left);
}
