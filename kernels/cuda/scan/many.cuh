/* Many scans of up to a tile each, rows or columns of a matrix: a block has a tile's worth of them side by side. */
#ifndef GR_CUDA_SCAN_MANY_CUH
#define GR_CUDA_SCAN_MANY_CUH

#include "kernels/cuda/scan/short.cuh"

/*
** A block goes through `here` vectors of n elements in the order in which they lie in memory, so that lanes meet in the
** same words: body(vector, element), for each once.
*/
template <class Body>
static __device__ __forceinline__ void gr_scan_each_of(int here, int n, bool by_vectors, const Body &body) {
  constexpr int threads = Tuning::writers * 32;
  const int length = by_vectors ? n : here, all = here * n; /* what is side by side */
  int outer = (int)threadIdx.x / length, inner = (int)threadIdx.x % length;
  const int outer_step = threads / length, inner_step = threads % length;
#pragma unroll(Tuning::many_elements)
  for (int i = (int)threadIdx.x; i < all; i += threads) {
    if (by_vectors) body(outer, inner);
    else body(inner, outer);
    outer += outer_step;
    inner += inner_step;
    if (inner >= length) inner -= length, outer++;
  }
}

/* Words of 16 bytes of each vector, if all of them are whole words in order and several share a warp's rows; else 0. */
static int gr_scan_words_of(const gr_scan &q, const void *p, int64_t stride, int64_t step, int size) {
  return q.lanes < 64 && stride == size && q.n * size % 16 == 0 && step % 16 == 0 && (uintptr_t)p % 16 == 0
             ? (int)(q.n * size / 16)
             : 0;
}

/*
** Vectors of no more elements than a lane has, one after another without a gap: each is a thread's, and blocks read and
** write what lies side by side. A block has 256 of them, q.lanes times.
*/
template <class S> static __global__ void __launch_bounds__(256) gr_scan_few(const __grid_constant__ gr_scan q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  extern __shared__ __align__(16) char stage[];
  const int n = (int)q.n, all = 256 * q.lanes;
  const int64_t first = (int64_t)blockIdx.x * all;
  const int here = (int)min((int64_t)all, q.count - first);
  In *const in = (In *)stage;
  Out *const results = (Out *)(stage + (sizeof(In) == sizeof(Out) ? 0 : all * n * (int)sizeof(In)));
  const bool back_in = q.a_stride < 0, back_out = q.out_stride < 0;
  const char *a = q.a + (back_in ? (n - 1) * q.a_stride : 0) + first * q.a_step;
  char *out = q.out + (back_out ? (n - 1) * q.out_stride : 0) + first * q.out_step;
  const int bytes_in = here * n * (int)sizeof(In), bytes_out = here * n * (int)sizeof(Out);
  const int words_in = (uintptr_t)a % 16 ? 0 : bytes_in / 16, words_out = (uintptr_t)out % 16 ? 0 : bytes_out / 16;
  gr_before_reading(q.inputs_stable);
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < words_in; i += 256) gr_copy_async<16>(stage + i * 16, a + i * 16);
#pragma unroll 4
  for (int i = words_in * 16 + (int)threadIdx.x * (int)sizeof(In); i < bytes_in; i += 256 * (int)sizeof(In))
    gr_copy_async<sizeof(In)>(stage + i, a + i);
  gr_copies_wait();
  __syncthreads();
  gr_after_reading(q.inputs_stable);
#pragma unroll 1
  for (int m = (int)threadIdx.x; m < here; m += 256) {
    In x[8];
    Out y[8];
    Value v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
      x[k] = In();
      if (k < n) x[k] = in[m * n + (back_in ? n - 1 - k : k)];
    }
    S::values(x, v, q.flip);
#pragma unroll
    for (int h = 1; h < 8; h *= 2)
#pragma unroll
      for (int k = h; k < 8; k++)
        if ((k & h) && k < n) v[k] = S::join(v[(k & ~(2 * h - 1)) + h - 1], v[k]);
#pragma unroll 1
    for (int turn = 0; turn < q.exclusive; turn++) {
#pragma unroll
      for (int k = 7; k > 0; k--) v[k] = v[k - 1];
      v[0] = S::identity();
      if constexpr (S::ordered) v[0] += 0.0; /* a sum starts at 0, but its identity is -0 */
    }
    S::results(v, y, q.flip);
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (k < n) results[m * n + (back_out ? n - 1 - k : k)] = y[k];
  }
  __syncthreads();
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < words_out; i += 256) __stcs((uint4 *)(out + i * 16), ((const uint4 *)results)[i]);
#pragma unroll 4
  for (int i = words_out * 16 / (int)sizeof(Out) + (int)threadIdx.x; i < here * n; i += 256)
    __stcs((Out *)out + i, results[i]);
}

/*
** A vector has q.lanes lanes, a power of two: part of a warp's row, or up to all rows of a block's tile. It is the
** first tile of its scan, so that nothing lies before it, and what is absent at its end comes after all that counts.
*/
template <class S>
static __global__ void __launch_bounds__(Tuning::writers * 32, Tuning::short_blocks)
    gr_scan_many(const __grid_constant__ gr_scan q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  using Shape = gr_scan_shape<S>;
  constexpr int each = Shape::each;
  __shared__ gr_scan_short_shared<S> s;
  const int lane = threadIdx.x & 31, warp = gr_scan_warp(), lanes = q.lanes, width = min(lanes, 32);
  constexpr int rows = 2 * Shape::row; /* of a warp */
  const int all = GR_SCAN_ROWS * 32 / lanes, mine = warp * 64 / lanes; /* vectors; the first of this warp */
  const int at = (warp * 64 & (lanes - 1)) * each;                     /* in that, where it has no more than one */
  const int64_t vector = (int64_t)blockIdx.x * all;
  const int here = (int)min((int64_t)all, q.count - vector);
  const char *a = q.a + vector * q.a_step;
  char *out = q.out + vector * q.out_step;
  const int64_t left = mine < here ? q.n - at : 0;
  const bool down_in = gr_scan_are_columns(q.a_step, q.a_stride);
  const bool down_out = gr_scan_are_columns(q.out_step, q.out_stride);
  gr_scan_layout lie = GR_SCAN_SINGLY;
  char *in = s.rows[warp][0];
  Value v[2][S::count], row[2], above[2], r[1];
  gr_before_reading(q.inputs_stable);
  if (q.words_in) {
    gr_scan_each_of(here, q.words_in, true, [&](int m, int w) {
      int slot = m * lanes * each + w * (16 / (int)sizeof(In));
      gr_copy_async<16>(Shape::In::element(s.rows[slot / rows][0], slot % rows), a + m * q.a_step + w * 16);
    });
  } else if (lanes < 64 || down_in) {
    gr_scan_each_of(here, (int)q.n, !down_in, [&](int m, int k) {
      int slot = m * lanes * each + k;
      gr_copy_async<sizeof(In)>(Shape::In::element(s.rows[slot / rows][0], slot % rows),
                                a + m * q.a_step + k * q.a_stride);
    });
  } else if (left > 0) {
    a += mine * q.a_step + at * q.a_stride;
    lie = gr_scan_layout_of<In>(a, q.a_stride);
    if (gr_scan_whole(lie, left, rows)) gr_scan_ask<In, each, rows>(in, a, lie, lane);
    else gr_scan_gather<In, each, rows>(in, a, q.a_stride, left, lie, lane);
  }
  gr_copies_wait();
  __syncthreads();
  gr_after_reading(q.inputs_stable);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    gr_scan_take<S>(v[k], in + k * Shape::In::bytes, lie == GR_SCAN_BACKWARD, q.flip, lane);
    gr_scan_own<S>(v[k]);
    row[k] = S::fold(v[k][S::count - 1]);
  }
  gr_scan_lanes_by<S>(row, 1, width, lane);
  const int first = warp * 2 & -max(lanes / 32, 1); /* row of this warp's vector */
  r[0] = S::identity();
  if (lanes > 32) {
    if (lane == 31) s.total[warp * 2] = row[0], s.total[warp * 2 + 1] = row[1];
    __syncthreads();
    r[0] = s.total[(first + lane) & (GR_SCAN_ROWS - 1)];
    gr_scan_lanes<S, GR_SCAN_ROWS>(r, lane);
    r[0] = gr_scan_before<S>(r[0], lane);
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    Value before = __shfl_up_sync(~0u, row[k], 1);
    if ((lane & (width - 1)) == 0) before = S::identity();
    above[k] = S::join(__shfl_sync(~0u, r[0], lanes > 32 ? warp * 2 + k - first : 0), before);
  }
  __syncwarp(); /* all have what results are put upon */
#pragma unroll
  for (int k = 0; k < 2; k++) {
    bool starts = (((warp * 2 + k) * 32 + lane) & (lanes - 1)) == 0;
    gr_scan_give<S>(q, s.rows[warp][k], v[k], S::join(S::identity(), above[k]), starts, lane);
  }
  if (q.words_out) {
    __syncthreads();
    gr_scan_each_of(here, q.words_out, true, [&](int m, int w) {
      int slot = m * lanes * each + w * (16 / (int)sizeof(Out));
      char *place = s.rows[slot / rows][slot % rows / Shape::row];
      __stcs((uint4 *)(out + m * q.out_step + w * 16), *(const uint4 *)Shape::Out::element(place, slot % Shape::row));
    });
    return;
  }
  if (lanes < 64 || down_out) {
    __syncthreads();
    gr_scan_each_of(here, (int)q.n, !down_out, [&](int m, int k) {
      int slot = m * lanes * each + k;
      char *place = s.rows[slot / rows][slot % rows / Shape::row];
      *(Out *)(out + m * q.out_step + k * q.out_stride) = *(const Out *)Shape::Out::element(place, slot % Shape::row);
    });
    return;
  }
  __syncwarp();
  out += mine * q.out_step + at * q.out_stride;
  lie = gr_scan_layout_of<Out>(out, q.out_stride);
  bool whole = gr_scan_whole(lie, left, rows);
#pragma unroll 1
  for (int k = 0; k < 2; k++)
    gr_scan_write<Out, each>(s.rows[warp][k], out + k * Shape::row * q.out_stride, q.out_stride, whole,
                             left - k * Shape::row, lie, lane);
}

#endif
