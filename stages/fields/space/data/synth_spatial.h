// Made-up graphs in space whose classes differ in shape: random trees as SWC files, and points like
// the segments of an image as a CSV. For tests, examples and learning without downloads. The same
// bytes for the same options, on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/data/core/synth_size.h"

namespace kdgat::space {

/// The text of one tree. A class has its own length of segments, turning angle, torsion and rate of
/// branching.
std::string synthetic_tree(const data::SynthSize& options, int64_t graph);
/// Writes tree_0000.swc .. and labels.csv (file, class, branching: the true rate) below `folder`.
/// Throws Error(kData), and Error(kInterrupted) once `cancelled` answers true.
void write_synthetic_trees(const std::filesystem::path& folder, const data::SynthSize& options,
                           const std::function<bool()>& cancelled = {});

/// Writes centroids.csv (graph, x, y and five features: mean colours, area, eccentricity) and
/// labels.csv (graph, class): the points of a jittered square grid, `nodes` rounded down to a
/// square, with a smooth pattern whose wavelength is that of the class. Throws as above.
void write_synthetic_points(const std::filesystem::path& folder, const data::SynthSize& options,
                            const std::function<bool()>& cancelled = {});

}  // namespace kdgat::space
