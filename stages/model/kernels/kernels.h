// The compute kernels behind the models, as tables of plain functions: one table for each
// instruction set and scalar type, all compiled from gat_kernels.cpp. Knows no tensors, threads or
// allocation: the caller splits the work and brings all memory.
//
// No standard-library code may be inlined in sources that include this under -mavx*: the linker
// would be free to pick that copy for the whole program.
#pragma once

#include <cstdint>

namespace kdgat::model::kernels {

inline constexpr int64_t kMaxHeads = 64;
inline constexpr int64_t kHeadPadding = 64;

/// Attention over incoming edges and one self-loop a node, on h [N, heads*channels].
template <class T>
struct GatArgs {
  const T* h;
  const T* att_src;  ///< [heads*channels]
  const T* att_dst;
  const T* bias;             ///< [heads*channels]
  const int32_t* in_ptr;     ///< [N+1]
  const int32_t* in_source;  ///< [E]; edges from a node to itself are skipped
  int64_t heads, channels;
  T slope;       ///< of the leaky ReLU on scores
  T* alpha_src;  ///< [N, heads] scores of nodes as sources; written by forward
  T* alpha_dst;
  T* log_sum;  ///< [N, heads] log of the softmax denominator of each target
  T* out;      ///< [N, heads*channels]
};

template <class T>
struct GatGradArgs {
  GatArgs<T> forward;
  const T* grad_out;  ///< [N, heads*channels]
  T* grad_h;
  T* grad_alpha_src;  ///< [N, heads] workspace
  T* grad_alpha_dst;
};

/// Attention of the second kind over incoming edges with features and one self-loop a node, whose
/// features are the mean of the node's incoming ones.
template <class T>
struct Gatv2Args {
  const T* l;                ///< [N, heads*channels] nodes as sources
  const T* r;                ///< the same as targets
  const T* edge_attr;        ///< [E, features], by target
  const T* lin_edge;         ///< [features, heads*channels]
  const T* att;              ///< [heads*channels]
  const T* bias;             ///< [heads*channels]
  const int32_t* in_ptr;     ///< [N+1]
  const int32_t* in_source;  ///< [E]; edges from a node to itself are skipped
  int64_t heads, channels, features, edges;
  T slope;   ///< of the leaky ReLU on sums
  T* alpha;  ///< [E + N, heads] softmax of the scores, self-loops last; written by forward
  T* out;    ///< [N, heads*channels]
};

template <class T>
struct Gatv2GradArgs {
  Gatv2Args<T> forward;
  const T* grad_out;  ///< [N, heads*channels]
  T* grad_l;
  T* grad_r;
};

/// How a graph's elements are dropped: kept where hash(counter, key) >= threshold (of 2^31).
struct DropKey {
  uint32_t low, high;
  int32_t threshold;
};

/// Rows of paths (or of triplets) in runs, one a triplet (or an arc); see graph/paths.h.
template <class T>
struct RunArgs {
  const int32_t* ptr;   ///< [runs+1] rows of each run
  const int32_t* node;  ///< [rows]
  int64_t runs, columns;
  T* x;       ///< [rows, columns]
  T* of_run;  ///< [runs, columns]
  T* table;   ///< row of node v: table + v * stride
  int64_t stride;
  bool relu;
};

/// Rows of paths in runs of the same start.
template <class T>
struct StartArgs {
  const int32_t* ptr;   ///< [runs+1]
  const int32_t* node;  ///< [runs] start of the paths of a run
  int64_t runs, columns;
  T* x;           ///< [rows, columns]
  const T* bias;  ///< [columns]
};

/// Gaussians exp(-(x - m spacing)^2 / (2 spacing^2)), m = 0 .. centres-1, of each x.
template <class T>
struct SmearArgs {
  const T* x;  ///< [rows]
  T* out;      ///< row r: out + r * stride
  int64_t stride, centres;
  T spacing, period;  ///< 0: not periodic
};

/// Rows of the product of a sparse matrix in compressed rows with a panel, some columns of a dense
/// one that stand together.
template <class T>
struct SparseArgs {
  const int32_t* col;    ///< of each nonzero: row of the panel
  const T* value;        ///< of each nonzero
  const int32_t* row;    ///< [rows] where sums go
  const int32_t* first;  ///< [rows] nonzeros first .. last-1
  const int32_t* last;
  const T* panel;           ///< row j: panel + j * width
  int64_t width;            ///< a multiple of sparse_lanes, at most sparse_width
  T* out;                   ///< row i: out + i * stride
  int64_t stride, columns;  ///< of `out`, columns <= width are written
  bool add;                 ///< to what stands there
};

template <class T>
struct Table {
  /// Nodes [begin, end), which hold whole graphs.
  void (*gat_forward)(const GatArgs<T>&, int64_t begin, int64_t end);
  /// As above; `partial` [3, heads*channels] receives the gradients of att_src, att_dst and bias.
  void (*gat_backward)(const GatGradArgs<T>&, int64_t begin, int64_t end, T* partial);

  /// As above; `row` [heads*channels + features] is workspace.
  void (*gatv2_forward)(const Gatv2Args<T>&, int64_t begin, int64_t end, T* row);
  /// `partial` [2 + features, heads*channels] receives the gradients of att, bias and lin_edge.
  void (*gatv2_backward)(const Gatv2GradArgs<T>&, int64_t begin, int64_t end, T* row, T* partial);

  /// out[i] = x[i] > 0 and kept ? x[i] * scale : 0, for the `count` elements of one graph.
  void (*relu_drop)(const T* x, int64_t count, DropKey key, T scale, T* out);
  /// grad_x = out > 0 ? grad * scale : 0.
  void (*relu_drop_backward)(const T* out, const T* grad, int64_t count, T scale, T* grad_x);
  /// x * gain + shift by column, then relu_drop, for the rows of one graph.
  void (*norm_relu_drop)(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns,
                         DropKey key, T scale, T* out);
  /// By column: sums of (x - mean)^power, power 1 (mean may be null: 0) or 2.
  void (*column_sums)(const T* x, const T* mean, int64_t rows, int64_t columns, int power, T* sums);
  /// With g = out > 0 ? grad * scale : 0, by column: sums of g and of g * (x - mean).
  void (*norm_grad_sums)(const T* x, const T* mean, const T* out, const T* grad, T scale,
                         int64_t rows, int64_t columns, T* sum_g, T* sum_gx);
  /// grad_x = g * a - (x - mean) * b - c by column.
  void (*norm_grad)(const T* x, const T* mean, const T* out, const T* grad, T scale, const T* a,
                    const T* b, const T* c, int64_t rows, int64_t columns, T* grad_x);
  /// Uniform numbers in (0, 1), `count` of one graph.
  void (*uniform)(uint32_t low, uint32_t high, int64_t count, T* out);

  /// Mean of the rows [begin, end) of x.
  void (*mean_rows)(const T* x, int64_t begin, int64_t end, int64_t columns, T* out);
  /// Backward of mean_rows: rows [begin, end) of grad_x become grad / (end - begin).
  void (*spread_rows)(const T* grad, int64_t begin, int64_t end, int64_t columns, T* grad_x);

  /// Rows become exp(x - max of the row); log_sum and inverse_sum of each row.
  void (*softmax_rows)(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum);
  /// Cells become sigmoid(x); the sum of log(1 + exp(x)) of each row. columns is a multiple of
  /// kHeadPadding.
  void (*sigmoid_rows)(T* x, int64_t rows, int64_t columns, T* softplus_sum);

  // Products of the wide heads. weight [inputs, columns], columns a multiple of kHeadPadding.
  /// cells [rows, columns] = z weight + bias.
  void (*head_logits)(const T* z, const T* weight, const T* bias, int64_t rows, int64_t inputs,
                      int64_t columns, T* cells);
  /// grad_z [rows, inputs] = cells weight^T.
  void (*head_grad_rows)(const T* cells, const T* weight, int64_t rows, int64_t inputs,
                         int64_t columns, T* grad_z);
  /// sums [inputs, columns] += z^T cells.
  void (*head_grad_weights)(const T* cells, const T* z, int64_t rows, int64_t inputs,
                            int64_t columns, T* sums);

  // Messages along third-order paths, columns [begin, end).
  /// x[row] += of_run[run of row] + table[node[row]], then ReLU if asked for.
  void (*add_runs)(const RunArgs<T>&, int64_t begin, int64_t end);
  /// Its backward: x holds gradients, `out` what add_runs gave (read with ReLU alone). x is masked;
  /// of_run[r] becomes the sum over its rows, table[node[row]] grows by x[row].
  void (*sum_runs)(const RunArgs<T>&, const T* out, int64_t begin, int64_t end);
  /// sums[node of the run] += relu(x[row] + bias).
  void (*relu_sum)(const StartArgs<T>&, T* sums, int64_t begin, int64_t end);
  /// x becomes the gradient of relu_sum; grad_bias grows.
  void (*relu_sum_backward)(const StartArgs<T>&, const T* grad_sums, T* grad_bias, int64_t begin,
                            int64_t end);
  /// Rows [begin, end).
  void (*smear)(const SmearArgs<T>&, int64_t begin, int64_t end);

  /// out[row[r]] = sum of value * panel[col], or += it, for r in [begin, end).
  void (*sparse_rows)(const SparseArgs<T>&, int64_t begin, int64_t end);
  int64_t sparse_lanes, sparse_width;
};

namespace portable {
const Table<float>& table_float();
const Table<double>& table_double();
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
const Table<float>& table_float();
const Table<double>& table_double();
}  // namespace avx2
namespace avx512 {
const Table<float>& table_float();
const Table<double>& table_double();
}  // namespace avx512
#endif

}  // namespace kdgat::model::kernels
