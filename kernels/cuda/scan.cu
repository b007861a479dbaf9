/* Scans: what the kernels are told, and where they keep the totals they publish. */
#include "kernels/cuda/scan.cuh"

static int64_t tiles_of(int64_t n) { return (n + GR_SCAN_TILE - 1) / GR_SCAN_TILE; }

size_t gr_cuda_scan_scratch(const gr_scan_job *job, const gr_cuda_chip *chip) {
  int64_t tiles = tiles_of(job->n);
  (void)chip;
  return GR_COUNTER_BYTES + (size_t)(tiles + tiles / 32 + tiles / 1024 + 3) * sizeof(gr_scan_state);
}

/* The element an exclusive scan starts with: 0, 1, or what every element is below or above. */
static uint64_t start_of(const gr_scan_job *job) {
  int smallest = job->op == GR_OP_max; /* the identity of max */
  uint64_t sign = smallest ? 1 : 0;
  if (job->op == GR_OP_sum) return 0;
  if (job->op == GR_OP_prod)
    return !gr_is_float(job->dtype) ? 1 : job->out_dtype == GR_F64 ? gr_bits64(1.0) : gr_bits32(1.0f);
  switch (job->dtype) {
    case GR_F16: return 0x7c00u | sign << 15;
    case GR_BF16: return 0x7f80u | sign << 15;
    case GR_F32: return 0x7f800000u | sign << 31;
    case GR_F64: return UINT64_C(0x7ff0000000000000) | sign << 63;
    case GR_U8: return smallest ? 0 : UINT8_MAX;
    case GR_U16: return smallest ? 0 : UINT16_MAX;
    case GR_U32: return smallest ? 0 : UINT32_MAX;
    case GR_I8: return smallest ? 0x80u : 0x7fu;
    case GR_I16: return smallest ? 0x8000u : 0x7fffu;
    case GR_I32: return smallest ? 0x80000000u : 0x7fffffffu;
    default: return UINT64_C(0x7fffffffffffffff) + sign;
  }
}

/* Signed integers come before unsigned ones with the same bits: as keys and as numbers. */
static int64_t flip_of(const gr_scan_job *job) {
  int64_t order = job->op == GR_OP_max ? -1 : 0;
  int keys = job->op == GR_OP_min || job->op == GR_OP_max;
  switch (job->dtype) {
    case GR_I8: return order ^ 0x80;
    case GR_I16: return order ^ 0x8000;
    case GR_I32: return keys ? order : 0x80000000;
    case GR_U32: return keys ? order ^ 0x80000000 : 0;
    default: return order;
  }
}

int gr_cuda_scan(const gr_scan_job *job, const gr_cuda_run *run) {
  gr_scan q;
  cudaStream_t stream = (cudaStream_t)run->stream;
  int multiplies = job->op == GR_OP_prod;
  int64_t back = job->reverse ? job->n - 1 : 0, sign = job->reverse ? -1 : 1;
  if (job->n <= 0) return cudaSuccess;
  memset(&q, 0, sizeof q);
  q.a = (const char *)job->a.data + back * job->a.stride;
  q.out = (char *)job->out.data + back * job->out.stride;
  q.a_stride = sign * job->a.stride;
  q.out_stride = sign * job->out.stride;
  q.n = job->n;
  q.tiles = tiles_of(job->n);
  q.exclusive = job->exclusive;
  q.flip = flip_of(job);
  q.start = start_of(job);
  q.next = (unsigned *)run->scratch;
  q.tile = (gr_scan_state *)((char *)run->scratch + GR_COUNTER_BYTES);
  q.group = q.tile + q.tiles;
  q.super = q.group + q.tiles / 32 + 1;
  q.tag = (uint32_t)(run->epoch % UINT32_MAX) + 1; /* never 0, what fresh scratch holds */
  if (job->op == GR_OP_min || job->op == GR_OP_max) return gr_scan_orders(job->dtype, &q, run->chip, stream);
  return gr_is_float(job->dtype) ? gr_scan_floats(job->dtype, multiplies, &q, run->chip, stream)
                                 : gr_scan_integers(job->dtype, multiplies, &q, run->chip, stream);
}
