// PocketModel: an encoder of molecules with all that makes its input out of a molecule and its
// output into a ligand: statistics of atoms, kinds of atoms, the catalogue of ligands. What a model
// file holds.
//
// N atoms, L ligands, W the width of an embedding.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/graph/noise_key.h"
#include "fields/molecules/model/plain_numbers.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace kdgat::molecules {

/// Embeddings [L,W] z-scored by column; a deviation below 1e-8 is 1.
at::Tensor scaled_embeddings(std::span<const float> embeddings, int64_t width);

class PocketModelImpl : public torch::nn::Module {
 public:
  /// With statistics and a catalogue of zeros, to be set or loaded.
  PocketModelImpl(const PocketConfig& config, int64_t ligands);

  void set_statistics(const AtomStatistics& atoms);
  /// Of an encoder with plain numbers, behind set_statistics: those of the molecules `ids`.
  void set_plain_statistics(const MoleculeStore& store, std::span<const int64_t> ids);

  /// `ids` name the molecules for noise.
  MoleculeBatch batch(std::span<const MoleculeView> molecules, std::span<const int64_t> ids,
                      graph::NoiseKey noise);
  at::Tensor forward(const MoleculeBatch& batch) { return encoder->forward(batch); }

  PocketEncoder encoder{nullptr};
  at::Tensor atom_mean, atom_deviation;    ///< [3]
  at::Tensor plain_mean, plain_deviation;  ///< [config.plain] of log(1 + plain number)
  at::Tensor kinds;                        ///< [kinds,2] int64, as AtomStatistics::kinds
  at::Tensor catalogue;                    ///< [L,W] as training sees it

 private:
  const KindPlaces& known_kinds();
  at::Tensor plain_rows(std::span<const MoleculeView> molecules);
  KindPlaces places_;  // read from `kinds` when first asked for
};
TORCH_MODULE(PocketModel);

}  // namespace kdgat::molecules
