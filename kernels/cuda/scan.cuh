/*
** Running sums, products, minima and maxima in one launch. Blocks take tiles of 4096 elements; a tile publishes what
** it adds up to before it knows what lies before it, and learns that from totals of tiles, groups of 32 tiles and
** superblocks of 32 groups before it: always the same ones, so that the order of additions depends on positions
** alone (docs/numerics.md: the scan). Two kernels: up to a superblock each block has one tile; beyond that blocks stay.
*/
#ifndef GR_SCAN_CUH
#define GR_SCAN_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"

#define GR_SCAN_WARPS 8 /* that read and write; one more looks back */
#define GR_SCAN_THREADS ((GR_SCAN_WARPS + 1) * 32)
/* Blocks that share a multiprocessor's registers; Turing has half the threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define GR_SCAN_BLOCKS(bytes) ((bytes) > 8 ? 2 : 3)
#else
#define GR_SCAN_BLOCKS(bytes) ((bytes) > 8 ? 3 : 4)
#endif
#define GR_SCAN_ROW 256
#define GR_SCAN_ROWS 16 /* a tile; a warp has two */
#define GR_SCAN_TILE (GR_SCAN_ROW * GR_SCAN_ROWS)
#define GR_SCAN_ONCE 1024 /* tiles at most, when each has a block: a superblock */

/* A published total: each word carries half of it and the launch's tag, so a word is either whole or not there. */
typedef ulonglong2 gr_scan_state;

typedef struct gr_scan {
  const char *a;
  char *out;
  int64_t a_stride, out_stride; /* in logical order: negative when the scan runs backwards */
  int64_t n, tiles;
  int32_t exclusive;
  int64_t flip; /* of keys: complements them for max, where the smallest is looked for too; of signed integers */
  uint64_t start; /* the element that an exclusive scan starts with */
  unsigned *next; /* the next tile to take */
  gr_scan_state *tile, *group, *super;
  uint32_t tag;
} gr_scan;

/* ---- what is scanned: values of up to 8 bytes, how elements become values and values results ---- */

template <gr_dtype D, bool multiplies> struct gr_scan_float {
  using Value = double;
  using In = gr_type<D>;
  using Out = std::conditional_t<D == GR_F64, double, float>;
  static __device__ __forceinline__ Value identity() { return multiplies ? 1.0 : -0.0; }
  static __device__ __forceinline__ Value join(Value x, Value y) { return multiplies ? x * y : x + y; }
  static __device__ __forceinline__ Value value(In x, int64_t) { return gr_to_f64<D>(x); }
  static __device__ __forceinline__ Out result(Value x, int64_t) {
    if constexpr (D == GR_F64) return gr_canonical(x);
    float y = (float)x; /* as gr_f64_to_f32: NaN when x is */
    return y == y ? y : gr_from_bits32(0x7fc00000u);
  }
};

/* Signed integers are scanned as unsigned ones of their size: `flip` is then their sign's bit. */
template <gr_dtype D, bool multiplies> struct gr_scan_integer {
  using Value = int64_t;
  using In = gr_type<D>;
  using Out = int64_t;
  static __device__ __forceinline__ Value identity() { return multiplies; }
  static __device__ __forceinline__ Value join(Value x, Value y) {
    return (int64_t)(multiplies ? (uint64_t)x * (uint64_t)y : (uint64_t)x + (uint64_t)y);
  }
  static __device__ __forceinline__ Value value(In x, int64_t flip) {
    if constexpr (gr_size<D> < 4) return (int32_t)(x ^ (uint32_t)flip) - (int32_t)flip;
    else if constexpr (gr_size<D> == 4) return (int64_t)(x ^ (uint32_t)flip) - flip;
    else return x;
  }
  static __device__ __forceinline__ Out result(Value x, int64_t) { return x; }
};

/*
** Keys, of 32 bits where they suffice; an integer becomes one by `flip`, signed or not. Of floats the smallest key
** stands for NaN, which wins over everything.
*/
template <gr_dtype D> struct gr_scan_order {
  using Value = std::conditional_t<gr_size<D> == 8, int64_t, int32_t>;
  using In = gr_type<D>;
  using Out = gr_type<D>;
  static constexpr Value lowest = (Value)((Value)1 << (sizeof(Value) * 8 - 1));
  static __device__ __forceinline__ Value identity() { return ~lowest; }
  static __device__ __forceinline__ Value join(Value x, Value y) { return y < x ? y : x; }
  static __device__ __forceinline__ Value value(In x, int64_t flip) {
    if constexpr (!gr_floating<D>) return (Value)x ^ (Value)flip;
    else return gr_is_nan<D>(x) ? lowest : (Value)gr_element<D>::key(x) ^ (Value)flip;
  }
  static __device__ __forceinline__ Out result(Value v, int64_t flip) {
    Value key = v ^ (Value)flip;
    bool nan = v == lowest;
    Out x;
    if constexpr (D == GR_F64) x = nan ? gr_nan() : gr_from_bits64((uint64_t)gr_key_bits64((uint64_t)key));
    else if constexpr (D == GR_F32) x = gr_from_bits32(nan ? 0x7fc00000u : (uint32_t)gr_key_bits32((uint32_t)key));
    else if constexpr (D == GR_F16) x.bits = nan ? 0x7e00 : (uint16_t)gr_key_bits16((uint16_t)key);
    else if constexpr (D == GR_BF16) x.bits = nan ? 0x7fc0 : (uint16_t)gr_key_bits16((uint16_t)key);
    else x = (Out)key;
    return x;
  }
};

/* ---- published totals ---- */

template <class S>
static __device__ __forceinline__ void gr_scan_publish(gr_scan_state *at, typename S::Value v, uint32_t tag) {
  uint64_t u = 0;
  memcpy(&u, &v, sizeof v);
  uint64_t low = (uint64_t)tag << 32 | (uint32_t)u, high = (uint64_t)tag << 32 | u >> 32;
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(at), "l"(low), "l"(high) : "memory");
}

static __device__ __forceinline__ gr_scan_state gr_scan_peek(const gr_scan_state *at) {
  gr_scan_state u;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(u.x), "=l"(u.y) : "l"(at) : "memory");
  return u;
}

/* What is published there; u is a first look at it. */
template <class S>
static __device__ __forceinline__ typename S::Value gr_scan_await(gr_scan_state u, const gr_scan_state *at,
                                                                  uint32_t tag) {
  while ((uint32_t)(u.x >> 32) != tag || (uint32_t)(u.y >> 32) != tag) u = gr_scan_peek(at);
  uint64_t bits = u.y << 32 | (uint32_t)u.x;
  typename S::Value v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* ---- within a warp ---- */

/* Inclusive scan over `count` lanes: in each step the upper half of a group adds the last of its lower half. */
template <class S>
static __device__ __forceinline__ typename S::Value gr_scan_lanes(typename S::Value v, int count, int lane) {
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    if (h >= count) break;
    typename S::Value last = __shfl_sync(~0u, v, (lane & ~(2 * h - 1)) + h - 1);
    if (lane & h) v = S::join(last, v);
  }
  return v;
}

template <class S> static __device__ __forceinline__ void gr_scan_eight(typename S::Value (&v)[8]) {
#pragma unroll
  for (int h = 1; h < 8; h *= 2)
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (k & h) v[k] = S::join(v[(k & ~(2 * h - 1)) + h - 1], v[k]);
}

/* The value before this lane's. */
template <class S> static __device__ __forceinline__ typename S::Value gr_scan_before(typename S::Value v, int lane) {
  typename S::Value before = __shfl_up_sync(~0u, v, 1);
  return lane == 0 ? S::identity() : before;
}

/* ---- between memory and the lanes that own 8 elements in a row ---- */

/*
** A row passes through shared memory, so that global memory sees 16-byte words in order while a lane gets its 8
** neighbours. Words are swizzled so that neither side meets bank conflicts.
*/
template <int size> struct gr_scan_row {
  static constexpr int words = size * 8 > 16 ? size * 8 / 16 : 1; /* of a lane */
  static __device__ __forceinline__ int place(int word) { return word ^ (word >> 3 & (words - 1)); }
  static __device__ __forceinline__ char *element(char *row, int k) {
    int byte = k * size;
    return row + place(byte >> 4) * 16 + (byte & 15);
  }
  /* This lane's eight elements. */
  template <typename T> static __device__ __forceinline__ void take(const char *row, int lane, T (&x)[8]) {
    if constexpr (size == 1) {
      memcpy(x, __builtin_assume_aligned(row + lane * 8, 8), 8);
    } else {
#pragma unroll
      for (int w = 0; w < words; w++) {
        uint4 u = *(const uint4 *)(row + place(lane * words + w) * 16);
        memcpy((char *)x + w * 16, &u, 16);
      }
    }
  }
  template <typename T> static __device__ __forceinline__ void give(char *row, int lane, const T (&x)[8]) {
    if constexpr (size == 1) {
      memcpy(__builtin_assume_aligned(row + lane * 8, 8), x, 8);
    } else {
#pragma unroll
      for (int w = 0; w < words; w++) {
        uint4 u;
        memcpy(&u, (const char *)x + w * 16, 16);
        *(uint4 *)(row + place(lane * words + w) * 16) = u;
      }
    }
  }
};

/* How a tile's elements lie: 16-byte words in order, or in the opposite order, or one by one. */
enum gr_scan_walk { GR_SCAN_SINGLY, GR_SCAN_FORWARD, GR_SCAN_BACKWARD };

template <typename T> static __device__ __forceinline__ gr_scan_walk gr_scan_walk_of(const char *p, int64_t stride) {
  const int64_t size = (int64_t)sizeof(T);
  if (stride == size && ((uintptr_t)p & 15) == 0) return GR_SCAN_FORWARD;
  return stride == -size && ((uintptr_t)(p + size) & 15) == 0 ? GR_SCAN_BACKWARD : GR_SCAN_SINGLY;
}

/* The elements of a word in opposite order. */
template <int size> static __device__ __forceinline__ uint4 gr_scan_mirror(uint4 u) {
  if constexpr (size == 8) return make_uint4(u.z, u.w, u.x, u.y);
  constexpr unsigned order = size == 4 ? 0x3210 : size == 2 ? 0x1032 : 0x0123;
  return make_uint4(__byte_perm(u.w, 0, order), __byte_perm(u.z, 0, order), __byte_perm(u.y, 0, order),
                    __byte_perm(u.x, 0, order));
}

/* Two neighbouring rows of a warp; p is where the first element is, `left` how many there are. */
template <typename T>
static __device__ __forceinline__ void gr_scan_read(char *rows, const char *p, int64_t stride, int64_t left,
                                                    gr_scan_walk walk, int lane) {
  constexpr int size = (int)sizeof(T), words = 2 * GR_SCAN_ROW * size / 16, each = words / 32;
  using R = gr_scan_row<size>;
  if (walk == GR_SCAN_SINGLY || left < 2 * GR_SCAN_ROW) {
#pragma unroll 8
    for (int k = lane; k < 2 * GR_SCAN_ROW; k += 32)
      if (k < left) *(T *)R::element(rows, k) = *(const T *)(p + k * stride);
  } else {
    bool back = walk == GR_SCAN_BACKWARD;
    const uint4 *from = (const uint4 *)(back ? p + size - 16 : p);
    uint4 u[each];
#pragma unroll
    for (int w = 0; w < each; w++) u[w] = __ldcs(from + (back ? -(w * 32 + lane) : w * 32 + lane));
#pragma unroll
    for (int w = 0; w < each; w++)
      *(uint4 *)(rows + R::place(w * 32 + lane) * 16) = back ? gr_scan_mirror<size>(u[w]) : u[w];
  }
  __syncwarp();
}

template <typename T>
static __device__ __forceinline__ void gr_scan_write(char *row, char *p, int64_t stride, int64_t left,
                                                     gr_scan_walk walk, int lane) {
  constexpr int size = (int)sizeof(T), words = GR_SCAN_ROW * size / 16;
  using R = gr_scan_row<size>;
  __syncwarp();
  if (walk == GR_SCAN_SINGLY || left < GR_SCAN_ROW) {
#pragma unroll 8
    for (int k = lane; k < GR_SCAN_ROW; k += 32)
      if (k < left) *(T *)(p + k * stride) = *(const T *)R::element(row, k);
  } else {
    bool back = walk == GR_SCAN_BACKWARD;
    uint4 *to = (uint4 *)(back ? p + size - 16 : p);
#pragma unroll
    for (int w = lane; w < words; w += 32) {
      uint4 u = *(const uint4 *)(row + R::place(w) * 16);
      __stcs(to + (back ? -w : w), back ? gr_scan_mirror<size>(u) : u);
    }
  }
  __syncwarp();
}

/* ---- the kernel for long scans ---- */

template <class S> struct gr_scan_shared {
  using Value = typename S::Value;
  /* Two tiles, two rows of each for a warp; and where a row of results passes: over its elements if no longer. */
  static constexpr int in = GR_SCAN_ROW * (int)sizeof(typename S::In), out = GR_SCAN_ROW * (int)sizeof(typename S::Out);
  static constexpr int lead = out > in ? out : 0;
  __align__(16) char rows[GR_SCAN_WARPS][lead + 4 * in];
  Value row[2][GR_SCAN_ROWS]; /* of each tile: totals, then what lies before each row in the tile */
  Value base[2];              /* all that lies before each tile */
  Value total[2];             /* of each tile */
  int64_t take[2];            /* which tile each is */
  __device__ __forceinline__ char *elements(int warp, int half, int r) {
    return rows[warp] + lead + (half * 2 + r) * in;
  }
  __device__ __forceinline__ char *results(int warp, int half, int r) {
    return lead ? rows[warp] : elements(warp, half, r);
  }
};

/* One warp: what lies before each row of a tile, from the rows' totals; and the tile's total, for all to see. */
template <class S>
static __device__ __forceinline__ void gr_scan_rows(const gr_scan &q, gr_scan_shared<S> &s, int64_t tile, int half,
                                                    int lane) {
  typename S::Value v = S::identity(), total;
  if (lane < GR_SCAN_ROWS) v = s.row[half][lane];
  v = gr_scan_lanes<S>(v, GR_SCAN_ROWS, lane);
  total = __shfl_sync(~0u, v, GR_SCAN_ROWS - 1);
  if (lane == 0) {
    gr_scan_publish<S>(&q.tile[tile], total, q.tag);
    s.total[half] = total;
  }
  v = gr_scan_before<S>(v, lane);
  if (lane < GR_SCAN_ROWS) s.row[half][lane] = v;
}

/* Where one warp looks for what lies before a tile: each lane at a tile of its group and a group of its superblock. */
template <class S> struct gr_scan_place {
  int64_t group, super;
  int in_group, in_super;
  const gr_scan_state *t, *g, *done;
  gr_scan_state first_t, first_g, first_done;
  __device__ __forceinline__ gr_scan_place(const gr_scan &q, int64_t tile, int lane) {
    group = tile >> 5;
    super = tile >> 10;
    in_group = (int)(tile & 31);
    in_super = (int)(group & 31);
    t = &q.tile[tile - in_group + lane];
    g = &q.group[group - in_super + lane];
    done = &q.super[super];
  }
  /* A first look at everything at once. */
  __device__ __forceinline__ void peek(int lane) {
    if (lane < in_group) first_t = gr_scan_peek(t);
    if (lane < in_super) first_g = gr_scan_peek(g);
    if (super > 0) first_done = gr_scan_peek(done);
  }
};

/*
** All that lies before the tile, whose own total is given. Whoever has the last tile of a group adds the group up,
** and the last one of a superblock what lies before the next.
*/
template <class S>
static __device__ __forceinline__ typename S::Value gr_scan_look_back(const gr_scan &q, const gr_scan_place<S> &p,
                                                                      typename S::Value total, int lane) {
  using Value = typename S::Value;
  Value t = lane == p.in_group ? total : S::identity(), g = S::identity(), done = S::identity();
  if (lane < p.in_group) t = gr_scan_await<S>(p.first_t, p.t, q.tag);
  __syncwarp();
  t = gr_scan_lanes<S>(t, 32, lane);
  Value group_total = __shfl_sync(~0u, t, 31);
  if (p.in_group == 31 && lane == 0) gr_scan_publish<S>(&q.group[p.group], group_total, q.tag);
  if (lane < p.in_super) g = gr_scan_await<S>(p.first_g, p.g, q.tag);
  else if (lane == p.in_super && p.in_group == 31) g = group_total;
  if (p.super > 0) done = gr_scan_await<S>(p.first_done, p.done, q.tag);
  __syncwarp();
  g = gr_scan_lanes<S>(g, 32, lane);
  if (p.in_group == 31 && p.in_super == 31 && lane == 31)
    gr_scan_publish<S>(&q.super[p.super + 1], S::join(done, g), q.tag);
  t = gr_scan_before<S>(t, lane);
  g = gr_scan_before<S>(g, lane);
  return S::join(S::join(done, __shfl_sync(~0u, g, p.in_super)), __shfl_sync(~0u, t, p.in_group));
}

/* Barriers: of the warps that read and write, and of all. */
static __device__ __forceinline__ void gr_scan_meet() {
  asm volatile("bar.sync 1, %0;" : : "n"(GR_SCAN_WARPS * 32) : "memory");
}
static __device__ __forceinline__ void gr_scan_meet_all() {
  asm volatile("bar.sync 2, %0;" : : "n"(GR_SCAN_THREADS) : "memory");
}

/* This lane's eight elements of a row, scanned; `left` elements of the row are there. */
template <class S>
static __device__ __forceinline__ void gr_scan_own(typename S::Value (&v)[8], const char *row, int64_t left,
                                                   int64_t flip, int lane) {
  typename S::In x[8];
  gr_scan_row<(int)sizeof(typename S::In)>::take(row, lane, x);
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = S::value(x[k], flip);
  if (left < GR_SCAN_ROW)
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (lane * 8 + k >= left) v[k] = S::identity();
  gr_scan_eight<S>(v);
}

/* Results of the elements v that follow base. */
template <class S>
static __device__ __forceinline__ void gr_scan_results(const gr_scan &q, const typename S::Value (&v)[8],
                                                       typename S::Value base, typename S::Out (&out)[8]) {
#pragma unroll
  for (int k = 0; k < 8; k++) {
    if (q.exclusive) out[k] = S::result(k ? S::join(base, v[k ? k - 1 : 0]) : base, q.flip);
    else out[k] = S::result(S::join(base, v[k]), q.flip);
  }
}

/* The warp that looks back, one tile after another, while the others write the one before and read the next. */
template <class S>
static __device__ __forceinline__ void gr_scan_looker(const gr_scan &q, gr_scan_shared<S> &s, int lane) {
  for (int half = 1;; half ^= 1) {
    gr_scan_meet_all();
    int64_t tile = s.take[half];
    if (tile >= q.tiles) return;
    gr_scan_place<S> place(q, tile, lane);
    place.peek(lane);
    typename S::Value base = gr_scan_look_back<S>(q, place, s.total[half], lane);
    if (lane == 0) s.base[half] = base;
    __syncwarp();
  }
}

/*
** A tile is read, added up and published; it is written after the block has done so for its next tile, by when
** what lies before it is known. Publishing never waits for anything, so no block holds up the others. Elements
** stay in shared memory and are scanned a second time then: that costs less than keeping the first scan in registers.
*/
template <class S>
static __global__ void
__launch_bounds__(GR_SCAN_THREADS, GR_SCAN_BLOCKS(sizeof(typename S::In) + sizeof(typename S::Out)))
gr_scan_tiles(const __grid_constant__ gr_scan q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  extern __shared__ __align__(16) char memory[];
  gr_scan_shared<S> &s = *(gr_scan_shared<S> *)memory;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, half = 0;
  if (warp == GR_SCAN_WARPS) {
    gr_scan_looker<S>(q, s, lane);
    return;
  }
  gr_scan_walk walk_in = gr_scan_walk_of<In>(q.a, q.a_stride), walk_out = gr_scan_walk_of<Out>(q.out, q.out_stride);
  int64_t offset = warp * 2 * GR_SCAN_ROW, tile = -1;
  Value before[2] = {S::identity(), S::identity()}, v[8];
  unsigned last_ticket = (unsigned)(q.tiles + gridDim.x - 1); /* the counter wraps to zero when all have asked */
  if (threadIdx.x == 32) s.take[1] = atomicInc(q.next, last_ticket);
  for (;;) {
    gr_scan_meet();
    int64_t next = s.take[half ^ 1];
    Value before_next[2];
    if (next < q.tiles) { /* read and add up */
      int64_t at = next * GR_SCAN_TILE + offset, rest = q.n - at;
      gr_scan_read<In>(s.elements(warp, half ^ 1, 0), q.a + at * q.a_stride, q.a_stride, rest, walk_in, lane);
#pragma unroll
      for (int r = 0; r < 2; r++) {
        gr_scan_own<S>(v, s.elements(warp, half ^ 1, r), rest - r * GR_SCAN_ROW, q.flip, lane);
        Value w = gr_scan_lanes<S>(v[7], 32, lane);
        if (lane == 31) s.row[half ^ 1][warp * 2 + r] = w;
        before_next[r] = gr_scan_before<S>(w, lane);
      }
    }
    gr_scan_meet();
    if (warp == 0 && next < q.tiles) gr_scan_rows<S>(q, s, next, half ^ 1, lane);
    gr_scan_meet(); /* for racecheck alone, which does not see that the next barrier orders what warp 0 wrote */
    gr_scan_meet_all();
    /* Another tile, now that nothing keeps this block from publishing it: all others wait for that. */
    if (threadIdx.x == 32 && next < q.tiles) s.take[half] = atomicInc(q.next, last_ticket);
    if (tile >= 0) { /* write */
      int64_t from = tile * GR_SCAN_TILE + offset, left = q.n - from;
      Value base = s.base[half];
#pragma unroll
      for (int r = 0; r < 2; r++) {
        int64_t at = from + r * GR_SCAN_ROW, rest = left - r * GR_SCAN_ROW;
        char *row = s.results(warp, half, r);
        Out out[8];
        gr_scan_own<S>(v, s.elements(warp, half, r), rest, q.flip, lane);
        gr_scan_results<S>(q, v, S::join(base, S::join(s.row[half][warp * 2 + r], before[r])), out);
        if (q.exclusive && at == 0 && lane == 0) memcpy(&out[0], &q.start, sizeof out[0]);
        __syncwarp();
        gr_scan_row<(int)sizeof(Out)>::give(row, lane, out);
        gr_scan_write<Out>(row, q.out + at * q.out_stride, q.out_stride, rest, walk_out, lane);
      }
    }
    if (next >= q.tiles) return;
    tile = next;
    half ^= 1;
    before[0] = before_next[0];
    before[1] = before_next[1];
  }
}

/* ---- the kernel for short scans: a tile a block, and nothing is read twice ---- */

/* As gr_scan_lanes, of `count` values side by side. */
template <class S, int lanes, int count>
static __device__ __forceinline__ void gr_scan_beside(typename S::Value (&v)[count], int lane) {
#pragma unroll
  for (int h = 1; h < lanes; h *= 2)
#pragma unroll
    for (int r = 0; r < count; r++) {
      typename S::Value last = __shfl_sync(~0u, v[r], h - 1, 2 * h);
      if (lane & h) v[r] = S::join(last, v[r]);
    }
}

/* A copy to shared memory that the thread does not wait for, where the chip has it. */
template <int size> static __device__ __forceinline__ void gr_scan_fetch(char *to, const char *from) {
#if __CUDA_ARCH__ >= 800
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else if constexpr (size >= 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(size) : "memory");
  else
#endif
  {
    using Word = std::conditional_t<size == 16, uint4,
                   std::conditional_t<size == 8, uint2,
                     std::conditional_t<size == 4, uint32_t, std::conditional_t<size == 2, uint16_t, uint8_t>>>>;
    *(Word *)to = *(const Word *)from;
  }
}

/* This lane's eight elements of a row; back: each word lies there in opposite order. */
template <typename T>
static __device__ __forceinline__ void gr_scan_take(const char *row, int lane, bool back, T (&x)[8]) {
  constexpr int size = (int)sizeof(T);
  using R = gr_scan_row<size>;
  if constexpr (size == 1) {
    uint2 u = *(const uint2 *)(row + (back ? lane ^ 1 : lane) * 8);
    if (back) u = make_uint2(__byte_perm(u.y, 0, 0x0123), __byte_perm(u.x, 0, 0x0123));
    memcpy(x, &u, 8);
  } else {
    int first = R::place(lane * R::words) * 16;
#pragma unroll
    for (int w = 0; w < R::words; w++) {
      uint4 u = *(const uint4 *)(row + (first ^ w * 16));
      if (back) u = gr_scan_mirror<size>(u);
      memcpy((char *)x + w * 16, &u, 16);
    }
  }
}

/*
** A warp asks for two neighbouring rows: p is where the first element is, `left` how many there are. Words of a backward
** walk keep their order. What is absent is zero here, as good as anything: it comes after all that counts.
*/
template <typename T>
static __device__ __forceinline__ void gr_scan_ask(char *rows, const char *p, int64_t stride, int64_t left,
                                                   gr_scan_walk walk, int lane) {
  constexpr int size = (int)sizeof(T), count = 2 * GR_SCAN_ROW, words = count * size / 16;
  using R = gr_scan_row<size>;
  bool back = walk == GR_SCAN_BACKWARD;
  if (walk == GR_SCAN_SINGLY || left < count) {
    int mirror = back ? 16 / size - 1 : 0;
    int here = left < count ? (int)left : count;
#pragma unroll 8
    for (int k = lane; k < here; k += 32) gr_scan_fetch<size>(R::element(rows, k ^ mirror), p + k * stride);
#pragma unroll 1
    for (int k = here + lane; k < count; k += 32) *(T *)R::element(rows, k ^ mirror) = T();
  } else {
    int64_t step = back ? -512 : 512;
    const char *from = (back ? p + size - 16 - lane * 16 : p + lane * 16);
    char *to = rows + R::place(lane) * 16;
#pragma unroll 8
    for (int w = 0; w < words / 32; w++) gr_scan_fetch<16>(to + w * 512, from + w * step);
  }
}

template <class S> struct gr_scan_once_shared {
  static constexpr int in = GR_SCAN_ROW * (int)sizeof(typename S::In), out = GR_SCAN_ROW * (int)sizeof(typename S::Out);
  __align__(128) char rows[GR_SCAN_WARPS][2][out > in ? out : in]; /* elements in front, then results */
  typename S::Value total[GR_SCAN_ROWS], group[32];
};

/*
** Blocks wait for blocks before them alone, which the hardware starts first. Each adds up all groups of tiles before
** its own itself, a group a warp, rather than wait until somebody has.
*/
template <class S>
static __global__ void __launch_bounds__(GR_SCAN_WARPS * 32, 2) gr_scan_once(const __grid_constant__ gr_scan q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  __shared__ gr_scan_once_shared<S> s;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, tile = blockIdx.x, mine = tile >> 5;
  const int64_t at = (int64_t)tile * GR_SCAN_TILE + warp * 2 * GR_SCAN_ROW;
  gr_scan_walk walk_in = gr_scan_walk_of<In>(q.a, q.a_stride), walk_out = gr_scan_walk_of<Out>(q.out, q.out_stride);
  Value v[2][8], row[2], before[2], r[1], g[1];
  if (at < q.n) gr_scan_ask<In>(s.rows[warp][0], q.a + at * q.a_stride, q.a_stride, q.n - at, walk_in, lane);
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 2; k++) {
    In x[8];
    gr_scan_take(s.rows[warp][0] + k * s.in, lane, walk_in == GR_SCAN_BACKWARD, x);
#pragma unroll
    for (int c = 0; c < 8; c++) v[k][c] = S::value(x[c], q.flip);
    gr_scan_eight<S>(v[k]);
    row[k] = v[k][7];
  }
  gr_scan_beside<S, 32>(row, lane);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (lane == 31) s.total[warp * 2 + k] = row[k];
    before[k] = gr_scan_before<S>(row[k], lane);
  }
  __syncthreads();
  r[0] = s.total[lane & (GR_SCAN_ROWS - 1)];
  gr_scan_beside<S, GR_SCAN_ROWS>(r, lane);
  Value total = __shfl_sync(~0u, r[0], GR_SCAN_ROWS - 1);
  if (threadIdx.x == 0) gr_scan_publish<S>(&q.tile[tile], total, q.tag);
  r[0] = gr_scan_before<S>(r[0], lane);
  for (int k = warp; k <= mine; k += GR_SCAN_WARPS) { /* of its own group: what lies before it */
    const gr_scan_state *from = &q.tile[k * 32 + lane];
    g[0] = S::identity();
    if (k * 32 + lane < tile) g[0] = gr_scan_await<S>(gr_scan_peek(from), from, q.tag);
    __syncwarp();
    gr_scan_beside<S, 32>(g, lane);
    if (lane == (k < mine ? 31 : (tile & 31) - 1) || (lane == 0 && k * 32 == tile)) s.group[k] = g[0];
  }
  __syncthreads();
  g[0] = lane < mine ? s.group[lane] : S::identity();
  gr_scan_beside<S, 32>(g, lane);
  Value base = __shfl_sync(~0u, gr_scan_before<S>(g[0], lane), mine);
  base = S::join(base, s.group[mine]);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    Out out[8];
    gr_scan_results<S>(q, v[k], S::join(base, S::join(__shfl_sync(~0u, r[0], warp * 2 + k), before[k])), out);
    if (q.exclusive && threadIdx.x == 0 && tile == 0 && k == 0) memcpy(&out[0], &q.start, sizeof out[0]);
    gr_scan_row<(int)sizeof(Out)>::give(s.rows[warp][k], lane, out);
  }
#pragma unroll 1
  for (int k = 0; k < 2; k++) {
    int64_t from = at + k * GR_SCAN_ROW;
    gr_scan_write<Out>(s.rows[warp][k], q.out + from * q.out_stride, q.out_stride, q.n - from, walk_out, lane);
  }
}

template <class S> static cudaError_t gr_scan_start(const gr_scan *q, const gr_cuda_chip *chip, cudaStream_t stream) {
  void *args[] = {(void *)q};
  size_t shared = sizeof(gr_scan_shared<S>);
  int64_t most = (int64_t)chip->sms * 4;
  if (q->tiles <= GR_SCAN_ONCE)
    return cudaLaunchKernel((const void *)gr_scan_once<S>, (unsigned)q->tiles, GR_SCAN_WARPS * 32, args, 0, stream);
  if (shared > 48 * 1024) {
    cudaError_t e = cudaFuncSetAttribute((const void *)gr_scan_tiles<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)shared);
    if (e != cudaSuccess) return e;
  }
  unsigned blocks = (unsigned)(q->tiles < most ? q->tiles : most);
  return cudaLaunchKernel((const void *)gr_scan_tiles<S>, blocks, GR_SCAN_THREADS, args, shared, stream);
}

/* The dtype that stands for all integers of a size. */
static inline gr_dtype gr_scan_pattern(gr_dtype t) {
  return t == GR_I8 ? GR_U8 : t == GR_I16 ? GR_U16 : t == GR_I32 ? GR_U32 : t;
}

cudaError_t gr_scan_floats(gr_dtype, int multiplies, const gr_scan *, const gr_cuda_chip *, cudaStream_t);
cudaError_t gr_scan_integers(gr_dtype, int multiplies, const gr_scan *, const gr_cuda_chip *, cudaStream_t);
cudaError_t gr_scan_orders(gr_dtype, const gr_scan *, const gr_cuda_chip *, cudaStream_t);

#endif
