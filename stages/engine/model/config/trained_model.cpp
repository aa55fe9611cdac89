#include "engine/model/config/trained_model.h"

#include <utility>

#include "kdgat/error.h"

namespace kdgat::model {

TrainedModel open_model(const std::filesystem::path& made) {
  file::SafetensorsFile file = file::SafetensorsFile::open(
      std::filesystem::is_directory(made) ? made / "model.safetensors" : made);
  ModelHeader header = load_header(file);
  return {std::move(file), std::move(header)};
}

void require_layout(const TrainedModel& model, const nlohmann::json& here,
                    const std::string& hint) {
  const std::string why = layout_difference(model.header.data, here);
  if (!why.empty()) throw Error(ExitCode::kData, model.path().string() + ": " + why, hint);
}

}  // namespace kdgat::model
