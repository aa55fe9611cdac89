#include "score/score.h"

#include <filesystem>
#include <memory>

#include "engine/decision/stream/detector_scoring.h"
#include "engine/decision/stream/log_scoring.h"
#include "engine/decision/stream/network_scoring.h"
#include "engine/setup/trained_model.h"
#include "score/joined_scoring.h"
#include "score/network.h"

namespace kdgat::score {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<decision::LogScoring> open_by_torch(const fs::path& file,
                                                    const decision::ScoreOptions& options,
                                                    const Request& request, const Host& host) {
  const torch::Device device = setup::prepare_scoring(request, host);
  decision::check_network_options(file, options);
  return decision::open_network(load_network(file, device), options, host);
}

}  // namespace

StageInfo Score::info() {
  StageInfo out;
  out.name = "score";
  out.summary = "Score the windows of raw logs with a model file; used by kdgat score.";
  out.inputs = {{"model", "model"}, {"log", "log"}};
  return out;
}

nlohmann::json Score::plan(const Options&, const Request&) { return nlohmann::json::object(); }

nlohmann::json Score::run(const Options& options, const Request& request, Host& host) {
  const fs::path model = request.input("model").path;
  const std::unique_ptr<decision::LogScoring> scoring =
      decision::is_json_file(model) ? decision::open_detector(model, options, request, host)
      : has_channel(model)          ? open_joined(model, options, request, host)
                                    : open_by_torch(model, options, request, host);
  return decision::score_logs(*scoring, options, request, host);
}

}  // namespace kdgat::score
