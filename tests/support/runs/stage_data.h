// Around a stage in a test: a host that remembers, a data set made up and imported once for it, and
// requests of steps on it. Steps stand beside the data, each in a folder of its name.
#pragma once

#include <signal.h>
#include <torch/utils.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/graph/graph_store.h"
#include "kdgat/stage.h"
#include "support/graphs/import_options.h"
#include "support/graphs/synth_of.h"
#include "support/programs/command.h"
#include "support/runs/request_on.h"

namespace kdgat::test {

using nlohmann::json;

/// A host that remembers log, progress and the numbers of epochs, and ends the stage when told.
struct FakeHost {
  kdgat_host raw{KDGAT_ABI_MAJOR, KDGAT_ABI_MINOR, sizeof(kdgat_host), this, emit, cancelled,
                 nullptr,         nullptr};
  Host host{&raw};
  std::string log;
  std::vector<json> epochs;    ///< values of each
  std::vector<json> memory;    ///< what was said of memory
  std::vector<json> progress;  ///< events
  std::vector<double> losses;  ///< means of the epoch so far
  int64_t polls_left = -1;     ///< until the stage is to leave; -1 = for ever
  bool kills = false;          ///< then its process is killed instead

  static void emit(void* context, const char* text) {
    auto* self = static_cast<FakeHost*>(context);
    const json event = json::parse(text);
    if (event.at("event") == "log") self->log += event.at("message").get<std::string>() + "\n";
    if (event.at("event") == "progress") self->progress.push_back(event);
    if (event.at("event") == "metrics") {
      (event.at("what") == "epoch" ? self->epochs : self->memory).push_back(event.at("values"));
    }
    const json metrics = event.value("metrics", json::object());
    if (event.at("event") == "progress" && metrics.contains("loss")) {
      self->losses.push_back(metrics.at("loss"));
    }
  }
  static int32_t cancelled(void* context) {
    auto* self = static_cast<FakeHost*>(context);
    if (self->polls_left < 0) return 0;
    if (self->polls_left > 0) {
      --self->polls_left;
      return 0;
    }
    if (self->kills) ::kill(::getpid(), SIGKILL);
    return static_cast<int32_t>(ExitCode::kRequeue);
  }
};

/// A folder with data/, and what steps on it are asked for and leave.
struct StageData {
  virtual ~StageData() = default;
  virtual json facts() const { return json::object(); }

  Request request(const std::string& step, int64_t seed = Request().seed) const {
    return request_on(folder / "data", folder / step, step, seed, facts());
  }

  /// Names and hashes of the tensors of a step's model, or of another file of its folder.
  std::string weights(const std::string& step,
                      const std::string& name = "model.safetensors") const {
    const auto file = file::SafetensorsFile::open(folder / step / name);
    std::string out;
    for (const auto& [key, tensor] : file.tensors()) {
      out += key + file::hash_bytes(tensor.data, tensor.bytes);
    }
    return out;
  }

  std::filesystem::path store_file() const { return folder / "data/graphs.safetensors"; }

  ScratchFolder folder;
  FakeHost fake;
};

/// One thread, so that a seed gives the same numbers again.
template <class... More>
void import_synthetic(const StageData& data, const graph::SynthOptions& synth,
                      const graph::ImportOptionsWith<More...>& options = {}) {
  torch::set_num_threads(1);
  graph::write_synthetic(data.folder / "files", synth);
  graph::import_logs(data.folder / "files", data.folder / "data", options);
}

/// Windows of traffic with attacks.
struct CanFixture : StageData {
  CanFixture() {
    graph::SynthOptions synth;
    synth.seconds = 10;
    synth.vehicles = 2;
    import_synthetic(*this, synth);
  }
  json facts() const override { return graph::GraphStore::open(store_file()).facts(); }
};

}  // namespace kdgat::test
