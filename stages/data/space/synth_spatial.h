// Made-up graphs in space whose classes differ in shape: random trees as SWC files, and points like
// the segments of an image as a CSV. For tests, examples and learning without downloads. The same
// bytes for the same options, on every machine. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace kdgat::graph {

/// Of `graphs` graphs of about `nodes` nodes; graph g is of class g modulo `classes`.
struct SpatialSynth {
  int64_t graphs = 120;
  int64_t nodes = 100;
  int64_t classes = 3;
  int64_t seed = 1;
};

/// The text of one tree. A class has its own length of segments, turning angle, torsion and rate of
/// branching.
std::string synthetic_tree(const SpatialSynth& options, int64_t graph);
/// Writes tree_0000.swc .. and labels.csv (file, class, branching: the true rate) below `folder`.
/// Throws Error(kData), and Error(kInterrupted) once `cancelled` answers true.
void write_synthetic_trees(const std::filesystem::path& folder, const SpatialSynth& options,
                           const std::function<bool()>& cancelled = {});

/// Writes centroids.csv (graph, x, y and five features: mean colours, area, eccentricity) and
/// labels.csv (graph, class): the points of a jittered square grid, `nodes` rounded down to a
/// square, with a smooth pattern whose wavelength is that of the class. Throws as above.
void write_synthetic_points(const std::filesystem::path& folder, const SpatialSynth& options,
                            const std::function<bool()>& cancelled = {});

}  // namespace kdgat::graph
