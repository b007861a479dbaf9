/* Small calls for those who call C without Lua's own way: the Lua part `calls`, under LuaJIT. */
#include "src/binding/parts.h"
#include "src/binding/reduce.h"
#include "src/binding/shape.h"

/* What LuaJIT calls by way of the FFI (lua/gpureduce/calls.lua): 1 and the number, or 0 if it takes more than that. */
static int small(const gr_context *c, int op, const gr_array *a, const gr_array *b, double *out) {
  gr_value r;
  if (gr_array_released(a) || c->exact) return 0;
  if (b && (gr_array_released(b) || b->dtype != a->dtype || b->n != a->n || b->storage->queue != a->storage->queue))
    return 0;
  if (!gr_reduce_small((gr_op)op, a, b, &r)) return 0;
  *out = gr_value_double(&r, 0);
  return 1;
}

/* The same of an element that the host has, at a position from 1 on. */
static int element(const gr_array *a, double at, double *out) {
  if (gr_array_released(a) || a->rows || !(at >= 1 && at <= (double)a->n) || at != floor(at)) return 0;
  if (!a->storage->full[GR_HOST]) return 0;
  const gr_array one = gr_l_element(a, (int64_t)at);
  const gr_value r = gr_element_get(a->dtype, a->storage->memory[GR_HOST] + one.offset);
  *out = gr_value_double(&r, 0);
  return 1;
}

void gr_l_brief_parts(lua_State *L, gr_context *c) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)small);
  lua_setfield(L, -2, "small");
  lua_pushlightuserdata(L, (void *)(uintptr_t)element);
  lua_setfield(L, -2, "element");
  lua_pushlightuserdata(L, c);
  lua_setfield(L, -2, "context");
  luaL_getmetatable(L, GR_OWN(array));
  lua_setfield(L, -2, "array");
  lua_newtable(L);
  lua_newtable(L);
  for (const gr_function *f = gr_reduce_functions; f->name; f++) {
    const int op = gr_op_named(f->name);
    if (op < 0 || op == GR_OP_minmax || gr_ops[op].floats == GR_GIVES_BOOL) continue; /* not one number */
    lua_pushinteger(L, op);
    lua_setfield(L, gr_ops[op].inputs == 2 ? -2 : -3, f->name);
  }
  lua_setfield(L, -3, "brief_pairs");
  lua_setfield(L, -2, "brief_ones");
}
