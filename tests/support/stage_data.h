// Around a stage in a test: a host that remembers, a data set made up and imported once for it, and
// requests of steps on it. Steps stand beside the data, each in a folder of its name.
#pragma once

#include <signal.h>
#include <torch/utils.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data/molecules/molecule_store.h"
#include "data/ratings/ratings_store.h"
#include "data/texts/text_store.h"
#include "graph/graph_store.h"
#include "kdgat/stage.h"
#include "support/command.h"
#include "support/import_options.h"
#include "support/request_on.h"
#include "support/synth_of.h"

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
    const auto file = graph::SafetensorsFile::open(folder / step / name);
    std::string out;
    for (const auto& [key, tensor] : file.tensors()) {
      out += key + graph::hash_bytes(tensor.data, tensor.bytes);
    }
    return out;
  }

  std::filesystem::path store_file() const { return folder / "data/graphs.safetensors"; }

  ScratchFolder folder;
  FakeHost fake;
};

/// One thread, so that a seed gives the same numbers again.
inline void import_synthetic(const StageData& data, const graph::SynthOptions& synth,
                             const graph::ImportOptions& options = {}) {
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

/// Ratings of four classes of users and items.
struct RatingsFixture : StageData {
  explicit RatingsFixture(int64_t users = 80, int64_t ratings = 24) {
    graph::SynthOptions synth = synth_of("ratings", users, ratings);
    synth.classes = 4;
    import_synthetic(*this, synth);
  }
  json facts() const override { return store().facts(); }
  graph::RatingStore store() const { return graph::RatingStore::open(store_file()); }
};

/// A corpus of three classes; `shares` of training, validation and test documents.
struct TextFixture : StageData {
  explicit TextFixture(const std::vector<double>& shares = {}, int64_t documents = 120) {
    graph::SynthOptions synth = synth_of("text", documents, 60);
    synth.classes = 3;
    graph::ImportOptions options;
    options.remove_rare_words = 2;
    options.tvt_split = shares;
    import_synthetic(*this, synth, options);
  }
  json facts() const override { return store().facts(); }
  graph::TextStore store() const { return graph::TextStore::open(store_file()); }
};

/// Pockets of `ligands` ligands.
struct MoleculeFixture : StageData {
  explicit MoleculeFixture(int64_t molecules = 24, int64_t atoms = 60, int64_t ligands = 4) {
    graph::SynthOptions synth = synth_of("molecules", molecules, atoms);
    synth.classes = ligands;
    import_synthetic(*this, synth);
  }
  json facts() const override { return store().facts(); }
  graph::MoleculeStore store() const { return graph::MoleculeStore::open(store_file()); }
};

/// Graphs in space of three classes.
struct TreeFixture : StageData {
  explicit TreeFixture(const std::string& kind = "tree", int64_t graphs = 60, int64_t nodes = 30)
      : store(imported(*this, synth_of(kind, graphs, nodes))) {}
  json facts() const override { return store.facts(); }

  using StageData::request;
  /// `encoder`: the step whose encoder is the second input.
  Request request(const std::string& step, const std::string& encoder) const {
    Request r = request(step);
    r.inputs["encoder"] = {{encoder, "encoder", folder / encoder, json::object()}};
    return r;
  }

  graph::GraphStore store;

 private:
  static graph::GraphStore imported(const StageData& data, graph::SynthOptions synth) {
    synth.classes = 3;
    import_synthetic(data, synth);
    return graph::GraphStore::open(data.store_file());
  }
};

}  // namespace kdgat::test
