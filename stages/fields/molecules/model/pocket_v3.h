// What the third version of the published encoder adds (RNA-3E-FFI, V3): angles between vectors as
// invariants, angles of terms as numbers of theirs, layers that keep what was there, and pooling by
// learned queries.
//
// N atoms, G molecules, T terms.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "engine/model/layers/layer.h"
#include "fields/molecules/model/irreps.h"
#include "fields/molecules/model/pocket_count.h"

namespace kdgat::molecules {

/// Pairs of vectors and of tensors, each once.
int64_t channel_pairs(const Irreps& irreps);

/// Cosines between the vectors of a state, then between its tensors, [N,channel_pairs()]; 0 where
/// one is 0, with a slope that is finite there.
at::Tensor channel_cosines(const at::Tensor& x, const Irreps& irreps);
Value count_channel_cosines(PocketCount& step, const Value& x, const Irreps& irreps);

/// Numbers of a term's shape, which no mirror changes: the cosine of the angle at the middle one of
/// three atoms, [T,1]; of the dihedral angle of four and of twice that angle, [T,2], 0 where three
/// of them stand in a line. `atoms` [T] int64 each; `pos` [N,3].
at::Tensor term_shapes(const std::vector<at::Tensor>& atoms, const at::Tensor& pos);
int64_t shape_numbers(int64_t atoms);  ///< of a term over so many

/// x + s + Gate(m): `own`, [N,gated dim], is a linear map of x. Its scalars, vectors and tensors
/// are s, its gates are added to those of the message m.
at::Tensor improved_update(const at::Tensor& x, const at::Tensor& own, const at::Tensor& message,
                           const Irreps& irreps);
Value count_improved_update(PocketCount& step, const Value& x, const Value& own,
                            const Value& message, const Irreps& irreps);

/// Rows of atoms to a row a molecule: by `heads` learned queries, each with its own part of keys
/// and values of `width` numbers in all.
class QueryPoolingImpl : public torch::nn::Module {
 public:
  QueryPoolingImpl(int64_t inputs, int64_t width, int64_t heads);
  /// [N,inputs] to [G,inputs]; `molecule` [N] int64 of each atom.
  at::Tensor forward(const at::Tensor& rows, const at::Tensor& molecule, int64_t molecules);
  Value count(PocketCount& step, const Value& rows) const;

  at::Tensor queries;  ///< [heads,width/heads]
  torch::nn::Linear key{nullptr}, value{nullptr}, output{nullptr};

 private:
  int64_t heads_;
};
KDGAT_LAYER(QueryPooling);

}  // namespace kdgat::molecules
