#include "fields/molecules/ranking/ranking.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/layers/generator_lock.h"
#include "engine/model/model_file.h"
#include "engine/setup/trained_model.h"
#include "engine/train/metrics/retrieval.h"
#include "fields/molecules/data/molecule_import.h"
#include "fields/molecules/model/pocket_model.h"
#include "kdgat/kinds.h"

namespace kdgat::ranking {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A model and what its file says of ligands and molecules.
struct Ranker {
  molecules::PocketModel model{nullptr};
  std::vector<std::string> ligands;
  bool is_angular = true;
  double distance_cutoff = 4;  // A, of pairs
  bool bonds_others = false;   // residues that are no RNA are kept

  train::Catalogue catalogue() const {
    const at::Tensor& all = model->catalogue;
    return {{all.const_data_ptr<float>(), static_cast<std::size_t>(all.numel())},
            all.size(1),
            is_angular};
  }
};

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  throw Error(ExitCode::kData, path.string() + ": " + what,
              "kdgat run equivariant trains a model that ranks ligands");
}

Ranker load(const fs::path& given) {
  const model::TrainedModel made = model::open_model(given);
  const json& config = made.header.config;
  if (made.header.name != "pocket") {
    refuse(made.path(), "a " + made.header.name + ", and not a model of pockets");
  }
  Ranker out;
  molecules::PocketConfig encoder;
  try {
    config.at("encoder").get_to(encoder);
    config.at("ligands").get_to(out.ligands);
    out.is_angular = config.at("loss_fn") != "mse";
    const json import = made.header.data.value("import", json::object());
    out.distance_cutoff = import.value("distance_cutoff", out.distance_cutoff);
    out.bonds_others = import.value("other_residues", "") == "bond";
  } catch (const json::exception& error) {
    refuse(made.path(), std::string("malformed model configuration: ") + error.what());
  }
  model::LeastSize least = encoder.least_size();
  least.add(static_cast<double>(out.ligands.size()), static_cast<double>(encoder.output));
  model::require_room(made.file, least.numbers, least.tensors);
  const model::GeneratorLock generator = model::hold_generator();
  out.model = molecules::PocketModel(encoder, std::ssize(out.ligands));
  model::load_weights(*out.model, made.file);
  out.model->eval();
  return out;
}

molecules::MoleculeStoreData read(const RankingOptions& options, const Ranker& ranker,
                                  const Request& request, const Host& host) {
  const fs::path source = request.input("molecules").path;
  std::optional<molecules::MoleculeInput> input = molecules::find_molecules(source, "auto", {});
  if (!input) {
    throw Error(ExitCode::kData, "no molecule: neither PDB, mmCIF nor AMBER", "", source.string());
  }
  input->aside = {};
  molecules::MoleculeImportOptions how;
  how.ligand = options.ligand;
  how.pocket_cutoff = options.pocket_cutoff;
  how.distance_cutoff = ranker.distance_cutoff;
  how.other_residues = ranker.bonds_others ? "bond" : "leave_out";
  const auto stop = [&host] { return host.cancelled() != ExitCode::kOk; };
  const auto done = [&host](int64_t) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "interrupted while molecules were read");
    }
  };
  data::ImportReport report;
  molecules::MoleculeStoreData out = molecules::read_molecules({*input, how, stop, done}, report);
  for (const Diagnostic& warning : report.warnings) host.log("warning", warning.text());
  return out;
}

}  // namespace

StageInfo Ranking::info() {
  StageInfo out;
  out.name = "ranking";
  out.summary = "Rank ligands for the pockets of molecules; used by kdgat score.";
  out.inputs = {{"model", kind::kPocketModel}, {"molecules", kind::kMolecules}};
  return out;
}

json Ranking::plan(const Options&, const Request&) { return json::object(); }

json Ranking::run(const Options& options, const Request& request, Host& host) {
  setup::prepare_scoring(request, host);
  Ranker ranker = load(request.input("model").path);
  const molecules::MoleculeStoreData data = read(options, ranker, request, host);
  const train::Catalogue catalogue = ranker.catalogue();
  host.metrics("columns", 0, {{"columns", {"molecule", "rank", "ligand", "distance"}}});
  for (std::size_t m = 0; m < data.graphs.size(); ++m) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "interrupted after " + std::to_string(m) + " molecules");
    }
    const c10::InferenceMode inference;
    const molecules::MoleculeView view = molecules::view_of(data.graphs[m]);
    const auto id = static_cast<int64_t>(m);
    const at::Tensor vector =
        ranker.model->forward(ranker.model->batch({&view, 1}, {&id, 1}, {})).contiguous();
    const std::vector<double> distance = train::distances(
        {vector.const_data_ptr<float>(), static_cast<std::size_t>(vector.numel())}, catalogue);
    int64_t place = 0;
    for (const int32_t ligand : train::nearest(distance, options.top)) {
      ++place;
      host.metrics("row", place,
                   {{"molecule", data.names[m]},
                    {"rank", place},
                    {"ligand", ranker.ligands[static_cast<std::size_t>(ligand)]},
                    {"distance", distance[static_cast<std::size_t>(ligand)]}});
    }
  }
  return {{"metrics", {{"molecules", data.graphs.size()}, {"ligands", ranker.ligands.size()}}},
          {"summary", std::to_string(data.graphs.size()) + " molecules ranked among " +
                          std::to_string(ranker.ligands.size()) + " ligands"}};
}

}  // namespace kdgat::ranking
