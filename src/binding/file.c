/*
** Files: load and save (raw and NPY, told apart by the name), and what the Lua parts read and write. Whatever opens a
** file gets its name from path_at.
*/
#include <errno.h>

#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/results.h"
#include "src/binding/safe.h"
#include "src/core/csv.h"
#include "src/core/file.h"
#include "src/core/save.h"

/*
** The path at arg for the function of that name, or NULL and why it is none; the system would take one with a NUL for a
** shorter one. Raises where the host allows no files.
*/
static const char *path_at(lua_State *L, int arg, const char *name, const char **why) {
  size_t n;
  gr_l_needs_files(L, gr_l_context(L), name);
  *why = "path expected";
  if (lua_type(L, arg) != LUA_TSTRING) return NULL;
  const char *path = lua_tolstring(L, arg, &n);
  *why = "path without a NUL character expected";
  return strlen(path) == n ? path : NULL;
}

static const char *check_path(lua_State *L, int arg) {
  const char *why, *path = path_at(L, arg, gr_l_name(L), &why);
  if (!path && lua_type(L, arg) == LUA_TSTRING) gr_l_argerror(L, arg, "%s", why);
  if (!path) gr_l_argerror(L, arg, "%s, got %s", why, gr_l_kind(L, arg));
  return path;
}

/* nil, "path: reason", code: what io.open gives. */
static int system_failure(lua_State *L, const char *path) {
  int code = errno;
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, strerror(code));
  lua_pushinteger(L, code);
  return 3;
}

/* What came of a write: true, or nil, message, code. */
static int saved(lua_State *L, gr_context *c, const char *path, gr_status status) {
  if (status == GR_SYSTEM) return system_failure(L, path);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  lua_pushboolean(L, 1);
  return 1;
}

/* What a read holds while room is made for the array, which may run Lua and raise. */
typedef struct reading {
  gr_load load;
  gr_csv csv;
} reading;

static int l_reading_gc(lua_State *L) {
  reading *r = lua_touserdata(L, 1);
  gr_load_end(&r->load);
  gr_csv_end(&r->csv);
  return 0;
}

static reading *push_reading(lua_State *L) {
  reading *r = gr_newuserdata(L, sizeof *r);
  *r = (reading){.load = {.source = {.fd = -1}}, .csv = {.source = {.fd = -1}}};
  if (luaL_newmetatable(L, GR_OWN(reading))) {
    lua_pushcfunction(L, l_reading_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return r;
}

static int push_shape(lua_State *L, const gr_npy *h) {
  lua_createtable(L, h->dimensions, 0);
  for (int k = 0; k < h->dimensions; k++) {
    lua_pushinteger(L, (lua_Integer)h->shape[k]);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* Of ranks: nil and the words of the rank to which the system refused something, or an error, alike on all. */
static int failed_alike(lua_State *L, gr_context *c, gr_status status) {
  if (status != GR_SYSTEM) return gr_l_raise_alike(L, c, status);
  lua_pushnil(L);
  lua_pushstring(L, c->error);
  return 2;
}

/*
** gr.load(path, dtype, {offset, count, map, comm}): the array, and for NPY its shape; or nil, message, code. With comm
** this rank's part, and where it begins.
*/
static int l_load(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const char *path = check_path(L, 1);
  char text[GR_OPTION_TEXT];
  int npy = gr_file_is_npy(path), options = gr_l_options_at(L, 2, 3), typed;
  int64_t offset = 0, count = -1;
  if (npy) gr_l_options(L, options, "dtype", "map", "comm");
  else gr_l_options(L, options, "dtype", "offset", "count", "map", "comm");
  if (npy && gr_l_dtype_name(L, 2, options, &typed, text))
    gr_l_argerror(L, typed, "no dtype expected: an NPY file has its own");
  gr_dtype dtype = gr_l_dtype(L, 2, options, GR_F32);
  int map = gr_l_option_flag(L, options, "map");
  if (gr_l_option_int(L, options, "offset", &offset) && offset < 0)
    gr_l_argerror(L, options, "option 'offset': 0 or more bytes expected, got %lld", (long long)offset);
  if (gr_l_option_int(L, options, "count", &count) && count < 0)
    gr_l_argerror(L, options, "option 'count': 0 or more elements expected, got %lld", (long long)count);
  gr_comm *comm = gr_l_option_comm(L, options);
  gr_array *a = gr_l_push_array(L);
  const int result = lua_gettop(L);
  int64_t first = 0;
  gr_load *l = &push_reading(L)->load;
  l->path = path;
  l->npy = npy;
  l->map = map;
  l->dtype = dtype;
  l->offset = offset;
  l->count = count;
  gr_status status = GR_CALL(L, c, gr_load_begin(c, l));
  if (comm) {
    status = GR_CALL_RANKS(L, c, comm, gr_load_part(c, l, &first, status));
    if (status != GR_OK) return gr_load_end(l), failed_alike(L, c, status);
  }
  if (status == GR_OK) {
    if (!map) gr_l_reserve_array(L, c, l->dtype, l->count);
    GR_AGAIN(L, c, status, gr_load_finish(c, l, a));
  }
  if (comm) {
    status = GR_CALL_RANKS(L, c, comm, gr_load_agree(c, l, status));
    if (status != GR_OK) return gr_load_end(l), failed_alike(L, c, status);
  }
  gr_load_end(l);
  if (status == GR_SYSTEM) return system_failure(L, path);
  if (status == GR_BAD) {
    char why[sizeof c->error]; /* what allocates from here on may run what fails too */
    memcpy(why, c->error, sizeof why);
    luaL_error(L, "bad argument #1 to '%s' (%s: %s)", gr_l_name(L), path, why);
  }
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  if (npy && l->header.dimensions == 2) a->rows = l->header.shape[0];
  lua_pushvalue(L, result);
  if (!comm) return 1 + (npy ? push_shape(L, &l->header) : 0);
  lua_pushinteger(L, (lua_Integer)first + 1);
  return 2;
}

/* {shape = {m, k}}: whole numbers whose product is the array's length; without it, the shape that it has. */
static int read_shape(lua_State *L, const gr_array *a, int64_t shape[GR_MAX_DIMENSIONS]) {
  int64_t product = 1;
  shape[0] = a->rows ? a->rows : a->n;
  shape[1] = gr_array_columns(a);
  if (!gr_l_push_option(L, 3, "shape")) return a->rows ? 2 : 1;
  if (!lua_istable(L, -1)) gr_l_argerror(L, 3, "option 'shape': table expected, got %s", luaL_typename(L, -1));
  const int n = (int)gr_l_list_length(L, -1, 3);
  if (n > GR_MAX_DIMENSIONS)
    gr_l_argerror(L, 3, "option 'shape': at most %d lengths expected, got %d", GR_MAX_DIMENSIONS, n);
  for (int k = 0; k < n; k++) {
    gr_rawgeti(L, -1, k + 1);
    if (!gr_l_to_int64(L, -1, &shape[k]) || shape[k] < 0)
      gr_l_argerror(L, 3, "option 'shape': length %d is not a whole number of 0 or more", k + 1);
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
  gr_context *c = gr_l_context(L);
  const char *path = (gr_l_check_array(L, 1), check_path(L, 2));
  int64_t shape[GR_MAX_DIMENSIONS];
  if (gr_file_is_npy(path)) gr_l_options(L, 3, "comm", "shape");
  else gr_l_options(L, 3, "comm");
  gr_comm *comm = gr_l_option_comm(L, 3);
  if (comm && gr_l_has_option(L, 3, "shape")) gr_l_refuse_with_comm(L, 3, "shape");
  int dimensions = read_shape(L, gr_l_check_array(L, 1), shape);
  const gr_array *a = gr_l_check_array(L, 1);
  gr_status status;
  if (comm) {
    status = GR_CALL_RANKS(L, c, comm, gr_file_save_ranks(c, path, a, gr_file_is_npy(path)));
    if (status != GR_OK) return failed_alike(L, c, status);
    lua_pushboolean(L, 1);
    return 1;
  }
  GR_AGAIN(L, c, status, gr_file_save(c, path, a, gr_file_is_npy(path), dimensions, shape));
  return saved(L, c, path, status);
}

/* ---- for the Lua parts ---- */

/* The names in a header as a table. */
static void push_names(lua_State *L, const gr_csv *v) {
  const char *at = v->names, *end = v->names + v->names_length;
  lua_newtable(L);
  for (int k = 1; at && at < end; k++, at += strlen(at) + 1) {
    lua_pushstring(L, at);
    lua_rawseti(L, -2, k);
  }
}

/* n elements in a, to be written there. */
static gr_status make_room(gr_context *c, gr_array *a, gr_dtype t, int64_t n, gr_vec *to) {
  gr_array_release(a); /* of a first try that ran out of memory */
  gr_status status = gr_array_make(c, a, t, n);
  return status == GR_OK && n ? gr_array_write(a, GR_HOST, 1, to) : status;
}

/*
** parts.read_csv(path, separator, header, column, dtype): the array and the column's name; nil, message, code when the
** system refuses; false, position of the argument, reason, and the names in the header when path or column are at
** fault.
*/
static int l_read_csv(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const char *why, *path = path_at(L, 1, "csv", &why);
  if (!path) {
    lua_pushboolean(L, 0);
    lua_pushinteger(L, 1);
    lua_pushstring(L, why);
    return 3;
  }
  gr_array *a = gr_l_push_array(L);
  gr_csv *v = &push_reading(L)->csv;
  v->path = path;
  v->separator = *luaL_checkstring(L, 2);
  v->header = lua_toboolean(L, 3);
  if (lua_type(L, 4) == LUA_TSTRING) v->column = lua_tolstring(L, 4, &v->column_length);
  else if (!gr_l_to_int64(L, 4, &v->position)) v->position = INT64_MAX;
  v->dtype = (gr_dtype)gr_l_dtype_arg(L, 5, luaL_checkstring(L, 5));
  gr_status status = GR_CALL(L, c, gr_csv_read(c, v));
  gr_source_close(&v->source);
  if (status == GR_SYSTEM) return system_failure(L, path);
  if (status == GR_BAD) {
    char reason[sizeof c->error];
    memcpy(reason, c->error, sizeof reason);
    lua_pushboolean(L, 0);
    lua_pushinteger(L, v->fault);
    lua_pushstring(L, reason);
    push_names(L, v);
    return 4;
  }
  int64_t n = v->elements.bytes / gr_size(v->dtype);
  if (status == GR_OK) {
    gr_vec to = {0};
    gr_l_reserve_array(L, c, v->dtype, n);
    GR_AGAIN(L, c, status, make_room(c, a, v->dtype, n, &to));
    if (status == GR_OK) gr_blocks_move(&v->elements, (void *)(uintptr_t)to.data);
  }
  if (status != GR_OK) {
    gr_csv_end(v);
    gr_l_raise(L, c, status, 1);
  }
  lua_pushvalue(L, -2);
  if (!v->names) return gr_csv_end(v), 1;
  push_names(L, v);
  gr_rawgeti(L, -1, (lua_Integer)v->position);
  lua_replace(L, -2);
  gr_csv_end(v);
  return 2;
}

/* parts.save_text(path, text): true, or nil, message, code; the file is replaced whole. */
static int l_save_text(lua_State *L) {
  size_t n;
  gr_context *c = gr_l_context(L);
  const char *text = luaL_checklstring(L, 2, &n), *why, *path = path_at(L, 1, "svg", &why);
  if (!path) return errno = EINVAL, system_failure(L, luaL_checkstring(L, 1));
  gr_status status;
  GR_AGAIN(L, c, status, gr_save_bytes(c, path, text, n));
  return saved(L, c, path, status);
}

const gr_function gr_file_parts[] = {{"read_csv", l_read_csv, 0}, {"save_text", l_save_text, 0}, {NULL, NULL, 0}};

const gr_function gr_file_functions[] = {{"load", l_load, 0}, {"save", l_save, 0}, {NULL, NULL, 0}};
