/* Exact sums: the switch of the state, accumulators that outlive a call, and digests for comparing data. */
#include <stdio.h>

#include "src/binding/expression.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/results.h"
#include "src/binding/rounding.h"
#include "src/core/exact.h"

#define ACCUMULATOR_NAME "gpureduce.accumulator"

typedef struct accumulator {
  gr_exact sum;
} accumulator;

static accumulator *check_accumulator(lua_State *L, int arg) { return gr_l_check_object(L, arg, GR_OWN(accumulator)); }

/* gr.accumulator(bytes): an exact sum, empty or from the bytes that another one gave. */
static int l_accumulator(lua_State *L) {
  size_t length = 0;
  const char *bytes = NULL, *why;
  char text[64];
  if (!lua_isnoneornil(L, 1)) {
    if (lua_type(L, 1) != LUA_TSTRING) gr_l_argerror(L, 1, "bytes expected, got %s", luaL_typename(L, 1));
    bytes = lua_tolstring(L, 1, &length);
  }
  accumulator *s = gr_newuserdata(L, sizeof *s);
  gr_exact_clear(&s->sum);
  luaL_setmetatable(L, GR_OWN(accumulator));
  if (bytes && (why = gr_exact_unpack(&s->sum, (const unsigned char *)bytes, length, text)) != NULL)
    gr_l_argerror(L, 1, "%s", why);
  return 1;
}

/* s:add(array): its elements; returns s. */
static int l_add(lua_State *L) {
  gr_context *c = gr_l_context(L);
  accumulator *s = check_accumulator(L, 1);
  const gr_reduced a = gr_l_check_operand(L, 2, 2);
  GR_TRY_WITH(L, c, 2, a.e, NULL, gr_exact_add(c, &s->sum, a, GR_NONE));
  gr_l_drop_elements(L, a);
  lua_settop(L, 1);
  return 1;
}

/* s:add_dot(a, b): the products of their elements; returns s. */
static int l_add_dot(lua_State *L) {
  gr_context *c = gr_l_context(L);
  accumulator *s = check_accumulator(L, 1);
  const gr_reduced a = gr_l_check_operand(L, 2, 3), b = gr_l_check_reduced(L, 3);
  gr_l_check_pair(L, a.a, b.a, 3);
  GR_TRY_WITH(L, c, 2, a.e, b.e, gr_exact_add(c, &s->sum, a, b));
  gr_l_drop_elements(L, a);
  gr_l_drop_elements(L, b);
  lua_settop(L, 1);
  return 1;
}

/* s:merge(other): what the other one holds; or s:merge(comm), those of all ranks; returns s. */
static int l_merge(lua_State *L) {
  accumulator *s = check_accumulator(L, 1), *other;
  if (gr_l_test_object(L, 2, GR_OWN(comm))) {
    gr_context *c = gr_l_context(L);
    gr_comm *comm = gr_l_check_comm(L, 2);
    GR_TRY_RANKS(L, c, comm, 2, gr_exact_ranks(c, &s->sum));
    lua_settop(L, 1);
    return 1;
  }
  other = check_accumulator(L, 2);
  if (!gr_exact_join(&s->sum, &other->sum)) gr_l_argerror(L, 2, "the sum would be larger than any of 2^63 products");
  lua_settop(L, 1);
  return 1;
}

/* s:value{out = "f32"}: the sum, rounded once. */
static int l_value(lua_State *L) {
  accumulator *s = check_accumulator(L, 1);
  int single = gr_l_options(L, 2, "out") && gr_l_option_single(L, 2);
  lua_pushnumber(L, gr_exact_value(&s->sum, single));
  return 1;
}

static int l_bytes(lua_State *L) {
  accumulator *s = check_accumulator(L, 1);
  unsigned char bytes[GR_EXACT_BYTES];
  gr_exact_pack(&s->sum, bytes);
  lua_pushlstring(L, (const char *)bytes, sizeof bytes);
  return 1;
}

static int l_tostring(lua_State *L) {
  accumulator *s = check_accumulator(L, 1);
  char text[64];
  snprintf(text, sizeof text, "%s: %.17g", ACCUMULATOR_NAME, gr_exact_value(&s->sum, 0));
  lua_pushstring(L, text);
  return 1;
}

/* gr.exact(on): whether sums of this Lua state are exact where a call does not say; sets it when given. */
static int l_exact(lua_State *L) {
  gr_context *c = gr_l_context(L);
  if (!lua_isnoneornil(L, 1)) {
    if (lua_type(L, 1) != LUA_TBOOLEAN) gr_l_argerror(L, 1, "boolean expected, got %s", luaL_typename(L, 1));
    c->exact = lua_toboolean(L, 1);
  }
  lua_pushboolean(L, c->exact);
  return 1;
}

/* gr.digest(a, {comm}): 32 hexadecimal digits that depend on all bytes of a and on their order. */
static int l_digest(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_elements(L, 1);
  uint64_t sum[2];
  char text[40];
  gr_comm *comm = gr_l_options(L, 2, "comm") ? gr_l_option_comm(L, 2) : NULL;
  GR_TRY_RANKS(L, c, comm, 1, gr_digest(c, a, sum));
  snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)sum[0], (unsigned long long)sum[1]);
  lua_pushstring(L, text);
  return 1;
}

const gr_function gr_exact_functions[] = {
    {"accumulator", l_accumulator, 0},
    {"exact", l_exact, 0},
    {"digest", l_digest, 0},
    {NULL, NULL, 0},
};

static const gr_function methods[] = {
    {"add", l_add, 0},     {"add_dot", l_add_dot, 0}, {"merge", l_merge, 0},
    {"value", l_value, 0}, {"bytes", l_bytes, 0},     {NULL, NULL, 0},
};
static const gr_function metamethods[] = {{"__tostring", l_tostring, 0}, {NULL, NULL, 0}};

void gr_l_accumulator_metatable(lua_State *L) { gr_l_make_metatable(L, GR_OWN(accumulator), methods, metamethods); }
