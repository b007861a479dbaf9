/*
** What the ladder is measured against: cuBLAS, CUB and a kernel that only reads. bench/ladder.lua runs it and reads its
** lines: operation, name, n, device microseconds of one call. Calls are queued back to back over as many different
** pieces of the data as bench/ladder.lua takes. The module links none of this.
** Usage: ladder_peers [largest exponent, default 28]. Build: make build/bench/ladder_peers
*/
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <functional>
#include <vector>
#include <cublas_v2.h>
#include <cub/cub.cuh>

#define CHECK(call)                                                            \
  do {                                                                         \
    int e_ = (int)(call);                                                      \
    if (e_) {                                                                  \
      fprintf(stderr, "line %d: %s gives %d\n", __LINE__, #call, e_);          \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* a[i] = i % 5 - 2, b[i] = i % 3 - 1, k[i] = i % 256: sums that f32 holds exactly in any order. */
__global__ void fill(float *a, float *b, int *k, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
    a[i] = (float)(int)(i % 5) - 2;
    b[i] = (float)(int)(i % 3) - 1;
    k[i] = (int)(i % 256);
  }
}

/*
** Reads every word and keeps (almost) nothing. The best of several grids is the ceiling of a length. Launches overlap
** where a chip can: nothing waits for anything.
*/
__global__ void read_only(const float4 *p, size_t words, float *out) {
  float x = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  size_t step = gridDim.x * (size_t)blockDim.x, i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (; i + 3 * step < words; i += 4 * step) {
    float4 u = p[i], v = p[i + step], w = p[i + 2 * step], z = p[i + 3 * step];
    x += u.x + v.y + w.z + z.w + u.y + v.z + w.w + z.x;
  }
  for (; i < words; i += step) x += p[i].x;
  if (x == 1.2345678f) *out = x;
}

static void read_all(const float *p, size_t n, float *out, size_t blocks, bool early) {
  cudaLaunchAttribute how = {};
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3((unsigned)blocks);
  c.blockDim = dim3(512);
  how.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  how.val.programmaticStreamSerializationAllowed = 1;
  c.attrs = &how;
  c.numAttrs = early ? 1 : 0;
  CHECK(cudaLaunchKernelEx(&c, read_only, (const float4 *)p, n / 4, out));
}

static void report(const char *op, const char *name, size_t n, size_t pieces, const std::function<void(size_t)> &run) {
  cudaEvent_t from, to;
  std::vector<float> rounds;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  for (int round = 0; round < 8; round++) {
    float ms;
    CHECK(cudaEventRecord(from));
    for (size_t k = 0; k < pieces; k++) run(k);
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    CHECK(cudaEventElapsedTime(&ms, from, to));
    if (round) rounds.push_back(ms * 1e3f / pieces);
  }
  std::sort(rounds.begin(), rounds.end());
  printf("%s %s %zu %.4f\n", op, name, n, rounds[rounds.size() / 2]);
  fflush(stdout);
}

template <class T> static T fetch(const void *p) {
  T x;
  CHECK(cudaMemcpy(&x, p, sizeof x, cudaMemcpyDeviceToHost));
  return x;
}

static void must(bool right, const char *what) {
  if (right) return;
  fprintf(stderr, "%s is wrong\n", what);
  exit(1);
}

int main(int argc, char **argv) {
  const int largest = argc > 1 ? atoi(argv[1]) : 28;
  const size_t all = (size_t)1 << largest;
  float *a, *b, *out, *scanned;
  int *k, sms, major;
  void *temp;
  size_t temp_bytes = 256 << 20;
  cublasHandle_t blas;
  CHECK(cudaMalloc(&a, all * 4));
  CHECK(cudaMalloc(&b, all * 4));
  CHECK(cudaMalloc(&k, all * 4));
  CHECK(cudaMalloc(&scanned, all * 4));
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&temp, temp_bytes));
  fill<<<2048, 256>>>(a, b, k, all);
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cublasCreate(&blas));
  CHECK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  for (int exponent = 10; exponent <= largest; exponent++) {
    const size_t n = (size_t)1 << exponent, wanted = ((size_t)1 << 26) / n;
    const size_t pieces = std::max<size_t>(1, std::min<size_t>({wanted, 256, all / n}));
    size_t last = 0;
    for (size_t each = 1; each <= 16; each *= 2) {
      const size_t blocks = std::min<size_t>(sms * each, (n / 4 + 511) / 512);
      if (blocks != last) report("read", "ceiling", n, pieces, [&](size_t p) {
        read_all(a + p * n, n, out, blocks, major >= 9);
      });
      last = blocks;
    }
  }
  for (int exponent = 10; exponent <= largest; exponent += 2) {
    const size_t n = (size_t)1 << exponent, wanted = ((size_t)1 << 26) / n;
    const size_t pieces = std::max<size_t>(1, std::min<size_t>({wanted, 256, all / n}));
    double dot = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
      dot += ((double)(i % 5) - 2) * ((double)(i % 3) - 1);
      sum += (double)(i % 5) - 2;
    }
    auto sdot = [&](size_t p) { CHECK(cublasSdot(blas, (int)n, a + p * n, 1, b + p * n, 1, out)); };
    auto cub_sum = [&](size_t p) { CHECK(cub::DeviceReduce::Sum(temp, temp_bytes, a + p * n, out, n)); };
    auto cub_max = [&](size_t p) { CHECK(cub::DeviceReduce::Max(temp, temp_bytes, a + p * n, out, n)); };
    auto cub_min = [&](size_t p) { CHECK(cub::DeviceReduce::Min(temp, temp_bytes, a + p * n, out, n)); };
    auto cub_scan = [&](size_t p) {
      CHECK(cub::DeviceScan::InclusiveSum(temp, temp_bytes, a + p * n, scanned + p * n, n));
    };
    auto cub_histogram = [&](size_t p) {
      CHECK(cub::DeviceHistogram::HistogramEven(temp, temp_bytes, k + p * n, (int *)out, 257, 0, 256, (int)n));
    };
    sdot(0);
    must(fetch<float>(out) == (float)dot, "cuBLAS sdot");
    cub_sum(0);
    must(fetch<float>(out) == (float)sum, "CUB sum");
    cub_max(0);
    must(fetch<float>(out) == 2, "CUB max");
    cub_min(0);
    must(fetch<float>(out) == -2, "CUB min");
    cub_scan(0);
    must(fetch<float>(scanned + n - 1) == (float)sum, "CUB scan");
    cub_histogram(0);
    must(fetch<int>(out) == (int)(n / 256), "CUB histogram");
    report("dot", "cuBLAS", n, pieces, sdot);
    report("sum", "CUB", n, pieces, cub_sum);
    report("max", "CUB", n, pieces, cub_max);
    report("min", "CUB", n, pieces, cub_min);
    report("scan", "CUB", n, pieces, cub_scan);
    report("histogram", "CUB", n, pieces, cub_histogram);
  }
  const int ten_million = 10000000;
  if (all >= (size_t)ten_million)
    report("histogram", "CUB", ten_million, 10, [&](size_t) {
      CHECK(cub::DeviceHistogram::HistogramEven(temp, temp_bytes, k, (int *)out, 257, 0, 256, ten_million));
    });
  return 0;
}
