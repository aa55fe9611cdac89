// A graph store as inspect_data() tells of it (pipeline/data/data.h). Only here reads a report it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

/// How nodes or edges are spread over graphs. Null, here and below: not said.
struct ToldSpread {
  nlohmann::json p50, p99, max;
};

/// Graphs of a file or a part, by label.
struct ToldGraphs {
  std::string name;
  nlohmann::json graphs, attack, benign, unlabelled;
  nlohmann::json rows, malformed, format;  ///< of a file
};

struct ToldStore {
  nlohmann::json facts, options;  ///< objects
  nlohmann::json path, content_hash;
  ToldSpread nodes, edges;
  std::vector<ToldGraphs> parts, files;
};

ToldStore read_told_store(const nlohmann::json& data);

}  // namespace kdgat
