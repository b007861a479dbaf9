/* New arrays: from tables, strings and lengths, and by formula. */
#include <stdio.h>

#include "src/binding/binding.h"
#include "src/core/ops.h"

/* The array to write to on the host; the old content is of no interest. */
static char *host_elements(lua_State *L, gr_context *c, gr_array *a) {
  gr_vec v;
  GR_TRY(L, c, 1, gr_array_write(a, GR_HOST, 1, &v));
  return (char *)(uintptr_t)v.data;
}

/* The common case apart from the checks: numbers of a table into f32 and f64. Returns the first position that needs a look. */
static int64_t put_table_f32(lua_State *L, float *out, int64_t k, int64_t n) {
  for (; k < n; k++) {
    int type = gr_rawgeti(L, 1, (lua_Integer)(k + 1));
    double x = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (type != LUA_TNUMBER || fabs(x) > 1e38) return k;
    out[k] = (float)x;
  }
  return n;
}

static int64_t put_table_f64(lua_State *L, double *out, int64_t k, int64_t n) {
  for (; k < n; k++) {
    int type = gr_rawgeti(L, 1, (lua_Integer)(k + 1));
    out[k] = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (type != LUA_TNUMBER) return k;
  }
  return n;
}

static void put_table(lua_State *L, gr_dtype t, char *out, int64_t n) {
  int64_t k = 0, size = gr_size(t);
  char text[96];
  while (k < n) {
    if (t == GR_F32) k = put_table_f32(L, (float *)(void *)out, k, n);
    if (t == GR_F64) k = put_table_f64(L, (double *)(void *)out, k, n);
    if (k == n) return;
    gr_rawgeti(L, 1, (lua_Integer)(k + 1));
    const char *why = gr_l_put(L, -1, t, out + k * size, text);
    lua_pop(L, 1);
    if (why) gr_l_argerror(L, 1, "element %lld: %s", (long long)k + 1, why);
    k++;
  }
}

static int from_bytes(lua_State *L, gr_context *c, gr_dtype t) {
  size_t bytes, size = (size_t)gr_size(t);
  const char *s = lua_tolstring(L, 1, &bytes);
  if (bytes % size) gr_l_argerror(L, 1, "%lu bytes are not a whole number of %s elements", (unsigned long)bytes, gr_dtypes[t].name);
  gr_array *a = gr_l_new_array(L, c, t, (int64_t)(bytes / size));
  if (bytes) memcpy(host_elements(L, c, a), s, bytes);
  return 1;
}

/* gr.array(table or length or packed string, dtype) */
static int l_array(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_dtype t = gr_l_opt_dtype(L, 2, GR_F32);
  switch (lua_type(L, 1)) {
    case LUA_TNUMBER: gr_l_new_array(L, c, t, gr_l_check_length(L, 1)); return 1;
    case LUA_TSTRING: return from_bytes(L, c, t);
    case LUA_TTABLE: break;
    default: gr_l_argerror(L, 1, "table, length or string expected, got %s", lua_isnone(L, 1) ? "no value" : luaL_typename(L, 1));
  }
  int64_t n = (int64_t)lua_rawlen(L, 1);
  gr_array *a = gr_l_new_array(L, c, t, n);
  if (n) put_table(L, t, host_elements(L, c, a), n);
  return 1;
}

static int l_frombytes(lua_State *L) {
  gr_dtype t = gr_l_opt_dtype(L, 2, GR_F32);
  if (lua_type(L, 1) != LUA_TSTRING) gr_l_argerror(L, 1, "string expected, got %s", luaL_typename(L, 1));
  return from_bytes(L, gr_l_context(L), t);
}

/* gr.zeros(n, dtype), gr.ones(n, dtype): the upvalue is the value. */
static int l_constant(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int64_t n = gr_l_check_length(L, 1);
  gr_array *a = gr_l_new_array(L, c, gr_l_opt_dtype(L, 2, GR_F32), n);
  gr_value one = gr_value_i(1);
  if (gr_l_number(L)) GR_TRY(L, c, 1, gr_fill(c, a, one));
  return 1;
}

static int l_full(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int64_t n = gr_l_check_length(L, 1);
  gr_dtype t = gr_l_opt_dtype(L, 3, GR_F32);
  gr_value value = gr_l_check_value(L, 2, t);
  gr_array *a = gr_l_new_array(L, c, t, n);
  GR_TRY(L, c, 1, gr_fill(c, a, value));
  return 1;
}

/* ---- ranges ---- */

/* Store first + k * step, and last (if there is one to hit) at the end; an element that does not fit raises. */
static void put_range(lua_State *L, gr_array *a, char *out, double first, double step, const double *last) {
  char text[96];
  for (int64_t k = 0; k < a->n; k++) {
    lua_pushnumber(L, last && k > 0 && k == a->n - 1 ? *last : first + (double)k * step);
    const char *why = gr_l_put(L, -1, a->dtype, out + k * gr_size(a->dtype), text);
    lua_pop(L, 1);
    if (why) gr_l_argerror(L, 1, "element %lld: %s", (long long)k + 1, why);
  }
}

static void put_whole_range(lua_State *L, gr_array *a, char *out, int64_t first, int64_t step) {
  const gr_dtype_info *d = &gr_dtypes[a->dtype];
  int64_t last = first + (a->n - 1) * step;
  if (a->n && d->kind != GR_FLOAT && (first < d->lowest || first > d->highest || last < d->lowest || last > d->highest))
    gr_l_argerror(L, 1, "the range from %lld to %lld does not fit %s", (long long)first, (long long)last, d->name);
  for (int64_t k = 0; k < a->n; k++) gr_element_put_i(a->dtype, out + k * d->size, first + k * step);
}

/* gr.arange(first, last, step, dtype): as Lua's for, last is included when it is hit. */
static int l_arange(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int typed = lua_type(L, 3) == LUA_TSTRING ? 3 : 4;
  gr_dtype t = gr_l_opt_dtype(L, typed, GR_F32);
  double first = gr_l_check_number(L, 1), last = gr_l_check_number(L, 2);
  double step = typed == 3 || lua_isnoneornil(L, 3) ? 1 : gr_l_check_number(L, 3);
  int64_t i, j, s = 1;
  int whole = gr_l_to_int64(L, 1, &i) && gr_l_to_int64(L, 2, &j) && (step == 1 || gr_l_to_int64(L, 3, &s));
  if (step == 0) gr_l_argerror(L, 3, "step other than 0 expected");
  if (!(first - first == 0)) gr_l_argerror(L, 1, "finite number expected, got %g", first);
  if (!(last - last == 0)) gr_l_argerror(L, 2, "finite number expected, got %g", last);
  if (!(step - step == 0)) gr_l_argerror(L, 3, "finite number expected, got %g", step);
  double steps = floor((last - first) / step);
  if (steps >= 0x1p60) gr_l_argerror(L, 2, "range of %.14g elements is too long", steps + 1);
  int64_t n = steps < 0 ? 0 : (int64_t)steps + 1;
  gr_array *a = gr_l_new_array(L, c, t, n);
  char *out = n ? host_elements(L, c, a) : NULL;
  if (whole) put_whole_range(L, a, out, i, s);
  else put_range(L, a, out, first, step, NULL);
  return 1;
}

/* gr.linspace(first, last, n, dtype): n numbers evenly spaced, both ends included. */
static int l_linspace(lua_State *L) {
  gr_context *c = gr_l_context(L);
  double first = gr_l_check_number(L, 1), last = gr_l_check_number(L, 2);
  int64_t n = gr_l_check_length(L, 3);
  gr_dtype t = gr_l_opt_dtype(L, 4, GR_F32);
  if (!gr_is_float(t)) gr_l_argerror(L, 4, "float dtype expected, got %s", gr_dtypes[t].name);
  gr_array *a = gr_l_new_array(L, c, t, n);
  char *out = n ? host_elements(L, c, a) : NULL;
  put_range(L, a, out, first, n > 1 ? (last - first) / (double)(n - 1) : 0, &last);
  return 1;
}

/* gr.rand(n, dtype, {seed, stream, into}), gr.randn: the same numbers on every backend. */
static int l_random(lua_State *L) {
  static const char *const names[] = {"seed", "stream", "into", NULL};
  gr_context *c = gr_l_context(L);
  int options = lua_type(L, 2) == LUA_TTABLE ? 2 : 3;
  int64_t n = gr_l_check_length(L, 1), seed = 0, stream = 0;
  gr_dtype t = options == 2 ? GR_F32 : gr_l_opt_dtype(L, 2, GR_F32);
  if (!gr_is_float(t)) gr_l_argerror(L, 2, "float dtype expected, got %s", gr_dtypes[t].name);
  gr_l_options(L, options, names);
  gr_l_option_int(L, options, "seed", &seed);
  gr_l_option_int(L, options, "stream", &stream);
  gr_array *a = gr_l_option_into(L, options, t, n, NULL);
  if (!a) a = gr_l_new_array(L, c, t, n);
  GR_TRY(L, c, 1, gr_random(c, a, (uint64_t)seed, (uint64_t)stream, (int)gr_l_number(L)));
  return 1;
}

const gr_function gr_make_functions[] = {
  {"array", l_array, 0},   {"frombytes", l_frombytes, 0}, {"zeros", l_constant, 0}, {"ones", l_constant, 1},
  {"full", l_full, 0},     {"arange", l_arange, 0},       {"linspace", l_linspace, 0}, {"rand", l_random, 0},
  {"randn", l_random, 1},  {NULL, NULL, 0},
};
