#include "engine/objective/load_scorer.h"

#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/fusion_scorer.h"
#include "engine/objective/number_objective.h"

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

/// The model in eval mode, with its weights.
template <class Config>
auto built_of(const model::ModelHeader& header, const file::SafetensorsFile& file,
              torch::Device device) {
  const auto config = config_of<Config>(header, file);
  const model::LeastSize least = config.least_size();
  model::require_room(file, least.numbers, least.tensors);
  auto built = model::make_model(config);
  model::load_weights(*built, file);
  built->to(device);
  built->eval();
  return built;
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
    return std::make_unique<AutoencoderObjective>(
        built_of<model::VgaeConfig>(header, file, device));
  }
  if (header.name == "gat") {
    const auto built = built_of<model::GatConfig>(header, file, device);
    if (built->config().regression) return std::make_unique<NumberObjective>(built, "mse");
    return std::make_unique<ClassifierObjective>(built);
  }
  if (header.name == "fusion") {
    return load_fusion(file, config_of<model::FusionConfig>(header, file), device);
  }
  throw Error(ExitCode::kData, model_file.string() + ": unknown model '" + header.name + "'",
              "known are vgae, gat and fusion");
}

}  // namespace kdgat::objective
