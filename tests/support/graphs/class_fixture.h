// Labelled graphs of several classes for stages, and a classifier of a second for them.
#pragma once

#include <cstdint>

#include "classifier/classifier_options.h"
#include "engine/train/data_set.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

/// Graphs of `classes` classes that edges alone tell apart.
struct ClassFixture : StageData {
  explicit ClassFixture(int64_t classes, int64_t graphs = 160) {
    graph::SynthOptions synth = synth_of("graphs", graphs, 12);
    synth.classes = classes;
    import_synthetic(*this, synth);
  }
  json facts() const override { return data().store.facts(); }
  train::Data data() const { return train::open_data(folder / "data"); }
};

inline classifier::ClassifierOptions small_gin() {
  classifier::ClassifierOptions o;
  o.conv = "gin";
  o.norm = "batch";
  o.pooling = "sum";
  o.hidden = 8;
  o.layers = 2;
  o.fc_layers = 2;
  o.lr = 0.01;
  o.batch_size = 16;
  o.max_epochs = 4;
  o.min_steps_per_epoch = 1;
  return o;
}

}  // namespace kdgat::test
