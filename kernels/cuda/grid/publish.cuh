/*
** Words for somebody who polls them, the host or another block: each half lies beside a mark, so that whoever sees the
** marks has the halves (8-byte accesses are whole), and no store must wait for another to arrive.
*/
#ifndef GR_CUDA_GRID_PUBLISH_CUH
#define GR_CUDA_GRID_PUBLISH_CUH

#include <stdint.h>
#include <string.h>

struct alignas(16) gr_halves {
  uint64_t low, high;
};

/* The marks of a word's halves. */
struct gr_tag {
  uint32_t low, high;
};
/*
** The tag of a launch is its epoch with the bits mixed. So each of 2^64 launches has another one, and none looks like
** the counters and small numbers that other kernels leave in scratch memory; arbitrary bytes look like a tag once in
** 2^64. An epoch is never 0, and so no tag is that of fresh memory.
*/
static inline gr_tag gr_tag_of(uint64_t epoch) {
  uint64_t k = epoch * 0x9e3779b97f4a7c15u;
  k = (k ^ k >> 32) * 0xd6e8feb86659fd93u;
  k ^= k >> 32;
  return {(uint32_t)k, (uint32_t)(k >> 32)};
}

static __device__ __forceinline__ gr_halves gr_split(uint64_t word, gr_tag tag) {
  return {word << 32 | tag.low, (word & ~(uint64_t)UINT32_MAX) | tag.high};
}
static __device__ __forceinline__ uint64_t gr_join(gr_halves h) {
  return h.low >> 32 | (h.high & ~(uint64_t)UINT32_MAX);
}
static __device__ __forceinline__ bool gr_has_tag(gr_halves h, gr_tag tag) {
  return (uint32_t)h.low == tag.low && (uint32_t)h.high == tag.high;
}

static __device__ __forceinline__ gr_halves gr_peek(const gr_halves *from) {
  gr_halves h;
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(h.low), "=l"(h.high) : "l"(from) : "memory");
  return h;
}
static __device__ __forceinline__ void gr_poke(gr_halves *to, gr_halves h) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(h.low), "l"(h.high) : "memory");
}

/* A value of up to 8 bytes for other blocks. */
template <class Value>
static __device__ __forceinline__ void gr_publish(gr_halves *to, Value v, gr_tag tag) {
  uint64_t word = 0;
  memcpy(&word, &v, sizeof v);
  gr_poke(to, gr_split(word, tag));
}

/*
** What is published at those of some places that this lane wants; of the others `absent`. All that is missing is asked
** for at once, over and over: one by one, each would cost a way to memory and back. The lanes of a warp leave together,
** and as the compiler knows that, shuffles stay one instruction.
*/
template <class Value, int count>
static __device__ __forceinline__ void gr_await(const gr_halves *const (&at)[count], bool (&wanted)[count], gr_tag tag,
                                                Value absent, Value (&v)[count]) {
  bool missing;
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = absent;
  do {
    gr_halves h[count];
    missing = false;
#pragma unroll
    for (int k = 0; k < count; k++)
      if (wanted[k]) h[k] = gr_peek(at[k]);
#pragma unroll
    for (int k = 0; k < count; k++) {
      if (wanted[k] && gr_has_tag(h[k], tag)) {
        uint64_t word = gr_join(h[k]);
        memcpy(&v[k], &word, sizeof v[k]);
        wanted[k] = false;
      }
      missing |= wanted[k];
    }
  } while (__any_sync(~0u, missing));
}

#endif
