/*
** Sums of columns, of their squares and absolute values, and columns by one vector (y = A^T b): straight from memory,
** 16 warps a multiprocessor (or 20) with 4 KB in flight each. A warp reads 32 words of 16 bytes: words of columns side
** by side (words_log2) of as many rows as fit; rows of half a word, of 16-bit elements, go two to a word (two_a_word),
** and then "row" below means such a pair. Where rows do not begin at whole words (unaligned), the words that hold them
** are read, and a lane gets what it lacks from the next one; the last one of a strip has no columns of its own. A
** thread takes 8 words in a flight, which are elements of one lane of the tree, or, of columns of less than a leaf,
** all of up to 8 lanes. A lane's number, from its highest bit on: which of a thread's turns, which of the rows side by
** side, which of the warps and of the blocks that share a leaf. So turns fold first, by a stack, then the warp, the
** block, the leaves of a block, and the nodes of blocks as gr_combine_nodes does. Where elements are counted besides,
** each sum is followed, half of `apart` further, by how many are missing from it.
*/
#ifndef GR_CUDA_REDUCE_COLS_SUM_CUH
#define GR_CUDA_REDUCE_COLS_SUM_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/reduce/tuning.h"

template <class R>
constexpr int gr_cols_sum_resident = gr_cols_sum_resident_for(gr_traits_of<R>, gr_arch);
template <class R>
constexpr bool gr_has_cols_sum = R::lanes && gr_floating<R::dtype> &&
                                 (R::red == GR_RED_SUM || R::red == GR_RED_DOT || R::red == GR_RED_SUMSQ);
/* Levels of the stack in registers; the others lie in shared memory. */
template <class R>
constexpr int gr_cols_sum_levels = gr_cols_sum_levels_for(gr_size<R::dtype>);

/* Loads a word that is read once, past the first cache, which is for the vector. */
__device__ __forceinline__ gr_words<4> gr_load_once(const char *p) {
  gr_words<4> w;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(w.u[0]), "=r"(w.u[1]), "=r"(w.u[2]), "=r"(w.u[3])
      : "l"(p));
  return w;
}

/* A row's address by one instruction. */
__device__ __forceinline__ const char *gr_row_at(const char *p, int row, int step) {
  asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(p) : "r"(row), "r"(step));
  return p;
}

/* Makes this lane's columns, which begin `shift` bytes into the word it has read, with what the next lane has read. */
__device__ __forceinline__ void gr_shift_from_next(gr_words<4> &x, int shift) {
  gr_words<4> next;
#pragma unroll
  for (int i = 0; i < 4; i++) next.u[i] = __shfl_down_sync(~0u, x.u[i], 1);
  x = gr_realign_words<4>(x, next, shift);
}

/* The word of a row that is not there: zeros where its factor is -0, else -0, so that nothing is added. */
template <class R>
__device__ __forceinline__ gr_words<4> gr_no_word() {
  constexpr uint32_t top = R::inputs == 2 ? 0 : gr_size<R::dtype> == 2 ? 0x80008000u : 0x80000000u;
  return {{gr_size<R::dtype> == 8 ? 0 : top, top, gr_size<R::dtype> == 8 ? 0 : top, top}};
}

/* Eight words of a formula; there: a bit for each of them. The others are made of the first element. */
template <class R>
__device__ __forceinline__ void gr_words_of_formula(gr_words<4> (&x)[8], const char *const (&at)[8], unsigned there) {
  uint4 w[8];
  gr_formula_apart<8>(w, at);
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const gr_words<4> none = gr_no_word<R>();
    const bool is = there >> k & 1;
    x[k] = {{is ? w[k].x : none.u[0], is ? w[k].y : none.u[1], is ? w[k].z : none.u[2], is ? w[k].w : none.u[3]}};
  }
}

/* The vector's element for a word; of 16-bit elements one for each half of it. */
template <gr_dtype D, bool narrow = gr_size<D> == 2>
struct gr_factor {
  gr_type<D> y;
  __device__ __forceinline__ void load(const char *p, bool) { y = __ldg((const gr_type<D> *)p); }
  __device__ __forceinline__ void none() { y = -0.0; } /* beside elements that are 0 it adds nothing */
  __device__ __forceinline__ void permute(uint32_t) {}
  __device__ __forceinline__ gr_type<D> of(bool) const { return y; }
};
template <gr_dtype D>
struct gr_factor<D, true> {
  uint32_t u;
  __device__ __forceinline__ void load(const char *p, bool pair) {
    u = pair ? __ldg((const unsigned *)p) : __ldg((const unsigned short *)p);
  }
  __device__ __forceinline__ void none() { u = 0x80008000u; }
  __device__ __forceinline__ void permute(uint32_t how) { u = __byte_perm(u, 0, how); }
  __device__ __forceinline__ gr_type<D> of(bool second) const { return {(uint16_t)(second ? u >> 16 : u)}; }
};

/* A lane between flights, kept as a double: one of f32 as its bits, since conversions take long. */
template <class R>
__device__ __forceinline__ double gr_keep_lane(const typename R::Lane &l) {
  if constexpr (R::light) return __hiloint2double(0, __float_as_int(l.s));
  else return l.f[0];
}
template <class R>
__device__ __forceinline__ typename R::Lane gr_kept_lane(double kept) {
  if constexpr (R::light) return {__int_as_float(__double2loint(kept))};
  else return {{kept}};
}

/* A stack of states, this thread's; `apart`: pairs of doubles from one to the next in shared memory. */
template <int C, int levels>
struct gr_cols_sum_stack {
  double level[levels > 0 ? levels : 1][C];
  double2 *slot;
  int apart;
  /* State number i; of the last one nothing is kept: it is the whole. */
  template <int s = 0>
  __device__ __forceinline__ void push(double (&v)[C], int i, bool last) {
    if constexpr (s < levels) {
      if (i & 1) {
#pragma unroll
        for (int c = 0; c < C; c++) v[c] = level[s][c] + v[c];
        push<s + 1>(v, i >> 1, last);
      } else {
#pragma unroll
        for (int c = 0; c < C; c++) level[s][c] = v[c];
      }
    } else {
      double2 *p = slot;
#pragma unroll 1
      for (; i & 1; i >>= 1, p += apart * (C / 2))
#pragma unroll
        for (int c = 0; c < C; c += 2) {
          double2 x = p[c / 2 * apart];
          v[c] = x.x + v[c];
          v[c + 1] = x.y + v[c + 1];
        }
      if (!last)
#pragma unroll
        for (int c = 0; c < C; c += 2) p[c / 2 * apart] = make_double2(v[c], v[c + 1]);
    }
  }
};

/* Column c of a flight: each of its 8 / each lanes has so many elements; they fold by halves. */
template <class R, class F, int each, int j = 0, int step = 1>
__device__ __forceinline__ double gr_cols_sum_lanes(const typename F::Word (&x)[8], const gr_factor<R::dtype> (&y)[8],
                                                    int c, const gr_context &k) {
  if constexpr (step * each >= 8) {
    typename R::Lane l = R::start();
#pragma unroll
    for (int i = j * each; i < (j + 1) * each; i++) R::add(l, F::pick(x[i], c), y[i].of(false), k, 0);
    return R::state(l, k).f[0];
  } else {
    double a = gr_cols_sum_lanes<R, F, each, j, step * 2>(x, y, c, k);
    return a + gr_cols_sum_lanes<R, F, each, j + step, step * 2>(x, y, c, k);
  }
}
/* All columns of a flight: half of a word, then the other, if it has eight. */
template <class R, class F, int each, int C>
__device__ __forceinline__ void gr_cols_sum_columns(double (&v)[C], typename F::Word (&x)[8],
                                                    gr_factor<R::dtype> (&y)[8], const gr_context &k) {
  if constexpr (C < 8) {
#pragma unroll
    for (int c = 0; c < C; c++) v[c] = gr_cols_sum_lanes<R, F, each>(x, y, c, k);
  } else {
#pragma unroll(each == 4 || (each == 1 && R::inputs == 1 && !gr_before_hopper) ? 2 : 1)
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int c = 0; c < C / 2; c++) {
        double one = gr_cols_sum_lanes<R, F, each>(x, y, c, k);
        v[c] = v[c + C / 2];
        v[c + C / 2] = one;
      }
#pragma unroll
      for (int j = 0; j < 8; j++) x[j].u[0] = x[j].u[2], x[j].u[1] = x[j].u[3], y[j].u >>= 16;
    }
  }
}

/* The result of column v, of which some elements are missing; the commonest kind first. */
template <class R>
__device__ __forceinline__ void gr_write_sum(const gr_reduce_args &q, double x, double missing, int64_t v) {
  const int64_t n = q.job.n << q.cols_sum.two_a_word;
  gr_acc acc = R::identity();
  acc.f[0] = x;
  if constexpr (R::tallied) acc.i[1] = q.op == GR_OP_mean ? n - (int64_t)missing : n;
  if (R::red != GR_RED_SUMSQ && q.op != GR_OP_mean && q.out_dtype == GR_F64) ((double *)q.out)[v] = gr_canonical(x);
  else if constexpr (R::tallied) gr_write_tallied<R>(q, acc, v);
  else gr_write<R>(q, acc, v, n);
}

/*
** A block's sums, of column p and leaf u in slots[entry(u, 0, p)], and what is missing from them `half` further:
** `there` leaves fold by adjacency, then nodes are combined, and results of the columns from v0 on are written. rows:
** leaves that are looked through, there or more.
*/
template <class R, class E>
__device__ __forceinline__ void gr_fold_strip(const gr_reduce_args &q, double *slots, const E &entry, int half,
                                              int rows, int there, int wide, int64_t v0, int64_t here,
                                              const gr_block_index &block) {
#pragma unroll 1
  for (int h = 1; h < there; h *= 2) {
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < wide * rows; i += blockDim.x) {
      int u = i / wide, p = i - u * wide;
      if (u % (2 * h) == 0 && u + h < there)
#pragma unroll
        for (int f = 0; f < R::fields; f++) slots[f * half + entry(u, 0, p)] += slots[f * half + entry(u + h, 0, p)];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int pass = q.nodes == 1 ? 1 : 0; pass < 2; pass++) {
#pragma unroll 1
    for (int p = threadIdx.x; p < here; p += blockDim.x) {
      double x = slots[entry(0, 0, p)], missing = R::tallied ? slots[half + entry(0, 0, p)] : 0;
      const int64_t field = q.job.count * q.nodes;
      if (pass == 1 && q.nodes > 1) {
        x = ((volatile double *)q.node)[v0 + p];
        if (R::tallied) missing = (double)((volatile int64_t *)q.node)[field + v0 + p];
      }
      if (pass == 0) {
        ((double *)q.node)[block.node * q.job.count + v0 + p] = x;
        if (R::tallied) q.node[field + block.node * q.job.count + v0 + p] = (int64_t)missing;
      } else {
        gr_write_sum<R>(q, x, missing, q.first + v0 + p);
      }
    }
    if (pass == 0 && !gr_combine_nodes<R>(q, v0, (int)here, q.counter + block.group * (unsigned)q.counters, block.node))
      return;
  }
}

/* Where a block is: its first strip of columns and its first leaf. */
struct gr_cols_sum_thread {
  gr_block_index block;
  int64_t strip, leaf;
  __device__ __forceinline__ gr_cols_sum_thread(const gr_reduce_args &q) : block(gr_index_of_block(q)) {
    int units = q.cols_sum.units_log2 + q.cols_sum.passes_log2;
    bool single = q.leaves == 1;
    strip = single ? (int64_t)block.group << units : block.group;
    leaf = single ? 0 : (int64_t)(block.node >> q.cols_sum.leaf_blocks_log2) << units;
  }
};

/* In shared memory: what warps leave of each unit (a leaf, or a strip of one leaf; state_bytes), then the stacks. */
template <class R>
__global__ void __launch_bounds__(gr_cols_sum_warps * 32, gr_cols_sum_resident<R> / gr_cols_sum_warps)
    gr_reduce_cols_sum(const __grid_constant__ gr_reduce_args q) {
  const gr_cols_sum_args &how = q.cols_sum;
  constexpr int size = gr_size<R::dtype>, C = 16 / size, warps = gr_cols_sum_warps;
  using F = gr_column_word<R::dtype, C>;
  extern __shared__ __align__(16) char gr_shared[];
  double *slots = (double *)gr_shared; /* C + 1 doubles for each word, one of them unused */
  const bool unaligned = !R::formula && how.unaligned; /* of a formula, rows of whole words alone */
  int pair = size == 2 && !R::formula ? how.two_a_word : 0;
  int lanes = GR_LANES(size) >> pair, leaf_rows = GR_LEAF(size) >> pair;
  int lane = threadIdx.x & 31, warp = gr_warp_index();
  int units = 1 << (how.units_log2 + how.passes_log2), own = C >> pair, wide = own * how.strip_words,
      half = (C + 1) << how.words_log2, apart = half * R::fields;
  int step = (int)q.job.a.stride, step_b = (int)q.job.b.stride;
  bool single = q.leaves == 1;
  gr_cols_sum_thread at(q);
  /* This thread's first lane of the tree; nodes fold by adjacency, lanes by halves. */
  int first = ((lane >> how.words_log2 << how.leaf_warps_log2) + (warp & ((1 << how.leaf_warps_log2) - 1))
               << how.leaf_blocks_log2) +
              (how.leaf_blocks_log2 ? (int)(__brev(at.block.node) >> (32 - how.leaf_blocks_log2)) : 0);
  auto entry = [=](int unit, int part, int p) { return ((unit << how.leaf_warps_log2) + part) * apart + p + p / C; };
  gr_cols_sum_stack<C, gr_cols_sum_levels<R>> stack;
  stack.slot = (double2 *)(gr_shared + how.state_bytes) + threadIdx.x;
  stack.apart = warps * 32;
  gr_start_reading(q.inputs_stable);
#pragma unroll 1
  for (int u = warp >> how.leaf_warps_log2; u < units; u += 1 << how.units_log2) {
    int w = lane & ((1 << how.words_log2) - 1);
    gr_cols_sum_thread at(q);
    /* column: in bytes */
    int64_t leaf = at.leaf + (single ? 0 : u), column = (at.strip + (single ? u : 0)) * wide * size + w * 16;
    int rows = (int)max((int64_t)0, min(q.job.n - leaf * leaf_rows, (int64_t)leaf_rows));
    const char *a = (const char *)q.job.a.data + q.first * size + column + leaf * leaf_rows * step;
    const char *b = (const char *)q.job.b.data + leaf * leaf_rows * step_b;
    int left = (int)min(q.job.count * size - column, (int64_t)16); /* of the row's bytes from here on */
    if (left <= (unaligned ? -16 : 0)) rows = 0;
    asm volatile("" : "+l"(a), "+l"(b)); /* else each address would be made from the beginning */
    double v[C];
    uint32_t missing[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int g = 0; g < 1 << how.turns_log2; g++) {
      int row = (int)(__brev((unsigned)g) >> how.reverse_shift
                                                 << (5 - how.words_log2 + how.leaf_warps_log2 + how.leaf_blocks_log2)) +
                first;
#pragma unroll
      for (int c = 0; c < C; c++) v[c] = gr_keep_lane<R>(R::start());
#pragma unroll 1
      for (int flight = 0; flight << 3 < 1 << how.elements_log2; flight++) {
        int log = how.elements_log2;
        asm volatile("" : "+r"(log)); /* what follows from it need not be kept in registers */
        int each = 1 << min(log, 3), beside = (1 << how.tree_lanes_log2) * each / 8, jump = beside - (each - 1) * lanes;
        typename F::Word x[8];
        gr_factor<R::dtype> y[8];
        int first_row = row, last_row = row + (1 << how.tree_lanes_log2) - beside + (each - 1) * lanes;
        int one = each > 1 ? lanes : jump, two = each > 2 ? lanes : jump, four = each > 4 ? lanes : jump;
        auto next = [&](int k) { row += k == 7 ? lanes : k == 3 ? four : k & 1 ? two : one; };
        if constexpr (R::formula) {
          const char *at[8];
          unsigned there = 0;
#pragma unroll
          for (int k = 0; k < 8; next(k++)) {
            at[k] = row < rows ? gr_row_at(a, row, step) : nullptr;
            there |= (unsigned)(row < rows) << k;
          }
          gr_words_of_formula<R>(x, at, there);
        } else if (unaligned) {
#pragma unroll
          for (int k = 0; k < 8; next(k++)) {
            const char *p = gr_row_at(a, row, step);
            int shift = (int)(uintptr_t)p & 15;
            x[k] = gr_no_word<R>();
            if (row < rows && left + shift > 0) x[k] = gr_load_once(p - shift);
          }
        } else if (__all_sync(~0u, last_row < rows)) {
#pragma unroll
          for (int k = 0; k < 8; next(k++)) x[k] = gr_load_once(gr_row_at(a, row, step));
        } else {
#pragma unroll
          for (int k = 0; k < 8; next(k++)) {
            x[k] = gr_no_word<R>();
            if (row < rows) x[k] = gr_load_once(gr_row_at(a, row, step));
          }
        }
        auto load_factors = [&](bool pair) {
          row = first_row;
#pragma unroll
          for (int k = 0; k < 8; next(k++)) {
            y[k].none();
            if (row < rows) y[k].load(gr_row_at(b, row, step_b), pair);
          }
        };
        if constexpr (R::inputs == 2) {
          if (pair) load_factors(true);
          else load_factors(false);
#pragma unroll
          for (int k = 0; k < 8; k++) y[k].permute(pair ? 0x3210 : 0x1010);
        } else {
#pragma unroll
          for (int k = 0; k < 8; k++) y[k].none();
        }
        if (unaligned) {
          row = first_row;
#pragma unroll
          for (int k = 0; k < 8; next(k++)) gr_shift_from_next(x[k], (int)(uintptr_t)gr_row_at(a, row, step) & 15);
        }
        if constexpr (R::present)
#pragma unroll
          for (int k = 0; k < 8; k++) gr_blank_places<R>(x[k].u, missing);
        if (log >= 3) {
          typename R::Lane l[C]; /* as it was after the flight before */
#pragma unroll
          for (int c = 0; c < C; c++) l[c] = gr_kept_lane<R>(v[c]);
#pragma unroll
          for (int k = 0; k < 8; k++)
#pragma unroll
            for (int c = 0; c < C; c++) R::add(l[c], F::pick(x[k], c), y[k].of(c >= C / 2), q.context, 0);
#pragma unroll
          for (int c = 0; c < C; c++) v[c] = gr_keep_lane<R>(l[c]);
        } else if (log == 2) gr_cols_sum_columns<R, F, 4>(v, x, y, q.context);
        else if (log == 1) gr_cols_sum_columns<R, F, 2>(v, x, y, q.context);
        else gr_cols_sum_columns<R, F, 1>(v, x, y, q.context);
      }
      if (how.elements_log2 >= 3)
#pragma unroll
        for (int c = 0; c < C; c++) v[c] = R::state(gr_kept_lane<R>(v[c]), q.context).f[0];
      stack.push(v, g, g + 1 == 1 << how.turns_log2);
    }
#pragma unroll 1
    for (int h = 16; h >> how.words_log2 > 0; h /= 2)
#pragma unroll
      for (int c = 0; c < C; c++) v[c] += __shfl_xor_sync(~0u, v[c], h);
    if (pair)
#pragma unroll
      for (int c = 0; c < C / 2; c++) v[c] += v[c + C / 2];
    if constexpr (R::tallied) {
#pragma unroll 1
      for (int h = 16; h >> how.words_log2 > 0; h /= 2)
#pragma unroll
        for (int i = 0; i < 4; i++) missing[i] += __shfl_xor_sync(~0u, missing[i], h);
      if (pair) missing[0] += missing[2], missing[1] += missing[3];
    }
    int slot = single ? warp >> how.leaf_warps_log2 : u;
    double *mine = slots + entry(slot, warp & ((1 << how.leaf_warps_log2) - 1), w * own);
    if (lane < how.strip_words)
#pragma unroll
      for (int c = 0; c < C; c++)
        if (c < own) {
          mine[c] = v[c];
          if (R::tallied) mine[half + c] = gr_missing_at<R::dtype>(missing, c);
        }
    if (!single || q.nodes > 1) continue;
    /* One leaf, of this block alone: its results. */
    if (q.inputs_stable) gr_await_earlier();
    if (how.leaf_warps_log2) __syncthreads();
    else __syncwarp();
    int threads = 32 << how.leaf_warps_log2;
    int64_t v0 = (gr_cols_sum_thread(q).strip + u) * wide;
#pragma unroll 1
    for (int p = threadIdx.x & threads - 1; p < wide && v0 + p < q.job.count; p += threads) {
      const double *own = slots + entry(slot, 0, p);
      auto sum = [=](const double *from) {
        return gr_sum_rows([=](int i) { return from + i * apart; }, 1 << how.leaf_warps_log2);
      };
      gr_write_sum<R>(q, sum(own), R::tallied ? sum(own + half) : 0, q.first + v0 + p);
    }
    if (how.leaf_warps_log2) __syncthreads();
    else __syncwarp();
  }
  if (single && q.nodes == 1) return;
  if (q.inputs_stable) gr_await_earlier();
  __syncthreads();
  /* Over the warps of a leaf, then over leaves. */
  gr_cols_sum_thread end(q);
  int there = single ? 1 : (int)min((int64_t)units, q.leaves - end.leaf);
  int64_t v0 = end.strip * wide, here = min((int64_t)wide, q.job.count - v0);
#pragma unroll 1
  for (int i = threadIdx.x; i < wide * there; i += blockDim.x) {
    int u = i / wide, p = i - u * wide;
#pragma unroll
    for (int f = 0; f < R::fields; f++)
      slots[f * half + entry(u, 0, p)] =
          gr_sum_rows([=](int i) { return slots + f * half + entry(u, i, p); }, 1 << how.leaf_warps_log2);
  }
  gr_fold_strip<R>(q, slots, entry, half, there, there, wide, v0, here, end.block);
}

#endif
