#include "src/binding/packed.h"

#include <stdio.h>
#include "src/binding/expression.h"
#include "src/binding/results.h"

#define DEPTH 64 /* of tables in tables */

enum {
  NIL = 'n',
  FALSE = 'f',
  TRUE = 't',
  NUMBER = 'd',
  INTEGER = 'i',
  STRING = 's',
  ARRAY = 'a',
  TABLE = '{',
  END = '}'
};

/* What an array says of itself before its elements. */
typedef struct header {
  int64_t dtype, n, rows;
} header;

/* The block is a userdata at its place of the stack, where a longer one takes its place. */
typedef struct packing {
  lua_State *L;
  int at;
  size_t used, room;
  char *text;
} packing;

static char *reserve(packing *p, size_t bytes) {
  if (p->room - p->used < bytes) {
    const size_t room = 2 * p->used + bytes + 64;
    char *more = gr_newuserdata(p->L, room);
    memcpy(more, lua_touserdata(p->L, p->at), p->used);
    lua_replace(p->L, p->at);
    p->room = room;
  }
  return (char *)lua_touserdata(p->L, p->at) + p->used;
}

static void put(packing *p, const void *from, size_t bytes) {
  memcpy(reserve(p, bytes), from, bytes);
  p->used += bytes;
}

static void put_tag(packing *p, char tag) { put(p, &tag, 1); }

/* Elements in their order. A finalizer may release the array while room is made, so it is looked at afterwards. */
static int put_array(packing *p, int i) {
  lua_State *L = p->L;
  gr_context *c = gr_l_context(L);
  const int64_t rows = gr_l_test_array(L, i)->rows; /* of which what holds its elements knows nothing */
  const gr_array *a = gr_l_hold(L, gr_l_test_array(L, i));
  const size_t size = (size_t)gr_size(a->dtype), bytes = (size_t)a->n * size;
  const header h = {a->dtype, a->n, rows};
  gr_vec v;
  char *to = reserve(p, 1 + sizeof h + bytes);
  if (GR_CALL(L, c, gr_array_read(a, GR_HOST, &v)) != GR_OK) return snprintf(p->text, 128, "%.127s", c->error), 0;
  *to = ARRAY;
  memcpy(to + 1, &h, sizeof h);
  to += 1 + sizeof h;
  for (int64_t k = 0; k < a->n; k++, to += size) memcpy(to, (const char *)v.data + k * v.stride, size);
  p->used += 1 + sizeof h + bytes;
  lua_pop(L, 1);
  return 1;
}

static int put_value(packing *p, int i, int depth) {
  lua_State *L = p->L;
  if (depth > DEPTH) return snprintf(p->text, 128, "tables in tables at most %d deep expected", DEPTH), 0;
  luaL_checkstack(L, 8, "tables in tables");
  switch (lua_type(L, i)) {
    case LUA_TNIL: return put_tag(p, NIL), 1;
    case LUA_TBOOLEAN: return put_tag(p, lua_toboolean(L, i) ? TRUE : FALSE), 1;
    case LUA_TNUMBER: {
      const lua_Number x = lua_tonumber(L, i);
      const int64_t k = lua_isinteger(L, i) ? (int64_t)lua_tointeger(L, i) : 0;
      put_tag(p, lua_isinteger(L, i) ? INTEGER : NUMBER);
      if (lua_isinteger(L, i)) put(p, &k, sizeof k);
      else put(p, &x, sizeof x);
      return 1;
    }
    case LUA_TSTRING: {
      size_t length;
      const char *s = lua_tolstring(L, i, &length);
      const uint64_t n = length;
      put_tag(p, STRING);
      put(p, &n, sizeof n);
      put(p, s, length);
      return 1;
    }
    case LUA_TTABLE:
      put_tag(p, TABLE);
      lua_pushnil(L);
      while (lua_next(L, i)) {
        const int value = lua_gettop(L);
        if (!put_value(p, value - 1, depth + 1) || !put_value(p, value, depth + 1)) return 0;
        lua_pop(L, 1);
      }
      return put_tag(p, END), 1;
    default: {
      const gr_array *a = gr_l_test_any_array(L, i);
      if (a && !gr_array_released(a)) {
        lua_pushvalue(L, i); /* where a transposed matrix is put in order */
        gr_l_check_array(L, lua_gettop(L));
        if (!put_array(p, lua_gettop(L))) return 0;
        lua_pop(L, 1);
        return 1;
      }
      snprintf(p->text, 128, "number, string, boolean, array or table of these expected, got %.40s", gr_l_kind(L, i));
      return 0;
    }
  }
}

const char *gr_l_pack(lua_State *L, int i, size_t *bytes, char text[128]) {
  gr_newuserdata(L, 64);
  packing p = {.L = L, .at = lua_gettop(L), .room = 64, .text = text};
  if (!put_value(&p, i, 0)) return lua_settop(L, p.at), NULL;
  lua_settop(L, p.at);
  *bytes = p.used;
  return lua_touserdata(L, p.at);
}

/* ---- and back ---- */

typedef struct unpacking {
  lua_State *L;
  const char *at, *end;
} unpacking;

static void get(unpacking *u, void *to, size_t bytes) {
  if ((size_t)(u->end - u->at) < bytes) luaL_error(u->L, "gpureduce: another rank's value ends early");
  memcpy(to, u->at, bytes);
  u->at += bytes;
}

static void get_array(unpacking *u) {
  lua_State *L = u->L;
  gr_context *c = gr_l_context(L);
  header h;
  gr_vec v;
  get(u, &h, sizeof h);
  if (h.dtype < 0 || h.dtype >= GR_DTYPE_COUNT || h.n < 0 || h.rows < 0 ||
      h.n > (u->end - u->at) / gr_size((gr_dtype)h.dtype))
    luaL_error(L, "gpureduce: another rank's array is none");
  gr_array *a = gr_l_new_array(L, c, (gr_dtype)h.dtype, h.n);
  a->rows = h.rows;
  if (!h.n) return;
  GR_TRY(L, c, 1, gr_array_write(a, GR_HOST, 1, &v));
  get(u, (void *)(uintptr_t)v.data, (size_t)(h.n * gr_size(a->dtype)));
}

/* Pushes a value; 0: what comes is the end of a table. */
static int get_value(unpacking *u, int depth) {
  lua_State *L = u->L;
  char tag;
  luaL_checkstack(L, 8, "tables in tables");
  get(u, &tag, 1);
  switch (tag) {
    case NIL: lua_pushnil(L); return 1;
    case FALSE:
    case TRUE: lua_pushboolean(L, tag == TRUE); return 1;
    case NUMBER: {
      lua_Number x;
      get(u, &x, sizeof x);
      lua_pushnumber(L, x);
      return 1;
    }
    case INTEGER: {
      int64_t k;
      get(u, &k, sizeof k);
      lua_pushinteger(L, (lua_Integer)k);
      return 1;
    }
    case STRING: {
      uint64_t n;
      get(u, &n, sizeof n);
      if (n > (uint64_t)(u->end - u->at)) luaL_error(L, "gpureduce: another rank's value ends early");
      lua_pushlstring(L, u->at, (size_t)n);
      u->at += n;
      return 1;
    }
    case ARRAY: get_array(u); return 1;
    case TABLE:
      if (depth > DEPTH) luaL_error(L, "gpureduce: another rank's tables are too deep");
      lua_newtable(L);
      while (get_value(u, depth + 1)) {
        if (lua_isnil(L, -1) || !get_value(u, depth + 1)) luaL_error(L, "gpureduce: another rank's table is none");
        lua_rawset(L, -3);
      }
      return 1;
    default: return 0;
  }
}

void gr_l_unpack(lua_State *L, const char *bytes, size_t length) {
  unpacking u = {L, bytes, bytes + length};
  if (!get_value(&u, 0)) luaL_error(L, "gpureduce: another rank's value is none");
}
