/* Operations element by element, and elements by their positions. */
#include "kernels/numerics/map.h"
#include "src/capi/operations.h"
#include "src/core/lookup.h"
#include "src/core/map.h"

/* ---- operators ---- */

typedef struct mapping {
  gr_map_call call;
  const gr_array *like; /* whose length the result has */
  gr_dtype out;
} mapping;

/* The operand as a term beside `first`; t: what a number becomes. */
static int read_term(gr_capi *q, const gpureduce_operand *o, const gr_array *first, gr_dtype t, gr_term *term) {
  *term = (gr_term){NULL, 0};
  if (!o->array) return gr_capi_element(q, t, &o->number, &term->value);
  term->array = &o->array->array;
  return gr_capi_like(q, first, term->array, first->n, "an operand");
}

/* The first array of the operands from `from` on; NULL: they are numbers. */
static const gpureduce_array *first_of(const gpureduce_operand *o, int from, int count) {
  while (from < count && !o[from].array) from++;
  return from < count ? o[from].array : NULL;
}

static int is_nan(const gpureduce_operand *o) { return !o->array && !o->number.whole && o->number.f != o->number.f; }

/* Ends of clamp are numbers here, the lower one first. */
static int check_ends(gr_capi *q, const gpureduce_operand *o, const mapping *m) {
  if (o[1].array || o[2].array) return gr_capi_refuse(q, GPUREDUCE_BAD, "clamp between numbers expected");
  const gr_value low = gr_element_get(m->call.dtype, &m->call.b.value),
                 high = gr_element_get(m->call.dtype, &m->call.c.value);
  if (is_nan(&o[1]) || is_nan(&o[2]) || (low.is_float ? low.v[0].f > high.v[0].f : low.v[0].i > high.v[0].i))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "clamp: a lower and an upper end expected");
  return 1;
}

static int read_where(gr_capi *q, const gpureduce_operand *o, gr_dtype numbers, mapping *m) {
  const gpureduce_array *either = first_of(o, 1, 3);
  const gr_array *first = either ? &either->array : NULL;
  if (!o[0].array || o[0].array->array.dtype != GR_U8)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "where: a mask of dtype u8 expected");
  m->like = m->call.c.array = &o[0].array->array;
  m->out = m->call.dtype = first ? first->dtype : numbers;
  if (first && first->n != m->like->n)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "length %lld expected, got %lld", (long long)m->like->n,
                          (long long)first->n);
  if (first && first->storage->queue != m->like->storage->queue)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "where: mask and elements on one device expected");
  const gr_array *beside = first ? first : m->like;
  return read_term(q, &o[1], beside, m->out, &m->call.a) && read_term(q, &o[2], beside, m->out, &m->call.b);
}

static int read_compare(gr_capi *q, const gpureduce_operand *o, int relation, mapping *m) {
  char text[96];
  if (!o[0].array) return gr_capi_refuse(q, GPUREDUCE_BAD, "an array left of the comparison expected");
  const gr_array *a = m->like = &o[0].array->array;
  m->call = (gr_map_call){.op = GR_MAP_compare, .relation = (gr_relation)relation, .dtype = a->dtype, .a = {a, 0}};
  m->out = GR_U8;
  if (o[1].array) return read_term(q, &o[1], a, a->dtype, &m->call.b);
  const gr_number x = gr_capi_number(o[1].number);
  const char *why = gr_compare_number(a->dtype, &m->call.relation, &x, &m->call.b.value, text);
  return why ? gr_capi_refuse(q, GPUREDUCE_BAD, "%s", why) : 1;
}

static int read_operator(gr_capi *q, const gpureduce_operand *o, int count, gr_dtype to, mapping *m) {
  const gr_array *first = m->like = &first_of(o, 0, count)->array;
  gr_term *const terms[] = {&m->call.a, &m->call.b, &m->call.c};
  m->call.dtype = first->dtype;
  if (gr_map_rule(m->call.op, first->dtype) == GR_MAP_NOT)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "dtype of integers expected, got %s", gr_dtypes[first->dtype].name);
  m->out = m->call.op == GR_MAP_cast ? to : gr_map_result(m->call.op, first->dtype);
  const gr_dtype t = gr_map_widens(m->call.op, first->dtype) && !gr_is_float(first->dtype) ? GR_F64 : first->dtype;
  for (int k = 0; k < count; k++)
    if (!read_term(q, &o[k], first, t, terms[k])) return 0;
  if (m->call.op != GR_MAP_clamp) return 1;
  return m->call.a.array ? check_ends(q, o, m) : gr_capi_refuse(q, GPUREDUCE_BAD, "clamp: an array first expected");
}

/* Every array of the call, before anything reads one; `first` has begun it. */
static int check_arrays(gr_capi *q, const gpureduce_operand *o, int count, const gpureduce_array *first) {
  for (int k = 0; k < count; k++)
    if (o[k].array && o[k].array != first && !gr_capi_takes(q, o[k].array, "an operand")) return 0;
  return 1;
}

static int read_map(gr_capi *q, const char *op, const gpureduce_operand *o, int count, const gpureduce_options *options,
                    mapping *m) {
  int relation = 0, k = -1;
  while (relation < GR_RELATION_COUNT && strcmp(op, gr_relation_names[relation]) != 0) relation++;
  if (relation == GR_RELATION_COUNT && (k = gr_capi_named(q, op, gr_map_names, "operator")) < 0) return 0;
  if (k == GR_MAP_compare)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "a comparison is named as it is written: '<', '<=', '==', '~=', '>=', '>'");
  *m = (mapping){.call = {.op = k < 0 ? GR_MAP_compare : (gr_map)k}};
  if (count != gr_map_operands(m->call.op))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "'%s' takes %d operands, got %d", op, gr_map_operands(m->call.op), count);
  const int takes = k == GR_MAP_cast || k == GR_MAP_where ? GR_TAKES_DTYPE : 0;
  const gpureduce_options *set = gr_capi_options(q, options, takes);
  if (!set || !gr_capi_dtype(q, set->dtype)) return 0;
  if (k < 0) return read_compare(q, o, relation, m);
  if (k == GR_MAP_where) return read_where(q, o, (gr_dtype)set->dtype, m);
  return read_operator(q, o, count, (gr_dtype)set->dtype, m);
}

gpureduce_status gpureduce_map(const char *op, const gpureduce_operand *operands, int count,
                               const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q = {.name = "map"};
  mapping m;
  if (!gr_capi_needs(&q, op, "op") || !gr_capi_needs(&q, operands, "operands")) return q.status;
  if (count < 1 || count > 3) return gr_capi_fail(GPUREDUCE_BAD, "map: 1 to 3 operands expected, got %d", count);
  const gpureduce_array *first = first_of(operands, 0, count);
  if (!first) return gr_capi_fail(GPUREDUCE_BAD, "map: an array among the operands expected");
  if (gr_capi_begin(&q, "map", first) && check_arrays(&q, operands, count, first) &&
      read_map(&q, op, operands, count, options, &m)) {
    gr_array *to = gr_capi_out(&q, out, m.like, m.out, m.like->n, gr_map_rows(&m.call), 1);
    if (to) GR_CAPI_TRY(&q, gr_map_arrays(q.c, &m.call, to));
  }
  return gr_capi_end(&q);
}

/* ---- whole arrays ---- */

gpureduce_status gpureduce_fill(gpureduce_array *a, gpureduce_number value) {
  gr_capi q;
  uint64_t bits;
  if (gr_capi_begin(&q, "fill", a) && gr_capi_element(&q, a->array.dtype, &value, &bits))
    GR_CAPI_TRY(&q, gr_fill(q.c, &a->array, gr_element_get(a->array.dtype, &bits)));
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_equal(const gpureduce_array *a, const gpureduce_array *b, int *out) {
  gr_capi q;
  if (gr_capi_begin(&q, "equal", a) && gr_capi_takes(&q, b, "b") && gr_capi_needs(&q, out, "out")) {
    if (a->array.storage->queue != b->array.storage->queue && a->array.n == b->array.n &&
        a->array.dtype == b->array.dtype)
      gr_capi_refuse(&q, GPUREDUCE_BAD, "two arrays on one device expected");
    else GR_CAPI_TRY(&q, gr_equal(q.c, &a->array, &b->array, out));
  }
  return gr_capi_end(&q);
}

/* ---- positions ---- */

/* Positions in a; NULL when they are refused. */
static const gr_array *take_index(gr_capi *q, const gr_array *a, const gpureduce_array *index) {
  const gr_array *i = gr_capi_takes_lazy(q, index, "index") ? gr_capi_elements(q, index) : NULL;
  if (!i) return NULL;
  if (gr_is_float(i->dtype))
    gr_capi_refuse(q, GPUREDUCE_BAD, "index: integer dtype expected, got %s", gr_dtypes[i->dtype].name);
  else if (i->storage->queue != a->storage->queue)
    gr_capi_refuse(q, GPUREDUCE_BAD, "index: on the device of the array expected");
  return q->status == GPUREDUCE_OK ? i : NULL;
}

gpureduce_status gpureduce_take(const gpureduce_array *a, const gpureduce_array *index, gpureduce_array **out) {
  gr_capi q;
  const gr_array *x = NULL, *i = NULL;
  if (gr_capi_begin_lazy(&q, "take", a)) x = gr_capi_elements(&q, a);
  if (x) i = take_index(&q, x, index);
  if (i) {
    gr_array *to = gr_capi_out(&q, out, x, x->dtype, i->n, 0, 0);
    if (to) GR_CAPI_TRY(&q, gr_take(q.c, x, i, to, !*out));
  }
  return gr_capi_end(&q);
}

/* What goes to a, n elements (n < 0: any number of them) or a number; it and `by` share nothing with a. */
static int read_values(gr_capi *q, const gr_array *a, const gr_array *by, int64_t n, gpureduce_operand values,
                       gr_term *term) {
  *term = (gr_term){NULL, 0};
  if (!values.array) {
    if (!gr_capi_element(q, a->dtype, &values.number, &term->value)) return 0;
  } else {
    const gr_array *v = gr_capi_takes_lazy(q, values.array, "values") ? gr_capi_elements(q, values.array) : NULL;
    if (!v || !gr_capi_like(q, a, v, n < 0 ? v->n : n, "values")) return 0;
    term->array = v;
  }
  if (!gr_array_overlap(a, by) && !(term->array && gr_array_overlap(a, term->array))) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "what is read overlaps the array that is written");
}

gpureduce_status gpureduce_put(const char *op, gpureduce_array *a, const gpureduce_array *index,
                               gpureduce_operand values) {
  gr_capi q;
  gr_term term;
  const gr_array *i = NULL;
  int k = -1, whose;
  if (gr_capi_begin(&q, "put", a) && (k = gr_capi_named(&q, op, gr_put_names, "way to put")) >= 0)
    i = take_index(&q, &a->array, index);
  if (i && read_values(&q, &a->array, i, i->n, values, &term))
    GR_CAPI_TRY(&q, gr_put(q.c, (gr_put_op)k, &a->array, i, term, &whose));
  return gr_capi_end(&q);
}

/* A mask of a, u8; NULL when it is refused. */
static const gr_array *take_mask(gr_capi *q, const gr_array *a, const gpureduce_array *mask) {
  const gr_array *m = gr_capi_takes_lazy(q, mask, "mask") ? gr_capi_elements(q, mask) : NULL;
  if (!m || (m->dtype == GR_U8 && m->n == a->n && m->storage->queue == a->storage->queue)) return m;
  gr_capi_refuse(q, GPUREDUCE_BAD, "mask: u8[%lld] beside the array expected, got %s[%lld]", (long long)a->n,
                 gr_dtypes[m->dtype].name, (long long)m->n);
  return NULL;
}

gpureduce_status gpureduce_put_masked(gpureduce_array *a, const gpureduce_array *mask, gpureduce_operand values) {
  gr_capi q;
  gr_term term;
  int whose;
  const gr_array *m = gr_capi_begin(&q, "put_masked", a) ? take_mask(&q, &a->array, mask) : NULL;
  if (m && read_values(&q, &a->array, m, -1, values, &term))
    GR_CAPI_TRY(&q, gr_put_masked(q.c, &a->array, m, term, &whose));
  return gr_capi_end(&q);
}

/* ---- compaction ---- */

gpureduce_status gpureduce_compact(const gpureduce_array *a, const gpureduce_array *mask, gpureduce_array **out) {
  gr_capi q;
  gpureduce_array *to = NULL;
  const gr_array *x = NULL, *m = NULL;
  int64_t kept;
  if (gr_capi_begin_lazy(&q, "compact", a) && gr_capi_needs(&q, out, "out")) x = gr_capi_elements(&q, a);
  if (x) m = take_mask(&q, x, mask);
  if (m) to = gr_capi_fresh(&q, out);
  if (to) GR_CAPI_TRY(&q, gr_compact_counting(q.c, x, m, NULL, &to->array, &kept));
  return gr_capi_end(&q);
}
