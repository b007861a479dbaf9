/*
** Places that rise, each above the one before, as a look has shown. Where the last of a stretch is as far from the
** first as there are others between, they are neighbours: a run, whose positions nobody reads again, and whose elements
** lie side by side. A warp has a stretch.
*/
#ifndef GR_CUDA_LOOKUP_RISING_CUH
#define GR_CUDA_LOOKUP_RISING_CUH

#include "kernels/cuda/lookup/places.cuh"
#include "kernels/cuda/thread/load.cuh"

constexpr int STRETCH = gr_lookup_tuning::stretch;
static_assert(STRETCH % (32 * EACH) == 0 && STRETCH >= 512, "a stretch has whole passes, and a word for each lane");

/* The indices k .. k + count - 1; run: their places are first, first + 1, ... */
typedef struct gr_stretch {
  int64_t k, first;
  int count;
  bool run;
} gr_stretch;

/* All lanes have read what they need of positions when this returns, as those may be written over (take). */
static __device__ __forceinline__ gr_stretch gr_stretch_from(const gr_places &q, int64_t k) {
  gr_stretch s;
  s.k = k;
  s.count = (int)(q.n - k < STRETCH ? q.n - k : STRETCH);
  const char *p = q.index + k * q.stride, *end = p + (s.count - 1) * q.stride;
  int64_t last;
#define ENDS(id, type)          \
  case GR_##id:                 \
    s.first = *(const type *)p; \
    last = *(const type *)end;  \
    break;
  switch (q.positions) {
    ENDS(U8, uint8_t) ENDS(I8, int8_t) ENDS(U16, uint16_t) ENDS(I16, int16_t)
    ENDS(U32, uint32_t) ENDS(I32, int32_t)
    default: ENDS(I64, int64_t)
  }
#undef ENDS
  s.first = gr_place(s.first, q.length);
  s.run = gr_place(last, q.length) - s.first == s.count - 1;
  __syncwarp();
  return s;
}

/* Calls f(stretch) for each stretch of this warp. */
template <class F>
static __device__ __forceinline__ void gr_each_stretch(const gr_places &q, const F &f) {
  const int64_t step = gridDim.x * (int64_t)(THREADS / 32) * STRETCH;
  for (int64_t k = (blockIdx.x * (int64_t)(THREADS / 32) + (threadIdx.x >> 5)) * STRETCH; k < q.n; k += step)
    f(gr_stretch_from(q, k));
}

/* The places of EACH indices of the stretch, 32 apart, from j on (past the last one: none). */
static __device__ __forceinline__ void gr_stretch_places(const gr_places &q, const gr_stretch &s, int j,
                                                         int64_t (&at)[EACH]) {
  if (!s.run) return gr_find_places<32>(q, s.k + j, at);
#pragma unroll
  for (int u = 0; u < EACH; u++) at[u] = j + u * 32 < s.count ? s.first + j + u * 32 : -1;
}

/*
** Words of a run, `flight` of a lane: those at `from`, `shifted` into whole ones, or (loads: not) the one given. whole:
** all are there, so that loads wait for no branch.
*/
template <bool loads, bool shifted, bool whole, int flight>
static __device__ __forceinline__ void gr_move_some(uint4 *to, const char *from, uint4 word, int left) {
  uint4 x[flight];
#pragma unroll
  for (int u = 0; u < flight; u++) {
    x[u] = word;
    if (loads && (whole || 32 * u < left)) x[u] = shifted ? gr_load_begin(from + 512 * u) : gr_load16(from + 512 * u);
  }
#pragma unroll
  for (int u = 0; u < flight && shifted; u++)
    if (whole || 32 * u < left) x[u] = gr_load_end(x[u], from + 512 * u, 16);
#pragma unroll
  for (int u = 0; u < flight; u++)
    if (whole || 32 * u < left) to[32 * u] = x[u];
}

template <bool loads, bool shifted, int flight>
static __device__ __forceinline__ void gr_move_words(uint4 *to, const char *from, uint4 word, int words, int lane) {
  int done = 0;
  to += lane;
  from += lane * 16;
#pragma unroll 1
  for (; done + 32 * flight <= words; done += 32 * flight)
    gr_move_some<loads, shifted, true, flight>(to + done, from + done * 16, word, 0);
#pragma unroll 1
  for (; done < words; done += 32 * flight)
    gr_move_some<loads, shifted, false, flight>(to + done, from + done * 16, word, words - done - lane);
}

/* count elements side by side (at most STRETCH), from others that are so, or of one value: word is full of it. */
template <typename U, bool loads>
static __device__ __forceinline__ void gr_move_run(char *to, const char *from, uint4 word, int count, int lane) {
  constexpr int size = (int)sizeof(U), whole = STRETCH * size / 16 / 32, flight = whole < 8 ? whole : 8;
  const int before = (int)(-(uintptr_t)to & 15) / size, head = before < count ? before : count;
  const int words = (count - head) * size / 16, tail = head + words * (16 / size);
  const char *body = from + head * size;
  U value;
  memcpy(&value, &word, sizeof value);
  if (lane < head) ((U *)to)[lane] = loads ? ((const U *)from)[lane] : value;
  if (tail + lane < count) ((U *)to)[tail + lane] = loads ? ((const U *)from)[tail + lane] : value;
  uint4 *middle = (uint4 *)(to + head * size);
  if (!loads || ((uintptr_t)body & 15) == 0) gr_move_words<loads, false, flight>(middle, body, word, words, lane);
  else gr_move_words<loads, true, (flight + 1) / 2>(middle, body, word, words, lane);
}

#endif
