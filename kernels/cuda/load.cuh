/*
** Loads by 16-byte words whatever the alignment. A word that holds no byte of the vector is never read.
** Unaligned data is realigned in registers, never peeled: the tree follows logical positions.
*/
#ifndef GR_LOAD_CUH
#define GR_LOAD_CUH

#include "kernels/cuda/element.cuh"

/* One vector as a kernel walks it. */
enum gr_walk { GR_ALIGNED, GR_SHIFTED, GR_STRIDED };
struct gr_walker {
  const char *p;
  int64_t stride;
  gr_walk walk;
};

template <gr_dtype D>
__device__ __forceinline__ gr_walker gr_walk_of(const gr_vec &v, int64_t index) {
  gr_walker w;
  w.p = (const char *)v.data + index * v.step;
  w.stride = v.stride;
  w.walk = v.stride != gr_size<D> ? GR_STRIDED : ((uintptr_t)w.p & 15) ? GR_SHIFTED : GR_ALIGNED;
  return w;
}

__device__ __forceinline__ uint4 gr_load16(const void *p) { return __ldg((const uint4 *)p); }

/* 16 bytes that start `shift` bytes into the words a, b. */
__device__ __forceinline__ uint4 gr_realign(uint4 a, uint4 b, int shift) {
  int bits = (shift & 3) * 8;
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
  return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                    __funnelshift_r(a.w, b.x, bits));
}

/*
** The first `bytes` (1 to 16) of the 16 bytes at p, in two steps, so that many first steps can be in flight
** while the code of the second exists once: the aligned word that p lies in, and then the next one if it
** has some of the bytes (a neighbour has read it: it is in L1) and a shift.
*/
__device__ __forceinline__ uint4 gr_load_begin(const char *p) {
  return gr_load16((const char *)((uintptr_t)p & ~(uintptr_t)15));
}
__device__ __forceinline__ uint4 gr_load_end(uint4 a, const char *p, int bytes) {
  int shift = (int)((uintptr_t)p & 15);
  uint4 b = a;
  if (shift == 0) return a;
  if (shift + bytes > 16) b = gr_load16(p - shift + 16);
  return gr_realign(a, b, shift);
}

/* Up to `valid` elements from p, `stride` bytes apart, packed into one word. */
template <gr_dtype D, int count = 16 / gr_size<D>>
__device__ __forceinline__ uint4 gr_gather(const char *p, int64_t stride, int valid) {
  constexpr int size = gr_size<D>;
  uint32_t u[4] = {0, 0, 0, 0};
#pragma unroll
  for (int c = 0; c < count; c++) {
    if (c >= valid) continue;
    const char *q = p + c * stride;
    if constexpr (size == 8) {
      uint2 x = __ldg((const uint2 *)q);
      u[2 * c] = x.x;
      u[2 * c + 1] = x.y;
    } else if constexpr (size == 4) {
      u[c] = __ldg((const unsigned *)q);
    } else if constexpr (size == 2) {
      u[c / 2] |= (uint32_t)__ldg((const unsigned short *)q) << 16 * (c & 1);
    } else {
      u[c / 4] |= (uint32_t)__ldg((const unsigned char *)q) << 8 * (c & 3);
    }
  }
  return make_uint4(u[0], u[1], u[2], u[3]);
}

/*
** `rows` whole rows (512 bytes each) that start at p; p is this warp's, the same in all lanes. Shifted rows
** cost no second load: the word that a lane lacks is its neighbour's, or the next row's first.
*/
template <int rows>
__device__ __forceinline__ void gr_load_rows(uint4 (&w)[rows], const char *p, gr_walk walk, int lane) {
  int shift = (int)((uintptr_t)p & 15);
  const char *q = p - shift + lane * 16;
#pragma unroll
  for (int r = 0; r < rows; r++) w[r] = gr_load16(q + r * GR_ROW_BYTES);
  if (walk == GR_ALIGNED) return;
  uint4 after = w[0];
  if (lane == 0) after = gr_load16(q + rows * GR_ROW_BYTES);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    uint4 give = lane == 0 ? (r + 1 < rows ? w[r + 1 < rows ? r + 1 : r] : after) : w[r], next;
    next.x = __shfl_sync(~0u, give.x, lane + 1 & 31);
    next.y = __shfl_sync(~0u, give.y, lane + 1 & 31);
    next.z = __shfl_sync(~0u, give.z, lane + 1 & 31);
    next.w = __shfl_sync(~0u, give.w, lane + 1 & 31);
    w[r] = gr_realign(w[r], next, shift);
  }
}

#endif
