/* Quantiles and the median. */
#include <stdio.h>

#include "src/binding/expression.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/values.h"
#include "src/core/select.h"

static double check_share(lua_State *L, int i, int64_t which) {
  char text[32] = "";
  if (which) snprintf(text, sizeof text, "share %lld: ", (long long)which);
  if (lua_type(L, i) != LUA_TNUMBER) gr_l_argerror(L, 2, "%snumber expected, got %s", text, luaL_typename(L, i));
  const double q = lua_tonumber(L, i);
  if (!(q >= 0 && q <= 1)) gr_l_argerror(L, 2, "%sshare from 0 to 1 expected, got %.14g", text, q);
  return q;
}

static gr_quantile_method check_method(lua_State *L) {
#define GR_X(id, name) #name,
  static const char *const methods[] = {GR_METHODS(GR_X) NULL};
#undef GR_X
  char hint[GR_HINT], text[GR_OPTION_TEXT];
  const char *name = gr_l_option_string(L, 3, "method", text);
  if (!name) return GR_LINEAR;
  for (int k = 0; methods[k]; k++)
    if (!strcmp(name, methods[k])) return (gr_quantile_method)k;
  gr_l_argerror(L, 3, "option 'method': unknown method '%.40s'%s", name, gr_l_hint(name, methods, hint));
}

/* The result for each share of the table at 2: f64, or the input's dtype where they are elements of it. */
static int push_many(lua_State *L, gr_context *c, const gr_array *a, gr_quantile_method method) {
  const int64_t count = gr_l_list_length(L, 2, 2);
  const gr_dtype t = gr_quantile_selects(method) ? a->dtype : GR_F64;
  double *q = gr_newuserdata(L, (size_t)count * sizeof *q + 1);
  gr_value *r = gr_newuserdata(L, (size_t)count * sizeof *r + 1);
  gr_vec v;
  for (int64_t k = 0; k < count; k++) {
    gr_rawgeti(L, 2, (lua_Integer)(k + 1));
    q[k] = check_share(L, -1, k + 1);
    lua_pop(L, 1);
  }
  gr_array *out = gr_l_option_into(L, 3, t, count, a);
  if (!out) out = gr_l_new_beside(L, c, a, t, count);
  GR_TRY(L, c, 1, gr_quantiles(c, a, q, count, method, r));
  GR_TRY(L, c, 1, gr_array_write(out, GR_HOST, 1, &v));
  for (int64_t k = 0; k < count; k++) {
    char *to = (char *)(uintptr_t)v.data + k * v.stride;
    if (r[k].is_float) gr_element_put_f(t, to, r[k].v[0].f);
    else gr_element_put_i(t, to, r[k].v[0].i);
  }
  return 1;
}

/* gr.quantile(a, q or {q1, q2, ...}, {method, into}) and gr.median(a): exact. */
static int l_quantile(lua_State *L) {
  static const char *const names[] = {"method", "into", NULL};
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_elements(L, 1);
  const int median = (int)gr_l_number(L), many = !median && lua_istable(L, 2);
  gr_value r;
  double q = 0.5;
  if (!median && !many && lua_type(L, 2) != LUA_TNUMBER)
    gr_l_argerror(L, 2, "share from 0 to 1 or table of shares expected, got %s",
                  lua_isnone(L, 2) ? "no value" : luaL_typename(L, 2));
  if (!median) gr_l_options(L, 3, names);
  gr_quantile_method method = median ? GR_MIDDLE : check_method(L);
  if (a->n == 0) gr_l_argerror(L, 1, "array is empty: '%s' needs an element", gr_l_name(L));
  if (many) return push_many(L, c, a, method);
  if (!median) {
    q = check_share(L, 2, 0);
    if (gr_l_option_array(L, 3, "into")) gr_l_argerror(L, 3, "option 'into': only together with a table of shares");
  }
  GR_TRY(L, c, 1, gr_quantiles(c, a, &q, 1, method, &r));
  gr_l_push_value(L, &r, 0);
  return 1;
}

const gr_function gr_select_functions[] = {{"quantile", l_quantile, 0}, {"median", l_quantile, 1}, {NULL, NULL, 0}};
