#include "pipeline/run/find_model.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/can/log_text.h"
#include "support/programs/command.h"

using kdgat::test::ScratchFolder;
using kdgat::test::write_text;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

constexpr const char* kId = "01M7YY321ETQ13BXMPDS61NWTE";

/// A run whose steps are (name, stage); each leaves a model.
fs::path make_run(const fs::path& root, const std::string& id,
                  const std::vector<std::pair<std::string, std::string>>& steps) {
  const fs::path run = root / "set" / id;
  json list = json::array();
  for (const auto& [step, stage] : steps) {
    list.push_back({{"step", step}, {"stage", stage}});
    write_text(run / step / "model.safetensors", "");
  }
  list.push_back({{"step", "evaluate"}, {"stage", "evaluate"}});
  write_text(run / "run.json", json{{"id", id}, {"steps", list}}.dump());
  return run;
}

/// Three stages of which one speaks for a run before the others.
kdgat::PluginCatalog stages() {
  kdgat::PluginCatalog out;
  for (const auto& [name, speaks] :
       {std::pair{"autoencoder", 0}, {"classifier", 1}, {"fusion", 2}}) {
    kdgat::PluginDescription plugin;
    plugin.name = name;
    plugin.speaks = speaks;
    out.add(std::move(plugin));
  }
  return out;
}

fs::path find_model(const std::string& run, const std::string& step, const fs::path& root) {
  return kdgat::find_model(run, step, root, stages());
}

template <class F>
std::string refusal(F act, kdgat::ExitCode code) {
  return kdgat::test::error_of(act, code);
}

}  // namespace

TEST_CASE("a model is found by file, step, run and id", "[find_model]") {
  const ScratchFolder root;
  const fs::path run =
      make_run(root.path(), kId, {{"autoencoder", "autoencoder"}, {"gat", "classifier"}});
  const fs::path model = run / "gat" / "model.safetensors";
  for (const std::string& name :
       {model.string(), (run / "gat").string(), run.string(), std::string(kId),
        std::string("01M7YY"), std::string("01M7…TE")}) {
    INFO(name);
    CHECK(fs::equivalent(find_model(name, "", root.path()), model));
  }
  CHECK(find_model(kId, "autoencoder", root.path()) == run / "autoencoder" / "model.safetensors");
}

TEST_CASE("what is suggested of a run means no other, though ids begin and end alike",
          "[find_model]") {
  const ScratchFolder root;
  const fs::path one = make_run(root.path(), "01M7AAAAAAXPTE", {{"gat", "classifier"}}),
                 other = make_run(root.path(), "01M7BBBBBBYQTE", {{"gat", "classifier"}}),
                 third = make_run(root.path(), "01M7CCCCCCZQTE", {{"gat", "classifier"}});
  CHECK(kdgat::short_name(one, root.path()) == "01M7…PTE");
  CHECK(kdgat::short_name(other, root.path()) == "01M7…YQTE");
  for (const fs::path& run : {one, other, third}) {
    CHECK(kdgat::find_run(kdgat::short_name(run, root.path()), root.path()) == run);
  }
  CHECK_THAT(
      refusal([&] { kdgat::find_run("01M7...TE", root.path()); }, kdgat::ExitCode::kUsage),
      Catch::Contains("3 runs") && Catch::Contains("01M7…PTE") && Catch::Contains("01M7…ZQTE"));
}

TEST_CASE("the stage that speaks most is preferred, and several of it are a choice",
          "[find_model]") {
  const ScratchFolder root;
  make_run(root.path(), "01AA", {{"a", "classifier"}, {"b", "classifier"}});
  make_run(root.path(), "01BB", {{"a", "classifier"}, {"both", "fusion"}, {"c", "classifier"}});
  make_run(root.path(), "01CC", {{"only", "autoencoder"}});
  make_run(root.path(), "01DD", {});
  CHECK(find_model("01BB", "", root.path()).parent_path().filename() == "both");
  CHECK(find_model("01CC", "", root.path()).parent_path().filename() == "only");
  const auto usage = kdgat::ExitCode::kUsage, data = kdgat::ExitCode::kData;
  CHECK_THAT(refusal([&] { find_model("01AA", "", root.path()); }, usage),
             Catch::Contains("several models: a, b") && Catch::Contains("--model"));
  CHECK_THAT(refusal([&] { find_model("01AA", "c", root.path()); }, usage),
             Catch::Contains("there are: a, b"));
  CHECK_THAT(refusal([&] { find_model("01", "", root.path()); }, usage), Catch::Contains("4 runs"));
  CHECK_THAT(refusal([&] { find_model("01DD", "", root.path()); }, data),
             Catch::Contains("has no model"));
  CHECK_THAT(refusal([&] { find_model("none", "", root.path()); }, data),
             Catch::Contains("--root"));
}

TEST_CASE("a model has the file that its stage names", "[find_model]") {
  const ScratchFolder root;
  kdgat::PluginCatalog catalog = stages();
  kdgat::PluginDescription trees;
  trees.name = "trees";
  trees.speaks = 3;
  trees.model_file = "trees.json";
  catalog.add(std::move(trees));
  const fs::path run = make_run(root.path(), "01AA", {{"gat", "classifier"}, {"t", "trees"}});
  const auto found = [&](const fs::path& name) {
    return kdgat::find_model(name.string(), "", root.path(), catalog);
  };
  // What another stage would call its model is no model of this one.
  CHECK(found(run) == run / "gat" / "model.safetensors");
  fs::remove(run / "t" / "model.safetensors");
  write_text(run / "t" / "trees.json", "");
  CHECK(found(run) == run / "t" / "trees.json");
  CHECK(found(run / "t") == run / "t" / "trees.json");
  CHECK(found(run / "t" / "trees.json") == run / "t" / "trees.json");
  CHECK_THAT(
      refusal([&] { find_model((run / "t").string(), "", root.path()); }, kdgat::ExitCode::kData),
      Catch::Contains("neither a run nor the folder of a model"));
}

TEST_CASE("a kept step's model stands in the run that made it", "[find_model]") {
  const ScratchFolder root;
  const fs::path first = make_run(root.path(), "01AA", {{"gat", "classifier"}});
  const json steps = {
      {{"step", "gat"}, {"stage", "classifier"}, {"folder", (first / "gat").string()}}};
  write_text(root / "set/01BB/run.json", json{{"id", "01BB"}, {"steps", steps}}.dump());
  CHECK(find_model("01BB", "", root.path()) == first / "gat" / "model.safetensors");
}
