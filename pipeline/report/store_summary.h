// A graph store as inspect_data() describes it (pipeline/data/data.h), for reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

/// How nodes or edges are spread over graphs. Null, here and below: not said.
struct SizeSpread {
  nlohmann::json p50, p99, max;
};

/// Graphs of a file or a part, by label.
struct GraphCounts {
  std::string name;
  nlohmann::json graphs, attack, benign, unlabelled;
  nlohmann::json rows, malformed, format;  ///< of a file
};

struct StoreSummary {
  nlohmann::json facts, options;  ///< objects
  nlohmann::json path, content_hash;
  SizeSpread nodes, edges;
  std::vector<GraphCounts> parts, files;
};

StoreSummary read_store_summary(const nlohmann::json& data);

}  // namespace kdgat
