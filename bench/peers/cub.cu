/*
** CUB's side, for one dtype: compiled with -DDTYPE=f32 and so on, once with the toolkit's headers and once, with
** -DNEWEST, with CCCL's main branch first on the include path (CUB's inline namespaces keep the two apart).
** Sums of integers are 64 bits wide, as the project's are; f16 is summed as CUB does it by default, in f16.
*/
#include <cuda_fp16.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <type_traits>
#include "bench/peers/versus.h"

#define JOIN(a, b) a##b
#define WITH(a, b) JOIN(a, b)
#ifdef NEWEST
#define PART WITH(cub_newest_, DTYPE)
#define VERSION cub_newest_version
#else
#define PART WITH(cub_toolkit_, DTYPE)
#define VERSION cub_toolkit_version
#endif

namespace {

/* By dtype: its elements and their sums. */
struct Type_u8 {
  using In = uint8_t;
  using Sum = int64_t;
};
struct Type_i32 {
  using In = int32_t;
  using Sum = int64_t;
};
struct Type_i64 {
  using In = int64_t;
  using Sum = int64_t;
};
struct Type_f16 {
  using In = __half;
  using Sum = __half;
};
struct Type_f32 {
  using In = float;
  using Sum = float;
};
struct Type_f64 {
  using In = double;
  using Sum = double;
};

using In = WITH(Type_, DTYPE)::In;
using Sum = WITH(Type_, DTYPE)::Sum;
using Wide = std::conditional_t<std::is_same_v<In, __half>, float, Sum>; /* products of f16 need f32 */

template <class F>
struct Pairwise { /* element i of a and b to a summand */
  const In *a, *b;
  F f;
  __host__ __device__ Wide operator()(int64_t i) const { return f((Wide)a[i], (Wide)b[i]); }
};
struct Product {
  __host__ __device__ Wide operator()(Wide x, Wide y) const { return x * y; }
};
struct SquaredDifference {
  __host__ __device__ Wide operator()(Wide x, Wide y) const { return (x - y) * (x - y); }
};
#ifndef NEWEST
struct RowStart {
  int64_t cols;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * cols; }
};
#endif

template <class F>
Launch pairwise(int64_t n) {
  return [n](void *t, size_t &bytes, const void *a, const void *b, void *out, cudaStream_t s) {
    return cub::DeviceReduce::TransformReduce(t, bytes, thrust::counting_iterator<int64_t>(0), (Wide *)out, n,
                                              cuda::std::plus<>{}, Pairwise<F>{(const In *)a, (const In *)b, F{}},
                                              Wide(0), s);
  };
}

Launch rows(const Cell &c) {
  int64_t count = c.rows, cols = c.cols;
  if (c.axis != 2) return {};
  return [=](void *t, size_t &bytes, const void *a, const void *, void *out, cudaStream_t s) {
#ifdef NEWEST
    return cub::DeviceSegmentedReduce::Sum(t, bytes, (const In *)a, (Sum *)out, count, (int)cols, s);
#else
    auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), RowStart{cols});
    return cub::DeviceSegmentedReduce::Sum(t, bytes, (const In *)a, (Sum *)out, count, starts, starts + 1, s);
#endif
  };
}

Launch histogram(const Cell &c) {
  if constexpr (std::is_same_v<In, __half> || std::is_same_v<In, int64_t> || std::is_same_v<In, double>) {
    return {};
  } else {
    using Level = In;
    int levels = (int)c.bins + 1;
    int64_t n = c.n;
    double low = c.low, high = c.high;
    const void *edges = c.levels;
    if constexpr (std::is_same_v<In, float>) {
      if (edges)
        return [=](void *t, size_t &bytes, const void *a, const void *, void *out, cudaStream_t s) {
          return cub::DeviceHistogram::HistogramRange(t, bytes, (const In *)a, (int *)out, levels, (const float *)edges,
                                                      n, s);
        };
    }
    if (edges) return {};
    using Bound = std::conditional_t<sizeof(In) == 1, int, Level>; /* 256 is no u8 */
    return [=](void *t, size_t &bytes, const void *a, const void *, void *out, cudaStream_t s) {
      return cub::DeviceHistogram::HistogramEven(t, bytes, (const In *)a, (int *)out, levels, (Bound)low, (Bound)high,
                                                 n, s);
    };
  }
}

Launch scan(int64_t n) {
  if constexpr (std::is_same_v<In, __half>) {
    return {};
  } else {
    return [n](void *t, size_t &bytes, const void *a, const void *, void *out, cudaStream_t s) {
      if constexpr (std::is_same_v<In, Sum>)
        return cub::DeviceScan::InclusiveSum(t, bytes, (const In *)a, (Sum *)out, n, s);
      else
        return cub::DeviceScan::InclusiveScanInit(t, bytes, (const In *)a, (Sum *)out, cuda::std::plus<>{}, Sum(0), n,
                                                  s);
    };
  }
}

#define LAUNCH(...)                                                                                     \
  [n](void *t, size_t &bytes, const void *a, const void *b, void *out, cudaStream_t s) -> cudaError_t { \
    const In *x = (const In *)a;                                                                        \
    (void)b;                                                                                            \
    return __VA_ARGS__;                                                                                 \
  }

/* CUB has no minimum and maximum together: two calls, the first one's size of temporary storage serves both. */
Launch both_ends(int64_t n) {
  return [n](void *t, size_t &bytes, const void *a, const void *, void *out, cudaStream_t s) {
    size_t again = bytes;
    cudaError_t e = cub::DeviceReduce::Min(t, bytes, (const In *)a, (In *)out, n, s);
    return e == cudaSuccess && t ? cub::DeviceReduce::Max(t, again, (const In *)a, (In *)out + 1, n, s) : e;
  };
}

}  // namespace

Launch PART(const Cell &c) {
  int64_t n = c.n;
  if (c.rows) return c.op == "sum" ? rows(c) : Launch();
  if (c.op == "sum") return LAUNCH(cub::DeviceReduce::Sum(t, bytes, x, (Sum *)out, n, s));
  if (c.op == "min") return LAUNCH(cub::DeviceReduce::Min(t, bytes, x, (In *)out, n, s));
  if (c.op == "max") return LAUNCH(cub::DeviceReduce::Max(t, bytes, x, (In *)out, n, s));
  if (c.op == "prod")
    return LAUNCH(cub::DeviceReduce::Reduce(t, bytes, x, (Sum *)out, n, cuda::std::multiplies<>{}, Sum(1), s));
  if (c.op == "argmin") return LAUNCH(cub::DeviceReduce::ArgMin(t, bytes, x, (In *)out, (int64_t *)out + 1, n, s));
  if (c.op == "argmax") return LAUNCH(cub::DeviceReduce::ArgMax(t, bytes, x, (In *)out, (int64_t *)out + 1, n, s));
  if (c.op == "minmax") return both_ends(n);
  if (c.op == "dot") return pairwise<Product>(n);
  if (c.op == "mse") return pairwise<SquaredDifference>(n); /* its sum */
  if (c.op == "histogram") return histogram(c);
  if (c.op == "scan") return scan(n);
  return {};
}

#if defined(SAYS_VERSION)
int VERSION() { return CUB_VERSION; }
#endif
