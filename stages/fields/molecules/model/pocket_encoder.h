// PocketEncoder: an E(3)-equivariant network over the atoms of a molecule (RNA-3E-FFI, V2):
// messages over bonds and over pairs by the tensor product, scalar messages over angles and
// dihedrals, and a vector for each molecule of what does not turn with it. Names of modules are the
// published ones.
//
// N atoms, G molecules, W the width of the output.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/normalization.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/config/least_size.h"
#include "engine/model/layers/layer.h"
#include "fields/molecules/model/equivariant_layers.h"
#include "fields/molecules/model/pocket_v3.h"
#include "fields/molecules/model/tensor_product.h"

namespace kdgat::molecules {

inline constexpr int64_t kTermHidden =
    64;  ///< hidden width of the networks of angles and dihedrals

/// Of the invariants of a molecule's atoms.
inline constexpr const char* kPoolings[] = {"attention", "mean", "sum", "max"};

inline constexpr int64_t kPlainHidden = 256;  ///< hidden width of the network of plain numbers

struct PocketConfig {
  Irreps hidden;
  int64_t layers = 4;
  int64_t output = 1536;  ///< W
  int64_t radial_basis = 8;
  int64_t radial_hidden = 64;  ///< H
  int64_t feature_hidden = 64;
  int64_t pooling_hidden = 128;
  double r_max = 6;  ///< A, of the radial basis
  bool norm = false;
  bool published_norm = false;  ///< the norm that does not turn with its input
  double dropout = 0;
  std::string pooling = kPoolings[0];
  bool multi_hop = true;     ///< messages over angles and dihedrals
  bool nonbonded = true;     ///< messages over pairs
  int64_t atom_kinds = 0;    ///< with a row of scalars each, added to what is made of x
  int64_t plain = 0;         ///< width of the plain numbers joined to what atoms say; 0 = none
  bool checkpoints = false;  ///< blocks are computed again in backward

  bool v3 = false;                   ///< the third version's blocks and pooling
  bool enhanced_invariants = false;  ///< cosines between vectors and between tensors, too
  bool improved_layers = false;      ///< shapes of terms; what an atom was is kept beside the gate
  int64_t heads = 4;                 ///< learned queries of v3; they divide pooling_hidden
  bool rms_norm = false;             ///< scalars by their mean square, too
  /// Of messages in a block of v3, not learned.
  double angle_weight = 0.5, dihedral_weight = 0.5, nonbonded_weight = 0.5;

  /// Numbers of an atom that a molecule's vector is made of.
  int64_t invariants() const {
    return hidden.channels() + (enhanced_invariants ? channel_pairs(hidden) : 0);
  }
  /// Numbers of a term over so many atoms, with its shape where layers read that.
  int64_t term_features(int64_t atoms, int64_t of_store) const {
    return of_store + (improved_layers ? shape_numbers(atoms) : 0);
  }
  NormForm norm_form() const {
    return published_norm ? NormForm::kPublished
           : rms_norm     ? NormForm::kRms
                          : NormForm::kEquivariant;
  }
  model::LeastSize least_size() const;
};

/// Of model files; checkpoints are no part of one. from_json throws Error(kData) naming each
/// missing, unknown, malformed or impossible entry.
void to_json(nlohmann::json& out, const PocketConfig& config);
void from_json(const nlohmann::json& in, PocketConfig& config);

/// Terms over several atoms; `centres` are those whose state they change.
struct MoleculeTerms {
  at::Tensor first, last;           ///< [T] int64: the outer atoms
  std::vector<at::Tensor> centres;  ///< [T] int64 each
  at::Tensor attr;                  ///< [T,features]

  /// attr grows by term_shapes(); `pos` [N,3].
  void add_shapes(const at::Tensor& pos);
};

/// A batch of molecules as the encoder reads it. Geometry needs no gradient.
struct MoleculeBatch {
  at::Tensor x;           ///< [N,3] z-scored
  at::Tensor molecule;    ///< [N] int64
  int64_t molecules = 0;  ///< G
  std::shared_ptr<const ProductEdges> bonds, pairs;
  MoleculeTerms angles, dihedrals;
  at::Tensor plain;  ///< [G,config.plain] z-scored plain numbers (plain_numbers.h), if any
  at::Tensor kind;   ///< [N] int64, 0 = unknown; where the encoder has kinds of atoms
  kernels::BatchTensors
      keys;  ///< of molecules as graphs, for noise: read with dropout in training alone
};

/// Edges of a batch with their harmonics and radial inputs. `index` [2,E] int32: from, to; `attr`
/// [E,features]; `pos` [N,3] A.
std::shared_ptr<const ProductEdges> product_edges(const at::Tensor& index, const at::Tensor& attr,
                                                  const at::Tensor& pos,
                                                  const PocketConfig& config);

class MessagePassingImpl : public torch::nn::Module {
 public:
  /// `bonded`: with a connection of each atom to itself, and added to what was there.
  MessagePassingImpl(const PocketConfig& config, int64_t attributes, bool bonded);
  at::Tensor forward(const at::Tensor& x, const std::shared_ptr<const ProductEdges>& over,
                     bool only_scalars);
  Value count(PocketCount& step, const Value& x, PocketCount::Edges& edges,
              bool only_scalars) const;

  IrrepsLinear linear_in{nullptr}, self_connection{nullptr};
  torch::nn::Sequential radial_mlp{nullptr};
  IrrepsNorm layer_norm{nullptr};

 private:
  RadialWeights weights() const;
  Irreps irreps_;
  bool is_improved_;
};
KDGAT_LAYER(MessagePassing);

/// Mean at each centre of an MLP of the outer atoms' scalars and the term's numbers; with `norm` of
/// their layer norm.
class TermMessagesImpl : public torch::nn::Module {
 public:
  TermMessagesImpl(const Irreps& irreps, int64_t attributes, const std::string& name,
                   bool norm = false);
  at::Tensor forward(const at::Tensor& x, const MoleculeTerms& terms);
  /// Of terms with so many centres.
  Value count(PocketCount& step, const Value& x, const Cost& terms, int centres) const;

  torch::nn::LayerNorm input_norm{nullptr};
  torch::nn::Sequential mlp{nullptr};
  ScalarsToIrreps output_projection{nullptr};

 private:
  Irreps irreps_;
};
KDGAT_LAYER(TermMessages);

class FeatureEmbeddingImpl : public torch::nn::Module {
 public:
  explicit FeatureEmbeddingImpl(const PocketConfig& config);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& kind);
  Value count(PocketCount& step) const;

  torch::nn::Sequential feature_mlp{nullptr};
  ScalarsToIrreps irreps_projection{nullptr};
  at::Tensor kind_weight;  ///< [kinds+1, scalars], with kinds alone
};
KDGAT_LAYER(FeatureEmbedding);

class PocketEncoderImpl : public torch::nn::Module {
 public:
  explicit PocketEncoderImpl(const PocketConfig& config);

  at::Tensor forward(const MoleculeBatch& batch);  ///< [G,W]
  at::Tensor states(const MoleculeBatch& batch);   ///< [N,hidden.dim()]
  /// [G,W] before its norm, as plain numbers are added to it.
  Value count(PocketCount& step) const;
  const PocketConfig& config() const { return config_; }

  FeatureEmbedding input_embedding{nullptr};
  torch::nn::ModuleList bonded_mp_layers, nonbonded_mp_layers, angle_mp_layers, dihedral_mp_layers;
  at::Tensor angle_weight, dihedral_weight, nonbonded_weight;
  torch::nn::ModuleList pre_norms, post_norms;  ///< of v3, one a block
  torch::nn::Sequential pooling_mlp{nullptr}, output_projection{nullptr}, plain_mlp{nullptr};
  QueryPooling query_pooling{nullptr};  ///< of v3 with attention, in the place of pooling_mlp

 private:
  at::Tensor block(const at::Tensor& h, std::size_t layer, const MoleculeBatch& batch);
  at::Tensor v2_block(const at::Tensor& h, std::size_t layer, const MoleculeBatch& batch);
  at::Tensor v3_update(const at::Tensor& h, std::size_t layer, const MoleculeBatch& batch);
  std::vector<at::Tensor> block_parameters(std::size_t layer) const;
  at::Tensor logits(const at::Tensor& invariants, const MoleculeBatch& batch);
  at::Tensor of_plain(const MoleculeBatch& batch);
  at::Tensor pool(const at::Tensor& invariants, const MoleculeBatch& batch);
  Value count_block(PocketCount& step, const Value& h, std::size_t layer) const;
  Value count_messages(PocketCount& step, const Value& h, std::size_t layer) const;
  Value count_pool(PocketCount& step, const Value& h) const;
  PocketConfig config_;
};
KDGAT_LAYER(PocketEncoder);

}  // namespace kdgat::molecules
