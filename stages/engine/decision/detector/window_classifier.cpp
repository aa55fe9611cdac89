#include "engine/decision/detector/window_classifier.h"

#include <optional>
#include <vector>

#include "engine/file/base64.h"
#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

constexpr const char* kNetworkFormat = "kdgat.network";
constexpr double kNothingOdd = -1e6;  // log-odds

}  // namespace

double WindowClassifier::score(const data::RelativeWindow& window) const {
  if (const RelativeNetwork* network = this->network()) {
    return window.graph ? network->score(*window.graph) : kNothingOdd;
  }
  return std::get<trees::BoostedTrees>(is_).score(window.x);
}

const RelativeNetwork* WindowClassifier::network() const {
  const auto* found = std::get_if<std::shared_ptr<const RelativeNetwork>>(&is_);
  return found != nullptr ? found->get() : nullptr;
}

const trees::BoostedTrees& WindowClassifier::trees() const {
  if (const auto* found = std::get_if<trees::BoostedTrees>(&is_)) return *found;
  throw Error(ExitCode::kUsage, "the classifier of this detector is a graph network, not trees",
              "a detector that was trained without a network has trees");
}

int64_t WindowClassifier::parameters() const {
  const RelativeNetwork* network = this->network();
  return network != nullptr ? network->parameters()
                            : static_cast<int64_t>(trees().forest().nodes.size());
}

nlohmann::json WindowClassifier::json() const {
  const RelativeNetwork* network = this->network();
  if (network == nullptr) return trees().to_json();
  return {{"format", kNetworkFormat}, {"model", file::to_base64(network->bytes())}};
}

WindowClassifier WindowClassifier::from_json(const nlohmann::json& in, const std::string& file) {
  if (in.value("format", "") != kNetworkFormat) return trees::BoostedTrees::from_json(in);
  std::optional<std::vector<std::byte>> bytes =
      file::from_base64(in.at("model").get_ref<const std::string&>());
  if (!bytes) throw Error(ExitCode::kData, file + ": the network in it is not base64");
  return std::make_shared<const RelativeNetwork>(std::move(*bytes), file);
}

}  // namespace kdgat::decision
