/* Random numbers: the streams of kernels/numerics/math.h and random.h, group by group. */
#include "kernels/cpu/kernels_cpu.h"
#include "kernels/numerics/random.h"

#define RANDOM_GROUPS 4096 /* counter blocks to a piece */

_Static_assert(GR_FLOAT_COUNT == 4, "bf16 is the default");
static void put(gr_dtype t, char *p, double x) {
  switch (t) {
    case GR_F64: memcpy(p, &x, 8); break;
    case GR_F32: {
      const float f = gr_f64_to_f32(x);
      memcpy(p, &f, 4);
      break;
    }
    case GR_F16: {
      const gr_f16 h = gr_f64_to_f16(x);
      memcpy(p, &h, 2);
      break;
    }
    default: {
      const gr_bf16 h = gr_f64_to_bf16(x);
      memcpy(p, &h, 2);
      break;
    }
  }
}

static void do_random(void *arg, int64_t g, int64_t end) {
  const gr_random_job *job = (const gr_random_job *)arg;
  const int group = gr_random_group(job->dtype);
  for (; g < end; g++) {
    double x[4];
    gr_random_fill(job->dtype, job->seed, job->stream, job->mark, job->first + (uint64_t)g, job->kind, x);
    for (int64_t i = 0; i < group && g * group + i < job->n; i++)
      put(job->dtype, (char *)(uintptr_t)job->out.data + (g * group + i) * job->out.stride, x[i]);
  }
}

void gr_cpu_random(const gr_random_job *job, gr_parallel parallel) {
  const int group = gr_random_group(job->dtype);
  gr_in_ranges(parallel, (job->n + group - 1) / group, RANDOM_GROUPS, do_random, job);
}

/* ---- whole numbers ---- */

#define CHUNK 256

/* Elements from .. from + m - 1, of an integer dtype. */
static void put_whole(gr_dtype t, const gr_vec *out, int64_t from, int m, const int64_t *x) {
  char *p = (char *)(uintptr_t)out->data + from * out->stride;
/* clang-format off */
#define PUT(type)                                                  \
  for (int k = 0; k < m; k++, p += out->stride) {                  \
    const type y = (type)x[k];                                     \
    memcpy(p, &y, sizeof(y));                                      \
  }                                                                \
  break;
  /* clang-format on */
  switch (gr_size_of(t)) {
    case 1: PUT(uint8_t)
    case 2: PUT(uint16_t)
    case 4: PUT(uint32_t)
    default: PUT(uint64_t)
  }
#undef PUT
}

#define WHOLE_PIECE (64 * CHUNK)

static void do_whole(void *arg, int64_t from, int64_t end) {
  const gr_whole_job *job = (const gr_whole_job *)arg;
  const int group = gr_whole_group(job->range);
  int64_t x[CHUNK];
  for (; from < end; from += CHUNK) {
    const int m = end - from < CHUNK ? (int)(end - from) : CHUNK;
    uint64_t y[2];
    for (int k = 0; k < m; k++) {
      if (k % group == 0) gr_whole_fill(job, job->first + (uint64_t)((from + k) / group), y);
      x[k] = gr_whole_number(job, y[k % group]);
    }
    put_whole(job->dtype, &job->out, from, m, x);
  }
}

void gr_cpu_whole(const gr_whole_job *job, gr_parallel parallel) {
  gr_in_ranges(parallel, job->n, WHOLE_PIECE, do_whole, job);
}

/* ---- orders ---- */

typedef struct ordering {
  const gr_order_job *job;
  gr_order order;
} ordering;

static void do_order(void *arg, int64_t from, int64_t end) {
  const ordering *o = (const ordering *)arg;
  const gr_order_job *job = o->job;
  int64_t x[CHUNK];
  for (; from < end; from += CHUNK) {
    const int m = end - from < CHUNK ? (int)(end - from) : CHUNK;
    for (int k = 0; k < m; k++) x[k] = gr_order_at(&o->order, from + k) + 1;
    put_whole(job->dtype, &job->out, from, m, x);
  }
}

/* A key is made for each of few once, not once for each pair. */
static void order_few(const gr_order_job *job, const gr_order *order) {
  uint64_t keys[GR_ORDER_FEW];
  int64_t x[GR_ORDER_FEW];
  int k, i, first;
  for (k = 0; k < (int)job->length; k++) keys[k] = gr_order_key(order, k);
  for (k = 0; k < (int)job->n; k++)
    for (i = 0, x[k] = 1; i < (int)job->length; i++) x[k] += gr_order_before(keys[i], i, keys[k], k);
  for (first = 0; first < (int)job->n; first += CHUNK)
    put_whole(job->dtype, &job->out, first, (int)job->n - first < CHUNK ? (int)job->n - first : CHUNK, x + first);
}

void gr_cpu_order(const gr_order_job *job, gr_parallel parallel) {
  const ordering o = {job, gr_order_of(job->length, job->seed, job->stream, job->mark)};
  if (job->length <= GR_ORDER_FEW) order_few(job, &o.order);
  else gr_in_ranges(parallel, job->n, WHOLE_PIECE, do_order, &o);
}
