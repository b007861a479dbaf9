/* gr.wrap and touch: memory of the host program, of LuaJIT's FFI or of another module, without a copy. */
#include <stdlib.h>

#include "src/binding/binding.h"
#include "src/binding/carray.h"
#include "src/core/wrap.h"

#define CDATA 10 /* lua_type of LuaJIT's FFI objects */

/* ---- owners: a Lua value that is kept, a counted object of lua-carray, or nobody ---- */

typedef struct keeper {
  gr_orphan orphan; /* where it goes at the end */
  gr_context *context;
} keeper;

/* There is no Lua state at hand here. */
static void release_keeper(void *owner) {
  keeper *k = owner;
  gr_context *c = k->context;
  k->orphan.next = c->orphans;
  c->orphans = &k->orphan;
}

static void forget_orphans(lua_State *L, gr_context *c) {
  while (c->orphans) {
    gr_orphan *o = c->orphans;
    c->orphans = o->next;
    luaL_unref(L, LUA_REGISTRYINDEX, o->reference);
    free(o);
  }
}

void gr_l_release_wrapped(lua_State *L, gr_array *a) {
  gr_context *c = a->storage->context;
  c->refs++; /* the storage may be its last */
  gr_array_release(a);
  forget_orphans(L, c);
  gr_context_drop(c);
}

/* Keeps the value at i alive for as long as the wrapping. */
static void keep(lua_State *L, gr_context *c, int i, gr_wrapping *w) {
  keeper *k = calloc(1, sizeof *k);
  if (!k) luaL_error(L, "gpureduce: out of memory");
  k->context = c;
  lua_pushvalue(L, i);
  k->orphan.reference = luaL_ref(L, LUA_REGISTRYINDEX);
  w->owner = k;
  w->release = release_keeper;
}

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
  for (int t = 0; t < GR_DTYPE_COUNT; t++) {
    char kind = gr_dtypes[t].kind == GR_UINT ? 'u' : gr_dtypes[t].kind == GR_INT ? 'i' : 'f';
    if (info->type > 0 && info->type < (int)sizeof kinds && kind == kinds[info->type] && info->item == (size_t)gr_size(t) && t != GR_BF16)
      return t;
  }
  return -1;
}

/* gr.wrap(carray, {volatile}): dtype and length are its own. */
static int wrap_carray(lua_State *L, gr_context *c, const gr_carray_api *api) {
  static const char *const names[] = {"volatile", NULL};
  gr_carray_info info;
  memset(&info, 0, sizeof info);
  const void *array = api->readable(L, 1, &info);
  if (!array) gr_l_argerror(L, 1, "a carray that can be read expected");
  int t = carray_dtype(&info);
  if (t < 0) gr_l_argerror(L, 1, "carray of a type that is also a dtype expected, got elements of %lu bytes of type %d", (unsigned long)info.item, info.type);
  gr_l_options(L, 2, names);
  gr_wrapping w = {.item = info.item, .stride = info.item, .where = where_counted, .release = release_counted,
                   .readonly = (info.attributes & GR_CARRAY_READONLY) != 0, .changing = gr_l_option_flag(L, 2, "volatile")};
  counted *o = malloc(sizeof *o);
  if (!o) return luaL_error(L, "gpureduce: out of memory");
  *o = (counted){api, array, info.item};
  w.owner = o;
  if (info.count == 0) w.where = NULL;
  void *p = info.count ? where_counted(o, info.count * info.item) : (void *)o;
  gr_array *a = gr_l_push_array(L); /* if this raises, o leaks: 24 bytes, when there is no memory */
  api->retain(array);
  gr_status status = p ? gr_wrap(c, a, (gr_dtype)t, (int64_t)info.count, p, &w) : gr_fail(c, GR_BAD, "the carray gives no elements");
  if (status != GR_OK) {
    release_counted(o);
    gr_l_raise(L, c, status, 1);
  }
  return 1;
}

/* ---- pointers ---- */

/* ffi.cast("void *", cdata) turns arrays and pointers alike into a pointer, whose cell holds the address. */
static uintptr_t cdata_address(lua_State *L, int i) {
  void *p;
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "ffi");
  if (!lua_istable(L, -1)) gr_l_argerror(L, i, "pointer expected, got cdata without the ffi module");
  lua_getfield(L, -1, "cast");
  lua_pushliteral(L, "void *");
  lua_pushvalue(L, i);
  if (lua_pcall(L, 2, 1, 0)) gr_l_argerror(L, i, "cdata that is an array or a pointer expected");
  memcpy(&p, lua_topointer(L, -1), sizeof p);
  lua_pop(L, 3);
  return (uintptr_t)p;
}

static uintptr_t check_address(lua_State *L, int arg) {
  int64_t whole;
  uintptr_t p = 0;
  switch (lua_type(L, arg)) {
    case LUA_TLIGHTUSERDATA: p = (uintptr_t)lua_touserdata(L, arg); break;
    case CDATA: p = cdata_address(L, arg); break;
    case LUA_TNUMBER:
      if (!gr_l_to_int64(L, arg, &whole)) gr_l_argerror(L, arg, "address expected, got %.14g", lua_tonumber(L, arg));
      p = (uintptr_t)whole;
      break;
    default: gr_l_argerror(L, arg, "light userdata, cdata, address or carray expected, got %s", gr_l_kind(L, arg));
  }
  if (!p) gr_l_argerror(L, arg, "pointer expected, got a null pointer");
  return p;
}

/* A distance in bytes: an option that is a multiple of an element's size. */
static int64_t option_bytes(lua_State *L, const char *name, int64_t otherwise, int64_t least, gr_dtype t) {
  int64_t x = otherwise;
  if (!gr_l_option_int(L, 2, name, &x)) return x;
  if (x < least) gr_l_argerror(L, 2, "option '%s': %lld or more bytes expected, got %lld", name, (long long)least, (long long)x);
  if (x % gr_size(t)) gr_l_argerror(L, 2, "option '%s': multiple of %d bytes (of %s) expected, got %lld", name, gr_size(t), gr_dtypes[t].name, (long long)x);
  return x;
}

/* gr.wrap(pointer, {dtype, n, offset, stride, anchor, volatile}): offset and stride in bytes. */
static int l_wrap(lua_State *L) {
  static const char *const names[] = {"dtype", "n", "offset", "stride", "anchor", "volatile", NULL};
  gr_context *c = gr_l_context(L);
  gr_l_needs_pointers(L, c);
  const gr_carray_api *api = carray_api(L, 1);
  int64_t n;
  forget_orphans(L, c);
  if (api) return wrap_carray(L, c, api);
  uintptr_t p = check_address(L, 1);
  if (!gr_l_options(L, 2, names)) gr_l_argerror(L, 2, "options table with 'n' expected, got no value");
  char text[GR_OPTION_TEXT];
  const char *name = gr_l_option_string(L, 2, "dtype", text);
  gr_dtype t = name ? (gr_dtype)gr_l_dtype_arg(L, 2, name) : GR_F32;
  if (!gr_l_option_int(L, 2, "n", &n)) gr_l_argerror(L, 2, "option 'n': number of elements expected, got nil");
  if (n < 0) gr_l_argerror(L, 2, "option 'n': 0 or more expected, got %lld", (long long)n);
  int64_t size = gr_size(t), offset = option_bytes(L, "offset", 0, 0, t), stride = option_bytes(L, "stride", size, size, t);
  if (p % (uintptr_t)size) gr_l_argerror(L, 1, "address that is a multiple of %d (for %s) expected", (int)size, gr_dtypes[t].name);
  if (n > INT64_MAX / 4 / stride) gr_l_argerror(L, 2, "option 'n': %lld elements do not fit in memory", (long long)n);
  gr_wrapping w = {.item = (size_t)size, .stride = (size_t)stride, .changing = gr_l_option_flag(L, 2, "volatile")};
  gr_array *a = gr_l_push_array(L);
  if (gr_l_push_option(L, 2, "anchor")) {
    keep(L, c, lua_gettop(L), &w);
    lua_pop(L, 1);
  } else if (lua_type(L, 1) == CDATA) keep(L, c, 1, &w);
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
  gr_array *a = gr_l_check_array(L, 1);
  int64_t first, count;
  if (a->storage->owner != GR_WRAPPED) gr_l_argerror(L, 1, "array of wrapped memory expected");
  gr_l_check_range(L, 2, 3, a->n, &first, &count);
  GR_TRY(L, c, 1, gr_wrap_touch(a, first, count));
  lua_settop(L, 1);
  return 1;
}

const gr_function gr_wrap_functions[] = {{"wrap", l_wrap, 0}, {"touch", l_touch, 0}, {NULL, NULL, 0}};
