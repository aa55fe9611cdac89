// `kdgat config` and what a person hears of a profile: presets as files, JSON Schema, notes, hints.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/can/log_text.h"
#include "support/programs/cli.h"
#include "support/programs/python.h"

using kdgat::test::python_with;
using kdgat::test::write_text;
using nlohmann::json;

namespace {

/// Every file of a preset, with the name that completion and hints know it by. A field's file may
/// add to a preset of another folder.
std::vector<std::pair<std::string, fs::path>> preset_files() {
  std::vector<std::pair<std::string, fs::path>> out;
  const auto follow = fs::directory_options::follow_directory_symlink;
  const fs::path root = kdgat::test::build_folder() / "profiles";
  for (const auto& entry : fs::recursive_directory_iterator(root, follow)) {
    fs::path name = entry.path().lexically_relative(root);
    const bool is_other = *name.begin() == "slurm" || *name.begin() == "detectors";
    if (!entry.is_regular_file() || is_other) continue;
    if (*name.begin() == "fields") name = name.lexically_relative(*name.begin() / *++name.begin());
    out.emplace_back(name.replace_extension().string(), fs::absolute(entry.path()));
  }
  return out;
}

std::set<std::string> presets() {
  std::set<std::string> names;
  for (const auto& [name, file] : preset_files()) names.insert(name);
  return names;
}

/// `kdgat config show`, as YAML or JSON; of what is no whole run, of the stage that most of them
/// set.
std::string shown(const std::string& words, const std::string& form, const fs::path& folder) {
  CommandResult said = run_kdgat("config show -q " + words + form, folder);
  if (said.err.find("has no stages") != std::string::npos) {
    said = run_kdgat("config show -q autoencoder " + words + form, folder);
  }
  INFO(words << "\n" << said.err);
  CHECK(said.exit_code == 0);
  return said.out;
}

}  // namespace

TEST_CASE("stride follows window in a profile, too", "[cli][config]") {
  const ScratchFolder scratch;
  const json profile = json::parse(
      must_kdgat("config show --preset smoke data.window=50 --json", scratch.path()).out);
  CHECK(profile.at("data").at("stride") == 50);
}

TEST_CASE("what config show prints of a preset is a profile that comes to the same",
          "[cli][config]") {
  const ScratchFolder scratch;
  for (const std::string& preset : presets()) {
    for (const std::string form : {"", " --json"}) {
      const std::string once = shown("--preset '" + preset + "'", form, scratch.path());
      const std::string file = form.empty() ? "again.yaml" : "again.json";
      write_text(scratch / file, once);
      INFO(preset << form);
      CHECK(shown(file, form, scratch.path()) == once);
      // The other form of it, too.
      if (form.empty()) continue;
      CHECK(shown("--preset '" + preset + "'", "", scratch.path()) ==
            shown(file, "", scratch.path()));
    }
  }
  const json said =
      json::parse(shown("--preset smoke mlflow_uri=mlruns", " --json", scratch.path()));
  CHECK(said.at("records") == json({"csv", "tensorboard"}));
  CHECK(said.at("mlflow_uri") == "mlruns");
  CHECK(said.at("mlflow_experiment") == "kd-gat-pipeline");
}

TEST_CASE("no key for all steps of a preset undoes what sets its steps apart", "[cli][config]") {
  const ScratchFolder scratch;
  struct Case {
    std::string words, key, given, step;
    json kept;
    std::string changed;  ///< a step that takes the value, "" = none
  };
  std::vector<Case> cases = {
      {"--preset graphs conv=gatv2", "conv", "gatv2", "without edges", "none", "classifier"},
      {"--preset graphs --conv gatv2", "conv", "gatv2", "without edges", "none", "classifier"},
      {"profiles/kdgat.yaml use_kd=true", "use_kd", "true", "classifier ablation", false, ""},
      {"profiles/kdgat.yaml use_kd=false", "use_kd", "false", "classifier student", true, ""},
      {"--preset distill use_kd=true", "use_kd", "true", "classifier teacher", false, ""},
      {"profiles/forms.yaml conv=gin", "conv", "gin", "gatv2", "gatv2", "lstm"}};
  if (kdgat::test::has_stage("finetune")) {
    const std::string trees = "--preset trees ";
    cases.push_back(
        {trees + "freeze_encoder=false", "freeze_encoder", "false", "linear probe", true, ""});
    cases.push_back(
        {trees + "representation=shape", "representation", "shape", "by hand", "shape", ""});
  }
  for (const Case& one : cases) {
    const CommandResult said = run_kdgat("config show --json " + one.words, scratch.path());
    INFO(one.words << "\n" << said.err);
    REQUIRE(said.exit_code == 0);
    const json steps = json::parse(said.out).at("stages");
    CHECK(steps.at(one.step).at(one.key) == one.kept);
    if (!one.changed.empty()) CHECK(steps.at(one.changed).at(one.key) == one.given);
    if (one.kept == one.given) continue;
    CHECK_THAT(said.err, Catch::Contains(one.key + "=" + one.given + " does not apply"));
    CHECK_THAT(said.err, Catch::Contains(one.step + " ("));
  }
  const std::string environment = "KDGAT_CONV=gatv2 " + kdgat_word() + " config show --json ";
  const CommandResult said = run_shell(environment + "--preset graphs", scratch.path());
  CHECK(json::parse(said.out).at("stages").at("without edges").at("conv") == "none");
  // What all steps share is changed in all of them, as for a first look.
  const json look = json::parse(
      must_kdgat("config show --json profiles/kdgat.yaml max_epochs=20", scratch.path()).out);
  for (const char* size : {"teacher", "student", "ablation"}) {
    CHECK(look.at("stages").at(std::string("classifier ") + size).at("max_epochs") == 20);
  }
}

TEST_CASE("a key for all steps that reaches none of them is an error", "[cli][config]") {
  const ScratchFolder scratch;
  write_text(scratch / "p.yaml",
             "stages:\n"
             "  small: {stage: classifier, hidden: 8}\n"
             "  large: {stage: classifier, hidden: 64}\n");
  const CommandResult said = run_kdgat("config show p.yaml hidden=16", scratch.path());
  CHECK(said.exit_code == 2);
  CHECK_THAT(said.err, Catch::Contains("hidden=16 applies to no step: the profile sets hidden for "
                                       "each: small (8), large (64) (command line"));
  CHECK_THAT(said.err, Catch::Contains("name it: 'small.hidden=16'"));
  CHECK(run_kdgat("config show p.yaml small.hidden=16", scratch.path()).exit_code == 0);
  CHECK(run_kdgat("config show p.yaml hidden=8", scratch.path()).exit_code == 0);
}

TEST_CASE("what has no effect is noted wherever a profile is used, once", "[cli][config]") {
  const ScratchFolder scratch;
  // An option of a stage that does not run.
  const std::string words = "autoencoder --preset smoke fusion.alpha_steps=7 ";
  const std::string note = "note: fusion.alpha_steps has no effect: no step runs fusion";
  for (const std::string& command :
       {"config show " + words, "run -n " + words, "plan --explain " + words}) {
    const CommandResult said = run_kdgat(command, scratch.path());
    INFO(command << "\n" << said.err);
    CHECK(said.exit_code == 0);
    const std::size_t at = said.err.find(note);
    CHECK(at != std::string::npos);
    CHECK(said.err.find(note, at + 1) == std::string::npos);
    CHECK(run_kdgat(command + "-q", scratch.path()).err.find("note:") == std::string::npos);
  }
  const std::string quick = "data.synth.seconds=20 max_epochs=1 ";
  CHECK(run_kdgat("plan " + words + quick, scratch.path()).err.find(note) != std::string::npos);
  CHECK(run_kdgat("run " + words + quick, scratch.path()).err.find(note) != std::string::npos);
  CHECK(run_kdgat("run --progress jsonl " + words + quick, scratch.path())
            .err.find(R"("level":"note")") != std::string::npos);
}

TEST_CASE("the JSON Schema of a profile takes what kdgat takes", "[cli][config]") {
  const auto python = python_with("jsonschema, yaml");
  if (!python) return;
  const ScratchFolder scratch;
  // The last line of each is what is wrong with it.
  const std::vector<std::string> wrong = {
      "sede: 1",
      "datset: a",
      "stags: {}",
      "preset: smoek",
      "preset: [student, smoek]",
      "preset: {student: 1}",
      "seed: many",
      "seed: -1",
      "threads: -2",
      "threads: [1]",
      "nproc: 0",
      "device: [cpu]",
      "records: [csv, parquet]",
      "mlflow: mlruns",
      "classifier: {lr: 0.1}",
      "lr: fast",
      "max_epochs: some",
      "classifier.lrr: 0.1",
      "data.windw: 50",
      "data: {windw: 50}",
      "data: {window: wide}",
      "data: {window: 0}",
      "data: {split: sideways}",
      "data: {path: a, synth: {}}",
      "data: {synth: {secnds: 5}}",
      "data: {synth: {kind: bus}}",
      "data: [a, b]",
      "options: {classifer: {lr: 0.1}}",
      "options: {classifier: {lrr: 0.1}}",
      "options: {classifier: {lr: -7}}",
      "options: {classifier: 3}",
      "options: [classifier]",
      "stages: {classifer: {}}",
      "stages: {classifier: {lrr: 0.1}}",
      "stages: {classifier: {heads: 0}}",
      "stages: {classifier: {preset: smoek}}",
      "stages: {mine: {}}",
      "stages: {mine: {lr: 0.1}}",
      "stages: {mine: {stage: classifer}}",
      "stages: {mine: {stage: classifier, lrr: 0.1}}",
      "stages: {mine: {stage: classifier, lr: -7}}",
      "stages: {mine: {stage: classifier, latent_dim: 8}}",
      "stages: {classifier teacher: {stage: classifier, lrr: 0.1}}",
      "stages: {'mine/yours': {stage: classifier}}",
      "stages: [classifier]",
  };
  const std::vector<std::string> right = {
      "preset: smoke",
      "seed: 7\nstages: {autoencoder: , classifier: {lr: 0.1}, evaluate: {}}",
      "preset: [smoke, gpu/8gb]\nlr: 0.1\nclassifier.heads: 2\ndata.window: 50",
      "preset: kdgat\nstages: {classifier teacher: {heads: 4}}",
      "preset: base.yaml\nstages: {of base: {heads: 4}}",
      "records: csv\nmemory_limit: 1073741824\nstages: {mine: {stage: classifier, precision: 32}}",
      "data: logs/\nnum_workers: 4\nexperiment_root: out\nstages: {autoencoder: {batch_size: 8}}",
  };
  json cases = {{"right", right}, {"wrong", wrong}, {"files", json::array()}};
  for (const auto& [name, file] : preset_files()) cases["files"].push_back(file.string());
  write_text(scratch / "cases.json", cases.dump());
  write_text(scratch / "schema.json", must_kdgat("config schema --json", scratch.path()).out);
  write_text(scratch / "check.py", R"(
import json, pathlib
import jsonschema, yaml
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
cases = json.load(open("cases.json"))
right = [(file, pathlib.Path(file).read_text()) for file in cases["files"]]
right += [(text, text) for text in cases["right"]]
for name, text in right:
    for problem in list(validator.iter_errors(yaml.safe_load(text)))[:1]:
        print("refused:", name, problem.json_path, problem.message[:200])
for text in cases["wrong"]:
    if validator.is_valid(yaml.safe_load(text)):
        print("taken:", text)
print(len(right), "right,", len(cases["wrong"]), "wrong")
)");
  const CommandResult said = run_shell(*python + " check.py", scratch.path());
  INFO(said.err);
  CHECK(said.exit_code == 0);
  CHECK(said.out == std::to_string(preset_files().size() + right.size()) + " right, " +
                        std::to_string(wrong.size()) + " wrong\n");
  // What the schema refuses, kdgat refuses.
  for (const std::string& text : wrong) {
    write_text(scratch / "wrong.yaml", text + "\n");
    const CommandResult refused =
        run_kdgat("config show -q autoencoder wrong.yaml", scratch.path());
    INFO(text << "\n" << refused.out);
    CHECK(refused.exit_code == 2);
  }
}

TEST_CASE("what was meant is said where it can be told", "[cli][config]") {
  const ScratchFolder scratch;
  for (const char* folder : {"logs", "more"}) {
    must_kdgat("data synth -o " + std::string(folder) + " --seconds 20", scratch.path());
  }
  write_text(scratch / "model.pt", "PK");
  write_text(scratch / "drive.BLF", "LOGG");
  write_text(scratch / "two.yaml", "preset: vgae student\nstages: {autoencoder: }\n");
  const auto hears = [&](const std::string& words, int code,
                         const std::vector<std::string>& texts) {
    const CommandResult said = run_kdgat(words, scratch.path());
    INFO("kdgat " << words << "\n" << said.err);
    CHECK(said.exit_code == code);
    for (const std::string& text : texts) CHECK(said.err.find(text) != std::string::npos);
  };
  hears("run logs --preset smoke -n", 2, {"unknown stage logs", "did you mean --data logs?"});
  hears("smoke", 2, {"unknown command smoke", "did you mean kdgat run --preset smoke?"});
  hears("autoencoder", 2, {"did you mean kdgat run autoencoder?"});
  hears("two.yaml", 2, {"did you mean kdgat run two.yaml?"});
  hears("logs", 2, {"did you mean kdgat fit logs?"});
  hears("run evaluate -n", 2,
        {"is made by no step before it", "must be one of autoencoder, classifier",
         "e.g. kdgat run --preset smoke"});
  hears("tune show 01JD --simulate 16GiB --copies many --gpu-buffer=-1", 2,
        {"--copies is a whole number from 1 on",
         "--gpu-memory-buffer-gb is a number of GiB, 0 or more"});
  hears("config show two.yaml", 2,
        {"two.yaml:1: unknown preset vgae student", "did you mean preset: [vgae, student]?"});
  hears("config show --preset 'vgae student'", 2, {"did you mean --preset vgae,student?"});
  hears("run --preset smoke --data logs --data more -n", 2,
        {"--data is given twice: logs and more", "put both into one folder"});
  hears("run --preset smoke --data model.pt -n", 3, {"model.pt is a PyTorch file", "raw data"});
  hears("data import drive.BLF -o out", 3, {"drive.BLF at byte 0", "ends inside its header"});
  hears("score logs --run model.pt", 2,
        {"model.pt is a PyTorch file", "scripts/convert_checkpoint model.pt"});
}

TEST_CASE("a mistake in a profile is shown with its line and a caret", "[cli][config]") {
  const ScratchFolder scratch;
  const auto heard = [&](const std::string& text) {
    write_text(scratch / "bad.yaml", text);
    const CommandResult said = run_kdgat("config show bad.yaml", scratch.path());
    CHECK(said.exit_code == 2);
    return said.err;
  };
  const std::string list = heard("seed: 1\nstages:\n  classifier: {lr: 0.1, heads 4]\n");
  INFO(list);
  CHECK(list.find("bad.yaml:3: not valid YAML: ") == 0);
  const std::size_t line = list.find("\n      classifier: {lr: 0.1, heads 4]\n");
  REQUIRE(line != std::string::npos);
  // Below the bracket that closes nothing.
  const std::size_t caret = list.find('^');
  CHECK(list[caret - (list.rfind('\n', caret) + 1) + line + 1] == ']');
  const std::string tab = heard("stages:\n\tclassifier:\n");
  INFO(tab);
  CHECK(tab.find("^") != std::string::npos);
  CHECK(tab.find("hint: indent with blanks") != std::string::npos);
  // Of a long line what stands around the place.
  const std::string wide = heard("dataset: " + std::string(300, 'a') + ": b\n");
  INFO(wide);
  for (std::size_t from = 0, to = 0; (to = wide.find('\n', from)) != std::string::npos;
       from = to + 1) {
    CHECK(to - from < 120);
  }
}

TEST_CASE("a profile that comes with the program is found by its name", "[cli][config]") {
  const ScratchFolder scratch;
  const std::string whole = must_kdgat("config show --preset kdgat", scratch.path()).out;
  for (const char* words : {"profiles/kdgat.yaml", "kdgat.yaml", "--config profiles/kdgat.yaml",
                            "--preset profiles/kdgat.yaml"}) {
    INFO(words);
    CHECK(must_kdgat("config show " + std::string(words), scratch.path()).out == whole);
  }
  // One's own file of that name is the one that is meant.
  write_text(scratch / "profiles/kdgat.yaml", "seed: 7\nstages: {autoencoder: }\n");
  CHECK(must_kdgat("config show profiles/kdgat.yaml", scratch.path()).out.find("seed: 7\n") !=
        std::string::npos);
  const CommandResult none = run_kdgat("config show profiles/kdgta.yaml", scratch.path());
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("no such file") != std::string::npos);
}

TEST_CASE("help of a stage shows the options that matter first, and all of them on request",
          "[cli][config]") {
  const ScratchFolder scratch;
  const auto said = [&](const std::string& words) {
    const CommandResult result = run_kdgat(words, scratch.path());
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  const json listed = json::parse(said("config options --json"));
  CHECK(listed.at("first").size() == 10);
  const json plugins = json::parse(said("plugins list --json"));
  for (const json& stage : plugins.at("plugins")) {
    const std::string name = stage.at("name");
    const std::string few = said("run " + name + " --help");
    const std::string all = said("run " + name + " --help all");
    const json options = json::parse(said("config schema " + name + " --json")).at("properties");
    INFO(name);
    for (const auto& [option, schema] : options.items()) {
      std::string flag = "  --" + option + " ";
      std::replace(flag.begin(), flag.end(), '_', '-');
      CHECK(all.find(flag) != std::string::npos);
    }
    for (const json& first : listed.at("first")) {
      const auto& stages = first.at("stages");
      if (std::find(stages.begin(), stages.end(), name) == stages.end()) continue;
      std::string flag = "  --" + first.at("name").get<std::string>() + " ";
      std::replace(flag.begin(), flag.end(), '_', '-');
      CHECK(few.find(flag) != std::string::npos);
    }
  }
  const std::string few = said("run classifier --help");
  CHECK(few.find("--scheduler-gamma") == std::string::npos);
  CHECK(few.find("kdgat run classifier --help all") != std::string::npos);
  const std::string all = said("run classifier --help all");
  CHECK(all.find("\nOptimiser\n") < all.find("  --lr "));
  CHECK(all.find("  --lr ") < all.find("\nLoss\n"));
  CHECK(said("help run classifier all") == all);
  CHECK(said("config options").find("\nOptimiser\n  ") != std::string::npos);
}

TEST_CASE("completion knows values, presets, options of a stage and runs", "[cli][config]") {
  const ScratchFolder scratch;
  REQUIRE(run_kdgat("run example steps=2 --name first-try", scratch.path()).exit_code == 0);
  const auto lines = [&](const std::string& words) {
    const CommandResult said =
        run_shell("printf '%s\\0' " + words + " | '" + fs::absolute(kdgat_binary()).string() +
                      "' completion at",
                  scratch.path());
    INFO(words << "\n" << said.err);
    CHECK(said.exit_code == 0);
    return "\n" + said.out;
  };
  CHECK(lines("run classifier.loss=").find("\nclassifier.loss=focal\t") != std::string::npos);
  CHECK(lines("run --data.split ''").find("\ntime\t") != std::string::npos);
  CHECK(lines("run --data.features ''").find("(default)\n") != std::string::npos);
  if (has_stage("textgcn")) {
    CHECK(lines("run --data.cleaning ''").find("\nnone\tkeeps words as they are") !=
          std::string::npos);
  }
  CHECK(lines("run --preset ''").find("\nsmoke\tA small complete run") != std::string::npos);
  CHECK(lines("report ''").find("\nfirst-try\t") == 0);

  // As bash asks: the words of the line, of which the last is being typed.
  const auto completed = [&](const std::string& line) {
    const std::string kdgat = fs::absolute(kdgat_binary()).string();
    write_text(scratch / "ask",
               "PATH='" + fs::path(kdgat).parent_path().string() + "':$PATH\n" +
                   "source <(kdgat completion bash)\ncompopt() { :; }\nCOMP_WORDS=(" + line +
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_kdgat\n" +
                   "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const CommandResult said = run_shell("bash ask", scratch.path());
    INFO(line << "\n" << said.err);
    CHECK(said.err.empty());
    return said.out;
  };
  CHECK(completed("kdgat run classifier loss = fo") == "focal\n");
  CHECK(completed("kdgat run classifier loss =").find("cross_entropy\n") != std::string::npos);
  CHECK(completed("kdgat run classifier --max-ep") == "--max-epochs\n");
  CHECK(completed("kdgat run nothing =") == "\n");
  CHECK(completed("kdgat run --preset vgae,smo") == "vgae,smoke\n");
  CHECK(completed("kdgat report first") == "first-try\n");
  CHECK(completed("kdgat score a.log --run first") == "first-try\n");
  CHECK(completed("kdgat repo") == "report\n");
}
