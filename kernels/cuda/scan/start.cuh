/* Which kernel a scan takes, and how much shared memory. */
#ifndef GR_CUDA_SCAN_START_CUH
#define GR_CUDA_SCAN_START_CUH

#include "kernels/cuda/formula/start.cuh"
#include "kernels/cuda/scan/down.cuh"
#include "kernels/cuda/scan/many.cuh"
#include "kernels/cuda/scan/ring.cuh"
#include "kernels/cuda/scan/short.cuh"
#include "kernels/cuda/scan/woven.cuh"

static cudaError_t gr_scan_launch(const void *kernel, gr_scan &q, int32_t blocks, int32_t threads, int shared,
                                  const gr_scan_place &at) {
  void *args[] = {&q};
  if (at.asked) {
    at.asked->launches = 1;
    at.asked->blocks = blocks;
    at.asked->threads = threads;
    at.asked->shared = shared;
    return cudaSuccess;
  }
  const int early = at.chip->major >= 9;
  if (at.formula) return gr_start_formula(*at.formula, q, blocks, threads, (size_t)shared, early, at.stream);
  cudaError_t e =
      shared ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) : cudaSuccess;
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, args, blocks, threads, (size_t)shared, early, at.stream);
}

template <class S> static cudaError_t gr_scan_start_down(gr_scan &q, const gr_scan_place &at) {
  static_assert(sizeof(gr_scan_down_shared<S>) <= GR_SCAN_DOWN_BESIDE, "a block's memory is counted by this");
  const int64_t blocks = GR_SCAN_DOWN_ROWS(q.n) * ((q.count + 31) / 32);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  return gr_scan_launch((const void *)gr_scan_down<S>, q, (int32_t)blocks, gr_scan_down_threads<S>,
                        GR_SCAN_DOWN_BYTES((int)sizeof(typename S::In)), at);
}

/*
** How many slots a ring has, of so many bytes each and with `fixed` bytes besides. Blocks share a multiprocessor's
** memory, where their rings of two find room; 1 KB of each is the system's.
*/
static int gr_scan_slots(const gr_cuda_chip *chip, int each, int fixed) {
  int slots = ((chip->shared_optin + 1024) / Tuning::ring_blocks - 1024 - fixed) / each;
  if (slots < Tuning::ring_least_slots) slots = (chip->shared_optin - fixed) / each;
  return slots < Tuning::ring_slots ? slots : Tuning::ring_slots;
}

template <class S> static cudaError_t gr_scan_start_woven(gr_scan &q, const gr_scan_place &at) {
  const int columns = (int)q.count;
  const int64_t in = sizeof(typename S::In), out = sizeof(typename S::Out), piece = q.lanes * gr_woven<S>::row;
  /* backwards: from the last element of all on */
  if (q.a_stride < 0) q.a += (columns - 1) * in, q.out += (columns - 1) * out;
  q.a_stride = q.a_stride < 0 ? -in : in;
  q.out_stride = q.out_stride < 0 ? -out : out;
  q.tiles = (uint32_t)((q.n + piece - 1) / piece);
  int each, fixed;
  const auto divide = [&](int apart) {
    q.apart = apart;
    each = gr_woven<S>::bytes(apart, q.lanes, columns) + (int)sizeof(gr_woven_slot<S>);
    fixed = gr_woven<S>::fixed(apart, q.lanes, columns);
    q.slots = gr_scan_slots(at.chip, each, fixed);
  };
  divide(gr_woven<S>::apart);
  if (q.apart && q.slots < Tuning::ring_least_slots) divide(0);
  return gr_scan_launch((const void *)gr_scan_woven<S>, q, at.chip->sms * Tuning::ring_blocks, gr_woven<S>::threads,
                        fixed + q.slots * each, at);
}

/* Whether vectors are a thread's each: short ones without a gap between them. */
template <class S> static bool gr_scan_are_few(const gr_scan &q) {
  const int64_t in = sizeof(typename S::In), out = sizeof(typename S::Out);
  return q.count >= Tuning::few_vectors && q.n > 1 && q.n <= 8 && q.a_step == q.n * in && q.out_step == q.n * out &&
         (q.a_stride == in || q.a_stride == -in) && (q.out_stride == out || q.out_stride == -out);
}
template <class S> static cudaError_t gr_scan_start_few(gr_scan &q, const gr_scan_place &at) {
  const int in = sizeof(typename S::In), out = sizeof(typename S::Out), each = (int)q.n * (in == out ? in : in + out);
  for (q.lanes = 1; q.lanes < Tuning::few_turns && 2 * 256 * q.lanes * each <= Tuning::few_bytes;) q.lanes *= 2;
  return gr_scan_launch((const void *)gr_scan_few<S>, q, (int32_t)((q.count - 1) / (256 * q.lanes) + 1), 256,
                        256 * q.lanes * each, at);
}

/* Few: S, but for short vectors; of so little work, asking which of two types elements are would be an eighth. */
template <class S, class Few = S> static cudaError_t gr_scan_start(gr_scan q, const gr_scan_place &at) {
  using Shape = gr_scan_shape<S>;
  const gr_cuda_chip *chip = at.chip;
  if (q.woven) return gr_scan_start_woven<S>(q, at);
  if constexpr (S::count == S::each)
    if (q.down) return gr_scan_start_down<S>(q, at);
  if constexpr (S::count == S::each)
    if (gr_scan_are_few<S>(q)) return gr_scan_start_few<Few>(q, at);
  if (q.count > 1 && q.tiles == 1) {
    for (q.lanes = 1; q.lanes * Shape::each < q.n;) q.lanes *= 2;
    q.words_in = gr_scan_words_of(q, q.a, q.a_stride, q.a_step, sizeof(typename S::In));
    q.words_out = gr_scan_words_of(q, q.out, q.out_stride, q.out_step, sizeof(typename S::Out));
    int64_t blocks = (q.count * q.lanes - 1) / (GR_SCAN_ROWS * 32) + 1;
    return gr_scan_launch((const void *)gr_scan_many<S>, q, (int32_t)blocks, Tuning::writers * 32, 0, at);
  }
  if (q.tiles <= Tuning::short_tiles)
    return gr_scan_launch((const void *)gr_scan_short<S>, q, (int32_t)(q.count * q.tiles), Tuning::writers * 32, 0, at);
  const int each = gr_scan_ring<S>::slot_bytes, fixed = Tuning::writers * Shape::results;
  q.slots = gr_scan_slots(chip, each, fixed);
  return gr_scan_launch((const void *)gr_scan_long<S>, q, chip->sms * Tuning::ring_blocks, GR_SCAN_THREADS,
                        fixed + q.slots * each, at);
}

#endif
