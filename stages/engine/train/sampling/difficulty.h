// How hard graphs are: a side file of a graph store, made by the curriculum stage, read by whoever
// chooses windows by it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/graph/graph_store.h"

namespace kdgat::train {

/// Its name in the folder of the step that makes it.
inline constexpr const char* kDifficultyFile = "difficulty.safetensors";

/// B windows, or labelled graphs, of one store, in any order.
struct Difficulty {
  std::vector<int64_t> graph;  ///< [B] index in the store, each once
  std::vector<float> value;    ///< [B] finite; more is harder
  std::string store;           ///< content_hash() of the store
  std::string model;           ///< header hash of the model file that scored
  std::string formula;         ///< for people
};

/// Writes atomically, with hashes: "graph" [B] I64, "difficulty" [B] F32, the rest as metadata.
void write_difficulty(const std::filesystem::path& path, const Difficulty& difficulty);

/// Throws Error(kData) naming the file if it is damaged or of another store, and the graph if one
/// is out of range, named twice or of a value that is not finite.
Difficulty load_difficulty(const std::filesystem::path& path, const graph::GraphStore& store);

/// The values of `ids`, in their order. Throws Error(kData) if some are missing; `what` they are.
std::vector<double> values_of(const Difficulty& difficulty, const std::vector<int64_t>& ids,
                              const std::string& what = "benign training windows");

/// Throws Error(kData) unless there is a finite difficulty for each graph; `what` they are.
void check_given(const std::vector<int64_t>& graph, const std::vector<double>& difficulty,
                 const std::string& what);

/// Throws Error(kStageFailed) naming the first graph whose value is not finite.
void check_finite(const std::vector<int64_t>& graph, const std::vector<float>& value,
                  const std::string& what);

}  // namespace kdgat::train
