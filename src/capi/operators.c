/* Operators of the host's own, written as formulas. */
#include <stdlib.h>

#include "src/capi/operations.h"
#include "src/core/formula/operate.h"

struct gpureduce_operator {
  gr_context *c; /* kept */
  gr_custom *u;
};

/* ---- texts ---- */

static int read_one(gr_capi *q, const char *text, const char *what, const char *state, gr_text *t) {
  if (!text) return gr_capi_refuse(q, GPUREDUCE_NULL, "%s of state '%s' is NULL", what, state);
  *t = (gr_text){text, strlen(text)};
  if (t->length <= GR_FORMULA_TEXT) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "%s: text of at most %d characters expected, got %zu", what, GR_FORMULA_TEXT,
                        t->length);
}

static int read_state(gr_capi *q, const gpureduce_operator_state *s, gr_operator_texts *t) {
  if (!gr_capi_needs(q, s->name, "the name of a state")) return 0;
  const char *why = gr_custom_name(s->name, strlen(s->name));
  if (why) return gr_capi_refuse(q, GPUREDUCE_BAD, "state '%.40s': %s", s->name, why);
  for (int k = 0; k < t->states; k++)
    if (!strcmp(t->name[k], s->name)) return gr_capi_refuse(q, GPUREDUCE_BAD, "state '%s' is there twice", s->name);
  const int k = t->states++;
  t->name[k] = s->name;
  t->identity[k] = gr_capi_number(s->identity);
  return read_one(q, s->map, "map", s->name, &t->map[k]) && read_one(q, s->merge, "merge", s->name, &t->merge[k]);
}

static int read_texts(gr_capi *q, const gpureduce_operator_states *given, gr_operator_texts *t) {
  *t = (gr_operator_texts){.ordered = 0};
  if (!gr_capi_sized(q, given, sizeof *given, "gpureduce_operator_states")) return 0;
  t->ordered = given->ordered != 0;
  if (given->count < 1 || given->count > GR_OPERATOR_STATES || given->results < 0 ||
      given->results > GR_OPERATOR_STATES)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "1 to %d states and 0 to %d results expected, got %d and %d",
                          GR_OPERATOR_STATES, GR_OPERATOR_STATES, given->count, given->results);
  if (!gr_capi_needs(q, given->states, "states") || (given->results && !gr_capi_needs(q, given->finish, "finish")))
    return 0;
  for (int k = 0; k < given->count; k++)
    if (!read_state(q, &given->states[k], t)) return 0;
  for (int k = 0; k < given->results; k++)
    if (!read_one(q, given->finish[k], "finish", given->states[0].name, &t->finish[t->results++])) return 0;
  return 1;
}

/* ---- life ---- */

gpureduce_status gpureduce_operator_make(gpureduce_context *context, const gpureduce_operator_states *states,
                                         gpureduce_operator **out) {
  gr_capi q;
  gr_operator_texts t;
  if (!gr_capi_begin_with(&q, "operator_make", context) || !gr_capi_needs(&q, out, "out") ||
      !read_texts(&q, states, &t))
    return gr_capi_end(&q);
  gpureduce_operator *o = calloc(1, sizeof *o);
  gr_custom *u = calloc(1, gr_custom_room(&t));
  if (!o || !u) gr_capi_refuse(&q, GPUREDUCE_NO_MEMORY, "out of memory: no room for an operator");
  else GR_CAPI_TRY(&q, gr_custom_read(q.c, u, &t));
  if (q.status == GPUREDUCE_OK && states->check) GR_CAPI_TRY(&q, gr_custom_check(q.c, u));
  if (q.status == GPUREDUCE_OK) {
    *o = (gpureduce_operator){q.c, u};
    q.c->refs++;
    gr_handle_add(o, GR_HANDLE_OPERATOR);
    *out = o;
  } else {
    free(o);
    free(u);
  }
  return gr_capi_end(&q);
}

/* The operator of a call that has entered the context `in`; NULL: enter that of the operator. */
static int take_operator(gr_capi *q, const gpureduce_operator *o, const gr_context *in) {
  if (!gr_capi_needs(q, o, "the operator")) return 0;
  gr_handle_hold();
  if (!gr_handle_known(o, GR_HANDLE_OPERATOR)) gr_capi_refuse(q, GPUREDUCE_UNKNOWN, "there is no such operator");
  else if (!in) gr_capi_enter(q, o->c);
  else if (o->c != in) gr_capi_refuse(q, GPUREDUCE_FOREIGN, "the operator belongs to another context");
  gr_handle_let_go();
  return q->status == GPUREDUCE_OK;
}

gpureduce_status gpureduce_operator_drop(gpureduce_operator *o) {
  gr_capi q = {.name = "operator_drop"};
  if (!o) return GPUREDUCE_OK;
  if (!take_operator(&q, o, NULL)) return gr_capi_end(&q);
  gr_handle_remove(o);
  q.held = 1; /* by the reference that the operator had */
  free(o->u);
  free(o);
  return gr_capi_end(&q);
}

/* ---- calls ---- */

/* The operator and its operand, which are of one context; the operator is made for elements of that dtype. */
static int begin(gr_capi *q, const char *name, gpureduce_operator *o, const gpureduce_array *a, gr_reduced *of) {
  if (!gr_capi_begin_lazy(q, name, a) || !take_operator(q, o, q->c)) return 0;
  *of = gr_capi_operand(q, a);
  if (of->a) GR_CAPI_TRY(q, gr_custom_make(q->c, o->u, of->a->dtype));
  return q->status == GPUREDUCE_OK;
}

static gr_status reduce(gr_context *c, gr_custom *u, gr_capi_reading *by, gr_array *const *out, uint64_t *words) {
  const gr_partial p = {.a = by->of, .missing = by->missing};
  return gr_custom_reduce_present(c, u, by->shape, &p, out, words);
}

gpureduce_status gpureduce_operator_reduce(gpureduce_operator *o, const gpureduce_array *a,
                                           const gpureduce_options *options, gpureduce_number *out) {
  gr_capi q;
  gr_reduced of;
  gr_capi_reading by;
  uint64_t words[GR_OPERATOR_STATES] = {0};
  const gpureduce_options *given = NULL;
  if (begin(&q, "operator_reduce", o, a, &of) && gr_capi_needs(&q, out, "out"))
    given = gr_capi_options(&q, options, GR_TAKES_MISSING);
  if (given && gr_capi_vectors(&q, given, of, &by)) {
    GR_CAPI_TRY(&q, reduce(q.c, o->u, &by, NULL, words));
    for (int k = 0; k < o->u->op.results && q.status == GPUREDUCE_OK; k++) {
      const gr_value v = gr_element_get(o->u->op.result[k], &words[k]);
      out[k] = gr_capi_result(&v, 0);
    }
  }
  return gr_capi_end(&q);
}

/* Arrays for all results of the operator, as long as n. 0: one is refused. */
static int open_outs(gr_capi *q, const gr_custom *u, gpureduce_array **out, const gr_array *beside, int64_t n,
                     int64_t rows, int in_place, gr_array **to) {
  if (!gr_capi_needs(q, out, "out")) return 0;
  for (int k = 0; k < u->op.results; k++) {
    to[k] = gr_capi_out(q, &out[k], beside, u->op.result[k], n, rows, in_place && u->op.results == 1);
    for (int j = 0; j < k && to[k]; j++)
      if (gr_array_overlap(to[j], to[k])) return gr_capi_refuse(q, GPUREDUCE_BAD, "arrays of out overlap");
    if (!to[k]) return 0;
  }
  return 1;
}

gpureduce_status gpureduce_operator_reduce_each(gpureduce_operator *o, const gpureduce_array *a,
                                                const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  gr_reduced of;
  gr_capi_reading by;
  gr_array *to[GR_OPERATOR_STATES];
  const gpureduce_options *given = NULL;
  if (begin(&q, "operator_reduce_each", o, a, &of))
    given = gr_capi_options(&q, options, GR_TAKES_SHAPE | GR_TAKES_SEGMENTS | GR_TAKES_MISSING);
  if (given && gr_capi_vectors(&q, given, of, &by)) {
    const int64_t n = gr_shape_results(by.shape, of.a->n);
    if (!by.shape.rows && !by.shape.segments) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: rows or segments expected");
    else if (open_outs(&q, o->u, out, of.a, n, 0, 0, to) && n) GR_CAPI_TRY(&q, reduce(q.c, o->u, &by, to, NULL));
  }
  return gr_capi_end(&q);
}

static gr_status scan(gr_context *c, gr_custom *u, const gr_array *a, const gr_missing *m, gr_array *const *out,
                      int exclusive, int reverse) {
  const gr_shape whole = {.axis = 2};
  const gr_partial p = {.a = {NULL, (gr_array *)(uintptr_t)a}, .missing = *m};
  return gr_custom_scan_present(c, u, whole, &p, out, exclusive, reverse);
}

gpureduce_status gpureduce_operator_scan(gpureduce_operator *o, const gpureduce_array *a,
                                         const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  gr_reduced of;
  gr_array *to[GR_OPERATOR_STATES];
  gr_missing missing;
  const gpureduce_options *given = NULL;
  if (begin(&q, "operator_scan", o, a, &of)) given = gr_capi_options(&q, options, GR_TAKES_ORDER | GR_TAKES_MISSING);
  const gr_array *x = given ? gr_capi_elements(&q, a) : NULL;
  if (x && gr_capi_missing(&q, given->mask, given->skipnan, x, &missing) &&
      open_outs(&q, o->u, out, x, x->n, x->rows, 1, to))
    GR_CAPI_TRY(&q, scan(q.c, o->u, x, &missing, to, given->exclusive != 0, given->reverse != 0));
  return gr_capi_end(&q);
}
