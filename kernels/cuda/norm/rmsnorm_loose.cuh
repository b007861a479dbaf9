/*
** RMSNorm of rows that begin anywhere in a word. Whole words of memory are copied to shared memory as they lie, and who
** reads there shifts: by the row for the squares, so that the tree is that of any other row, and by the result for what
** is written, so that it goes out in whole words too. Rows of up to a leaf lie one behind the other, several to a warp;
** of longer ones a warp has a leaf, as in rmsnorm_pieces.
*/
#ifndef GR_CUDA_NORM_RMSNORM_LOOSE_CUH
#define GR_CUDA_NORM_RMSNORM_LOOSE_CUH

#include "kernels/cuda/norm/rmsnorm.cuh"

/* Who has a row: a warp, perhaps with others; a block; or several blocks, a piece each. */
enum row_owner { OF_WARP, OF_BLOCK, OF_BLOCKS };

typedef struct loose_plan {
  int rows, threads; /* short ones: of a warp, and lanes of a row */
  int pieces;        /* blocks of a long one */
  int stage;         /* words of a warp in shared memory */
  uint32_t inverse;  /* of the elements of a short row, times 2^31, rounded up */
} loose_plan;

/* Words in shared memory for so many bytes: what begins in the first word and ends in the last, and one on each side
   that readers may touch. */
static __host__ __device__ constexpr int loose_words(int bytes) { return (bytes + 30) / 16 + 2; }

/* Bytes in shared memory, the first one `shift` bytes into a word. */
struct loose_bytes {
  const uint4 *words;
  int shift;
  /* 16 bytes from byte `at` on, of which only those that are there mean anything. */
  __device__ __forceinline__ uint4 word(int at) const {
    int from = shift + at;
    const uint4 *w = words + (from >> 4);
    return (from & 15) == 0 ? w[0] : gr_realign(w[0], w[1], from & 15);
  }
  /* Zeros, whose squares add nothing, behind the first `left` bytes. */
  __device__ __forceinline__ uint4 first_of(int at, int left) const {
    uint4 w = word(at);
    return left < 16 ? gr_blend(make_uint4(0, 0, 0, 0), w, left) : w;
  }
};

/* Rows [row, row + rows) of this warp, or its leaf of one row: `bytes` bytes in all, `offset` bytes into the row. */
template <gr_dtype D, row_owner owns>
static __global__ void __launch_bounds__(Tuning::pieces_warps * 32, Tuning::pieces_blocks)
    rmsnorm_loose(const __grid_constant__ rmsnorm_args q, const __grid_constant__ loose_plan p, gr_halves *partials,
                  gr_tag tag) {
  constexpr int size = gr_size<D>, C = per_word<D>;
  static_assert(leaf_bytes<D> / size <= 1 << 15, "a row's number is a product (inverse)");
  extern __shared__ uint4 kept[];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), warps = blockDim.x >> 5, rows = 1, bytes, row_bytes = 0;
  int64_t row = blockIdx.x, offset = 0;
  if constexpr (owns == OF_WARP) {
    row = (row * warps + warp) * p.rows;
    rows = (int)max((int64_t)0, min((int64_t)p.rows, q.count - row));
    row_bytes = (int)q.n * size;
    bytes = rows * row_bytes;
  } else {
    if (owns == OF_BLOCKS) row = blockIdx.x / (unsigned)p.pieces;
    int piece = (int)(blockIdx.x - row * p.pieces);
    offset = (int64_t)(piece * warps + warp) * leaf_bytes<D>;
    bytes = (int)max((int64_t)0, min(q.n * size - offset, (int64_t)leaf_bytes<D>));
  }
  const char *from = q.x + row * q.x_step + offset;
  char *to = q.out + row * q.out_step + offset;
  uint4 *stage = kept + warp * p.stage + 1;
  loose_bytes x = {stage, (int)((uintptr_t)from & 15)};
  gr_start_reading(q.inputs_stable);
  from -= x.shift;
#pragma unroll(Tuning::loose_unrolled)
  for (int i = lane * 16; i < x.shift + bytes && bytes; i += GR_ROW_BYTES) gr_copy_async<16>(stage + i / 16, from + i);
  gr_copies_wait();
  if (owns == OF_BLOCKS) gr_await_earlier(); /* sums are published */
  __syncwarp();

  double r = 0, s[C];
  double *factor = (double *)(kept + warps * p.stage) + warp * p.rows; /* of each short row */
  if constexpr (owns == OF_WARP) {
    /* Of up to a row of lanes a thread has four words, which fold as they are added up. */
    const bool fours = row_bytes <= GR_ROW_BYTES;
    int threads = fours ? max(p.threads / 4, 1) : p.threads, t = lane & (threads - 1), per = 32 / threads;
#pragma unroll 1
    for (int own = lane / threads; own - lane / threads < rows; own += per) {
      double more[C];
      start_squares<D>(s);
      start_squares<D>(more);
      if (fours) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
          const int i = (t + j * threads) * 16;
          if (i < row_bytes && own < rows)
            add_squares<D>(j & 1 ? more : s, x.first_of(own * row_bytes + i, row_bytes - i), q.brain);
        }
#pragma unroll
        for (int c = 0; c < C; c++) s[c] += more[c];
      } else {
#pragma unroll(Tuning::loose_unrolled)
        for (int i = t * 16; i < row_bytes && own < rows; i += threads * 16)
          add_squares<D>(s, x.first_of(own * row_bytes + i, row_bytes - i), q.brain);
      }
      double sum = fold_squares<D>(s, threads, lane);
      if (t == 0 && own < rows) factor[own] = sum;
    }
    __syncwarp();
    for (int own = lane; own < rows; own += 32) factor[own] = factor_of(q, factor[own]);
    __syncwarp();
  } else {
    start_squares<D>(s);
#pragma unroll(Tuning::pieces_unrolled)
    for (int i = lane * 16; i < bytes; i += GR_ROW_BYTES) add_squares<D>(s, x.first_of(i, bytes - i), q.brain);
    double folded = fold_squares<D>(s, 32, lane);
    r = factor_of(q, sum_of_row<D, owns == OF_BLOCK>(folded, lane, warp, p.pieces, partials, tag));
  }

  if (owns != OF_BLOCKS) gr_await_earlier();

  /* A word within one row; then, a lane each, words where a row begins or ends. */
  const int n = (int)q.n, shift = (int)((uintptr_t)to & 15);
  const gr_type<D> *weights = (const gr_type<D> *)(q.w + offset);
  struct __align__(16) packed {
    gr_type<D> e[C];
    __device__ __forceinline__ uint4 word() const {
      uint4 u;
      memcpy(&u, e, 16);
      return u;
    }
  };
  auto row_of = [&](int &e) { /* the row of element e, which becomes one of that row */
    if (owns != OF_WARP || rows == 1 || e < n) return 0;
    int own = (int)__umulhi(2 * (uint32_t)e, p.inverse); /* e / n, as both are below 2^15 */
    e -= own * n;
    return own;
  };
#pragma unroll(owns == OF_WARP ? Tuning::loose_unrolled : Tuning::pieces_unrolled)
  for (int i = lane * 16 - shift; i < bytes; i += GR_ROW_BYTES) {
    int e = i / size, own = row_of(e);
    if (i < 0 || i + 16 > bytes || (owns == OF_WARP && e + C > n)) continue;
    weights_word<D> w;
    if (q.w) {
      packed there;
#pragma unroll
      for (int c = 0; c < C; c++) there.e[c] = weights[e + c];
      w.set(there.word(), q.brain);
    }
    __stcg((uint4 *)(to + i), scale_word<D>(x.word(i), owns == OF_WARP ? factor[own] : r, q.w != NULL, w, q.brain));
  }
  if (owns != OF_WARP) row_bytes = bytes;
  const bool all_border = row_bytes < 16; /* no row has a word of its own */
  const int borders = all_border ? (bytes + shift + 15) / 16 : rows + 1;
#pragma unroll 1
  for (int border = lane; border < borders && bytes; border += 32) {
    const int at = border * row_bytes, i = all_border ? border * 16 - shift : at - ((at + shift) & 15);
    /* Else the word is of one row, or it is the border before that has it. */
    if (!all_border && (i == at || (border > 0 && at - row_bytes > i))) continue;
    const uint4 u = x.word(i);
    packed y, weight = {};
    widened<D> v[C];
    double product[C];
    int e = i / size, own = row_of(e);
    if (owns == OF_WARP) r = factor[own];
    widen_word<D>(v, u, q.brain);
#pragma unroll
    for (int c = 0; c < C; c++) {
      product[c] = (double)v[c] * r;
      if (q.w && i + c * size >= 0 && i + c * size < bytes) weight.e[c] = weights[e];
      e++;
      if (owns == OF_WARP && e == n) e = 0, r = factor[min(++own, rows - 1)];
    }
    if (q.w) {
      widen_word<D>(v, weight.word(), q.brain);
#pragma unroll
      for (int c = 0; c < C; c++) product[c] *= (double)v[c];
    }
    round_all<D>(y.e, product, q.brain);
    if (i >= 0 && i + 16 <= bytes) {
      __stcg((uint4 *)(to + i), y.word());
    } else {
#pragma unroll
      for (int c = 0; c < C; c++)
        if (i + c * size >= 0 && i + c * size < bytes) *(gr_type<D> *)(to + i + c * size) = y.e[c];
    }
  }
}

#endif
