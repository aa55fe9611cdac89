#include "setup/trained_model.h"

#include <utility>

#include "train/resources.h"

namespace kdgat::setup {

c10::Device prepare_scoring(const Request& request) {
  const c10::Device device = train::prepare(train::TrainOptions(), request);
  train::limit_memory(device, request);
  return device;
}

TrainedModel open_model(const std::filesystem::path& made) {
  graph::SafetensorsFile file = graph::SafetensorsFile::open(
      std::filesystem::is_directory(made) ? made / "model.safetensors" : made);
  model::ModelHeader header = model::load_header(file);
  return {std::move(file), std::move(header)};
}

void require_layout(const TrainedModel& model, const nlohmann::json& here,
                    const std::string& hint) {
  const std::string why = model::layout_difference(model.header.data, here);
  if (!why.empty()) throw Error(ExitCode::kData, model.path().string() + ": " + why, hint);
}

}  // namespace kdgat::setup
