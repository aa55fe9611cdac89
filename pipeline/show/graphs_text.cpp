#include "pipeline/show/graphs_text.h"

#include "kdgat/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string text_graph_text(const json& text) {
  return grouped(text.at("documents")) + " documents, " +
         std::to_string(text.at("classes").size()) + " classes, " + grouped(text.at("words")) +
         " words";
}

std::string ratings_text(const json& ratings) {
  return grouped(ratings.at("ratings")) + " ratings of " + grouped(ratings.at("items")) +
         " items by " + grouped(ratings.at("users")) + " users";
}

}  // namespace

std::string windows_text(int64_t count) {
  return grouped(count) + (count == 1 ? " window" : " windows");
}

std::string graphs_text(const json& facts) {
  if (facts.contains("text")) return text_graph_text(facts.at("text"));
  if (facts.contains("ratings")) return ratings_text(facts.at("ratings"));
  const int64_t graphs = facts.at("graphs");
  const bool is_labelled = facts.at("unlabelled") != facts.at("graphs");
  if (!facts.contains("spatial")) {
    return windows_text(graphs) +
           (is_labelled ? " (" + grouped(facts.at("attack")) + " attack)" : " (without labels)");
  }
  const json& spatial = facts.at("spatial");
  std::string out = grouped(graphs) + (spatial.at("are_trees").get<bool>() ? " tree" : " graph");
  if (graphs != 1) out += 's';
  const std::size_t classes = spatial.at("classes").size();
  if (classes > 0) out += ", " + std::to_string(classes) + (classes == 1 ? " class" : " classes");
  if (const int64_t targets = spatial.at("targets"); targets > 0) {
    out += ", " + grouped(targets) + " with a target";
  } else if (classes == 0) {
    out += " (without labels)";
  }
  return out;
}

}  // namespace kdgat
