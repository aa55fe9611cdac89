// What is to be made up, in a word.
#pragma once

#include <string>

#include "support/graphs/import_options.h"

namespace kdgat::test {

/// So many trees, images, documents or users, with so many nodes, words or ratings each.
inline graph::SynthOptions synth_of(const std::string& kind, int64_t graphs, int64_t nodes) {
  graph::SynthOptions synth;
  synth.kind = kind;
  synth.graphs = graphs;
  synth.nodes = nodes;
  return synth;
}

}  // namespace kdgat::test
