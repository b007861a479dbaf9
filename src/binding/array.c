/* Arrays as Lua sees them: elements, length, views, bulk out, life. */
#include <stdio.h>

#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/lookup.h"
#include "src/binding/map.h"
#include "src/binding/matrix.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/stop.h"
#include "src/binding/values.h"
#include "src/capi/handles.h"
#include "src/core/ops.h"

/* Elements first .. first + count - 1 (0-based), current on the host. The view is for this call alone (state.h). */
static gr_status read_part(const gr_array *a, int64_t first, int64_t count, gr_vec *v) {
  gr_array part = *a;
  part.offset += first * a->stride;
  part.n = count;
  return gr_array_read(&part, GR_HOST, v);
}

static gr_status write_element(const gr_array *a, int64_t k, const char *element) {
  gr_array one = *a;
  gr_vec v;
  one.offset += k * a->stride;
  one.n = 1;
  gr_status status = gr_array_write(&one, GR_HOST, 1, &v);
  if (status == GR_OK) memcpy((void *)(uintptr_t)v.data, element, (size_t)gr_size(a->dtype));
  return status;
}

/* The array that is read or written in brackets. */
static gr_array *check_self(lua_State *L) {
  gr_array *a = gr_l_test_any_array(L, 1);
  if (!a) luaL_error(L, GR_ARRAY_NAME " expected, got %s", gr_l_kind(L, 1));
  if (gr_array_released(a)) luaL_error(L, GR_ARRAY_NAME ": array has been released");
  return a;
}

/* ---- elements ---- */

/* gr.sort and the like: a name that is another library's. Others are nil, so that a program may ask for them. */
static int l_module_index(lua_State *L) {
  const char *names[GR_NAMES], *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  char hint[GR_HINT];
  lua_settop(L, 2);
  if (!key) return 0;
  gr_l_list_functions(L, lua_upvalueindex(1), 0, names);
  if (!*gr_l_synonym(key, names, hint)) return 0;
  return luaL_error(L, "gpureduce: no function '%s'%s", key, hint);
}

void gr_l_module_metatable(lua_State *L) {
  lua_newtable(L);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, l_module_index, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* For a.shape and the like: what to write instead, from the names of the methods. */
GR_APART static int no_field(lua_State *L) {
  const char *names[GR_NAMES] = {"dtype", "rows", "columns", "shape"}, *key = lua_tostring(L, 2);
  char hint[GR_HINT];
  gr_l_list_functions(L, lua_upvalueindex(3), 4, names);
  return luaL_error(L, GR_ARRAY_NAME ": no method or field '%s'%s", key, gr_l_hint(key, names, hint));
}

/* The key at 2 is no position: an array of positions, a mask, or a mistake. */
GR_APART static int no_position(lua_State *L, int writes) {
  char text[80];
  if (gr_l_test_any_array(L, 2) || gr_l_test_expression(L, 2)) return writes ? gr_l_put_by(L) : gr_l_take_by(L);
  if (lua_type(L, 2) != LUA_TNUMBER) return luaL_error(L, GR_ARRAY_NAME ": position expected, got %s", gr_l_kind(L, 2));
  snprintf(text, sizeof text, "%.14g, which is not a whole number", lua_tonumber(L, 2));
  return luaL_error(L, GR_ARRAY_NAME ": position expected, got %s", text);
}

/* what: "position" or "row", of which there are n. */
GR_APART static int out_of_range(lua_State *L, const char *what, int64_t count, int64_t k) {
  const long long at = k, n = count;
  char range[80] = ": the array is empty", text[120];
  if (n) snprintf(range, sizeof range, " (1 to %lld, or -1 to -%lld from the end)", n, n);
  snprintf(text, sizeof text, "%s %lld is out of range%s", what, at, range);
  return luaL_error(L, GR_ARRAY_NAME ": %s", text);
}

/* ---- rows ---- */

/* Of the matrix at 1, which may be a transposed one: its rows are columns of what lies there. */
static int64_t rows_of(lua_State *L, const gr_array *a) {
  return gr_l_test_array(L, 1) ? a->rows : gr_array_columns(a);
}
static int64_t columns_of(lua_State *L, const gr_array *a) {
  return gr_l_test_array(L, 1) ? gr_array_columns(a) : a->rows;
}

static int push_shape(lua_State *L, const gr_array *a, const char *name) {
  const int64_t shape[2] = {a->rows ? rows_of(L, a) : a->n, a->rows ? columns_of(L, a) : 0};
  if (strcmp(name, "shape") != 0) {
    if (a->rows) lua_pushinteger(L, (lua_Integer)shape[*name == 'c']);
    else lua_pushnil(L);
    return 1;
  }
  lua_createtable(L, 2, 0);
  for (int k = 0; k < (a->rows ? 2 : 1); k++) {
    lua_pushinteger(L, (lua_Integer)shape[k]);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* A view of row k of the matrix at 1; of column k if that lies transposed. */
static gr_array *push_row(lua_State *L, int64_t k) {
  gr_array *view = gr_l_push_array(L);
  const gr_array *a = check_self(L); /* a finalizer may have released it just now */
  if (gr_l_test_array(L, 1)) gr_array_row(a, k, view);
  else gr_array_column(a, k, view);
  return view;
}

/* What is in brackets says which row: 1 and it, or 0 and beyond the end (k > 0) or nowhere. */
static int find_row(lua_State *L, const gr_array *a, int64_t *k) {
  const int64_t rows = rows_of(L, a);
  if (*k < 0 && *k >= -rows) *k += rows + 1;
  if (*k < 1) return out_of_range(L, "row", rows, *k);
  return *k <= rows;
}

static int index_row(lua_State *L, const gr_array *a, int64_t k) {
  if (find_row(L, a, &k)) push_row(L, k - 1);
  else lua_pushnil(L);
  return 1;
}

/* X[i] = v: a row takes the elements of a vector. */
static int set_row(lua_State *L, const gr_array *a, int64_t k) {
  gr_context *c = gr_l_context(L);
  if (!find_row(L, a, &k)) return out_of_range(L, "row", rows_of(L, a), k);
  const gr_array *v = gr_l_test_array(L, 3);
  if (!v || gr_array_released(v))
    return luaL_error(L, GR_ARRAY_NAME ": a row is an array, got %s: write X[i][j] = v or X[i]:fill(v)",
                      gr_l_kind(L, 3));
  gr_array *row = push_row(L, k - 1);
  if (v->dtype != row->dtype || v->n != row->n) {
    char text[120];
    snprintf(text, sizeof text, "row of %s[%lld] expected, got %s[%lld]", gr_dtypes[row->dtype].name, (long long)row->n,
             gr_dtypes[v->dtype].name, (long long)v->n);
    return luaL_error(L, GR_ARRAY_NAME ": %s", text);
  }
  GR_TRY(L, c, 3, gr_copy(c, v, row));
  gr_l_release(L, row);
  return 0;
}

/* ---- brackets ---- */

/*
** __index: a position gives an element (negative: from the end; nil beyond it, where loops stop), of a matrix a row; a
** name gives a method or one of the fields, an array the elements that it says. Its third upvalue is the table of
** methods, so that a method call costs one look-up.
*/
static int l_index(lua_State *L) {
  int64_t k;
  gr_vec v;
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(3));
    if (!lua_isnil(L, -1)) return 1;
    const char *name = lua_tostring(L, 2);
    if (!strcmp(name, "rows") || !strcmp(name, "columns") || !strcmp(name, "shape"))
      return push_shape(L, check_self(L), name);
    if (strcmp(name, "dtype") != 0) return no_field(L);
    lua_pushstring(L, gr_dtypes[check_self(L)->dtype].name);
    return 1;
  }
  const gr_array *a = check_self(L);
  if (!gr_l_to_int64(L, 2, &k)) return no_position(L, 0);
  if (a->rows) return index_row(L, a, k);
  if (k > a->n) return lua_pushnil(L), 1;
  if (k == 0 || k < -a->n) return out_of_range(L, "position", a->n, k);
  if (k < 0) k += a->n + 1;
  GR_TRY(L, gr_l_context(L), 1, read_part(a, k - 1, 1, &v));
  gr_l_push_element(L, a->dtype, v.data);
  return 1;
}

static int l_newindex(lua_State *L) {
  const gr_array *a = check_self(L);
  char text[96], element[8];
  int64_t k;
  if (!gr_l_to_int64(L, 2, &k)) return no_position(L, 1);
  if (a->rows) return set_row(L, a, k);
  if (k == 0 || k > a->n || k < -a->n) return out_of_range(L, "position", a->n, k);
  if (k < 0) k += a->n + 1;
  const char *why = gr_l_put(L, 3, a->dtype, element, text);
  if (why) return luaL_error(L, GR_ARRAY_NAME ": %s", why);
  GR_TRY(L, gr_l_context(L), 1, write_element(a, k - 1, element));
  return 0;
}

static int l_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)gr_l_check_any_array(L, 1)->n);
  return 1;
}

/* ---- loops ---- */

/* What gr.ipairs gives to for: the position after i and its element, of a matrix the row; nil beyond the end. */
static int l_next_element(lua_State *L) {
  const gr_array *a = check_self(L);
  gr_vec v;
  int64_t k;
  if (!gr_l_to_int64(L, 2, &k) || k < 0)
    return luaL_error(L, GR_ARRAY_NAME ": position of 0 or more expected, got %s", gr_l_kind(L, 2));
  if (k >= (a->rows ? rows_of(L, a) : a->n)) return lua_pushnil(L), 1;
  lua_pushinteger(L, (lua_Integer)(k + 1));
  if (a->rows) return push_row(L, k), 2;
  GR_TRY(L, gr_l_context(L), 1, read_part(a, k, 1, &v));
  gr_l_push_element(L, a->dtype, v.data);
  return 2;
}

/* gr.ipairs(a): for i, v in gr.ipairs(a) do */
static int l_ipairs(lua_State *L) {
  gr_l_check_any_array(L, 1);
  for (int k = 1; k <= 3; k++) lua_pushvalue(L, lua_upvalueindex(k));
  lua_pushcclosure(L, l_next_element, 3);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

/* ---- views and bulk out ---- */

/* a:slice(i, j, step): a view that shares the data. Missing ends are those of the direction. */
static int l_slice(lua_State *L) {
  gr_array *a = gr_l_check_array(L, 1);
  int64_t step = lua_isnoneornil(L, 4) ? 1 : gr_l_check_int(L, 4), first, count;
  if (step == 0) gr_l_argerror(L, 4, "step of 1 or more, or -1 or less, expected, got 0");
  int down = step < 0; /* from i down to j: the same range from its other end */
  gr_l_check_range(L, 2 + down, 3 - down, a->n, &first, &count);
  if (down) first += count - 1;
  gr_array *view = gr_l_push_array(L);
  gr_l_check_array(L, 1); /* a finalizer may have released it just now */
  const uint64_t apart = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
  gr_array_view(a, view, first, step, count ? (int64_t)((uint64_t)(count - 1) / apart) + 1 : 0);
  return 1;
}

/* Elements of v into the table on top of the stack, of which `done` have gone into others; storing collects nothing. */
static void put_elements(lua_State *L, gr_dtype t, const gr_vec *v, int64_t done, int64_t count,
                         const gr_l_watch *watch) {
  for (int64_t k = 0; k < count; k++) {
    if (done + k && (done + k) % GR_L_LOOK == 0) gr_l_look(watch);
    gr_l_push_element(L, t, (const char *)v->data + (done + k) * v->stride);
    gr_rawseti(L, -2, (lua_Integer)(k + 1));
  }
}

static void new_table(lua_State *L, int64_t count) { lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0); }

/* Rows i to j of a matrix, a table each. They are held, since making tables may run anything. */
static int table_of_rows(lua_State *L, gr_context *c, const gr_array *a) {
  const int64_t columns = gr_array_columns(a);
  int64_t first, count;
  gr_vec v;
  gr_l_check_range(L, 2, 3, a->rows, &first, &count);
  gr_array *held = gr_l_hold(L, a);
  new_table(L, count);
  GR_TRY(L, c, 1, read_part(held, first * columns, count * columns, &v));
  const gr_l_watch watch = gr_l_watch_for(L, c, count * columns);
  for (int64_t k = 0; k < count; k++) {
    new_table(L, columns);
    GR_TRY(L, c, 1, read_part(held, first * columns, count * columns, &v)); /* wherever it lies by now */
    put_elements(L, held->dtype, &v, k * columns, columns, &watch);
    gr_rawseti(L, -2, (lua_Integer)(k + 1));
  }
  gr_l_release(L, held);
  return 1;
}

/* a:table(i, j) */
static int l_table(lua_State *L) {
  const gr_array *a = gr_l_check_array(L, 1);
  gr_context *c = gr_l_context(L);
  int64_t first, count;
  gr_vec v;
  if (a->rows) return table_of_rows(L, c, a);
  gr_l_check_range(L, 2, 3, a->n, &first, &count);
  new_table(L, count);
  GR_TRY(L, c, 1, read_part(a, first, count, &v));
  const gr_l_watch watch = gr_l_watch_for(L, c, count);
  put_elements(L, a->dtype, &v, 0, count, &watch);
  return 1;
}

/* a:bytes(i, j) */
static int l_bytes(lua_State *L) {
  const gr_array *a = gr_l_check_array(L, 1);
  size_t size = (size_t)gr_size(a->dtype);
  int64_t first, count;
  gr_vec v;
  gr_l_check_range(L, 2, 3, a->n, &first, &count);
  int dense = a->stride == (int64_t)size || count <= 1;
  char *packed = dense ? NULL : gr_newuserdata(L, (size_t)count * size);
  gr_array *held = gr_l_hold(L, a); /* some versions of Lua collect before they copy a new string's bytes */
  GR_TRY(L, gr_l_context(L), 1, read_part(held, first, count, &v));
  for (int64_t k = 0; k < count && !dense; k++)
    memcpy(packed + (size_t)k * size, (const char *)v.data + k * v.stride, size);
  lua_pushlstring(L, !dense ? packed : count ? v.data : "", (size_t)count * size);
  gr_l_release(L, held);
  return 1;
}

/* ---- whole arrays ---- */

/* a:copy({into}): into may be on another device. */
static int l_copy(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_array(L, 1);
  gr_l_options(L, 2, "into");
  gr_array *out = gr_l_option_into(L, 2, a->dtype, a->n, NULL);
  gr_l_check_disjoint(L, 2, out, a, "input");
  if (!out) {
    out = gr_l_new_array(L, c, a->dtype, a->n);
    out->rows = a->rows;
  }
  GR_TRY(L, c, 1, gr_copy(c, a, out));
  return 1;
}

static int l_fill(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_any_array(L, 1);
  gr_value value = gr_l_check_value(L, 2, a->dtype);
  GR_TRY(L, c, 1, gr_fill(c, a, value));
  lua_settop(L, 1);
  return 1;
}

static int l_equal(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_array(L, 1), *b = gr_l_check_array(L, 2);
  int equal;
  if (a->n == b->n && a->dtype == b->dtype) gr_l_check_device(L, a, b, 2);
  GR_TRY(L, c, 1, gr_equal(c, a, b, &equal));
  lua_pushboolean(L, equal);
  return 1;
}

/* Start moving the data to where the kernels run, or (sync) make the host copy current. Both return the array. */
static int l_bring(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_any_array(L, 1);
  gr_vec v;
  GR_TRY(L, c, 1, gr_array_read(a, gr_l_number(L) ? GR_HOST : gr_kernel_side(a->storage), &v));
  lua_settop(L, 1);
  return 1;
}

/* ---- life ---- */

/* release and __close: give the memory back now; a second time does nothing. */
static int l_release(lua_State *L) {
  gr_array *a = gr_l_test_any_array(L, 1);
  if (!a && gr_l_test_object(L, 1, GR_OWN(array))) return 0; /* collected before the finalizer that calls this */
  if (!a && gr_l_test_object(L, 1, GR_OWN(transposed))) return 0;
  if (!a) gr_l_check_array(L, 1);
  gr_array_settle(a, 1);
  gr_l_release(L, a);
  return 0;
}

/*
** A finalizer that runs later may still have the array, or another module's new userdata its bytes: so its stamp goes.
*/
static int l_gc(lua_State *L) {
  gr_array *a = gr_l_test_any_array(L, 1);
  if (!a) return 0;
  gr_handle_remove(a);
  gr_array_settle(a, 0);
  gr_l_release(L, a);
  a->stamp = 0;
  return 0;
}

static const char *where(const gr_storage *s, char text[32]) {
  int host = s->memory[GR_HOST] != NULL, device = s->memory[GR_DEVSIDE] != NULL;
  if (!s->queue->backend->separate) return "host";
  if (s->must_revalidate) return "wrapped"; /* what is current shows at the next use */
  const char *side[] = {"stale", "current"};
  if (!host && !device) return "zeros";
  if (!host) return "device";
  if (!device) return "host";
  snprintf(text, 32, "host %s, device %s", side[s->full[GR_HOST]], side[s->full[GR_DEVSIDE]]);
  return text;
}

static int l_tostring(lua_State *L) {
  gr_array *a = gr_l_test_any_array(L, 1);
  char text[120], shape[64], side[32];
  if (!a) gr_l_check_array(L, 1);
  const long long rows = rows_of(L, a);
  const char *name = gr_l_test_transposed(L, 1) ? GR_TRANSPOSED_NAME : GR_ARRAY_NAME;
  if (gr_array_released(a)) return lua_pushfstring(L, "%s (released)", name), 1;
  if (a->rows) snprintf(shape, sizeof shape, "%lld x %lld", rows, rows ? (long long)a->n / rows : (long long)a->rows);
  else snprintf(shape, sizeof shape, "%lld", (long long)a->n);
  snprintf(text, sizeof text, "%s %s[%s] (%s)", name, gr_dtypes[a->dtype].name, shape, where(a->storage, side));
  lua_pushstring(L, text);
  return 1;
}

/* a:info(): what there is to know without touching the data. stride counts elements. */
static int l_info(lua_State *L) {
  char side[32];
  gr_l_check_any_array(L, 1);
  lua_createtable(L, 0, 10);
  const gr_array *a = gr_l_check_any_array(L, 1); /* a finalizer may have released it just now */
  gr_l_set_whole(L, "n", a->n);
  gr_l_set_whole(L, "size", gr_size(a->dtype));
  gr_l_set_whole(L, "stride", a->stride / gr_size(a->dtype));
  gr_l_set_whole(L, "storage_bytes", (int64_t)a->storage->bytes);
  gr_l_set_whole(L, "references", a->storage->refs);
  if (a->rows) gr_l_set_whole(L, "rows", rows_of(L, a));
  if (a->rows) gr_l_set_whole(L, "columns", columns_of(L, a));
  gr_l_set_text(L, "dtype", gr_dtypes[a->dtype].name);
  gr_l_set_text(L, "device", a->storage->queue->backend->name);
  gr_l_set_text(L, "where", where(a->storage, side));
  return 1;
}

const gr_function gr_array_functions[] = {
    {"slice", l_slice, 0}, {"table", l_table, 0},    {"bytes", l_bytes, 0},     {"copy", l_copy, 0},
    {"fill", l_fill, 0},   {"equal", l_equal, 0},    {"release", l_release, 0}, {"info", l_info, 0},
    {"sync", l_bring, 1},  {"prefetch", l_bring, 0}, {"ipairs", l_ipairs, 0},   {NULL, NULL, 0},
};

static const gr_function gr_array_metamethods[] = {
    {"__newindex", l_newindex, 0}, {"__len", l_len, 0}, {"__tostring", l_tostring, 0}, {"__gc", l_gc, 0},
    {"__close", l_release, 0},     {NULL, NULL, 0},
};

void gr_l_array_metatable(lua_State *L, gr_context *c) {
  luaL_newmetatable(L, GR_OWN(array));
  gr_l_hide_metatable(L, GR_OWN(array));
  gr_l_register(L, gr_array_metamethods);
  lua_getfield(L, -1, "__newindex");
  lua_pushliteral(L, "[]"); /* in errors */
  lua_setupvalue(L, -2, 2);
  lua_pop(L, 1);
  gr_l_map_metamethods(L);
  lua_getfield(L, -2, "ipairs"); /* where Lua's own looks for it: 5.2, and LuaJIT if it was built so */
  lua_setfield(L, -2, "__ipairs");
  lua_getfield(L, -1, "__len"); /* whose first upvalue, the context, __index shares */
  lua_getupvalue(L, -1, 1);
  lua_remove(L, -2);
  lua_pushliteral(L, "[]");
  lua_pushvalue(L, -4); /* the module table: methods are the module's functions */
  lua_pushcclosure(L, l_index, 3);
  lua_setfield(L, -2, "__index");
  gr_l_transposed_metatable(L, c);
  gr_l_state_of(c)->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
}
