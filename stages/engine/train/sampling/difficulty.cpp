#include "engine/train/sampling/difficulty.h"

#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace kdgat::train {
namespace {

constexpr const char* kAgain = "run the curriculum step again";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw Error(ExitCode::kData, path.string() + ": " + what, kAgain);
}

/// Position of the first value that is not finite; values.size() if there is none.
std::size_t first_not_finite(const std::vector<float>& values) {
  std::size_t i = 0;
  while (i < values.size() && std::isfinite(values[i])) ++i;
  return i;
}

}  // namespace

void write_difficulty(const std::filesystem::path& path, const Difficulty& difficulty) {
  file::SafetensorsWriter writer;
  const auto size = static_cast<int64_t>(difficulty.graph.size());
  writer.add("graph", {size}, std::span<const int64_t>(difficulty.graph));
  writer.add("difficulty", {size}, std::span<const float>(difficulty.value));
  writer.metadata("store", difficulty.store);
  writer.metadata("model", difficulty.model);
  writer.metadata("formula", difficulty.formula);
  writer.write(path, /*hashes=*/true);
}

Difficulty load_difficulty(const std::filesystem::path& path, const graph::GraphStore& store) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  if (std::vector<Diagnostic> faults = file::verify_hashes(file); !faults.empty()) {
    for (Diagnostic& fault : faults) fault.hint = kAgain;
    throw Error(ExitCode::kData, std::move(faults));
  }
  const auto text = [&](const char* key) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end()) {
      refuse(path, "no difficulty of windows: no metadata '" + std::string(key) + "'");
    }
    return found->second;
  };
  Difficulty out;
  out.store = text("store");
  out.model = text("model");
  out.formula = text("formula");
  if (out.store != store.content_hash()) {
    refuse(path,
           "is of other graphs: store " + out.store + ", the data is " + store.content_hash());
  }
  const auto graphs = file.require<int64_t>("graph", {-1});
  const auto values = file.require<float>("difficulty", {static_cast<int64_t>(graphs.size())});
  out.graph.assign(graphs.begin(), graphs.end());
  out.value.assign(values.begin(), values.end());
  std::unordered_set<int64_t> seen;
  for (const int64_t id : out.graph) {
    if (id < 0 || id >= store.graphs()) {
      refuse(path, "names graph " + std::to_string(id) + " of " + std::to_string(store.graphs()));
    }
    if (!seen.insert(id).second) refuse(path, "names graph " + std::to_string(id) + " twice");
  }
  if (const std::size_t i = first_not_finite(out.value); i < out.value.size()) {
    refuse(path, "the difficulty of graph " + std::to_string(out.graph[i]) + " is not finite");
  }
  return out;
}

std::vector<double> values_of(const Difficulty& difficulty, const std::vector<int64_t>& ids,
                              const std::string& what) {
  std::unordered_map<int64_t, float> known;
  for (std::size_t i = 0; i < difficulty.graph.size(); ++i) {
    known.emplace(difficulty.graph[i], difficulty.value[i]);
  }
  std::vector<double> out;
  int64_t missing = 0, first = -1;
  for (const int64_t id : ids) {
    const auto found = known.find(id);
    if (found != known.end()) {
      out.push_back(found->second);
    } else if (missing++ == 0) {
      first = id;
    }
  }
  if (missing > 0) {
    throw Error(ExitCode::kData,
                "the difficulty of " + std::to_string(missing) + " of " +
                    std::to_string(ids.size()) + " " + what + " is not known, first of graph " +
                    std::to_string(first),
                std::string("it was made with another split: ") + kAgain);
  }
  return out;
}

void check_given(const std::vector<int64_t>& graph, const std::vector<double>& difficulty,
                 const std::string& what) {
  if (difficulty.size() != graph.size()) {
    throw Error(ExitCode::kData, std::to_string(difficulty.size()) + " difficulties for " +
                                     std::to_string(graph.size()) + " " + what);
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (std::isfinite(difficulty[i])) continue;
    throw Error(ExitCode::kData,
                "the difficulty of graph " + std::to_string(graph[i]) + " is not finite");
  }
}

void check_finite(const std::vector<int64_t>& graph, const std::vector<float>& value,
                  const std::string& what) {
  const std::size_t i = first_not_finite(value);
  if (i == value.size()) return;
  throw Error(ExitCode::kStageFailed,
              what + " of graph " + std::to_string(graph.at(i)) + " is not finite",
              "the weights of the model have diverged: train it again with a lower lr");
}

}  // namespace kdgat::train
