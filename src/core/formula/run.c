#include "src/core/formula/run.h"

#include "kernels/filling.h"
#include "src/core/formula/steps.h"
#include "src/core/later.h"
#include "src/core/map.h"

/* ---- jobs ---- */

/* The arrays may have been released since, or some of them have left a device that was lost. */
static gr_status read_inputs(gr_context *c, const gr_expression *e, gr_queue *q, gr_vec *v) {
  gr_status status = GR_OK;
  if (!gr_expression_alive(e)) return GR_RELEASED;
  for (int k = 0; k < e->program.input_count && status == GR_OK; k++) {
    const gr_array *a = &e->inputs[k];
    if (gr_array_released(a)) return GR_RELEASED;
    if (a->storage->queue != q) return gr_fail(c, GR_DEVICE, "the arrays of an expression are on two devices");
    status = gr_array_read(a, gr_kernel_side(a->storage), &v[k]);
  }
  return status;
}

/* The job gets its program and inputs; what it does with them is there. */
static gr_status formula_job(gr_context *c, const gr_expression *e, gr_queue *q, gr_vec *v, gr_formula_job *job) {
  job->program = &e->program;
  job->inputs = v;
  job->n = e->n;
  job->columns = e->columns;
  job->result = e->result;
  return read_inputs(c, e, q, v);
}

static int takes_formulas(const gr_queue *q) { return q && q->backend && q->backend->formula; }

gr_status gr_expression_eval(gr_context *c, const gr_expression *e, gr_array *out) {
  gr_vec v[GR_FORMULA_INPUTS];
  gr_formula_job job = {.words = NULL};
  gr_queue *q = out->storage->queue;
  if (gr_array_released(out)) return GR_RELEASED;
  gr_later_open(c, q);
  gr_status status = formula_job(c, e, q, v, &job);
  if (status == GR_OK && e->n && q->backend->formula)
    status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  if (c->claims) return gr_later_do(c, q, status, GR_LATER_formula, &job, e->n, "eval");
  if (status != GR_OK || e->n == 0) return status;
  if (!q->backend->formula) return gr_expression_steps(c, e, out);
  status = q->backend->formula(q, &job);
  return status == GR_NOT_FUSED ? gr_expression_steps(c, e, out) : gr_fail_from(c, q, status, "eval", 0);
}

gr_status gr_reduced_eval(gr_context *c, gr_reduced *r) {
  const gr_status status = r->e ? gr_expression_eval(c, r->e, r->a) : GR_OK;
  if (status == GR_OK) r->e = NULL;
  return status;
}

gr_status gr_reduced_eval_both(gr_context *c, gr_reduced *a, gr_reduced *b) {
  const gr_status status = gr_reduced_eval(c, a);
  return status == GR_OK ? gr_reduced_eval(c, b) : status;
}

/* ---- one program of several operands ---- */

static gr_status merge(gr_builder *b, const gr_reduced *r, int32_t *node) {
  int found = -1;
  gr_status status = GR_OK;
  if (r->e) status = gr_build_merge(b, r->e, &found);
  else if (r->a) status = gr_build_input(b, r->a, GR_EACH, &found);
  *node = found;
  return status;
}

gr_status gr_formula_merge(gr_context *c, const gr_wanted *w, int count, gr_consumer *consumers, gr_expression **e) {
  gr_parts parts = {0, 0, 0};
  gr_builder b;
  for (int k = 0; k < count; k++) {
    gr_parts_add(&parts, w[k].a.e);
    if (w[k].b.a) gr_parts_add(&parts, w[k].b.e);
  }
  gr_status status = gr_builder_start_new(&b, c, e, parts);
  if (status != GR_OK) return status;
  for (int k = 0; k < count && status == GR_OK; k++) {
    status = merge(&b, &w[k].a, &consumers[k].a);
    consumers[k].b = -1;
    if (status == GR_OK) status = merge(&b, &w[k].b, &consumers[k].b);
  }
  if (status == GR_OK) status = gr_build_end(&b, consumers[0].a);
  for (int k = 0; k < count; k++) consumers[k].job = gr_reduce_job_new(w[k].op, w[k].a.a->dtype, (*e)->n, w[k].ddof);
  return status;
}

/* ---- to numbers ---- */

static gr_queue *queue_of(const gr_reduced *r) {
  return r->e ? gr_expression_queue(r->e) : gr_array_released(r->a) ? NULL : r->a->storage->queue;
}

static int64_t length_of(const gr_reduced *r) { return r->e ? r->e->n : r->a->n; }
static int64_t columns_of(const gr_reduced *r) { return r->e ? r->e->columns : gr_array_columns(r->a); }

int gr_formula_together(const gr_wanted *w, int count) {
  const gr_queue *q = queue_of(&w[0].a);
  gr_parts parts = {0, 0, 0};
  int expressions = 0;
  int64_t columns = 0;
  if (!q || !q->backend || !q->backend->formula || count > GR_FORMULA_TOGETHER) return 0;
  for (int k = 0; k < count; k++) {
    const gr_reduced *both[2] = {&w[k].a, &w[k].b};
    for (int j = 0; j < 2 && both[j]->a; j++) {
      expressions += both[j]->e != NULL;
      gr_parts_add(&parts, both[j]->e);
      if (queue_of(both[j]) != q || length_of(both[j]) != length_of(&w[0].a)) return 0;
      if (columns && columns_of(both[j]) && columns != columns_of(both[j])) return 0;
      if (columns_of(both[j])) columns = columns_of(both[j]);
    }
  }
  return expressions && gr_parts_fit(parts);
}

/* Squares left the safe range: as gr_reduce_all sees to it, of elements that are somewhere. */
static gr_status reduce_scaled(gr_context *c, gr_wanted *w, gr_value *r) {
  const gr_status status = gr_reduced_eval_both(c, &w->a, &w->b);
  return status == GR_OK ? gr_reduce_all(c, w->op, w->a.a, w->b.a, w->ddof, r) : status;
}

/* GPUREDUCE_TRACE has a line of it, once it has been done in one pass. */
static void tell(gr_context *c, gr_op op, gr_shape s, const gr_wanted *w) {
  if (!c->trace) return;
  c->trace(&(gr_reduction){
      .op = op, .shape = s, .a = w->a.a, .b = w->b.a, .of = w->a.e, .with = w->b.e, .ddof = w->ddof, .fused = 1});
}

gr_status gr_formula_values(gr_context *c, const gr_expression *e, gr_consumer *consumers, int count,
                            gr_value *results) {
  gr_queue *q = gr_expression_queue(e);
  uint64_t words[2 * GR_FORMULA_TOGETHER];
  gr_vec v[GR_FORMULA_INPUTS];
  gr_formula_job job = {.consumers = consumers, .consumer_count = count, .words = words};
  gr_status status = formula_job(c, e, q, v, &job);
  if (status != GR_OK) return status;
  status = q->backend->formula(q, &job);
  if (status == GR_NOT_FUSED) return status;
  status = gr_fail_from(c, q, status, gr_ops[consumers[0].job.op].name, 0);
  for (int k = 0; k < count && status == GR_OK; k++) {
    memcpy(results[k].v, words + 2 * k, sizeof results[k].v);
    results[k].is_float = gr_is_float(gr_result_dtype(consumers[k].job.op, consumers[k].job.dtype));
  }
  return status;
}

static gr_status reduce_these(gr_context *c, gr_wanted *w, int count, const gr_expression *e, gr_consumer *consumers,
                              gr_value *results) {
  gr_status status = gr_formula_values(c, e, consumers, count, results);
  for (int k = 0; k < count && status == GR_OK; k++) {
    if (gr_may_overflow(w[k].op, w[k].a.a->dtype) && results[k].v[1].f == 0 && e->n)
      status = reduce_scaled(c, &w[k], &results[k]); /* which tells of it */
    else tell(c, w[k].op, (gr_shape){.axis = 2}, &w[k]);
  }
  return status;
}

static gr_status reduce_merged(gr_context *c, gr_wanted *w, int count, gr_value *results) {
  gr_consumer consumers[GR_FORMULA_TOGETHER];
  gr_expression *e = NULL;
  gr_status status = gr_formula_merge(c, w, count, consumers, &e);
  if (status == GR_OK) status = reduce_these(c, w, count, e, consumers, results);
  gr_expression_drop(e);
  return status;
}

gr_status gr_formula_start(gr_context *c, const gr_wanted *w, gr_reduce_job *mine, gr_ticket *t) {
  gr_queue *q = queue_of(&w->a);
  gr_consumer one;
  gr_expression *e = NULL;
  gr_vec v[GR_FORMULA_INPUTS];
  gr_formula_job job = {.consumers = &one, .consumer_count = 1, .words = t->words};
  if (!gr_formula_together(w, 1) || !q->backend->start_formula) return GR_NOT_FUSED;
  if (gr_may_overflow(w->op, w->a.a->dtype) || length_of(&w->a) == 0) return GR_NOT_FUSED;
  gr_status status = gr_formula_merge(c, w, 1, &one, &e);
  if (status == GR_OK) status = formula_job(c, e, q, v, &job);
  if (status == GR_OK) {
    *mine = one.job;
    status = q->backend->start_formula(q, &job, t);
    if (status != GR_OK) q->backend->forget(q, t);
    if (status != GR_NOT_FUSED) status = gr_fail_from(c, q, status, gr_ops[w->op].name, 0);
  }
  if (status == GR_OK) tell(c, w->op, (gr_shape){.axis = 2}, w);
  gr_expression_drop(e);
  return status;
}

gr_status gr_formula_store(gr_context *c, gr_wanted *w, int count, gr_reduced r) {
  const gr_status status = gr_reduced_eval(c, &r);
  for (int k = 0; k < count && status == GR_OK; k++) {
    if (w[k].a.a == r.a) w[k].a.e = NULL;
    if (w[k].b.a == r.a) w[k].b.e = NULL;
  }
  return status;
}

gr_status gr_formula_reduce_together(gr_context *c, gr_wanted *w, int count, gr_value *results) {
  gr_status status = reduce_merged(c, w, count, results);
  if (status != GR_NOT_FUSED) return status;
  status = GR_OK;
  for (int k = 0; k < count && status == GR_OK; k++) {
    status = w[k].a.e || w[k].b.e ? reduce_merged(c, &w[k], 1, &results[k]) : GR_NOT_FUSED;
    if (status != GR_NOT_FUSED) continue;
    status = gr_formula_store(c, w, count, w[k].a);
    if (status == GR_OK && w[k].b.a) status = gr_formula_store(c, w, count, w[k].b);
    if (status == GR_OK) status = gr_reduce_all(c, w[k].op, w[k].a.a, w[k].b.a, w[k].ddof, &results[k]);
  }
  return status;
}

/* Ranks reduce arrays, of which they hand over elements. */
gr_status gr_formula_reduce_ranked(gr_context *c, gr_wanted *w, int count, gr_status mine, gr_value *results) {
  gr_ranks_wanted list[GR_FORMULA_TOGETHER];
  gr_status status = mine;
  for (int k = 0; k < count; k++) {
    if (status == GR_OK) status = gr_reduced_eval_both(c, &w[k].a, &w[k].b);
    list[k] = (gr_ranks_wanted){.op = w[k].op, .a = w[k].a.a, .b = w[k].b.a, .ddof = w[k].ddof};
  }
  status = gr_reduce_ranked(c, list, count, status);
  for (int k = 0; k < count; k++) results[k] = list[k].value;
  return status;
}

gr_status gr_formula_reduce_all(gr_context *c, gr_op op, gr_reduced a, gr_reduced b, double ddof, gr_value *result) {
  gr_wanted w = {op, a, b, ddof};
  gr_consumer one = {.b = -1};
  gr_status status = GR_NOT_FUSED;
  if (!a.e && !b.e) return gr_reduce_all(c, op, a.a, b.a, ddof, result);
  if (c->comm) {
    status = gr_reduced_eval_both(c, &a, &b);
    return gr_reduce_over_ranks(c, op, a.a, b.a, ddof, status, result);
  }
  if (a.e && !b.a && takes_formulas(gr_expression_queue(a.e))) {
    one.a = a.e->result;
    one.job = gr_reduce_job_new(op, a.a->dtype, a.e->n, ddof);
    status = reduce_these(c, &w, 1, a.e, &one, result);
  } else if (gr_formula_together(&w, 1)) {
    status = reduce_merged(c, &w, 1, result);
  }
  if (status != GR_NOT_FUSED) return status;
  status = gr_reduced_eval_both(c, &a, &b);
  return status == GR_OK ? gr_reduce_all(c, op, a.a, b.a, ddof, result) : status;
}

/* ---- to arrays ---- */

#define FEW_ROWS 16 /* of a matrix: fewer are stored for its columns, as what is made at a time would be too little */

static int feeds(const gr_queue *q, gr_feeding operation) { return (int)(q->backend->feeds >> operation & 1); }

/* Whether the backend takes columns of a formula. */
static int fits_across(gr_op op, gr_shape s, gr_reduced a) {
  gr_queue *q = queue_of(&a);
  gr_reduce_job job = gr_reduce_job_new(op, a.a->dtype, s.rows, 0);
  job.count = gr_shape_results(s, a.a->n);
  if (!feeds(q, GR_FEEDS_COLUMNS)) return 0;
  return !q->backend->fits || q->backend->fits(q, GR_FEEDS_COLUMNS, &job);
}

static int overlaps(const gr_reduced *r, const gr_array *out) {
  int any = !r->e && r->a && gr_array_overlap(out, r->a);
  for (int k = 0; r->e && k < r->e->program.input_count; k++) any |= gr_array_overlap(out, &r->e->inputs[k]);
  return any;
}

/* Whether elements of an operand are filled where there is NaN. */
static int fills_nan(const gr_reduced *r) {
  const gr_program *g = &r->e->program;
  int32_t tested[2];
  return gr_is_filled(g, r->e->result) && gr_is_present_test(g, g->nodes[r->e->result].c, tested);
}

/*
** Whether the backend may take what is not NaN of arrays, as they lie: of operands in which that is filled, and whose
** results (out2 may be NULL) are not written over them.
*/
static int takes_present(gr_shape s, const gr_wanted *w, const gr_array *out, const gr_array *out2) {
  const gr_queue *q = queue_of(&w->a);
  if (!w->a.e || !takes_formulas(q) || q->backend->feeds == GR_FEEDS_ALL || !feeds(q, GR_FEEDS_PRESENT)) return 0;
  if (s.segments || (w->b.a && !s.pairs) || !fills_nan(&w->a) || !gr_formula_together(w, 1)) return 0;
  for (int k = 0; k < 2; k++) {
    const gr_array *to = k ? out2 : out;
    if (to && (overlaps(&w->a, to) || overlaps(&w->b, to))) return 0;
  }
  return 1;
}

/* Positions follow one another in every vector of the shape, or across them, where no square needs a second look. */
int gr_formula_fuses(gr_op op, gr_shape s, gr_reduced a, gr_reduced b) {
  const gr_wanted w = {op, a, b, 0};
  const int whole = s.rows == 0 && !s.segments, alike = !b.a || s.pairs;
  const int along = s.rows == 0 || (s.axis == 2 && alike), across = s.rows >= FEW_ROWS && s.axis == 1 && alike;
  if (!gr_formula_together(&w, 1)) return 0;
  if (across && !fits_across(op, s, a)) return 0;
  return whole || along || (across && !gr_may_overflow(op, a.a->dtype));
}

int64_t gr_expression_reads(const gr_expression *e) {
  int64_t bytes = 0;
  for (int k = 0; k < e->program.input_count; k++) bytes += e->inputs[k].n * gr_size(e->inputs[k].dtype);
  return bytes;
}

static gr_status each_job(gr_shape s, gr_array *out, gr_array *out2, gr_reduce_job *job) {
  gr_side side = gr_kernel_side(out->storage);
  gr_vec v, o = {0}, o2 = {0};
  gr_status status = GR_OK;
  if (s.segments) {
    status = gr_array_read(s.segments->offsets, side, &v);
    job->offsets = status == GR_OK ? v.data : NULL;
    job->offsets_are_i32 = s.segments->offsets->dtype == GR_I32;
  }
  if (status == GR_OK) status = gr_array_write(out, side, 1, &o);
  if (status == GR_OK && out2) status = gr_array_write(out2, side, 1, &o2);
  job->out = (void *)(uintptr_t)o.data;
  job->out2 = (void *)(uintptr_t)o2.data;
  job->out_dtype = out->dtype;
  return status;
}

/* By kernels that take the operands' elements: of what is not NaN where they lie, side by side in the job. */
static gr_status reduce_fed(gr_context *c, gr_feeding feeding, gr_shape s, const gr_wanted *w, gr_array *out,
                            gr_array *out2) {
  gr_reduce_job job = gr_reduce_job_new(w->op, w->a.a->dtype, 0, w->ddof);
  if (feeding == GR_FEEDS_PRESENT) job.a.stride = job.b.stride = 1;
  gr_shape_cut(s, w->a.a, w->b.a, &job);
  gr_later_open(c, out->storage->queue);
  const gr_status status = each_job(s, out, out2, &job);
  if (status != GR_OK) return gr_later_shut(c), status;
  return gr_formula_feed(c, feeding, w->a, w->b, &job, NULL, gr_ops[w->op].name);
}

/* Each of them into its array, if it has one; of a single one there may be a second. */
static gr_status reduce_along(gr_context *c, gr_shape s, const gr_wanted *w, int count, gr_array *const *out,
                              gr_array *out2) {
  gr_consumer consumers[GR_FORMULA_TOGETHER];
  gr_expression *e = NULL;
  gr_vec v[GR_FORMULA_INPUTS];
  gr_formula_job job = {.consumers = consumers, .consumer_count = count};
  gr_status status = gr_formula_merge(c, w, count, consumers, &e);
  if (status == GR_OK) {
    gr_queue *q = gr_expression_queue(e);
    const int64_t n = s.segments ? s.segments->longest : gr_shape_length(s, e->n);
    if (!s.segments && !gr_may_overflow(w->op, w->a.a->dtype)) gr_later_open(c, q);
    status = formula_job(c, e, q, v, &job);
    for (int k = 0; k < count && status == GR_OK; k++) {
      consumers[k].job.n = n;
      consumers[k].job.count = gr_shape_results(s, e->n);
      if (out[k]) status = each_job(s, out[k], out2, &consumers[k].job);
    }
    if (c->claims) status = gr_later_do(c, q, status, GR_LATER_formula, &job, e->n + 1, gr_ops[w[0].op].name);
    else if (status == GR_OK) status = gr_fail_from(c, q, q->backend->formula(q, &job), gr_ops[w[0].op].name, 0);
  }
  gr_expression_drop(e);
  return status;
}

/* Of squares that may leave the range of f64: then elements are stored after all, and such vectors reduced again. */
static gr_status reduce_watched(gr_context *c, gr_shape s, const gr_wanted *w, int present, gr_array *out) {
  gr_array safe = {0};
  gr_value all = {0};
  gr_reduced a = w->a, b = w->b;
  gr_status status = gr_array_make_beside(c, out, &safe, out->dtype, out->n);
  if (status == GR_OK)
    status = present ? reduce_fed(c, GR_FEEDS_PRESENT, s, w, out, &safe) : reduce_along(c, s, w, 1, &out, &safe);
  if (status == GR_OK) status = gr_reduce_quietly(c, GR_OP_all, &safe, &all);
  if (status == GR_OK && !all.v[0].i) {
    status = gr_reduced_eval_both(c, &a, &b);
    if (status == GR_OK) status = gr_reduce_redo(c, w->op, s, a.a, b.a, out, &safe);
  }
  gr_array_release(&safe);
  return status;
}

/* Whether a reduction of what is filled is that of what is present, even where nothing is. */
static int is_zero_of_none(gr_op op) {
  return op == GR_OP_sum || op == GR_OP_dot || op == GR_OP_sumsq || op == GR_OP_norm1 || op == GR_OP_norm2;
}

gr_status gr_formula_reduce_each(gr_context *c, gr_op op, gr_shape s, gr_reduced a, gr_reduced b, double ddof,
                                 gr_array *out, gr_array *out2) {
  const gr_wanted w = {op, a, b, ddof};
  const int dense = gr_array_dense(out) && (!out2 || gr_array_dense(out2));
  if (!a.e && !b.e) return gr_reduce_each(c, op, s, a.a, b.a, ddof, out, out2);
  if (gr_shape_results(s, a.a->n) == 0) return GR_OK;
  const int watched = gr_may_overflow(op, a.a->dtype);
  const int again = watched && (overlaps(&a, out) || overlaps(&b, out)); /* what is overwritten cannot be read again */
  gr_status done = GR_NOT_FUSED;
  if (dense && is_zero_of_none(op) && takes_present(s, &w, out, out2))
    done = watched ? reduce_watched(c, s, &w, 1, out) : reduce_fed(c, GR_FEEDS_PRESENT, s, &w, out, out2);
  if (done == GR_NOT_FUSED && dense && !again && gr_formula_fuses(op, s, a, b)) {
    const int across = s.rows && s.axis == 1;
    done = across    ? reduce_fed(c, GR_FEEDS_COLUMNS, s, &w, out, out2)
           : watched ? reduce_watched(c, s, &w, 0, out)
                     : reduce_along(c, s, &w, 1, &out, out2);
  }
  if (done == GR_OK) tell(c, op, s, &w);
  if (done != GR_NOT_FUSED) return done;
  const gr_status status = gr_reduced_eval_both(c, &a, &b);
  return status == GR_OK ? gr_reduce_each(c, op, s, a.a, b.a, ddof, out, out2) : status;
}

gr_status gr_formula_reduce_each_together(gr_context *c, gr_shape s, const gr_wanted *w, int count,
                                          gr_array *const *out) {
  const int across = s.rows && s.axis == 1;
  int fit = !across && takes_formulas(queue_of(&w[0].a)) && gr_formula_together(w, count);
  for (int k = 0; k < count; k++)
    fit = fit && gr_array_dense(out[k]) && !gr_may_overflow(w[k].op, w[k].a.a->dtype) && (!w[k].b.a || s.pairs);
  if (!fit) return GR_NOT_FUSED;
  const gr_status status = reduce_along(c, s, w, count, out, NULL);
  for (int k = 0; k < count && status == GR_OK; k++) tell(c, w[k].op, s, &w[k]);
  return status;
}

int gr_formula_counts(gr_shape s, gr_reduced a) {
  const gr_queue *q = queue_of(&a);
  return !s.segments && (!s.rows || s.axis == 2) && takes_formulas(q) && q->backend->feeds != GR_FEEDS_ALL;
}

gr_status gr_formula_reduce_counted(gr_context *c, gr_op op, gr_shape s, gr_reduced a, gr_reduced b, gr_reduced present,
                                    gr_array *out) {
  const gr_wanted w[2] = {{op, a, b, 0}, {GR_OP_count, present, {NULL, NULL}, 0}};
  gr_array *const into[2] = {out, NULL};
  if (c->comm || (b.a && !s.pairs) || !gr_array_dense(out)) return GR_NOT_FUSED;
  if (!gr_formula_counts(s, a) || !gr_formula_together(w, 2)) return GR_NOT_FUSED;
  const gr_status status = reduce_along(c, s, w, 2, into, NULL);
  if (status == GR_OK) tell(c, op, s, &w[0]);
  return status;
}

gr_status gr_formula_reduce_present(gr_context *c, gr_op op, gr_shape s, gr_reduced a, gr_reduced b, gr_array *out,
                                    gr_array *out2) {
  const gr_wanted w = {op, a, b, 0};
  const int dense = gr_array_dense(out) && (!out2 || gr_array_dense(out2));
  if (c->comm || !dense || !takes_present(s, &w, out, out2)) return GR_NOT_FUSED;
  const gr_status status = reduce_fed(c, GR_FEEDS_PRESENT, s, &w, out, out2);
  if (status == GR_OK) tell(c, op, s, &w);
  return status;
}

/* ---- to operations ---- */

int gr_formula_feeds(gr_feeding operation, gr_reduced a, gr_reduced b, const gr_array *out) {
  const gr_wanted w = {GR_OP_sum, a, b, 0};
  if (!a.e && !b.e) return 0;
  return gr_formula_together(&w, 1) && feeds(queue_of(&a), operation) &&
         !(out && (overlaps(&a, out) || overlaps(&b, out)));
}

gr_status gr_formula_feed(gr_context *c, gr_feeding operation, gr_reduced a, gr_reduced b, const void *its_job,
                          gr_exact *sums, const char *name) {
  const gr_wanted w = {GR_OP_sum, a, b, 0};
  gr_consumer nodes;
  gr_expression *e = NULL;
  gr_vec v[GR_FORMULA_INPUTS];
  gr_formula_job job = {.feeds = operation, .operation = its_job, .sums = sums};
  gr_status status = gr_formula_merge(c, &w, 1, &nodes, &e);
  if (status == GR_OK) {
    gr_queue *q = gr_expression_queue(e);
    status = formula_job(c, e, q, v, &job);
    job.a = nodes.a;
    job.b = nodes.b;
    status = gr_later_do(c, q, status, GR_LATER_formula, &job, e->n + 1, name);
  }
  gr_later_shut(c);
  gr_expression_drop(e);
  return status;
}
