/* load and save: raw files and NPY, told apart by the name. */
#include <errno.h>

#include "src/binding/binding.h"
#include "src/core/file.h"

static int is_npy(const char *path) {
  size_t n = strlen(path);
  return n >= 4 && !strcmp(path + n - 4, ".npy");
}

static const char *check_path(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TSTRING) gr_l_argerror(L, arg, "path expected, got %s", lua_isnone(L, arg) ? "no value" : luaL_typename(L, arg));
  return lua_tostring(L, arg);
}

/* nil, "path: reason", code: what io.open gives. */
static int system_failure(lua_State *L, const char *path) {
  int code = errno;
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, strerror(code));
  lua_pushinteger(L, code);
  return 3;
}

static int push_shape(lua_State *L, const gr_npy *h) {
  lua_createtable(L, h->dimensions, 0);
  for (int k = 0; k < h->dimensions; k++) {
    lua_pushinteger(L, (lua_Integer)h->shape[k]);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* gr.load(path, dtype, {offset, count, map}): the array, and for NPY its shape; or nil, message, code. */
static int l_load(lua_State *L) {
  static const char *const raw_names[] = {"dtype", "offset", "count", "map", NULL};
  static const char *const npy_names[] = {"dtype", "map", NULL};
  gr_context *c = gr_l_context(L);
  gr_load l = {.path = check_path(L, 1), .npy = is_npy(lua_tostring(L, 1)), .count = -1};
  int options = gr_l_options_at(L, 2, 3), typed;
  char text[GR_OPTION_TEXT];
  gr_l_options(L, options, l.npy ? npy_names : raw_names);
  if (l.npy && gr_l_dtype_name(L, 2, options, &typed, text))
    gr_l_argerror(L, typed, "no dtype expected: an NPY file has its own");
  l.dtype = gr_l_dtype(L, 2, options, GR_F32);
  l.map = gr_l_option_flag(L, options, "map");
  if (gr_l_option_int(L, options, "offset", &l.offset) && l.offset < 0)
    gr_l_argerror(L, options, "option 'offset': 0 or more bytes expected, got %lld", (long long)l.offset);
  if (gr_l_option_int(L, options, "count", &l.count) && l.count < 0)
    gr_l_argerror(L, options, "option 'count': 0 or more elements expected, got %lld", (long long)l.count);
  gr_array *a = gr_l_push_array(L);
  gr_status status = gr_file_load(c, &l, a);
  if (status == GR_NO_MEMORY) {
    gr_l_release(L, a);
    gr_l_reclaim(L, c);
    status = gr_file_load(c, &l, a);
  }
  if (status == GR_SYSTEM) return system_failure(L, l.path);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  return 1 + (l.npy ? push_shape(L, &l.header) : 0);
}

/* {shape = {m, k}}: whole numbers whose product is the array's length. */
static int read_shape(lua_State *L, const gr_array *a, int64_t shape[GR_MAX_DIMENSIONS]) {
  int64_t product = 1;
  shape[0] = a->n;
  if (!gr_l_push_option(L, 3, "shape")) return 1;
  if (!lua_istable(L, -1)) gr_l_argerror(L, 3, "option 'shape': table expected, got %s", luaL_typename(L, -1));
  int n = (int)lua_rawlen(L, -1);
  if (n > GR_MAX_DIMENSIONS) gr_l_argerror(L, 3, "option 'shape': at most %d lengths expected, got %d", GR_MAX_DIMENSIONS, n);
  for (int k = 0; k < n; k++) {
    gr_rawgeti(L, -1, k + 1);
    if (!gr_l_to_int64(L, -1, &shape[k]) || shape[k] < 0) gr_l_argerror(L, 3, "option 'shape': length %d is not a whole number of 0 or more", k + 1);
    lua_pop(L, 1);
    if (shape[k] && product > INT64_MAX / shape[k]) gr_l_argerror(L, 3, "option 'shape': too large");
    product *= shape[k];
  }
  if (product != a->n)
    gr_l_argerror(L, 3, "option 'shape': product %lld expected, got %lld", (long long)a->n, (long long)product);
  return n;
}

/* gr.save(a, path, {shape}): true, or nil, message, code. */
static int l_save(lua_State *L) {
  static const char *const npy_names[] = {"shape", NULL}, *const raw_names[] = {NULL};
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_array(L, 1);
  const char *path = check_path(L, 2);
  int64_t shape[GR_MAX_DIMENSIONS];
  gr_l_options(L, 3, is_npy(path) ? npy_names : raw_names);
  int dimensions = read_shape(L, a, shape);
  gr_status status = gr_file_save(c, path, a, is_npy(path), dimensions, shape);
  if (status == GR_SYSTEM) return system_failure(L, path);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  lua_pushboolean(L, 1);
  return 1;
}

const gr_function gr_file_functions[] = {{"load", l_load, 0}, {"save", l_save, 0}, {NULL, NULL, 0}};
