/* New arrays: from tables, strings and lengths, and by formula. */
#include "src/binding/make.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/stop.h"
#include "src/binding/values.h"
#include "src/core/ops.h"

/* The array to write to on the host; the old content is of no interest. */
static char *host_elements(lua_State *L, gr_context *c, gr_array *a) {
  gr_vec v;
  GR_TRY(L, c, 1, gr_array_write(a, GR_HOST, 1, &v));
  return (char *)(uintptr_t)v.data;
}

/*
** The common case without the checks: numbers of a table into f32 and f64. Returns the first position that needs them.
*/
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

static void put_table(lua_State *L, gr_context *c, gr_dtype t, char *out, int64_t n) {
  const gr_l_watch watch = gr_l_watch_for(L, c, n);
  int64_t k = 0, size = gr_size(t);
  char text[96];
  while (k < n) {
    const int64_t end = n - k > GR_L_LOOK ? (k / GR_L_LOOK + 1) * GR_L_LOOK : n;
    if (k && k % GR_L_LOOK == 0) gr_l_look(&watch);
    if (t == GR_F32) k = put_table_f32(L, (float *)(void *)out, k, end);
    if (t == GR_F64) k = put_table_f64(L, (double *)(void *)out, k, end);
    if (k == end) continue;
    gr_rawgeti(L, 1, (lua_Integer)(k + 1));
    const char *why = gr_l_put(L, -1, t, out + k * size, text);
    lua_pop(L, 1);
    if (why) gr_l_argerror(L, 1, "element %lld: %s", (long long)k + 1, why);
    k++;
  }
}

gr_array *gr_l_option_numbers(lua_State *L, gr_context *c, int arg, const char *name, const gr_array *beside,
                              gr_dtype dtype, const char *each) {
  if (!gr_l_push_option(L, arg, name)) return NULL;
  return gr_l_top_numbers(L, c, arg, name, beside, dtype, each);
}

void gr_l_check_edges(lua_State *L, int arg, const char *name, const gr_array *a, const gr_array *edges) {
  if (edges->n < 2) gr_l_argerror(L, arg, "option '%s': 2 or more edges expected, got %lld", name, (long long)edges->n);
  if (edges->dtype != GR_F64)
    gr_l_argerror(L, arg, "option '%s': dtype f64 expected, got %s", name, gr_dtypes[edges->dtype].name);
  gr_l_check_device(L, a, edges, arg);
}

gr_array *gr_l_top_numbers(lua_State *L, gr_context *c, int arg, const char *name, const gr_array *beside,
                           gr_dtype dtype, const char *each) {
  char text[96];
  gr_vec v;
  gr_array *a = gr_l_test_array(L, -1);
  if (a && gr_array_released(a)) gr_l_argerror(L, arg, "option '%s': array has been released", name);
  if (a) return a;
  if (!lua_istable(L, -1))
    gr_l_argerror(L, arg, "option '%s': table or %s expected, got %s", name, GR_ARRAY_NAME, gr_l_kind(L, -1));
  int64_t n = gr_l_list_length(L, -1, arg);
  a = gr_l_new_beside(L, c, beside, dtype, n);
  GR_TRY(L, c, arg, gr_array_write(a, GR_HOST, 1, &v));
  for (int64_t k = 0; k < n; k++) {
    gr_rawgeti(L, -2, (lua_Integer)(k + 1));
    const char *why = gr_l_put(L, -1, dtype, (char *)(uintptr_t)v.data + gr_size(dtype) * k, text);
    if (why) gr_l_argerror(L, arg, "option '%s': %s %lld: %s", name, each, (long long)k + 1, why);
    lua_pop(L, 1);
  }
  return a;
}

/* ---- rows of a matrix ---- */

/* Table row at the top of the stack: its elements, all numbers, to out. */
static void put_row(lua_State *L, gr_dtype t, char *out, int64_t row, int64_t columns, const gr_l_watch *watch) {
  char text[96];
  int at = lua_gettop(L);
  if (!lua_istable(L, at))
    gr_l_argerror(L, 1, "row %lld: table expected, got %s", (long long)row, luaL_typename(L, at));
  int64_t n = gr_l_list_length(L, at, 1);
  if (n != columns)
    gr_l_argerror(L, 1, "row %lld: %lld elements expected, got %lld", (long long)row, (long long)columns, (long long)n);
  for (int64_t k = 0, done = (row - 1) * columns; k < n; k++) {
    /* The same table may be a row many times, so the length of the list is no limit. */
    if (done + k && (done + k) % GR_L_LOOK == 0) gr_l_look(watch);
    gr_rawgeti(L, at, (lua_Integer)(k + 1));
    const char *why = gr_l_put(L, -1, t, out + k * gr_size(t), text);
    lua_pop(L, 1);
    if (why) gr_l_argerror(L, 1, "row %lld, element %lld: %s", (long long)row, (long long)k + 1, why);
  }
}

/* {{1, 2}, {3, 4}}: the elements row by row, then how many rows and columns. */
static int from_rows(lua_State *L, gr_context *c, gr_dtype t, int64_t rows) {
  gr_rawgeti(L, 1, 1);
  int64_t columns = gr_l_list_length(L, -1, 1), size = gr_size(t);
  lua_pop(L, 1);
  gr_array *a = gr_l_new_array(L, c, t, rows * columns);
  char *out = a->n ? host_elements(L, c, a) : NULL;
  const gr_l_watch watch = gr_l_watch_for(L, c, a->n);
  for (int64_t r = 0; r < rows; r++) {
    gr_rawgeti(L, 1, (lua_Integer)(r + 1));
    put_row(L, t, out + r * columns * size, r + 1, columns, &watch);
    lua_pop(L, 1);
  }
  lua_pushinteger(L, (lua_Integer)rows);
  lua_pushinteger(L, (lua_Integer)columns);
  return 3;
}

/* ---- packed strings ---- */

/*
** A format of string.pack for one number, "<i4" or ">d": its dtype, or -1. swap: the bytes are in the other order.
** Sizes of letters without one are this machine's.
*/
static int format_dtype(const char *f, int *swap) {
  static const struct {
    char letter, kind, size;
  } letters[] = {{'b', 'i', 1},
                 {'B', 'u', 1},
                 {'h', 'i', 2},
                 {'H', 'u', 2},
                 {'i', 'i', 4},
                 {'I', 'u', 4},
                 {'l', 'i', sizeof(long)},
                 {'j', 'i', 8},
                 {'f', 'f', 4},
                 {'d', 'f', 8},
                 {'n', 'f', 8}};
  const uint16_t one = 1;
  int little = *(const unsigned char *)&one, wanted = little;
  for (; *f == '<' || *f == '>' || *f == '=' || *f == ' '; f++)
    wanted = *f == '<' ? 1 : *f == '>' ? 0 : *f == '=' ? little : wanted;
  *swap = wanted != little;
  for (size_t k = 0; k < sizeof letters / sizeof letters[0]; k++) {
    if (*f != letters[k].letter) continue;
    int size = letters[k].size, sized = (*f == 'i' || *f == 'I') && f[1] >= '1' && f[1] <= '8';
    if (sized) size = f[1] - '0';
    if (f[1 + sized]) return -1;
    return gr_dtype_of_letter(letters[k].kind, (size_t)size);
  }
  return -1;
}

static int from_bytes(lua_State *L, gr_context *c, gr_dtype t, int swap) {
  size_t bytes, size = (size_t)gr_size(t);
  const char *s = lua_tolstring(L, 1, &bytes);
  if (bytes % size)
    gr_l_argerror(L, 1, "%lu bytes are not a whole number of %s elements", (unsigned long)bytes, gr_dtypes[t].name);
  gr_array *a = gr_l_new_array(L, c, t, (int64_t)(bytes / size));
  char *out = bytes ? host_elements(L, c, a) : NULL;
  if (bytes) memcpy(out, s, bytes);
  if (swap && bytes) gr_swap_bytes(out, bytes / size, size);
  return 1;
}

/* gr.array(table or length or packed string, dtype) */
static int l_array(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_dtype t = gr_l_last_dtype(L, 2);
  switch (lua_type(L, 1)) {
    case LUA_TNUMBER: gr_l_new_array(L, c, t, gr_l_check_length(L, 1)); return 1;
    case LUA_TSTRING: return from_bytes(L, c, t, 0);
    case LUA_TTABLE: break;
    default: gr_l_argerror(L, 1, "table, length or string expected, got %s", gr_l_kind(L, 1));
  }
  int64_t n = gr_l_list_length(L, 1, 1);
  int nested = gr_rawgeti(L, 1, 1) == LUA_TTABLE;
  lua_pop(L, 1);
  if (nested) return from_rows(L, c, t, n);
  gr_array *a = gr_l_new_array(L, c, t, n);
  if (n) put_table(L, c, t, host_elements(L, c, a), n);
  return 1;
}

/* gr.frombytes(string, dtype or format of string.pack): a name that is both is the dtype. */
static int l_frombytes(lua_State *L) {
  const int options = gr_l_options_at(L, 2, 3);
  int swap = 0, t = -1, at;
  char text[GR_OPTION_TEXT];
  gr_l_options(L, options, "dtype");
  const char *name = gr_l_dtype_name(L, 2, options, &at, text);
  if (name && gr_dtype_named(name) < 0) t = format_dtype(name, &swap);
  if (t < 0) t = name ? gr_l_dtype_arg(L, at, name) : GR_F32;
  if (lua_type(L, 1) != LUA_TSTRING) gr_l_argerror(L, 1, "string expected, got %s", luaL_typename(L, 1));
  return from_bytes(L, gr_l_context(L), (gr_dtype)t, swap);
}

/* gr.zeros(n, dtype), gr.ones(n, dtype): the upvalue is the value. */
static int l_constant(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int64_t n = gr_l_check_length(L, 1);
  gr_array *a = gr_l_new_array(L, c, gr_l_last_dtype(L, 2), n);
  gr_value one = gr_value_i(1);
  if (gr_l_number(L)) GR_TRY(L, c, 1, gr_fill(c, a, one));
  return 1;
}

static int l_full(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int64_t n = gr_l_check_length(L, 1);
  gr_dtype t = gr_l_last_dtype(L, 3);
  gr_value value = gr_l_check_value(L, 2, t);
  gr_array *a = gr_l_new_array(L, c, t, n);
  GR_TRY(L, c, 1, gr_fill(c, a, value));
  return 1;
}

/* ---- ranges ---- */

/* Store first + k * step, and last (if there is one to hit) at the end; an element that does not fit raises. */
static void put_range(lua_State *L, gr_context *c, gr_array *a, char *out, double first, double step,
                      const double *last) {
  const gr_l_watch watch = gr_l_watch_for(L, c, a->n);
  char text[96];
  for (int64_t k = 0; k < a->n; k++) {
    if (k && k % GR_L_LOOK == 0) gr_l_look(&watch);
    lua_pushnumber(L, last && k > 0 && k == a->n - 1 ? *last : first + (double)k * step);
    const char *why = gr_l_put(L, -1, a->dtype, out + k * gr_size(a->dtype), text);
    lua_pop(L, 1);
    if (why) gr_l_argerror(L, 1, "element %lld: %s", (long long)k + 1, why);
  }
}

/*
** first + k * step as it would be without an end to the integers; every element that is asked for lies between two of
** them.
*/
static int64_t whole_at(int64_t first, int64_t step, int64_t k) {
  return (int64_t)((uint64_t)first + (uint64_t)k * (uint64_t)step);
}

static void put_whole_range(lua_State *L, gr_context *c, gr_array *a, char *out, int64_t first, int64_t step) {
  const gr_dtype_info *d = &gr_dtypes[a->dtype];
  int64_t last = a->n ? whole_at(first, step, a->n - 1) : first;
  if (a->n && d->kind != GR_FLOAT && (first < d->lowest || first > d->highest || last < d->lowest || last > d->highest))
    gr_l_argerror(L, 1, "the range from %lld to %lld does not fit %s", (long long)first, (long long)last, d->name);
  const gr_l_watch watch = gr_l_watch_for(L, c, a->n);
  for (int64_t k = 0; k < a->n; k++) {
    if (k && k % GR_L_LOOK == 0) gr_l_look(&watch);
    gr_element_put_i(a->dtype, out + k * d->size, whole_at(first, step, k));
  }
}

/* How many there are, which may be one more than a float can tell apart. */
static int64_t check_count(lua_State *L, double steps) {
  if (steps >= 0x1p60) gr_l_argerror(L, 2, "range of %.14g elements is too long", steps + 1);
  return steps < 0 ? 0 : (int64_t)steps + 1;
}

/* The same for integers, whose distance fits an unsigned number of 64 bits. */
static int64_t check_whole_count(lua_State *L, int64_t first, int64_t last, int64_t step) {
  const uint64_t up = step > 0, from = (uint64_t)(up ? first : last), to = (uint64_t)(up ? last : first);
  if (step > 0 ? last < first : last > first) return 0;
  const uint64_t steps = (to - from) / (up ? (uint64_t)step : 0 - (uint64_t)step);
  return steps >= (uint64_t)1 << 60 ? check_count(L, (double)steps) : (int64_t)steps + 1;
}

/*
** gr.arange(first, last, step, dtype): as Lua's for, last is included when it is hit. Whole numbers are counted
** exactly.
*/
static int l_arange(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int typed = lua_type(L, 3) == LUA_TSTRING || lua_type(L, 3) == LUA_TTABLE ? 3 : 4; /* the step was left out */
  gr_dtype t = gr_l_last_dtype(L, typed);
  double first = gr_l_check_number(L, 1), last = gr_l_check_number(L, 2);
  double step = typed == 3 || lua_isnoneornil(L, 3) ? 1 : gr_l_check_number(L, 3);
  int64_t i, j, s = 1;
  int whole = gr_l_to_int64(L, 1, &i) && gr_l_to_int64(L, 2, &j) && (step == 1 || gr_l_to_int64(L, 3, &s));
  if (step == 0) gr_l_argerror(L, 3, "step other than 0 expected");
  if (!(first - first == 0)) gr_l_argerror(L, 1, "finite number expected, got %g", first);
  if (!(last - last == 0)) gr_l_argerror(L, 2, "finite number expected, got %g", last);
  if (!(step - step == 0)) gr_l_argerror(L, 3, "finite number expected, got %g", step);
  int64_t n = whole ? check_whole_count(L, i, j, s) : check_count(L, floor((last - first) / step));
  gr_array *a = gr_l_new_array(L, c, t, n);
  char *out = n ? host_elements(L, c, a) : NULL;
  if (whole) put_whole_range(L, c, a, out, i, s);
  else put_range(L, c, a, out, first, step, NULL);
  return 1;
}

/* gr.linspace(first, last, n, dtype): n numbers evenly spaced, both ends included. */
static int l_linspace(lua_State *L) {
  gr_context *c = gr_l_context(L);
  double first = gr_l_check_number(L, 1), last = gr_l_check_number(L, 2);
  int64_t n = gr_l_check_length(L, 3);
  gr_dtype t = gr_l_last_dtype(L, 4);
  if (!gr_is_float(t)) gr_l_argerror(L, 4, "float dtype expected, got %s", gr_dtypes[t].name);
  gr_array *a = gr_l_new_array(L, c, t, n);
  char *out = n ? host_elements(L, c, a) : NULL;
  put_range(L, c, a, out, first, n > 1 ? (last - first) / (double)(n - 1) : 0, &last);
  return 1;
}

const gr_function gr_make_functions[] = {
    {"array", l_array, 0}, {"frombytes", l_frombytes, 0}, {"zeros", l_constant, 0},    {"ones", l_constant, 1},
    {"full", l_full, 0},   {"arange", l_arange, 0},       {"linspace", l_linspace, 0}, {NULL, NULL, 0},
};
