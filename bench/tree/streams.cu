/*
** RMSNorm's ring on several streams at once, among kernels of random length: its blocks wait for each other, so does
** any launch wait for ever? Every stream ends within 10 seconds, or this says so and stops.
**
**   nvcc -O2 -std=c++17 -I. -arch=native bench/tree/streams.cu build/obj/kernels/cuda/{norm/rmsnorm,reduce/*}.ARCH.o \
**     -o build/streams
**   build/streams [streams, default 4] [launches on each, default 200]
*/
#include <atomic>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>
#include "bench/check_call.cuh"
#include "kernels/cuda/launch.h"

static __global__ void spin(long long clocks) {
  for (long long start = clock64(); clock64() - start < clocks;) {}
}
static __global__ void make_data(float *x, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    x[i] = (float)((i * 2654435761u + seed) >> 8 & 0xffff) / 65536.f - 0.5f;
}

static gr_cuda_chip chip;
static std::atomic<int> ended{0};
static const int shapes[][2] = {{1000, 20000}, {420, 66004}, {101, 262144}, {2048, 32768}};

static void work(int id, int launches) {
  const int rows = shapes[id % 4][0], n = shapes[id % 4][1];
  const size_t all = (size_t)rows * n * sizeof(float);
  cudaStream_t stream;
  float *x, *y;
  gr_cuda_scratch scratch = {nullptr, (size_t)64 << 20, nullptr, nullptr};
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&x, all));
  CHECK(cudaMalloc(&y, all));
  make_data<<<1000, 256, 0, stream>>>(x, all / sizeof(float), (unsigned)id);
  gr_rmsnorm_job job = {GR_F32, n, rows, {(char *)x, 4, (int64_t)n * 4}, {}, {(char *)y, 4, (int64_t)n * 4}, 1e-6};
  CHECK(cudaMalloc(&scratch.memory, scratch.bytes));
  CHECK(cudaMemsetAsync(scratch.memory, 0, scratch.bytes, stream));
  const gr_cuda_span anything = {nullptr, (const char *)UINTPTR_MAX};
  gr_cuda_span written = anything;
  unsigned r = (unsigned)id * 7919 + 1;
  for (int k = 0; k < launches; k++) {
    gr_cuda_run run = {};
    run.stream = stream, run.chip = &chip, run.scratch = &scratch, run.epoch = (uint64_t)k + 1;
    run.running = written, run.written = &written;
    CHECK(gr_cuda_rmsnorm(&job, &run));
    r = r * 1664525u + 1013904223u;
    if (r >> 28 < 4) spin<<<(r >> 8) % 700 + 1, 256, 0, stream>>>((r >> 12) % 200000), written = anything;
    if (k % 16 == 15) CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> row((size_t)n);
  CHECK(cudaMemcpy(row.data(), y + (size_t)(rows - 1) * n, (size_t)n * sizeof(float), cudaMemcpyDeviceToHost));
  double squares = 0;
  for (float v : row) squares += (double)v * v;
  printf("stream %d: mean square %.6f (1 but for eps)\n", id, squares / n);
  ended++;
}

int main(int count, char **args) {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  chip = {0, p.major, p.minor, p.multiProcessorCount, (int)p.sharedMemPerBlockOptin, p.l2CacheSize};
  int streams = count > 1 ? atoi(args[1]) : 4, launches = count > 2 ? atoi(args[2]) : 200;
  std::vector<std::thread> threads;
  for (int k = 0; k < streams; k++) threads.emplace_back(work, k, launches);
  for (int tenths = 0; tenths < 100 && ended < streams; tenths++) usleep(100000);
  if (ended < streams) {
    printf("%d of %d streams did not end\n", streams - ended.load(), streams);
    fflush(stdout);
    _exit(1);
  }
  for (std::thread &t : threads) t.join();
  puts("all ended");
}
