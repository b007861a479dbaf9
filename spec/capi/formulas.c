/*
** Formulas, what is missing, several at once, operators and what else Lua has, as a host without Lua calls it:
** capi_formulas DEVICE. The last line says "ok". spec/capi_spec.lua runs it.
*/
#include "check.h"

static const double six[6] = {1, 2, 3, 4, 5, 6};

/* A formula of a and b. */
static gpureduce_array *formula(gpureduce_context *c, const char *text, const gpureduce_array *a,
                                const gpureduce_array *b) {
  const gpureduce_input inputs[2] = {{.name = "a", .array = a}, {.name = "b", .array = b}};
  gpureduce_array *e = NULL;
  OK(gpureduce_formula(c, text, inputs, b ? 2 : 1, -1, &e));
  return e;
}

/* The elements of an array of f64, in the order of memory. */
static int is(gpureduce_array *a, int n, const double *expected) {
  const int same = holds(a, n, expected);
  OK(gpureduce_drop(a));
  return same;
}

/* ---- expressions ---- */

static void test_expressions(void) {
  gpureduce_context *c = open_one();
  const double y[6] = {6, 5, 4, 3, 2, 1};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *b = numbers(c, GPUREDUCE_F64, 6, y), *out = NULL;
  gpureduce_array *e = formula(c, "a * b + 1", a, b), *f = formula(c, "a * 2", e, NULL);
  gpureduce_number r[2];
  gpureduce_info info = {.size = sizeof info};
  OK(gpureduce_describe(e, &info));
  CHECK(info.length == 6 && info.dtype == GPUREDUCE_F64 && info.stride == 0 && !strcmp(info.device, device));
  CHECK(reduced("sum", e, NULL) == 62 && reduced("max", e, NULL) == 13 && reduced("sum", f, NULL) == 124);
  CHECK(reduced("dot", e, a) == 217 && reduced("dot", e, e) == 678);
  OK(gpureduce_reduce("minmax", f, NULL, NULL, r));
  CHECK(r[0].f == 14 && r[1].f == 26);
  OK(gpureduce_eval(e, &out));
  CHECK(is(out, 6, (const double[]){7, 11, 13, 13, 11, 7}));
  out = a;
  OK(gpureduce_eval(e, &out)); /* to where it is read */
  CHECK(holds(a, 6, (const double[]){7, 11, 13, 13, 11, 7}));
  OK(gpureduce_set(a, 0, 6, six));
  const gpureduce_options rows = {.size = sizeof rows, .rows = 2}, down = {.size = sizeof down, .rows = 2, .axis = 1};
  out = NULL;
  OK(gpureduce_reduce_each("sum", e, NULL, &rows, &out, NULL));
  CHECK(is(out, 2, (const double[]){31, 31}));
  out = NULL;
  OK(gpureduce_reduce_each("sum", e, NULL, &down, &out, NULL));
  CHECK(is(out, 3, (const double[]){20, 22, 20}));
  out = NULL;
  OK(gpureduce_scan("sum", e, NULL, &out));
  CHECK(is(out, 6, (const double[]){7, 18, 31, 44, 55, 62}));
  const gpureduce_options exact = {.size = sizeof exact, .exact = 1};
  OK(gpureduce_reduce("sum", e, NULL, &exact, r));
  CHECK(r[0].f == 62);
  /* Positions, and nothing that says a length. */
  gpureduce_array *i = NULL;
  OK(gpureduce_formula(c, "i * i", NULL, 0, 4, &i));
  CHECK(reduced("sum", i, NULL) == 30);
  OK(gpureduce_drop(i));
  /* Its arrays live as long as it does. */
  OK(gpureduce_drop(b));
  CHECK(reduced("sum", e, NULL) == 62);
  OK(gpureduce_drop(a));
  gpureduce_array *kept = NULL;
  NO(GPUREDUCE_BAD, "is an expression: eval makes an array of it", gpureduce_keep(e, &kept));
  NO(GPUREDUCE_BAD, "is an expression", gpureduce_get(e, 0, 1, &r));
  NO(GPUREDUCE_BAD, "is an expression", gpureduce_fill(e, (gpureduce_number){.f = 1}));
  NO(GPUREDUCE_BAD, "out is an expression", gpureduce_eval(f, &e));
  OK(gpureduce_close(c));
  CHECK(reduced("sum", f, NULL) == 124);
  OK(gpureduce_drop(f));
  OK(gpureduce_drop(e));
}

static void test_mistakes(void) {
  gpureduce_context *c = open_one(), *other = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *far = numbers(other, GPUREDUCE_F64, 6, six), *e = NULL;
  gpureduce_array *part = NULL;
  gpureduce_input in[2] = {{.name = "a", .array = a}, {.name = "b", .array = far}};
  NO(GPUREDUCE_BAD, "')' expected", gpureduce_formula(c, "(a + 1", in, 1, -1, &e));
  NO(GPUREDUCE_BAD, "input 'b' expected", gpureduce_formula(c, "a + b", in, 1, -1, &e));
  NO(GPUREDUCE_FOREIGN, "an input belongs to another context", gpureduce_formula(c, "a + b", in, 2, -1, &e));
  in[1] = (gpureduce_input){.name = "c", .number = {.f = 1}};
  NO(GPUREDUCE_BAD, "the formula has no input 'c'", gpureduce_formula(c, "a + 1", in, 2, -1, &e));
  in[1].name = "a";
  NO(GPUREDUCE_BAD, "input 'a' is there twice", gpureduce_formula(c, "a + 1", in, 2, -1, &e));
  in[1].name = NULL;
  NO(GPUREDUCE_NULL, "the name of an input is NULL", gpureduce_formula(c, "a + 1", in, 2, -1, &e));
  NO(GPUREDUCE_NULL, "inputs is NULL", gpureduce_formula(c, "a + 1", NULL, 1, -1, &e));
  NO(GPUREDUCE_NULL, "the formula is NULL", gpureduce_formula(c, NULL, in, 1, -1, &e));
  NO(GPUREDUCE_BAD, "0 to 256 inputs expected", gpureduce_formula(c, "a", in, -1, -1, &e));
  NO(GPUREDUCE_BAD, "nothing says how long it is", gpureduce_formula(c, "i + 1", NULL, 0, -1, &e));
  NO(GPUREDUCE_BAD, "length: -1, 0 or more expected", gpureduce_formula(c, "i + 1", NULL, 0, -2, &e));
  CHECK(e == NULL);
  OK(gpureduce_formula(c, "a + f64(i)", in, 1, -1, &e));
  OK(gpureduce_view(a, 0, 1, 6, &part));
  const gpureduce_options all = {.size = sizeof all};
  gpureduce_array *shifted = NULL;
  OK(gpureduce_view(a, 5, -1, 6, &shifted));
  NO(GPUREDUCE_BAD, "out overlaps what the expression reads", gpureduce_scan("sum", e, &all, &part));
  NO(GPUREDUCE_BAD, "out overlaps", gpureduce_eval(e, &shifted));
  OK(gpureduce_eval(e, &part));
  CHECK(reduced("sum", a, NULL) == 42);
  OK(gpureduce_drop(part));
  OK(gpureduce_drop(shifted));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(e));
  OK(gpureduce_drop(far));
  OK(gpureduce_close(c));
  OK(gpureduce_close(other));
}

/* ---- what is missing ---- */

static void test_missing(void) {
  gpureduce_context *c = open_one();
  const double x[6] = {1, NAN, 3, 4, NAN, 6};
  const uint8_t odd[6] = {1, 1, 1, 0, 0, 0};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, x), *mask = numbers(c, GPUREDUCE_U8, 6, odd), *out = NULL;
  gpureduce_array *above = formula(c, "a > 2", a, NULL);
  gpureduce_options o = {.size = sizeof o, .skipnan = 1};
  gpureduce_number r;
  double q[2];
  OK(gpureduce_reduce("mean", a, NULL, &o, &r));
  CHECK(r.f == 3.5);
  o.mask = mask;
  OK(gpureduce_reduce("sum", a, NULL, &o, &r));
  CHECK(r.f == 4);
  o.mask = above;
  OK(gpureduce_reduce("sum", a, NULL, &o, &r));
  CHECK(r.f == 13);
  o.mask = NULL;
  OK(gpureduce_scan("sum", a, &o, &out));
  CHECK(is(out, 6, (const double[]){1, 1, 4, 8, 8, 14}));
  o.rows = 2;
  out = NULL;
  OK(gpureduce_reduce_each("max", a, NULL, &o, &out, NULL));
  CHECK(is(out, 2, (const double[]){3, 6}));
  o.rows = 0;
  out = NULL;
  OK(gpureduce_quantiles_each(a, (const double[]){0, 1}, 2, NULL, &o, &out));
  OK(gpureduce_get(out, 0, 2, q));
  CHECK(q[0] == 1 && q[1] == 6);
  OK(gpureduce_drop(out));
  gpureduce_binning b = {.size = sizeof b, .bins = 2, .max = 8, .skipnan = 1};
  gpureduce_array *counts = NULL, *edges = NULL;
  int64_t n[5];
  OK(gpureduce_histogram(a, &b, &counts, &edges));
  OK(gpureduce_get(counts, 0, 5, n));
  CHECK(n[0] == 2 && n[1] == 2 && n[4] == 0);
  OK(gpureduce_drop(counts));
  OK(gpureduce_drop(edges));
  o.mask = a;
  NO(GPUREDUCE_BAD, "mask: u8[6] expected, got f64[6]", gpureduce_reduce("sum", a, NULL, &o, &r));
  o.mask = mask;
  out = mask;
  NO(GPUREDUCE_BAD, "out overlaps the mask", gpureduce_scan("min", mask, &o, &out));
  NO(GPUREDUCE_BAD, "options: takes no mask or skipnan", gpureduce_softmax(a, &o, &out));
  OK(gpureduce_drop(above));
  OK(gpureduce_drop(mask));
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
}

/* ---- several at once, now and for later ---- */

static void test_many(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *e = formula(c, "a + 1", a, NULL), *long_one = NULL;
  gpureduce_item items[5] = {{.op = "sum", .a = a}, {.op = "minmax", .a = a}, {.op = "dot", .a = a, .b = a},
                             {.op = "var", .a = a, .ddof = 1}, {.op = "argmax", .a = a}};
  gpureduce_number r[6];
  gpureduce_future *f = NULL;
  int done = 0;
  for (int lazy = 0; lazy < 2; lazy++) {
    memset(r, 0, sizeof r);
    OK(gpureduce_reduce_many(items, 5, r));
    CHECK(r[0].f == 21 + 6 * lazy && r[1].f == 1 + lazy && r[2].f == 6 + lazy && r[3].f == (lazy ? 139 : 91));
    CHECK(r[4].f == 3.5 && r[5].i == 6);
    memset(r, 0, sizeof r);
    OK(gpureduce_start(items, 5, &f));
    OK(gpureduce_fill(a, (gpureduce_number){.f = 0})); /* what it reads is read before */
    OK(gpureduce_results(f, -1, &done, r));
    CHECK(done && r[0].f == 21 + 6 * lazy && r[2].f == 6 + lazy && r[3].f == (lazy ? 139 : 91) && r[5].i == 6);
    OK(gpureduce_results(f, 0, &done, r));
    CHECK(done && r[4].f == 3.5);
    OK(gpureduce_future_drop(f));
    OK(gpureduce_set(a, 0, 6, six));
    for (int k = 0; k < 5; k++) items[k].a = e;
    items[2].b = e;
  }
  OK(gpureduce_make(c, GPUREDUCE_F32, 1 << 22, 0, &long_one));
  OK(gpureduce_fill(long_one, (gpureduce_number){.f = 1}));
  items[0].a = long_one;
  OK(gpureduce_start(items, 1, &f));
  while (!done) OK(gpureduce_results(f, 0, &done, r));
  OK(gpureduce_results(f, -1, &done, r));
  CHECK(r[0].f == 1 << 22);
  OK(gpureduce_future_drop(f));
  OK(gpureduce_start(items, 1, &f)); /* dropped while it runs */
  OK(gpureduce_drop(long_one));
  NO(GPUREDUCE_BAD, "1 to 65536 items expected, got 0", gpureduce_reduce_many(items, 0, r));
  items[0].op = "nosuch";
  items[0].a = a;
  NO(GPUREDUCE_BAD, "unknown operation 'nosuch'", gpureduce_reduce_many(items, 1, r));
  NO(GPUREDUCE_BAD, "unknown operation 'nosuch'", gpureduce_start(items, 1, &f));
  NO(GPUREDUCE_NULL, "the future is NULL", gpureduce_results(NULL, 0, &done, r));
  NO(GPUREDUCE_BAD, "got NaN", gpureduce_results(f, NAN, &done, r));
  OK(gpureduce_drop(e));
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
  OK(gpureduce_future_drop(f)); /* after its context */
}

/* ---- operators ---- */

static void test_operators(void) {
  gpureduce_context *c = open_one(), *other = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *far = numbers(other, GPUREDUCE_F64, 6, six);
  const gpureduce_operator_state box[2] = {
      {.name = "lo", .map = "x", .merge = "min(lo1, lo2)", .identity = {.f = INFINITY}},
      {.name = "hi", .map = "x", .merge = "max(hi1, hi2)", .identity = {.f = -INFINITY}}};
  const gpureduce_operator_state sum = {.name = "s", .map = "x", .merge = "s1 + s2"};
  const char *const mean[1] = {"s / n"};
  const gpureduce_operator_states boxes = {.size = sizeof boxes, .count = 2, .states = box, .check = 1};
  gpureduce_operator_states means = {.size = sizeof means, .count = 1, .states = &sum, .results = 1, .finish = mean};
  const gpureduce_options rows = {.size = sizeof rows, .rows = 2}, skip = {.size = sizeof skip, .skipnan = 1};
  gpureduce_operator *b = NULL, *m = NULL, *none = NULL;
  gpureduce_array *out[2] = {NULL, NULL}, *e = formula(c, "a * 2", a, NULL);
  gpureduce_number r[2];
  OK(gpureduce_operator_make(c, &boxes, &b));
  OK(gpureduce_operator_make(c, &means, &m));
  OK(gpureduce_operator_reduce(b, a, NULL, r));
  CHECK(r[0].f == 1 && r[1].f == 6);
  OK(gpureduce_operator_reduce(m, e, &skip, r));
  CHECK(r[0].f == 7);
  OK(gpureduce_operator_reduce_each(b, a, &rows, out));
  CHECK(is(out[0], 2, (const double[]){1, 4}) && is(out[1], 2, (const double[]){3, 6}));
  out[0] = NULL;
  OK(gpureduce_operator_scan(m, a, NULL, out));
  CHECK(is(out[0], 6, (const double[]){1, 1.5, 2, 2.5, 3, 3.5}));
  out[0] = NULL;
  gpureduce_array *low = formula(c, "a < 4", a, NULL);
  gpureduce_options some = {.size = sizeof some, .mask = low, .skipnan = 1};
  OK(gpureduce_operator_scan(m, a, &some, out));
  CHECK(is(out[0], 6, (const double[]){1, 1.5, 2, 2, 2, 2}));
  out[0] = NULL;
  OK(gpureduce_drop(low));
  NO(GPUREDUCE_FOREIGN, "the operator belongs to another context", gpureduce_operator_reduce(b, far, NULL, r));
  NO(GPUREDUCE_BAD, "rows or segments expected", gpureduce_operator_reduce_each(b, a, NULL, out));
  NO(GPUREDUCE_NULL, "the operator is NULL", gpureduce_operator_scan(NULL, a, NULL, out));
  means.count = 7;
  NO(GPUREDUCE_BAD, "1 to 6 states", gpureduce_operator_make(c, &means, &none));
  means = (gpureduce_operator_states){.size = sizeof means, .count = 1, .states = &(const gpureduce_operator_state){
      .name = "s", .map = "x", .merge = "s1 - s2"}, .check = 1};
  NO(GPUREDUCE_BAD, "merge", gpureduce_operator_make(c, &means, &none));
  means.states = &(const gpureduce_operator_state){.name = "s", .map = "x +", .merge = "s1"};
  NO(GPUREDUCE_BAD, "number, name or", gpureduce_operator_make(c, &means, &none));
  means.states = &(const gpureduce_operator_state){.name = "s", .map = "x"};
  NO(GPUREDUCE_NULL, "merge of state 's' is NULL", gpureduce_operator_make(c, &means, &none));
  CHECK(!none && !out[0]);
  OK(gpureduce_drop(e));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(far));
  OK(gpureduce_operator_drop(m));
  OK(gpureduce_close(c));
  OK(gpureduce_close(other));
  OK(gpureduce_operator_drop(b)); /* after its context */
}

/* ---- histograms, quantiles, sums ---- */

static void test_samples(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *counts = NULL, *tails = NULL, *edges = NULL, *out = NULL;
  const gpureduce_binning b = {.size = sizeof b, .bins = 2, .min = 1, .max = 5};
  const gpureduce_options rows = {.size = sizeof rows, .rows = 2};
  int64_t n[16];
  OK(gpureduce_histogram_each(a, &b, &rows, &counts, &tails, &edges));
  OK(gpureduce_get(counts, 0, 4, n));
  CHECK(n[0] == 2 && n[1] == 1 && n[2] == 0 && n[3] == 2);
  OK(gpureduce_get(tails, 0, 6, n));
  CHECK(n[0] == 0 && n[1] == 0 && n[4] == 1);
  OK(gpureduce_drop(counts));
  OK(gpureduce_drop(tails));
  OK(gpureduce_drop(edges));
  counts = edges = tails = NULL;
  OK(gpureduce_histogram2d(a, a, &b, &b, NULL, &counts, &edges, &tails));
  OK(gpureduce_get(counts, 0, 6, n));
  CHECK(n[0] == 2 && n[1] == 0 && n[2] == 0 && n[3] == 3 && n[4] == 1 && n[5] == 0);
  NO(GPUREDUCE_BAD, "counts and edges are one", gpureduce_histogram2d(a, a, &b, &b, NULL, &out, &out, &tails));
  gpureduce_array *some[3] = {NULL, NULL, NULL}, *mask = NULL;
  OK(gpureduce_make(c, GPUREDUCE_U8, 6, 0, &mask));
  OK(gpureduce_set(mask, 0, 6, (const uint8_t[]){0, 1, 1, 1, 1, 1}));
  gpureduce_binning of = {.size = sizeof of, .bins = 2, .min = 1, .max = 5, .mask = mask, .skipnan = 1};
  NO(GPUREDUCE_BAD, "of_y: takes no mask or skipnan: those of of_x are of pairs",
     gpureduce_histogram2d(a, a, &b, &of, NULL, &some[0], &some[1], &some[2]));
  NO(GPUREDUCE_BAD, "mask: u8[6] expected, got f64[6]",
     (of.mask = a, gpureduce_histogram2d(a, a, &of, &b, NULL, &some[0], &some[1], &some[2])));
  of.mask = mask;
  OK(gpureduce_histogram2d(a, a, &of, &b, NULL, &some[0], &some[1], &some[2]));
  OK(gpureduce_get(some[0], 0, 6, n));
  CHECK(n[0] == 1 && n[1] == 0 && n[2] == 0 && n[3] == 3 && n[4] == 1 && n[5] == 0);
  for (int k = 0; k < 3; k++) OK(gpureduce_drop(some[k]));
  OK(gpureduce_drop(mask));
  OK(gpureduce_drop(counts));
  OK(gpureduce_drop(tails));
  OK(gpureduce_drop(edges));
  /* Into an array, as a frame after the other does it. */
  gpureduce_binning again = b;
  OK(gpureduce_make(c, GPUREDUCE_I64, 5, 0, &again.into));
  for (int k = 0; k < 2; k++) {
    OK(gpureduce_histogram(a, &again, NULL, NULL));
    OK(gpureduce_get(again.into, 0, 5, n));
    CHECK(n[0] == 2 && n[1] == 3 && n[2] == 0 && n[3] == 1 && n[4] == 0);
  }
  again.bins = 3;
  NO(GPUREDUCE_BAD, "out: i64[6] expected, got i64[5]", gpureduce_histogram(a, &again, NULL, NULL));
  NO(GPUREDUCE_BAD, "takes no into here", gpureduce_histogram_each(a, &again, &rows, &counts, &tails, &edges));
  NO(GPUREDUCE_NULL, "counts is NULL", gpureduce_histogram(a, &b, NULL, &edges));
  OK(gpureduce_drop(again.into));
  /* The struct as it was at first. */
  gpureduce_binning early = b;
  early.size = (uint32_t)offsetof(gpureduce_binning, mask);
  early.mask = early.into = (gpureduce_array *)(void *)&early;
  OK(gpureduce_histogram(a, &early, &counts, &edges));
  OK(gpureduce_drop(counts));
  OK(gpureduce_drop(edges));
  const double w[6] = {0, 0, 1, 0, 0, 0};
  gpureduce_array *weights = numbers(c, GPUREDUCE_F64, 6, w);
  const gpureduce_options weighted = {.size = sizeof weighted, .weights = weights};
  OK(gpureduce_quantiles_each(a, (const double[]){0.5}, 1, NULL, &weighted, &out));
  CHECK(is(out, 1, (const double[]){3}));
  out = NULL;
  OK(gpureduce_quantiles_each(a, (const double[]){0, 0.5}, 2, NULL, &rows, &out));
  CHECK(is(out, 4, (const double[]){1, 4, 2, 5}));
  OK(gpureduce_drop(weights));
  gpureduce_accumulator sum = {{0}}, more = {{0}};
  double x = -1;
  uint64_t digest[2] = {0, 0};
  OK(gpureduce_accumulator_value(&sum, 0, &x));
  CHECK(x == 0);
  OK(gpureduce_accumulate(&sum, a, NULL));
  OK(gpureduce_accumulate(&more, a, a));
  OK(gpureduce_accumulator_merge(&sum, &more));
  OK(gpureduce_accumulator_value(&sum, 0, &x));
  CHECK(x == 112);
  more.bytes[0] = 'x';
  NO(GPUREDUCE_BAD, "other: ", gpureduce_accumulator_merge(&sum, &more));
  OK(gpureduce_digest(a, digest));
  CHECK(digest[0] && digest[1]);
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
}

static void test_chance(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = NULL, *b = NULL, *mask = NULL;
  const uint8_t some[6] = {0, 1, 0, 0, 1, 0};
  OK(gpureduce_randint(c, -3, 3, GPUREDUCE_I8, 1000, 1, 2, &a));
  CHECK(reduced("min", a, NULL) == -3 && reduced("max", a, NULL) == 3);
  NO(GPUREDUCE_BAD, "a range of u8 expected", gpureduce_randint(c, -3, 3, GPUREDUCE_U8, 1, 1, 2, &b));
  OK(gpureduce_drop(a));
  a = NULL;
  OK(gpureduce_permutation(c, GPUREDUCE_I32, 100, 1, 2, &a));
  CHECK(reduced("sum", a, NULL) == 5050);
  NO(GPUREDUCE_BAD, "the highest of u8", gpureduce_permutation(c, GPUREDUCE_U8, 256, 1, 2, &b));
  OK(gpureduce_choice(a, 100, 0, NULL, 1, 2, &b));
  CHECK(reduced("sum", b, NULL) == 5050);
  NO(GPUREDUCE_BAD, "100 elements at most", gpureduce_choice(a, 101, 0, NULL, 1, 2, &mask));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(b));
  a = numbers(c, GPUREDUCE_F64, 6, six);
  mask = numbers(c, GPUREDUCE_U8, 6, some);
  OK(gpureduce_put_masked(a, mask, (gpureduce_operand){.number = {.f = 9}}));
  CHECK(holds(a, 6, (const double[]){1, 9, 3, 4, 9, 6}));
  b = numbers(c, GPUREDUCE_F64, 2, six);
  OK(gpureduce_put_masked(a, mask, (gpureduce_operand){.array = b}));
  CHECK(holds(a, 6, (const double[]){1, 1, 3, 4, 2, 6}));
  CHECK(gpureduce_put_masked(a, mask, (gpureduce_operand){.array = a}) == GPUREDUCE_BAD);
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(b));
  OK(gpureduce_drop(mask));
  OK(gpureduce_close(c));
}

/* ---- files ---- */

static void test_files(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, six), *m = NULL, *b = NULL;
  gpureduce_info info = {.size = sizeof info};
  gpureduce_file file = {.size = sizeof file, .dtype = GPUREDUCE_F64, .offset = 8, .count = 2};
  char folder[] = "/tmp/capi_XXXXXX", path[64];
  int equal = 0;
  CHECK(mkdtemp(folder) != NULL);
  OK(gpureduce_matrix(a, 2, &m));
  snprintf(path, sizeof path, "%s/m.npy", folder);
  OK(gpureduce_save(m, path));
  OK(gpureduce_load(c, path, NULL, &b));
  OK(gpureduce_describe(b, &info));
  OK(gpureduce_equal(m, b, &equal));
  CHECK(equal && info.rows == 2 && info.dtype == GPUREDUCE_F64);
  OK(gpureduce_drop(b));
  b = NULL;
  NO(GPUREDUCE_BAD, "offset and count are for raw files", gpureduce_load(c, path, &file, &b));
  remove(path);
  NO(GPUREDUCE_SYSTEM, "m.npy: No such file or directory", gpureduce_load(c, path, NULL, &b));
  snprintf(path, sizeof path, "%s/raw", folder);
  OK(gpureduce_save(a, path));
  OK(gpureduce_load(c, path, &file, &b));
  CHECK(is(b, 2, (const double[]){2, 3}));
  b = NULL;
  file = (gpureduce_file){.size = sizeof file, .dtype = GPUREDUCE_F64, .map = 1};
  OK(gpureduce_load(c, path, &file, &b));
  CHECK(is(b, 6, six));
  b = NULL;
  file.count = 7;
  NO(GPUREDUCE_BAD, "raw: ", gpureduce_load(c, path, &file, &b));
  file.count = -1;
  NO(GPUREDUCE_BAD, "0 or more expected", gpureduce_load(c, path, &file, &b));
  NO(GPUREDUCE_NULL, "path is NULL", gpureduce_load(c, NULL, &file, &b));
  NO(GPUREDUCE_SYSTEM, "no such folder", gpureduce_save(a, "/no such folder/a"));
  CHECK(b == NULL);
  remove(path);
  remove(folder);
  OK(gpureduce_drop(m));
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_formulas DEVICE\n"), 2;
  device = argv[1];
  test_expressions();
  test_mistakes();
  test_missing();
  test_many();
  test_operators();
  test_samples();
  test_chance();
  test_files();
  return ended();
}
