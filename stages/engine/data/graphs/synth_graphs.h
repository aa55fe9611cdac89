// Made-up labelled graphs whose classes differ in which nodes are joined, and in nothing else. For
// tests, examples and learning without downloads. The same bytes for the same options, on every
// machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/data/core/synth_size.h"

namespace kdgat::data {

/// Writes graphs.csv, nodes.csv and edges.csv below `folder`. A graph has as many nodes of each of
/// several kinds (the features: a column a kind), all kinds with the same degrees. A class is a way
/// to put the kinds in pairs: four of five edges join nodes of two kinds that are a pair, the rest
/// any two. As another class is no more than other names for the kinds, the numbers of nodes and
/// edges, degrees and features have the same distribution in every class; what is joined to what
/// has not. Throws Error(kData), and Error(kInterrupted) once `cancelled` answers true.
void write_synthetic_graphs(const std::filesystem::path& folder, const SynthSize& options,
                            const std::function<bool()>& cancelled = {});

/// How many kinds of nodes `classes` classes need: even, at least 6.
int64_t node_kinds(int64_t classes);

}  // namespace kdgat::data
