/* Blocks that run side by side and write into each other's shared memory: from compute capability 9.0 on. */
#ifndef GR_CLUSTER_CUH
#define GR_CLUSTER_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include "kernels/cuda/gate.cuh"

#define GR_CLUSTER 8 /* blocks at most */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* Every thread of every block has come; what it has prepared for the others is there. */
static __device__ __forceinline__ void gr_start_cluster() {
  gr_gates_known();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/*
** Numbers that blocks tell each other, turn by turn. One may be a turn ahead, since it has seen the others' of the turn
** before, but not two: so there are two boxes, each with a gate that counts the bytes that come.
*/
struct gr_mail {
  double number[2][GR_CLUSTER];
  gr_gate gate[2];
  __device__ __forceinline__ void init() { gate[0].init(1), gate[1].init(1); }
  /* By all lanes of one warp: lane i gets block i's number. */
  __device__ __forceinline__ double exchange(double mine, int block, int blocks, unsigned turn, int lane) {
    unsigned box = turn & 1, at = gr_shared_address(&number[box][block]);
    if (lane < blocks)
      asm volatile(
          "{\n .reg .b32 to, its;\n mapa.shared::cluster.u32 to, %0, %3;\n mapa.shared::cluster.u32 its, %1, %3;\n"
          " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [to], %2, [its];\n}" ::"r"(at),
          "r"(gate[box].at()), "l"(__double_as_longlong(mine)), "r"(lane)
          : "memory");
    if (lane == 0) gate[box].expect(blocks * 8);
    gate[box].wait(turn >> 1 & 1);
    double all = number[box][lane & (GR_CLUSTER - 1)];
    __syncwarp();
    return all;
  }
};
#endif

/* How many clusters of so many blocks find room at once. */
static inline cudaError_t gr_room_for_clusters(int *room, const void *kernel, int32_t threads, size_t shared, int32_t cluster,
                                               int32_t sms) {
  cudaLaunchAttribute how = {};
  cudaLaunchConfig_t c = {};
  *room = sms;
  if (cluster == 1) return cudaSuccess;
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  c.gridDim = dim3((unsigned)(sms / cluster * cluster));
  c.blockDim = dim3((unsigned)threads);
  c.dynamicSmemBytes = shared;
  how.id = cudaLaunchAttributeClusterDimension;
  how.val.clusterDim.x = (unsigned)cluster;
  how.val.clusterDim.y = how.val.clusterDim.z = 1;
  c.attrs = &how;
  c.numAttrs = 1;
  return e == cudaSuccess ? cudaOccupancyMaxActiveClusters(room, kernel, &c) : e;
}

#endif
