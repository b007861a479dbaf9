/*
** What the kernels of rmsnorm for rows that begin anywhere in a word share: bytes lie in shared memory as they do in
** memory (loose_bytes), squares are added up element by element (squares_of_row), and of what is written it is known
** where whole words begin and end (cut_bytes).
*/
#ifndef GR_CUDA_NORM_RMSNORM_BYTES_CUH
#define GR_CUDA_NORM_RMSNORM_BYTES_CUH

#include "kernels/cuda/norm/rmsnorm.cuh"

/* Words in shared memory for so many bytes: up to 15 more before the first one, in whole words, and a word behind,
   which readers may touch. */
static __host__ __device__ constexpr int loose_words(int bytes) { return (bytes + 30) / 16 + 1; }

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
  template <gr_dtype D>
  __device__ __forceinline__ const gr_type<D> *elements() const {
    return (const gr_type<D> *)((const char *)words + shift);
  }
};
/* A warp's bytes from memory on their way to `stage`, as words of memory lie. */
static __device__ __forceinline__ loose_bytes fetch_loose(uint4 *stage, const char *from, int bytes, int lane) {
  const loose_bytes x = {stage, (int)((uintptr_t)from & 15)};
  from -= x.shift;
#pragma unroll(Tuning::fetched)
  for (int i = lane * 16; i < x.shift + bytes && bytes; i += GR_ROW_BYTES) gr_copy_async<16>(stage + i / 16, from + i);
  return x;
}

/* Bytes that a warp writes: whole words from byte `head` up to `whole`, before and behind which it writes elements. */
struct cut_bytes {
  int head, whole, all;
  __device__ __forceinline__ cut_bytes(const char *to, int bytes)
      : head(min(-(int)(uintptr_t)to & 15, bytes)), whole(head + ((bytes - head) & ~15)), all(bytes) {}
  /* Where this lane's element is that is in no whole word; behind all bytes if it has none. */
  __device__ __forceinline__ int edge(int lane, int size) const {
    const int at = lane < 16 ? lane * size : whole + (lane - 16) * size;
    return lane >= 16 || at < head ? at : all;
  }
};

/* Lanes of the tree that each thread has of a row that a few threads share. */
constexpr int short_lanes = 16;

/* The squares of the n elements from `row` on, which lie one behind the other. */
template <gr_dtype D, bool brain>
struct squares_of_row {
  const gr_type<D> *row;
  int n;

  /* s and the square of element k, which is known to be there, or counts as 0 where it is not. */
  __device__ __forceinline__ double add(double s, int k, bool known) const {
    gr_type<D> x[1] = {};
    widened<D> v[1];
    if (known || k < n) x[0] = row[k];
    widen<D>(v, x, brain);
    const double of = (double)v[0];
    return gr_size<D> <= 4 ? __fma_rn(of, of, s) : s + of * of;
  }
  /*
  ** `count` lanes of one element each, folded by halves: number i is element at + i * apart. turned: at is t + m *
  ** apart, t less than apart, and lane i ^ m stands in the place of i: the pairs that fold are the same, only their
  ** sides change, and additions commute. This call folds numbers first, first + step, first + 2 step and so on. half:
  ** the first half of all is known to be there.
  */
  template <int count, bool half, bool turned = false, int first = 0, int step = 1>
  __device__ __forceinline__ double single(int at, int apart) const {
    if constexpr (2 * step == count) {
      if constexpr (turned) return add(add(0, at ^ first * apart, half), at ^ (first + step) * apart, false);
      else return add(add(0, at + first * apart, half), at + (first + step) * apart, false);
    } else {
      return single<count, half, turned, first, step * 2>(at, apart) +
             single<count, half, turned, first + step, step * 2>(at, apart);
    }
  }
  /* Lanes of any number of elements: all of the tree's, `count` of each thread, of which this is number t. */
  template <int count>
  __device__ __forceinline__ double several(int t) const {
    constexpr int lanes = GR_LANES(gr_size<D>), threads = lanes / count, group = count < 4 ? count : 4;
    double s[count];
#pragma unroll
    for (int i = 0; i < count; i++) s[i] = 0;
    int k = 0;
#pragma unroll(count < short_lanes ? Tuning::pieces_unrolled : 1)
    for (; k + lanes <= n; k += lanes)
#pragma unroll
      for (int i = 0; i < count; i++) s[i] = add(s[i], k + t + i * threads, true);
#pragma unroll
    for (int g = 0; g < count; g += group)
      if (k + g * threads < n)
#pragma unroll
        for (int i = g; i < g + group; i++) s[i] = add(s[i], k + t + i * threads, false);
    return folded<count>(s);
  }
  template <int count, int first = 0, int step = 1>
  static __device__ __forceinline__ double folded(const double (&s)[count]) {
    if constexpr (step == count) return s[first];
    else return folded<count, first, step * 2>(s) + folded<count, first + step, step * 2>(s);
  }
};
/* What so many neighbouring threads have, folded by halves. */
static __device__ __forceinline__ double sum_of_threads(double sum, int threads) {
#pragma unroll 1
  for (int h = threads / 2; h > 0; h /= 2) sum += __shfl_xor_sync(~0u, sum, h);
  return sum;
}

#endif
