#include "src/core/ladder.h"

#include "kernels/numerics/numerics.h"

#define GR_X(id, ops, name, rule, block, err, cpu, text, source) \
  {GR_RUNG_##id, ops, #name, GR_BLOCK_##rule, block, GR_ERR_##err, cpu, text, source},
const gr_rung_info gr_rungs[GR_RUNG_COUNT] = {GR_RUNGS(GR_X)};
#undef GR_X
#define GR_X(name) #name,
const char *const gr_taught_names[GR_TAUGHT_COUNT + 1] = {GR_TAUGHT(GR_X) NULL};
#undef GR_X

const gr_rung_info *gr_rung_named(gr_taught operation, const char *name) {
  for (int k = 0; k < GR_RUNG_COUNT; k++)
    if (gr_rungs[k].operations & operation && !strcmp(gr_rungs[k].name, name)) return &gr_rungs[k];
  return NULL;
}

int gr_taught_named(const char *name) {
  for (int k = 0; k < GR_TAUGHT_COUNT; k++)
    if (!strcmp(gr_taught_names[k], name)) return 1 << k;
  return 0;
}

const char *gr_rounding_text(gr_rounding_rule rule) {
  switch (rule) {
    case GR_ERR_EXACT: return "exact";
    case GR_ERR_TREE: return "as without 'kernel' (docs/numerics.md)";
    case GR_ERR_ONE: return "2";
    case GR_ERR_N: return "n + 1";
    case GR_ERR_WARP: return "n / 32 + 16";
    case GR_ERR_BLOCK: return "n / block + 2 log2(block) + 16";
    default: return "n / block + block + 16";
  }
}

/* ---- what every rung does ---- */

static gr_status begin(gr_context *c, gr_queue *q, gr_kernel_choice *k) {
  gr_stop_begin(&c->stop);
  return k->timed ? gr_stopwatch_start(c, q, &k->watch, k->info->name) : GR_OK;
}

static gr_status end(gr_context *c, gr_kernel_choice *k, gr_status status) {
  if (!k->timed) return status;
  if (status == GR_OK) {
    status = gr_stopwatch_stop(c, &k->watch, k->info->name, &k->seconds);
    k->seconds /= k->timed;
    return status;
  }
  gr_stopwatch_drop(&k->watch);
  return status;
}

static int times(const gr_kernel_choice *k) { return k->timed > 1 ? k->timed : 1; }

/* After each run since begin: many short ones are a long call, too. */
static gr_status ran(gr_context *c, gr_status status) { return status == GR_OK ? gr_context_look(c) : status; }

static gr_status teach(gr_context *c, gr_queue *q, const gr_ladder_job *job) {
  return ran(c, gr_fail_from(c, q, q->backend->ladder(q, job), gr_rungs[job->rung].name, 0));
}

/* The same job as often as it is timed, between the marks. */
static gr_status teach_timed(gr_context *c, gr_queue *q, gr_kernel_choice *k, const gr_ladder_job *job) {
  gr_status status = begin(c, q, k);
  for (int i = 0; i < times(k) && status == GR_OK; i++) status = teach(c, q, job);
  return end(c, k, status);
}

/* Teaching kernels read dense data: a itself, or a copy of it. Where it lies on the device goes to *data. */
static gr_status dense(gr_context *c, const gr_array *a, gr_array *copy, const void **data) {
  gr_status status = GR_OK;
  gr_vec v;
  if (!a) return GR_OK;
  if (gr_array_dense(a)) {
    gr_array_view(a, copy, 0, 1, a->n);
  } else {
    status = gr_array_make_beside(c, a, copy, a->dtype, a->n);
    if (status == GR_OK) status = gr_copy(c, a, copy);
  }
  if (status == GR_OK) status = gr_array_read(copy, gr_kernel_side(copy->storage), &v);
  if (status == GR_OK) *data = v.data;
  return status;
}

static gr_status device_of(gr_array *a, void **data) {
  gr_vec v;
  gr_status status = gr_array_write(a, gr_kernel_side(a->storage), 1, &v);
  if (status == GR_OK) *data = (void *)(uintptr_t)v.data;
  return status;
}

/* ---- dot, sum, min, max ---- */

static double number_of(gr_op op, uint32_t word) {
  float x;
  if (op == GR_OP_min || op == GR_OP_max) {
    if (word == UINT32_MAX) return gr_nan();
    word ^= gr_ladder_flip(op);
    word = word >> 31 ? word & 0x7fffffffu : ~word;
  }
  memcpy(&x, &word, sizeof x);
  return gr_canonical(x);
}

/* What the host makes of the words a kernel left for it. */
static gr_status finish_on_host(gr_op op, const gr_array *words, int64_t count, double *result) {
  gr_array used = *words;
  gr_vec v;
  used.n = count;
  gr_status status = gr_array_read(&used, GR_HOST, &v);
  const uint32_t *word = v.data;
  if (status != GR_OK) return status;
  double sum = 0;
  uint32_t best = 0;
  for (int64_t k = 0; k < count; k++) {
    if (op == GR_OP_dot || op == GR_OP_sum) sum += number_of(op, word[k]);
    else if (word[k] > best) best = word[k];
  }
  *result = op == GR_OP_dot || op == GR_OP_sum ? gr_canonical(sum) : number_of(op, best);
  return GR_OK;
}

static int finished_by_host(gr_rung r) { return r == GR_RUNG_ELEMENTWISE_HOST || r == GR_RUNG_SHARED_HOST; }

/* A row after the other: one launch (or what the rung takes) each. results: on the host, only with a host rung. */
static gr_status teach_rows(gr_context *c, gr_ladder_job *job, gr_shape s, gr_array *words, double *results) {
  gr_queue *q = words->storage->queue;
  const char *a = job->a, *b = job->b;
  gr_status status = GR_OK;
  for (int64_t r = 0; r < s.rows && status == GR_OK; r++) {
    job->a = a + r * job->n * 4;
    job->b = b && s.pairs ? b + r * job->n * 4 : b;
    status = device_of(words, &job->out);
    if (!results) job->out = (char *)job->out + r * 4;
    if (status == GR_OK) status = teach(c, q, job);
    if (status == GR_OK && results)
      status = finish_on_host(job->op, words, gr_ladder_partials(job->rung, job->n, job->block), &results[r]);
  }
  return status;
}

static gr_status store_words(gr_op op, const gr_array *words, double *results, int64_t rows) {
  gr_vec v;
  gr_status status = gr_array_read(words, GR_HOST, &v);
  if (status != GR_OK) return status;
  for (int64_t r = 0; r < rows; r++) results[r] = number_of(op, ((const uint32_t *)v.data)[r]);
  return GR_OK;
}

static gr_status teach_fold(gr_context *c, gr_kernel_choice *k, gr_op op, gr_shape s, const gr_array *a,
                            const gr_array *b, double *results) {
  gr_queue *q = a->storage->queue;
  gr_ladder_job job = {.rung = k->info->rung, .op = op, .block = k->block, .n = a->n / s.rows};
  int by_host = finished_by_host(job.rung);
  gr_array words = {0}, da = {0}, db = {0};
  for (int64_t r = 0; r < s.rows; r++) results[r] = 0;
  if (job.n == 0) return GR_OK;
  gr_status status =
      gr_array_make_beside(c, a, &words, GR_U32, by_host ? gr_ladder_partials(job.rung, job.n, job.block) : s.rows);
  if (status == GR_OK) status = dense(c, a, &da, &job.a);
  if (status == GR_OK) status = dense(c, b, &db, &job.b);
  if (status == GR_OK) status = begin(c, q, k);
  const void *first[] = {job.a, job.b};
  for (int i = 0; i < times(k) && status == GR_OK; i++) {
    job.a = first[0];
    job.b = first[1];
    status = teach_rows(c, &job, s, &words, by_host ? results : NULL);
  }
  status = end(c, k, status);
  if (status == GR_OK && !by_host) status = store_words(op, &words, results, s.rows);
  gr_array_release(&words);
  gr_array_release(&da);
  gr_array_release(&db);
  return status;
}

gr_op gr_ladder_own(gr_rung rung, gr_op op) {
  switch (rung) {
    case GR_RUNG_F32: return op == GR_OP_dot ? GR_OP_dot_f32 : GR_OP_sum_f32;
    case GR_RUNG_KAHAN: return op == GR_OP_dot ? GR_OP_dot_kahan : GR_OP_sum_kahan;
    case GR_RUNG_NEUMAIER: return op == GR_OP_dot ? GR_OP_dot_neumaier : GR_OP_sum_neumaier;
    default: return op;
  }
}

static gr_status own_rows(gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b, gr_array *out) {
  gr_status status = GR_OK;
  gr_shape one = {.rows = 1, .axis = 2, .pairs = 1};
  for (int64_t r = 0; r < s.rows && status == GR_OK; r++) {
    const gr_array ra = gr_shape_vector(s, a, r);
    gr_array rb = {0}, to = gr_array_part(out, r, 1, 1);
    if (b) rb = s.pairs ? gr_shape_vector(s, b, r) : gr_array_part(b, 0, 1, b->n);
    status = ran(c, gr_reduce_each(c, op, one, &ra, b ? &rb : NULL, 0, &to, NULL));
  }
  return status;
}

static gr_status own_fold(gr_context *c, gr_kernel_choice *k, gr_op op, gr_shape s, const gr_array *a,
                          const gr_array *b, gr_array *out) {
  gr_queue *q = a->storage->queue;
  gr_op own = gr_ladder_own(k->info->rung, op);
  gr_status status = begin(c, q, k);
  for (int i = 0; i < times(k) && status == GR_OK; i++)
    status = k->info->rung == GR_RUNG_BATCHED ? ran(c, gr_reduce_each(c, own, s, a, b, 0, out, NULL))
                                              : own_rows(c, own, s, a, b, out);
  return end(c, k, status);
}

gr_status gr_ladder_fold(gr_context *c, gr_kernel_choice *k, gr_op op, gr_shape s, const gr_array *a, const gr_array *b,
                         gr_array *out) {
  gr_array numbers = {0};
  gr_vec v, o;
  if (k->info->rule == GR_BLOCK_OWN) return own_fold(c, k, op, s, a, b, out);
  gr_status status = gr_array_make_open(c, a, &numbers, GR_F64, s.rows, GR_HOST, &v);
  if (status == GR_OK) status = teach_fold(c, k, op, s, a, b, (double *)(uintptr_t)v.data);
  if (status == GR_OK) status = gr_array_write(out, GR_HOST, 1, &o);
  for (int64_t r = 0; r < s.rows && status == GR_OK; r++)
    gr_element_put_f(out->dtype, (char *)(uintptr_t)o.data + r * o.stride, ((const double *)v.data)[r]);
  gr_array_release(&numbers);
  return status;
}

/* ---- from array to array ---- */

/* Runs job from a (and b) to out, through a dense array when out is not. */
static gr_status teach_map(gr_context *c, gr_kernel_choice *k, gr_ladder_job *job, const gr_array *a, const gr_array *b,
                           gr_array *out) {
  gr_queue *q = a->storage->queue;
  gr_array da = {0}, db = {0}, to = {0};
  gr_status status = dense(c, a, &da, &job->a);
  job->rung = k->info->rung;
  job->block = k->block;
  if (status == GR_OK) status = dense(c, b, &db, &job->b);
  if (status == GR_OK && gr_array_dense(out)) gr_array_view(out, &to, 0, 1, out->n);
  else if (status == GR_OK) status = gr_array_make_beside(c, a, &to, out->dtype, out->n);
  if (status == GR_OK) status = device_of(&to, &job->out);
  if (status == GR_OK) status = teach_timed(c, q, k, job);
  if (status == GR_OK && !gr_array_dense(out)) status = gr_copy(c, &to, out);
  gr_array_release(&to);
  gr_array_release(&db);
  gr_array_release(&da);
  return status;
}

gr_status gr_ladder_scan(gr_context *c, gr_kernel_choice *k, gr_op op, const gr_array *a, gr_array *out, int exclusive,
                         int reverse) {
  gr_queue *q = a->storage->queue;
  gr_ladder_job job = {.op = op, .n = a->n, .exclusive = exclusive};
  if (a->n == 0) return GR_OK;
  if (k->info->rule != GR_BLOCK_OWN) return teach_map(c, k, &job, a, NULL, out);
  gr_status status = begin(c, q, k);
  for (int i = 0; i < times(k) && status == GR_OK; i++) status = ran(c, gr_scan(c, op, a, out, exclusive, reverse));
  return end(c, k, status);
}

gr_status gr_ladder_rmsnorm(gr_context *c, gr_kernel_choice *k, const gr_array *x, const gr_array *w, gr_array *out,
                            int64_t rows, double eps) {
  gr_queue *q = x->storage->queue;
  gr_ladder_job job = {.n = x->n / rows, .rows = rows, .eps = eps};
  if (x->n == 0) return GR_OK;
  if (k->info->rule != GR_BLOCK_OWN) return teach_map(c, k, &job, x, w, out);
  gr_status status = begin(c, q, k);
  for (int i = 0; i < times(k) && status == GR_OK; i++) status = ran(c, gr_rmsnorm(c, x, w, out, rows, eps));
  return end(c, k, status);
}

/* ---- histogram ---- */

/* The bins of a teaching kernel begin and end at whole numbers and are all of one whole width. */
static gr_status whole_bins(gr_context *c, const gr_kernel_choice *k, const gr_histogram_job *h, gr_ladder_job *job) {
  double width = 1 / h->per_bin;
  job->bins = h->bins;
  job->modulo = h->modulo;
  if (h->modulo) return GR_OK;
  if (!h->whole || fabs(h->first) > 0x1p53 || fabs(h->first + width * (double)h->bins) > 0x1p53)
    return gr_fail(c, GR_BAD, "kernel '%s': 'modulo', or bins between whole numbers, all of one whole width, expected",
                   k->info->name);
  job->width = (int64_t)(width + 0.5);
  job->first = (int64_t)h->first;
  job->last = job->first + job->width * h->bins;
  return GR_OK;
}

static gr_status teach_histogram(gr_context *c, gr_kernel_choice *k, const gr_array *a, const gr_histogram_job *h) {
  gr_queue *q = a->storage->queue;
  gr_ladder_job job = {.rung = k->info->rung, .block = k->block, .n = h->n, .out = h->counts};
  gr_array da = {0};
  gr_status status = whole_bins(c, k, h, &job);
  if (status == GR_OK) status = dense(c, a, &da, &job.a);
  if (status == GR_OK) status = teach_timed(c, q, k, &job);
  gr_array_release(&da);
  return status;
}

gr_status gr_ladder_histogram(gr_context *c, gr_kernel_choice *k, const gr_array *a, gr_histogram_job *h) {
  gr_queue *q = a->storage->queue;
  gr_rung r = k->info->rung;
  int64_t most = gr_ladder_most_bins(r, k->block);
  if (h->bins > most && k->block)
    return gr_fail(c, GR_BAD, "kernel '%s' with blocks of %d: at most %lld bins fit shared memory, got %lld",
                   k->info->name, k->block, (long long)most, (long long)h->bins);
  if (h->bins > most)
    return gr_fail(c, GR_BAD, "kernel '%s': at most %lld bins expected, got %lld", k->info->name, (long long)most,
                   (long long)h->bins);
  if (k->info->rule != GR_BLOCK_OWN) return teach_histogram(c, k, a, h);
  gr_status status = begin(c, q, k);
  h->way = r == GR_RUNG_REPLICATED ? GR_HISTOGRAM_REPLICATED
           : r == GR_RUNG_LARGE    ? GR_HISTOGRAM_LARGE
                                   : GR_HISTOGRAM_GLOBAL;
  for (int i = 0; i < times(k) && status == GR_OK; i++)
    status = ran(c, gr_fail_from(c, q, q->backend->histogram(q, h), "histogram", 0));
  return end(c, k, status);
}
