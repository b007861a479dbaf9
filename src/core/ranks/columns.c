/*
** Kernels for columns give results. Of most operations, or of others with the same accumulator, these are the states,
** or tell them: one launch for all columns. Else a column is a vector with a step.
*/
#include "src/core/ranks/columns.h"

#include <stdlib.h>
#include "src/core/dtype.h"
#include "src/core/pool.h"
#include "src/core/ranks/meet.h"

/* The operation whose results are the states of a reducer, or tell them; -1: there is none. */
static int telling(gr_reducer red) {
  switch (red) {
    case GR_RED_SUM: return GR_OP_sum;
    case GR_RED_PROD: return GR_OP_prod;
    case GR_RED_MINMAX: return GR_OP_minmax;
    case GR_RED_COUNT: return GR_OP_count;
    case GR_RED_SUMABS: return GR_OP_norm1;
    case GR_RED_SUMSQ: return GR_OP_sumsq;
    case GR_RED_DOT: return GR_OP_dot;
    case GR_RED_SQDIFF: return GR_OP_mse; /* not divided */
    case GR_RED_DIFFER: return GR_OP_differ;
    case GR_RED_SUM_F32: return GR_OP_sum_f32;
    case GR_RED_DOT_F32: return GR_OP_dot_f32;
    case GR_RED_SUMWIDE:
    case GR_RED_ARGMIN:
    case GR_RED_ARGMAX:
    case GR_RED_VARIANCE:
    case GR_RED_PRESENT:
    case GR_RED_SUMEXP:
    case GR_RED_COSINE:
    case GR_RED_SUM_KAHAN:
    case GR_RED_SUM_NEUMAIER:
    case GR_RED_DOT_KAHAN:
    case GR_RED_DOT_NEUMAIER: break;
  }
  return -1;
}

int gr_ranks_at_once(gr_op op, gr_dtype t) { return telling(gr_reducer_of(op, t)) >= 0; }

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default");
static int64_t key_of(gr_dtype t, double x) {
  switch (t) {
    case GR_F16: return gr_key_f16(gr_f64_to_f16(x));
    case GR_BF16: return gr_key_bf16(gr_f64_to_bf16(x));
    case GR_F32: return gr_key_f32((float)x);
    default: return gr_key_f64(x);
  }
}

/* What a minimum and a maximum were made from; NaN lies beyond both ends. */
static gr_acc order_of(gr_dtype t, double least, double most) {
  const int missing = least != least;
  gr_acc acc = {{0, 0, 0}};
  acc.i[0] = missing ? INT64_MIN : key_of(t, least);
  acc.i[1] = missing ? INT64_MAX : key_of(t, most);
  return acc;
}

static gr_status all_at_once(gr_queue *q, const gr_reduce_job *given, void *device, void *host, gr_acc *states) {
  const gr_reducer red = gr_reducer_of(given->op, given->dtype);
  const gr_acc_kind kind = gr_acc_kind_of(red, given->dtype);
  const int64_t n = given->count, two = kind == GR_ACC_ORDER;
  const int floats = kind == GR_ACC_TREE || (two && gr_is_float(given->dtype));
  gr_reduce_job job = *given;
  job.op = (gr_op)telling(red);
  job.ddof = red == GR_RED_SQDIFF ? GR_UNDIVIDED : 0;
  job.out_dtype = floats ? GR_F64 : GR_I64;
  job.out = device;
  job.out2 = two ? (char *)device + n * 8 : NULL;
  gr_status status = q->backend->reduce(q, &job, NULL);
  if (status == GR_OK) status = q->backend->download(q, host, device, (size_t)(n * 8 * (1 + two)));
  for (int64_t k = 0; k < n && status == GR_OK; k++) {
    states[k] = (gr_acc){{0, 0, 0}};
    if (two && floats) states[k] = order_of(given->dtype, ((double *)host)[k], ((double *)host)[n + k]);
    else
      for (int64_t f = 0; f <= two; f++) states[k].i[f] = ((int64_t *)host)[f * n + k];
  }
  return status;
}

static gr_status one_by_one(gr_queue *q, const gr_reduce_job *job, gr_acc *states) {
  gr_reduce_job list[GR_STATES];
  gr_status status = GR_OK;
  for (int64_t from = 0; from < job->count && status == GR_OK; from += GR_STATES) {
    int count = 0;
    for (; count < GR_STATES && from + count < job->count; count++) {
      const int64_t k = from + count;
      list[count] = *job;
      list[count].count = 1;
      list[count].a.data = (const char *)job->a.data + k * job->a.step;
      if (job->b.data) list[count].b.data = (const char *)job->b.data + k * job->b.step;
    }
    status = q->backend->states(q, list, count, states + from, NULL, 0);
  }
  return status;
}

gr_status gr_ranks_columns(gr_queue *q, const gr_reduce_job *job, gr_acc *states) {
  const size_t asked = (size_t)job->count * 16;
  size_t bytes = asked;
  if (!gr_ranks_at_once(job->op, job->dtype)) return one_by_one(q, job, states);
  void *host = malloc(asked), *device = host ? gr_pool_take(q->backend, q, &bytes) : NULL;
  gr_status status = device ? all_at_once(q, job, device, host, states) : GR_NO_MEMORY;
  if (device) gr_pool_give(q->backend, q, device, bytes);
  free(host);
  return status;
}

gr_status gr_ranks_results(gr_context *c, const gr_array *beside, gr_array *const *out, const gr_dtype *t, int count,
                           gr_vec *to) {
  const int64_t columns = c->comm->width;
  gr_status status = GR_OK;
  for (int k = 0; k < count && status == GR_OK; k++) {
    status = gr_array_make_beside(c, beside, out[k], t[k], columns);
    if (status == GR_OK && columns) status = gr_array_write(out[k], GR_HOST, 1, &to[k]);
  }
  return gr_ranks_agree(c, status);
}
