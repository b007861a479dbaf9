/* gr.wrap and touch: memory of the host program, of LuaJIT's FFI or of another module, without a copy. */
#include <stdio.h>
#include <stdlib.h>

#include "src/binding/carray.h"
#include "src/binding/cdata.h"
#include "src/binding/keeper.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/safe.h"
#include "src/core/wrap.h"

/* ---- lua-carray ---- */

typedef struct counted {
  const gr_carray_api *api;
  const void *array;
  size_t item;
} counted;

/* Its elements now; it may have been resized. */
static void *where_counted(void *owner, size_t bytes) {
  const counted *o = owner;
  return (void *)(uintptr_t)o->api->read_elements(o->array, 0, bytes / o->item);
}

static void release_counted(void *owner) {
  const counted *o = owner;
  o->api->release(o->array);
  free(owner);
}

/* The API that the object at i offers, or NULL. */
static const gr_carray_api *carray_api(lua_State *L, int i) {
  static const char id[] = GR_CARRAY_ID;
  const gr_carray_api *api = NULL;
  if (lua_type(L, i) != LUA_TUSERDATA || !luaL_getmetafield(L, i, id)) return NULL;
  const char *cell = lua_touserdata(L, -1);
  if (cell && lua_rawlen(L, -1) >= sizeof(void *) + sizeof id && !memcmp(cell + sizeof(void *), id, sizeof id))
    memcpy(&api, cell, sizeof api);
  lua_pop(L, 1);
  while (api && !(api->major == GR_CARRAY_MAJOR && api->minor >= 0)) api = api->next;
  return api;
}

static int carray_dtype(const gr_carray_info *info) {
  static const char kinds[] = {0, 'u', 'i', 'i', 'u', 'i', 'u', 'i', 'u', 'f', 'f', 'i', 'u'};
  return info->type > 0 && info->type < (int)sizeof kinds ? gr_dtype_of_letter(kinds[info->type], info->item) : -1;
}

/* gr.wrap(carray, {volatile}): dtype and length are its own. */
static int wrap_carray(lua_State *L, gr_context *c, const gr_carray_api *api) {
  gr_carray_info info = {0};
  const void *array = api->readable(L, 1, &info);
  if (!array) gr_l_argerror(L, 1, "a carray that can be read expected");
  int t = carray_dtype(&info);
  if (t < 0)
    gr_l_argerror(L, 1, "carray of a type that is also a dtype expected, got elements of %lu bytes of type %d",
                  (unsigned long)info.item, info.type);
  gr_l_options(L, 2, "volatile");
  gr_wrapping w = {.item = info.item,
                   .stride = info.item,
                   .where = where_counted,
                   .release = release_counted,
                   .readonly = (info.attributes & GR_CARRAY_READONLY) != 0,
                   .changing = gr_l_option_flag(L, 2, "volatile")};
  counted *o = malloc(sizeof *o);
  if (!o) return luaL_error(L, "gpureduce: out of memory");
  *o = (counted){api, array, info.item};
  w.owner = o;
  if (info.count == 0) w.where = NULL;
  void *p = info.count ? where_counted(o, info.count * info.item) : (void *)o;
  gr_array *a = gr_l_push_array(L); /* if this raises, o leaks: 24 bytes, when there is no memory */
  api->retain(array);
  gr_status status =
      p ? gr_wrap(c, a, (gr_dtype)t, (int64_t)info.count, p, &w) : gr_fail(c, GR_BAD, "the carray gives no elements");
  if (status != GR_OK) {
    release_counted(o);
    gr_l_raise(L, c, status, 1);
  }
  return 1;
}

/* ---- objects with methods that say where their bytes are: LÖVE's Data ---- */

static int l_field(lua_State *L) {
  lua_gettable(L, 1);
  return 1;
}

/* What the method of that name gives, on the stack; 0 and nothing if the object at 1 has none. */
static int call_method(lua_State *L, const char *name) {
  lua_pushcfunction(L, l_field);
  lua_pushvalue(L, 1);
  lua_pushstring(L, name);
  if (lua_pcall(L, 2, 1, 0) != 0 || !lua_isfunction(L, -1)) return lua_pop(L, 1), 0;
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

/* The dtype of channels, by a name such as "rgba16f": bits, then nothing, ui, i or f. Bytes where it is another. */
static int channel_dtype(const char *name) {
  static const char *const suffixes[] = {"", "ui", "i", "f"};
  static const int dtypes[4][3] = {
      {GR_U8, GR_U16, GR_U32}, {GR_U8, GR_U16, GR_U32}, {GR_I8, GR_I16, GR_I32}, {GR_U8, GR_F16, GR_F32}};
  name += strspn(name, "rgba");
  const int width = !strncmp(name, "8", 1) ? 0 : !strncmp(name, "16", 2) ? 1 : !strncmp(name, "32", 2) ? 2 : -1;
  if (width < 0) return GR_U8;
  for (int k = 0; k < 4; k++)
    if (!strcmp(name + (width ? 2 : 1), suffixes[k])) return dtypes[k][width];
  return GR_U8;
}

/* What an image or a sound says of its elements; of other data they are bytes. */
static int data_dtype(lua_State *L) {
  int t = GR_U8;
  if (call_method(L, "getFormat")) {
    if (lua_type(L, -1) == LUA_TSTRING) t = channel_dtype(lua_tostring(L, -1));
  } else if (call_method(L, "getBitDepth")) {
    if (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) == 16) t = GR_I16;
  } else return t;
  lua_pop(L, 1);
  return t;
}

/*
** Whether argument 1 is such an object: then d says what it says of itself, the object goes to the top of the stack,
** and its pointer takes its place. It is believed, as the length that goes with a pointer is.
*/
static int is_data(lua_State *L, gr_cdata *d) {
  if (lua_type(L, 1) != LUA_TUSERDATA && lua_type(L, 1) != LUA_TTABLE) return 0;
  lua_settop(L, 3);
  if (!call_method(L, "getSize")) return 0;
  if (!gr_l_to_int64(L, -1, &d->bytes) || d->bytes < 0)
    gr_l_argerror(L, 1, "getSize() that gives a number of bytes expected, got %s", gr_l_kind(L, -1));
  lua_pop(L, 1);
  d->dtype = data_dtype(L);
  if (!call_method(L, "getFFIPointer")) lua_pushnil(L);
  if (lua_isnil(L, -1) && call_method(L, "getPointer")) lua_remove(L, -2); /* where there is no FFI */
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_replace(L, 1);
  d->array = 1;
  snprintf(d->type, sizeof d->type, "data of %lld bytes", (long long)d->bytes);
  return 1;
}

/* ---- pointers ---- */

/* A distance in bytes: an option that is a multiple of an element's size. */
static int64_t option_bytes(lua_State *L, int options, const char *name, int64_t otherwise, int64_t least, gr_dtype t) {
  int64_t x = otherwise;
  if (!gr_l_option_int(L, options, name, &x)) return x;
  const long long wanted = least, got = x;
  if (x < least) gr_l_argerror(L, options, "option '%s': %lld or more bytes expected, got %lld", name, wanted, got);
  if (x % gr_size(t))
    gr_l_argerror(L, options, "option '%s': multiple of %d bytes (of %s) expected, got %lld", name, gr_size(t),
                  gr_dtypes[t].name, got);
  return x;
}

/* The dtype of the cdata, unless the caller names one: 16-bit floats are uint16_t to the FFI. Of data any may be. */
static gr_dtype wrapped_dtype(lua_State *L, int options, int data, const gr_cdata *d) {
  char text[GR_OPTION_TEXT];
  int at;
  const char *name = gr_l_dtype_name(L, 2, options, &at, text);
  const int t = name ? gr_l_dtype_arg(L, at, name) : -1;
  if (data) return (gr_dtype)(t < 0 ? d->dtype : t);
  if (!d->type[0] || d->plain) return t < 0 ? GR_F32 : (gr_dtype)t;
  if (d->dtype < 0 && t < 0) gr_l_argerror(L, 1, "cdata of type '%s' has no dtype: option 'dtype' says one", d->type);
  if (t >= 0 && d->dtype >= 0 && t != d->dtype && !(d->dtype == GR_U16 && (t == GR_F16 || t == GR_BF16)))
    gr_l_argerror(L, at, "dtype %s (of '%s') expected, got %s", gr_dtypes[d->dtype].name, d->type, gr_dtypes[t].name);
  return (gr_dtype)(t < 0 ? d->dtype : t);
}

/* The number of elements: of an array of the FFI at most those that it has, and all if the caller gives none. */
static int64_t wrapped_length(lua_State *L, int options, const gr_cdata *d, int64_t size, int64_t offset,
                              int64_t stride) {
  const int64_t room = d->bytes - offset, most = room < size ? 0 : (room - size) / stride + 1;
  int64_t n;
  if (!gr_l_option_int(L, options, "n", &n)) {
    if (!d->array) gr_l_argerror(L, options, "option 'n': number of elements expected, got nil");
    return most;
  }
  if (n < 0) gr_l_argerror(L, options, "option 'n': 0 or more expected, got %lld", (long long)n);
  if (d->array && n > most)
    gr_l_argerror(L, options, "option 'n': at most %lld (of '%s') expected, got %lld", (long long)most, d->type,
                  (long long)n);
  return n;
}

/* gr.wrap(pointer, dtype, {dtype, n, offset, stride, anchor, volatile}): offset and stride in bytes. */
enum { ANCHOR = 1 << 4 }; /* among the names */
static int l_wrap(lua_State *L) {
  static const char *const names[] = {"dtype", "n", "offset", "stride", "anchor", "volatile", NULL};
  gr_context *c = gr_l_context(L);
  gr_l_needs_pointers(L, c);
  const gr_carray_api *api = carray_api(L, 1);
  const int options = gr_l_options_at(L, 2, 3);
  gr_cdata d = {.dtype = -1};
  gr_l_forget_orphans(L, c);
  if (api) return wrap_carray(L, c, api);
  const int data = is_data(L, &d) ? lua_gettop(L) : 0; /* where it is */
  gr_cdata pointer = {.dtype = -1};
  uintptr_t p = gr_l_check_address(L, 1, "carray", data ? &pointer : &d);
  const int given = gr_l_options_among(L, options, names, data ? ~ANCHOR : ~0);
  gr_dtype t = wrapped_dtype(L, options, data, &d);
  if (!given && !d.array)
    gr_l_argerror(L, lua_isnoneornil(L, 2) ? 2 : options, "options table with 'n' expected, got no value");
  int64_t size = gr_size(t), offset = option_bytes(L, options, "offset", 0, 0, t);
  int64_t stride = option_bytes(L, options, "stride", size, size, t);
  int64_t n = wrapped_length(L, options, &d, size, offset, stride);
  if (p % (uintptr_t)size)
    gr_l_argerror(L, 1, "address that is a multiple of %d (for %s) expected", (int)size, gr_dtypes[t].name);
  if (n > INT64_MAX / 4 / stride)
    gr_l_argerror(L, options, "option 'n': %lld elements do not fit in memory", (long long)n);
  gr_wrapping w = {.item = (size_t)size,
                   .stride = (size_t)stride,
                   .readonly = d.readonly,
                   .changing = gr_l_option_flag(L, options, "volatile")};
  gr_array *a = gr_l_push_array(L);
  if (data) gr_l_keep(L, c, data, &w);
  else if (gr_l_push_option(L, options, "anchor")) {
    gr_l_keep(L, c, lua_gettop(L), &w);
    lua_pop(L, 1);
  } else if (lua_type(L, 1) == GR_CDATA) gr_l_keep(L, c, 1, &w);
  gr_status status = gr_wrap(c, a, t, n, (char *)(p + (uintptr_t)offset), &w);
  if (status != GR_OK) {
    if (w.release) w.release(w.owner);
    gr_l_raise(L, c, status, 1);
  }
  return 1;
}

/* a:touch(i, j): the owner of the wrapped memory wrote these elements (all). */
static int l_touch(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int64_t first, count;
  gr_array *a = gr_l_check_any_array(L, 1);
  if (gr_l_test_transposed(L, 1) && !lua_isnoneornil(L, 2)) /* these do not lie side by side */
    gr_l_argerror(L, 2, "no positions of a %s expected, got %s", GR_TRANSPOSED_NAME, gr_l_kind(L, 2));
  if (!gr_wrap_shared(a->storage)) gr_l_argerror(L, 1, "array of wrapped memory expected");
  gr_l_check_range(L, 2, 3, a->n, &first, &count);
  GR_TRY(L, c, 1, gr_wrap_touch(a, first, count));
  lua_settop(L, 1);
  return 1;
}

const gr_function gr_wrap_functions[] = {{"wrap", l_wrap, 0}, {"touch", l_touch, 0}, {NULL, NULL, 0}};
