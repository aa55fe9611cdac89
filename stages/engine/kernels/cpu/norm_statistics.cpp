#include "engine/kernels/cpu/norm_statistics.h"

namespace kdgat::kernels::cpu {

double join(graph::Exchange* exchange, int64_t rows, std::vector<double>& sums) {
  if (exchange == nullptr) return static_cast<double>(rows);
  sums.push_back(static_cast<double>(rows));
  exchange->sum(sums);
  const double all = sums.back();
  sums.pop_back();
  return all;
}

}  // namespace kdgat::kernels::cpu
