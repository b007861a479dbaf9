/* The model's part for what came later: expressions, what is missing, several at once, operators (fuzz.c). */
#ifndef CAPI_LAZY_H
#define CAPI_LAZY_H

#include "model.h"

/* ---- expressions: an array's elements times a number ---- */

#define LAZY 8

typedef struct lazy {
  gpureduce_array *e;
  handle of; /* as it was: its elements are those of the block, whatever becomes of the handle */
  double times;
} lazy;

static lazy lazies[LAZY];
static gpureduce_operator *operators[CONTEXTS], *gone_operator;
static gpureduce_future *gone_future;

static double of_lazy(const lazy *l, int64_t k) { return *at(&l->of, k) * l->times; }

static double sum_of(const handle *h, const handle *mask) {
  double x = 0;
  for (int64_t k = 0; k < h->n; k++) x += !mask || *at(mask, k) != 0 ? *at(h, k) : 0;
  return x;
}

static double sum_of_lazy(const lazy *l) { return sum_of(&l->of, NULL) * l->times; }

static void drop_lazy(lazy *l) {
  if (!l->e) return;
  OK(gpureduce_drop(l->e));
  gone[chance(MOST)] = l->e;
  drop_block(l->of.data);
  l->e = NULL;
}

static void call_formula(const handle *h) {
  static const char *const texts[] = {"a * k", "k * a + 0", "a * k * scalar(one)"};
  gpureduce_array *e = NULL;
  const double times = 1 + (double)chance(3);
  const gpureduce_input in[2] = {{.name = "a", .array = h->a}, {.name = "k", .number = {.f = times}}};
  const int text = (int)chance(3);
  const gpureduce_status status = gpureduce_formula(contexts[h->owner], texts[text], in, 2, -1, &e);
  if (h->released || text == 2) return refused(status);
  if (!fine(status)) return;
  lazy *l = &lazies[chance(LAZY)];
  drop_lazy(l);
  *l = (lazy){.e = e, .of = *h, .times = times};
  l->of.data->refs++;
}

/* One of another expression, which then may end before it. */
static void call_nested(lazy *from) {
  const gpureduce_input in[1] = {{.name = "e", .array = from->e}};
  gpureduce_array *e = NULL;
  gpureduce_number r = {0};
  if (!fine(gpureduce_formula(contexts[from->of.owner], "e + e", in, 1, -1, &e))) return;
  if (one_in(2)) drop_lazy(from);
  if (from->e && fine(gpureduce_reduce("sum", e, NULL, NULL, &r)))
    CHECK((r.whole ? (double)r.i : r.f) == 2 * sum_of_lazy(from));
  OK(gpureduce_drop(e));
}

static void check_eval(const lazy *l, gpureduce_array **out) {
  char elements[LONGEST * 8];
  if (!fine(gpureduce_eval(l->e, out))) return;
  OK(gpureduce_get(*out, 0, l->of.n, elements));
  for (int64_t k = 0; k < l->of.n; k++) CHECK(look(l->of.t, elements, k) == of_lazy(l, k));
}

static void check_rows(const lazy *l, gpureduce_array **out) {
  const gpureduce_options whole = {.size = sizeof whole, .rows = 1};
  double x[1];
  int64_t i[1];
  if (!l->of.n || !fine(gpureduce_reduce_each("sum", l->e, NULL, &whole, out, NULL))) return;
  gpureduce_info info = {.size = sizeof info};
  OK(gpureduce_describe(*out, &info));
  OK(gpureduce_get(*out, 0, 1, info.dtype == GPUREDUCE_I64 ? (void *)i : (void *)x));
  CHECK((info.dtype == GPUREDUCE_I64 ? (double)i[0] : x[0]) == sum_of_lazy(l));
}

/* Functions that take arrays alone. */
static void misuse_lazy(const lazy *l) {
  gpureduce_array *e = l->e, *out = NULL;
  gpureduce_parcel *parcel = NULL;
  const gpureduce_operand one = {.array = e};
  const gpureduce_options segments = {.size = sizeof segments, .segments = e};
  char element[8] = {0};
  void *p = NULL;
  int equal;
  switch (chance(12)) {
    case 0: refused(gpureduce_get(e, 0, 1, element)); break;
    case 1: refused(gpureduce_set(e, 0, 1, element)); break;
    case 2: refused(gpureduce_fill(e, (gpureduce_number){.f = 1})); break;
    case 3: refused(gpureduce_view(e, 0, 1, 0, &out)); break;
    case 4: refused(gpureduce_keep(e, &out)); break;
    case 5: refused(gpureduce_detach(e, &parcel)); break;
    case 6: refused(gpureduce_host_pointer(e, GPUREDUCE_READ, &p)); break;
    case 7: refused(gpureduce_map("neg", &one, 1, NULL, &out)); break;
    case 8: refused(gpureduce_equal(e, e, &equal)); break;
    case 9: refused(gpureduce_reduce_each("sum", e, NULL, &segments, &out, NULL)); break;
    case 10: refused(gpureduce_to_dlpack(e, 0, NULL, &p)); break;
    default: if (states[l->of.owner]) refused(gpureduce_push(states[l->of.owner], e));
  }
  CHECK(!out && !parcel && !p);
}

static void call_lazy(void) {
  lazy *l = &lazies[chance(LAZY)];
  gpureduce_array *out = NULL;
  gpureduce_number r[2] = {{0}};
  gpureduce_accumulator sum = {{0}};
  double x = 0;
  if (!l->e) return;
  switch (chance(9)) {
    case 0:
      if (fine(gpureduce_reduce("sum", l->e, NULL, NULL, r)))
        CHECK((r->whole ? (double)r->i : r->f) == sum_of_lazy(l));
      break;
    case 1: check_eval(l, &out); break;
    case 2: check_rows(l, &out); break;
    case 3: call_nested(l); break;
    case 4: case 5: misuse_lazy(l); break;
    case 6:
      if (l->of.t != GPUREDUCE_F64 && l->of.t != GPUREDUCE_F32) break;
      if (!fine(gpureduce_accumulate(&sum, l->e, NULL))) break;
      OK(gpureduce_accumulator_value(&sum, 0, &x));
      CHECK(x == sum_of_lazy(l));
      break;
    case 7: fine(gpureduce_scan("sum", l->e, NULL, &out)); break;
    default: drop_lazy(l);
  }
  OK(gpureduce_drop(out));
}

/* ---- what is missing ---- */

static void call_missing(const handle *h, const handle *mask) {
  gpureduce_number r = {0};
  gpureduce_options o = {.size = sizeof o, .mask = mask->a, .skipnan = one_in(2), .exact = one_in(4)};
  const gpureduce_status status = gpureduce_reduce("sum", h->a, NULL, &o, &r);
  if (h->released || mask->released || h->owner != mask->owner || h->n != mask->n || mask->t != GPUREDUCE_U8)
    return refused(status);
  if (status == GPUREDUCE_BAD && strstr(gpureduce_error(), "on device")) return;
  if (fine(status)) CHECK((r.whole ? (double)r.i : r.f) == sum_of(h, mask));
}

/* ---- several ---- */

static void check_many(const handle *h, const gpureduce_number *r) {
  CHECK((r[0].whole ? (double)r[0].i : r[0].f) == sum_of(h, NULL));
  CHECK((r[1].whole ? (double)r[1].i : r[1].f) >= 0);
}

static void call_many(const handle *h) {
  const gpureduce_item items[2] = {{.op = "sum", .a = h->a}, {.op = "dot", .a = h->a, .b = h->a}};
  const int later = one_in(2);
  gpureduce_number r[2] = {{0}};
  gpureduce_future *f = NULL;
  int done = 0;
  const gpureduce_status status =
      later ? gpureduce_start(items, 2, &f) : gpureduce_reduce_many(items, 2, r);
  if (h->released || (later && !h->n)) return refused(status);
  if (!fine(status)) return;
  if (later && one_in(4)) call_fill(h); /* after the call: its results are those of before, if that was written */
  if (later) OK(gpureduce_results(f, one_in(3) ? 0 : -1, &done, r));
  if (later && !done) OK(gpureduce_results(f, -1, &done, r));
  if (later) OK(gpureduce_future_drop(gone_future = f));
  else check_many(h, r);
}

/* ---- operators ---- */

static gpureduce_operator *operator_of(int owner) {
  static const gpureduce_operator_state sum = {.name = "s", .map = "f64(x)", .merge = "s1 + s2"};
  const gpureduce_operator_states states = {.size = sizeof states, .count = 1, .states = &sum};
  if (!operators[owner]) OK(gpureduce_operator_make(contexts[owner], &states, &operators[owner]));
  return operators[owner];
}

static void call_operator(const handle *h) {
  gpureduce_operator *o = operator_of(one_in(8) ? (int)chance(CONTEXTS) : h->owner);
  gpureduce_number r = {0};
  gpureduce_array *out = NULL;
  const gpureduce_options skip = {.size = sizeof skip, .skipnan = 1};
  const gpureduce_status status = gpureduce_operator_reduce(o, h->a, NULL, &r);
  if (h->released || o != operators[h->owner]) return refused(status);
  if (fine(status)) CHECK(r.f == sum_of(h, NULL));
  if (one_in(2)) fine(gpureduce_operator_scan(o, h->a, one_in(2) ? &skip : NULL, &out));
  OK(gpureduce_drop(out));
}

/* Operators and futures that are none. */
static void misuse_more(handle *h) {
  static char nothing[512];
  gpureduce_number r[2];
  gpureduce_array *out = NULL;
  gpureduce_future *f = one_in(2) ? gone_future : (gpureduce_future *)(void *)nothing;
  gpureduce_operator *o = one_in(2) ? gone_operator : (gpureduce_operator *)(void *)h->a, *made = NULL;
  for (int k = 0; k < CONTEXTS; k++)
    if (o == operators[k]) o = NULL; /* its address is in use again */
  gpureduce_operator_states states = {.size = (uint32_t)chance(64), .count = 1};
  gpureduce_item item = {.op = "sum", .a = bad_array()};
  gpureduce_options odd = {.size = sizeof odd, .mask = bad_array()};
  gpureduce_accumulator sum;
  int done = 7;
  memset(&sum, 1 + (int)chance(255), sizeof sum);
  switch (chance(12)) {
    case 0: if (f) refused(gpureduce_results(f, 0, &done, r)); break;
    case 1: if (f) refused(gpureduce_future_drop(f)); break;
    case 2: refused(gpureduce_operator_reduce(o, h->a, NULL, r)); break;
    case 3: if (o) refused(gpureduce_operator_drop(o)); break;
    case 4:
      if (states.size == sizeof states) states.size = 0;
      refused(gpureduce_operator_make(contexts[0], &states, &made));
      break;
    case 5: refused(gpureduce_reduce_many(&item, one_in(2) ? 1 : (int)bad_number() & ~0xffff, r)); break;
    case 6: refused(gpureduce_start(one_in(2) ? &item : NULL, 1, &f)); break;
    case 7: if (odd.mask) refused(gpureduce_reduce("sum", h->a, NULL, &odd, r)); break;
    case 8: refused(gpureduce_accumulate(&sum, h->a, NULL)); break;
    case 9: refused(gpureduce_eval(bad_array(), &out)); break;
    case 10: refused(gpureduce_choice(h->a, bad_number(), 0, NULL, 1, 1, &out)); break;
    default: refused(gpureduce_permutation(contexts[0], GPUREDUCE_U8, 256 + (int64_t)chance(100), 1, 1, &out));
  }
  CHECK(!out && !made && done == 7);
}

/* Calls whose answers the model does not follow. */
static void call_more(const handle *h) {
  gpureduce_array *out[3] = {NULL, NULL, NULL};
  const double shares[3] = {0, 0.5, 1};
  const gpureduce_options rows = {.size = sizeof rows, .rows = (int64_t)chance(4), .axis = (int)chance(3),
                                  .skipnan = one_in(3)};
  const gpureduce_binning b = {.size = sizeof b, .bins = 1 + (int64_t)chance(40), .max = one_in(2) ? 3 : 0,
                               .skipnan = one_in(3), .modulo = one_in(4), .mask = one_in(6) ? h->a : NULL,
                               .into = one_in(8) ? h->a : NULL};
  const gpureduce_array *maybe = one_in(3) ? h->a : NULL;
  const gpureduce_binning plain = {.size = sizeof plain, .bins = b.bins};
  uint64_t digest[2];
  gpureduce_status status = GPUREDUCE_OK;
  switch (chance(8)) {
    case 0: status = gpureduce_histogram_each(h->a, &b, &rows, &out[0], &out[1], &out[2]); break;
    case 1: status = gpureduce_histogram2d(h->a, h->a, &b, &plain, maybe, &out[0], &out[1], &out[2]); break;
    case 2: status = gpureduce_quantiles_each(h->a, shares, 3, one_in(3) ? "nearest" : NULL, &rows, &out[0]); break;
    case 3: status = gpureduce_choice(h->a, (int64_t)chance(20), one_in(2), maybe, 1, 2, &out[0]); break;
    case 4: status = gpureduce_digest(h->a, digest); break;
    case 5: status = gpureduce_histogram(h->a, &b, &out[0], &out[1]); break;
    case 6: status = gpureduce_operator_reduce_each(operator_of(h->owner), h->a, &rows, out); break;
    default: status = gpureduce_randint(contexts[h->owner], -3, 3, GPUREDUCE_I16, (int64_t)chance(99), 1, 2, &out[0]);
  }
  if (status == GPUREDUCE_OK) answers++;
  else refused(status);
  for (int k = 0; k < 3; k++) OK(gpureduce_drop(out[k]));
}

/* Of a context that is about to close (or all): some go now, the others when it is gone. */
static void drop_lazies(int owner, int all) {
  for (int k = 0; k < LAZY; k++)
    if (lazies[k].e && lazies[k].of.owner == owner && (all || one_in(2))) drop_lazy(&lazies[k]);
  if (!operators[owner] || !(all || one_in(2))) return;
  OK(gpureduce_operator_drop(gone_operator = operators[owner]));
  operators[owner] = NULL;
}

#endif
