// How kernels are written, on the card. NVRTC reads this first; on the CPU
// tests/support/cards/cuda_shim.h stands for it, where blocks and threads are loops. So kernels use
// these words and no others of CUDA's:
//
//   CARD                what a function on the card begins with
//   SHARED(T, name, n)  an array of the block's threads; read only what was written before
//   PerThread<T> x      a variable of each thread that lives from one phase to the next: x[t]
//   THREADS(t) {...}    a phase: all threads t of the block; the next begins when all have ended.
//                       Nothing leaves it but `continue`, and what stands around it depends on the
//                       block alone
//   block_x(), block_y()
//   times(a, b)         a product that is rounded by itself: never part of a multiply-add
//   KERNEL(name, Args)  makes name(const Args<T>&) kernels name_float and name_double
//
// Within a phase no thread reads what another one writes, neither shared nor in global memory;
// blocks know nothing of each other. So results do not depend on the order of anything.
#pragma once

#define CARD __device__ __forceinline__
#define SHARED(T, name, n) __shared__ T name[n]
#define THREADS(t) for (int t = threadIdx.x, once_##t = 1; once_##t; once_##t = 0, __syncthreads())
#define KERNEL(name, Args)                                                                \
  extern "C" __global__ void __launch_bounds__(256) name##_float(const Args<float> a) {   \
    name<float>(a);                                                                       \
  }                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) name##_double(const Args<double> a) { \
    name<double>(a);                                                                      \
  }

namespace kdgat::kernels::cuda {

template <class T>
struct PerThread {
  T value;
  __device__ __forceinline__ T& operator[](int) { return value; }
};
__device__ __forceinline__ long block_x() { return blockIdx.x; }
__device__ __forceinline__ long block_y() { return blockIdx.y; }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

}  // namespace kdgat::kernels::cuda
