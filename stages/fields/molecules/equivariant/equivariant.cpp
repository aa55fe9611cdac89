#include "fields/molecules/equivariant/equivariant.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/model/layers/generator_lock.h"
#include "engine/model/model_file.h"
#include "engine/setup/finish.h"
#include "engine/setup/training_stage.h"
#include "engine/train/fit.h"
#include "engine/train/metrics/retrieval.h"
#include "engine/train/resources.h"
#include "engine/train/scoring.h"
#include "fields/molecules/equivariant/baselines.h"
#include "fields/molecules/equivariant/physics.h"
#include "fields/molecules/equivariant/plain_network.h"
#include "fields/molecules/equivariant/pocket_data.h"
#include "fields/molecules/equivariant/ranking_report.h"
#include "fields/molecules/model/pocket_footprint.h"
#include "fields/molecules/model/pocket_model.h"
#include "fields/molecules/objective/pocket_objective.h"
#include "kdgat/atomic_file.h"
#include "kdgat/figures.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"

namespace kdgat::equivariant {
namespace {

using nlohmann::json;

molecules::PocketConfig make_config(const EquivariantOptions& o, int64_t width, int64_t kinds) {
  if (o.output_dim != 0 && o.output_dim != width) {
    throw Error(ExitCode::kUsage,
                "output_dim: " + std::to_string(o.output_dim) +
                    ", and the ligands' embeddings have " + std::to_string(width) + " numbers",
                "output_dim=0 takes their width");
  }
  molecules::PocketConfig out;
  out.hidden = molecules::Irreps::parse(o.hidden_irreps);
  out.layers = o.num_layers;
  out.output = width;
  out.radial_basis = o.num_radial_basis;
  out.radial_hidden = o.radial_hidden_dim;
  out.feature_hidden = o.feature_hidden_dim;
  out.norm = o.use_layer_norm;
  out.published_norm = o.norm == "published";
  out.v3 = o.use_v3_model;
  out.enhanced_invariants = o.use_enhanced_invariants;
  out.improved_layers = o.use_improved_layers;
  out.heads = o.num_attention_heads;
  out.rms_norm = o.norm_type == "rms";
  out.angle_weight = o.initial_angle_weight;
  out.dihedral_weight = o.initial_dihedral_weight;
  out.nonbonded_weight = o.initial_nonbonded_weight;
  out.dropout = o.dropout;
  out.pooling = o.pooling_type;
  out.multi_hop = o.use_multi_hop;
  out.nonbonded = o.use_nonbonded;
  out.atom_kinds = o.use_atom_kinds ? kinds : 0;
  out.plain = o.use_plain_numbers ? kinds + molecules::kDistanceColumns : 0;
  out.checkpoints = o.gradient_checkpointing;
  return out;
}

/// What is trained, before it is trained.
struct Setup {
  PocketData data;
  molecules::PocketConfig config;
  train::Parts parts;
  std::unique_ptr<molecules::PocketObjective> objective;
  at::Tensor embeddings;  // of all ligands, scaled, on the CPU: ranks are counted there

  train::Catalogue catalogue() const {
    return {{embeddings.const_data_ptr<float>(), static_cast<std::size_t>(embeddings.numel())},
            config.output,
            objective->options().is_angular()};
  }
};

std::unique_ptr<Setup> set_up(const EquivariantOptions& options, const Request& request) {
  auto out =
      std::make_unique<Setup>(Setup{open_pockets(request.input("graphs").path), {}, {}, {}, {}});
  if (options.is_joint() && request.ranks.world > 1) {
    throw Error(ExitCode::kUsage,
                "loss_fn: infonce compares the molecules of one batch, which several processes "
                "would share",
                "use loss_fn=catalogue, or one process");
  }
  const molecules::MoleculeStore& store = out->data.store;
  const molecules::AtomStatistics atoms = molecules::atom_statistics(store, out->data.train);
  out->config = make_config(options, store.embedding_width(), std::ssize(atoms.kinds));
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  molecules::PocketModel model(out->config, std::ssize(store.ligands()));
  {
    const at::NoGradGuard no_grad;
    model->set_statistics(atoms);
    if (out->config.plain > 0) model->set_plain_statistics(store, out->data.train);
    out->embeddings = molecules::scaled_embeddings(store.embeddings(), store.embedding_width());
    model->catalogue.copy_(out->embeddings);
  }
  model->to(torch::Device(request.device));
  out->objective = std::make_unique<molecules::PocketObjective>(
      std::move(model), out->data.store, options, out->data.ligands(out->data.train));
  out->parts.train = out->data.train;
  out->parts.val_loss = out->parts.val_score = out->data.val;
  return out;
}

/// Facts of a data set that has been imported and can be trained on.
bool is_known(const json& facts) { return facts.contains("molecules"); }

molecules::PocketSizes sizes_of(const EquivariantOptions& options, const Request& request,
                                const json& facts) {
  const json& of = facts.at("molecules");
  molecules::PocketSizes out;
  out.molecules = std::max<int64_t>(1, facts.at("graphs"));
  out.batch = std::min(options.batch_size, out.molecules);
  if (options.optimize_batch_size) {
    const int64_t packs = options.min_steps_per_epoch * options.accumulate_grad_batches;
    out.batch = std::min(out.batch, out.molecules / std::max<int64_t>(1, packs) + 1);
  }
  if (options.loss_fn == "catalogue") out.catalogue = of.at("labelled_ligands");
  out.threads = request.threads;
  out.kernels = train::planned_kernels(request);
  out.atoms = of.at("atoms");
  out.bonds = of.at("bonds");
  out.pairs = of.at("pairs");
  out.angles = of.at("angles");
  out.dihedrals = of.at("dihedrals");
  return out;
}

json facts_of(const molecules::PocketConfig& config, int64_t parameters) {
  return {{"model", "pocket"},
          {"size", "custom"},
          {"parameters", parameters},
          {"widths",
           {{"hidden_irreps", config.hidden.text()},
            {"layers", config.layers},
            {"output", config.output}}}};
}

memory::Footprint footprint_of(const EquivariantOptions& options, const Request& request,
                               const molecules::PocketModel& model, const json& facts) {
  return molecules::footprint(model->encoder, options, sizes_of(options, request, facts), *model);
}

/// Vectors of molecules, [ids, W]; no more molecules at once than a step of training has.
std::vector<float> predictions(const EquivariantOptions& options, const Setup& setup,
                               const std::vector<int64_t>& ids,
                               const std::function<void()>& check) {
  constexpr int64_t kMolecules = 8;
  std::vector<float> out;
  train::for_batches(
      setup.data.store, ids, false,
      [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
        check();
        const at::Tensor rows = setup.objective->predict(batch);
        const float* from = rows.const_data_ptr<float>();
        out.insert(out.end(), from, from + rows.numel());
      },
      std::min(kMolecules, options.batch_size));
  return out;
}

Ranking ranking_of(const Setup& setup, const std::string& method, const std::string& part,
                   const std::vector<int64_t>& ids, std::vector<int64_t> ranks) {
  const std::vector<int32_t> trained = setup.data.ligands(setup.data.train);
  const std::set<int32_t> seen(trained.begin(), trained.end());
  Ranking out{method, part, std::move(ranks), {}, {}};
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    out.seen.push_back(seen.contains(setup.data.store.ligand()[g]));
    out.group.push_back(setup.data.store.groups()[g]);
  }
  return out;
}

constexpr int64_t kNamedLigands = 5;  // of each molecule in predictions.csv

void add_lines(const Setup& setup, const std::string& part, const std::vector<int64_t>& ids,
               const std::vector<float>& predicted, const std::vector<int64_t>& ranks,
               std::string& csv) {
  const train::Catalogue catalogue = setup.catalogue();
  const auto width = static_cast<std::size_t>(catalogue.width);
  const std::vector<std::string>& names = setup.data.store.ligands();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto g = static_cast<std::size_t>(ids[i]);
    const std::vector<double> d =
        train::distances(std::span(predicted).subspan(i * width, width), catalogue);
    csv += csv_field(setup.data.store.names()[g]) + "," + part + "," +
           csv_field(names[static_cast<std::size_t>(setup.data.store.ligand()[g])]) + "," +
           std::to_string(ranks[i]);
    for (const int32_t ligand : train::nearest(d, kNamedLigands)) {
      const auto l = static_cast<std::size_t>(ligand);
      csv += "," + csv_field(names[l]) + format_number(",%.6g", d[l]);
    }
    csv += "\n";
  }
}

/// Metrics, figures and table of the best epoch's model, and predictions.csv.
void report(const EquivariantOptions& options, const Setup& setup, const Request& request,
            const Host& host, json& result) {
  const auto check = [&host] {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "stopped while the molecules were ranked");
    }
  };
  const train::Catalogue catalogue = setup.catalogue();
  std::string csv = "molecule,part,ligand,rank";
  for (int64_t k = 1; k <= std::min(kNamedLigands, catalogue.ligands()); ++k) {
    csv += ",ligand_" + std::to_string(k) + ",distance_" + std::to_string(k);
  }
  csv += "\n";
  std::vector<Figure> figures = training_figures(result.at("metrics"));
  std::vector<Ranking> rankings;
  for (const auto& [part, ids] :
       {std::pair("val", &setup.data.val), std::pair("test", &setup.data.test)}) {
    if (ids->empty()) continue;
    const std::vector<float> predicted = predictions(options, setup, *ids, check);
    const std::vector<int64_t> ranks =
        train::ranks_of(predicted, setup.data.ligands(*ids), catalogue);
    add_lines(setup, part, *ids, predicted, ranks, csv);
    rankings.push_back(ranking_of(setup, request.step, part, *ids, ranks));
    const json metrics = ranking_metrics(rankings.back(), catalogue.ligands());
    result["metrics"]["parts"][part] = metrics;
    const std::vector<Figure> shown = ranking_figures(part, metrics);
    figures.insert(figures.end(), shown.begin(), shown.end());
  }
  write_file(request.run_dir / "predictions.csv", csv);
  if (options.baselines && !setup.data.test.empty()) {
    const std::vector<int64_t>& ids = setup.data.test;
    rankings.push_back(ranking_of(setup, "mean embedding", "test", ids,
                                  ranks_by_mean(setup.data, ids, catalogue)));
    check();
    rankings.push_back(ranking_of(setup, "nearest by plain numbers", "test", ids,
                                  ranks_by_nearest(setup.data, ids, catalogue)));
    rankings.push_back(
        ranking_of(setup, "network on plain numbers", "test", ids,
                   ranks_by_plain_network(setup.data, ids, catalogue, request.seed, check)));
    for (const Ranking& ranking : rankings) {
      if (ranking.method == request.step) continue;
      result["metrics"]["baselines"][ranking.method] =
          ranking_metrics(ranking, catalogue.ligands());
    }
  }
  result["metrics"]["chance"] = train::chance_metrics(catalogue.ligands());
  result["figures"] = figures;
  result["table"] = ranking_table(rankings, catalogue.ligands());
}

/// Says where no network is better.
void say_shortfalls(const json& metrics, const Host& host) {
  if (!metrics.contains("baselines") || !metrics.contains("/parts/test"_json_pointer)) return;
  const json& own = metrics.at("parts").at("test");
  for (const auto& [name, other] : metrics.at("baselines").items()) {
    for (const char* measure : {"hit_10", "mrr"}) {
      const double ours = own.at(measure), theirs = other.at(measure);
      if (theirs <= ours) continue;
      host.log("warning", "test " + std::string(measure) + ": the baseline " + name + " has " +
                              format_number("%.3f", theirs) + ", this model " +
                              format_number("%.3f", ours));
    }
  }
}

}  // namespace

StageInfo Equivariant::info() {
  StageInfo out = setup::training_stage(
      "equivariant",
      "Train an E(3)-equivariant encoder of molecules, and rank ligands for their pockets.");
  out.inputs = {graphs_of("molecules")};
  out.outputs = {{"model", kind::kPocketModel}};
  out.refused.push_back(
      {"use_amp", {false}, "precision=bf16-mixed or precision=16-mixed says which 16 bits"});
  out.refused.push_back({"save_every", {3}, "checkpoint_seconds is the time between checkpoints"});
  out.refused.push_back({"splits_file", {""}, "data.split_column names the parts of a data set"});
  out.refused.push_back({"train_ratio", {0.8}, "data.test_fraction and data.val_fraction say it"});
  out.refused.push_back({"val_ratio", {0.1}, "data.val_fraction says it"});
  out.refused.push_back({"physics_weight", {0.3}, "no weight has a gradient from that loss"});
  return out;
}

json Equivariant::plan(const Options& given, const Request& request) {
  const Options options = given.resolved();
  const Input& graphs = request.input("graphs");
  if (!is_known(graphs.facts)) return json::object();
  if (!graphs.path.empty()) {
    const std::unique_ptr<Setup> setup = set_up(options, request);
    const molecules::PocketModel& model = setup->objective->model();
    const memory::Footprint counted =
        footprint_of(options, request, model, setup->data.store.facts());
    json out = facts_of(setup->config, model::count_parameters(*model));
    out.update(train::planned_memory(options, "none", counted, request, [&] {
      return train::plan_memory(options, *setup->objective, counted, setup->data.store,
                                setup->parts.train, request);
    }));
    return out;
  }
  const json& molecules = graphs.facts.at("molecules");
  const int64_t width = molecules.at("width");
  if (width == 0) return json::object();
  const molecules::PocketConfig config = make_config(options, width, 0);
  const molecules::PocketModel model(config, molecules.at("ligands"));
  json out = facts_of(config, model::count_parameters(*model));
  const memory::Footprint counted = footprint_of(options, request, model, graphs.facts);
  out.update(train::planned_memory(options, "none", counted, request, [&] {
    return train::plan_memory(options, counted, graphs.facts, request);
  }));
  return out;
}

json Equivariant::run(const Options& given, const Request& request, Host& host) {
  const Options options = given.resolved();
  const std::unique_ptr<Setup> setup = set_up(options, request);
  const molecules::PocketModel& model = setup->objective->model();
  host.log("info", std::to_string(setup->data.train.size()) + " molecules to train on, " +
                       std::to_string(setup->data.val.size()) + " to validate, " +
                       std::to_string(setup->data.test.size()) + " to test; " +
                       std::to_string(setup->data.store.ligands().size()) + " ligands");
  if ((setup->config.norm || setup->config.v3) && setup->config.published_norm) {
    host.log("warning",
             "norm=published: what this model says of a molecule depends on how it is turned; "
             "norm=equivariant does not");
  }
  train::Fit task;
  task.footprint = footprint_of(options, request, model, setup->data.store.facts());
  task.identity = train::result_options(options);
  task.size = "pocket";
  task.headline = "mrr";
  task.judge = [&](const std::vector<int64_t>& ids, const std::function<void()>& check) {
    const std::vector<float> predicted = predictions(options, *setup, ids, check);
    const train::Catalogue catalogue = setup->catalogue();
    const json all = train::retrieval_metrics(
        train::ranks_of(predicted, setup->data.ligands(ids), catalogue), catalogue.ligands());
    return json{{"mrr", all.at("mrr")},       {"hit_5", all.at("hit_5")},
                {"hit_10", all.at("hit_10")}, {"hit_20", all.at("hit_20")},
                {"top_1", all.at("top_1")},   {"median_rank", all.at("median_rank")}};
  };
  json result =
      train::fit(options, *setup->objective, task, setup->data.store, setup->parts, request, host);
  if (options.use_physics_loss) {
    result["metrics"]["physics_loss"] = physics_loss(setup->data.store, setup->data.train);
    host.log("warning",
             "use_physics_loss: it is reported; no weight has a gradient from it, nothing is "
             "learned from it");
  }
  report(options, *setup, request, host, result);
  say_shortfalls(result.at("metrics"), host);
  json config = {{"encoder", setup->config},
                 {"loss_fn", options.loss_fn},
                 {"ligands", setup->data.store.ligands()}};
  setup::finish(
      request, *model,
      {"pocket", std::move(config), {{"import", setup->data.store.options()}}, {}, "ranking"});
  result["facts"] = facts_of(setup->config, model::count_parameters(*model));
  return result;
}

}  // namespace kdgat::equivariant
