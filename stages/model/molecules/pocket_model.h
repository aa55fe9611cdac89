// PocketModel: an encoder of molecules with all that makes its input out of a molecule and its output
// into a ligand: statistics of atoms, kinds of atoms, the catalogue of ligands. What a model file
// holds.
//
// N atoms, L ligands, W the width of an embedding.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "data/molecules/molecule_store.h"
#include "graph/noise_key.h"
#include "model/molecules/pocket_encoder.h"

namespace kdgat::model {

/// Of the atoms that a model is trained on.
struct AtomStatistics {
  std::array<double, graph::kAtomFeatures> mean{}, deviation{};
  /// Charge in 1e-4 e and atomic number, ascending: a template gives each atom of a residue its own.
  std::vector<std::pair<int64_t, int64_t>> kinds;
};

/// What AtomStatistics::kinds holds of an atom's kAtomFeatures numbers.
std::pair<int64_t, int64_t> kind_of_atom(const float* atom);

/// Of the molecules `ids`. A deviation below 1e-8 is 1.
AtomStatistics atom_statistics(const graph::MoleculeStore& store, std::span<const int64_t> ids);

/// Embeddings [L,W] z-scored by column; a deviation below 1e-8 is 1.
at::Tensor scaled_embeddings(std::span<const float> embeddings, int64_t width);

/// A molecule's arrays, wherever they stand; numbers of atoms are its own.
struct MoleculeView {
  std::span<const float> x, pos;
  std::span<const int32_t> bonds, pairs, angles, dihedrals;
  std::span<const float> bond_attr, pair_attr, angle_attr, dihedral_attr;
};
MoleculeView view_of(const graph::MoleculeStore& store, int64_t id);
MoleculeView view_of(const graph::MoleculeGraph& molecule);

class PocketModelImpl : public torch::nn::Module {
 public:
  /// With statistics and a catalogue of zeros, to be set or loaded.
  PocketModelImpl(const PocketConfig& config, int64_t ligands);

  void set_statistics(const AtomStatistics& atoms);

  /// `ids` name the molecules for noise.
  MoleculeBatch batch(std::span<const MoleculeView> molecules, std::span<const int64_t> ids,
                      graph::NoiseKey noise);
  at::Tensor forward(const MoleculeBatch& batch) { return encoder->forward(batch); }

  PocketEncoder encoder{nullptr};
  at::Tensor atom_mean, atom_deviation;  ///< [3]
  at::Tensor kinds;                      ///< [config.atom_kinds,2] int64, as AtomStatistics::kinds
  at::Tensor catalogue;                  ///< [L,W] as training sees it

 private:
  int64_t kind_of(const float* atom);
  std::map<std::pair<int64_t, int64_t>, int64_t> kind_;  // read from `kinds` when first asked for
};
TORCH_MODULE(PocketModel);

}  // namespace kdgat::model
