/*
** Rows that a warp can hold: up to 4 KB of neighbouring rows go to shared memory, by aligned words whatever
** the rows' alignment, and are read back element by element. A tiny row belongs to one thread, a longer
** one to the warp. Lanes of a leaf that a short row leaves empty are identities, so that folding only the
** lanes in use gives the tree's bits.
*/
#ifndef GR_CUDA_REDUCE_ROWS_BY_ELEMENT_CUH
#define GR_CUDA_REDUCE_ROWS_BY_ELEMENT_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/leaves.cuh"

/*
** Staged bytes: where threads have rows of their own, and where few share one whose lanes have no order, every 128 are
** followed by a gap of one element (at least 4 bytes), so that rows of 2^k bytes meet different banks.
*/
template <gr_dtype D, bool gaps>
struct gr_stage {
  static constexpr int gap = !gaps ? 0 : gr_size<D> == 8 ? 8 : 4,
                       bytes = ((gr_by_element_bytes + 32) / 128 * (128 + gap) + 128 + 15) / 16 * 16;
  const char *base;
  __device__ __forceinline__ int place(int at) const { return at + (at >> 7) * gap; }

  /* Copies `bytes` bytes from p; gives where in the stage they start. All words are in flight at once. */
  __device__ __forceinline__ int fill(const char *p, int bytes, int lane) const {
    int shift = (int)((uintptr_t)p & 15), words = (shift + bytes + 15) >> 4;
    uint4 w[gr_by_element_bytes / 512 + 1];
#pragma unroll
    for (int i = 0; i <= gr_by_element_bytes / 512; i++)
      if (i * 32 + lane < words) w[i] = gr_load16(p - shift + (i * 32 + lane) * 16);
#pragma unroll
    for (int i = 0; i <= gr_by_element_bytes / 512; i++)
      if (i * 32 + lane < words) {
        uint32_t *to = (uint32_t *)(base + place((i * 32 + lane) * 16));
        to[0] = w[i].x;
        to[1] = w[i].y;
        to[2] = w[i].z;
        to[3] = w[i].w;
      }
    return shift;
  }
  __device__ __forceinline__ gr_type<D> get(int at) const { return *(const gr_type<D> *)(base + place(at)); }
  __device__ __forceinline__ uint32_t get4(int at) const { return *(const uint32_t *)(base + place(at)); }
  /* 16 bytes from anywhere, of a stage without gaps. */
  __device__ __forceinline__ uint4 get16(int at) const {
    const uint4 *w = (const uint4 *)(base + (at & ~15));
    return at & 15 ? gr_realign(w[0], w[1], at & 15) : w[0];
  }
};

/* One row in the stage (or one of each input): where it starts. */
template <class R, bool gaps>
struct gr_by_element_row {
  using T = gr_type<R::dtype>;
  static constexpr int size = gr_size<R::dtype>, each = 16 / size;
  static constexpr int held = R::inputs == 2 && R::lanes ? gr_by_element_held : 0;
  gr_stage<R::dtype, gaps> stage_a, stage_b;
  int a, b, n;
  bool fours; /* every row starts at a multiple of four bytes */
  T second[held ? held : 1]; /* of the second input, what this thread's lanes of a row meet */

  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane &l, int k, const gr_context &c) const {
    T x = stage_a.get(a + k * size), y = x;
    if (Q::inputs == 2) y = stage_b.get(b + k * size);
    Q::add(l, x, y, c, k);
  }

  /* `count` elements of the second input, for tiny: of one vector for all rows, once. */
  template <int count>
  __device__ __forceinline__ void hold(int at, int apart) {
    static_assert(count <= held, "more than are held");
#pragma unroll
    for (int i = 0; i < count; i++)
      if (at + i * apart < n) second[i] = stage_b.get(b + (at + i * apart) * size);
  }
  /* Those of a row that 2^log threads share, of which this is number t. */
  __device__ __forceinline__ void hold_row(int t, int log) {
    if constexpr (held > 0 && gaps) {
      if (n <= 4) hold<4>(0, 1);
      else if (n <= 16) hold<16>(0, 1);
    } else if constexpr (held > 0) {
      if (log < 5) hold<8>(t, 1 << log);
    }
  }

  /*
  ** A thread's `count` lanes with one element each, folded by halves: lanes at, at + apart, at + 2 apart, ...
  ** Of these, first, first + step, ... here. holds: what they meet is held.
  */
  template <class Q, int count, bool holds = false, int first = 0, int step = 1>
  __device__ __forceinline__ gr_acc tiny(int at, int apart, const gr_context &c) const {
    if constexpr (step == count) {
      typename Q::Lane l = Q::start();
      const int k = at + first * apart;
      if constexpr (holds && Q::inputs == 2) {
        if (k < n) Q::add(l, stage_a.get(a + k * size), second[first], c, k);
      } else {
        if (k < n) add<Q>(l, k, c);
      }
      return Q::state(l, c);
    } else {
      gr_acc low = tiny<Q, count, holds, first, step * 2>(at, apart, c),
             high = tiny<Q, count, holds, first + step, step * 2>(at, apart, c);
      return Q::merge(low, high);
    }
  }
  /* The same of 16-bit elements, two at a time: what words at, at + apart, ... fold to, lower halves and upper
     halves apart. */
  template <class Q, int count, int first = 0, int step = 1>
  __device__ __forceinline__ void tiny_words(gr_acc (&v)[2], int at, int apart, const gr_context &c) const {
    if constexpr (step == count) {
      int k = (at + first * apart) * 2;
      uint4 x = make_uint4(0, 0, 0, 0);
      if (k < n) x.x = stage_a.get4(a + k * size);
#pragma unroll
      for (int i = 0; i < 2; i++) {
        typename Q::Lane l = Q::start();
        if (k + i < n) Q::add(l, gr_pick<R::dtype>(x, i), gr_pick<R::dtype>(x, i), c, 0);
        v[i] = Q::state(l, c);
      }
    } else {
      gr_acc high[2];
      tiny_words<Q, count, first, step * 2>(v, at, apart, c);
      tiny_words<Q, count, first + step, step * 2>(high, at, apart, c);
#pragma unroll
      for (int i = 0; i < 2; i++) v[i] = Q::merge(v[i], high[i]);
    }
  }
  template <class Q>
  __device__ __forceinline__ gr_acc by_words(gr_context c) const {
    gr_acc v[2];
    if (n <= 16) {
      tiny_words<Q, 8>(v, 0, 1, c);
    } else {
      gr_acc even[2];
      int parts = n <= 32 ? 1 : 2;
#pragma unroll 1
      for (int i = 0; i < parts; i++) {
        tiny_words<Q, 16>(v, i, parts, c);
#pragma unroll
        for (int j = 0; j < 2; j++) {
          if (i > 0) v[j] = Q::merge(even[j], v[j]);
          even[j] = v[j];
        }
      }
    }
    return Q::merge(v[0], v[1]);
  }
  /* Out of line, which leaves the other ways of f16 their registers; bf16 would spill. */
  template <class Q>
  __device__ __noinline__ gr_acc by_words_apart(gr_context c) const {
    return by_words<Q>(c);
  }
  /* Without lanes: every element that falls to this thread, narrow ones four bytes at a time where they lie so. */
  template <class Q>
  __device__ __forceinline__ gr_acc any_order(int at, int apart, const gr_context &c) const {
    constexpr int four = size < 4 ? 4 / size : 1;
    typename Q::Lane l = Q::start();
    int k = at;
    if constexpr (four > 1) {
      if (fours) {
#pragma unroll(gr_by_element_unrolled)
        for (k *= four; k + four <= n; k += apart * four) {
          uint4 x = make_uint4(stage_a.get4(a + k * size), 0, 0, 0), y = x;
          if (Q::inputs == 2) y.x = stage_b.get4(b + k * size);
          if constexpr (Q::by_part) {
            Q::add_part(l, x.x, y.x, c);
          } else {
#pragma unroll
            for (int i = 0; i < four; i++) Q::add(l, gr_pick<R::dtype>(x, i), gr_pick<R::dtype>(y, i), c, k + i);
          }
        }
        k = n / four * four + at;
      }
    }
#pragma unroll(gr_by_element_unrolled)
    for (; k < n; k += apart) add<Q>(l, k, c);
    if constexpr (Q::kind == GR_ACC_POSITION) Q::mark(l, l.code);
    return Q::state(l, c);
  }
  /*
  ** A row of one thread. More than 16 lanes: all unrolled for the commonest two, else every fourth of 64 at a time, or
  ** every eighth of 128, in bit-reversed order as halving wants.
  */
  template <class Q>
  __device__ __forceinline__ gr_acc by_thread(const gr_context &c) const {
    if constexpr (!Q::lanes) {
      return any_order<Q>(0, 1, c);
    } else {
      if (n <= 4) return tiny<Q, 4, true>(0, 1, c);
      if constexpr (size == 2 && Q::inputs == 1)
        if (fours && n <= 64) return R::dtype == GR_F16 ? by_words_apart<Q>(c) : by_words<Q>(c);
      if constexpr (size >= 4 && (Q::red == GR_RED_SUM || Q::red == GR_RED_DOT)) {
        if (n <= 16) return tiny<Q, 16, true>(0, 1, c);
        return n <= 32 || size == 8 ? tiny<Q, 32>(0, 1, c) : tiny<Q, (size == 8 ? 32 : 64)>(0, 1, c);
      }
      if (n <= 16) return tiny<Q, 16, true>(0, 1, c);
      gr_stack<gr_acc, 3> stack;
      gr_acc part[1] = {Q::identity()};
      int log = n <= 64 ? 2 : 3;
#pragma unroll 1
      for (int i = 0; i < 1 << log; i++) { /* reversed, they fold by adjacency */
        part[0] = tiny<Q, 16>((int)(__brev((unsigned)i) >> (32 - log)), 1 << log, c);
        stack.push(part, i, Q::merge);
      }
      return part[0];
    }
  }
  /* A row of 2^log neighbouring threads, 8 lanes each, of which this is number t. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_group(int t, int log, const gr_context &c) const {
    gr_acc acc;
    if constexpr (Q::lanes) acc = tiny<Q, 8, true>(t, 1 << log, c);
    else acc = any_order<Q>(t, 1 << log, c);
    for (int h = 1 << log >> 1; h > 0; h /= 2) acc = gr_merge_xor<Q>(acc, h);
    return acc;
  }
  /* A row of the warp, word by word as gr_reduce_leaves reads a leaf. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_warp(int t, const gr_context &c) const {
    if (!Q::lanes && ((a | b) & 15) != 0) { /* a word costs more than its elements */
      gr_acc acc = any_order<Q>(t, 32, c), all[1] = {acc};
      return gr_fold_halves<Q, 1>(all, 32, t);
    }
    gr_lane_set<Q> s = gr_start_lanes<Q>();
#pragma unroll(gr_by_element_words)
    for (int k = t * each; k < n; k += 32 * each) {
      uint4 x = stage_a.get16(a + k * size), y = x;
      if (Q::inputs == 2) y = stage_b.get16(b + k * size);
      if (n - k >= each) {
        uint4 xs[1] = {x}, ys[1] = {y};
        gr_add_rows<Q, 1>(s.l, xs, ys, c);
      } else {
        gr_add_some<Q>(s.l, x, y, n - k, c, 0);
      }
      if constexpr (Q::kind == GR_ACC_POSITION) Q::mark(s.l[0], k + s.l[0].code);
    }
    return gr_fold_lanes<Q>(s.l, c, 32, t);
  }
  /* log: 0 for a row of one thread, 5 for one of the warp, else of a group. */
  template <class Q>
  __device__ __forceinline__ gr_acc fold(int log, int lane, const gr_context &c) const {
    const int t = lane & ((1 << log) - 1);
    if constexpr (gaps && R::lanes) return by_thread<Q>(c);
    else if constexpr (gaps) return log == 0 ? by_thread<Q>(c) : by_group<Q>(t, log, c);
    else if constexpr (!R::lanes) return by_warp<Q>(lane, c);
    else return log == 5 ? by_warp<Q>(lane, c) : by_group<Q>(t, log, c);
  }
  __device__ __forceinline__ gr_acc reduce(int log, int lane, gr_context c) const {
    if constexpr (R::exact) {
      return R::of(fold<typename R::Moments>(log, lane, c), n);
    } else if constexpr (R::variance) {
      gr_acc acc = R::begun(fold<typename R::Sum>(log, lane, c), n);
      c.a = acc.f[0] / acc.f[2];
      acc.f[1] = gr_deviations<R::dtype>(fold<typename R::Squares>(log, lane, c).f[0], c.a);
      return acc;
    } else {
      return fold<R>(log, lane, c);
    }
  }
};

template <class R, bool gaps>
__device__ __forceinline__ void gr_by_element_rows(const gr_reduce_args &q, char *stage_a, char *stage_b, int64_t row0,
                                              int lane) {
  int rows = (int)min((int64_t)q.rows_by_element.rows, q.job.count - row0), step_a = (int)q.job.a.step,
      step_b = (int)q.job.b.step;
  int n = (int)q.job.n;
  row0 += q.first;
  gr_by_element_row<R, gaps> row = {{stage_a}, {stage_b}, 0, 0, n, false, {}};
  int bytes = n * row.size, b = 0,
      a = row.stage_a.fill((const char *)q.job.a.data + row0 * step_a, (rows - 1) * step_a + bytes, lane);
  if (R::inputs == 2)
    b = row.stage_b.fill((const char *)q.job.b.data + row0 * step_b, (rows - 1) * step_b + bytes, lane);
  row.fours = ((a | b | step_a | step_b) & 3) == 0;
  gr_await_earlier();
  __syncwarp();
  gr_acc mine = R::identity();
#pragma unroll 1
  for (int r0 = 0; r0 < rows; r0 += 32) {
    /* 32 >> q.rows_by_element.row_threads_log2 rows at a time; lane i keeps row r0 + i. */
    constexpr int known = gaps && R::lanes ? 0 : !gaps && !R::lanes ? 5 : -1;
    int count = min(32, rows - r0), log = known < 0 ? q.rows_by_element.row_threads_log2 : known, step = 32 >> log;
#pragma unroll 1
    for (int r = 0; r < count; r += step) {
      int own = r0 + min(r + (lane >> log), count - 1);
      row.a = a + own * step_a;
      row.b = b + own * step_b;
      if (step_b != 0 || r0 + r == 0) row.hold_row(lane & ((1 << log) - 1), log);
      gr_acc acc = row.reduce(log, lane, q.context);
      if (log > 0) acc = gr_shuffle_from<R>(acc, (lane - r) << log & 31);
      mine = gr_select<R>(lane >= r && lane < r + step, acc, mine);
    }
    if (lane < count) gr_write<R>(q, mine, row0 + r0 + lane, n);
  }
}

/* The rows of a warp, those of one input, fit the stage, gaps included. */
template <class R>
__global__ void __launch_bounds__(gr_by_element_warps * 32,
                                  gr_by_element_blocks_for(gr_traits_of<R>, R::dtype == GR_F16))
    gr_reduce_rows_by_element(const __grid_constant__ gr_reduce_args q) {
  __shared__ __align__(16) char stage[gr_by_element_warps][R::inputs][gr_stage<R::dtype, true>::bytes];
  int lane = threadIdx.x & 31, warp = gr_warp_index();
  int64_t row0 = ((int64_t)blockIdx.x * (blockDim.x >> 5) + warp) * q.rows_by_element.rows;
  gr_start_reading(q.inputs_stable);
  if (row0 >= q.job.count) return;
  char *a = stage[warp][0], *b = stage[warp][R::inputs - 1];
  if (q.rows_by_element.row_threads_log2 < (R::lanes ? 1 : 5)) gr_by_element_rows<R, true>(q, a, b, row0, lane);
  else gr_by_element_rows<R, false>(q, a, b, row0, lane);
}

#endif
