/* Scans: what the kernels are told, and where they keep the totals they publish. */
#include "kernels/cuda/scan/scan.cuh"

static_assert(GR_SCANNED_COUNT == 4, "sums, products, and what goes by keys: min and max");
static int has_keys(const gr_scan_job *job) { return job->op == GR_OP_min || job->op == GR_OP_max; }

/* A tile has 4096 elements: the order of additions says so. Narrow keys have none, and tiles of 16 KB. */
static int64_t tiles_of(const gr_scan_job *job) {
  int size = gr_size_of(job->dtype);
  int64_t tile = (has_keys(job) && size < 4 ? 32 / size : 8) * 32 * GR_SCAN_ROWS;
  return (job->n + tile - 1) / tile;
}

/* What turns a search for the largest into one for the smallest, and signed integers into unsigned ones or keys. */
static int64_t flip_of(const gr_scan_job *job) {
  int keys = has_keys(job);
  int64_t order = job->op == GR_OP_max ? -1 : 0;
  switch (job->dtype) {
    case GR_I8: return keys ? order ^ 0x80808080 : 0x80;
    case GR_I16: return keys ? order ^ 0x80008000 : 0x8000;
    case GR_I32: return keys ? order : -1;
    case GR_U32: return keys ? order ^ 0x80000000 : 0;
    case GR_F16: case GR_BF16: return order & 0x80008000;
    case GR_F32: return order & 0x80000000;
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
  q.tiles = (uint32_t)tiles_of(job);
  q.exclusive = job->exclusive;
  q.flip = flip_of(job);
  q.inputs_stable =
      gr_reads_at_once(*run, q.tiles <= GR_SCAN_SHORT, {gr_span(job->a, 1, job->n, gr_size_of(job->dtype))},
                       {gr_span(job->out, 1, job->n, gr_size_of(job->out_dtype))});
  uint32_t groups = q.tiles / 32 + 1, supers = q.tiles / 1024 + 2;
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + ((size_t)q.tiles + groups + supers) * sizeof(gr_halves));
  if (e != cudaSuccess) return e;
  q.next = (unsigned *)run->scratch->memory;
  q.tile = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q.group = q.tile + q.tiles;
  q.super = q.group + groups;
  q.tag = gr_tag_of(run->epoch);
  if (has_keys(job)) return gr_scan_orders(job->dtype, &q, run->chip, stream);
  return gr_is_float(job->dtype) ? gr_scan_floats(job->dtype, multiplies, &q, run->chip, stream)
                                 : gr_scan_integers(job->dtype, multiplies, &q, run->chip, stream);
}
