// What stages that train on graphs in space ask of a data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/train/data_set.h"

namespace kdgat::space {

/// The sections of a store that a stage cannot do without; the first that is lacking is named in an
/// Error(kData).
template <class... Sections>
struct Needs {
  /// open_data() of graphs that have them.
  static train::Data open(const std::filesystem::path& folder) {
    train::Data out = train::open_data(folder);
    (out.store.template need<Sections>(), ...);
    return out;
  }
  /// Of the facts of a store, before it is opened.
  static void check(const nlohmann::json& graph_facts) {
    const nlohmann::json facts = graph_facts.value(graph::kSectionFacts, nlohmann::json::object());
    (check_one<Sections>(facts), ...);
  }

 private:
  template <class Section>
  static void check_one(const nlohmann::json& facts) {
    if (!Section::is_in(facts)) throw graph::lacks<Section>("");
  }
};

/// Median length of the edges of the graphs `ids`; 1 where they have none or of no length.
double median_edge_length(const graph::GraphStore& store, const std::vector<int64_t>& ids);

}  // namespace kdgat::space
