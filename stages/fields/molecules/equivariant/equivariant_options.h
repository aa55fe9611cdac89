// Options of the equivariant stage. Names are the published ones (RNA-3E-FFI), defaults too, but
// for what the published training gets wrong: see docs/models.md.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/train/train_options.h"
#include "fields/molecules/model/pocket_encoder.h"
#include "fields/molecules/objective/pocket_loss.h"

namespace kdgat::equivariant {

struct EquivariantOptions : train::TrainOptions, molecules::PocketLossOptions {
  std::string hidden_irreps = "32x0e + 16x1o + 8x2e";
  int64_t output_dim = 0;
  int64_t num_layers = 4;
  int64_t num_radial_basis = 8;
  int64_t radial_hidden_dim = 64;
  int64_t feature_hidden_dim = 64;
  bool use_multi_hop = true;
  bool use_nonbonded = true;
  bool use_gate = true;
  bool use_layer_norm = false;
  std::string norm = "equivariant";
  std::string pooling_type = "attention";
  double dropout = 0.1;
  bool use_atom_kinds = false;
  bool use_plain_numbers = false;
  bool use_v3_model = false;
  bool use_enhanced_invariants = false;
  bool use_improved_layers = false;
  int64_t num_attention_heads = 4;
  std::string norm_type = "layer";
  double initial_angle_weight = 0.5;
  double initial_dihedral_weight = 0.5;
  double initial_nonbonded_weight = 0.5;
  bool use_physics_loss = false;
  bool baselines = true;

  EquivariantOptions() {
    lr = 2e-4;
    batch_size = 2;
    optimize_batch_size = false;
    weight_decay = 1e-6;
    gradient_checkpointing = false;
    use_scheduler = true;
    scheduler_type = "plateau";
    scheduler_gamma = 0.5;
    scheduler_floor = 0.01;
    scheduler_patience = 5;
  }

  static auto table() {
    using O = EquivariantOptions;
    auto rows = std::tuple_cat(
        std::tuple{
            field("hidden_irreps", &O::hidden_irreps, Purpose::kModel,
                  "Scalars (0e), vectors (1o) and tensors (2e) of an atom's state, any numbers of "
                  "these three."),
            field(
                "output_dim", &O::output_dim, Purpose::kModel,
                "Width of the vector of a molecule: that of the ligands' embeddings; 0 = take it.")
                .range(0, 1 << 20),
            field("num_layers", &O::num_layers, Purpose::kModel, "Blocks of messages.")
                .range(1, 64),
            field("num_radial_basis", &O::num_radial_basis, "Functions of a distance.")
                .range(1, 256),
            field("radial_hidden_dim", &O::radial_hidden_dim,
                  "Hidden width of the network that makes the weights of an edge.")
                .range(1, 1024),
            field("feature_hidden_dim", &O::feature_hidden_dim,
                  "Hidden width of the network on an atom's charge, number and mass.")
                .range(1, 4096),
            field("use_multi_hop", &O::use_multi_hop, "Messages over angles and dihedrals."),
            field("use_nonbonded", &O::use_nonbonded,
                  "Messages over pairs of atoms without a bond, up to the data's distance_cutoff."),
            field(
                "use_gate", &O::use_gate,
                "Published name; always true: without its gate no part of a message is nonlinear."),
            field("use_layer_norm", &O::use_layer_norm, "Normalise states behind each message."),
            field(
                "norm", &O::norm, Purpose::kModel,
                "With use_layer_norm: vectors and tensors by their mean square, or as published by "
                "the layer norm of each one's components, which gives another result for a turned "
                "molecule.")
                .choices({"equivariant", "published"}),
            field("pooling_type", &O::pooling_type, Purpose::kModel, "How atoms become a molecule.")
                .choices({"attention", "mean", "sum", "max"}),
            field("dropout", &O::dropout, Purpose::kModel,
                  "Of scalars behind each block, and in the pooling.")
                .first()
                .range(0, 0.9),
            field("use_atom_kinds", &O::use_atom_kinds,
                  "Learn a vector for each atom of a residue, known by its charge and number."),
            field(
                "use_plain_numbers", &O::use_plain_numbers,
                "Give the encoder a molecule's atoms counted by kind and its distances counted by "
                "pairs of elements beside what it learns.")
                .later(),
            field("use_v3_model", &O::use_v3_model,
                  "The third published version: blocks add normalised messages to normalised "
                  "states, and learned queries pool atoms.")
                .later(),
            field("use_enhanced_invariants", &O::use_enhanced_invariants,
                  "Read cosines between an atom's vectors, and between its tensors, too.")
                .later(),
            field("use_improved_layers", &O::use_improved_layers,
                  "Messages of terms know their angle; an atom keeps what it was beside its gate.")
                .later(),
            field("num_attention_heads", &O::num_attention_heads, Purpose::kModel,
                  "use_v3_model: learned queries; they divide 128.")
                .range(1, 128)
                .later(),
            field("norm_type", &O::norm_type, Purpose::kModel,
                  "Norms divide scalars by their deviation, or by the root of their mean square.")
                .choices({"layer", "rms"})
                .later(),
            field("initial_angle_weight", &O::initial_angle_weight, Purpose::kLoss,
                  "use_v3_model: of messages over angles; not learned.")
                .range(0, 1e3)
                .later(),
            field("initial_dihedral_weight", &O::initial_dihedral_weight, Purpose::kLoss,
                  "use_v3_model: of messages over dihedrals; not learned.")
                .range(0, 1e3)
                .later(),
            field("initial_nonbonded_weight", &O::initial_nonbonded_weight, Purpose::kLoss,
                  "use_v3_model: of messages over pairs; not learned.")
                .range(0, 1e3)
                .later(),
            field("loss_fn", &O::loss_fn, Purpose::kLoss,
                  "mse, cosine or both; infonce: cross entropy among a batch; catalogue: cross "
                  "entropy among the training molecules' ligands.")
                .choices({"mse", "cosine", "cosine_mse", "infonce", "catalogue"}),
            field("cosine_weight", &O::cosine_weight, Purpose::kLoss, "Of loss_fn=cosine_mse.")
                .range(0, 1e6),
            field("mse_weight", &O::mse_weight, Purpose::kLoss, "Of loss_fn=cosine_mse.")
                .range(0, 1e6),
            field("temperature", &O::temperature, Purpose::kTeacher,
                  "Cosines are divided by it in a cross entropy.")
                .range(1e-4, 1e3),
            field("use_physics_loss", &O::use_physics_loss,
                  "Report the energy of bonds, angles and dihedrals. No weight has a gradient from "
                  "it: nothing is learned from it, published or here."),
            field(
                "baselines", &O::baselines, Purpose::kComparison,
                "Rank the test molecules' ligands without an encoder, too: by the mean embedding, "
                "by the nearest training molecule in plain numbers, and by a small network on "
                "these numbers.")},
        train::TrainOptions::table());
    std::apply([](auto&... row) { (add_published_words(row), ...); }, rows);
    return rows;
  }

  /// The published word for the schedule, which may be none.
  template <class Row>
  static void add_published_words(Row& row) {
    if (row.name != "scheduler_type") return;
    row.aliases.emplace_back("scheduler");
    row.choices_.emplace_back("none");
    row.help += " none: as use_scheduler=false.";
  }

  /// With the schedule that training knows.
  EquivariantOptions resolved() const {
    EquivariantOptions out = *this;
    if (scheduler_type != "none") return out;
    out.use_scheduler = false;
    out.scheduler_type = EquivariantOptions().scheduler_type;
    return out;
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = train::TrainOptions::validate();
    try {
      molecules::Irreps::parse(hidden_irreps);
    } catch (const Error& error) {
      problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
    if (molecules::PocketConfig().pooling_hidden % num_attention_heads != 0) {
      problems.push_back({"",
                          "num_attention_heads: " + std::to_string(num_attention_heads) +
                              " does not divide " +
                              std::to_string(molecules::PocketConfig().pooling_hidden),
                          "4 is published"});
    }
    if (!use_gate) {
      problems.push_back(
          {"", "use_gate: without its gate no part of a message is nonlinear", "leave it out"});
    }
    if (loss_fn == "infonce" && (batch_size < 2 || accumulates())) {
      problems.push_back({"",
                          "loss_fn: infonce compares the molecules of one batch: batch_size " +
                              std::to_string(batch_size) + ", accumulate_grad_batches " +
                              std::to_string(accumulate_grad_batches),
                          "use batch_size=2 or more, and accumulate_grad_batches=1"});
    }
    return problems;
  }
};

}  // namespace kdgat::equivariant
