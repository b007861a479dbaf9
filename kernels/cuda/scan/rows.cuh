/*
** Rows of elements and results between memory and the lanes of a warp, of which each has some neighbours: forwards,
** backwards or with any step.
*/
#ifndef GR_CUDA_SCAN_ROWS_CUH
#define GR_CUDA_SCAN_ROWS_CUH

#include "kernels/cuda/block/cp_async.cuh"
#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/thread/load.cuh"
#include "kernels/cuda/scan/scan.cuh"

/* How elements lie: 16-byte words in order, or in the opposite order, or in order but across words, or one by one. */
enum gr_scan_layout { GR_SCAN_FORWARD, GR_SCAN_BACKWARD, GR_SCAN_ACROSS, GR_SCAN_SINGLY };

template <typename T>
static __device__ __forceinline__ gr_scan_layout gr_scan_layout_of(const char *p, int64_t stride) {
  const int64_t size = (int64_t)sizeof(T);
  if (stride == size) return ((uintptr_t)p & 15) == 0 ? GR_SCAN_FORWARD : GR_SCAN_ACROSS;
  return stride == -size && ((uintptr_t)(p + size) & 15) == 0 ? GR_SCAN_BACKWARD : GR_SCAN_SINGLY;
}

/* The elements of a word in opposite order. */
template <int size> static __device__ __forceinline__ uint4 gr_scan_mirror(uint4 u) {
  if constexpr (size == 8) return make_uint4(u.z, u.w, u.x, u.y);
  constexpr unsigned order = size == 4 ? 0x3210 : size == 2 ? 0x1032 : 0x0123;
  return make_uint4(__byte_perm(u.w, 0, order), __byte_perm(u.z, 0, order), __byte_perm(u.y, 0, order),
                    __byte_perm(u.x, 0, order));
}

/* The same of several words at once, so that one branch passes over it all where nothing lies backwards. */
template <int size, int words> static __device__ __forceinline__ void gr_scan_mirror(uint4 (&u)[words]) {
#pragma unroll
  for (int w = 0; w < words; w++) u[w] = gr_scan_mirror<size>(u[w]);
}

/*
** A row passes through shared memory, so that global memory sees 16-byte words in order while a lane gets its
** neighbours. Words are swizzled so that neither side meets bank conflicts.
*/
template <typename T, int each> struct gr_scan_row {
  static constexpr int size = (int)sizeof(T), length = 32 * each, bytes = length * size;
  static constexpr int words = each * size > 16 ? each * size / 16 : 1; /* of a lane */
  static __device__ __forceinline__ int swizzled(int word) { return word ^ (word >> 3 & (words - 1)); }
  static __device__ __forceinline__ char *element(char *row, int k) {
    int byte = k * size;
    return row + swizzled(byte >> 4) * 16 + (byte & 15);
  }
  /* This lane's elements; back: each word lies there in opposite order. */
  static __device__ __forceinline__ void take(const char *row, int lane, bool back, T (&x)[each]) {
    if constexpr (each * size == 8) {
      uint2 u = *(const uint2 *)(row + (back ? lane ^ 1 : lane) * 8);
      if (back) u = make_uint2(__byte_perm(u.y, 0, 0x0123), __byte_perm(u.x, 0, 0x0123));
      memcpy(x, &u, 8);
    } else {
      int first = swizzled(lane * words) * 16;
      uint4 u[words];
#pragma unroll
      for (int w = 0; w < words; w++) u[w] = *(const uint4 *)(row + (first ^ w * 16));
      if (back) gr_scan_mirror<size>(u);
      memcpy(x, u, sizeof u);
    }
  }
  static __device__ __forceinline__ void give(char *row, int lane, const T (&x)[each]) {
    int first = swizzled(lane * words) * 16;
#pragma unroll
    for (int w = 0; w < words; w++) {
      uint4 u;
      memcpy(&u, (const char *)x + w * 16, 16);
      *(uint4 *)(row + (first ^ w * 16)) = u;
    }
  }
};

/* Whether `count` elements can be asked for by whole words. */
static __device__ __forceinline__ bool gr_scan_whole(gr_scan_layout lie, int64_t left, int count) {
  return lie <= GR_SCAN_BACKWARD && left >= count;
}

/* A warp asks for `count` elements, rows that follow one another, by whole words: p is where the first is. */
template <typename T, int each, int count>
static __device__ __forceinline__ void gr_scan_ask(char *rows, const char *p, gr_scan_layout lie, int lane) {
  using R = gr_scan_row<T, each>;
  bool back = lie == GR_SCAN_BACKWARD;
  const char *from = back ? p + R::size - 16 - lane * 16 : p + lane * 16;
  char *to = rows + R::swizzled(lane) * 16;
#pragma unroll(Tuning::copies)
  for (int w = 0; w < count * R::size / 512; w++) gr_copy_async<16>(to + w * 512, from + (back ? -512 : 512) * w);
}

/*
** As many elements that lie in any other way, of which `left` are there. In the place of the others may be anything,
** since it comes after all that counts.
*/
template <typename T, int each, int count>
static __device__ __forceinline__ void gr_scan_gather(char *rows, const char *p, int64_t stride, int64_t left,
                                                      gr_scan_layout lie, int lane) {
  using R = gr_scan_row<T, each>;
  constexpr int words = count * R::size / 512; /* of a lane */
  if (lie == GR_SCAN_ACROSS && left >= count) {
    if constexpr (R::size >= 4) {
#pragma unroll(Tuning::copies)
      for (int k = lane; k < count; k += 32) gr_copy_async<R::size>(R::element(rows, k), p + k * R::size);
      return;
    }
    char *to = rows + R::swizzled(lane) * 16;
    constexpr int together = Tuning::words_across;
#pragma unroll 1
    for (int w = 0; w < words; w += together) {
      uint4 u[together];
#pragma unroll
      for (int k = 0; k < together; k++)
        if (w + k < words) u[k] = gr_load_begin(p + ((w + k) * 32 + lane) * 16);
#pragma unroll
      for (int k = 0; k < together; k++)
        if (w + k < words) *(uint4 *)(to + (w + k) * 512) = gr_load_end(u[k], p + ((w + k) * 32 + lane) * 16, 16);
    }
  } else {
    int mirror = lie == GR_SCAN_BACKWARD ? 16 / R::size - 1 : 0;
    int here = left < 0 ? 0 : left < count ? (int)left : count;
#pragma unroll(Tuning::copies)
    for (int k = lane; k < here; k += 32) gr_copy_async<R::size>(R::element(rows, k ^ mirror), p + k * stride);
  }
}

/* As many elements of a formula, from position `first` on, of which `left` are there. */
template <typename T, int each, int count>
static __device__ __forceinline__ void gr_scan_make(char *rows, int64_t first, int64_t left, int lane) {
  using R = gr_scan_row<T, each>;
  constexpr int words = count * R::size / 512, own = 16 / R::size; /* of a lane; elements of a word */
  constexpr int together = words < 4 ? words : 4;
  static_assert(words % together == 0, "no hole is so large");
  const int here = (int)min(left, (int64_t)count) - lane * own;
  char *to = rows + R::swizzled(lane) * 16;
#pragma unroll 1
  for (int w = 0; w < words; w += together) {
    uint4 u[together];
    const char *p = (const char *)((first + lane * own) * R::size + w * 512);
    if constexpr (together < 4) {
      gr_formula_few_rows_of(u, p, here - w * 32 * own);
    } else {
      uint4 none[together];
      gr_formula_rows_of<1>(u, none, p, here - w * 32 * own);
    }
#pragma unroll
    for (int k = 0; k < together; k++) *(uint4 *)(to + (w + k) * 512) = u[k];
  }
}

/* Asks L2 for what a tile of a formula's elements is made of. */
template <typename T, int count>
static __device__ __forceinline__ void gr_scan_announce_formula(int64_t first, int64_t left, int lane) {
  const int bytes = (int)min(left, (int64_t)count) * (int)sizeof(T);
  gr_formula_announce((const char *)(first * (int)sizeof(T)), bytes, lane);
}

/* Whether one warp gathers elements fast enough for the whole block. */
template <typename T> static __device__ __forceinline__ bool gr_scan_alone(gr_scan_layout lie) {
  return sizeof(T) == 8 || (sizeof(T) == 4 && lie == GR_SCAN_ACROSS);
}

/* A row of results to p, where `left` are wanted; whole: by whole words. */
template <typename T, int each>
static __device__ __forceinline__ void gr_scan_write(char *row, char *p, int64_t stride, bool whole, int64_t left,
                                                     gr_scan_layout lie, int lane) {
  using R = gr_scan_row<T, each>;
  constexpr int size = R::size, words = R::bytes / 512; /* of a lane */
  if (whole) {
    bool back = lie == GR_SCAN_BACKWARD;
    char *to = back ? p + size - 16 - lane * 16 : p + lane * 16, *from = row + R::swizzled(lane) * 16;
    uint4 u[words];
#pragma unroll
    for (int w = 0; w < words; w++) u[w] = *(const uint4 *)(from + w * 512);
    if (back) gr_scan_mirror<size>(u);
#pragma unroll
    for (int w = 0; w < words; w++) __stcs((uint4 *)(to + (back ? -512 : 512) * w), u[w]);
  } else {
    int here = left < R::length ? (int)left : R::length;
#pragma unroll(Tuning::results_apart)
    for (int k = lane; k < here; k += 32) *(T *)(p + k * stride) = *(const T *)R::element(row, k);
  }
}

/* What passes through shared memory in a scan S: rows in and out, which share their memory if results are no longer. */
template <class S> struct gr_scan_shape {
  static constexpr int each = S::each, row = 32 * each, tile = row * GR_SCAN_ROWS;
  using In = gr_scan_row<typename S::In, each>;
  using Out = gr_scan_row<typename S::Out, each>;
  static constexpr int results = Out::bytes > In::bytes ? Out::bytes : 0;
};

/* This lane's elements of a row as values. */
template <class S>
static __device__ __forceinline__ void gr_scan_take(typename S::Value (&v)[S::count], const char *row, bool back,
                                                    int64_t flip, int lane) {
  typename S::In x[S::each];
  gr_scan_shape<S>::In::take(row, lane, back, x);
  S::values(x, v, flip);
}

/*
** Results of a row, whose scanned values are v and which follow base, to where they pass: all lanes have read what is
** there. starts: this lane has a scan's first element. v is used up.
*/
template <class S>
static __device__ __forceinline__ void gr_scan_give(const gr_scan &q, char *row, typename S::Value (&v)[S::count],
                                                    typename S::Value base, bool starts, int lane) {
  typename S::Out out[S::each];
  base = S::broadcast(base, v[S::count - 1]);
#pragma unroll 1
  for (int turn = 0; turn < q.exclusive; turn++) { /* one or none: from an `if` the compiler makes a choice a word */
#pragma unroll
    for (int k = S::count - 1; k > 0; k--) v[k] = v[k - 1];
    v[0] = S::identity();
    if constexpr (S::ordered)
      if (starts) v[0] += 0.0; /* a sum starts at 0, but its identity is -0 */
  }
#pragma unroll
  for (int k = 0; k < S::count; k++) v[k] = S::join(base, v[k]);
  S::results(v, out, q.flip);
  gr_scan_shape<S>::Out::give(row, lane, out);
}

#endif
