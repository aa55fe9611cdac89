// The inner loops of the kernels of the CPU, as tables of plain functions, one for each family: a
// set for each instruction set and scalar type, all compiled from tables.cpp. Know no tensors,
// threads or allocation: the caller splits the work and brings all memory.
//
// Of the portable level the numbers that go forward are defined by the source: sums have an order
// that is written down, and no multiplication is joined with an addition. So a network has the same
// bits wherever it is computed so, in other languages too. Wider levels may differ in the last
// places.
//
// No standard-library code may be inlined in sources that include this under -mavx*: the linker
// would be free to pick that copy for the whole program.
#pragma once

#include "engine/kernels/cpu/isa/edge_table.h"
#include "engine/kernels/cpu/isa/gat_table.h"
#include "engine/kernels/cpu/isa/head_table.h"
#include "engine/kernels/cpu/isa/norm_table.h"
#include "engine/kernels/cpu/isa/path_table.h"
#include "engine/kernels/cpu/isa/product_table.h"
#include "engine/kernels/cpu/isa/sage_table.h"
#include "engine/kernels/cpu/isa/sparse_table.h"
#include "engine/kernels/cpu/isa/sum_table.h"

namespace kdgat::kernels::isa {

template <class T>
struct Tables {
  GatTable<T> gat;
  EdgeTable<T> edge;
  NormTable<T> norm;
  HeadTable<T> head;
  PathTable<T> path;
  SparseTable<T> sparse;
  SumTable<T> sum;
  SageTable<T> sage;
  ProductTable<T> product;
};

namespace portable {
const Tables<float>& tables_float();
const Tables<double>& tables_double();
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
const Tables<float>& tables_float();
const Tables<double>& tables_double();
}  // namespace avx2
namespace avx512 {
const Tables<float>& tables_float();
const Tables<double>& tables_double();
}  // namespace avx512
#endif

}  // namespace kdgat::kernels::isa
