/*
** Places that rise, each above the one before, as a look has shown. Where the last of a stretch is as far from the
** first as there are others between, they are neighbours: a run, whose positions nobody reads again, and whose elements
** lie side by side. A warp has a stretch.
*/
#ifndef GR_CUDA_LOOKUP_RISING_CUH
#define GR_CUDA_LOOKUP_RISING_CUH

#include "kernels/cuda/lookup/places.cuh"
#include "kernels/cuda/thread/load.cuh"

constexpr int STRETCH = gr_lookup_tuning::stretch, ROW = STRETCH / 32;
static_assert(ROW % 32 == 0 && STRETCH % (32 * EACH) == 0, "a lane knows a row, and a warp has whole passes");

/*
** The indices k .. k + count - 1; run: their places are first, first + 1, ... Its rows are ROW indices each: lane r has
** the place of the first one of row r, and bit r of `runs` says that the row is a run.
*/
typedef struct gr_stretch {
  int64_t k, first, row;
  unsigned runs;
  int count;
  bool run;
} gr_stretch;

/* The place of index k, of which there is one. */
static __device__ __forceinline__ int64_t gr_place_of(const gr_places &q, int64_t k) {
  const char *p = q.index + k * q.stride;
  int64_t position;
#define LOAD(id, type) \
  case GR_##id: position = (int64_t) * (const type *)p; break;
  switch (q.positions) {
    LOAD(U8, uint8_t)
    LOAD(I8, int8_t)
    LOAD(U16, uint16_t) LOAD(I16, int16_t) LOAD(U32, uint32_t) LOAD(I32, int32_t) default : LOAD(I64, int64_t)
  }
#undef LOAD
  return gr_place(position, q.length);
}

/*
** All lanes have read what they need of the ends and rows when this returns, as those may be written over (take). Where
** the whole is no run, rows are asked for: of neighbours with gaps most are.
*/
static __device__ __forceinline__ gr_stretch gr_stretch_from(const gr_places &q, int64_t k, int lane) {
  gr_stretch s;
  s.k = k;
  s.count = (int)(q.n - k < STRETCH ? q.n - k : STRETCH);
  const int64_t end = gr_place_of(q, k + (lane == 31 ? s.count - 1 : 0));
  const int64_t last = __shfl_sync(~0u, end, 31);
  s.first = __shfl_sync(~0u, end, 0);
  s.run = last - s.first == s.count - 1;
  s.row = s.first + lane * ROW;
  s.runs = ~0u;
  if (!s.run) {
    s.row = gr_place_of(q, k + min(lane * ROW, s.count - 1));
    const int64_t down = __shfl_down_sync(~0u, s.row, 1), next = lane == 31 ? last + 1 : down;
    s.runs = __ballot_sync(~0u, next - s.row == ROW && lane * ROW + ROW < s.count + (lane == 31));
  }
  __syncwarp();
  return s;
}

/* Calls f(stretch) for each stretch of this warp. */
template <class F>
static __device__ __forceinline__ void gr_each_stretch(const gr_places &q, const F &f) {
  const int64_t step = gridDim.x * (int64_t)(THREADS / 32) * STRETCH;
  for (int64_t k = (blockIdx.x * (int64_t)(THREADS / 32) + (threadIdx.x >> 5)) * STRETCH; k < q.n; k += step)
    f(gr_stretch_from(q, k, (int)threadIdx.x & 31));
}

/* The places of EACH indices of the stretch, 32 apart, from j on (past the last one: none). All lanes ask at once. */
template <bool table = true>
static __device__ __forceinline__ void gr_stretch_places(const gr_places &q, const gr_stretch &s, int j,
                                                         int64_t (&at)[EACH]) {
  const int row = j / ROW;
  unsigned known = 0;
#pragma unroll
  for (int u = 0; u < EACH; u++) known |= (s.runs >> (row + u * 32 / ROW) & 1) << u;
  if (known != (1u << EACH) - 1) gr_find_places<32, table>(q, s.k + j, at, known);
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const int r = row + u * 32 / ROW;
    const int64_t first = __shfl_sync(~0u, s.row, r);
    if (known >> u & 1) at[u] = j + u * 32 < s.count ? first + (j + u * 32 - r * ROW) : -1;
  }
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
