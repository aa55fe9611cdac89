// ProductPlan: how the paths of a tensor product stand in the arrays of the fast form. Private to
// the product.
//
// Inside states stand by component: all channels of one component side by side, [m][u].
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fields/molecules/model/couplings.h"

namespace kdgat::molecules {

/// A path that is mixed at its target: z[c][u] = sum of terms value Y[b] x[a][u] of an edge.
struct TargetPath {
  TensorPath path;
  std::vector<CouplingTerm> terms;  ///< values with the path's scale; b counts among all harmonics
  int64_t columns() const { return Irreps::components(path.l3) * path.in; }
};
/// A path that is mixed at its source: out[c][w] += value Y[b] p[a][w].
struct SourcePath {
  TensorPath path;
  std::vector<CouplingTerm> terms;
  int64_t column = 0;  ///< where p[a][w] begins among the numbers of an edge
};

struct ProductPlan {
  Irreps irreps, gated;
  std::vector<TargetPath> targets;
  std::vector<SourcePath> sources;
  int64_t p_columns = 0;  ///< numbers of an edge of all source paths
  int64_t z_columns = 0;  ///< of the target path with the most

  ProductPlan(const Irreps& irreps, bool only_scalars) : irreps(irreps), gated(irreps.gated()) {
    for (const TensorPath& path : tensor_paths(irreps)) {
      if (path.in == 0 || path.out == 0 || (only_scalars && path.l1 > 0)) continue;
      std::vector<CouplingTerm> terms = coupling(path.l1, path.l2, path.l3);
      for (CouplingTerm& term : terms) {
        term.value *= path.scale;
        term.b += static_cast<int>(kHarmonic[path.l2]);
      }
      if (path.at_source) {
        sources.push_back({path, std::move(terms), p_columns});
        p_columns += Irreps::components(path.l1) * path.out;
      } else {
        targets.push_back({path, std::move(terms)});
        z_columns = std::max(z_columns, targets.back().columns());
      }
    }
  }
};

}  // namespace kdgat::molecules
