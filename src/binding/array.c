/* Arrays as Lua sees them: elements, length, views, bulk out, life. */
#include <stdio.h>

#include "src/binding/array.h"
#include "src/binding/keeper.h"
#include "src/binding/map.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/stop.h"
#include "src/binding/values.h"
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
  gr_array *a = gr_l_test_array(L, 1);
  if (!a) luaL_error(L, GR_ARRAY_NAME " expected, got %s", gr_l_kind(L, 1));
  if (gr_array_released(a)) luaL_error(L, GR_ARRAY_NAME ": array has been released");
  return a;
}

/* ---- elements ---- */

/* For a.shape and the like: what to write instead, from the names of the methods. */
GR_APART static int no_field(lua_State *L) {
  enum { MOST = 200 };
  const char *names[MOST + 2] = {"dtype"}, *key = lua_tostring(L, 2);
  char hint[GR_HINT];
  int count = 1;
  lua_pushnil(L);
  while (count <= MOST && lua_next(L, lua_upvalueindex(3))) {
    if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1)) names[count++] = lua_tostring(L, -2);
    lua_pop(L, 1);
  }
  names[count] = NULL;
  return luaL_error(L, GR_ARRAY_NAME ": no method or field '%s'%s", key, gr_l_hint(key, names, hint));
}

/* a[1.5], a[mask]: the key at 2 is no position. */
GR_APART static int no_position(lua_State *L) {
  const char *hint = gr_l_test_array(L, 2) ? " (a:compact(mask) takes what a mask marks)" : "";
  char text[80];
  if (lua_type(L, 2) != LUA_TNUMBER)
    return luaL_error(L, GR_ARRAY_NAME ": position expected, got %s%s", gr_l_kind(L, 2), hint);
  snprintf(text, sizeof text, "%.14g, which is not a whole number", lua_tonumber(L, 2));
  return luaL_error(L, GR_ARRAY_NAME ": position expected, got %s", text);
}

GR_APART static int out_of_range(lua_State *L, const gr_array *a, int64_t k) {
  const long long at = k, n = a->n;
  char range[80] = ": the array is empty", text[120];
  if (n) snprintf(range, sizeof range, " (1 to %lld, or -1 to -%lld from the end)", n, n);
  snprintf(text, sizeof text, "position %lld is out of range%s", at, range);
  return luaL_error(L, GR_ARRAY_NAME ": %s", text);
}

/*
** __index: a position gives an element (negative: from the end; nil beyond it, where loops stop), a name a method,
** "dtype" the dtype's name. Its third upvalue is the table of methods, so that a method call costs one look-up.
*/
static int l_index(lua_State *L) {
  int64_t k;
  gr_vec v;
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(3));
    if (!lua_isnil(L, -1)) return 1;
    if (strcmp(lua_tostring(L, 2), "dtype") != 0) return no_field(L);
    lua_pushstring(L, gr_dtypes[check_self(L)->dtype].name);
    return 1;
  }
  const gr_array *a = check_self(L);
  if (!gr_l_to_int64(L, 2, &k)) return no_position(L);
  if (k > a->n) return lua_pushnil(L), 1;
  if (k == 0 || k < -a->n) return out_of_range(L, a, k);
  if (k < 0) k += a->n + 1;
  GR_TRY(L, gr_l_context(L), 1, read_part(a, k - 1, 1, &v));
  gr_l_push_element(L, a->dtype, v.data);
  return 1;
}

static int l_newindex(lua_State *L) {
  const gr_array *a = check_self(L);
  char text[96], element[8];
  int64_t k;
  if (!gr_l_to_int64(L, 2, &k)) return no_position(L);
  if (k == 0 || k > a->n || k < -a->n) return out_of_range(L, a, k);
  if (k < 0) k += a->n + 1;
  const char *why = gr_l_put(L, 3, a->dtype, element, text);
  if (why) return luaL_error(L, GR_ARRAY_NAME ": %s", why);
  GR_TRY(L, gr_l_context(L), 1, write_element(a, k - 1, element));
  return 0;
}

static int l_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)gr_l_check_array(L, 1)->n);
  return 1;
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

/* a:table(i, j) */
static int l_table(lua_State *L) {
  const gr_array *a = gr_l_check_array(L, 1);
  gr_context *c = gr_l_context(L);
  int64_t first, count;
  gr_vec v;
  gr_l_check_range(L, 2, 3, a->n, &first, &count);
  lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
  GR_TRY(L, c, 1, read_part(a, first, count, &v));
  const gr_l_watch watch = gr_l_watch_for(L, c, count);
  for (int64_t k = 0; k < count; k++) { /* storing into a table runs no collector */
    if (k && k % GR_L_LOOK == 0) gr_l_look(&watch);
    gr_l_push_element(L, a->dtype, (const char *)v.data + k * v.stride);
    gr_rawseti(L, -2, (lua_Integer)(k + 1));
  }
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
  static const char *const names[] = {"into", NULL};
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_array(L, 1);
  gr_l_options(L, 2, names);
  gr_array *out = gr_l_option_into(L, 2, a->dtype, a->n, NULL);
  if (out && gr_array_overlap(out, a)) gr_l_argerror(L, 2, "option 'into': overlaps the input");
  if (!out) out = gr_l_new_array(L, c, a->dtype, a->n);
  GR_TRY(L, c, 1, gr_copy(c, a, out));
  return 1;
}

static int l_fill(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_array(L, 1);
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
  gr_array *a = gr_l_check_array(L, 1);
  gr_vec v;
  GR_TRY(L, c, 1, gr_array_read(a, gr_l_number(L) ? GR_HOST : gr_kernel_side(a->storage), &v));
  lua_settop(L, 1);
  return 1;
}

/* ---- life ---- */

/* release and __close: give the memory back now; a second time does nothing. */
static int l_release(lua_State *L) {
  gr_array *a = gr_l_test_array(L, 1);
  if (!a && gr_l_test_object(L, 1, GR_ARRAY_NAME)) return 0; /* collected before the finalizer that calls this */
  if (!a) gr_l_check_array(L, 1);
  gr_l_release(L, a);
  return 0;
}

/*
** A finalizer that runs later may still have the array, or another module's new userdata its bytes: so its stamp goes.
*/
static int l_gc(lua_State *L) {
  gr_array *a = gr_l_test_array(L, 1);
  if (!a) return 0;
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
  gr_array *a = gr_l_test_array(L, 1);
  char text[96], side[32];
  if (!a) gr_l_check_array(L, 1);
  if (gr_array_released(a)) return lua_pushliteral(L, GR_ARRAY_NAME " (released)"), 1;
  snprintf(text, sizeof text, GR_ARRAY_NAME " %s[%lld] (%s)", gr_dtypes[a->dtype].name, (long long)a->n,
           where(a->storage, side));
  lua_pushstring(L, text);
  return 1;
}

static void set_int(lua_State *L, const char *key, int64_t x) {
  lua_pushinteger(L, (lua_Integer)x);
  lua_setfield(L, -2, key);
}

/* a:info(): what there is to know without touching the data. stride counts elements. */
static int l_info(lua_State *L) {
  gr_array *a = gr_l_check_array(L, 1);
  char side[32];
  lua_createtable(L, 0, 8);
  set_int(L, "n", a->n);
  set_int(L, "size", gr_size(a->dtype));
  set_int(L, "stride", a->stride / gr_size(a->dtype));
  set_int(L, "storage_bytes", (int64_t)a->storage->bytes);
  set_int(L, "references", a->storage->refs);
  lua_pushstring(L, gr_dtypes[a->dtype].name);
  lua_setfield(L, -2, "dtype");
  lua_pushstring(L, a->storage->queue->backend->name);
  lua_setfield(L, -2, "device");
  lua_pushstring(L, where(a->storage, side));
  lua_setfield(L, -2, "where");
  return 1;
}

const gr_function gr_array_functions[] = {
    {"slice", l_slice, 0}, {"table", l_table, 0},    {"bytes", l_bytes, 0},     {"copy", l_copy, 0},
    {"fill", l_fill, 0},   {"equal", l_equal, 0},    {"release", l_release, 0}, {"info", l_info, 0},
    {"sync", l_bring, 1},  {"prefetch", l_bring, 0}, {NULL, NULL, 0},
};

static const gr_function gr_array_metamethods[] = {
    {"__newindex", l_newindex, 0}, {"__len", l_len, 0}, {"__tostring", l_tostring, 0}, {"__gc", l_gc, 0},
    {"__close", l_release, 0},     {NULL, NULL, 0},
};

void gr_l_array_metatable(lua_State *L, gr_context *c) {
  luaL_newmetatable(L, GR_ARRAY_NAME);
  gr_l_hide_metatable(L, GR_ARRAY_NAME);
  gr_l_register(L, gr_array_metamethods);
  gr_l_map_metamethods(L);
  lua_getfield(L, -1, "__len"); /* whose first upvalue, the context, __index shares */
  lua_getupvalue(L, -1, 1);
  lua_remove(L, -2);
  lua_pushliteral(L, "__index");
  lua_pushvalue(L, -4); /* the module table: methods are the module's functions */
  lua_pushcclosure(L, l_index, 3);
  lua_setfield(L, -2, "__index");
  gr_l_state_of(c)->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
}
