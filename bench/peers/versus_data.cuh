/*
** What both sides of the comparison work on: the device's buffers and the inputs in them. This file and the other
** versus_*.cuh are parts of one program, versus.cu, and hold its variables.
*/
#ifndef GR_VERSUS_DATA_CUH
#define GR_VERSUS_DATA_CUH

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include "bench/peers/reference.cuh"
#include "bench/peers/versus.h"
#include "kernels/cuda/launch.h"
#include "kernels/numerics/numerics.h"

#define CHECK(call)                                                                               \
  do {                                                                                            \
    cudaError_t e_ = (cudaError_t)(call);                                                         \
    if (e_ != cudaSuccess) {                                                                      \
      (void)cudaGetLastError();                                                                   \
      throw std::runtime_error(std::string(#call).substr(0, 60) + ": " + cudaGetErrorString(e_)); \
    }                                                                                             \
  } while (0)

namespace {

#define GR_X(id, s, l, type, k) (int)sizeof(type),
const int sizes[] = {GR_DTYPES(GR_X)};
#undef GR_X
#define GR_X(id, s, l, type, k) #s,
const char *const dtypes[] = {GR_DTYPES(GR_X)};
#undef GR_X
#define GR_X(name, r, f, i, e, by) #name,
const char *const ops[] = {GR_OPS(GR_X)};
#undef GR_X

/* Bytes. Two inputs of up to 8 GiB and a bit, results of up to 2^28 doubles, as many references. */
const int64_t kInput = ((int64_t)8 << 30) + ((int64_t)64 << 20), kOutput = (int64_t)4 << 30;
const int64_t kTemporary = (int64_t)8 << 30; /* CUB keeps a private histogram a block */
const int64_t kFlush = (int64_t)192 << 20, kScratch = (int64_t)1 << 30, kRotate = (int64_t)512 << 20;

char *pool, *output, *reference, *room, *flushed, *temporary, *edges_room;
gr_cuda_scratch work, chain;
int64_t *pinned, *mapped;
cudaStream_t stream;
cudaEvent_t before, after;
gr_cuda_chip chip;
uint64_t epoch;
cudaDeviceProp properties;
Cell cell;
gr_dtype type; /* its dtype */

/* Calls fn.template operator()<T>() for the type of a dtype. */
template <class Fn>
void with_type(gr_dtype t, Fn fn) {
  switch (t) {
    case GR_U8: return fn((uint8_t *)nullptr);
    case GR_I32: return fn((int32_t *)nullptr);
    case GR_I64: return fn((int64_t *)nullptr);
    case GR_F16: return fn((__half *)nullptr);
    case GR_F32: return fn((float *)nullptr);
    case GR_F64: return fn((double *)nullptr);
    default: throw std::runtime_error("this dtype is not compared");
  }
}

/* ---- data ---- */

__host__ __device__ inline uint64_t hash(uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15ull;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ i >> 27) * 0x94d049bb133111ebull;
  return i ^ i >> 31;
}

enum Kind { NORMAL, NEAR1, UNIFORM, CONSTANT, TWO, SKEWED, POWER, SORTED, SAW, STRIDED };
const char *const kinds[] = {"normal", "near1",     "uniform", "constant",  "two-value",
                             "skewed", "power-law", "sorted",  "saw-tooth", "strided"};

/* The bin of sample i of n. */
__device__ int64_t bin_of(Kind kind, uint64_t h, int64_t i, int64_t n, int64_t bins) {
  double u = (double)(h >> 11) * 0x1p-53;
  switch (kind) {
    case CONSTANT: return bins / 3;
    case TWO: return h & 1 ? bins / 3 : bins * 2 / 3;
    case SKEWED: return (int64_t)((double)bins * u * u * u);
    case POWER: return (int64_t)pow((double)bins + 1, u) - 1; /* bin k about as often as 1 / (k + 1) */
    case SORTED: return (int64_t)((double)i / (double)n * (double)bins);
    case SAW: return i % bins;
    case STRIDED: return i * 32 % bins;
    default: return (int64_t)((double)bins * u);
  }
}

template <class T>
__device__ T element_of(double x) {
  return (T)x;
}
template <>
__device__ __half element_of(double x) {
  return __double2half(x);
}

/* period: sorted data is sorted over each input, not over the pool. */
template <class T>
__global__ void fill(T *x, int64_t n, Kind kind, uint64_t seed, int64_t bins, double low, double high, int64_t period) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    uint64_t h = hash((uint64_t)i ^ seed << 48);
    bool floats = is_real<T>::value;
    if (kind == NEAR1) {
      double u = (double)(h >> 11) * 0x1p-53 - 0.5;
      x[i] = floats ? element_of<T>(1.0 + u * 0x1p-10) : (T)(int64_t)(h >> 20 | 1); /* odd: products do not vanish */
    } else if (kind == NORMAL) {
      x[i] = (T)(int64_t)(h >> 20);
    } else {
      int64_t k = min(max(bin_of(kind, h, i % period, period, bins), (int64_t)0), bins - 1);
      double within = kind == CONSTANT || kind == TWO ? 0.5 : (double)(hash(h) >> 40) * 0x1p-24;
      x[i] = floats ? element_of<T>(low + ((double)k + within) * ((high - low) / (double)bins))
                    : element_of<T>(low + (double)k);
    }
  }
}

struct Inputs { /* what the pool holds */
  std::string key;
  int64_t bytes = 0;
} filled;

/* Both inputs, from their starts, bytes of each. Floats called normal are what gr.randn gives for the seeds 1 and 2. */
void fill_pool(const Cell &c, int64_t bytes, int64_t period) {
  int kind = 0;
  while (kind < 10 && c.data != kinds[kind]) kind++;
  if (kind == 10) throw std::runtime_error("unknown data " + c.data);
  std::string key = c.data + " " + c.dtype;
  if (kind >= UNIFORM) key += " " + std::to_string(c.bins) + " " + std::to_string(period);
  if (key == filled.key && bytes <= filled.bytes) return;
  if (kind < UNIFORM) bytes = std::max(bytes, (int64_t)1 << 30);
  int64_t n = bytes / sizes[type];
  for (uint64_t seed = 1; seed <= 2; seed++) {
    char *at = pool + (seed - 1) * kInput;
    if (kind == NORMAL && gr_is_float(type)) {
      const uint64_t of_normal = (uint64_t)1 << 62; /* GR_STREAMS: gr.randn's streams are not those of gr.rand */
      gr_random_job j = {type, n, {at, sizes[type], 0}, seed, of_normal, GR_NORMAL};
      gr_cuda_run r = {stream, &chip, &work, ++epoch, nullptr, 0};
      CHECK(gr_cuda_random(&j, &r));
    } else if (kind < UNIFORM || seed == 1) {
      with_type(type, [&](auto *t) {
        using T = std::remove_pointer_t<decltype(t)>;
        fill<<<4096, 256, 0, stream>>>((T *)at, n, (Kind)kind, seed, c.bins, c.low, c.high, period);
      });
    }
  }
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  filled.key = key;
  filled.bytes = bytes;
}

/* Reads all words, eight of a thread on their way; what they add up to, so that nobody leaves them out. */
__device__ float read_words(const float4 *x, int64_t n) {
  constexpr int COUNT = 8;
  float4 s = {0, 0, 0, 0};
  int64_t threads = (int64_t)gridDim.x * blockDim.x, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  for (; i + (COUNT - 1) * threads < n; i += COUNT * threads) {
    float4 v[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) v[k] = x[i + k * threads];
#pragma unroll
    for (int k = 0; k < COUNT; k++) s.x += v[k].x, s.y += v[k].y, s.z += v[k].z, s.w += v[k].w;
  }
  for (; i < n; i += threads) s.x += x[i].x + x[i].y + x[i].z + x[i].w;
  return s.x + s.y + s.z + s.w;
}

__global__ void read_all(const float4 *x, int64_t n, float *out) {
  float s = read_words(x, n);
  if (s == 1.2345e30f) *out = s;
}

/* What nobody can leave out: reads the words of one or two inputs and writes as many words as there are of results. */
__global__ void move_all(const float4 *x, int64_t n, const float4 *y, int64_t ny, float4 *out, int64_t nout) {
  float s = read_words(x, n) + read_words(y, ny);
  int64_t threads = (int64_t)gridDim.x * blockDim.x, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  for (; i < nout; i += threads) out[i] = make_float4(s, s, s, s);
  if (s == 1.2345e30f) *(float *)out = s;
}

__global__ void copy_all(const float4 *x, int64_t n, float4 *out) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  for (; i + 3 * threads < n; i += 4 * threads) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = x[i + k * threads];
#pragma unroll
    for (int k = 0; k < 4; k++) out[i + k * threads] = v[k];
  }
  for (; i < n; i += threads) out[i] = x[i];
}

/* As in the module's queues, reductions, histograms and scans may overlap, and after anything else they wait. */
gr_cuda_span written;
void write_anything() { written = gr_anything; }

/* Nothing of the inputs is in L2 after this. Reading leaves no dirty lines behind that somebody would have to write. */
void flush() {
  write_anything();
  read_all<<<chip.sms * 4, 512, 0, stream>>>((const float4 *)flushed, kFlush / 16, (float *)room);
  CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

#endif
