#include "distill/distill.h"

#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/setup/training_stage.h"
#include "engine/train/sampling/sampling.h"

namespace kdgat::distill {

StageInfo Distill::info() {
  StageInfo out = setup::training_stage(
      "distill", "Train a small classifier or autoencoder to do what a trained teacher does.");
  out.inputs = {graphs_of("can, graphs"), train::difficulty_port(), {"teacher", "model", false}};
  out.outputs = {{"model", "model"}};
  return out;
}

nlohmann::json Distill::plan(const Options& options, const Request& request) {
  if (options.model == "classifier") {
    return classifier::Classifier::plan(options.of_classifier(), request);
  }
  return autoencoder::Autoencoder::plan(options.of_autoencoder(), request);
}

nlohmann::json Distill::run(const Options& options, const Request& request, Host& host) {
  if (options.model == "classifier") {
    return classifier::Classifier::run(options.of_classifier(), request, host);
  }
  return autoencoder::Autoencoder::run(options.of_autoencoder(), request, host);
}

}  // namespace kdgat::distill
