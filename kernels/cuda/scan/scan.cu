/* Scans: what the kernels are told, and where they keep the totals they publish. */
#include "kernels/cuda/scan/down.cuh"
#include "kernels/cuda/scan/woven.cuh"

static_assert(GR_SCANNED_COUNT == 4, "sums, products, and what goes by keys: min and max");
static int has_keys(const gr_scan_job *job) { return job->op == GR_OP_min || job->op == GR_OP_max; }

/* A tile has 4096 elements, since the order of additions says so. For narrow keys no order counts: tiles of 16 KB. */
static int64_t row_of(const gr_scan_job *job) {
  int size = gr_size_of(job->dtype);
  return (has_keys(job) && size < 4 ? 32 / size : 8) * 32;
}
static int64_t tiles_of(const gr_scan_job *job) {
  int64_t tile = row_of(job) * GR_SCAN_ROWS;
  return (job->n + tile - 1) / tile;
}

/* What turns a search for the largest into one for the smallest, signed integers into unsigned ones or keys, and sums
   of f16 into those of bf16. */
static_assert(GR_DTYPE_COUNT == 11, "u8, u16, i64 and f64 are the default below");

static int64_t flip_of(const gr_scan_job *job) {
  int keys = has_keys(job);
  int64_t order = job->op == GR_OP_max ? -1 : 0;
  switch (job->dtype) {
    case GR_I8: return keys ? order ^ 0x80808080 : 0x80;
    case GR_I16: return keys ? order ^ 0x80008000 : 0x8000;
    case GR_I32: return keys ? order : -1;
    case GR_U32: return keys ? order ^ 0x80000000 : 0;
    case GR_F16: return order & 0x80008000;
    case GR_BF16: return keys ? order & 0x80008000 : 1;
    case GR_F32: return order & 0x80000000;
    default: return order;
  }
}

/*
** Whether warps go down columns (scan/down.cuh): not of narrow keys, which lie otherwise within a row, and not where a
** block has no memory for it, which is Turing's for 8 bytes.
*/
static int goes_down(const gr_scan_job *job, const gr_cuda_chip *chip) {
  const int size = gr_size_of(job->dtype), out_size = gr_size_of(job->out_dtype);
  if (GR_SCAN_DOWN_BYTES(size) + GR_SCAN_DOWN_BESIDE > chip->shared_optin) return 0;
  if ((has_keys(job) && size < 4) || job->a.step != size || job->out.step != out_size) return 0;
  if (job->n < Tuning::down_length || job->n * job->count < Tuning::down_elements) return 0;
  return job->count >= 32 && job->count < INT32_MAX && job->a.stride > size && job->out.stride > out_size;
}

/* Whether few columns go through a ring together (scan/woven.cuh). */
static int is_woven(const gr_scan_job *job) {
  const int size = gr_size_of(job->dtype), out_size = gr_size_of(job->out_dtype);
  if (job->count < 2 || job->count >= 32 || job->a.step != size || job->out.step != out_size) return 0;
  if (job->n < Tuning::woven_length || job->n * job->count < Tuning::woven_elements) return 0;
  return job->a.stride == job->count * size && job->out.stride == job->count * out_size;
}

/* All but where the scratch memory is. */
static gr_scan arguments_of(const gr_scan_job *job, const gr_cuda_chip *chip) {
  gr_scan q;
  int64_t back = job->reverse ? job->n - 1 : 0, sign = job->reverse ? -1 : 1;
  memset(&q, 0, sizeof q);
  q.a = (const char *)job->a.data + back * job->a.stride;
  q.out = (char *)job->out.data + back * job->out.stride;
  q.a_stride = sign * job->a.stride;
  q.out_stride = sign * job->out.stride;
  q.n = job->n;
  q.count = job->count;
  q.a_step = job->a.step;
  q.out_step = job->out.step;
  q.tiles = (uint32_t)tiles_of(job);
  q.exclusive = job->exclusive;
  q.down = goes_down(job, chip);
  q.woven = is_woven(job);
  if (q.woven)
    q.lanes = gr_woven_rows(job->count, row_of(job), gr_size_of(job->dtype), gr_size_of(job->out_dtype), chip);
  q.flip = flip_of(job);
  return q;
}

/*
** Words that are published, level by level: of tiles, of groups of them, of superblocks, and of all that lies before a
** group. Of woven columns and of those that are gone down the first are of pieces of tiles, and levels are those above
** them: of every column side by side.
*/
struct Words {
  size_t tiles, groups, supers, before;
};
static Words words_of(const gr_scan &q) {
  if (!q.woven && !q.down) {
    if (q.count > 1) return {(size_t)(q.count * q.tiles), 0, 0, 0};
    return {q.tiles, q.tiles / 32 + 1, q.tiles / 1024 + 2, 0};
  }
  const size_t pieces = q.woven ? (size_t)q.tiles * (GR_SCAN_ROWS / q.lanes) : (size_t)GR_SCAN_DOWN_ROWS(q.n);
  const size_t tiles = q.woven ? q.tiles : pieces / GR_SCAN_ROWS + 1, groups = tiles / 32 + 1, count = (size_t)q.count;
  return {pieces * count, tiles * count, groups * count, (groups + 1) * count};
}
static size_t scratch_of(const gr_scan &q) {
  const Words w = words_of(q);
  return GR_COUNTER_BYTES + (w.tiles + w.groups + w.supers + w.before) * sizeof(gr_halves);
}

static int start(const gr_scan_job *job, const gr_scan *q, const gr_scan_place &at) {
  int multiplies = job->op == GR_OP_prod;
  if (has_keys(job)) return gr_scan_orders(job->dtype, q, at);
  return gr_is_float(job->dtype) ? gr_scan_floats(job->dtype, multiplies, q, at)
                                 : gr_scan_integers(job->dtype, multiplies, q, at);
}

int gr_cuda_scan_skeleton(const gr_scan_job *job, const gr_cuda_chip *chip) {
  if (chip->major < 8 || job->reverse || job->count != 1) return GR_SCAN_NO_SKELETON;
  const int what = has_keys(job) ? GR_SCAN_ORDER : job->op == GR_OP_prod ? GR_SCAN_PROD : GR_SCAN_SUM;
  return what + (tiles_of(job) > Tuning::short_tiles ? GR_SCAN_LONG : 0);
}

/*
** Several vectors of more tiles than a superblock has, one after the other: the words of each have a tag of its own,
** since none of them may look like those of another.
*/
static int scan_apart(const gr_scan_job *job, const gr_cuda_run *run) {
  static_assert(GR_SCAN_MOST == Tuning::short_tiles * (int64_t)GR_SCAN_TILE, "several vectors have no ring");
  int e = cudaSuccess;
  for (int64_t k = 0; k < job->count && e == cudaSuccess; k++) {
    gr_scan_job one = *job;
    gr_cuda_run own = *run;
    one.count = 1;
    one.a.data = (const char *)job->a.data + k * job->a.step;
    one.out.data = (const char *)job->out.data + k * job->out.step;
    own.epoch += (uint64_t)k << 40;
    e = gr_cuda_scan(&one, &own);
  }
  return e;
}

int gr_cuda_scan(const gr_scan_job *job, const gr_cuda_run *run) {
  if (job->n <= 0 || job->count <= 0) return cudaSuccess;
  gr_scan q = arguments_of(job, run->chip);
  if (q.count > 1 && job->n > GR_SCAN_MOST && !q.down && !q.woven) return scan_apart(job, run);
  q.inputs_stable =
      gr_reads_at_once(*run, q.tiles <= Tuning::short_tiles && !q.down && !q.woven,
                       {gr_elements(*run, job->a, job->count, job->n, gr_size_of(job->dtype))},
                       {gr_span(job->out, job->count, job->n, gr_size_of(job->out_dtype))});
  int e = gr_cuda_need(run, scratch_of(q));
  if (e != cudaSuccess) return e;
  q.next = (unsigned *)run->scratch->memory;
  q.tile = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  const Words w = words_of(q);
  q.group = q.tile + w.tiles;
  q.super = q.group + w.groups;
  q.before = q.super + w.supers;
  q.tag = gr_tag_of(run->epoch);
  return start(job, &q, {run->chip, (cudaStream_t)run->stream, NULL, run->formula});
}

void gr_cuda_explain_scan(const gr_scan_job *job, const gr_cuda_chip *chip, gr_explained *e) {
  gr_scan q = arguments_of(job, chip);
  bool few = q.tiles <= Tuning::short_tiles;
  *e = {few ? "gr_scan_short" : "gr_scan_long",
        few ? "a block a tile, up to 1024 tiles" : "blocks stay, and tiles pass through a ring in shared memory",
        "tiles look back at the totals before them"};
  e->scratch = (int64_t)scratch_of(q);
  start(job, &q, {chip, NULL, e, NULL});
}
