#include "src/core/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include "kernels/numerics/fixed.h"
#include "kernels/numerics/math.h"
#include "src/core/fixed.h"
#include "src/core/histogram_missing.h"
#include "src/core/exact.h"
#include "src/core/later.h"
#include "src/core/ops.h"
#include "src/core/ranks/add.h"
#include "src/core/ranks/meet.h"

#define TWO_63 9223372036854775808.0

/* Loops over bins look now and then whether the call is to stop, which gr_histogram and gr_density have begun. */
static int looks(int64_t k) { return k % (GR_LONG / 4) == 0 && k; }

/* Equal factors from first to last: e^(log first + k * step) by the module's own polynomials, so that all agree. */
static gr_status logspace(gr_context *c, double first, double last, int64_t n, double *out) {
  const double low = gr_log(first), step = (gr_log(last) - low) / (double)(n - 1);
  out[0] = first;
  for (int64_t k = 1; k < n - 1; k++) {
    if (looks(k) && gr_context_look(c) != GR_OK) return GR_STOPPED;
    out[k] = gr_exp(low + (double)k * step);
  }
  out[n - 1] = last;
  return GR_OK;
}

/* The smallest and largest finite elements, on the host: only for data that has infinities or NaNs. */
static gr_status finite_range(const gr_array *a, double *min, double *max) {
  gr_vec v;
  gr_status status = gr_array_read(a, GR_HOST, &v);
  *min = INFINITY;
  *max = -INFINITY;
  if (status != GR_OK) return status;
  if (a->n >= GR_LONG) gr_stop_begin(&a->storage->context->stop);
  for (int64_t k = 0; k < a->n; k++) {
    if (k && k % GR_LONG == 0 && (status = gr_context_look(a->storage->context)) != GR_OK) return status;
    double x = gr_element_get(a->dtype, (const char *)v.data + k * v.stride).v[0].f;
    if (x - x != 0) continue;
    if (x < *min) *min = x;
    if (x > *max) *max = x;
  }
  return GR_OK;
}

/* The range of all ranks from each one's own. */
static gr_status join_ranges(gr_context *c, double *min, double *max, gr_status mine) {
  gr_comm *comm = c->comm;
  const double own[2] = {*min, *max};
  _Static_assert(sizeof own <= GR_CARD_TEXT, "the room of texts takes them");
  gr_status status = gr_ranks_agree(c, mine);
  if (status == GR_OK) status = gr_ranks_moved(c, comm->table->gather(comm->handle, own, comm->texts, sizeof own));
  for (int r = 0; r < comm->size && status == GR_OK; r++) {
    double range[2];
    memcpy(range, comm->texts + (size_t)r * sizeof own, sizeof range);
    if (range[0] < *min) *min = range[0];
    if (range[1] > *max) *max = range[1];
  }
  return status;
}

/* The doubles on either side of an integer: the data's own range must hold its extremes. */
static double down(int64_t x) {
  double d = (double)x;
  return d >= TWO_63 || (int64_t)d > x ? nextafter(d, -INFINITY) : d;
}
static double up(int64_t x) {
  double d = (double)x;
  return d < TWO_63 && (int64_t)d < x ? nextafter(d, INFINITY) : d;
}

/* The range as given, or the data's; nothing to go by gives 0 to 1, and a single value is given width, as in NumPy. */
static gr_status data_range(gr_context *c, const gr_array *a, const gr_binning *b, double *min, double *max) {
  gr_value r;
  double low = b->log ? 1 : 0, high = b->log ? 10 : 1;
  if (!(b->has_min && b->has_max) && (c->comm ? gr_ranks_all(c) : a->n)) {
    gr_status status = gr_reduce_all(c, GR_OP_minmax, a, NULL, 0, &r);
    if (status != GR_OK) return status;
    low = r.is_float ? r.v[0].f : down(r.v[0].i);
    high = r.is_float ? r.v[1].f : up(r.v[1].i);
    if (low - low != 0 || high - high != 0) {
      status = finite_range(a, &low, &high);
      if (c->comm) status = join_ranges(c, &low, &high, status);
      if (status != GR_OK) return status;
    }
    if (low > high) low = b->log ? 1 : 0, high = b->log ? 10 : 1; /* nothing finite */
    if (b->log && !b->has_min && low <= 0)
      return gr_fail(c, GR_BAD, "option 'log': data above 0 or a '%s' expected, but the least element is %.17g",
                     b->limits ? b->limits : "min", low);
  }
  *min = b->has_min ? b->min : low;
  *max = b->has_max ? b->max : high;
  if (*min == *max && !(b->has_min && b->has_max)) {
    *min = b->log ? *min / 2 : *min - 0.5;
    *max = b->log ? *max * 2 : *max + 0.5;
  }
  if (!(*min < *max)) return gr_fail(c, GR_BAD, "min %.17g is not below max %.17g", *min, *max);
  if (*max - *min > 0x1.fffffffffffffp+1023)
    return gr_fail(c, GR_BAD, "the range from %.17g to %.17g is too wide", *min, *max);
  return GR_OK;
}

static gr_status check_rising(gr_context *c, const double *e, int64_t bins, int given) {
  int falls = !(e[0] - e[0] == 0 && e[bins] - e[bins] == 0);
  /* All at once first, without a branch: rising edges between finite ends are finite themselves. */
  for (int64_t k = 0; k < bins; k++) falls |= !(e[k] < e[k + 1]);
  if (!falls) return GR_OK;
  for (int64_t k = 0; k <= bins; k++)
    if (e[k] - e[k] != 0) return gr_fail(c, GR_BAD, "edge %lld is %g: edges are finite", (long long)k + 1, e[k]);
  for (int64_t k = 0; k < bins; k++) {
    if (e[k] < e[k + 1]) continue;
    if (given)
      return gr_fail(c, GR_BAD, "edges must rise, but edge %lld is %.17g and edge %lld is %.17g", (long long)k + 1,
                     e[k], (long long)k + 2, e[k + 1]);
    return gr_fail(c, GR_BAD, "%lld bins from %.17g to %.17g are narrower than the spacing of f64 numbers",
                   (long long)bins, e[0], e[bins]);
  }
  return GR_OK;
}

/*
** Even edges are a formula until somebody looks at them. A step of more than some roundings of their largest makes them
** rise without a look, unless it is below the normal numbers, where a step itself may round far; where it is less they
** are made where the kernels run and brought here for one.
*/
static gr_status even_edges(gr_context *c, const gr_array *a, const gr_binning *b, gr_made_bins *to) {
  const int64_t bins = b->bins;
  gr_queue *q = a->storage->queue;
  const gr_side side = gr_kernel_side(a->storage);
  gr_edges_job job = {.first = to->first, .last = to->last, .bins = bins};
  const double largest = fmax(fabs(job.first), fabs(job.last));
  const double step = (job.last - job.first) / (double)bins;
  const int rise = to->rise = step > 0x1p-49 * largest && step >= 0x1p-1022;
  gr_vec v;
  if (rise && (q->backend->even || a->dtype != GR_I64) && largest < 0x1p62) {
    to->formula = 1;
    return gr_storage_even(to->edges->storage, job.first, job.last, bins);
  }
  gr_status status = gr_array_write(to->edges, side, 1, &v);
  job.edges = (double *)(uintptr_t)v.data;
  if (status == GR_OK && !gr_is_float(a->dtype) && !b->modulo && largest < 0x1p62) {
    status = gr_array_make_open(c, a, &to->limits, GR_I64, bins + 1, side, &v);
    job.limits = (int64_t *)(uintptr_t)v.data;
  }
  if (status == GR_OK) status = gr_fail_from(c, q, q->backend->edges(q, &job), "histogram", 0);
  if (status != GR_OK || rise) return status;
  status = gr_array_read(to->edges, GR_HOST, &v);
  return status == GR_OK ? check_rising(c, v.data, bins, 0) : status;
}

static gr_status make_edges(gr_context *c, const gr_array *a, const gr_binning *b, gr_made_bins *to) {
  gr_vec v;
  gr_status status = b->edges || b->modulo ? GR_OK : data_range(c, a, b, &to->first, &to->last);
  if (b->modulo) to->last = (double)b->bins;
  if (status == GR_OK) status = gr_array_make_beside(c, a, to->edges, GR_F64, b->bins + 1);
  if (status != GR_OK) return status;
  if (!b->edges && !b->log) return even_edges(c, a, b, to);
  if (b->edges && (status = gr_copy(c, b->edges, to->edges)) != GR_OK) return status;
  status = b->edges ? gr_array_read(to->edges, GR_HOST, &v) : gr_array_write(to->edges, GR_HOST, 1, &v);
  if (status != GR_OK) return status;
  const double *e = v.data;
  if (b->log) status = logspace(c, to->first, to->last, b->bins + 1, (double *)(uintptr_t)v.data);
  if (status != GR_OK) return status;
  if ((status = check_rising(c, e, b->bins, b->edges != NULL)) == GR_OK) to->first = e[0], to->last = e[b->bins];
  return status;
}

/*
** Integers are compared with integers: the smallest one in each bin, and the largest in the last. Here, for edges that
** are not even or lie so far out that they may pass every integer.
*/
static gr_status make_limits(gr_context *c, const gr_array *a, int64_t bins, gr_made_bins *to) {
  gr_vec v;
  gr_status status = gr_array_read(to->edges, GR_HOST, &v);
  const double *e = v.data;
  if (status == GR_OK) status = gr_array_make_open(c, a, &to->limits, GR_I64, bins + 1, GR_HOST, &v);
  if (status != GR_OK) return status;
  int64_t *out = (int64_t *)(uintptr_t)v.data;
  for (int64_t k = 0; k < bins; k++) {
    if (looks(k) && (status = gr_context_look(c)) != GR_OK) return status;
    if (e[k] >= TWO_63) return gr_fail(c, GR_BAD, "edge %lld is %.17g: past every integer", (long long)k + 1, e[k]);
    out[k] = e[k] < -TWO_63 ? INT64_MIN : gr_edge_limit(e[k], 0);
  }
  out[bins] = e[bins] >= TWO_63 ? INT64_MAX : e[bins] < -TWO_63 ? INT64_MIN : gr_edge_limit(e[bins], 1);
  return GR_OK;
}

gr_status gr_make_bins(gr_context *c, const gr_array *a, const gr_binning *b, gr_made_bins *to) {
  gr_status status = make_edges(c, a, b, to);
  if (status == GR_OK && !gr_is_float(a->dtype) && !b->modulo && !to->limits.storage && !to->formula)
    status = make_limits(c, a, b->bins, to);
  return status;
}

gr_histogram_job gr_histogram_job_of(const gr_array *a, const gr_binning *b, double first, double last) {
  gr_histogram_job job = {
      .dtype = a->dtype, .n = a->n, .bins = b->bins, .guess = !b->edges && !b->log, .modulo = b->modulo};
  if (b->modulo) return job;
  const double width = last - first, step = width / (double)b->bins;
  job.first = first;
  job.last = last;
  job.per_bin = (double)b->bins / width;
  job.whole = job.guess && first == floor(first) && last == floor(last) && step == floor(step);
  return job;
}

/* What both kinds of job need; counts are the caller's. fed: samples are made as they are counted. */
static gr_status describe(const gr_array *a, const gr_binning *b, const gr_made_bins *made, int fed,
                          gr_histogram_job *job) {
  gr_side side = gr_kernel_side(a->storage);
  gr_status status = GR_OK;
  gr_vec v;
  *job = gr_histogram_job_of(a, b, made->first, made->last);
  if (!b->modulo && !made->formula) {
    status = gr_array_read(made->edges, side, &v);
    job->edges = v.data;
  }
  if (status == GR_OK && made->limits.storage) {
    status = gr_array_read(&made->limits, side, &v);
    job->ilimits = v.data;
  }
  return status == GR_OK && !fed ? gr_array_read(a, side, &job->a) : status;
}

/*
** Sums of float weights over ranks: each is an integer of 128 bits, and goes as four of 32, whose sums are put together
** again; then it is rounded, as one process would have done.
*/
static gr_status add_weights(gr_context *c, gr_array *state, int32_t unit, gr_array *counts, gr_status mine) {
  const int64_t bins = counts->n;
  gr_vec from = {0}, to = {0};
  uint64_t *parts = malloc((size_t)bins * 4 * sizeof *parts);
  if (mine == GR_OK && !parts) mine = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld sums", (long long)bins);
  if (mine == GR_OK) mine = gr_array_read(state, GR_HOST, &from);
  if (mine == GR_OK) mine = gr_array_write(counts, GR_HOST, 1, &to);
  for (int64_t k = 0; k < 2 * bins && mine == GR_OK; k++) {
    const uint64_t word = ((const uint64_t *)from.data)[k];
    parts[2 * k] = word & UINT32_MAX;
    parts[2 * k + 1] = word >> 32;
  }
  gr_status status = gr_ranks_add(c, parts, 4 * bins, mine);
  for (int64_t k = 0; k < bins && status == GR_OK; k++) {
    const uint64_t *p = parts + 4 * k;
    const gr_fixed low = {p[0], 0}, second = {p[1] << 32, p[1] >> 32}, third = {0, p[2]}, top = {0, p[3] << 32};
    const gr_fixed sum = gr_fixed_add(gr_fixed_add(low, second), gr_fixed_add(third, top));
    ((double *)(uintptr_t)to.data)[k] = gr_fixed_value(sum, unit);
  }
  free(parts);
  return status;
}

static gr_status run(gr_context *c, gr_reduced of, const gr_binning *b, const gr_histogram_job *described,
                     gr_array *counts) {
  const gr_array *a = of.a;
  gr_queue *q = a->storage->queue;
  gr_histogram_job job = *described;
  gr_vec out;
  gr_status status = gr_array_write(counts, gr_kernel_side(a->storage), 1, &out);
  if (status != GR_OK) return gr_later_shut(c), status;
  job.counts = (int64_t *)(uintptr_t)out.data;
  job.tails = job.counts + job.bins;
  if (b->kernel) return gr_ladder_histogram(c, b->kernel, a, &job);
  if (of.e) {
    status = gr_formula_feed(c, GR_FEEDS_HISTOGRAM, of, b->weights, &job, NULL, "histogram");
    if (status != GR_NOT_FUSED) return status;
    status = gr_reduced_eval(c, &of);
    if (status == GR_OK) status = gr_array_read(a, gr_kernel_side(a->storage), &job.a);
  }
  return gr_later_do(c, q, status, GR_LATER_histogram, &job, a->n + job.bins + 1, "histogram");
}

static gr_status run_weighted(gr_context *c, gr_reduced of, gr_reduced by, const gr_histogram_job *described,
                              gr_array *counts) {
  const gr_array *a = of.a, *w = by.a;
  const int fed = of.e || by.e;
  gr_queue *q = a->storage->queue;
  gr_side side = gr_kernel_side(a->storage);
  gr_weights_job job = {.bins = *described, .dtype = w->dtype};
  gr_array state = {0};
  gr_vec v = {0};
  gr_status status = gr_is_float(w->dtype) ? gr_unit_of(c, w, "option 'weights': finite weights", &job.unit) : GR_OK;
  if (status != GR_OK) return status; /* on all ranks */
  if (!fed) status = gr_array_read(w, side, &job.w);
  if (status == GR_OK) status = gr_array_make_open(c, a, &state, GR_I64, 2 * counts->n, side, &v);
  job.state = (uint64_t *)(uintptr_t)v.data;
  if (status == GR_OK) status = gr_array_write(counts, side, 1, &v);
  job.out = (void *)(uintptr_t)v.data;
  if (status == GR_OK && fed) status = gr_formula_feed(c, GR_FEEDS_WEIGHTS, of, by, &job, NULL, "histogram");
  else if (status == GR_OK) status = gr_fail_from(c, q, q->backend->weights(q, &job), "histogram", 0);
  if (c->comm && gr_is_float(w->dtype)) status = add_weights(c, &state, job.unit, counts, status);
  gr_array_release(&state);
  return status;
}

/* The expressions whose elements must lie somewhere. */
static gr_status store(gr_context *c, const gr_binning *b, int ranged, gr_reduced *a, gr_reduced *w) {
  const gr_feeding operation = w->a ? GR_FEEDS_WEIGHTS : GR_FEEDS_HISTOGRAM;
  const int all = b->kernel || !gr_formula_feeds(operation, *a, *w, b->into);
  gr_status status = GR_OK;
  if (a->e && (all || ranged)) status = gr_reduced_eval(c, a);
  if (w->e && status == GR_OK && (all || gr_is_float(w->a->dtype))) status = gr_reduced_eval(c, w);
  return status;
}

gr_dtype gr_histogram_dtype(const gr_array *weights) {
  return weights && gr_is_float(weights->dtype) ? GR_F64 : GR_I64;
}

/* Meets the other ranks, which must bin alike. Of their edges a digest goes along. */
static gr_status meet(gr_context *c, const gr_array *a, const gr_binning *b, int edges, gr_status mine) {
  uint64_t sum[2] = {0, 0};
  char text[GR_CARD_TEXT], min[64] = "", max[64] = "", number[40];
  if (b->edges && mine == GR_OK) mine = gr_digest_here(c, b->edges, sum);
  if (b->has_min) snprintf(min, sizeof min, ", min %s", gr_ranks_digits(b->min, 17, number));
  if (b->has_max) snprintf(max, sizeof max, ", max %s", gr_ranks_digits(b->max, 17, number));
  if (b->edges) snprintf(min, sizeof min, " by edges of digest %016llx", (unsigned long long)sum[0]);
  snprintf(text, sizeof text, "%s of %s, %lld bins%s%s%s%s%s%s", edges ? "histogram" : "bincount",
           gr_dtypes[a->dtype].name, (long long)b->bins, b->modulo ? " modulo" : "", b->log ? " log" : "", min, max,
           b->weights.a ? ", weights " : "", b->weights.a ? gr_dtypes[b->weights.a->dtype].name : "");
  return gr_ranks_meet(c, text, a->n, 1, mine);
}

static gr_status run_any(gr_context *c, gr_reduced of, const gr_binning *b, const gr_histogram_job *job,
                         gr_array *counts) {
  if (b->weights.a) return run_weighted(c, of, b->weights, job, counts);
  const gr_status status = run(c, of, b, job, counts);
  if (status != GR_OK || !gr_may_miss(&b->missing) || job->skips_nan) return status;
  gr_array nan = gr_array_part(counts, b->bins + 2, 1, 1);
  return gr_histogram_forget(c, &b->missing, &nan);
}

gr_status gr_histogram(gr_context *c, gr_reduced of, const gr_binning *given, gr_array *counts, gr_array *edges) {
  const int is_ranged = edges && !given->edges && !given->modulo && !(given->has_min && given->has_max);
  gr_binning own = *given, *b = &own;
  gr_array ranged = {0};
  gr_made weights = {0};
  gr_made_bins made = {.edges = edges};
  gr_histogram_job job;
  const int floats = given->weights.a && gr_is_float(given->weights.a->dtype); /* over ranks nothing is missing */
  gr_status status = gr_histogram_settle(c, !is_ranged && !b->kernel, &of, &b->missing, &b->weights, &weights);
  const gr_array *a = of.a;
  if (status == GR_OK) status = store(c, b, is_ranged, &of, &b->weights);
  if (status == GR_OK && is_ranged) status = gr_histogram_keep(c, of, &b->missing, &ranged);
  if (c->comm) status = meet(c, a, b, edges != NULL, status);
  const int met = c->comm && status == GR_OK; /* else no rank calls the others again */
  if (b->bins > GR_LONG / 4) gr_stop_begin(&c->stop);
  if (edges) gr_array_release(edges); /* of a first try that ran out of memory */
  gr_array_release(counts);
  if (edges && status == GR_OK) status = gr_make_bins(c, ranged.storage ? &ranged : a, b, &made);
  if (status == GR_OK && b->into) gr_array_view(b->into, counts, 0, 1, b->bins + 3);
  else if (status == GR_OK) status = gr_array_make_beside(c, a, counts, gr_histogram_dtype(b->weights.a), b->bins + 3);
  if (status == GR_OK && !b->weights.a && !b->kernel) gr_later_open(c, a->storage->queue);
  if (status == GR_OK) status = describe(a, b, &made, of.e || b->weights.e, &job);
  if (status == GR_OK) job.skips_nan = b->missing.nan && !b->weights.a && !b->kernel;
  if (met && floats) status = gr_ranks_agree(c, status); /* the largest weight of all comes next */
  if (status != GR_OK) gr_later_shut(c);
  if (status == GR_OK) status = run_any(c, of, b, &job, counts);
  if (met && !floats) status = gr_ranks_add_array(c, counts, status);
  gr_array_release(&made.limits);
  gr_array_release(&ranged);
  gr_made_drop(&weights);
  return status;
}

/* Counts of vector k into its rows of counts and tails; edges are made with the first. */
static gr_status run_vector(gr_context *c, gr_shape s, const gr_array *a, const gr_binning *all, int64_t k,
                            gr_array *counts, gr_array *tails, gr_array *edges) {
  gr_binning b = *all;
  gr_array one = gr_shape_vector(s, a, k), weights, found = {0}, unused = {0};
  if (b.weights.a) {
    weights = gr_shape_vector(s, b.weights.a, k);
    b.weights = (gr_reduced){NULL, &weights};
  }
  gr_array *const ends = k || edges->storage != &gr_released ? &unused : edges;
  gr_status status = gr_histogram(c, (gr_reduced){NULL, &one}, &b, &found, ends);
  for (int tail = 0; tail < 2 && status == GR_OK; tail++) {
    const gr_array from = gr_array_part(&found, tail ? b.bins : 0, 1, tail ? 3 : b.bins);
    gr_array to = gr_array_part(tail ? tails : counts, k * from.n, 1, from.n);
    status = gr_copy(c, &from, &to);
  }
  gr_array_release(&found);
  gr_array_release(&unused);
  return status;
}

/* The ends that the data gives, by the edges of all of it. */
static gr_status find_ends(gr_context *c, const gr_array *a, gr_binning *b, gr_array *edges) {
  gr_array counts = {0};
  gr_vec v;
  gr_binning all = *b;
  all.weights = GR_NONE;
  gr_array whole = *a; /* lives no longer than this call */
  gr_status status = gr_histogram(c, (gr_reduced){NULL, &whole}, &all, &counts, edges);
  gr_array_release(&counts);
  if (status == GR_OK) status = gr_array_read(edges, GR_HOST, &v);
  if (status != GR_OK || b->edges || b->modulo) return status;
  b->min = ((const double *)v.data)[0];
  b->max = ((const double *)v.data)[b->bins];
  b->has_min = b->has_max = 1;
  return GR_OK;
}

gr_status gr_histogram_each(gr_context *c, gr_shape s, const gr_array *a, const gr_binning *asked, gr_array *counts,
                            gr_array *tails, gr_array *edges) {
  const gr_dtype t = gr_histogram_dtype(asked->weights.a);
  const int64_t vectors = gr_shape_results(s, a->n);
  gr_binning b = *asked;
  gr_array whole = *a; /* lives no longer than this call */
  gr_made weights = {0};
  gr_array_release(counts); /* of a first try that ran out of memory */
  gr_array_release(tails);
  gr_array_release(edges);
  gr_status status = gr_array_make_beside(c, a, counts, t, vectors * b.bins);
  if (status == GR_OK) status = gr_array_make_beside(c, a, tails, t, vectors * 3);
  if (status != GR_OK) return status;
  counts->rows = tails->rows = vectors;
  if (vectors == 0 || (!b.edges && !b.modulo && !(b.has_min && b.has_max))) status = find_ends(c, a, &b, edges);
  if (status == GR_OK) status = gr_histogram_weigh(c, (gr_reduced){NULL, &whole}, &b.missing, &b.weights, &weights);
  if (weights.e) { /* what is missing weighs nothing from here on */
    b.missing = (gr_missing){0};
    if (status == GR_OK) status = gr_reduced_eval(c, &b.weights);
  }
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < vectors && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    status = run_vector(c, s, a, &b, k, counts, tails, edges);
  }
  gr_made_drop(&weights);
  return status;
}

/* A formula where it can be one: it moves no bytes. */
gr_status gr_edges_into(gr_context *c, const gr_array *edges, gr_array *to) {
  const gr_edges_job *even = edges->storage->even;
  gr_storage *s = to->storage;
  if (even && s->owner == GR_OWNED && !s->exported && gr_array_dense(to) && s->bytes == (size_t)to->n * sizeof(double))
    return gr_storage_even(s, even->first, even->last, even->bins);
  return gr_copy(c, edges, to);
}

gr_status gr_density(gr_context *c, const gr_array *counts, const gr_array *rows, const gr_array *edges,
                     gr_array *density) {
  const int64_t bins = edges->n - 1;
  gr_value total;
  gr_vec n, r = {0}, e, out;
  gr_status status = gr_reduce_all(c, GR_OP_sum, counts, NULL, 0, &total);
  gr_array_release(density);
  if (status == GR_OK) status = gr_array_make_beside(c, counts, density, GR_F64, counts->n);
  if (status == GR_OK) status = gr_array_read(counts, GR_HOST, &n);
  if (status == GR_OK && rows) status = gr_array_read(rows, GR_HOST, &r);
  if (status == GR_OK) status = gr_array_read(edges, GR_HOST, &e);
  if (status == GR_OK) status = gr_array_write(density, GR_HOST, 1, &out);
  if (status != GR_OK) return status;
  const double all = gr_value_double(&total, 0), *row = r.data, *edge = e.data;
  double *to = (double *)(uintptr_t)out.data;
  density->rows = counts->rows;
  if (counts->n > GR_LONG / 4) gr_stop_begin(&c->stop);
  for (int64_t k = 0, i = 0; k < counts->n; i++) {
    const double high = row ? row[i + 1] - row[i] : 1;
    for (int64_t j = 0; j < bins; j++, k++) {
      if (looks(k) && (status = gr_context_look(c)) != GR_OK) return status;
      const gr_value x = gr_element_get(counts->dtype, (const char *)n.data + k * n.stride);
      to[k] = gr_canonical(gr_value_double(&x, 0) / high / (edge[j + 1] - edge[j]) / all);
    }
  }
  return GR_OK;
}
