/*
** The project's kernels beside CUB and cuBLAS, as a Lua module for bench/versus.lua: both sides on the same buffers, on
** one stream, results to the same place, temporary storage given beforehand. Built by bench/peers/Makefile for the
** benchmark alone. cuBLAS is looked for at run time, so that a machine without it still compares the rest.
*/
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include "bench/peers/reference.cuh"
#include "bench/peers/versus.h"
#include "kernels/cuda/launch.h"
#include "kernels/numerics/numerics.h"
extern "C" {
#include <lauxlib.h>
#include <lua.h>
}

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

char *pool, *output, *reference, *room, *flushed, *work, *chain, *temporary, *edges_room;
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

/* Both inputs, from their starts, `bytes` of each. Floats called normal are what gr.randn gives for the seeds 1 and 2.
 */
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
      gr_random_job j = {type, n, {at, sizes[type], 0}, seed, 0, 1};
      gr_cuda_run r = {stream, &chip, work, ++epoch, nullptr, 0};
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

__global__ void read_all(const float4 *x, int64_t n, float *out) {
  float4 s = {0, 0, 0, 0};
  int64_t threads = (int64_t)gridDim.x * blockDim.x, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  for (; i + 7 * threads < n; i += 8 * threads) {
    float4 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = x[i + k * threads];
#pragma unroll
    for (int k = 0; k < 8; k++) s.x += v[k].x, s.y += v[k].y, s.z += v[k].z, s.w += v[k].w;
  }
  for (; i < n; i += threads) s.x += x[i].x + x[i].y + x[i].z + x[i].w;
  if (s.x + s.y + s.z + s.w == 1.2345e30f) *out = s.x;
}

/*
** As in the module's queues, reductions, histograms and scans in turn may overlap, and after anything else they wait.
*/
gr_cuda_span written;
void write_anything() { written = gr_anything; }

/* Nothing of the inputs is in L2 after this. Reading leaves no dirty lines behind that somebody would have to write. */
void flush() {
  write_anything();
  read_all<<<chip.sms * 4, 512, 0, stream>>>((const float4 *)flushed, kFlush / 16, (float *)room);
  CHECK(cudaStreamSynchronize(stream));
}

/* ---- contenders ---- */

/* Where one number of a result lies and of what dtype it is. */
struct Number {
  int64_t at;
  gr_dtype dtype;
};

struct Contender {
  std::string name;
  std::function<void(int64_t turn)> call;
  std::function<void(int64_t turn)> to_host; /* empty: call, copy, wait */
  std::vector<Number> numbers;               /* of a scalar result */
  gr_dtype array;                            /* of an array of results */
  std::string note;
  std::map<int, cudaGraphExec_t> graphs;
};

std::string shape; /* what is compared with which reference: scalar, sums, counts, scan, norm */
int64_t offset, pitch, slots, results, result_bytes;
bool resident;
std::vector<Contender> contenders;

const char *input(int which, int64_t turn, int64_t from = offset) {
  return pool + which * kInput + (resident ? 0 : turn % slots * pitch) + from * sizes[type];
}

gr_cuda_run run_on(char *scratch) { return {stream, &chip, scratch, ++epoch, nullptr, 0, written, &written}; }

gr_op op_named(const std::string &name) {
  for (int k = 0; k < GR_OP_COUNT; k++)
    if (name == ops[k]) return (gr_op)k;
  throw std::runtime_error("unknown operation " + name);
}

gr_reduce_job reduction(gr_op op, gr_dtype t, int64_t turn, int64_t from) {
  gr_reduce_job j;
  int64_t size = sizes[t];
  memset(&j, 0, sizeof j);
  j.op = op;
  j.dtype = t;
  j.n = cell.n;
  j.count = 1;
  j.a = {input(0, turn, from), size, 0};
  j.b = {input(1, turn, from), size, 0};
  if (cell.rows) {
    j.n = cell.axis == 2 ? cell.cols : cell.rows;
    j.count = cell.axis == 2 ? cell.rows : cell.cols;
    j.a.stride = cell.axis == 2 ? size : cell.cols * size;
    j.a.step = cell.axis == 2 ? cell.cols * size : size;
    j.b.stride = op == GR_OP_dot ? size : j.a.stride;
    j.b.step = op == GR_OP_dot ? 0 : j.a.step;
  }
  j.scale_a = j.scale_b = 1;
  return j;
}

std::vector<double> edges;
bool irregular;

/* Even bins as np.linspace gives them; irregular ones exact in f32, for CUB's f32 levels. */
void make_edges() {
  double step = (cell.high - cell.low) / (double)cell.bins;
  edges.resize((size_t)cell.bins + 1);
  std::vector<float> levels;
  std::vector<int64_t> limits;
  for (int64_t k = 0; k <= cell.bins; k++) {
    double jitter = irregular && k && k < cell.bins ? 0.8 * ((double)(hash((uint64_t)k) >> 11) * 0x1p-53 - 0.5) : 0;
    double e = k == cell.bins ? cell.high : ((double)k + jitter) * step + cell.low;
    edges[(size_t)k] = irregular ? (double)(float)e : e;
    levels.push_back((float)edges[(size_t)k]);
    limits.push_back((int64_t)(k < cell.bins ? ceil(e) : floor(e)));
  }
  size_t n = edges.size();
  CHECK(cudaMemcpy(edges_room, edges.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(edges_room + n * 8, limits.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(edges_room + n * 16, levels.data(), n * 4, cudaMemcpyHostToDevice));
  cell.levels = irregular ? (const double *)(edges_room + n * 16) : nullptr;
}

void launch_histogram(int64_t turn) {
  gr_histogram_job j;
  memset(&j, 0, sizeof j);
  j.dtype = type;
  j.n = cell.n;
  j.bins = cell.bins;
  j.a = {input(0, turn), sizes[type], 0};
  j.edges = (const double *)edges_room;
  if (!gr_is_float(type)) j.ilimits = (const int64_t *)(edges_room + edges.size() * 8);
  j.first = cell.low;
  j.per_bin = (double)cell.bins / (cell.high - cell.low);
  j.guess = !irregular;
  j.whole = !irregular && cell.low == floor(cell.low) && fmod(cell.high - cell.low, (double)cell.bins) == 0;
  j.counts = (int64_t *)output;
  j.tails = j.counts + cell.bins;
  gr_cuda_run r = run_on(work);
  CHECK(gr_cuda_histogram(&j, &r));
}

void launch_scan(int64_t turn, gr_dtype out) {
  gr_scan_job j;
  memset(&j, 0, sizeof j);
  j.op = GR_OP_sum;
  j.dtype = type;
  j.out_dtype = out;
  j.n = cell.n;
  j.a = {input(0, turn), sizes[type], 0};
  j.out = {output, sizes[out], 0};
  gr_cuda_run r = run_on(chain);
  CHECK(gr_cuda_scan(&j, &r));
}

void launch_rmsnorm(int64_t turn) {
  gr_rmsnorm_job j;
  int64_t size = sizes[type];
  memset(&j, 0, sizeof j);
  j.dtype = type;
  j.n = cell.cols;
  j.count = cell.rows;
  j.x = {input(0, turn), size, cell.cols * size};
  j.out = {output, size, cell.cols * size};
  j.eps = 1e-6;
  gr_cuda_run r = run_on(work);
  CHECK(gr_cuda_rmsnorm(&j, &r));
}

/* The project's reduction of that name, of inputs that start so many elements in. */
Contender reduced(const char *name, const std::string &word, int64_t from) {
  Contender c;
  gr_dtype t = type;
  gr_op op = op_named(word == "norm" ? "norm2" : word == "mv" ? "dot" : word);
  gr_acc_kind kind = gr_acc_kind_of(gr_reducer_of(op, t), t);
  bool places = kind == GR_ACC_POSITION,
       floats = (gr_is_float(t) && !places) || op == GR_OP_mse || op == GR_OP_norm2 || op == GR_OP_cosine;
  gr_dtype out = floats ? GR_F64 : GR_I64;
  c.name = name;
  c.array = out;
  c.numbers = {{0, out}, {256, out}};
  if (op != GR_OP_minmax) c.numbers.pop_back();
  c.call = [=](int64_t turn) {
    gr_reduce_job j = reduction(op, t, turn, from);
    j.out_dtype = out;
    j.out = output;
    j.out2 = cell.rows ? nullptr : output + 256;
    gr_cuda_run r = run_on(work);
    CHECK(gr_cuda_reduce(&j, &r));
  };
  return c;
}

Contender ours() {
  Contender c;
  gr_dtype t = type;
  c.name = "gpureduce";
  c.array = t;
  if (cell.op == "histogram") {
    c.array = GR_I64;
    c.call = launch_histogram;
  } else if (cell.op == "scan") {
    c.array = !gr_is_float(t) ? GR_I64 : t == GR_F64 ? GR_F64 : GR_F32;
    c.call = [=](int64_t turn) { launch_scan(turn, c.array); };
  } else if (cell.op == "rmsnorm") {
    c.call = launch_rmsnorm;
  } else {
    return reduced("gpureduce", cell.op, offset);
  }
  return c;
}

/* What CUB gives: the type of its results, by operation. */
void describe_cub(Contender &c) {
  gr_dtype t = type, sum = gr_is_float(t) ? t : GR_I64, wide = t == GR_F16 ? GR_F32 : sum;
  c.array = cell.op == "histogram" ? GR_I32 : sum;
  if (cell.op == "min" || cell.op == "max") c.numbers = {{0, t}};
  else if (cell.op == "minmax") c.numbers = {{0, t}, {sizes[t], t}};
  else if (cell.op == "argmin" || cell.op == "argmax") c.numbers = {{8, GR_I64}};
  else if (cell.op == "dot" || cell.op == "mse") c.numbers = {{0, wide}};
  else c.numbers = {{0, sum}};
}

/* The parts of cub.cu by dtype. */
struct Part {
  const char *dtype;
  Launch (*toolkit)(const Cell &), (*newest)(const Cell &);
};
#ifdef WITH_NEWEST
#define PART(dtype) {#dtype, cub_toolkit_##dtype, cub_newest_##dtype},
#else
#define PART(dtype) {#dtype, cub_toolkit_##dtype, nullptr},
#endif
const Part parts[] = {COMPARED(PART)};

void add_cub(const char *name, Launch launch) {
  size_t bytes = 0;
  if (!launch) return;
  Contender c;
  c.name = name;
  describe_cub(c);
  if (launch(nullptr, bytes, input(0, 0), input(1, 0), output, stream) != cudaSuccess || bytes > (size_t)kTemporary) {
    (void)cudaGetLastError();
    return;
  }
  if (cell.op == "histogram" && bytes > (size_t)64 << 20)
    c.note = "temporary storage " + std::to_string(bytes >> 20) + " MiB";
  if (cell.op == "minmax") c.note = "two calls";
  c.call = [=](int64_t turn) {
    size_t b = bytes;
    CHECK(launch(temporary, b, input(0, turn), input(1, turn), output, stream));
  };
  contenders.push_back(c);
}

/* ---- cuBLAS, by dlopen ---- */

struct Blas {
  void *library = nullptr;
  cublasHandle_t handle = nullptr;
  int version = 0;
  template <class F>
  F *find(const char *name) const {
    return (F *)dlsym(library, name);
  }
} blas;

void open_blas() {
  const char *asked = getenv("GR_CUBLAS");
  const char *const places[] = {asked ? asked : "libcublas.so.13", "libcublas.so.13", "libcublas.so",
                                "/usr/local/cuda/lib64/libcublas.so"};
  for (const char *place : places)
    if (!blas.library && (blas.library = dlopen(place, RTLD_NOW | RTLD_LOCAL))) break;
  if (!blas.library) return;
  auto create = blas.find<cublasStatus_t(cublasHandle_t *)>("cublasCreate_v2");
  auto set = blas.find<cublasStatus_t(cublasHandle_t, cudaStream_t)>("cublasSetStream_v2");
  auto room_for = blas.find<cublasStatus_t(cublasHandle_t, void *, size_t)>("cublasSetWorkspace_v2");
  if (!create || create(&blas.handle) != CUBLAS_STATUS_SUCCESS) {
    blas.library = nullptr;
    return;
  }
  blas.find<cublasStatus_t(cublasHandle_t, int *)>("cublasGetVersion_v2")(blas.handle, &blas.version);
  set(blas.handle, stream);
  room_for(blas.handle, temporary, (size_t)64 << 20);
}

void check_blas(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS says " + std::to_string((int)s));
}

/* The cuBLAS call of this cell with its result at r, or nothing. */
template <class T>
std::function<void(int64_t, void *)> blas_call(const char *dot, const char *nrm2, const char *gemv) {
  int n = (int)cell.n, rows = (int)cell.rows, cols = (int)cell.cols, axis = cell.axis;
  if (cell.op == "dot" && !cell.rows) {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, int, const T *, int, const T *, int, T *)>(dot);
    return [=](int64_t turn, void *r) {
      check_blas(f(blas.handle, n, (const T *)input(0, turn), 1, (const T *)input(1, turn), 1, (T *)r));
    };
  }
  if (cell.op == "norm") {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, int, const T *, int, T *)>(nrm2);
    return [=](int64_t turn, void *r) { check_blas(f(blas.handle, n, (const T *)input(0, turn), 1, (T *)r)); };
  }
  if (cell.op == "mv") {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, cublasOperation_t, int, int, const T *, const T *, int, const T *,
                                      int, const T *, T *, int)>(gemv);
    auto one = (const T *)((char *)pinned + 1024), zero = (const T *)((char *)pinned + 2048);
    return [=](int64_t turn,
               void *r) { /* row-major: cuBLAS sees the transpose */
                          check_blas(f(blas.handle, axis == 2 ? CUBLAS_OP_T : CUBLAS_OP_N, cols, rows, one,
                                       (const T *)input(0, turn), cols, (const T *)input(1, turn), 1, zero, (T *)r, 1));
    };
  }
  return {};
}

std::function<void(int64_t, void *)> blas_half_dot() {
  using F = cublasStatus_t(cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int,
                           void *, cudaDataType, cudaDataType);
  auto f = blas.find<F>("cublasDotEx");
  int n = (int)cell.n;
  if (cell.op != "dot" || cell.rows || !f) return {};
  return [=](int64_t turn, void *r) {
    check_blas(
        f(blas.handle, n, input(0, turn), CUDA_R_16F, 1, input(1, turn), CUDA_R_16F, 1, r, CUDA_R_16F, CUDA_R_32F));
  };
}

void add_blas() {
  std::function<void(int64_t, void *)> f;
  if (!blas.library || cell.n > INT32_MAX) return;
  if (type == GR_F32) f = blas_call<float>("cublasSdot_v2", "cublasSnrm2_v2", "cublasSgemv_v2");
  if (type == GR_F64) f = blas_call<double>("cublasDdot_v2", "cublasDnrm2_v2", "cublasDgemv_v2");
  if (type == GR_F16) f = blas_half_dot();
  if (!f) return;
  memset(pinned, 0, 4096);
  if (type == GR_F32) *((float *)pinned + 256) = 1.0f;
  else *((double *)pinned + 128) = 1.0;
  auto mode = blas.find<cublasStatus_t(cublasHandle_t, cublasPointerMode_t)>("cublasSetPointerMode_v2");
  Contender c;
  c.name = "cublas";
  c.array = type;
  c.numbers = {{0, type}};
  bool scalar = !cell.rows;
  c.call = [=](int64_t turn) {
    mode(blas.handle, scalar ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
    f(turn, output);
  };
  if (scalar)
    c.to_host = [=](int64_t turn) {
      mode(blas.handle, CUBLAS_POINTER_MODE_HOST);
      f(turn, pinned);
    };
  contenders.push_back(c);
}

/* ---- references and checks ---- */

double number_at(const char *p, gr_dtype t) {
  double x = 0;
  with_type(t, [&](auto *type) {
    std::remove_pointer_t<decltype(type)> v;
    memcpy(&v, p, sizeof v);
    x = real(v);
  });
  return x;
}

int64_t integer_at(const char *p, gr_dtype t) {
  int64_t x = 0;
  with_type(t, [&](auto *type) {
    std::remove_pointer_t<decltype(type)> v;
    memcpy(&v, p, sizeof v);
    x = whole(v);
  });
  return x;
}

/* The reference's numbers: exact integers, or doubles with the size of what was added up. */
struct Truth {
  std::vector<int64_t> whole;
  std::vector<double> real;
  double scale;
};
Truth truth;
bool known;

void make_truth() {
  Statistics s;
  bool floats = gr_is_float(type);
  const std::string &op = cell.op;
  with_type(type, [&](auto *t) {
    s = statistics<std::remove_pointer_t<decltype(t)>>(input(0, 0), input(1, 0), cell.n, room);
  });
  CHECK(cudaGetLastError());
  truth = {{}, {}, 0};
  double n = (double)cell.n;
  if (op == "argmin") truth.whole = {s.low_at};
  else if (op == "argmax") truth.whole = {s.high_at};
  else if (op == "mse") truth.real = {s.differences / n};
  else if (op == "norm") truth.real = {sqrt(s.squares)};
  else if (op == "cosine") truth.real = {s.fdot / sqrt(s.squares) / sqrt(s.squares_b)}, truth.scale = 1;
  else if (!floats && op == "sum") truth.whole = {s.sum};
  else if (!floats && op == "prod") truth.whole = {s.product};
  else if (!floats && op == "dot") truth.whole = {s.dot};
  else if (!floats) truth.whole = {s.low, s.high};
  else if (op == "sum") truth.real = {s.fsum}, truth.scale = sqrt(s.squares);
  else if (op == "prod") truth.real = {s.fproduct};
  else if (op == "dot") truth.real = {s.fdot}, truth.scale = sqrt(s.squares);
  else truth.real = {s.flow, s.fhigh};
  if (op == "min" && truth.whole.size()) truth.whole.pop_back();
  if (op == "min" && truth.real.size()) truth.real.pop_back();
  if (op == "max" && truth.whole.size()) truth.whole.erase(truth.whole.begin());
  if (op == "max" && truth.real.size()) truth.real.erase(truth.real.begin());
}

void make_reference() {
  CHECK(cudaMemsetAsync(reference, 0, (size_t)std::min<int64_t>(results * 8, kOutput), stream));
  CHECK(cudaStreamSynchronize(stream));
  with_type(type, [&](auto *t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const T *a = (const T *)input(0, 0), *b = (const T *)input(1, 0);
    double *out = (double *)reference;
    if (shape == "sums") {
      int64_t threads = cell.axis == 2 ? (cell.n + 63) / 64 : (cell.rows + 63) / 64 * cell.cols;
      using Acc = std::conditional_t<is_real<T>::value, double, unsigned long long>;
      matrix_sums<<<(unsigned)((threads + 255) / 256), 256>>>(a, cell.op == "mv" ? b : nullptr, cell.rows, cell.cols,
                                                              cell.axis, (Acc *)reference);
    } else if (shape == "counts") {
      bins_of<<<4096, 256>>>(a, cell.n, (const double *)edges_room, cell.bins, out);
    } else if (shape == "scan" && gr_is_float(type)) {
      running_sums<T, double>(a, cell.n, room, reference);
    } else if (shape == "scan") {
      running_sums<T, int64_t>(a, cell.n, room, reference);
    } else {
      norm_rows<<<(unsigned)cell.rows, 256>>>(a, cell.cols, 1e-6, out);
    }
  });
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* How far a contender's result is from the reference: 0 for exact, else relative to the size of what was added up. */
double error_of(Contender &c) {
  CHECK(cudaMemsetAsync(output, 0xa5, (size_t)std::min<int64_t>(results * 8 + 512, kOutput), stream));
  c.call(0);
  CHECK(cudaStreamSynchronize(stream));
  if (shape == "scalar") {
    if (!known) make_truth();
    known = true;
    char host[512];
    double worst = 0;
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < c.numbers.size(); k++) {
      const char *p = host + c.numbers[k].at;
      double e;
      if (truth.whole.size()) {
        int64_t based = c.name == "gpureduce" && cell.op.substr(0, 3) == "arg";
        e = (double)(integer_at(p, c.numbers[k].dtype) - based != truth.whole[k]);
      } else {
        double x = number_at(p, c.numbers[k].dtype), r = truth.real[k];
        if (cell.op == "mse" && c.name != "gpureduce") x /= (double)cell.n; /* CUB's is the sum */
        e = x == r ? 0 : fabs(x - r) / (fabs(r) + truth.scale);
      }
      if (!(e <= worst)) worst = e == e ? e : INFINITY;
    }
    return worst;
  }
  if (!known) make_reference();
  known = true;
  unsigned long long *worst = (unsigned long long *)room, bits;
  double scale = shape == "sums"   ? sqrt((double)(cell.axis == 2 ? cell.cols : cell.rows))
                 : shape == "scan" ? sqrt((double)cell.n)
                 : shape == "norm" ? 1
                                   : 1e-300;
  CHECK(cudaMemset(worst, 0, 8));
  with_type(c.array, [&](auto *t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if ((shape == "scan" || shape == "sums") && !gr_is_float(type))
      differences<<<2048, 256>>>((const T *)output, (const int64_t *)reference, results, scale, worst);
    else differences<<<2048, 256>>>((const T *)output, (const double *)reference, results, scale, worst);
  });
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&bits, worst, 8, cudaMemcpyDeviceToHost));
  double e;
  memcpy(&e, &bits, 8);
  return e;
}

/* ---- timing ---- */

double stream_us(Contender &c, int calls, int64_t &turn) {
  float ms;
  c.call(turn++);
  if (!resident) flush();
  else CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventRecord(before, stream));
  for (int k = 0; k < calls; k++) c.call(turn++);
  CHECK(cudaEventRecord(after, stream));
  CHECK(cudaEventSynchronize(after));
  CHECK(cudaEventElapsedTime(&ms, before, after));
  return ms * 1e3 / calls;
}

double graph_us(Contender &c, int calls, int64_t &turn) {
  float ms;
  if (!c.graphs.count(calls)) {
    cudaGraph_t g = nullptr;
    write_anything();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      for (int k = 0; k < calls; k++) c.call(turn++);
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &g);
      (void)cudaGetLastError();
      throw;
    }
    CHECK(cudaStreamEndCapture(stream, &g));
    CHECK(cudaGraphInstantiate(&c.graphs[calls], g, 0));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphLaunch(c.graphs[calls], stream));
  }
  if (!resident) flush();
  else CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventRecord(before, stream));
  CHECK(cudaGraphLaunch(c.graphs[calls], stream));
  CHECK(cudaEventRecord(after, stream));
  CHECK(cudaEventSynchronize(after));
  CHECK(cudaEventElapsedTime(&ms, before, after));
  return ms * 1e3 / calls;
}

double now_us() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() * 1e6;
}

void number_to_host(Contender &c, int64_t turn) {
  if (c.to_host) return c.to_host(turn);
  c.call(turn);
  CHECK(cudaMemcpyAsync(pinned, output, (size_t)result_bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
}

double host_us(Contender &c, int calls, int64_t &turn) {
  if (!resident) flush();
  number_to_host(c, turn++);
  double start = now_us();
  for (int k = 0; k < calls; k++) number_to_host(c, turn++);
  return (now_us() - start) / calls;
}

__global__ void empty_kernel(volatile int64_t *slot, int64_t ticket) {
  slot[0] = 1;
  __threadfence_system();
  slot[4] = ticket;
}

double empty_us(int calls) {
  static int64_t ticket;
  volatile int64_t *done = mapped + 4;
  double start = now_us();
  for (int k = 0; k < calls; k++) {
    empty_kernel<<<1, 1, 0, stream>>>(mapped, ++ticket);
    while (*done != ticket) {
    }
  }
  return (now_us() - start) / calls;
}

/* ---- the Lua side ---- */

std::string failure;
template <class F>
int guarded(lua_State *L, F f) {
  try {
    return f();
  } catch (const std::exception &e) {
    failure = e.what();
  }
  (void)cudaGetLastError();
  return luaL_error(L, "%s", failure.c_str());
}

char *on_device(int64_t bytes) {
  void *p;
  CHECK(cudaMalloc(&p, (size_t)bytes));
  return (char *)p;
}

void close_cell() {
  for (auto &c : contenders)
    for (auto &g : c.graphs) cudaGraphExecDestroy(g.second);
  contenders.clear();
}

void text(lua_State *L, const char *key, const std::string &value) {
  lua_pushlstring(L, value.data(), value.size());
  lua_setfield(L, -2, key);
}
void number(lua_State *L, const char *key, double value) {
  if (value == floor(value) && fabs(value) < 1e15) lua_pushinteger(L, (lua_Integer)value);
  else lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

/* versus.open() -> what there is. */
int l_open(lua_State *L) {
  return guarded(L, [&] {
    int driver = 0;
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    chip = {0,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            (int)properties.sharedMemPerBlockOptin,
            properties.l2CacheSize};
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    pool = on_device(2 * kInput);
    output = on_device(kOutput);
    reference = on_device(kOutput);
    room = on_device((int64_t)64 << 20);
    flushed = on_device(kFlush);
    work = on_device(kScratch);
    chain = on_device(kScratch);
    temporary = on_device(kTemporary);
    edges_room = on_device((int64_t)64 << 20);
    CHECK(cudaMemset(flushed, 0, kFlush));
    CHECK(cudaMemset(work, 0, kScratch));
    CHECK(cudaMemset(chain, 0, kScratch));
    CHECK(cudaMallocHost(&pinned, (size_t)64 << 20));
    CHECK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
    CHECK(cudaDeviceSynchronize());
    open_blas();
    lua_newtable(L);
    text(L, "device", properties.name);
    number(L, "driver", driver);
    number(L, "toolkit", CUDART_VERSION);
    number(L, "cub", cub_toolkit_version());
#ifdef WITH_NEWEST
    number(L, "newest", cub_newest_version());
#endif
    number(L, "cublas", blas.version);
    number(L, "sms", chip.sms);
    number(L, "l2", chip.l2_bytes);
    return 1;
  });
}

std::string field(lua_State *L, const char *key, const char *otherwise) {
  lua_getfield(L, 1, key);
  std::string s = lua_isnil(L, -1) ? otherwise : lua_tostring(L, -1);
  lua_pop(L, 1);
  return s;
}
int64_t count(lua_State *L, const char *key) {
  lua_getfield(L, 1, key);
  int64_t n = lua_isnil(L, -1) ? 0 : (int64_t)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}

int64_t result_count() {
  if (cell.op == "histogram") return cell.bins;
  if (cell.op == "scan" || cell.op == "rmsnorm") return cell.n;
  if (cell.rows) return cell.axis == 2 ? cell.rows : cell.cols;
  return 1;
}

void open_cell(lua_State *L) {
  cell = Cell();
  cell.op = field(L, "op", "sum");
  cell.data = field(L, "data", "normal");
  std::string dtype = field(L, "dtype", "f32");
  int t = 0;
  while (t < GR_DTYPE_COUNT && dtype != dtypes[t]) t++;
  if (t == GR_DTYPE_COUNT) throw std::runtime_error("unknown dtype " + dtype);
  cell.dtype = dtype;
  type = (gr_dtype)t;
  cell.n = count(L, "n");
  cell.rows = count(L, "rows");
  cell.cols = cell.rows ? cell.n / cell.rows : 0;
  cell.axis = (int)count(L, "axis");
  cell.bins = count(L, "bins");
  irregular = count(L, "irregular") != 0;
  resident = count(L, "resident") != 0;
  offset = count(L, "offset");
  cell.high = gr_is_float(type) ? 1.0 : (double)cell.bins;
  if (type == GR_U8 && cell.bins) cell.high = 256; /* 2 and 32 bins: of all the bytes */
  pitch = ((cell.n + offset) * sizes[t] + 255) / 256 * 256;
  slots = std::max<int64_t>(1, std::min<int64_t>(256, kRotate / pitch));
  if (slots * pitch > kInput) throw std::runtime_error("too large");
  shape = cell.op == "histogram" ? "counts"
          : cell.op == "scan"    ? "scan"
          : cell.op == "rmsnorm" ? "norm"
          : cell.rows            ? "sums"
                                 : "scalar";
  results = result_count();
  if (results * 8 > kOutput) throw std::runtime_error("too many results");
  result_bytes = shape == "scalar" ? 16 : std::min<int64_t>(results * 4, (int64_t)64 << 20);
  known = false;
}

/*
** versus.cell{op, dtype, n, rows, axis, bins, data, offset, irregular, resident, beside} -> names of those who can,
** notes.
** beside: the project's reduction of that name on the same inputs, aligned, takes part under the name "beside".
*/
int l_cell(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return guarded(L, [&] {
    close_cell();
    open_cell(L);
    if (cell.bins) make_edges();
    Cell filling = cell;
    if (type == GR_U8 && cell.bins && cell.data == "uniform") filling.bins = 256;
    fill_pool(filling, slots * pitch + 256, pitch / sizes[type]);
    contenders.push_back(ours());
    for (const Part &p : parts) {
      if (cell.dtype != p.dtype) continue;
      add_cub("cub", p.toolkit(cell));
      if (p.newest) add_cub("cub-newest", p.newest(cell));
    }
    add_blas();
    std::string beside = field(L, "beside", "");
    if (beside != "") contenders.push_back(reduced("beside", beside, 0));
    lua_newtable(L);
    lua_newtable(L);
    for (size_t k = 0; k < contenders.size(); k++) {
      lua_pushstring(L, contenders[k].name.c_str());
      lua_rawseti(L, -3, (int)k + 1);
      text(L, contenders[k].name.c_str(), contenders[k].note);
    }
    return 2;
  });
}

Contender &named(lua_State *L, int arg) {
  std::string name = luaL_checkstring(L, arg);
  for (auto &c : contenders)
    if (c.name == name) return c;
  throw std::runtime_error("no contender " + name);
}

/* versus.error_of(name) -> how far from the reference. */
int l_error_of(lua_State *L) {
  return guarded(L, [&] {
    lua_pushnumber(L, error_of(named(L, 1)));
    return 1;
  });
}

/* versus.value(name) -> its numbers for the first input; of an array of results one weighted sum. */
int l_value(lua_State *L) {
  return guarded(L, [&] {
    Contender &c = named(L, 1);
    char host[512];
    c.call(0);
    CHECK(cudaStreamSynchronize(stream));
    if (shape != "scalar") {
      double sum;
      CHECK(cudaMemset(room, 0, 8));
      with_type(c.array, [&](auto *t) {
        weighted_sum<<<1024, 256>>>((const std::remove_pointer_t<decltype(t)> *)output, results, (double *)room);
      });
      CHECK(cudaMemcpy(&sum, room, 8, cudaMemcpyDeviceToHost));
      lua_pushnumber(L, sum);
      return 1;
    }
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    for (auto &x : c.numbers)
      if (gr_is_float(x.dtype)) lua_pushnumber(L, number_at(host + x.at, x.dtype));
      else lua_pushinteger(L, (lua_Integer)integer_at(host + x.at, x.dtype));
    return (int)c.numbers.size();
  });
}

/* versus.time(view, name, calls) -> microseconds a call. */
int l_time(lua_State *L) {
  return guarded(L, [&] {
    static int64_t turn;
    std::string view = luaL_checkstring(L, 1);
    Contender &c = named(L, 2);
    int calls = (int)luaL_checkinteger(L, 3);
    lua_pushnumber(L, view == "graph"  ? graph_us(c, calls, turn)
                      : view == "host" ? host_us(c, calls, turn)
                                       : stream_us(c, calls, turn));
    return 1;
  });
}

int l_flush(lua_State *L) {
  return guarded(L, [&] {
    flush();
    return 0;
  });
}

/* versus.layout() -> where the inputs lie, for another process (bytes from the start of the pool). */
int l_layout(lua_State *L) {
  return guarded(L, [&] {
    cudaIpcMemHandle_t handle;
    std::string hex;
    lua_newtable(L);
    if (cudaIpcGetMemHandle(&handle, pool) == cudaSuccess) {
      for (unsigned char byte : handle.reserved) {
        char two[3];
        snprintf(two, sizeof two, "%02x", byte);
        hex += two;
      }
      text(L, "ipc", hex);
    } else {
      (void)cudaGetLastError();
    }
    number(L, "offset", (double)offset);
    number(L, "second", (double)kInput);
    number(L, "pitch", (double)pitch);
    number(L, "slots", (double)(resident ? 1 : slots));
    number(L, "low", cell.low);
    number(L, "high", cell.high);
    return 1;
  });
}

/* versus.bytes(input 1 or 2, length) -> that many bytes of it from its start. */
int l_bytes(lua_State *L) {
  return guarded(L, [&] {
    luaL_Buffer b;
    int64_t which = luaL_checkinteger(L, 1) - 1, bytes = luaL_checkinteger(L, 2);
    char *p = luaL_buffinitsize(L, &b, (size_t)bytes);
    CHECK(cudaMemcpy(p, pool + which * kInput, (size_t)bytes, cudaMemcpyDeviceToHost));
    luaL_pushresultsize(&b, (size_t)bytes);
    return 1;
  });
}

/* versus.edges() -> the edges of this cell, a table. */
int l_edges(lua_State *L) {
  lua_createtable(L, (int)edges.size(), 0);
  for (size_t k = 0; k < edges.size(); k++) {
    lua_pushnumber(L, edges[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  return 1;
}

/* versus.empty(calls) -> microseconds from a launch to its mapped result, of a kernel that does nothing else. */
int l_empty(lua_State *L) {
  lua_pushnumber(L, empty_us((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* versus.ceilings() -> GB/s of the fastest read of 4 GiB, and of a copy of 2 GiB (read and written). */
int l_ceilings(lua_State *L) {
  return guarded(L, [&] {
    double read = 0, copy = 0;
    float ms;
    filled.key = "";
    for (int round = 0; round < 6; round++)
      for (int blocks : {2, 4, 8, 16})
        for (int threads : {256, 512}) {
          int64_t bytes = (int64_t)4 << 30;
          CHECK(cudaEventRecord(before, stream));
          read_all<<<chip.sms * blocks, threads, 0, stream>>>((const float4 *)(pool + (round & 1) * bytes), bytes / 16,
                                                              (float *)room);
          CHECK(cudaEventRecord(after, stream));
          CHECK(cudaEventSynchronize(after));
          CHECK(cudaEventElapsedTime(&ms, before, after));
          if (round) read = std::max(read, (double)bytes / ms / 1e6);
        }
    for (int round = 0; round < 6; round++) {
      int64_t bytes = (int64_t)2 << 30;
      CHECK(cudaEventRecord(before, stream));
      CHECK(cudaMemcpyAsync(output, pool + (round & 1) * bytes, (size_t)bytes, cudaMemcpyDeviceToDevice, stream));
      CHECK(cudaEventRecord(after, stream));
      CHECK(cudaEventSynchronize(after));
      CHECK(cudaEventElapsedTime(&ms, before, after));
      if (round) copy = std::max(copy, 2.0 * (double)bytes / ms / 1e6);
    }
    lua_pushnumber(L, read);
    lua_pushnumber(L, copy);
    return 2;
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int luaopen_versus(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", l_open},     {"cell", l_cell},         {"error_of", l_error_of},
                                       {"value", l_value},   {"time", l_time},         {"flush", l_flush},
                                       {"layout", l_layout}, {"bytes", l_bytes},       {"edges", l_edges},
                                       {"empty", l_empty},   {"ceilings", l_ceilings}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  return 1;
}
