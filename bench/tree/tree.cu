/*
** The spike behind the fixed tree: one f32 sum kernel in the tree's order, timed beside a sum that keeps no
** order and beside CUB. Results are checked against a scalar model first. Stands alone:
**   nvcc -O3 -std=c++17 -fmad=false -arch=native -I. bench/tree/tree.cu -o tree && ./tree
** "sweep" as argument also times every block size and pass count, which kernels/cuda/reduce/tuning.h began with.
*/
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <cub/device/device_reduce.cuh>
#include "bench/check_call.cuh"
#include "kernels/numerics/numerics.h"

constexpr int kLeaf = GR_LEAF(4), kRows = GR_LEAF_ROWS(4), kMaxValues = 256;

struct Job {
  const char *data;
  int64_t stride, n;
  int passes; /* leaves that one warp takes in turn */
  int64_t nodes;
  double *node, *out;
  unsigned *counter;
  volatile uint64_t *done;
  uint64_t ticket;
};

/* ---- the tree ---- */

__device__ __forceinline__ float part(uint4 w, int c) {
  return __uint_as_float(c == 0 ? w.x : c == 1 ? w.y : c == 2 ? w.z : w.w);
}

/* The 16 bytes at p, of which `bytes` are wanted: one aligned load, or two and a shift. */
__device__ __forceinline__ uint4 load_any(const char *p, int bytes) {
  int shift = (int)((uintptr_t)p & 15);
  const uint4 *q = (const uint4 *)(p - shift);
  uint4 a = __ldg(q), b = a;
  if (shift + bytes > 16) b = __ldg(q + 1);
  if (shift & 8) {
    a.x = a.z;
    a.y = a.w;
    a.z = b.x;
    a.w = b.y;
    b.x = b.z;
    b.y = b.w;
  }
  if (shift & 4) {
    a.x = a.y;
    a.y = a.z;
    a.z = a.w;
    a.w = b.x;
    b.x = b.y;
  }
  int bits = (shift & 3) * 8;
  return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                    __funnelshift_r(a.w, b.x, bits));
}

/* Four lanes a thread fold by halves; each exchange leaves a thread with half as many values. */
__device__ __forceinline__ double fold_lanes(const double (&v)[4], int lane) {
  bool upper = lane & 16, odd = lane & 8;
  double k0 = upper ? v[2] : v[0], k1 = upper ? v[3] : v[1], s0 = upper ? v[0] : v[2], s1 = upper ? v[1] : v[3];
  k0 += __shfl_xor_sync(~0u, s0, 16);
  k1 += __shfl_xor_sync(~0u, s1, 16);
  double keep = odd ? k1 : k0, send = odd ? k0 : k1;
  keep += __shfl_xor_sync(~0u, send, 8);
  for (int h = 4; h >= 1; h /= 2) keep += __shfl_xor_sync(~0u, keep, h);
  keep += __shfl_xor_sync(~0u, keep, 16);
  keep += __shfl_xor_sync(~0u, keep, 8);
  return keep;
}

template <bool kUnaligned>
__device__ __forceinline__ void whole_leaf(double (&v)[4], const char *p) {
  uint4 w[kRows];
#pragma unroll
  for (int r = 0; r < kRows; r++) w[r] = kUnaligned ? load_any(p + r * 512, 16) : __ldg((const uint4 *)(p + r * 512));
#pragma unroll
  for (int r = 0; r < kRows; r++)
#pragma unroll
    for (int c = 0; c < 4; c++) v[c] += (double)part(w[r], c);
}

__device__ double leaf_sum(const Job &job, int64_t leaf, int lane) {
  double v[4] = {-0.0, -0.0, -0.0, -0.0};
  int64_t first = leaf * kLeaf, left = job.n - first;
  if (job.stride == 4 && left >= kLeaf) {
    const char *p = job.data + first * 4 + lane * 16;
    if ((uintptr_t)job.data & 15) whole_leaf<true>(v, p);
    else whole_leaf<false>(v, p);
  } else {
#pragma unroll 4
    for (int r = 0; r < kRows; r++)
#pragma unroll
      for (int c = 0; c < 4; c++) {
        int k = r * 128 + lane * 4 + c;
        if (k < left) v[c] += (double)__ldg((const float *)(job.data + (first + k) * job.stride));
      }
  }
  return fold_lanes(v, lane);
}

/* count <= 256 values fold by adjacency in one warp; every lane gets the result. */
__device__ double fold_values(const double *values, int count, int lane) {
  double v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = lane * 8 + i < count ? __ldcg(values + lane * 8 + i) : -0.0;
  double s = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  for (int h = 1; h < 32; h *= 2) s += __shfl_xor_sync(~0u, s, h);
  return s;
}
__device__ double fold_shared(const double *values, int count, int lane) {
  double v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = lane * 8 + i < count ? values[lane * 8 + i] : -0.0;
  double s = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  for (int h = 1; h < 32; h *= 2) s += __shfl_xor_sync(~0u, s, h);
  return s;
}

__device__ void publish(const Job &job, double sum) {
  *job.out = gr_canonical(sum);
  if (job.done) {
    __threadfence_system();
    *job.done = job.ticket;
  }
}

__global__ void __launch_bounds__(512, 2) tree_sum(Job job) {
  __shared__ double values[kMaxValues];
  __shared__ bool last;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  int64_t leaves = (job.n + kLeaf - 1) / kLeaf;
  for (int64_t node = blockIdx.x; node < job.nodes; node += gridDim.x) {
    double mine = -0.0;
    for (int i = 0; i < job.passes; i++) {
      int64_t leaf = (node * job.passes + i) * warps + warp;
      if (leaf >= leaves) break;
      double s = leaf_sum(job, leaf, lane);
      if (lane == i) mine = s;
    }
    if (lane < job.passes) values[lane * warps + warp] = mine;
    __syncthreads();
    if (warp == 0) {
      double s = fold_shared(values, job.passes * warps, lane);
      if (job.nodes == 1) {
        if (lane == 0) publish(job, s);
      } else if (lane == 0) {
        __stcg(job.node + node, s);
      }
    }
    if (node + gridDim.x < job.nodes) __syncthreads();
  }
  if (job.nodes == 1) return;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(job.counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int64_t units = (job.nodes + 255) / 256;
  for (int64_t u = warp; u < units; u += warps) {
    double s = fold_values(job.node + u * 256, (int)min((int64_t)256, job.nodes - u * 256), lane);
    if (lane == 0) values[u] = s;
  }
  __syncthreads();
  if (warp == 0) {
    double s = fold_shared(values, (int)units, lane);
    if (lane == 0) publish(job, s);
  }
}

/* ---- a sum without an order, as fast as we know how: the yardstick ---- */

template <int U>
__global__ void __launch_bounds__(512) free_sum(Job job) {
  __shared__ double values[16];
  __shared__ bool last;
  const uint4 *p = (const uint4 *)job.data;
  int64_t words = job.n / 4, step = (int64_t)gridDim.x * blockDim.x * U;
  double v[4] = {0, 0, 0, 0};
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x * U + threadIdx.x; i < words; i += step) {
    uint4 w[U];
#pragma unroll
    for (int u = 0; u < U; u++)
      w[u] = i + u * blockDim.x < words ? __ldg(p + i + u * blockDim.x) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int c = 0; c < 4; c++) v[c] += (double)part(w[u], c);
  }
  double s = (v[0] + v[1]) + (v[2] + v[3]);
  for (int h = 16; h; h /= 2) s += __shfl_xor_sync(~0u, s, h);
  if ((threadIdx.x & 31) == 0) values[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; i++) s += values[i];
    __stcg(job.node + blockIdx.x, s);
    __threadfence();
    last = atomicInc(job.counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  s = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) s += __ldcg(job.node + i);
  for (int h = 16; h; h /= 2) s += __shfl_xor_sync(~0u, s, h);
  if ((threadIdx.x & 31) == 0) values[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; i++) s += values[i];
    publish(job, s);
  }
}

__global__ void empty_kernel(Job job) {
  if (threadIdx.x == 0) publish(job, 1.0);
}

/* ---- the scalar model ---- */

static double model(const float *x, int64_t n, int64_t stride) {
  std::vector<double> nodes;
  for (int64_t first = 0; first < n; first += kLeaf) {
    double lane[128];
    for (double &v : lane) v = -0.0;
    for (int64_t k = 0; k < std::min<int64_t>(kLeaf, n - first); k++) lane[k % 128] += x[(first + k) * stride];
    for (int h = 64; h; h /= 2)
      for (int l = 0; l < h; l++) lane[l] += lane[l + h];
    nodes.push_back(lane[0]);
  }
  while (nodes.size() > 1) {
    std::vector<double> up;
    for (size_t i = 0; i < nodes.size(); i += 2)
      up.push_back(i + 1 < nodes.size() ? nodes[i] + nodes[i + 1] : nodes[i]);
    nodes.swap(up);
  }
  return nodes.empty() ? 0.0 : nodes[0];
}

/* ---- timing ---- */

static cudaStream_t stream;
static float *pool;
static const int64_t kPool = (int64_t)1 << 30; /* floats */
static Job base;
static int sms;

struct Shape {
  int warps, passes, grid;
};

/* As plans of leaves do: few leaves a warp until every multiprocessor is busy, then more. */
static Shape pick(int64_t n) {
  int64_t leaves = (n + kLeaf - 1) / kLeaf;
  if (leaves <= 1) return {1, 1, 0};
  if (leaves <= 16) {
    int w = 2;
    while (w < leaves) w *= 2;
    return {w, 1, 0};
  }
  int passes = 1;
  while (passes < 4 && leaves > (int64_t)sms * 32 * 2 * passes) passes *= 2;
  while (leaves > (int64_t)32768 * 8 * passes) passes *= 2;
  return {8, passes, 0};
}

static Job job_of(const float *x, int64_t n, int64_t stride, Shape s) {
  Job j = base;
  j.data = (const char *)x;
  j.n = n;
  j.stride = stride * 4;
  j.passes = s.passes;
  int64_t leaves = (n + kLeaf - 1) / kLeaf, per = (int64_t)s.warps * s.passes;
  j.nodes = std::max<int64_t>(1, (leaves + per - 1) / per);
  return j;
}
static void launch_tree(const float *x, int64_t n, int64_t stride, Shape s, Job *like = nullptr) {
  Job j = job_of(x, n, stride, s);
  if (like) {
    j.out = like->out;
    j.done = like->done;
    j.ticket = like->ticket;
  }
  int64_t grid = s.grid ? std::min<int64_t>(j.nodes, s.grid) : j.nodes;
  tree_sum<<<(unsigned)grid, s.warps * 32, 0, stream>>>(j);
}
template <int U>
static void launch_free(const float *x, int64_t n, int threads, int per_sm) {
  Job j = job_of(x, n, 1, {1, 1, 0});
  int64_t tiles = (n / 4 + (int64_t)threads * U - 1) / (threads * U);
  free_sum<U>
      <<<(unsigned)std::max<int64_t>(1, std::min<int64_t>(tiles, (int64_t)sms * per_sm)), threads, 0, stream>>>(j);
}

struct Entry {
  std::string name;
  std::function<void(const float *)> run;
  std::vector<double> stream_us, graph_us;
  cudaGraphExec_t graph;
};

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

/* Alternates the entries; each batch walks through the pool so that no input is still in L2. */
static void compare(std::vector<Entry> &entries, int64_t span, int rounds) {
  int64_t slots = std::max<int64_t>(1, std::min<int64_t>(kPool / span, 4096));
  int batch = (int)std::max<int64_t>(2, std::min<int64_t>(64, ((int64_t)1 << 29) / span));
  int64_t cursor = 0;
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  auto next = [&] {
    int64_t s = cursor++ % slots;
    return pool + s * (kPool / slots / 64 * 64);
  };
  for (auto &e : entries) {
    cudaGraph_t g;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < batch; i++) e.run(next());
    CHECK(cudaStreamEndCapture(stream, &g));
    CHECK(cudaGraphInstantiate(&e.graph, g, 0));
    CHECK(cudaGraphDestroy(g));
  }
  for (int r = -1; r < rounds; r++)
    for (auto &e : entries)
      for (int graph = 0; graph < 2; graph++) {
        float ms;
        CHECK(cudaEventRecord(a, stream));
        if (graph) CHECK(cudaGraphLaunch(e.graph, stream));
        else
          for (int i = 0; i < batch; i++) e.run(next());
        CHECK(cudaEventRecord(b, stream));
        CHECK(cudaEventSynchronize(b));
        CHECK(cudaEventElapsedTime(&ms, a, b));
        if (r >= 0) (graph ? e.graph_us : e.stream_us).push_back(ms * 1e3 / batch);
      }
  for (auto &e : entries) CHECK(cudaGraphExecDestroy(e.graph));
}

__global__ void fill(float *x, int64_t n) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 32;
    x[i] = ((float)(h & 0xffffff) - 8388608.0f) / 1048576.0f;
  }
}

static int verify() {
  const int64_t m = 1 << 23;
  std::vector<float> x(m);
  CHECK(cudaMemcpy(x.data(), pool, m * 4, cudaMemcpyDeviceToHost));
  int bad = 0, tried = 0;
  std::vector<int64_t> sizes = {1,    2,     3,     4,     5,      31,     32,      33,      127,
                                128,  129,   1000,  1023,  1024,   1025,   2047,    2049,    4096,
                                9999, 16384, 16385, 65536, 100001, 262145, 1000007, 2000000, 4194304 - 32};
  for (int64_t n : sizes)
    for (int64_t stride = 1; stride <= 2; stride++)
      for (int offset = 0; offset < 6; offset++)
        for (int variant = 0; variant < 4; variant++) {
          Shape s = variant == 0   ? pick(n)
                    : variant == 1 ? Shape{8, 2, 0}
                    : variant == 2 ? Shape{16, 4, 7}
                                   : Shape{4, 8, 33};
          double got, want = model(x.data() + offset, n, stride);
          launch_tree(pool + offset, n, stride, s);
          CHECK(cudaMemcpyAsync(&got, base.out, 8, cudaMemcpyDefault, stream));
          CHECK(cudaStreamSynchronize(stream));
          tried++;
          if (memcmp(&got, &want, 8) && bad++ < 10)
            printf("BITS n %lld stride %lld offset %d variant %d: %.17g, model %.17g\n", (long long)n,
                   (long long)stride, offset, variant, got, want);
        }
  printf("bits: %d of %d wrong\n", bad, tried);
  return bad;
}

/* Launch, then spin on a ticket in mapped memory: what a script waits for one number. */
static void latency() {
  char *host;
  CHECK(cudaHostAlloc(&host, 4096, cudaHostAllocMapped));
  volatile uint64_t *done = (volatile uint64_t *)(host + 128);
  uint64_t ticket = 1;
  printf("\nlatency, launch to number on the host, us (median of 3000, alternating)\n");
  for (int lg = 4; lg <= 20; lg += 2) {
    std::vector<double> t[2];
    for (int i = 0; i < 6000; i++) {
      Job like = base;
      like.out = (double *)host;
      like.done = done;
      like.ticket = ++ticket;
      auto t0 = std::chrono::steady_clock::now();
      if (i & 1) launch_tree(pool + (i % 512) * 65536, (int64_t)1 << lg, 1, pick((int64_t)1 << lg), &like);
      else empty_kernel<<<1, 32, 0, stream>>>(like);
      while (*done != ticket) {
      }
      t[i & 1].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() * 1e6);
    }
    printf("2^%-2d tree %6.2f  empty %6.2f  ratio %.3f\n", lg, median(t[1]), median(t[0]), median(t[1]) / median(t[0]));
  }
}

int main(int argc, char **argv) {
  bool sweep = argc > 1 && !strcmp(argv[1], "sweep");
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  sms = prop.multiProcessorCount;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&pool, (kPool + 64) * 4));
  CHECK(cudaMalloc(&base.node, 65536 * 8));
  CHECK(cudaMalloc(&base.out, 256));
  CHECK(cudaMalloc(&base.counter, 256));
  CHECK(cudaMemset(base.counter, 0, 256));
  fill<<<sms * 8, 256, 0, stream>>>(pool, kPool + 64);
  CHECK(cudaStreamSynchronize(stream));
  printf("%s, %d multiprocessors\n", prop.name, sms);
  if (verify()) return 1;
  void *temp = nullptr;
  size_t temp_bytes = 0;
  float *cub_out = (float *)base.out;
  CHECK(cub::DeviceReduce::Sum(temp, temp_bytes, pool, cub_out, (int64_t)1 << 30, stream));
  CHECK(cudaMalloc(&temp, temp_bytes));

  printf("\n%-6s%-24s%10s%10s%10s\n", "n", "kernel", "stream us", "graph us", "GB/s");
  for (int lg = 4; lg <= 30; lg += lg < 20 ? 2 : 1) {
    int64_t n = (int64_t)1 << lg, span = std::max<int64_t>(n, 1024) + 64;
    if (lg == 30) span = n;
    std::vector<Entry> e;
    auto add = [&](std::string name, std::function<void(const float *)> run) {
      e.push_back({name, run, {}, {}, nullptr});
    };
    auto shaped = [&](Shape s) { return [=](const float *x) { launch_tree(x, n, 1, s); }; };
    add("tree", shaped(pick(n)));
    add("free U4 512x4", [=](const float *x) { launch_free<4>(x, n, 512, 4); });
    add("free U8 256x4", [=](const float *x) { launch_free<8>(x, n, 256, 4); });
    add("free U8 512x2", [=](const float *x) { launch_free<8>(x, n, 512, 2); });
    add("cub", [=](const float *x) {
      size_t b = temp_bytes;
      cub::DeviceReduce::Sum(temp, b, x, cub_out, n, stream);
    });
    if (lg >= 10 && lg < 30) {
      add("tree unaligned", [=](const float *x) { launch_tree(x + 1, n, 1, pick(n)); });
      add("tree stride 2", [=](const float *x) { launch_tree(x, n / 2, 2, pick(n / 2)); });
    }
    if (sweep && lg >= 13)
      for (int warps : {4, 8, 16})
        for (int passes = 1; passes <= 16 && passes * warps <= 256; passes *= 2) {
          int64_t nodes = n / ((int64_t)kLeaf * warps * passes);
          if (nodes > 65536 || nodes < 1) continue;
          add("w" + std::to_string(warps) + " p" + std::to_string(passes), shaped({warps, passes, 0}));
          if (passes <= 4 && warps == 8 && lg >= 22)
            add("w8 p" + std::to_string(passes) + " resident", shaped({warps, passes, sms * 4}));
        }
    compare(e, span, sweep ? 7 : 11);
    for (auto &x : e)
      printf("2^%-4d%-24s%10.2f%10.2f%10.0f\n", lg, x.name.c_str(), median(x.stream_us), median(x.graph_us),
             4.0 * n / median(x.graph_us) / 1e3);
    fflush(stdout);
  }
  latency();
  return 0;
}
