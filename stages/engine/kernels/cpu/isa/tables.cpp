// Compiled once for each instruction set; KDGAT_KERNEL_ISA names the namespace. The loops are
// plain: the compiler turns them into vector code of that set.
#include "engine/kernels/cpu/isa/tables.h"

#include <type_traits>
#include <utility>

#include "engine/portable/math.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef KDGAT_KERNEL_ISA
#define KDGAT_KERNEL_ISA portable
#endif

namespace kdgat::kernels::isa::KDGAT_KERNEL_ISA {

namespace {

#include "engine/kernels/cpu/isa/dropout_hash.h"
#include "engine/kernels/cpu/isa/simd.h"
#include "engine/kernels/cpu/isa/vector_math.h"
// The loops of each family stand on those above.
#include "engine/kernels/cpu/isa/edge_loops.h"
#include "engine/kernels/cpu/isa/gat_loops.h"
#include "engine/kernels/cpu/isa/gat_vectors.h"
#include "engine/kernels/cpu/isa/gatv2_loops.h"
#include "engine/kernels/cpu/isa/head_loops.h"
#include "engine/kernels/cpu/isa/head_rows.h"
#include "engine/kernels/cpu/isa/norm_loops.h"
#include "engine/kernels/cpu/isa/path_loops.h"
#include "engine/kernels/cpu/isa/product_loops.h"
#include "engine/kernels/cpu/isa/sage_loops.h"
#include "engine/kernels/cpu/isa/sparse_loops.h"
#include "engine/kernels/cpu/isa/sum_loops.h"

template <class T>
constexpr Tables<T> kTables = {
    .gat = {gat_forward<T>, gat_backward<T>, gatv2_forward<T>, gatv2_backward<T>},
    .edge = {edge_relu_sums<T>, edge_relu_sums_backward<T>, edge_attention<T>,
             edge_attention_backward<T>, edge_statistics<T>, edge_statistics_backward<T>},
    .norm = {relu_drop<T>, relu_drop_backward<T>, norm_relu_drop<T>, norm_relu<T>, column_sums<T>,
             norm_grad_sums<T>, norm_grad<T>, uniform<T>, mean_rows<T>, spread_rows<T>},
    .head = {softmax_rows<T>, sigmoid_rows<T>, head_logits<T>, head_grad_rows<T>,
             head_grad_weights<T>},
    .path = {add_runs<T>, sum_runs<T>, relu_sum<T>, relu_sum_backward<T>, smear<T>},
    .sparse = {sparse_rows<T>, Simd<T>::kLanes, kSparseVectors* Simd<T>::kLanes},
    .sum = {gather<T>, scatter<T>},
    .sage = {max_rows<T>, sage_mean_rows<T>, max_scatter<T>, mean_scatter<T>, activate<T>,
             activate_grad<T>, adam<T>},
    .product = {product<T>, dot<T>, transpose<T>, row_sums<T>, silu<T>, silu_grad<T>},
};

}  // namespace

const Tables<float>& tables_float() { return kTables<float>; }
const Tables<double>& tables_double() { return kTables<double>; }

}  // namespace kdgat::kernels::isa::KDGAT_KERNEL_ISA
