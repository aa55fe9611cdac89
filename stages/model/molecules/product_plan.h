// ProductPlan: how the paths of a tensor product stand in the arrays of the fast form. Private to
// tensor_product.cpp. No LibTorch.
//
// Inside states stand by component: all channels of one component side by side, [m][u].
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/molecules/couplings.h"

namespace kdgat::model {

/// A path that is mixed at its target: z[c][u] = sum of terms value Y[b] x[a][u] of an edge.
struct TargetPath {
  TensorPath path;
  int64_t column = 0;               ///< of its channels among those of l3
  std::vector<CouplingTerm> terms;  ///< values with the path's scale; b counts among all harmonics
};
/// A path that is mixed at its source: out[c][w] += value Y[b] p[a][w].
struct SourcePath {
  TensorPath path;
  int64_t column = 0;  ///< of its channels among those of l1
  std::vector<CouplingTerm> terms;
};

struct ProductPlan {
  Irreps irreps, gated;
  std::vector<TargetPath> targets;
  std::vector<SourcePath> sources;
  std::array<int64_t, 3> target_channels{};  ///< U_l3: channels that flow into l3 at the target
  std::array<int64_t, 3> source_channels{};  ///< Q_l1: channels made from l1 at the source
  /// Where l begins among the columns of an edge: z of the target, p of the source.
  std::array<int64_t, 3> z_offset{}, p_offset{};
  int64_t z_columns = 0, p_columns = 0;

  ProductPlan(const Irreps& irreps, bool only_scalars) : irreps(irreps), gated(irreps.gated()) {
    for (const TensorPath& path : tensor_paths(irreps)) {
      if (path.in == 0 || path.out == 0 || (only_scalars && path.l1 > 0)) continue;
      std::vector<CouplingTerm> terms = coupling(path.l1, path.l2, path.l3);
      for (CouplingTerm& term : terms) {
        term.value *= path.scale;
        term.b += static_cast<int>(kHarmonic[path.l2]);
      }
      if (path.at_source) {
        sources.push_back({path, source_channels[path.l1], std::move(terms)});
        source_channels[path.l1] += path.out;
      } else {
        targets.push_back({path, target_channels[path.l3], std::move(terms)});
        target_channels[path.l3] += path.in;
      }
    }
    for (std::size_t l = 0; l < 3; ++l) {
      z_offset[l] = z_columns;
      z_columns += Irreps::components(l) * target_channels[l];
      p_offset[l] = p_columns;
      p_columns += Irreps::components(l) * source_channels[l];
    }
  }
};

}  // namespace kdgat::model
