/*
** CUB's reproducible sum (gpu_to_gpu; in CCCL's main at the time of writing) for bench/exact.lua's table: f32, the time
** until the number is on the host, and back to back in a stream; temporary storage allocated beforehand.
**   nvcc -O3 -std=c++17 -arch=native -I. -I CCCL/cub -I CCCL/libcudacxx/include -I CCCL/thrust \
**     bench/peers/deterministic.cu
*/
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cub/device/device_reduce.cuh>
#include "bench/check_call.cuh"

static double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

__global__ void fill(float *x, size_t n) {
  for (size_t k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x)
    x[k] = (float)((k * 2654435761u >> 8 & 0xffff) - 32768.0) / 65536.0f;
}

int main() {
  const size_t most = (size_t)1 << 28;
  float *x, *out, result;
  void *room;
  size_t bytes = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&x, most * sizeof *x));
  CHECK(cudaMalloc(&out, 256));
  fill<<<1024, 256, 0, stream>>>(x, most);
  CHECK(cub::detail::rfa::dispatch(nullptr, bytes, x, out, (unsigned long long)most, 0.0f, stream));
  CHECK(cudaMalloc(&room, bytes));
  printf("CUB gpu_to_gpu, f32 sum\n%6s %12s %12s %8s\n", "n", "number us", "stream us", "GB/s");
  for (int e = 0; e <= 28; e += 2) {
    size_t n = (size_t)1 << e, slices = most / n < 64 ? most / n : 64, at = 0;
    auto sum = [&] {
      CHECK(cub::detail::rfa::dispatch(room, bytes, x + at++ % slices * n, out, (unsigned long long)n, 0.0f, stream));
    };
    std::vector<double> number, back_to_back;
    for (int i = 0; i < 30; i++) {
      double start = now();
      sum();
      CHECK(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, stream));
      CHECK(cudaStreamSynchronize(stream));
      number.push_back(now() - start);
      start = now();
      for (int k = 0; k < 20; k++) sum();
      CHECK(cudaStreamSynchronize(stream));
      back_to_back.push_back((now() - start) / 20);
    }
    double us = median(back_to_back);
    printf("2^%-4d %12.2f %12.2f %8.0f\n", e, median(number), us, (double)n * 4 / us / 1e3);
  }
  return 0;
}
