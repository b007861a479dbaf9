/*
** Rows that a warp can hold: up to 4 KB of neighbouring rows go to shared memory, by aligned words whatever
** the rows' alignment, and are read back element by element. A tiny row belongs to one thread, a longer one to 2 to 32
** of the warp: as few as have work for all of it, since what one thread folds needs no exchange. Lanes of a leaf that a
** short row leaves empty are identities, so that folding only the lanes in use gives the tree's bits.
*/
#ifndef GR_CUDA_REDUCE_ROWS_BY_ELEMENT_CUH
#define GR_CUDA_REDUCE_ROWS_BY_ELEMENT_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/leaves.cuh"
#include "kernels/cuda/reduce/rows_by_element_stage.cuh"
#include "kernels/cuda/reduce/rows_quick.cuh"

template <class R>
constexpr int gr_by_element_alone = gr_by_element_alone_for(gr_traits_of<R>);

/* One row in the stage (or one of each input): where it starts. */
template <class R>
struct gr_by_element_at {
  static constexpr int held = R::inputs == 2 && R::lanes ? gr_by_element_held : 0;
  const char *base_a, *base_b;
  int a, b, n;
  bool fours;                                /* every row starts at a multiple of four bytes */
  gr_type<R::dtype> second[held ? held : 1]; /* of the second input, what this thread's lanes of a row meet */
};

/* alone: a row of one thread, else of 2^log. */
template <class R, bool gaps, bool alone>
struct gr_by_element_row {
  using T = gr_type<R::dtype>;
  static constexpr int size = gr_size<R::dtype>, held = gr_by_element_at<R>::held;
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

  /* Takes what thread t of the 2^log that share a row needs of the second input, if it has an element for each lane. */
  __device__ __forceinline__ void hold(int t, int log) const {
    if constexpr (held > 0)
      if (gr_by_element_is_single(size, log))
#pragma unroll
        for (int i = 0; i < held; i++)
          if (t + (i << log) < n) second[i] = stage_b.get(b + (t + (i << log)) * size);
  }

  /*
  ** A thread's `count` lanes with one element each, folded by halves: lanes at, at + apart, at + 2 apart, ... Of these,
  ** first, first + step, ... here. add(lane, k, i) adds element k, this thread's number i. half: the first half of them
  ** is known to be there and is not asked for.
  */
  template <class Q, int count, bool half = false, int first = 0, int step = 1, class Add>
  __device__ __forceinline__ gr_acc tiny(int at, int apart, const gr_context &c, Add add) const {
    if constexpr (step == count) {
      typename Q::Lane l = Q::start();
      const int k = at + first * apart;
      if ((half && first < count / 2) || k < n) add(l, k, first);
      return Q::state(l, c);
    } else {
      gr_acc low = tiny<Q, count, half, first, step * 2>(at, apart, c, add),
             high = tiny<Q, count, half, first + step, step * 2>(at, apart, c, add);
      return Q::merge(low, high);
    }
  }
  template <class Q, int count, bool half = false>
  __device__ __forceinline__ gr_acc tiny(int at, int apart, const gr_context &c) const {
    return tiny<Q, count, half>(at, apart, c, [&](typename Q::Lane &l, int k, int i) {
      if constexpr (Q::inputs == 2) Q::add(l, stage_a.get(a + k * size), second[i], c, k);
      else add<Q>(l, k, c);
    });
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
  /* All lanes of the tree by `threads` threads, whatever the length of the row. */
  template <class Q, int threads>
  __device__ __forceinline__ gr_acc several(int t, const gr_context &c) const {
    constexpr int lanes = GR_LANES(size), count = lanes / threads;
    typename Q::Lane l[count];
#pragma unroll
    for (int i = 0; i < count; i++) l[i] = Q::start();
    int k = t;
#pragma unroll 1
    for (; k - t + lanes <= n; k += lanes)
#pragma unroll
      for (int i = 0; i < count; i++) add<Q>(l[i], k + i * threads, c);
#pragma unroll
    for (int i = 0; i < count; i++)
      if (k + i * threads < n) add<Q>(l[i], k + i * threads, c);
    gr_acc v[count];
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = Q::state(l[i], c);
    gr_fold_own<Q, count, count>(v);
    return v[0];
  }
  /* The lanes of a row that thread t of 2^log folds. */
  template <class Q, int log>
  __device__ __forceinline__ gr_acc lanes_of(int t, const gr_context &c) const {
    if constexpr (gr_by_element_is_single(size, log)) return tiny<Q, gr_by_element_held, true>(t, 1 << log, c);
    else return several<Q, 1 << log>(t, c);
  }
  /* A row of 2^log neighbouring threads, of which this is number t. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_group(int t, int log, const gr_context &c) const {
    gr_acc acc;
    if constexpr (!Q::lanes) acc = any_order<Q>(t, 1 << log, c);
    else if (log == 1) acc = lanes_of<Q, 1>(t, c);
    else if (log == 2) acc = lanes_of<Q, 2>(t, c);
    else if (log == 3) acc = lanes_of<Q, 3>(t, c);
    else if (log == 4) acc = lanes_of<Q, 4>(t, c);
    else acc = lanes_of<Q, 5>(t, c);
    if (log > 4) acc = gr_merge_xor<Q>(acc, 16);
    if (log > 3) acc = gr_merge_xor<Q>(acc, 8);
    if (log > 2) acc = gr_merge_xor<Q>(acc, 4);
    if (log > 1) acc = gr_merge_xor<Q>(acc, 2);
    return gr_merge_xor<Q>(acc, 1);
  }
  /* Of a row of one thread; 16-bit elements come two at a time, if rows start so. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_thread(const gr_context &c) const {
    if constexpr (!Q::lanes) {
      return any_order<Q>(0, 1, c);
    } else {
      if (n <= 4) return tiny<Q, 4>(0, 1, c);
      if constexpr (size == 2 && Q::inputs == 1)
        if (fours) {
          uint32_t w[gr_by_element_held / 2];
#pragma unroll
          for (int i = 0; i < gr_by_element_held / 2; i++)
            if (2 * i < n) w[i] = stage_a.get4(a + i * 4);
          return tiny<Q, gr_by_element_held>(0, 1, c, [&](typename Q::Lane &l, int k, int i) {
            const T x = gr_pick<R::dtype>(make_uint4(w[i / 2], 0, 0, 0), i % 2);
            Q::add(l, x, x, c, k);
          });
        }
      return tiny<Q, gr_by_element_held>(0, 1, c);
    }
  }
  template <class Q>
  __device__ __forceinline__ gr_acc fold(int t, int log, const gr_context &c) const {
    if constexpr (alone) return by_thread<Q>(c);
    else return by_group<Q>(t, log, c);
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
  __device__ __forceinline__ gr_acc reduce(int t, int log, gr_context c, double part) const {
    if constexpr (R::exact) {
      return gr_variance_by<R::dtype>(fold<typename R::Moments>(t, log, c), (double)n, part);
    } else if constexpr (R::variance) {
      if constexpr (alone && !R::skips)
        if (n <= 4) return few_squares(part);
      gr_acc acc = R::begun(fold<typename R::Sum>(t, log, c), n);
      c.a = gr_mean_of<R::dtype>(acc.f[0], acc.f[2], R::skips ? gr_reciprocal(acc.f[2]) : part);
      acc.f[1] = gr_deviations<R::dtype>(fold<typename R::Squares>(t, log, c).f[0], c.a);
      return acc;
    } else {
      return fold<R>(t, log, c);
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

/*
** The rows of a warp, those of one input, fit the stage, gaps included; of the second input there is as much room as
** the plan has found that it needs: of a vector that all rows meet, little.
*/
template <class R>
__global__ void __launch_bounds__(gr_by_element_warps * 32, gr_by_element_blocks_for(gr_traits_of<R>))
    gr_reduce_rows_by_element(const __grid_constant__ gr_reduce_args q) {
  using Reader = typename gr_reader<R>::type;
  using Staged = typename gr_of_staged<R>::type;
  static_assert(!R::lanes || gr_size<R::dtype> > 1, "of bytes 32 threads would have lanes of one element each, too");
  extern __shared__ uint4 stages[];
  __shared__ uint8_t gone[R::tallied ? gr_by_element_warps : 1][gr_by_element_bytes / 16 + 32];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), log = q.rows_by_element.row_threads_log2;
  const bool counts = R::tallied && q.op == GR_OP_mean;
  int64_t row0 = ((int64_t)blockIdx.x * (blockDim.x >> 5) + warp) * q.rows_by_element.rows;
  gr_start_reading(q.inputs_stable);
  if (row0 >= q.job.count) return;
  const int rows = (int)min((int64_t)q.rows_by_element.rows, q.job.count - row0), n = (int)q.job.n,
            bytes = n * gr_size<R::dtype>, step_a = (int)q.job.a.step, step_b = (int)q.job.b.step;
  const bool gaps = q.rows_by_element.gaps;
  const int warp_bytes = gr_stage_bytes<R::dtype> + q.rows_by_element.second_bytes;
  const int gap = gaps ? gr_stage_gap<R::dtype> : 0;
  row0 += q.first;
  gr_by_element_at<Staged> at;
  char *const stage_a = gr_shared_once((char *)stages + warp * warp_bytes);
  const char *const rows_a = (const char *)q.job.a.data + row0 * step_a;
  int a, b = 0;
  if (counts) a = gr_stage_fill<Reader>(stage_a, gap, rows_a, (rows - 1) * step_a + bytes, lane, gone[warp]);
  else a = gr_stage_fill<Reader>(stage_a, gap, rows_a, (rows - 1) * step_a + bytes, lane, nullptr);
  at.base_a = at.base_b = stage_a;
  if constexpr (R::inputs == 2) {
    char *const stage_b = stage_a + gr_stage_bytes<R::dtype>;
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
  const int t = lane & ((1 << log) - 1);
  /* other: the second input's elements are not those of the last row. */
  auto reduce = [&](auto of_one, int row, bool other) {
    constexpr bool alone = decltype(of_one)::value;
    at.a = a + row * step_a;
    at.b = b + row * step_b;
    if constexpr (alone || !R::lanes)
      if (gaps) {
        const gr_by_element_row<Staged, true, alone> of(at);
        if (other) of.hold(t, log);
        return of.reduce(t, log, q.context, part);
      }
    const gr_by_element_row<Staged, false, alone> of(at);
    if (other) of.hold(t, log);
    return of.reduce(t, log, q.context, part);
  };
#pragma unroll 1
  for (int r0 = 0; r0 < rows; r0 += 32) { /* lane i keeps row r0 + i */
    const int count = min(32, rows - r0);
    if (log == 0) {
      mine = reduce(std::true_type(), r0 + min(lane, count - 1), step_b != 0 || r0 == 0);
      if (counts) there = n - gr_count_gone<R::dtype>(gone[warp], at.a / gr_size<R::dtype>, n, 0, 0);
    } else {
      /* 32 >> log rows at a time, `passes` apart, which mostly meet different banks. */
      const int passes = (count + (31 >> log)) >> (5 - log), own_group = lane / passes,
                own_pass = lane - own_group * passes, from = own_group << log & 31;
#pragma unroll 1
      for (int pass = 0; pass < passes; pass++) {
        const gr_acc acc = reduce(std::false_type(), r0 + min(pass + (lane >> log) * passes, count - 1),
                                  step_b != 0 || r0 + pass == 0);
        const bool keeps = own_pass == pass;
        mine = gr_select<Staged>(keeps, gr_shuffle_from<Staged>(acc, from), mine);
        if (counts) {
          const int less = gr_count_gone<R::dtype>(gone[warp], at.a / gr_size<R::dtype>, n, t, log);
          const int of_mine = __shfl_sync(~0u, less, from);
          there = keeps ? n - of_mine : there;
        }
      }
    }
    if (lane >= count) continue;
    if (quick) gr_write_quick<R>(q, mine, row0 + r0 + lane, less, part_less);
    else if constexpr (R::tallied) gr_write_tallied<R>(q, R::with(mine, there), row0 + r0 + lane);
    else gr_write<R>(q, mine, row0 + r0 + lane, n);
  }
}

#endif
