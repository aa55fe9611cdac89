#include "engine/objective/load_scorer.h"

#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/fusion_scorer.h"

namespace kdgat::objective {

namespace {

template <class Config>
Config config_of(const model::ModelHeader& header, const file::SafetensorsFile& file) {
  try {
    return header.config.get<Config>();
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) d.where = file.path().string();
    throw Error(error.code(), std::move(diagnostics));
  }
}

template <class Config, class Loaded>
std::unique_ptr<train::Scorer> rebuild(const model::ModelHeader& header,
                                       const file::SafetensorsFile& file, torch::Device device) {
  const auto config = config_of<Config>(header, file);
  const model::LeastSize least = config.least_size();
  model::require_room(file, least.numbers, least.tensors);
  auto built = model::make_model(config);
  model::load_weights(*built, file);
  built->to(device);
  built->eval();
  return std::make_unique<Loaded>(std::move(built));
}

}  // namespace

std::unique_ptr<train::Scorer> load_scorer(const std::filesystem::path& model_file,
                                           torch::Device device) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(model_file);
  if (std::vector<Diagnostic> faults = file::verify_hashes(file); !faults.empty()) {
    for (Diagnostic& fault : faults) fault.hint = "run the step that made it again";
    throw Error(ExitCode::kData, std::move(faults));
  }
  const model::ModelHeader header = model::load_header(file);
  if (header.name == "vgae") {
    return rebuild<model::VgaeConfig, AutoencoderObjective>(header, file, device);
  }
  if (header.name == "gat") {
    return rebuild<model::GatConfig, ClassifierObjective>(header, file, device);
  }
  if (header.name == "fusion") {
    return load_fusion(file, config_of<model::FusionConfig>(header, file), device);
  }
  throw Error(ExitCode::kData, model_file.string() + ": unknown model '" + header.name + "'",
              "known are vgae, gat and fusion");
}

}  // namespace kdgat::objective
