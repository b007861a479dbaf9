/* Reductions and scans, and what all operations share. */
#include <math.h>
#include <stdio.h>

#include "src/capi/operations.h"
#include "src/core/exact.h"
#include "src/core/missing.h"

/* ---- shared ---- */

const gpureduce_options *gr_capi_options(gr_capi *q, const gpureduce_options *o, int takes) {
  gpureduce_options *own = &q->options;
  memset(own, 0, sizeof *own);
  if (!o) return own;
  if (!gr_capi_grown(q, o, GR_CAPI_FIRST(gpureduce_options, eps), own, sizeof *own, "gpureduce_options")) return NULL;
  o = own;
  const struct {
    int kind, given;
    const char *name;
  } all[] = {
      {GR_TAKES_SHAPE, o->rows != 0, "rows"},
      {GR_TAKES_SHAPE, o->axis != 0, "axis"},
      {GR_TAKES_SEGMENTS, o->segments != NULL, "segments"},
      {GR_TAKES_PAIRS, o->pairs != 0, "pairs"},
      {GR_TAKES_EXACT, o->exact != 0, "exact"},
      {GR_TAKES_DDOF, o->ddof != 0, "ddof"},
      {GR_TAKES_ORDER, o->exclusive || o->reverse, "exclusive or reverse"},
      {GR_TAKES_DTYPE, o->dtype != 0, "dtype"},
      {GR_TAKES_EPS, o->eps != 0, "eps"},
      {GR_TAKES_MISSING, o->mask || o->skipnan, "mask or skipnan"},
      {GR_TAKES_SINGLE, o->single != 0, "single"},
      {GR_TAKES_WEIGHTS, o->weights != NULL, "weights"},
  };
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
    if (all[k].given && !(takes & all[k].kind)) {
      gr_capi_refuse(q, GPUREDUCE_BAD, "options: takes no %s", all[k].name);
      return NULL;
    }
  if (o->axis < 0 || o->axis > 2) {
    gr_capi_refuse(q, GPUREDUCE_BAD, "options: axis 1 or 2 expected, got %ld", (long)o->axis);
    return NULL;
  }
  return o;
}

int gr_capi_shape(gr_capi *q, const gpureduce_options *o, const gr_array *a, gr_shape *s) {
  *s = (gr_shape){.rows = o->rows == -1 ? a->rows : o->rows, .axis = o->axis ? o->axis : 2, .pairs = o->pairs != 0};
  if (o->rows < -1 || (s->rows && a->n % s->rows))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: %lld rows do not divide length %lld", (long long)o->rows,
                          (long long)a->n);
  if (o->rows == -1 && !a->rows) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: rows -1 need a matrix");
  if (!s->rows && (o->axis || o->pairs))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: axis and pairs come with rows");
  return 1;
}

static int check_device(gr_capi *q, const gr_array *a, const gr_array *b, const char *what) {
  if (a->storage->queue == b->storage->queue) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "%s: array on device '%s' expected, got one on '%s'", what,
                        a->storage->queue->backend->name, b->storage->queue->backend->name);
}

int gr_capi_like(gr_capi *q, const gr_array *a, const gr_array *b, int64_t n, const char *what) {
  if (b->dtype == a->dtype && b->n == n) return check_device(q, a, b, what);
  return gr_capi_refuse(q, GPUREDUCE_BAD, "%s: %s[%lld] expected, got %s[%lld]", what, gr_dtypes[a->dtype].name,
                        (long long)n, gr_dtypes[b->dtype].name, (long long)b->n);
}

int gr_capi_missing(gr_capi *q, const gpureduce_array *mask, int nan, const gr_array *a, gr_missing *m) {
  *m = (gr_missing){.nan = nan && gr_is_float(a->dtype)};
  if (mask) {
    if (!gr_capi_takes_lazy(q, mask, "mask")) return 0;
    m->mask = gr_capi_operand(q, mask);
    const gr_array *x = m->mask.a;
    if (!x) return 0;
    if ((x->dtype != GR_U8 && !m->mask.e) || x->n != a->n)
      return gr_capi_refuse(q, GPUREDUCE_BAD, "mask: u8[%lld] expected, got %s[%lld]", (long long)a->n,
                            gr_dtypes[x->dtype].name, (long long)x->n);
    if (!check_device(q, a, x, "mask")) return 0;
    if (!m->mask.e) q->mask = x;
  }
  if (a->n == 0) *m = (gr_missing){0};
  return 1;
}

int gr_capi_vectors(gr_capi *q, const gpureduce_options *o, gr_reduced a, gr_capi_reading *r) {
  *r = (gr_capi_reading){.of = a};
  if (!gr_capi_shape(q, o, a.a, &r->shape)) return 0;
  if (!o->segments) return gr_capi_missing(q, o->mask, o->skipnan, a.a, &r->missing);
  if (r->shape.rows) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: segments take no rows");
  if (!gr_capi_takes(q, o->segments, "segments") || !check_device(q, a.a, &o->segments->array, "segments")) return 0;
  const gr_array *offsets = &o->segments->array;
  if ((offsets->dtype != GR_I64 && offsets->dtype != GR_I32) || !gr_array_dense(offsets) || offsets->n < 1)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "segments: 1 or more offsets of i64 or i32, side by side, expected");
  GR_CAPI_TRY(q, gr_segments_of(q->c, offsets, a.a->n, &r->segments));
  r->shape.segments = &r->segments;
  return q->status == GPUREDUCE_OK && gr_capi_missing(q, o->mask, o->skipnan, a.a, &r->missing);
}

int gr_capi_float(gr_capi *q, const gr_array *a) {
  if (gr_is_float(a->dtype)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "float dtype expected, got %s", gr_dtypes[a->dtype].name);
}

int gr_capi_named(gr_capi *q, const char *name, const char *const *names, const char *what) {
  char known[300] = "";
  size_t at = 0;
  if (!gr_capi_needs(q, name, what)) return -1;
  for (int k = 0; names[k]; k++)
    if (!strcmp(name, names[k])) return k;
  for (int k = 0; names[k] && at < sizeof known - 30; k++)
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", k ? ", " : "", names[k]);
  return gr_capi_refuse(q, GPUREDUCE_BAD, "unknown %s '%.40s' (there are: %s)", what, name, known), -1;
}

gr_number gr_capi_number(gpureduce_number n) { return n.whole ? gr_number_i(n.i) : gr_number_f(n.f); }

gpureduce_number gr_capi_result(const gr_value *v, int k) {
  gpureduce_number n = {.whole = !v->is_float};
  n.f = gr_value_double(v, k);
  if (!v->is_float) n.i = v->v[k].i;
  else if (!gr_whole(n.f, &n.i)) n.i = 0;
  return n;
}

int gr_capi_element(gr_capi *q, gr_dtype t, const gpureduce_number *n, uint64_t *bits) {
  char text[96];
  const gr_number x = gr_capi_number(*n);
  *bits = 0;
  const char *why = gr_element_store(t, bits, &x, text);
  return why ? gr_capi_refuse(q, GPUREDUCE_BAD, "%s", why) : 1;
}

/* ---- reductions ---- */

typedef struct asked {
  gr_capi_operation of;
  gr_capi_reading by;
  int exact, single;
} asked;

static int check_empty(gr_capi *q, const gr_capi_operation *x, gr_shape s) {
  const int64_t n = gr_shape_length(s, x->a.a->n);
  if (s.segments && s.segments->count == 0) return 1;
  if (n == 0 && gr_ops[x->op].raises_on_empty)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "%s is empty: '%s' needs an element",
                          s.segments ? "a segment" : "the array", gr_ops[x->op].name);
  if ((x->op == GR_OP_var || x->op == GR_OP_std) && x->ddof >= (double)n && !(n == 0 && x->ddof == 0))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "ddof less than the length %lld expected, got %.14g", (long long)n,
                          x->ddof);
  return 1;
}

static int check_operation(gr_capi *q, const char *op, gr_capi_operation *x) {
  const int k = gr_capi_named(q, op, gr_op_names, "operation");
  if (k < 0) return 0;
  x->op = (gr_op)k;
  const gr_dtype t = x->a.a->dtype;
  const int two = gr_ops[k].inputs == 2;
  if (gr_acc_kind_of(gr_reducer_of(x->op, t), t) == GR_ACC_NONE)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "float dtype expected for '%s', got %s", op, gr_dtypes[t].name);
  if (two != (x->b.a != NULL))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "'%s' takes %s", op, two ? "two arrays" : "one array");
  if (!(x->ddof - x->ddof == 0)) return gr_capi_refuse(q, GPUREDUCE_BAD, "finite ddof expected");
  if (x->ddof == 0 || x->op == GR_OP_var || x->op == GR_OP_std) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "'%s' takes no ddof", op);
}

int gr_capi_check_operation(gr_capi *q, const char *op, gr_capi_operation *x) {
  return check_operation(q, op, x) && check_empty(q, x, (gr_shape){.axis = 2});
}

static int check_exact(gr_capi *q, asked *x) {
  x->exact = x->exact && gr_exact_has(x->of.op, x->of.a.a->dtype);
  if (!x->exact || (x->of.ddof == floor(x->of.ddof) && fabs(x->of.ddof) <= 0x1p53)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "options: whole ddof expected with exact, got %.14g", x->of.ddof);
}

static int read_call(gr_capi *q, const char *op, const gpureduce_array *a, const gpureduce_array *b,
                     const gpureduce_options *options, int each, asked *x) {
  const gpureduce_options *o =
      gr_capi_options(q, options,
                      GR_TAKES_EXACT | GR_TAKES_MISSING | GR_TAKES_SINGLE | GR_TAKES_DDOF |
                          (each ? GR_TAKES_SHAPE | GR_TAKES_SEGMENTS : 0) | (each && b ? GR_TAKES_PAIRS : 0));
  if (!o) return 0;
  *x = (asked){.of = {.a = gr_capi_operand(q, a), .ddof = o->ddof}, .single = o->single != 0};
  gr_capi_operation *of = &x->of;
  if (of->a.a && b && gr_capi_takes_lazy(q, b, "b")) of->b = gr_capi_operand(q, b);
  if (q->status != GPUREDUCE_OK || !check_operation(q, op, of) || !gr_capi_vectors(q, o, of->a, &x->by)) return 0;
  const gr_shape *s = &x->by.shape;
  const gr_array *first = of->a.a;
  if (b) {
    const int64_t n = s->rows && !s->pairs ? gr_shape_length(*s, first->n) : first->n;
    if (!gr_capi_like(q, first, of->b.a, n, "b")) return 0;
  }
  if (each && !s->rows && !s->segments) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: rows or segments expected");
  if (x->single && gr_result_dtype(of->op, first->dtype) != GR_F64)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: single is for results of f64, '%s' of %s gives %s", op,
                          gr_dtypes[first->dtype].name, gr_dtypes[gr_result_dtype(of->op, first->dtype)].name);
  x->exact = o->exact || q->c->exact;
  return check_exact(q, x) && check_empty(q, of, *s);
}

static gr_partial_reduction partial(const asked *x) {
  const gr_partial of = {.a = x->of.a, .b = x->of.b, .missing = x->by.missing};
  return (gr_partial_reduction){x->of.op, x->by.shape, of, x->of.ddof, x->exact, x->single, 0, 0};
}

gpureduce_status gpureduce_reduce(const char *op, const gpureduce_array *a, const gpureduce_array *b,
                                  const gpureduce_options *options, gpureduce_number *out) {
  gr_capi q;
  asked x;
  if (gr_capi_begin_lazy(&q, "reduce", a) && gr_capi_needs(&q, out, "out") && read_call(&q, op, a, b, options, 0, &x)) {
    const gr_partial_reduction p = partial(&x);
    gr_value r = gr_value_f(0);
    GR_CAPI_TRY(&q, gr_partial_all(q.c, &p, &r));
    if (x.single) r.v[0].f = gr_single(r.v[0].f);
    for (int k = 0; k <= (x.of.op == GR_OP_minmax) && q.status == GPUREDUCE_OK; k++) out[k] = gr_capi_result(&r, k);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_reduce_each(const char *op, const gpureduce_array *a, const gpureduce_array *b,
                                       const gpureduce_options *options, gpureduce_array **out,
                                       gpureduce_array **out2) {
  gr_capi q;
  asked x;
  if (gr_capi_begin_lazy(&q, "reduce_each", a) && read_call(&q, op, a, b, options, 1, &x)) {
    const gr_dtype t = x.single ? GR_F32 : x.exact ? GR_F64 : gr_result_dtype(x.of.op, x.of.a.a->dtype);
    const int64_t n = gr_shape_results(x.by.shape, x.of.a.a->n);
    gr_array *to = gr_capi_out(&q, out, x.of.a.a, t, n, 0, 0), *to2 = NULL;
    const int two = x.of.op == GR_OP_minmax;
    if (to && two && out == out2) gr_capi_refuse(&q, GPUREDUCE_BAD, "out and out2 are one");
    else if (to && two) to2 = gr_capi_out(&q, out2, x.of.a.a, t, n, 0, 0);
    if (to2 && gr_array_overlap(to, to2)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out and out2 overlap");
    const gr_partial_reduction p = partial(&x);
    if (q.status == GPUREDUCE_OK && n) GR_CAPI_TRY(&q, gr_partial_each(q.c, &p, to, to2));
  }
  return gr_capi_end(&q);
}

/* ---- scans ---- */

gpureduce_status gpureduce_scan(const char *op, const gpureduce_array *a, const gpureduce_options *options,
                                gpureduce_array **out) {
  gr_capi q;
  gr_capi_reading by;
  const gpureduce_options *o = NULL;
  gr_reduced x = {NULL, NULL};
  int k = -1;
  if (gr_capi_begin_lazy(&q, "scan", a) && (k = gr_capi_named(&q, op, gr_scanned_names, "operation")) >= 0)
    o = gr_capi_options(&q, options, GR_TAKES_SHAPE | GR_TAKES_ORDER | GR_TAKES_MISSING);
  if (o) x = gr_capi_operand(&q, a);
  if (x.a && gr_capi_vectors(&q, o, x, &by)) {
    const gr_op which = (gr_op)gr_op_named(op);
    gr_array *to = gr_capi_out(&q, out, x.a, gr_scan_dtype(which, x.a->dtype), x.a->n, x.a->rows, 1);
    const gr_partial p = {.a = by.of, .missing = by.missing};
    if (to) GR_CAPI_TRY(&q, gr_partial_scan(q.c, which, by.shape, &p, to, o->exclusive != 0, o->reverse != 0));
  }
  return gr_capi_end(&q);
}
