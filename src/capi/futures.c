/* Several reductions to numbers at once, now or for later. */
#include <stdlib.h>

#include "src/capi/operations.h"
#include "src/core/future.h"

#define MOST 65536 /* items */

struct gpureduce_future {
  gr_context *c; /* kept */
  gr_future core;
  gr_part *parts;
};

/* ---- items ---- */

/* All of a call, in one block. The expressions among them have room of their own for elements. */
typedef struct items {
  gr_wanted *of;
  gr_capi_lazy *lazy;
  int count, lazy_count, expressions;
} items;

static void close_items(items *s) {
  for (int k = 0; k < s->lazy_count; k++) gr_array_release(&s->lazy[k].elements);
  free(s->of);
}

/* As gr_capi_operand, with room for many. */
static gr_reduced operand(gr_capi *q, items *s, const gpureduce_array *a) {
  const gr_expression *e = gr_capi_expression(a);
  if (!e) return gr_capi_operand(q, a);
  s->expressions = 1;
  return gr_capi_promised(q, s->lazy, &s->lazy_count, e);
}

static int read_item(gr_capi *q, items *s, const gpureduce_item *x, gr_wanted *w) {
  if (!gr_capi_takes_lazy(q, x->a, "a")) return 0;
  *w = (gr_wanted){.a = operand(q, s, x->a), .ddof = x->ddof};
  if (!w->a.a) return 0;
  if (x->b) {
    if (!gr_capi_takes_lazy(q, x->b, "b")) return 0;
    w->b = operand(q, s, x->b);
    if (!w->b.a) return 0;
  }
  gr_capi_operation o = {.a = w->a, .b = w->b, .ddof = x->ddof};
  if (!gr_capi_check_operation(q, x->op, &o)) return 0;
  w->op = o.op;
  return !w->b.a || gr_capi_like(q, w->a.a, w->b.a, w->a.a->n, "b");
}

/* The call has begun with the first item's array. */
static int read_items(gr_capi *q, const gpureduce_item *given, int count, items *s) {
  gr_wanted *of = calloc(1, (size_t)count * (sizeof *of + 2 * sizeof *s->lazy));
  *s = (items){.of = of, .lazy = of ? (gr_capi_lazy *)(void *)(of + count) : NULL, .count = count};
  if (!of) return gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "out of memory: no room for %d items", count);
  for (int k = 0; k < count; k++)
    if (!read_item(q, s, &given[k], &s->of[k])) return 0;
  return 1;
}

static int begin(gr_capi *q, const char *name, const gpureduce_item *given, int count) {
  *q = (gr_capi){.name = name};
  if (!gr_capi_needs(q, given, "items")) return 0;
  if (count < 1 || count > MOST)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "count: 1 to %d items expected, got %d", MOST, count);
  return gr_capi_begin_lazy(q, name, given[0].a);
}

/* ---- now ---- */

/* Those arrays leave a device that is lost, if one of these items fails with it. */
static void note(gr_capi *q, const gr_wanted *w, int count) {
  q->count = 0;
  for (int k = 0; k < count; k++) {
    if (!w[k].a.e && q->count < GR_CAPI_ARRAYS) q->arrays[q->count++] = w[k].a.a;
    if (w[k].b.a && !w[k].b.e && q->count < GR_CAPI_ARRAYS) q->arrays[q->count++] = w[k].b.a;
  }
}

/* All launched, then all waited for; 0: not done, for whatever reason. */
static int run_together(gr_context *c, const items *s, gr_value *r) {
  gr_future f;
  gr_part *parts = s->expressions || s->count < 2 ? NULL : calloc((size_t)s->count, sizeof *parts);
  gr_status status = GR_OK;
  if (!parts) return 0;
  gr_future_open(&f, c, parts);
  for (int k = 0; k < s->count && status == GR_OK; k++) {
    if (s->of[k].a.a->n == 0) status = GR_BAD; /* which has no job */
    else status = gr_future_add(&f, s->of[k].op, s->of[k].a.a, s->of[k].b.a, s->of[k].ddof);
  }
  gr_future_filled(&f);
  if (status == GR_OK) status = gr_future_start(&f);
  if (status == GR_OK) gr_future_wait(&f, -1);
  gr_future_close(&f);
  const int ready = status == GR_OK && f.state == GR_READY;
  for (int k = 0; k < s->count && ready; k++) r[k] = parts[k].value;
  free(parts);
  return ready;
}

/* Group by group of what one pass takes. */
static void run_groups(gr_capi *q, items *s, gr_value *r) {
  for (int k = 0, m; k < s->count && q->status == GPUREDUCE_OK; k += m) {
    gr_wanted *w = &s->of[k];
    for (m = s->count - k < GR_FORMULA_TOGETHER ? s->count - k : GR_FORMULA_TOGETHER; m > 1; m--)
      if (gr_formula_together(w, m)) break;
    note(q, w, m);
    if (m > 1) GR_CAPI_TRY(q, gr_formula_reduce_together(q->c, w, m, r + k));
    else GR_CAPI_TRY(q, gr_formula_reduce_all(q->c, w->op, w->a, w->b, w->ddof, r + k));
  }
}

static gpureduce_number *put(gpureduce_number *out, gr_op op, const gr_value *r) {
  for (int k = 0; k <= (op == GR_OP_minmax); k++) *out++ = gr_capi_result(r, k);
  return out;
}

gpureduce_status gpureduce_reduce_many(const gpureduce_item *given, int count, gpureduce_number *out) {
  gr_capi q;
  items s = {0};
  if (begin(&q, "reduce_many", given, count) && gr_capi_needs(&q, out, "out") && read_items(&q, given, count, &s)) {
    gr_value *r = calloc((size_t)count, sizeof *r);
    if (!r) gr_capi_refuse(&q, GPUREDUCE_NO_MEMORY, "out of memory: no room for %d results", count);
    else if (!run_together(q.c, &s, r)) run_groups(&q, &s, r);
    for (int k = 0; k < count && q.status == GPUREDUCE_OK; k++) out = put(out, s.of[k].op, &r[k]);
    free(r);
  }
  close_items(&s);
  return gr_capi_end(&q);
}

/* ---- for later ---- */

static gr_status fill(gr_context *c, items *s, gr_future *f) {
  gr_status status = GR_OK;
  for (int k = 0; k < s->count && status == GR_OK; k++) {
    gr_wanted *w = &s->of[k];
    int added = 0;
    if (s->count == 1 && (w->a.e || w->b.e)) status = gr_future_add_formula(f, w, &added);
    if (status != GR_OK || added) return status;
    /* What is stored once is stored for all items that read it. */
    if (w->b.a == w->a.a) w->b.e = NULL;
    for (int j = k + 1; j < s->count; j++) {
      gr_reduced *const others[2] = {&s->of[j].a, &s->of[j].b};
      for (int i = 0; i < 2; i++)
        if ((w->a.e && others[i]->a == w->a.a) || (w->b.e && others[i]->a == w->b.a)) others[i]->e = NULL;
    }
    status = gr_reduced_eval_both(c, &w->a, &w->b);
    if (status == GR_OK) status = gr_future_add(f, w->op, w->a.a, w->b.a, w->ddof);
  }
  return status;
}

/* Filled and started. Operations on the way may be left for later. */
static gr_status start(gr_context *c, items *s, gr_future *f) {
  gr_later_forget(c);
  c->later = 1;
  gr_status status = fill(c, s, f);
  c->later = 0;
  gr_future_take_works(f);
  gr_future_filled(f);
  if (status == GR_OK) status = gr_future_start(f);
  if (status == GR_DEVICE) return gr_future_fail(f, status), GR_OK; /* which results tells */
  return status;
}

static gpureduce_future *new_future(gr_capi *q, int count) {
  gpureduce_future *f = calloc(1, sizeof *f);
  if (f && (f->parts = calloc((size_t)count, sizeof *f->parts)) != NULL) {
    f->c = q->c;
    f->c->refs++;
    gr_future_open(&f->core, q->c, f->parts);
    f->core.later = 1;
    return f;
  }
  free(f);
  gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "out of memory: no room for a future");
  return NULL;
}

static void drop_future(gpureduce_future *f) {
  gr_context *c = f->c;
  gr_future_abandon(&f->core);
  free(f->parts);
  free(f);
  gr_context_drop(c);
}

gpureduce_status gpureduce_start(const gpureduce_item *given, int count, gpureduce_future **out) {
  gr_capi q;
  items s = {0};
  gpureduce_future *f = NULL;
  if (begin(&q, "start", given, count) && gr_capi_needs(&q, out, "out") && read_items(&q, given, count, &s))
    f = new_future(&q, count);
  for (int k = 0; f && k < count; k++)
    if (s.of[k].a.a->n == 0 && q.status == GPUREDUCE_OK) gr_capi_refuse(&q, GPUREDUCE_BAD, "item %d is empty", k);
  if (f && q.status == GPUREDUCE_OK) gr_capi_said(&q, start(q.c, &s, &f->core));
  if (f && q.status == GPUREDUCE_OK) {
    gr_handle_add(f, GR_HANDLE_FUTURE);
    *out = f;
  } else if (f) {
    drop_future(f);
  }
  close_items(&s);
  return gr_capi_end(&q);
}

/* The call enters the future's context. */
static int begin_with(gr_capi *q, const gpureduce_future *f) {
  if (!gr_capi_needs(q, f, "the future")) return 0;
  gr_handle_hold();
  const int entered = gr_handle_known(f, GR_HANDLE_FUTURE)
                          ? gr_capi_enter(q, f->c)
                          : gr_capi_refuse(q, GPUREDUCE_UNKNOWN, "there is no such future");
  gr_handle_let_go();
  return entered;
}

gpureduce_status gpureduce_results(gpureduce_future *f, double seconds, int *done, gpureduce_number *out) {
  gr_capi q = {.name = "results"};
  if (!begin_with(&q, f) || !gr_capi_needs(&q, done, "done") || !gr_capi_needs(&q, out, "out")) return gr_capi_end(&q);
  if (seconds != seconds) {
    gr_capi_refuse(&q, GPUREDUCE_BAD, "seconds: a number expected, got NaN");
    return gr_capi_end(&q);
  }
  gr_future_wait(&f->core, seconds >= 0 && seconds < 9e9 ? (int64_t)(seconds * 1e9) : -1);
  *done = f->core.state != GR_RUNNING;
  if (!*done && f->core.stopped) gr_capi_refuse(&q, GPUREDUCE_STOPPED, "interrupted");
  if (f->core.state == GR_FAILED) gr_capi_refuse(&q, (gpureduce_status)f->core.status, "%s", f->core.error);
  for (int k = 0; k < f->core.count && *done && q.status == GPUREDUCE_OK; k++)
    out = put(out, f->parts[k].job.op, &f->parts[k].value);
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_future_drop(gpureduce_future *f) {
  gr_capi q = {.name = "future_drop"};
  if (!f) return GPUREDUCE_OK;
  if (!begin_with(&q, f)) return gr_capi_end(&q);
  gr_capi_hold(&q);
  gr_handle_remove(f);
  drop_future(f);
  /* Without a Lua state there may be no later call that finds what has been called off, and lets go of its arrays. */
  if (!q.c->stop.sign) gr_later_finish(q.c);
  return gr_capi_end(&q);
}
