#include "score_native/score_native.h"

#include <filesystem>
#include <memory>

#include "engine/decision/detector/joined_files.h"
#include "engine/decision/stream/detector_scoring.h"
#include "engine/decision/stream/network_scoring.h"
#include "engine/model/config/trained_model.h"
#include "engine/native/networks.h"

namespace kdgat::score_native {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json verdict(const std::string& why_not, bool fits = true) {
  return {{"computes", why_not.empty()}, {"fits", why_not.empty() && fits}, {"why", why_not}};
}

fs::path folder_of(const fs::path& model) {
  return fs::is_directory(model) ? model : model.parent_path();
}

}  // namespace

StageInfo ScoreNative::info() {
  StageInfo out;
  out.name = "score_native";
  out.summary =
      "Score the windows of raw logs without LibTorch; used by kdgat score and kdgat why.";
  out.inputs = {{"model", "model"}, {"log", "log"}};
  out.stands_in_for = "score";
  return out;
}

json ScoreNative::plan(const Options&, const Request& request) {
  const fs::path model = request.input("model").path;
  try {
    if (decision::is_json_file(model)) return verdict("");
    if (decision::is_joined(folder_of(model))) return verdict("a fusion joins several models");
    const model::TrainedModel made = model::open_model(model);
    return verdict(native::why_not_native(made.header),
                   model::parameters_of(made.file) <= native::kMostParameters);
  } catch (const Error& error) {
    return verdict(error.diagnostics().front().message);
  }
}

json ScoreNative::run(const Options& options, const Request& request, Host& host) {
  const fs::path model = request.input("model").path;
  if (decision::is_json_file(model)) {
    return decision::score_logs(*decision::open_detector(model, options, request, host), options,
                                request, host);
  }
  if (decision::is_joined(folder_of(model))) {
    throw Error(ExitCode::kUsage, model.string() + " is a fusion, which LibTorch computes",
                "leave --engine away");
  }
  if (request.device != Request().device) {
    throw Error(ExitCode::kUsage, "the native engine computes on the CPU, not on " + request.device,
                "leave --device away, or use --engine libtorch");
  }
  decision::check_network_options(model, options);
  return decision::score_logs(
      *decision::open_network(decision::native_network(model), options, host), options, request,
      host);
}

}  // namespace kdgat::score_native
