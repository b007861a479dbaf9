/* Reductions and scans, and what all operations share. */
#include <math.h>
#include <stdio.h>

#include "src/capi/operations.h"
#include "src/core/exact.h"

/* ---- shared ---- */

const gpureduce_options *gr_capi_options(gr_capi *q, const gpureduce_options *o, int takes) {
  static const gpureduce_options none = {.size = sizeof none};
  if (!o) return &none;
  if (!gr_capi_sized(q, o, sizeof *o, "gpureduce_options")) return NULL;
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

gr_number gr_capi_number(gpureduce_number n) {
  gr_number x = {.whole = 1, .integer = 1, .i = n.i, .f = (double)n.i};
  if (n.whole) return x;
  x = (gr_number){.f = n.f};
  x.whole = gr_whole(n.f, &x.i);
  return x;
}

gpureduce_number gr_capi_result(const gr_value *v, int k) {
  gpureduce_number n = {.whole = !v->is_float};
  n.f = v->is_float ? v->v[k].f : (double)v->v[k].i;
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

#define GR_X(name, red, f, i, empty, by) #name,
static const char *const op_names[] = {GR_OPS(GR_X) NULL};
#undef GR_X

typedef struct asked {
  gr_op op;
  const gr_array *a, *b;
  gr_shape shape;
  gr_segments segments;
  const gr_array *offsets; /* of segments; or NULL */
  double ddof;
  int exact;
} asked;

static int check_empty(gr_capi *q, const asked *x) {
  const int64_t n = gr_shape_length(x->shape, x->a->n);
  if (x->shape.segments && x->segments.count == 0) return 1;
  if (n == 0 && gr_ops[x->op].raises_on_empty)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "%s is empty: '%s' needs an element",
                          x->shape.segments ? "a segment" : "the array", gr_ops[x->op].name);
  if ((x->op == GR_OP_var || x->op == GR_OP_std) && x->ddof >= (double)n && !(n == 0 && x->ddof == 0))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: ddof less than the length %lld expected, got %.14g", (long long)n,
                          x->ddof);
  return 1;
}

static int check_exact(gr_capi *q, asked *x) {
  x->exact = x->exact && gr_exact_has(x->op, x->a->dtype);
  if (!x->exact || (x->ddof == floor(x->ddof) && fabs(x->ddof) <= 0x1p53)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "options: whole ddof expected with exact, got %.14g", x->ddof);
}

static int read_call(gr_capi *q, const char *op, const gpureduce_array *a, const gpureduce_array *b,
                     const gpureduce_options *options, int each, asked *x) {
  const int k = gr_capi_named(q, op, op_names, "operation");
  if (k < 0) return 0;
  *x = (asked){.op = (gr_op)k, .a = &a->array};
  if (gr_acc_kind_of(gr_reducer_of(x->op, x->a->dtype), x->a->dtype) == GR_ACC_NONE)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "float dtype expected for '%s', got %s", op, gr_dtypes[x->a->dtype].name);
  const int two = gr_ops[k].inputs == 2, spread = x->op == GR_OP_var || x->op == GR_OP_std;
  const int takes = GR_TAKES_EXACT | (each ? GR_TAKES_SHAPE | GR_TAKES_SEGMENTS : 0) |
                    (each && two ? GR_TAKES_PAIRS : 0) | (spread ? GR_TAKES_DDOF : 0);
  const gpureduce_options *o = gr_capi_options(q, options, takes);
  if (!o || !gr_capi_shape(q, o, x->a, &x->shape)) return 0;
  if (!(o->ddof - o->ddof == 0)) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: finite ddof expected");
  x->ddof = o->ddof;
  x->exact = o->exact || q->c->exact;
  if (two != (b != NULL))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "'%s' takes %s", op, two ? "two arrays" : "one array");
  if (two) {
    const int64_t n = x->shape.rows && !x->shape.pairs ? gr_shape_length(x->shape, x->a->n) : x->a->n;
    if (!gr_capi_takes(q, b, "b") || !gr_capi_like(q, x->a, &b->array, n, "b")) return 0;
    x->b = &b->array;
  }
  if (o->segments) {
    if (x->shape.rows) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: segments take no rows");
    if (!gr_capi_takes(q, o->segments, "segments") || !check_device(q, x->a, &o->segments->array, "segments")) return 0;
    x->offsets = &o->segments->array;
    if ((x->offsets->dtype != GR_I64 && x->offsets->dtype != GR_I32) || !gr_array_dense(x->offsets) ||
        x->offsets->n < 1)
      return gr_capi_refuse(q, GPUREDUCE_BAD, "segments: 1 or more offsets of i64 or i32, side by side, expected");
  }
  if (each && !x->shape.rows && !x->offsets)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: rows or segments expected");
  if (x->offsets) {
    GR_CAPI_TRY(q, gr_segments_of(q->c, x->offsets, x->a->n, &x->segments));
    x->shape.segments = &x->segments;
  }
  return q->status == GPUREDUCE_OK && check_exact(q, x) && check_empty(q, x);
}

gpureduce_status gpureduce_reduce(const char *op, const gpureduce_array *a, const gpureduce_array *b,
                                  const gpureduce_options *options, gpureduce_number *out) {
  gr_capi q;
  asked x;
  if (gr_capi_begin(&q, "reduce", a) && gr_capi_needs(&q, out, "out") && read_call(&q, op, a, b, options, 0, &x)) {
    gr_value r = gr_value_f(0);
    if (x.exact) {
      double sum = 0;
      const gr_reduced of = {NULL, (gr_array *)(uintptr_t)x.a}, with = {NULL, (gr_array *)(uintptr_t)x.b};
      GR_CAPI_TRY(&q, gr_exact_all(q.c, x.op, of, with, (int64_t)x.ddof, 0, NULL, &sum));
      r.v[0].f = sum;
    } else {
      GR_CAPI_TRY(&q, gr_reduce_all(q.c, x.op, x.a, x.b, x.ddof, &r));
    }
    for (int k = 0; k <= (x.op == GR_OP_minmax) && q.status == GPUREDUCE_OK; k++) out[k] = gr_capi_result(&r, k);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_reduce_each(const char *op, const gpureduce_array *a, const gpureduce_array *b,
                                       const gpureduce_options *options, gpureduce_array **out,
                                       gpureduce_array **out2) {
  gr_capi q;
  asked x;
  gr_capi_out o = {0}, o2 = {0};
  if (gr_capi_begin(&q, "reduce_each", a) && read_call(&q, op, a, b, options, 1, &x)) {
    const gr_dtype t = x.exact ? GR_F64 : gr_result_dtype(x.op, x.a->dtype);
    const int64_t n = gr_shape_results(x.shape, x.a->n);
    gr_array *to = gr_capi_open_out(&q, &o, out, x.a, t, n, 0, 0), *to2 = NULL;
    const int two = x.op == GR_OP_minmax;
    if (to && two && out == out2) gr_capi_refuse(&q, GPUREDUCE_BAD, "out and out2 are one");
    else if (to && two) to2 = gr_capi_open_out(&q, &o2, out2, x.a, t, n, 0, 0);
    if (to2 && gr_array_overlap(to, to2)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out and out2 overlap");
    if (q.status == GPUREDUCE_OK && n) {
      if (x.exact) GR_CAPI_TRY(&q, gr_exact_each(q.c, x.op, x.shape, x.a, x.b, (int64_t)x.ddof, NULL, to));
      else GR_CAPI_TRY(&q, gr_reduce_each(q.c, x.op, x.shape, x.a, x.b, x.ddof, to, to2));
    }
    gr_capi_close_out(&q, &o);
    gr_capi_close_out(&q, &o2);
  }
  return gr_capi_end(&q);
}

/* ---- scans ---- */

gpureduce_status gpureduce_scan(const char *op, const gpureduce_array *a, const gpureduce_options *options,
                                gpureduce_array **out) {
#define GR_X(name) #name,
  static const char *const names[] = {GR_SCANNED(GR_X) NULL};
#undef GR_X
  gr_capi q;
  gr_capi_out u = {0};
  gr_shape s;
  const gpureduce_options *o = NULL;
  int k = -1;
  if (gr_capi_begin(&q, "scan", a) && (k = gr_capi_named(&q, op, names, "operation")) >= 0)
    o = gr_capi_options(&q, options, GR_TAKES_SHAPE | GR_TAKES_ORDER);
  if (o && gr_capi_shape(&q, o, &a->array, &s)) {
    const gr_op which = (gr_op)gr_op_named(names[k]);
    const gr_array *x = &a->array;
    gr_array *to = gr_capi_open_out(&q, &u, out, x, gr_scan_dtype(which, x->dtype), x->n, x->rows, 1);
    if (to && s.rows) GR_CAPI_TRY(&q, gr_scan_each(q.c, which, s, x, to, o->exclusive != 0, o->reverse != 0));
    else if (to) GR_CAPI_TRY(&q, gr_scan(q.c, which, x, to, o->exclusive != 0, o->reverse != 0));
    gr_capi_close_out(&q, &u);
  }
  return gr_capi_end(&q);
}
