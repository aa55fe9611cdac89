// What stages that train no model of their own share: threads and memory, and models made before.
#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "file/safetensors.h"
#include "kdgat/stage.h"
#include "model/model_file.h"

namespace kdgat::setup {

/// train::prepare() and train::limit_memory() of a stage without options of training.
c10::Device prepare_scoring(const Request& request);

/// A model file and what it says of itself.
struct TrainedModel {
  graph::SafetensorsFile file;
  model::ModelHeader header;

  const std::filesystem::path& path() const { return file.path(); }
};

/// `made`: the folder of the step that made it, or its file. Throws Error(kData) for what is no
/// model.
TrainedModel open_model(const std::filesystem::path& made);

/// Throws Error(kData) with `hint` if the model was made for graphs of another layout than `here`
/// (see train::layout_of).
void require_layout(const TrainedModel& model, const nlohmann::json& here, const std::string& hint);

}  // namespace kdgat::setup
