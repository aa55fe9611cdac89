#include "fields/space/model/chunk_index.h"

#include <ATen/ATen.h>

namespace kdgat::space {

namespace {

at::Tensor view(const arrays::Buffer<int32_t>& buffer, int64_t size) {
  return at::from_blob(const_cast<int32_t*>(buffer.data()), {size}, at::kInt);
}

}  // namespace

ChunkIndex::ChunkIndex(const arrays::PathChunk& chunk, at::Device device)
    : arcs(chunk.arcs),
      triplets(chunk.triplets),
      paths(chunk.paths),
      i_A(view(chunk.i, arcs)),
      j_A(view(chunk.j, arcs)),
      triplet_ptr_A1(view(chunk.triplet_ptr, arcs + 1)),
      k_T(view(chunk.k, triplets)),
      path_ptr_T1(view(chunk.path_ptr, triplets + 1)),
      p_P(view(chunk.p, paths)) {
  path_ptr_A1 = path_ptr_T1.index_select(0, triplet_ptr_A1);
  if (device.is_cpu()) return;
  for (at::Tensor* t : {&i_A, &j_A, &triplet_ptr_A1, &k_T, &path_ptr_T1, &p_P, &path_ptr_A1}) {
    *t = t->to(device);
  }
}

}  // namespace kdgat::space
