#include "pipeline/profile/profile.h"

#include <catch2/catch.hpp>

#include "kdgat/options.h"
#include "support/command.h"

using namespace kdgat;
using Catch::Contains;
using kdgat::test::ScratchFolder;
using nlohmann::json;

namespace {

struct EncoderOptions {
  double lr = 0.003;
  int64_t batch_size = 4096;
  int64_t max_epochs = 300;
  bool optimize_batch_size = true;
  std::string monitor = "val_loss";
  std::vector<int64_t> hidden_dims = {480, 240, 48};
  static auto table() {
    using O = EncoderOptions;
    return std::tuple{field("lr", &O::lr, "Learning rate.").range(1e-6, 1),
                      field("batch_size", &O::batch_size, "Graphs.").range(1, 1e6),
                      field("max_epochs", &O::max_epochs, "Epochs."),
                      field("optimize_batch_size", &O::optimize_batch_size, "Lower it."),
                      field("monitor", &O::monitor, "Metric.").choices({"val_loss", "val_auc"}),
                      field("hidden_dims", &O::hidden_dims, "Widths.").alias("vgae_hidden_dims")};
  }
};

struct HeadOptions {
  double lr = 0.003;
  int64_t hidden = 48;
  static auto table() {
    using O = HeadOptions;
    return std::tuple{field("lr", &O::lr, "Learning rate.").range(1e-6, 1),
                      field("hidden", &O::hidden, "Width.").alias("gat_hidden").range(1, 4096)};
  }
};

struct ImportLike {
  int64_t window = 100;
  std::string split = "time";
  static auto table() {
    return std::tuple{field("window", &ImportLike::window, "Rows.").range(2, 1000),
                      field("split", &ImportLike::split, "Split.").choices({"time", "random"})};
  }
};

struct SynthLike {
  double seconds = 60;
  static auto table() { return std::tuple{field("seconds", &SynthLike::seconds, "Length.")}; }
};

PluginDescription stage(const std::string& name, json options, json refused = json::array()) {
  PluginDescription plugin;
  plugin.name = name;
  plugin.options = std::move(options);
  plugin.refused = std::move(refused);
  return plugin;
}

PluginCatalog stages() {
  const json refused = {
      {{"name", "use_kd"}, {"neutral", {false}}, {"reason", "distillation is not here"}},
      {{"name", "precision"}, {"neutral", {"32"}}, {"reason", "use 32"}}};
  PluginCatalog catalog;
  catalog.add(stage("autoencoder", options_schema<EncoderOptions>(), refused));
  catalog.add(stage("classifier", options_schema<HeadOptions>(), refused));
  catalog.add(stage("evaluate", {{"type", "object"}, {"properties", json::object()}}));
  return catalog;
}

/// A folder of profile files and the request made so far.
struct Case {
  ScratchFolder folder;
  PluginCatalog catalog = stages();
  ProfileRequest request;

  Case() { request.preset_folders = {folder.path()}; }

  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  Case& config(const std::string& text, const std::string& name = "profile.yaml") {
    file(name, text);
    request.config = folder / name;
    return *this;
  }
  Case& set(const std::string& key, const std::string& value) {
    const size_t argument = request.overrides.size() + 2;
    request.overrides.push_back({key, value, "command line, argument " + std::to_string(argument)});
    return *this;
  }
  Profile resolve() const {
    return resolve_profile(request, catalog,
                           {options_schema<ImportLike>(), options_schema<SynthLike>()});
  }
  /// Every problem as text, the folder's name taken out.
  std::string problems() const {
    try {
      resolve();
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kUsage);
      std::string text = e.what();
      const std::string here = folder.path().string() + "/";
      for (size_t at; (at = text.find(here)) != std::string::npos;) text.erase(at, here.size());
      return text;
    }
    return "";
  }
};

const StepSpec& step(const Profile& profile, const std::string& name) {
  for (const StepSpec& s : profile.steps) {
    if (s.name == name) return s;
  }
  throw std::runtime_error("no step " + name);
}

json option(const Profile& profile, const std::string& name, const std::string& key) {
  return step(profile, name).options.values.at(key);
}

}  // namespace

TEST_CASE("a profile keeps its steps in order and fills every default", "[profile]") {
  Case c;
  const Profile p = c.config(
                         "dataset: hcrl_sa\n"
                         "seed: 7\n"
                         "stages:\n"
                         "  classifier teacher: {stage: classifier, needs: [data]}\n"
                         "  autoencoder: {lr: 0.01}\n"
                         "  evaluate:\n")
                        .resolve();
  REQUIRE(p.steps.size() == 3);
  CHECK(p.name == "profile");
  CHECK(p.dataset == "hcrl_sa");
  CHECK(p.seed == 7);
  CHECK(p.steps[0].name == "classifier teacher");
  CHECK(p.steps[0].stage == "classifier");
  CHECK(p.steps[0].needs == std::vector<std::string>{"data"});
  CHECK(p.steps[1].options.values.size() == 6);
  CHECK(option(p, "autoencoder", "lr") == 0.01);
  CHECK(option(p, "autoencoder", "batch_size") == 4096);
  CHECK(p.steps[1].options.origin.at("lr") == (c.folder / "profile.yaml").string() + ":5");
  CHECK(p.steps[1].options.origin.at("batch_size") == "default");
  CHECK(p.steps[2].where == (c.folder / "profile.yaml").string() + ":6");
}

TEST_CASE("a later layer beats an earlier one always", "[profile]") {
  Case c;
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
  Case c;
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
  Case c;
  c.file("student.yaml", "options: {autoencoder: {hidden_dims: [80, 40, 16], lr: 0.5}}\n");
  c.file("vgae.yaml", "preset: student\nstages: {autoencoder: {lr: 0.002}}\n");
  c.request.presets = {"vgae"};
  const Profile p = c.resolve();
  CHECK(option(p, "autoencoder", "hidden_dims") == json({80, 40, 16}));
  CHECK(option(p, "autoencoder", "lr") == 0.002);
  CHECK(p.name == "vgae");
}

TEST_CASE("a step takes the options of its own presets, and no steps", "[profile]") {
  Case c;
  c.file("student.yaml", "options: {autoencoder: {lr: 0.5, batch_size: 7}, classifier: {lr: 1}}\n");
  c.file("gat.yaml", "preset: student\nstages: {autoencoder: {lr: 0.25}, evaluate: }\n");
  c.config(
      "stages:\n"
      "  small: {stage: autoencoder, preset: gat}\n"
      "  large: {stage: autoencoder, batch_size: 9, preset: [student]}\n"
      "options: {autoencoder: {max_epochs: 3}}\n");
  const Profile p = c.resolve();
  REQUIRE(p.steps.size() == 2);
  CHECK(p.name == "profile");
  CHECK(option(p, "small", "lr") == 0.25);
  CHECK(option(p, "small", "batch_size") == 7);
  CHECK(option(p, "small", "max_epochs") == 3);
  CHECK(option(p, "large", "lr") == 0.5);
  CHECK(option(p, "large", "batch_size") == 9);
  CHECK(step(p, "small").options.origin.at("lr") == (c.folder / "gat.yaml").string() + ":2");
  c.config("stages: {small: {stage: autoencoder, preset: studen}}\n");
  CHECK(c.problems() == "profile.yaml:1: unknown preset studen\n  hint: did you mean student?");
  c.file("gat.yaml", "stages: {mine: {stage: autoencoder, preset: gat}}\n");
  c.config("preset: gat\n");
  CHECK(c.problems().find("preset gat includes itself") != std::string::npos);
}

TEST_CASE("presets that include each other are reported", "[profile]") {
  Case c;
  c.file("one.yaml", "preset: [two]\n");
  c.file("two.yaml", "\npreset: [one]\n");
  c.request.presets = {"one"};
  CHECK(c.problems().find("two.yaml:2: preset one includes itself") == 0);
}

TEST_CASE("an unknown preset names the nearest", "[profile]") {
  Case c;
  c.file("student.yaml", "");
  c.file("gpu/8gb.yaml", "");
  c.request.presets = {"studnet"};
  CHECK(c.problems() == "unknown preset studnet (command line)\n  hint: did you mean student?");
  c.request.presets = {"gpu/8gb"};
  c.request.stage = "autoencoder";
  CHECK(c.problems().empty());
}

TEST_CASE("all problems are reported at once, each with its place", "[profile]") {
  Case c;
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
  Case c;
  CHECK(c.config("stages: {autoencoder: {optimize_batch_size: no}}\n").problems() ==
        "profile.yaml:1: autoencoder.optimize_batch_size: \"no\" is not true or false\n"
        "  hint: the default is true; see kdgat plugins show autoencoder");
  c.config("stages: {autoencoder: {optimize_batch_size: \"true\"}}\n");
  CHECK(c.problems().find("\"true\" is not true or false") != std::string::npos);
  c.config("dataset: on\nstages: {autoencoder: }\n");
  CHECK(c.resolve().dataset == "on");
}

TEST_CASE("published flat files load through the aliases", "[profile]") {
  Case c;
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
  Case c;
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
  Case c;
  c.request.stage = "autoencoder";
  c.set("gat_hidden", "24").set("classifier.lr", "0.1");
  const Profile p = c.resolve();
  REQUIRE(p.notes.size() == 2);
  CHECK(p.notes[0].message.find("gat_hidden has no effect") == 0);
  CHECK(p.notes[1].message.find("classifier.lr has no effect") == 0);
  c.set("classifier.lr", "7");
  CHECK(c.problems().find("classifier.lr: 7 is outside") == 0);
}

TEST_CASE("run STAGE chooses a step, or adds one", "[profile]") {
  Case c;
  c.request.stage = "autoencoder";
  CHECK(c.resolve().only == "autoencoder");
  c.config("stages:\n  big: {stage: classifier}\n  autoencoder:\n");
  CHECK(c.resolve().steps.size() == 2);
  c.request.stage = "classifier";
  CHECK(c.resolve().only == "big");
  c.config("stages:\n  big: {stage: classifier}\n  small: {stage: classifier}\n");
  CHECK(c.problems() == "several steps run the stage classifier\n  hint: name one: big, small");
  c.request.stage = "small";
  CHECK(c.resolve().only == "small");
  c.request.stage = "normal";
  CHECK(c.problems() ==
        "unknown stage normal (command line)\n"
        "  hint: the published stage normal is classifier here");
}

TEST_CASE("steps and stages with blanks are named with underscores in keys", "[profile]") {
  Case c;
  c.config("stages:\n  classifier teacher: {stage: classifier}\n  classifier:\n");
  c.set("classifier_teacher.lr", "0.1").set("classifier.lr", "0.2");
  const Profile p = c.resolve();
  CHECK(option(p, "classifier teacher", "lr") == 0.1);
  CHECK(option(p, "classifier", "lr") == 0.2);
}

TEST_CASE("input of the command line replaces synthetic input", "[profile]") {
  Case c;
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
  Case c;
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
  Case c;
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
  Case c;
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
  Case c;
  c.request.stage = "autoencoder";
  c.set("device", "gpu").set("threads", "-1").set("dataset", "a/b").set("device", "cuda:1");
  CHECK(c.problems() ==
        "device: \"gpu\" is no device (command line, argument 2)\n"
        "  hint: one of auto, cpu, cuda, cuda:N\n"
        "threads: -1 is outside [0, 4096] (command line, argument 3)\n"
        "  hint: the default is 0\n"
        "dataset: \"a/b\" cannot name a folder below root (command line, argument 4)");
}

TEST_CASE("a limit of memory and the allocator's settings come from every layer", "[profile]") {
  Case c;
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
  Case c;
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
  CHECK(
      c.problems() ==
      "classifier.allocator: \"expandable_segment\" is no setting of the allocator (command line, "
      "argument 2)\n"
      "  hint: did you mean expandable_segments?");
}

TEST_CASE("nothing named is an error that says what to type", "[profile]") {
  CHECK(Case().problems().find("nothing to run: no preset") == 0);
  Case c;
  CHECK(c.config("seed: 1\n").problems().find("nothing to run: profile has no stages") == 0);
}

TEST_CASE("a stage whose description is broken is a plugin error", "[profile]") {
  Case c;
  c.file("kdgat_distill.json", "{");
  c.catalog = PluginCatalog::scan({c.folder.path()});
  c.config("options: {distill: {temperature: 2}}\n");
  c.request.stage = "distill";
  try {
    c.resolve();
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kPlugin);
  }
}

TEST_CASE("a description whose options are malformed is broken", "[profile]") {
  Case c;
  c.file("kdgat_distill.json",
         R"({"name": "distill", "library": "kdgat_distill.so", "abi": {"major": 1, "minor": 0},
             "version": 1, "library_hash": "0", "inputs": [], "outputs": [],
             "options": {"properties": {"temperature": 3}}})");
  const PluginCatalog catalog = PluginCatalog::scan({c.folder.path()});
  CHECK(catalog.find("distill") == nullptr);
  REQUIRE(catalog.problems().contains("distill"));
  CHECK_THAT(catalog.problems().at("distill").message, Contains("an option is no object"));
}
