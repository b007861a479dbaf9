/* Elements by their positions: take, put, and arrays in brackets. */
#include "src/binding/lookup.h"
#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/map.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/values.h"
#include "src/core/lookup.h"
#include "src/core/matrix.h"

/* The index at 2, beside a. */
static gr_array *check_index(lua_State *L, const gr_array *a) {
  gr_array *index = gr_l_check_elements(L, 2);
  if (gr_is_float(index->dtype)) gr_l_argerror(L, 2, "integer dtype expected, got %s", gr_dtypes[index->dtype].name);
  gr_l_check_device(L, a, index, 2);
  return index;
}

/* gr.take(a, index, {into}) */
static int l_take(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *a = gr_l_check_elements(L, 1), *index = check_index(L, a);
  gr_l_options(L, 3, "into");
  gr_array *into = gr_l_option_into(L, 3, a->dtype, index->n, a);
  gr_l_check_disjoint(L, 3, into, a, "input");
  if (into) gr_l_check_apart(L, 3, into, index);
  gr_array *out = into ? into : gr_l_new_beside(L, c, a, a->dtype, index->n);
  GR_TRY(L, c, 2, gr_take(c, a, index, out, !into));
  if (!into) out->rows = index->rows;
  return 1;
}

/* ---- put ---- */

/* What is read while a is written shares nothing with it. */
static void check_apart(lua_State *L, int arg, const gr_array *a, const gr_array *read) {
  if (gr_array_overlap(a, read)) gr_l_argerror(L, arg, "overlaps the array that is written");
}

/* The number or array at 3; an array is of a's dtype, and has n elements if n is not below 0. */
static gr_term check_values(lua_State *L, const gr_array *a, int64_t n) {
  gr_term term = {NULL, 0};
  char text[96];
  if (lua_type(L, 3) == LUA_TNUMBER) {
    const char *why = gr_l_put(L, 3, a->dtype, &term.value, text);
    if (why) gr_l_argerror(L, 3, "%s", why);
    return term;
  }
  if (!gr_l_test_any_array(L, 3) && !gr_l_test_expression(L, 3))
    gr_l_argerror(L, 3, "number or " GR_ARRAY_NAME " expected, got %s", gr_l_kind(L, 3));
  const gr_array *v = gr_l_check_elements(L, 3);
  gr_l_check_like(L, a, v, n < 0 ? v->n : n, n < 0 ? "" : " (of the index)", "av", 3);
  check_apart(L, 3, a, v);
  term.array = v;
  return term;
}

static gr_put_op check_op(lua_State *L) {
  const int k = gr_l_option_among(L, 4, "op", gr_put_names, "'set', 'add', 'min' or 'max' expected, got");
  return k < 0 ? GR_PUT_set : (gr_put_op)k;
}

/* What is at 1, above the arguments, if that is a transposed matrix: where, or 0. */
static int keep_transposed(lua_State *L) {
  if (!gr_l_test_transposed(L, 1)) return 0;
  lua_settop(L, 4);
  lua_pushvalue(L, 1);
  return 5;
}

/* A copy in order was written in the place of the transposed matrix at `arg`: its elements go where those lie. */
static void put_back(lua_State *L, gr_context *c, int arg, gr_array *copy) {
  gr_array *a = gr_l_check_any_array(L, arg); /* a finalizer may have released it just now */
  if (copy->n) GR_TRY(L, c, 1, gr_transpose(c, copy, a));
  gr_l_release(L, copy);
  lua_pushvalue(L, arg);
  lua_replace(L, 1);
}

/* masked: a u8 array at 2 is a mask. */
static void put(lua_State *L, gr_put_op op, int masked) {
  gr_context *c = gr_l_context(L);
  const int transposed = keep_transposed(L);
  gr_array *a = gr_l_check_array(L, 1), *index = check_index(L, a);
  const int is_mask = masked && index->dtype == GR_U8;
  gr_status status;
  int arg = 1;
  if (is_mask && index->n != a->n)
    gr_l_argerror(L, 2, "mask of length %lld expected, got %lld", (long long)a->n, (long long)index->n);
  check_apart(L, 2, a, index);
  const gr_term values = check_values(L, a, is_mask ? -1 : index->n);
  if (is_mask) GR_AGAIN(L, c, status, gr_put_masked(c, a, index, values, &arg));
  else GR_AGAIN(L, c, status, gr_put(c, op, a, index, values, &arg));
  if (status != GR_OK) gr_l_raise(L, c, status, arg);
  if (transposed) put_back(L, c, transposed, a);
}

/* gr.put(a, index, values, {op}) */
static int l_put(lua_State *L) {
  gr_l_check_any_array(L, 1);
  gr_l_options(L, 4, "op");
  put(L, check_op(L), 0);
  lua_settop(L, 1);
  return 1;
}

/* ---- brackets ---- */

int gr_l_take_by(lua_State *L) {
  lua_settop(L, 2);
  return gr_l_check_elements(L, 2)->dtype == GR_U8 ? gr_l_compact(L) : l_take(L);
}

int gr_l_put_by(lua_State *L) {
  lua_settop(L, 3);
  put(L, GR_PUT_set, 1);
  return 0;
}

const gr_function gr_lookup_functions[] = {{"take", l_take, 0}, {"put", l_put, 0}, {NULL, NULL, 0}};
