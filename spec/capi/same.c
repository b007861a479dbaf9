/*
** The bits that Lua gets, from the C API: capi_same DEVICE. A script computes numbers of arrays that the host shares
** with it, and the host the same ones without Lua. The last line says "ok". spec/capi_spec.lua runs it.
*/
#include "check.h"

#define LENGTH 20011
#define RESULTS 22

static const char script[] =
    "local gr, x, y, mask = ...\n"
    "local e = gr.fuse 'x * y + sqrt(x * x + 1)' { x = x, y = y }\n"
    "local spread = gr.operator { state = { 'lo', 'hi' }, map = { lo = 'x', hi = 'x' },\n"
    "  identity = { lo = 9, hi = -9 }, merge = { lo = 'min(lo1, lo2)', hi = 'max(hi1, hi2)' }, finish = 'hi - lo' }\n"
    "local h = gr.histogram2d(x, y, { bins = { 7, 5 }, range = { { -2, 2 }, { -1, 3 } } })\n"
    "local present = gr.histogram2d(x, y, { bins = { 7, 5 }, mask = mask, skipnan = true })\n"
    "local sum = gr.accumulator():add(x):add_dot(x, y)\n"
    "local lo, hi = gr.many { { 'minmax', e } }\n"
    "return {\n"
    "  e:sum(), e:var { ddof = 1 }, x:dot(e), x:mean { mask = mask }, x:std { mask = mask, exact = true },\n"
    "  e:sum { exact = true, out = 'f32' }, spread(e), (spread(x, { mask = mask })), sum:value(),\n"
    "  x:quantile(0.3, { weights = mask }), x:quantile(0.7, { mask = mask, method = 'hazen' }),\n"
    "  gr.choice(x, 99, { seed = 4, stream = 5 }):sum(), x:shuffle { seed = 4 }[7],\n"
    "  gr.permutation(999, 'i32', { seed = 4 })[1], gr.randint(-5, 900, 77, 'i16', { seed = 6, stream = 1 }):sum(),\n"
    "  h.counts:slice()[18], h.tails[1], present.counts:slice()[19], present.counts:sum(),\n"
    "  e:scan('sum', { reverse = true })[5], lo, hi\n"
    "}, gr.digest(e)\n";

/* Element k (from 0) of an array of the host's, as f64. */
static double element(gpureduce_array *a, int64_t k) {
  const gpureduce_options to = {.size = sizeof to, .dtype = GPUREDUCE_F64};
  gpureduce_operand one = {.array = NULL};
  gpureduce_array *part = NULL, *wide = NULL;
  double x = NAN;
  OK(gpureduce_view(a, k, 1, 1, &part));
  one.array = part;
  OK(gpureduce_map("cast", &one, 1, &to, &wide));
  OK(gpureduce_get(wide, 0, 1, &x));
  OK(gpureduce_drop(part));
  OK(gpureduce_drop(wide));
  OK(gpureduce_drop(a));
  return x;
}

static double value(gpureduce_number r) { return r.whole ? (double)r.i : r.f; }

static double whole(gpureduce_array *a) {
  const double x = reduced("sum", a, NULL);
  OK(gpureduce_drop(a));
  return x;
}

/* What the script computes, in its order. */
static void compute(gpureduce_context *c, const gpureduce_array *x, const gpureduce_array *y,
                    const gpureduce_array *mask, double *r, char *digest) {
  const gpureduce_input in[2] = {{.name = "x", .array = x}, {.name = "y", .array = y}};
  const gpureduce_operator_state ends[2] = {
      {.name = "lo", .map = "x", .merge = "min(lo1, lo2)", .identity = {.f = 9}},
      {.name = "hi", .map = "x", .merge = "max(hi1, hi2)", .identity = {.f = -9}}};
  const char *const finish[1] = {"hi - lo"};
  const gpureduce_operator_states states = {
      .size = sizeof states, .count = 2, .states = ends, .results = 1, .finish = finish};
  const gpureduce_options ddof = {.size = sizeof ddof, .ddof = 1}, masked = {.size = sizeof masked, .mask = mask};
  const gpureduce_options exact = {.size = sizeof exact, .mask = mask, .exact = 1};
  const gpureduce_options f32 = {.size = sizeof f32, .exact = 1, .single = 1};
  const gpureduce_options back = {.size = sizeof back, .reverse = 1};
  const gpureduce_options weighted = {.size = sizeof weighted, .weights = mask};
  gpureduce_binning of_x = {.size = sizeof of_x, .bins = 7, .min = -2, .max = 2};
  gpureduce_binning of_y = {.size = sizeof of_y, .bins = 5, .min = -1, .max = 3};
  const double shares[2] = {0.3, 0.7};
  gpureduce_accumulator sum = {{0}};
  gpureduce_operator *spread = NULL;
  gpureduce_array *e = NULL, *out[4] = {NULL}, *made[6] = {NULL};
  gpureduce_number n[2];
  uint64_t words[2];
  OK(gpureduce_formula(c, "x * y + sqrt(x * x + 1)", in, 2, -1, &e));
  OK(gpureduce_operator_make(c, &states, &spread));
  *r++ = reduced("sum", e, NULL);
  OK(gpureduce_reduce("var", e, NULL, &ddof, n));
  *r++ = value(*n);
  *r++ = reduced("dot", x, e);
  OK(gpureduce_reduce("mean", x, NULL, &masked, n));
  *r++ = value(*n);
  OK(gpureduce_reduce("std", x, NULL, &exact, n));
  *r++ = value(*n);
  OK(gpureduce_reduce("sum", e, NULL, &f32, n));
  *r++ = value(*n);
  OK(gpureduce_operator_reduce(spread, e, NULL, n));
  *r++ = value(*n);
  OK(gpureduce_operator_reduce(spread, x, &masked, n));
  *r++ = value(*n);
  OK(gpureduce_accumulate(&sum, x, NULL));
  OK(gpureduce_accumulate(&sum, x, y));
  OK(gpureduce_accumulator_value(&sum, 0, r++));
  OK(gpureduce_quantiles_each(x, &shares[0], 1, NULL, &weighted, &made[0]));
  *r++ = element(made[0], 0);
  OK(gpureduce_quantiles_each(x, &shares[1], 1, "hazen", &masked, &made[1]));
  *r++ = element(made[1], 0);
  OK(gpureduce_choice(x, 99, 1, NULL, 4, 5, &made[2]));
  *r++ = whole(made[2]);
  OK(gpureduce_choice(x, LENGTH, 0, NULL, 4, 0, &made[3]));
  *r++ = element(made[3], 6);
  OK(gpureduce_permutation(c, GPUREDUCE_I32, 999, 4, 0, &made[4]));
  *r++ = element(made[4], 0);
  OK(gpureduce_randint(c, -5, 900, GPUREDUCE_I16, 77, 6, 1, &made[5]));
  *r++ = whole(made[5]);
  OK(gpureduce_histogram2d(x, y, &of_x, &of_y, NULL, &out[0], &out[1], &out[2]));
  OK(gpureduce_keep(out[0], &out[3]));
  *r++ = element(out[0], 17);
  *r++ = element(out[3], 35);
  OK(gpureduce_drop(out[1]));
  OK(gpureduce_drop(out[2]));
  of_x = (gpureduce_binning){.size = sizeof of_x, .bins = 7, .mask = mask, .skipnan = 1};
  of_y = (gpureduce_binning){.size = sizeof of_y, .bins = 5};
  out[0] = out[1] = out[2] = NULL;
  OK(gpureduce_histogram2d(x, y, &of_x, &of_y, NULL, &out[0], &out[1], &out[2]));
  OK(gpureduce_keep(out[0], &out[3]));
  *r++ = element(out[0], 18);
  OK(gpureduce_view(out[3], 0, 1, 35, &out[0]));
  *r++ = whole(out[0]);
  for (int k = 1; k < 4; k++) OK(gpureduce_drop(out[k]));
  out[0] = NULL;
  OK(gpureduce_scan("sum", e, &back, &out[0]));
  *r++ = element(out[0], 4);
  OK(gpureduce_reduce_many(&(gpureduce_item){.op = "minmax", .a = e}, 1, n));
  *r++ = value(n[0]);
  *r++ = value(n[1]);
  OK(gpureduce_digest(e, words));
  snprintf(digest, 40, "%016llx%016llx", (unsigned long long)words[0], (unsigned long long)words[1]);
  OK(gpureduce_operator_drop(spread));
  OK(gpureduce_drop(e));
}

static void share(lua_State *L, gpureduce_array *a) { OK(gpureduce_push(L, a)); }

static void test(gpureduce_dtype t) {
  lua_State *L = luaL_newstate();
  gpureduce_context *c = NULL;
  const gpureduce_config config = {.size = sizeof config, .device = device};
  gpureduce_array *x = NULL, *y = NULL, *mask = NULL;
  double r[RESULTS];
  char digest[40];
  luaL_openlibs(L);
  OK(gpureduce_configure(L, &config));
  CHECK(luaL_loadstring(L, script) == 0);
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 1);
  OK(gpureduce_of_state(L, &c));
  OK(gpureduce_random(c, "randn", t, LENGTH, 1, 2, &x));
  OK(gpureduce_random(c, "rand", t, LENGTH, 3, 4, &y));
  OK(gpureduce_map(">", (const gpureduce_operand[]){{.array = x}, {.number = {.f = -0.5}}}, 2, NULL, &mask));
  compute(c, x, y, mask, r, digest);
  share(L, x);
  share(L, y);
  share(L, mask);
  if (lua_pcall(L, 4, 2, 0) != 0) failures++, printf("%s\n", lua_tostring(L, -1));
  else {
    CHECK(!strcmp(lua_tostring(L, -1), digest));
    for (int k = 0; k < RESULTS; k++) {
      lua_rawgeti(L, -2, k + 1);
      const double expected = lua_tonumber(L, -1);
      if (!lua_isnumber(L, -1) || memcmp(&expected, &r[k], sizeof expected) != 0)
        failures++, printf("result %d of dtype %d: %.17g expected, got %.17g\n", k + 1, (int)t, expected, r[k]);
      lua_pop(L, 1);
    }
  }
  OK(gpureduce_drop(x));
  OK(gpureduce_drop(y));
  OK(gpureduce_drop(mask));
  lua_close(L);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_same DEVICE\n"), 2;
  device = argv[1];
  test(GPUREDUCE_F32);
  test(GPUREDUCE_F64);
  return ended();
}
