/* Single elements between Lua and memory. */
#include <inttypes.h>
#include <stdio.h>

#include "src/binding/binding.h"

static const char *put_float(lua_State *L, int i, gr_dtype t, void *p, char text[96]) {
  int64_t whole;
  double x = lua_tonumber(L, i);
  if (x - x == 0 && !gr_float_fits(t, x)) return snprintf(text, 96, "value %.14g does not fit %s", x, gr_dtypes[t].name), text;
  if (lua_isinteger(L, i) && gr_l_to_int64(L, i, &whole)) gr_element_put_i(t, p, whole);
  else gr_element_put_f(t, p, x);
  return NULL;
}

static const char *put_integer(lua_State *L, int i, gr_dtype t, void *p, char text[96]) {
  const gr_dtype_info *d = &gr_dtypes[t];
  double x = lua_tonumber(L, i);
  int64_t whole;
  if (!gr_l_to_int64(L, i, &whole)) {
    if (x == floor(x) && x - x == 0) snprintf(text, 96, "value %.14g does not fit %s", x, d->name);
    else snprintf(text, 96, "value %.14g is not a whole number, as %s needs", x, d->name);
    return text;
  }
  if (whole < d->lowest || whole > d->highest) {
    snprintf(text, 96, "value %" PRId64 " does not fit %s (%" PRId64 " to %" PRId64 ")", whole, d->name, d->lowest, d->highest);
    return text;
  }
  gr_element_put_i(t, p, whole);
  return NULL;
}

const char *gr_l_put(lua_State *L, int i, gr_dtype t, void *p, char text[96]) {
  if (lua_type(L, i) != LUA_TNUMBER) return snprintf(text, 96, "number expected, got %s", luaL_typename(L, i)), text;
  return gr_is_float(t) ? put_float(L, i, t, p, text) : put_integer(L, i, t, p, text);
}

void gr_l_push_value(lua_State *L, const gr_value *r, int k) {
  if (r->is_float) lua_pushnumber(L, r->v[k].f);
  else lua_pushinteger(L, (lua_Integer)r->v[k].i);
}

void gr_l_push_element(lua_State *L, gr_dtype t, const void *p) {
  gr_value r = gr_element_get(t, p);
  gr_l_push_value(L, &r, 0);
}

gr_value gr_l_check_value(lua_State *L, int arg, gr_dtype t) {
  char element[8], text[96];
  const char *why = gr_l_put(L, arg, t, element, text);
  if (why && gr_l_is_dtype(L, arg)) why = "number expected, got string (a dtype comes after the numbers)";
  if (why) gr_l_argerror(L, arg, "%s", why);
  return gr_element_get(t, element);
}
