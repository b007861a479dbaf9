/*
** Speed of the CUDA reductions by themselves: sum of f32 by size (beside CUB), every operation x dtype at one
** size, views, rows and columns, and the time to a number on the host. Link with kernels/cuda/reduce/*.o.
**   speed [sum] [ops] [rows] [latency]      (default: all)
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
#include "bench/tree/names.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/grid/mailbox.h"
#include "kernels/numerics/numerics.h"

#define GR_X(id, inputs, f, i) inputs,
static const int inputs_of[] = {GR_REDUCERS(GR_X)};
#undef GR_X

static const int64_t kPool = (int64_t)5 << 30;
static char *pool, *out, *scratch;
static cudaStream_t stream;
static gr_cuda_chip chip;
static size_t scratch_bytes = (size_t)256 << 20;

static gr_mailbox_shape mailbox; /* by the last launch */

static void run(const gr_reduce_job &j, uint64_t *done = nullptr, uint64_t ticket = 0) {
  gr_cuda_scratch room = {scratch, scratch_bytes, nullptr, nullptr};
  gr_cuda_run r = {stream, &chip, &room, 1, done, ticket, {}, nullptr, &mailbox};
  CHECK(gr_cuda_reduce(&j, &r));
}

static gr_reduce_job flat(gr_op op, gr_dtype t, int64_t n, const char *a, const char *b) {
  gr_reduce_job j = {};
  j.op = op;
  j.dtype = t;
  j.n = n;
  j.count = 1;
  j.a = {a, sizes[t], 0};
  j.b = {b, sizes[t], 0};
  j.scale_a = j.scale_b = 1;
  j.out_dtype = gr_is_float(t) ? GR_F64 : GR_I64;
  j.out = out;
  j.out2 = out + 64;
  return j;
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Entry {
  std::string name;
  double bytes;
  std::function<void(int64_t)> call; /* with a number that picks the input */
  std::vector<double> us[2];
  cudaGraphExec_t graph;
};

/* Alternates the entries, in the stream and as graph replays; prints medians. */
static void compare(std::vector<Entry> &entries, int rounds) {
  cudaEvent_t a, b;
  int64_t turn = 0;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  double most = 0;
  for (auto &e : entries) most = std::max(most, e.bytes);
  int batch = (int)std::max(2.0, std::min(64.0, 2e9 / most));
  for (auto &e : entries) {
    cudaGraph_t g;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < batch; i++) e.call(turn++);
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
          for (int i = 0; i < batch; i++) e.call(turn++);
        CHECK(cudaEventRecord(b, stream));
        CHECK(cudaEventSynchronize(b));
        CHECK(cudaEventElapsedTime(&ms, a, b));
        if (r >= 0) e.us[graph].push_back(ms * 1e3 / batch);
      }
  for (auto &e : entries) {
    CHECK(cudaGraphExecDestroy(e.graph));
    printf("%-34s%10.2f%10.2f%9.0f\n", e.name.c_str(), median(e.us[0]), median(e.us[1]),
           e.bytes / median(e.us[1]) / 1e3);
  }
  fflush(stdout);
}

static void title(const char *what) { printf("\n%-34s%10s%10s%9s\n", what, "stream us", "graph us", "GB/s"); }

/* Input number i of `bytes`, rotating over the pool so that nothing is in L2 by chance. */
static const char *input(int64_t i, int64_t bytes) {
  int64_t pitch = (bytes + 1023) / 256 * 256, slots = std::max<int64_t>(1, kPool / pitch);
  return pool + i % std::min<int64_t>(slots, 8192) * pitch;
}

static void sums() {
  void *temp = nullptr;
  size_t temp_bytes = 0;
  CHECK(cub::DeviceReduce::Sum(temp, temp_bytes, (float *)pool, (float *)out, (int64_t)1 << 30, stream));
  CHECK(cudaMalloc(&temp, temp_bytes));
  title("sum f32");
  for (int lg = 0; lg <= 30; lg += lg < 8 ? 4 : lg < 20 ? 2 : 1) {
    int64_t n = (int64_t)1 << lg, bytes = n * 4 + 64;
    std::string p = "2^" + std::to_string(lg);
    std::vector<Entry> e;
    e.push_back({p, 4.0 * n, [=](int64_t i) { run(flat(GR_OP_sum, GR_F32, n, input(i, bytes), nullptr)); }});
    e.push_back({p + " CUB", 4.0 * n, [=](int64_t i) {
                   size_t b = temp_bytes;
                   cub::DeviceReduce::Sum(temp, b, (const float *)input(i, bytes), (float *)out, n, stream);
                 }});
    e.push_back(
        {p + " unaligned", 4.0 * n, [=](int64_t i) { run(flat(GR_OP_sum, GR_F32, n, input(i, bytes) + 4, nullptr)); }});
    e.push_back(
        {p + " argmax", 4.0 * n, [=](int64_t i) { run(flat(GR_OP_argmax, GR_F32, n, input(i, bytes), nullptr)); }});
    if (n >= 1024)
      e.push_back({p + " half, stride 2", 4.0 * n, [=](int64_t i) {
                     gr_reduce_job j = flat(GR_OP_sum, GR_F32, n / 2, input(i, bytes), nullptr);
                     j.a.stride = 8;
                     run(j);
                   }});
    compare(e, 9);
  }
}

static void all_ops() {
  const int64_t n = (int64_t)1 << 28;
  for (int op = 0; op < GR_OP_COUNT; op++) {
    std::vector<Entry> e;
    if (op == GR_OP_min || op == GR_OP_max || op == GR_OP_std || op == GR_OP_argmin || op == GR_OP_any ||
        op == GR_OP_all || op == GR_OP_sumsq || op == GR_OP_norminf)
      continue; /* kernels shared with others */
    title(ops[op]);
    for (int t = 0; t < GR_DTYPE_COUNT; t++) {
      gr_reducer red = gr_reducer_of((gr_op)op, (gr_dtype)t);
      if (gr_acc_kind_of(red, (gr_dtype)t) == GR_ACC_NONE) continue;
      int inputs = inputs_of[red];
      e.push_back({std::string(ops[op]) + " " + dtypes[t], (double)n * sizes[t] * inputs, [=](int64_t i) {
                     run(flat((gr_op)op, (gr_dtype)t, n, pool + (i & 1) * 256, pool + n * sizes[t] + (i & 1) * 256));
                   }});
    }
    compare(e, 3);
  }
}

static void shapes(gr_op op, gr_dtype t) {
  const int64_t total = (int64_t)1 << 26;
  title((std::string("rows, columns, ") + ops[op] + " " + dtypes[t]).c_str());
  std::vector<Entry> e;
  for (int lg = 2; lg <= 24; lg += 2)
    for (int columns = 0; columns < 2; columns++) {
      int64_t cols = (int64_t)1 << lg, rows = total >> lg;
      e.push_back({std::to_string(rows) + " x " + std::to_string(cols) + (columns ? " columns" : " rows"),
                   (double)total * sizes[t] * inputs_of[gr_reducer_of(op, t)], [=](int64_t i) {
                     gr_reduce_job j =
                         flat(op, t, columns ? rows : cols, input(i, total * sizes[t]), input(i + 1, total * sizes[t]));
                     j.count = columns ? cols : rows;
                     j.a.stride = j.b.stride = columns ? cols * sizes[t] : sizes[t];
                     j.a.step = j.b.step = columns ? sizes[t] : cols * sizes[t];
                     j.out2 = nullptr;
                     run(j);
                   }});
    }
  const int64_t odd[] = {3, 5, 17, 33, 65, 100, 129, 255, 257, 1000, 1025, 4097};
  for (int64_t cols : odd) {
    int64_t rows = total / cols;
    for (int columns = 0; columns < 2; columns++)
      e.push_back({std::to_string(rows) + " x " + std::to_string(cols) + (columns ? " columns" : " rows"),
                   (double)rows * cols * sizes[t] * inputs_of[gr_reducer_of(op, t)], [=](int64_t i) {
                     gr_reduce_job j =
                         flat(op, t, columns ? rows : cols, input(i, total * sizes[t]), input(i + 1, total * sizes[t]));
                     j.count = columns ? cols : rows;
                     j.a.stride = j.b.stride = columns ? cols * sizes[t] : sizes[t];
                     j.a.step = j.b.step = columns ? sizes[t] : cols * sizes[t];
                     j.out2 = nullptr;
                     run(j);
                   }});
  }
  compare(e, 3);
}

__global__ void empty_kernel(volatile uint64_t *slot, uint64_t ticket) {
  slot[0] = 1;
  __threadfence_system();
  slot[4] = ticket;
}

static void latency() {
  uint64_t *slot, ticket = 1;
  CHECK(cudaHostAlloc(&slot, GR_MAILBOX_WORDS * 8, cudaHostAllocMapped));
  volatile uint64_t *done = slot + 4;
  printf("\nlaunch to number on the host, us (medians of 2000, alternating)\n");
  for (int lg = 0; lg <= 22; lg += 2) {
    std::vector<double> t[3];
    for (int i = 0; i < 6000; i++) {
      int64_t n = (int64_t)1 << lg;
      gr_reduce_job j = flat(i % 3 == 1 ? GR_OP_dot : GR_OP_sum, GR_F32, n, input(i, n * 4), input(i + 1, n * 4));
      ticket++;
      auto t0 = std::chrono::steady_clock::now();
      if (i % 3 == 2) empty_kernel<<<1, 1, 0, stream>>>(slot, ticket);
      else run(j, slot, ticket);
      if (i % 3 == 2)
        while (*done != ticket) {
        }
      else
        while (!gr_mailbox_arrived(slot, 2 * mailbox.states * mailbox.fields, ticket)) {
        }
      t[i % 3].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() * 1e6);
    }
    printf("2^%-2d sum %6.2f  dot %6.2f  empty %6.2f  ratio %.3f\n", lg, median(t[0]), median(t[1]), median(t[2]),
           median(t[0]) / median(t[2]));
  }
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

int main(int argc, char **argv) {
  auto wanted = [&](const char *what) {
    bool hit = argc == 1;
    for (int i = 1; i < argc; i++) hit |= !strcmp(argv[i], what);
    return hit;
  };
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  chip = {0, prop.major, prop.minor, prop.multiProcessorCount, (int)prop.sharedMemPerBlockOptin, prop.l2CacheSize};
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&pool, kPool + 4096));
  CHECK(cudaMalloc(&out, (size_t)1 << 28));
  CHECK(cudaMalloc(&scratch, scratch_bytes));
  CHECK(cudaMemset(scratch, 0, GR_COUNTER_BYTES));
  fill<<<1024, 256, 0, stream>>>((float *)pool, kPool / 4);
  CHECK(cudaStreamSynchronize(stream));
  printf("%s\n", prop.name);
  if (wanted("sum")) sums();
  if (wanted("latency")) latency();
  if (wanted("rows")) {
    shapes(GR_OP_sum, GR_F32);
    if (wanted("more")) {
      shapes(GR_OP_dot, GR_F32);
      shapes(GR_OP_sum, GR_F64);
      shapes(GR_OP_sum, GR_U8);
      shapes(GR_OP_mean, GR_F16);
      shapes(GR_OP_argmax, GR_F32);
      shapes(GR_OP_var, GR_F32);
    }
  }
  if (wanted("ops")) all_ops();
  return 0;
}
