// A corpus for stages, made up and imported once.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/texts/data/text_options.h"
#include "fields/texts/data/text_store.h"
#include "support/graphs/synth_of.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

/// A corpus of three classes; `shares` of training, validation and test documents.
struct TextFixture : StageData {
  explicit TextFixture(const std::vector<double>& shares = {}, int64_t documents = 120) {
    graph::SynthOptions synth = synth_of("text", documents, 60);
    synth.classes = 3;
    graph::ImportOptionsWith<texts::TextOptions> options;
    options.remove_rare_words = 2;
    options.tvt_split = shares;
    import_synthetic(*this, synth, options);
  }
  json facts() const override { return store().facts(); }
  texts::TextStore store() const { return texts::TextStore::open(store_file()); }
};

}  // namespace kdgat::test
