#include "pipeline/profile/profile.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/runs/profile_case.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;

TEST_CASE("a later layer beats an earlier one always", "[profile]") {
  ProfileCase c;
  c.file("base.yaml", "stages: {autoencoder: {lr: 0.1, batch_size: 1, max_epochs: 1}}\n");
  c.file("small.yaml", "options: {autoencoder: {lr: 0.2, batch_size: 2}}\n");
  c.config("lr: 0.3\n");
  c.request.presets = {"base", "small"};
  CHECK(option(c.resolve(), "autoencoder", "lr") == 0.3);
  CHECK(option(c.resolve(), "autoencoder", "batch_size") == 2);
  CHECK(option(c.resolve(), "autoencoder", "max_epochs") == 1);
  c.request.environment = {{"KDGAT_LR", "0.4"}, {"KDGAT_AUTOENCODER__MAX_EPOCHS", "5"}};
  CHECK(option(c.resolve(), "autoencoder", "lr") == 0.4);
  CHECK(step(c.resolve(), "autoencoder").options.origin.at("lr") == "KDGAT_LR");
  CHECK(option(c.resolve(), "autoencoder", "max_epochs") == 5);
  c.set("autoencoder.lr", "0.5").set("lr", "0.6");
  CHECK(option(c.resolve(), "autoencoder", "lr") == 0.6);
  CHECK(step(c.resolve(), "autoencoder").options.origin.at("lr") == "command line, argument 3");
}

TEST_CASE("inside a file a step beats its stage and the stage beats a plain key", "[profile]") {
  ProfileCase c;
  const Profile p = c.config(
                         "stages:\n"
                         "  one: {stage: classifier, lr: 0.1}\n"
                         "  two: {stage: classifier}\n"
                         "  autoencoder:\n"
                         "options: {classifier: {lr: 0.2}}\n"
                         "lr: 0.3\n")
                        .resolve();
  CHECK(option(p, "one", "lr") == 0.1);
  CHECK(option(p, "two", "lr") == 0.2);
  CHECK(option(p, "autoencoder", "lr") == 0.3);
}

TEST_CASE("a file lies on the presets it names", "[profile]") {
  ProfileCase c;
  c.file("student.yaml", "options: {autoencoder: {hidden_dims: [80, 40, 16], lr: 0.5}}\n");
  c.file("vgae.yaml", "preset: student\nstages: {autoencoder: {lr: 0.002}}\n");
  c.request.presets = {"vgae"};
  const Profile p = c.resolve();
  CHECK(option(p, "autoencoder", "hidden_dims") == json({80, 40, 16}));
  CHECK(option(p, "autoencoder", "lr") == 0.002);
  CHECK(p.name == "vgae");
}

TEST_CASE("presets that include each other are reported", "[profile]") {
  ProfileCase c;
  c.file("one.yaml", "preset: [two]\n");
  c.file("two.yaml", "\npreset: [one]\n");
  c.request.presets = {"one"};
  CHECK(c.problems().find("two.yaml:2: preset one includes itself") == 0);
}

TEST_CASE("an unknown preset names the nearest", "[profile]") {
  ProfileCase c;
  c.file("student.yaml", "");
  c.file("gpu/8gb.yaml", "");
  c.request.presets = {"studnet"};
  CHECK(c.problems() == "unknown preset studnet (command line)\n  hint: did you mean student?");
  c.request.presets = {"gpu/8gb"};
  c.request.stage = "autoencoder";
  CHECK(c.problems().empty());
}

TEST_CASE("all problems are reported at once, each with its place", "[profile]") {
  ProfileCase c;
  c.config(
      "stages:\n"
      "  classifier:\n"
      "    lr: 0\n"
      "    hiden: 4\n"
      "  autoencoder: {max_epochs: many}\n"
      "dat: logs\n");
  c.set("batch_sise", "64").set("clasifier.lr", "1");
  CHECK(c.problems() ==
        "profile.yaml:3: classifier.lr: 0 is outside [1e-06, 1]\n"
        "  hint: the default is 0.003; see kdgat plugins show classifier\n"
        "profile.yaml:4: unknown option classifier.hiden\n"
        "  hint: did you mean hidden? see kdgat config schema classifier\n"
        "profile.yaml:5: autoencoder.max_epochs: \"many\" is not a whole number\n"
        "  hint: the default is 300; see kdgat plugins show autoencoder\n"
        "profile.yaml:6: unknown option dat\n"
        "  hint: did you mean data?\n"
        "unknown option batch_sise (command line, argument 2)\n"
        "  hint: did you mean batch_size? see kdgat config schema autoencoder\n"
        "unknown stage clasifier in clasifier.lr (command line, argument 3)\n"
        "  hint: did you mean classifier.lr?");
}

TEST_CASE("words that only older YAML reads as booleans are texts", "[profile]") {
  ProfileCase c;
  CHECK(c.config("stages: {autoencoder: {optimize_batch_size: no}}\n").problems() ==
        "profile.yaml:1: autoencoder.optimize_batch_size: \"no\" is not true or false\n"
        "  hint: the default is true; see kdgat plugins show autoencoder");
  c.config("stages: {autoencoder: {optimize_batch_size: \"true\"}}\n");
  CHECK(c.problems().find("\"true\" is not true or false") != std::string::npos);
  c.config("dataset: on\nstages: {autoencoder: }\n");
  CHECK(c.resolve().dataset == "on");
}

TEST_CASE("published flat files load through the aliases", "[profile]") {
  ProfileCase c;
  c.config(
      "{\n"
      "\t\"dataset\": \"set_01\", \"lr\": 1e-3,\n"
      "\t\"vgae_hidden_dims\": [80, 40, 16],\n"
      "\t\"gat_hidden\": 24, \"use_kd\": false, \"precision\": \"32\",\n"
      "\t\"modality\": \"automotive\", \"experiment_root\": \"experimentruns\",\n"
      "\t\"num_workers\": 8, \"mp_start_method\": \"spawn\"\n"
      "}\n",
      "flat.json");
  c.request.stage = "autoencoder";
  const Profile p = c.resolve();
  CHECK(p.dataset == "set_01");
  CHECK(p.root == "experimentruns");
  CHECK(option(p, "autoencoder", "hidden_dims") == json({80, 40, 16}));
  CHECK(option(p, "autoencoder", "lr") == 0.001);
  CHECK(p.steps[0].options.origin.at("hidden_dims") == (c.folder / "flat.json").string() + ":3");
  REQUIRE(p.notes.size() == 2);
  CHECK(p.notes[0].message.find("num_workers: no effect") == 0);
}

TEST_CASE("a published key that is not here is refused unless it is neutral", "[profile]") {
  ProfileCase c;
  c.config("use_kd: true\nprecision: 32\nmodality: text\nstages: {autoencoder: }\n");
  CHECK(c.problems() ==
        "profile.yaml:1: autoencoder.use_kd: true is not supported\n"
        "  hint: distillation is not here\n"
        "profile.yaml:3: modality: \"text\" is not supported\n"
        "  hint: only CAN traffic of cars (automotive) can be read");
  c.config("precision: 16-mixed\nstages: {autoencoder: }\n").set("precision", "32");
  CHECK(c.problems().empty());
}

TEST_CASE("an option of a stage that does not run is noted on the command line", "[profile]") {
  ProfileCase c;
  c.request.stage = "autoencoder";
  c.set("gat_hidden", "24").set("classifier.lr", "0.1");
  const Profile p = c.resolve();
  REQUIRE(p.notes.size() == 2);
  CHECK(p.notes[0].message.find("gat_hidden has no effect") == 0);
  CHECK(p.notes[1].message.find("classifier.lr has no effect") == 0);
  c.set("classifier.lr", "7");
  CHECK(c.problems().find("classifier.lr: 7 is outside") == 0);
}

TEST_CASE("input of the command line replaces synthetic input", "[profile]") {
  ProfileCase c;
  c.config(
      "dataset: smoke\n"
      "data:\n"
      "  window: 50\n"
      "  synth: {seconds: 20}\n"
      "stages: {autoencoder: }\n");
  CHECK(c.resolve().data.synthetic);
  CHECK(c.resolve().data.synth.values.at("seconds") == 20.0);
  c.set("data.synth.seconds", "30");
  CHECK(c.resolve().data.synth.values.at("seconds") == 30.0);
  c.request.data = "logs/car.csv.gz";
  const Profile p = c.resolve();
  CHECK_FALSE(p.data.synthetic);
  CHECK(p.data.path == "logs/car.csv.gz");
  CHECK(p.data.import.values.at("window") == 50);
  CHECK(p.dataset == "car");
  c.set("dataset", "mine");
  CHECK(c.resolve().dataset == "mine");
}

TEST_CASE("data settings are checked and stand below data", "[profile]") {
  ProfileCase c;
  c.config("data: {path: logs, windw: 5, split: never}\nwindow: 5\nstages: {autoencoder: }\n");
  CHECK(c.problems() ==
        "profile.yaml:1: unknown option data.windw\n"
        "  hint: did you mean data.window? see kdgat data import --help\n"
        "profile.yaml:1: data.split: \"never\" is not one of time, random\n"
        "  hint: the default is \"time\"; see kdgat data import --help\n"
        "profile.yaml:2: unknown option window\n"
        "  hint: did you mean data.window?");
  c.config("data: {path: logs, synth: {}}\nstages: {autoencoder: }\n");
  CHECK(c.problems() == "profile.yaml:1: data has both path and synth: one input at a time");
}

TEST_CASE("a file that cannot be understood says where", "[profile]") {
  ProfileCase c;
  CHECK(c.config("stages:\n  autoencoder: {lr: [1}\n")
            .problems()
            .find("profile.yaml:2: not valid YAML: ") == 0);
  CHECK(c.config("{\n \"lr\": 1,\n \"seed\" 2\n}", "p.json")
            .problems()
            .find("p.json:3: not valid JSON: ") == 0);
  CHECK(c.config("lr: 1\nlr: 2\nstages: {autoencoder: }\n").problems() ==
        "profile.yaml:2: lr is set twice");
  CHECK(c.config("[1, 2]\n").problems() == "profile.yaml:1: a profile must be a map (name: value)");
  CHECK(c.config("autoencoder: {lr: 1}\nstages: {autoencoder: }\n")
            .problems()
            .find("profile.yaml:1: unknown section autoencoder") == 0);
  CHECK(c.config("lr: 1\n---\nlr: 2\n")
            .problems()
            .find("profile.yaml: holds more than one YAML document") == 0);
  CHECK(
      c.config("device: \"\xff\"\nstages: {autoencoder: }\n").problems().find("profile.yaml:1: ") ==
      0);
  c.request.config = c.folder / "missing.yaml";
  CHECK(c.problems() == "missing.yaml: no such file");
}

TEST_CASE("a profile that nests, repeats or contains itself without end is refused", "[profile]") {
  ProfileCase c;
  CHECK(c.config("data: " + std::string(100'000, '[')).problems() ==
        "profile.yaml:1: not valid YAML: nested too deeply");
  CHECK(c.config("lr: &a [*a]\nstages: {autoencoder: }\n").problems() ==
        "profile.yaml:1: not valid YAML: lists nest too deeply");
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'h'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    bomb += std::string(1, name) + ": &" + name + " [";
    for (int i = 0; i < 10; ++i) bomb += (i > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  CHECK_THAT(c.config(bomb).problems(), Contains("not valid YAML: a list is too long"));
  CHECK_THAT(c.config("stages:\n\tautoencoder:\n").problems(),
             Contains("profile.yaml:2: not valid YAML: ") &&
                 Contains("hint: indent with blanks; YAML allows no tabs there"));
}

TEST_CASE("host keys are checked", "[profile]") {
  ProfileCase c;
  c.request.stage = "autoencoder";
  c.set("device", "gpu").set("threads", "-1").set("dataset", "a/b").set("device", "cuda:1");
  CHECK(c.problems() ==
        "device: \"gpu\" is not a device (command line, argument 2)\n"
        "  hint: one of auto, cpu, cuda, cuda:N\n"
        "threads: -1 is outside [0, 4096] (command line, argument 3)\n"
        "  hint: the default is 0\n"
        "dataset: \"a/b\" cannot name a folder below root (command line, argument 4)");
}

TEST_CASE("a limit of memory and the allocator's settings come from every layer", "[profile]") {
  ProfileCase c;
  c.request.stage = "autoencoder";
  CHECK(c.resolve().memory_limit == 0);
  CHECK(c.resolve().allocator == "expandable_segments:True");
  c.config("memory_limit: 2GiB\nallocator: max_split_size_mb:128,backend:native\n");
  CHECK(c.resolve().memory_limit == uint64_t{2} << 30);
  CHECK(c.resolve().allocator == "max_split_size_mb:128,backend:native");
  c.request.environment["KDGAT_MEMORY_LIMIT"] = "1GiB";
  CHECK(c.resolve().memory_limit == uint64_t{1} << 30);
  c.set("memory_limit", "3000000000").set("allocator", "");
  CHECK(c.resolve().memory_limit == 3'000'000'000);
  CHECK(c.resolve().origin.at("memory_limit") == "command line, argument 2");
  CHECK(c.resolve().allocator.empty());
}

TEST_CASE("a stage or a step may have allocator settings of its own", "[profile]") {
  ProfileCase c;
  c.config(
      "allocator: backend:native\n"
      "options: {autoencoder: {allocator: \"max_split_size_mb:128\"}}\n"
      "stages:\n"
      "  autoencoder: {}\n"
      "  second: {stage: autoencoder, allocator: \"max_split_size_mb:64\"}\n"
      "  classifier: {}\n");
  const Profile profile = c.resolve();
  CHECK(profile.allocator == "backend:native");
  CHECK(profile.steps[0].allocator == "max_split_size_mb:128");
  CHECK(profile.steps[1].allocator == "max_split_size_mb:64");
  CHECK(!profile.steps[2].allocator);
  CHECK(!profile.steps[0].options.values.contains("allocator"));
  c.set("classifier.allocator", "expandable_segment:True");
  CHECK(c.problems() ==
        "classifier.allocator: \"expandable_segment\" is not a setting of the allocator (command "
        "line, "
        "argument 2)\n"
        "  hint: did you mean expandable_segments?");
}

TEST_CASE("keys of a section beside the host's own are set, checked and told as those are",
          "[profile]") {
  ProfileCase c;
  SectionSchemas sections{options_schema<ImportLike>(), options_schema<SynthLike>()};
  sections.records.schema = options_schema<SynthLike>();
  sections.records.check = [](const json& values) {
    std::vector<Diagnostic> out;
    if (values.at("seconds") > 100) out.push_back({"", "too long", "say less"});
    return out;
  };
  c.request.stage = "classifier";
  const auto resolve = [&] { return resolve_profile(c.request, c.catalog, sections); };
  CHECK(resolve().records == json{{"seconds", 60.0}});
  CHECK(resolve().origin.at("seconds") == "default");
  c.set("seconds", "7");
  CHECK(resolve().records == json{{"seconds", 7.0}});
  CHECK(resolve().origin.at("seconds") == "command line, argument 2");
  c.set("seconds", "700");
  CHECK_THAT(error_of(resolve, ExitCode::kUsage), Contains("seconds: too long"));
  CHECK(run_schema(sections).at("properties").contains("seconds"));
  CHECK(run_schema(sections).at("properties").contains("threads"));
}
