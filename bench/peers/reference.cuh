/*
** Plain references, one obvious kernel each, in double and 64-bit integers. They share no code with the project's
** kernels, and they are fed by element type alone. Flat reductions: every statistic at once, block by block, finished
** on the host.
*/
#ifndef GR_VERSUS_REFERENCE_H
#define GR_VERSUS_REFERENCE_H

#include <cuda_fp16.h>
#include <stdint.h>
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

struct Statistics { /* v: integers exactly, f: floats */
  int64_t sum, product, dot, low, high, low_at, high_at;
  double fsum, fproduct, fdot, squares, squares_b, differences, flow, fhigh;
};

template <class T>
__host__ __device__ inline double real(T x) {
  return (double)x;
}
template <>
__host__ __device__ inline double real(__half x) {
  return (double)__half2float(x);
}
template <class T>
__host__ __device__ inline int64_t whole(T x) {
  return (int64_t)x;
}
template <>
__host__ __device__ inline int64_t whole(__half x) {
  return (int64_t)__half2float(x);
}
template <class T>
struct is_real {
  static constexpr bool value = !std::is_integral<T>::value;
};

static __host__ __device__ inline Statistics nothing() {
  return {0, 1, 0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX, 0, 1, 0, 0, 0, 0, INFINITY, -INFINITY};
}

/* Products wrap, which only unsigned numbers may. */
static __host__ __device__ inline int64_t times(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
static __host__ __device__ inline int64_t plus(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }

template <bool floats>
__host__ __device__ inline void join(Statistics &x, const Statistics &y) {
  x.sum = plus(x.sum, y.sum);
  x.product = times(x.product, y.product);
  x.dot = plus(x.dot, y.dot);
  x.fsum += y.fsum;
  x.fproduct *= y.fproduct;
  x.fdot += y.fdot;
  x.squares += y.squares;
  x.squares_b += y.squares_b;
  x.differences += y.differences;
  bool lower = floats ? y.flow < x.flow : y.low < x.low, same_low = floats ? y.flow == x.flow : y.low == x.low;
  if (lower || (same_low && y.low_at < x.low_at)) x.low = y.low, x.flow = y.flow, x.low_at = y.low_at;
  bool higher = floats ? y.fhigh > x.fhigh : y.high > x.high,
       same_high = floats ? y.fhigh == x.fhigh : y.high == x.high;
  if (higher || (same_high && y.high_at < x.high_at)) x.high = y.high, x.fhigh = y.fhigh, x.high_at = y.high_at;
}

template <class T>
__global__ void __launch_bounds__(128) all_statistics(const T *a, const T *b, int64_t n, Statistics *out) {
  __shared__ Statistics all[128];
  Statistics s = nothing();
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    double x = real(a[i]), y = real(b[i]);
    int64_t u = whole(a[i]), v = whole(b[i]);
    Statistics one = {u, u, times(u, v), u, u, i, i, x, x, x * y, x * x, y * y, (x - y) * (x - y), x, x};
    join<is_real<T>::value>(s, one);
  }
  all[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < (int)blockDim.x; k++) join<is_real<T>::value>(s, all[k]);
    out[blockIdx.x] = s;
  }
}

/* room: device memory for 1024 statistics. */
template <class T>
Statistics statistics(const void *a, const void *b, int64_t n, void *room) {
  std::vector<Statistics> part(1024);
  all_statistics<T><<<1024, 128>>>((const T *)a, (const T *)b, n, (Statistics *)room);
  cudaMemcpy(part.data(), room, part.size() * sizeof(Statistics), cudaMemcpyDeviceToHost);
  Statistics s = nothing();
  for (auto &p : part) join<is_real<T>::value>(s, p);
  return s;
}

/* ---- arrays of results ---- */

/*
** Sums of rows (axis 2) or columns of a, times v if there is one: 64 elements a thread, then an atomic. Acc is double,
** or for integers unsigned long long, which wraps.
*/
template <class Acc, class T>
__device__ Acc as(T x) {
  if constexpr (is_real<Acc>::value) return real(x);
  else return (Acc)whole(x);
}
template <class T, class Acc>
__global__ void matrix_sums(const T *a, const T *v, int64_t rows, int64_t cols, int axis, Acc *out) {
  const int64_t deep = 64;
  int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  Acc sum = 0;
  if (axis == 2) {
    int64_t at = -1;
    for (int64_t i = t * deep; i < (t + 1) * deep && i < rows * cols; i++) {
      if (i / cols != at && at >= 0) atomicAdd(out + at, sum), sum = 0;
      at = i / cols;
      sum += as<Acc>(a[i]) * (v ? as<Acc>(v[i % cols]) : 1);
    }
    if (at >= 0) atomicAdd(out + at, sum);
  } else {
    int64_t col = t % cols, first = t / cols * deep;
    for (int64_t r = first; r < first + deep && r < rows; r++)
      sum += as<Acc>(a[r * cols + col]) * (v ? as<Acc>(v[r]) : 1);
    if (first < rows) atomicAdd(out + col, sum);
  }
}

template <class T>
__global__ void bins_of(const T *a, int64_t n, const double *edges, int64_t bins, double *out) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    double x = real(a[i]);
    if (!(x >= edges[0] && x <= edges[bins])) continue;
    int64_t low = 0, high = bins; /* edges[low] <= x, and x < edges[high] but for the last */
    while (high - low > 1) {
      int64_t middle = (low + high) / 2;
      if (x >= edges[middle]) low = middle;
      else high = middle;
    }
    unsigned same = __match_any_sync(__activemask(), low);
    if ((threadIdx.x & 31) == (unsigned)__ffs(same) - 1) atomicAdd(out + low, (double)__popc(same));
  }
}

/* Running sums of stretches of 4096, one thread each: first the totals, then, with what came before, the sums
 * themselves. */
template <class T, class Acc>
__global__ void stretches(const T *a, int64_t n, Acc *total, Acc *out) {
  int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, first = t * 4096;
  if (first >= n) return;
  Acc sum = out ? total[t] : 0;
  for (int64_t i = first; i < first + 4096 && i < n; i++) {
    if (is_real<T>::value) sum += (Acc)real(a[i]);
    else sum += (Acc)whole(a[i]);
    if (out) out[i] = sum;
  }
  if (!out) total[t] = sum;
}

template <class T, class Acc>
void running_sums(const void *a, int64_t n, void *room, void *out) {
  int64_t count = (n + 4095) / 4096;
  unsigned blocks = (unsigned)((count + 127) / 128);
  std::vector<Acc> total((size_t)count);
  stretches<T, Acc><<<blocks, 128>>>((const T *)a, n, (Acc *)room, (Acc *)nullptr);
  cudaMemcpy(total.data(), room, (size_t)count * sizeof(Acc), cudaMemcpyDeviceToHost);
  Acc sum = 0;
  for (auto &x : total) {
    Acc mine = x;
    x = sum;
    sum += mine;
  }
  cudaMemcpy(room, total.data(), (size_t)count * sizeof(Acc), cudaMemcpyHostToDevice);
  stretches<T, Acc><<<blocks, 128>>>((const T *)a, n, (Acc *)room, (Acc *)out);
}

/* One block a row. */
template <class T>
__global__ void norm_rows(const T *x, int64_t cols, double eps, double *out) {
  __shared__ double all[256];
  const T *row = x + blockIdx.x * cols;
  double sum = 0;
  for (int64_t k = threadIdx.x; k < cols; k += 256) sum += real(row[k]) * real(row[k]);
  all[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 256; k++) sum += all[k];
  for (int64_t k = threadIdx.x; k < cols; k += 256)
    out[blockIdx.x * cols + k] = real(row[k]) / sqrt(sum / (double)cols + eps);
}

/* The largest |x - r| / (|r| + scale), as bits of a double that is never negative. A NaN counts as infinity. */
template <class T, class Ref>
__global__ void differences(const T *x, const Ref *r, int64_t n, double scale, unsigned long long *worst) {
  double most = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    double d = is_real<T>::value || is_real<Ref>::value ? fabs(real(x[i]) - (double)r[i]) / (fabs((double)r[i]) + scale)
                                                        : (double)(whole(x[i]) != (int64_t)r[i]);
    if (!(d <= most)) most = d == d ? d : INFINITY;
  }
  if (most > 0) atomicMax(worst, (unsigned long long)__double_as_longlong(most));
}

/* The sum of x[i] * (i mod 1024 + 1): a check sum that another program can make too. */
template <class T>
__global__ void weighted_sum(const T *x, int64_t n, double *sum) {
  double mine = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
    mine += real(x[i]) * (double)(i % 1024 + 1);
  if (mine != 0) atomicAdd(sum, mine);
}

#endif
