// Graphs in space for stages, made up and imported once.
#pragma once

#include <cstdint>
#include <string>

#include "engine/graph/graph_store.h"
#include "support/graphs/synth_of.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

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
