// A model that was trained before: its file and what it says of itself.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::model {

struct TrainedModel {
  file::SafetensorsFile file;
  ModelHeader header;

  const std::filesystem::path& path() const { return file.path(); }
};

/// `made`: the folder of the step that made it, or its file. Throws Error(kData) for what is no
/// model.
TrainedModel open_model(const std::filesystem::path& made);

/// Throws Error(kData) with `hint` if the model was made for graphs of another layout than `here`
/// (see train::layout_of).
void require_layout(const TrainedModel& model, const nlohmann::json& here, const std::string& hint);

}  // namespace kdgat::model
