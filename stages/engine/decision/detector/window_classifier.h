// WindowClassifier: what gives a window its log-odds of attack, trees over its columns or a network
// over its graph.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "engine/data/can/windows/relative_window.h"
#include "engine/decision/detector/relative_network.h"
#include "engine/trees/boosted_trees.h"

namespace kdgat::decision {

class WindowClassifier {
 public:
  WindowClassifier(trees::BoostedTrees trees) : is_(std::move(trees)) {}
  WindowClassifier(std::shared_ptr<const RelativeNetwork> network) : is_(std::move(network)) {}

  /// Log-odds of attack. Of a network the window has a graph; without one it is as if nothing was
  /// odd.
  double score(const data::RelativeWindow& window) const;
  /// Whether windows need their graphs, and profiles their steps.
  bool reads_graphs() const { return network() != nullptr; }
  /// nullptr: it is trees.
  const RelativeNetwork* network() const;
  /// Throws Error(kUsage) where it is a network.
  const trees::BoostedTrees& trees() const;
  /// Splits and leaves, or weights.
  int64_t parameters() const;

  /// As trees::BoostedTrees; of a network {"format": "kdgat.network", "model": its file in base64}.
  nlohmann::json json() const;
  /// `file`: that holds it, in messages. Throws Error(kData).
  static WindowClassifier from_json(const nlohmann::json& in, const std::string& file);

 private:
  std::variant<trees::BoostedTrees, std::shared_ptr<const RelativeNetwork>> is_;
};

}  // namespace kdgat::decision
