// The presets student and teacher state the sizes of the models once more, for people to read.
#include <catch2/catch.hpp>
#include <type_traits>

#include "autoencoder/autoencoder_options.h"
#include "classifier/classifier_options.h"
#include "fusion/fusion_options.h"
#include "support/runs/profile_case.h"

using namespace kdgat;
using namespace kdgat::test;
using nlohmann::json;

namespace {

/// The options of both stages with a preset of profiles/.
std::map<std::string, json> options_with(const std::string& preset) {
  const ScratchFolder folder;
  std::ofstream(folder / "both.yaml") << "stages: {autoencoder: , classifier: }\n";
  ProfileRequest request;
  request.preset_folders = {"profiles"};
  request.presets = {preset};
  request.config = folder / "both.yaml";
  PluginCatalog catalog;
  catalog.add(stage("autoencoder", options_schema<autoencoder::AutoencoderOptions>()));
  catalog.add(stage("classifier", options_schema<classifier::ClassifierOptions>()));
  catalog.add(stage("fusion", options_schema<fusion::FusionOptions>()));
  std::map<std::string, json> out;
  for (const StepSpec& step : resolve_profile(request, catalog, {}).steps) {
    out[step.stage] = step.options.values;
  }
  return out;
}

/// Compares every row of the table that is a size; returns how many these are.
template <class Options, class Sizes>
int check_sizes(const json& values, const Sizes& sizes) {
  int compared = 0;
  const auto check = [&](const auto& f) {
    if constexpr (std::is_invocable_v<decltype(f.member), Sizes>) {
      INFO(f.name);
      CHECK(values.at(f.name) == json(sizes.*(f.member)));
      ++compared;
    }
  };
  std::apply([&](const auto&... f) { (check(f), ...); }, Options::table());
  return compared;
}

void check_preset(const std::string& preset, const model::VgaeSizes& vgae,
                  const model::GatSizes& gat) {
  const std::map<std::string, json> options = options_with(preset);
  CHECK(check_sizes<autoencoder::AutoencoderOptions>(options.at("autoencoder"), vgae) == 5);
  CHECK(check_sizes<classifier::ClassifierOptions>(options.at("classifier"), gat) == 6);
}

}  // namespace

TEST_CASE("the presets teacher and student have the sizes of the published models", "[profile]") {
  check_preset("teacher", model::vgae_teacher(), model::gat_teacher());
  check_preset("student", model::vgae_student(), model::gat_student());
}
