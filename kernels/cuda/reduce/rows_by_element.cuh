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
#include "kernels/cuda/reduce/rows_quick.cuh"

/*
** A place in shared memory that a register holds from here on: by itself the compiler makes it again for each load, of
** four instructions. All lanes have the same place.
*/
static __device__ __forceinline__ char *gr_shared_once(char *p) {
  return (char *)__cvta_shared_to_generic(__shfl_sync(~0u, (unsigned)__cvta_generic_to_shared(p), 0));
}

/*
** Staged bytes: where threads have rows of their own, and where few share one whose lanes have no order, every 128 are
** followed by a gap of one element (at least 4 bytes), so that rows of 2^k bytes meet different banks.
*/
template <gr_dtype D>
constexpr int gr_stage_gap = gr_size<D> == 8 ? 8 : 4;
template <gr_dtype D>
constexpr int gr_stage_bytes = ((gr_by_element_bytes + 32) / 128 * (128 + gr_stage_gap<D>) + 128 + 15) / 16 * 16;

/*
** Copies `bytes` bytes from p, where R leaves NaN out with 0 in its place; gives where in the stage they start. gone
** gets, unless it is NULL, a byte for each word, with a bit for each of its elements that was NaN. All words are in
** flight at once.
*/
template <class R>
static __device__ __forceinline__ int gr_stage_fill(char *stage, int gap, const char *p, int bytes, int lane,
                                                    uint8_t *gone) {
  const int shift = (int)((uintptr_t)p & 15), left = ((shift + bytes + 15) >> 4) - lane;
  uint4 w[gr_by_element_bytes / 512 + 1];
  p += lane * 16 - shift;
#pragma unroll
  for (int i = 0; i <= gr_by_element_bytes / 512; i++)
    if (i * 32 < left) w[i] = gr_load16(p + i * 512);
  stage += lane * 16 + (lane >> 3) * gap;
#pragma unroll
  for (int i = 0; i <= gr_by_element_bytes / 512; i++, stage += 512 + 4 * gap)
    if (i * 32 < left) {
      uint32_t *to = (uint32_t *)stage;
      if constexpr (R::present) {
        if constexpr (R::blanks) {
          const uint32_t nan = gr_blank_alone<R>(w[i]);
          if (R::counts && gone) gone[i * 32 + lane] = (uint8_t)nan;
        }
      }
      if (gap == 0) {
        *(uint4 *)to = w[i];
      } else {
        to[0] = w[i].x;
        to[1] = w[i].y;
        to[2] = w[i].z;
        to[3] = w[i].w;
      }
    }
  return shift;
}

/* Of n elements from number `from` of a stage on, how many are gone; 2^log threads look, of which this is number t. */
template <gr_dtype D>
static __device__ __forceinline__ int gr_count_gone(const uint8_t *gone, int from, int n, int t, int log) {
  constexpr int each = 16 / gr_size<D>;
  int count = 0;
#pragma unroll 1
  for (int w = from / each + t; w * each < from + n; w += 1 << log) {
    const int first = max(from - w * each, 0), behind = min(from + n - w * each, each);
    count += __popc(gone[w] >> first << first & ((1 << behind) - 1));
  }
#pragma unroll 1
  for (int h = 1 << log >> 1; h > 0; h /= 2) count += __shfl_xor_sync(~0u, count, h);
  return count;
}

template <class R>
constexpr int gr_by_element_alone = gr_by_element_alone_for(gr_traits_of<R>);

template <gr_dtype D, bool gaps>
struct gr_stage {
  const char *base;
  __device__ __forceinline__ const char *place(int at) const {
    return base + at + (gaps ? (at >> 7) * gr_stage_gap<D> : 0);
  }
  __device__ __forceinline__ gr_type<D> get(int at) const { return *(const gr_type<D> *)place(at); }
  __device__ __forceinline__ uint32_t get4(int at) const { return *(const uint32_t *)place(at); }
  /* 16 bytes from anywhere, of a stage without gaps. */
  __device__ __forceinline__ uint4 get16(int at) const {
    const uint4 *w = (const uint4 *)(base + (at & ~15));
    return at & 15 ? gr_realign(w[0], w[1], at & 15) : w[0];
  }
};

/* One row in the stage (or one of each input): where it starts. */
template <class R>
struct gr_by_element_at {
  static constexpr int held = R::inputs == 2 && R::lanes ? gr_by_element_held : 0;
  const char *base_a, *base_b;
  int a, b, n;
  bool fours; /* every row starts at a multiple of four bytes */
  gr_type<R::dtype> second[held ? held : 1]; /* of the second input, what this thread's lanes of a row meet */
};

template <class R, bool gaps>
struct gr_by_element_row {
  using T = gr_type<R::dtype>;
  static constexpr int size = gr_size<R::dtype>, each = 16 / size, held = gr_by_element_at<R>::held;
  gr_stage<R::dtype, gaps> stage_a, stage_b;
  int a, b, n;
  bool fours;
  T (&second)[held ? held : 1];
  __device__ __forceinline__ explicit gr_by_element_row(gr_by_element_at<R> &at)
      : stage_a{at.base_a}, stage_b{at.base_b}, a(at.a), b(at.b), n(at.n), fours(at.fours), second(at.second) {}

  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane &l, int k, const gr_context &c) const {
    T x = stage_a.get(a + k * size), y = x;
    if (Q::inputs == 2) y = stage_b.get(b + k * size);
    Q::add(l, x, y, c, k);
  }

  /* `count` elements of the second input, for tiny: of one vector for all rows, once. */
  template <int count>
  __device__ __forceinline__ void hold(int at, int apart) const {
    static_assert(count <= held, "more than are held");
#pragma unroll
    for (int i = 0; i < count; i++)
      if (at + i * apart < n) second[i] = stage_b.get(b + (at + i * apart) * size);
  }
  /* Those of a row that 2^log threads share, of which this is number t. */
  __device__ __forceinline__ void hold_row(int t, int log) const {
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
    constexpr int together = gr_by_element_unrolled;
#pragma unroll 1
    for (; k + (together - 1) * apart < n; k += together * apart)
#pragma unroll
      for (int i = 0; i < together; i++) add<Q>(l, k + i * apart, c);
#pragma unroll
    for (int i = 0; i < together - 1; i++)
      if (k + i * apart < n) add<Q>(l, k + i * apart, c);
    if constexpr (Q::kind == GR_ACC_POSITION) Q::mark(l, l.code);
    return Q::state(l, c);
  }
  /*
  ** A row of one thread. More than 16 lanes: all unrolled for the commonest two, else every other of 32 at a time, or
  ** every fourth of 64, in bit-reversed order as halving wants.
  */
  template <class Q>
  __device__ __forceinline__ gr_acc by_thread(const gr_context &c) const {
    if constexpr (!Q::lanes) {
      return any_order<Q>(0, 1, c);
    } else {
      static_assert(gr_by_element_alone<R> <= 64, "what follows has room for so many");
      if (n <= 4) return tiny<Q, 4, true>(0, 1, c);
      if constexpr (size == 2 && Q::inputs == 1)
        if (fours && n <= 64) return R::dtype == GR_F16 ? by_words_apart<Q>(c) : by_words<Q>(c);
      if constexpr (size >= 4 && (Q::red == GR_RED_SUM || Q::red == GR_RED_DOT)) {
        if (n <= 16) return tiny<Q, 16, true>(0, 1, c);
        constexpr int most = gr_by_element_alone<R>;
        return most == 32 || n <= 32 ? tiny<Q, 32>(0, 1, c) : tiny<Q, most>(0, 1, c);
      }
      if (n <= 16) return tiny<Q, 16, true>(0, 1, c);
      gr_stack<gr_acc, 2> stack;
      gr_acc part[1] = {Q::identity()};
      const int log = n <= 32 ? 1 : 2;
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
  /* The variance of up to 4 elements, which stay in a thread's registers as doubles; part: 1 / n. */
  __device__ __forceinline__ gr_acc few_squares(double part) const {
    double x[4];
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = gr_to_f64<R::dtype>(stage_a.get(a + min(i, n - 1) * size));
#pragma unroll
    for (int i = 1; i < 4; i++) x[i] = i < n ? x[i] : -0.0;
    gr_acc acc;
    acc.f[0] = (x[0] + x[2]) + (x[1] + x[3]);
    acc.f[2] = (double)n;
    const double mean = gr_mean_of<R::dtype>(acc.f[0], (double)n, part);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      x[i] -= mean;
      x[i] = i < n ? x[i] * x[i] : -0.0;
    }
    acc.f[1] = gr_deviations<R::dtype>((x[0] + x[2]) + (x[1] + x[3]), mean);
    return acc;
  }
  __device__ __forceinline__ gr_acc reduce(int log, int lane, gr_context c, double part) const {
    if constexpr (R::exact) {
      return gr_variance_by<R::dtype>(fold<typename R::Moments>(log, lane, c), (double)n, part);
    } else if constexpr (R::variance) {
      if constexpr (gaps && !R::skips)
        if (n <= 4) return few_squares(part);
      gr_acc acc = R::begun(fold<typename R::Sum>(log, lane, c), n);
      c.a = gr_mean_of<R::dtype>(acc.f[0], acc.f[2], R::skips ? gr_reciprocal(acc.f[2]) : part);
      acc.f[1] = gr_deviations<R::dtype>(fold<typename R::Squares>(log, lane, c).f[0], c.a);
      return acc;
    } else {
      return fold<R>(log, lane, c);
    }
  }
};

/* What reduces rows that are staged: of what is present a reducer without its blanks. */
template <class R, bool = R::present>
struct gr_of_staged {
  using type = R;
};
template <class R>
struct gr_of_staged<R, true> {
  using type = typename R::Blanked;
};

/* The rows of a warp, those of one input, fit the stage, gaps included. */
template <class R>
__global__ void __launch_bounds__(gr_by_element_warps * 32,
                                  gr_by_element_blocks_for(gr_traits_of<R>, R::dtype == GR_F16))
    gr_reduce_rows_by_element(const __grid_constant__ gr_reduce_args q) {
  using Reader = typename gr_reader<R>::type;
  using Staged = typename gr_of_staged<R>::type;
  __shared__ __align__(16) char stage[gr_by_element_warps][R::inputs][gr_stage_bytes<R::dtype>];
  __shared__ uint8_t gone[R::tallied ? gr_by_element_warps : 1][gr_by_element_bytes / 16 + 32];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), log = q.rows_by_element.row_threads_log2;
  const bool counts = R::tallied && q.op == GR_OP_mean;
  int64_t row0 = ((int64_t)blockIdx.x * (blockDim.x >> 5) + warp) * q.rows_by_element.rows;
  gr_start_reading(q.inputs_stable);
  if (row0 >= q.job.count) return;
  const int rows = (int)min((int64_t)q.rows_by_element.rows, q.job.count - row0), n = (int)q.job.n,
            bytes = n * gr_size<R::dtype>, step_a = (int)q.job.a.step, step_b = (int)q.job.b.step;
  const bool gaps = log < (R::lanes ? 1 : 5);
  const int gap = gaps ? gr_stage_gap<R::dtype> : 0;
  row0 += q.first;
  gr_by_element_at<Staged> at;
  char *const stage_a = gr_shared_once(stage[warp][0]);
  const char *const rows_a = (const char *)q.job.a.data + row0 * step_a;
  int a, b = 0;
  if (counts) a = gr_stage_fill<Reader>(stage_a, gap, rows_a, (rows - 1) * step_a + bytes, lane, gone[warp]);
  else a = gr_stage_fill<Reader>(stage_a, gap, rows_a, (rows - 1) * step_a + bytes, lane, nullptr);
  at.base_a = at.base_b = stage_a;
  if constexpr (R::inputs == 2) {
    char *const stage_b = gr_shared_once(stage[warp][1]);
    b = gr_stage_fill<R>(stage_b, gap, (const char *)q.job.b.data + row0 * step_b, (rows - 1) * step_b + bytes, lane,
                         nullptr);
    at.base_b = stage_b;
  }
  at.n = n;
  at.fours = ((a | b | step_a | step_b) & 3) == 0;
  const bool quick = gr_is_quick<R>(q);
  double part = 1.0, less = 1.0, part_less = 1.0; /* while memory works */
  if constexpr (R::variance) part = 1.0 / (double)n, less = (double)n - q.job.ddof, part_less = 1.0 / less;
  gr_await_earlier();
  __syncwarp();
  gr_acc mine = R::identity();
  int there = n; /* elements of that row, of which a mean is */
#pragma unroll 1
  for (int r0 = 0; r0 < rows; r0 += 32) {
    /* 32 >> log rows at a time; lane i keeps row r0 + i. */
    const int count = min(32, rows - r0), step = 32 >> log;
#pragma unroll 1
    for (int r = 0; r < count; r += step) {
      const int own = r0 + min(r + (lane >> log), count - 1), t = lane & ((1 << log) - 1);
      const bool other = step_b != 0 || r0 + r == 0; /* of the second input */
      at.a = a + own * step_a;
      at.b = b + own * step_b;
      gr_acc acc;
      if (gaps) {
        const gr_by_element_row<Staged, true> row(at);
        if (other) row.hold_row(t, log);
        acc = row.reduce(log, lane, q.context, part);
      } else {
        const gr_by_element_row<Staged, false> row(at);
        if (other) row.hold_row(t, log);
        acc = row.reduce(log, lane, q.context, part);
      }
      const bool keeps = lane >= r && lane < r + step;
      const int from = (lane - r) << log & 31;
      if (log > 0) acc = gr_shuffle_from<Staged>(acc, from);
      mine = gr_select<Staged>(keeps, acc, mine);
      if (counts) {
        const int less = gr_count_gone<R::dtype>(gone[warp], at.a / gr_size<R::dtype>, n, t, log);
        const int of_mine = __shfl_sync(~0u, less, from);
        there = keeps ? n - of_mine : there;
      }
    }
    if (lane >= count) continue;
    if (quick) gr_write_quick<R>(q, mine, row0 + r0 + lane, less, part_less);
    else if constexpr (R::tallied) gr_write_tallied<R>(q, R::with(mine, there), row0 + r0 + lane);
    else gr_write<R>(q, mine, row0 + r0 + lane, n);
  }
}

#endif
