/* The three ways to time a call: in a stream, in a graph, and until its number is on the host. */
#ifndef GR_VERSUS_TIMING_CUH
#define GR_VERSUS_TIMING_CUH

#include <chrono>
#include "bench/peers/versus_contenders.cuh"

namespace {

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

}  // namespace

#endif
