/*
** What launches that follow each other cost by the bytes of their arguments: kernels that do nothing, as dependent
** launches (early, as reductions to arrays are) and as ordinary ones. Usage, from the root:
**   nvcc -std=c++17 -arch=sm_90 -O2 bench/launches.cu -o build/launches && build/launches
** A row: bytes, beside those of a pointer; us a launch until the last call returns, and until the last kernel has
** ended, the least of some runs. Where the two agree, it is the host that takes the time.
*/
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

constexpr int launches = 512, runs = 25, rounds = 3;

template <int bytes> struct Args { char byte[bytes]; };

template <int bytes>
__global__ void nothing(const __grid_constant__ Args<bytes> q, char *out) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (q.byte[threadIdx.x] != 0) *out = q.byte[bytes - 1]; /* never, which the compiler does not know */
}

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(e));
  exit(1);
}

struct Times {
  double calls = 1e9, all = 1e9;
};

template <int bytes>
static void measure(cudaStream_t stream, int early, char *out, Times &best) {
  using std::chrono::steady_clock;
  using microseconds = std::chrono::duration<double, std::micro>;
  Args<bytes> q = {};
  void *arguments[] = {&q, &out};
  cudaLaunchAttribute how = {};
  how.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  how.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c = {};
  c.gridDim = 1;
  c.blockDim = 32;
  c.stream = stream;
  c.attrs = &how;
  c.numAttrs = (unsigned)early;
  for (int run = 0; run < runs; run++) {
    check(cudaStreamSynchronize(stream));
    auto from = steady_clock::now();
    for (int k = 0; k < launches; k++) check(cudaLaunchKernelExC(&c, (const void *)nothing<bytes>, arguments));
    auto called = steady_clock::now();
    check(cudaStreamSynchronize(stream));
    auto ended = steady_clock::now();
    double calls = microseconds(called - from).count() / launches, all = microseconds(ended - from).count() / launches;
    if (calls < best.calls) best.calls = calls;
    if (all < best.all) best.all = all;
  }
}

template <int... bytes>
static void table(std::integer_sequence<int, bytes...>, cudaStream_t stream, char *out) {
  constexpr int sizes[] = {bytes...};
  Times early[sizeof...(bytes)], plain[sizeof...(bytes)];
  for (int round = 0; round < rounds; round++) {
    int k = 0, n = 0;
    (measure<bytes>(stream, 1, out, early[k++]), ...);
    (measure<bytes>(stream, 0, out, plain[n++]), ...);
  }
  printf("%8s %18s %18s\n", "bytes", "early: calls, all", "plain: calls, all");
  for (size_t k = 0; k < sizeof...(bytes); k++)
    printf("%8d %9.2f %8.2f %9.2f %8.2f\n", sizes[k], early[k].calls, early[k].all, plain[k].calls, plain[k].all);
}

int main() {
  cudaStream_t stream;
  char *out;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaMalloc(&out, 256));
  table(std::integer_sequence<int, 56, 104, 152, 232, 296, 360, 424, 440, 472, 480, 488, 496, 504, 528, 552, 616>(),
        stream, out);
}
