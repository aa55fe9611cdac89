// One suite for every stage there is: what its description promises, what it refuses, and what the
// smoke profile leaves behind, driven through the executable.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/file/safetensors.h"
#include "kdgat/kinds.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/python.h"
#include "support/programs/soak.h"

using kdgat::file::SafetensorsFile;

namespace {

/// The smoke profile cut to a second or two.
const std::string kShort =
    "run --preset smoke data.synth.seconds=10 autoencoder.max_epochs=2 classifier.max_epochs=2 ";

/// Every model of `step` below `root` (killed runs may have none) has the weights of that of `run`.
void check_same_model(const fs::path& run, const fs::path& root, const std::string& step) {
  INFO(step);
  const SafetensorsFile one = SafetensorsFile::open(run / step / "model.safetensors");
  bool found = false;
  for (const auto& entry : fs::directory_iterator(root / "smoke")) {
    const fs::path model = entry.path() / step / "model.safetensors";
    if (!fs::exists(model)) continue;
    found = true;
    const SafetensorsFile two = SafetensorsFile::open(model);
    for (const auto& [name, tensor] : one.tensors()) {
      INFO(name);
      const auto& twin = two.tensor(name);
      REQUIRE(twin.bytes == tensor.bytes);
      CHECK(std::equal(tensor.data, tensor.data + tensor.bytes, twin.data));
    }
  }
  CHECK(found);
}

}  // namespace

TEST_CASE("every stage describes itself, its options and its ports", "[contract][cli]") {
  const ScratchFolder scratch;
  const CommandResult list = run_kdgat("plugins list --json", scratch.path());
  REQUIRE(list.exit_code == 0);
  const json plugins = json::parse(list.out).at("plugins");
  CHECK(plugins.size() >= 4);
  const fs::path folder = fs::absolute(kdgat_binary()).parent_path() / "plugins";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path());
    const json text = json::parse(read_text(entry.path()));
    CHECK_FALSE(text.at("summary").get<std::string>().empty());
    CHECK(text.at("version").get<int>() >= 1);
    for (const auto& [name, option] : text.at("options").at("properties").items()) {
      INFO(name);
      CHECK(option.contains("default"));
      CHECK_FALSE(option.at("description").get<std::string>().empty());
    }
    for (const char* side : {"inputs", "outputs"}) {
      for (const json& port : text.at(side)) {
        INFO(port);
        const auto& all = kdgat::kind::kAll;
        CHECK(std::count(all.begin(), all.end(), port.at("kind").get<std::string>()) == 1);
      }
    }
  }
}

TEST_CASE("every training stage refuses a bad value with the option's name and range",
          "[contract][cli]") {
  const ScratchFolder scratch;
  for (const std::string stage : {"autoencoder", "classifier"}) {
    const CommandResult result =
        run_kdgat(kShort + stage + ".lr=0 " + stage + ".max_epoch=3 -n", scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(stage + ".lr: 0 is outside") != std::string::npos);
    CHECK(result.err.find("max_epochs") != std::string::npos);
  }
  const CommandResult kd = run_kdgat(
      "run autoencoder --preset smoke data.synth.seconds=10 --use-kd true", scratch.path());
  CHECK(kd.exit_code == 2);
  CHECK(kd.err.find("distillation") != std::string::npos);
}

TEST_CASE("a smoke run leaves whole files that any safetensors reader opens", "[contract][cli]") {
  const ScratchFolder scratch;
  const CommandResult result =
      must_kdgat(kShort + "--root runs --threads 1 --json", scratch.path());
  const json summary = json::parse(result.out);
  CHECK(summary.at("steps").size() == 4);

  const fs::path run = newest_run(scratch / "runs" / "smoke");
  const std::optional<std::string> python = python_with_safetensors();
  int tensors = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "runs")) {
    INFO(entry.path());
    const std::string name = entry.path().filename().string();
    CHECK(name.find(".tmp.") == std::string::npos);
    if (entry.path().extension() == ".json") CHECK_NOTHROW(json::parse(read_text(entry.path())));
    if (entry.path().extension() != ".safetensors") continue;
    CHECK_FALSE(SafetensorsFile::open(entry.path()).tensors().empty());
    ++tensors;
    if (!python) continue;
    const CommandResult opened =
        run_shell(*python +
                      " -c \"import sys; from safetensors.numpy import load_file; "
                      "assert load_file(sys.argv[1])\" '" +
                      entry.path().string() + "'",
                  scratch.path());
    INFO(opened.err);
    CHECK(opened.exit_code == 0);
  }
  CHECK(tensors >= 5);  // graphs, split, two models, predictions
  for (const char* step : {"autoencoder", "classifier", "detector", "evaluate"}) {
    INFO(step);
    for (const char* file :
         {"config.json", "journal.jsonl", "metrics.json", "memory.json", "log.txt", "step.json"}) {
      INFO(file);
      CHECK(fs::exists(run / step / file));
    }
  }

  SECTION("the same command keeps every step, another seed runs them again") {
    const CommandResult again =
        must_kdgat(kShort + "--root runs --threads 1 --json", scratch.path());
    const json steps = json::parse(again.out).at("steps");
    REQUIRE(steps.size() == 4);
    for (const json& step : steps) CHECK(step.at("status") == "kept");
    const CommandResult other =
        run_kdgat(kShort + "--root runs --threads 1 --seed 7 -n", scratch.path());
    CHECK(other.exit_code == 0);
    CHECK((other.out + other.err).find("seed") != std::string::npos);
  }
  SECTION("weights do not depend on how often the run was killed") {
    // A checkpoint after every step: some are being written. A run that ends is checked, and the
    // next one begins anew.
    const std::string line = kShort +
                             "--threads 1 autoencoder.checkpoint_seconds=0 "
                             "classifier.checkpoint_seconds=0 --root ";
    kdgat::arrays::Random random(5);
    int killed = 0, root = 0;
    // As long as a whole run takes on this machine: kills fall into all of it.
    const auto began = std::chrono::steady_clock::now();
    must_kdgat(line + "whole", scratch.path());
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - began;
    const auto check = [&] {
      for (const char* step : {"autoencoder", "classifier"}) {
        check_same_model(run, scratch / std::to_string(root), step);
      }
      ++root;
    };
    while (killed < soak(10)) {
      const double seconds = whole.count() * random.uniform();
      const int code = run_shell("timeout -s KILL " + std::to_string(seconds) + " " + kdgat_word() +
                                     " " + line + std::to_string(root) + " > /dev/null 2>&1",
                                 scratch.path())
                           .exit_code;
      INFO("kill " << killed << " after " << seconds << " s");
      REQUIRE((code == 0 || code == 137));
      if (code == 0) {
        check();
      } else {
        ++killed;
      }
    }
    must_kdgat(line + std::to_string(root), scratch.path());
    check();
  }
}

TEST_CASE("a curriculum moves from epoch to epoch, killed or not", "[contract][cli]") {
  const ScratchFolder scratch;
  const std::string line =
      "run --preset smoke,curriculum data.synth.seconds=20 autoencoder.max_epochs=1 "
      "classifier.max_epochs=5 classifier.difficulty_cache_update=2 "
      "classifier.checkpoint_seconds=0 --threads 1 ";
  must_kdgat(line + "--root runs", scratch.path());
  const fs::path run = newest_run(scratch / "runs" / "smoke");
  CHECK_FALSE(
      SafetensorsFile::open(run / "curriculum" / "difficulty.safetensors").tensors().empty());
  std::vector<json> samples;
  std::istringstream journal(read_text(run / "classifier" / "journal.jsonl"));
  for (std::string text; std::getline(journal, text);) {
    const json event = json::parse(text);
    if (event.value("what", "") == "epoch") samples.push_back(event.at("values").at("sample"));
  }
  REQUIRE(samples.size() == 5);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    CHECK(samples[i].at("threshold") != samples[i - 1].at("threshold"));
    CHECK(samples[i].at("pool") != samples[i - 1].at("pool"));
    CHECK(samples[i].at("attack") == samples[0].at("attack"));
  }
  CHECK(samples[1].at("benign") != samples[0].at("benign"));
  CHECK(samples[4].at("scored_in_epoch") == 5);

  // Killed in the classifier, which follows the one epoch of the autoencoder.
  for (const std::size_t epochs : {2U, 4U}) {
    Background killed(line + "--root other", scratch.path());
    REQUIRE(wait_for(scratch / "other", "journal.jsonl", "\"what\":\"epoch\"", epochs));
    killed.end(SIGKILL);
  }
  must_kdgat(line + "--root other", scratch.path());
  check_same_model(run, scratch / "other", "classifier");
}

TEST_CASE("kdgat doctor names the kernels of a GPU, or the compiler that would make them",
          "[cli]") {
  const ScratchFolder scratch;
  const auto kernels = [&](const std::string& nvrtc) {
    const CommandResult said =
        run_shell("KDGAT_NVRTC='" + nvrtc + "' " + kdgat_word() + " doctor --json", scratch.path());
    const json answer = json::parse(said.out);
    for (const json& check : answer.at("checks")) {
      if (check.at("check") == "kernels") return check;
    }
    return json();
  };
  const std::string fake = build_folder() / "lib/libkdgat_fake_cuda.so";
  const json found = kernels(fake);
  CHECK_FALSE(found.at("finding").get<std::string>().empty());
  if (!found.at("finding").get<std::string>().starts_with("of the CPU")) return;  // a GPU is here
  CHECK(found.at("verdict") == "ok");
  CHECK(found.at("finding") ==
        "of the CPU; for a GPU: NVRTC 12.3 compiles for sm_75 to sm_80 (" + fake + ")");
  CHECK(kernels("/none/libnvrtc.so").at("finding") ==
        "of the CPU; for a GPU: cannot open any of /none/libnvrtc.so");
}
