/* Element by element: operators between arrays and with numbers, comparisons, choices, compaction. */
#include "src/binding/map.h"
#include "src/binding/keeper.h"
#include "src/binding/lazy.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/values.h"
#include "src/core/formula/fed.h"
#include "src/core/map.h"
#include "src/core/ops.h"
#include "kernels/numerics/map.h"

/* ---- operands ---- */

/* The number at arg in the place of an array of dtype t, which the operator may widen. */
static gr_term number_term(lua_State *L, int arg, gr_map op, gr_dtype t) {
  gr_term term = {NULL, 0};
  char text[96];
  const char *why = gr_l_put(L, arg, gr_map_widens(op, t) && !gr_is_float(t) ? GR_F64 : t, &term.value, text);
  if (why) gr_l_argerror(L, arg, "%s", why);
  return term;
}

static int is_number(lua_State *L, int arg) { return lua_type(L, arg) == LUA_TNUMBER; }

/* Whether one is a matrix and the other of another shape: a row or a column of it, which expressions repeat. */
static int is_spread(const gr_array *a, const gr_array *b) {
  return (a->rows | b->rows) && (a->n != b->n || (a->rows && b->rows && a->rows != b->rows));
}

/* An array of one element beside a longer one, which it might go with all of. */
static void hint_scalar(lua_State *L, int arg, const gr_array *one, const gr_array *other) {
  if (one->n == 1 && other->n != 1 && one->dtype == other->dtype)
    gr_l_argerror(L, arg, "length %lld expected, got 1: gr.scalar(v) goes with all", (long long)other->n);
}

/*
** Reads arguments x and y, arrays or numbers, into the call's a and b. The first array decides dtype and length and is
** returned; NULL if both are numbers. *spread: they are arrays that meet as parts of a matrix; their dtypes are alike.
*/
static gr_array *read_pair(lua_State *L, int x, int y, gr_map_call *call, int *spread) {
  gr_array *a = is_number(L, x) ? NULL : gr_l_check_array(L, x), *b = NULL;
  if (!is_number(L, y)) b = gr_l_check_array(L, y);
  *spread = a && b && is_spread(a, b);
  if (a && b && !*spread && a->n != b->n) hint_scalar(L, y, b, a), hint_scalar(L, x, a, b);
  if (a && b) gr_l_check_like(L, a, b, *spread ? b->n : a->n, "", "ab", y);
  gr_array *first = a ? a : b;
  if (!first) return NULL;
  call->dtype = first->dtype;
  call->a = a ? (gr_term){a, 0} : number_term(L, x, call->op, first->dtype);
  call->b = b ? (gr_term){b, 0} : number_term(L, y, call->op, first->dtype);
  return first;
}

/* ---- results ---- */

static void check_into(lua_State *L, int options, const gr_array *into, const gr_term *t) {
  if (into && t->array) gr_l_check_apart(L, options, into, t->array);
}

/* Run the call into the option 'into' or a new array of that dtype, as long as `like`; leaves it on the stack. */
static int put(lua_State *L, const gr_map_call *call, const gr_array *like, gr_dtype t, int options) {
  gr_context *c = gr_l_context(L);
  gr_array *out = gr_l_option_into(L, options, t, like->n, like);
  check_into(L, options, out, &call->a);
  check_into(L, options, out, &call->b);
  check_into(L, options, out, &call->c);
  if (!out) {
    const int64_t rows = gr_map_rows(call);
    out = gr_l_new_beside(L, c, like, t, like->n);
    out->rows = rows;
  }
  GR_TRY(L, c, 1, gr_map_arrays(c, call, out));
  return 1;
}

/* Some operators are for integers alone. */
static void check_kind(lua_State *L, int arg, gr_map op, gr_dtype t) {
  if (gr_map_rule(op, t) == GR_MAP_NOT) gr_l_argerror(L, arg, "dtype of integers expected, got %s", gr_dtypes[t].name);
}

static int finish(lua_State *L, const gr_map_call *call, const gr_array *like, gr_dtype t, int options) {
  gr_l_options(L, options, "into");
  check_kind(L, call->a.array ? 1 : 2, call->op, call->dtype);
  return put(L, call, like, t, options);
}

/* ---- operators ---- */

/* With the option 'out' an operator and its rounding are a formula, whose elements are stored once. */
static int is_rounded(lua_State *L, int options) {
  return !lua_isnoneornil(L, options) && gr_l_has_option(L, options, "out");
}

/* With 'out' no call comes here, but it is what a word like it may have meant. */
static int finish_operator(lua_State *L, const gr_map_call *call, const gr_array *like, int options) {
  gr_l_options(L, options, "into", "out");
  check_kind(L, call->a.array ? 1 : 2, call->op, call->dtype);
  return put(L, call, like, gr_map_result(call->op, call->dtype), options);
}

/* gr.neg(a, options) and its like */
static int l_unary(lua_State *L) {
  if (gr_l_has_expression(L, 1) || is_rounded(L, 2)) return gr_l_lazy_map(L, (gr_map)gr_l_number(L), 1);
  gr_array *a = gr_l_check_array(L, 1);
  gr_map_call call = {.op = (gr_map)gr_l_number(L), .dtype = a->dtype, .a = {a, 0}};
  return finish_operator(L, &call, a, 2);
}

/* -a: Lua gives the operand twice. */
static int l_unm(lua_State *L) {
  lua_settop(L, 1);
  return l_unary(L);
}

/* gr.add(a, b, options) and its like: at least one array */
static int l_binary(lua_State *L) {
  int spread;
  if (gr_l_has_expression(L, 2)) return gr_l_lazy_map(L, (gr_map)gr_l_number(L), 2);
  gr_map_call call = {.op = (gr_map)gr_l_number(L)};
  gr_array *first = read_pair(L, 1, 2, &call, &spread);
  if (!first) gr_l_check_array(L, 1);
  if (spread || is_rounded(L, 3)) return gr_l_lazy_map(L, call.op, 2);
  return finish_operator(L, &call, first, 3);
}

/* One end of clamp, before the options; nil stands for none. */
static gr_term end_term(lua_State *L, int arg, int options, gr_dtype t, int high) {
  gr_term term = {NULL, 0};
  if (arg < options && !lua_isnoneornil(L, arg)) {
    if (lua_tonumber(L, arg) != lua_tonumber(L, arg)) gr_l_argerror(L, arg, "number expected, got nan");
    return number_term(L, arg, GR_MAP_clamp, t);
  }
  if (gr_is_float(t)) gr_element_put_f(t, &term.value, high ? INFINITY : -INFINITY);
  else gr_element_put_i(t, &term.value, high ? gr_dtypes[t].highest : gr_dtypes[t].lowest);
  return term;
}

/* Ends that are not numbers alone take the way of expressions; what there is none of is the element itself. */
static int clamp_between(lua_State *L, int options) {
  for (; options < 4; options++) {
    lua_pushnil(L);
    lua_insert(L, options);
  }
  lua_settop(L, 4);
  for (int k = 2; k <= 3; k++) {
    if (!lua_isnil(L, k)) continue;
    lua_pushvalue(L, 1);
    lua_replace(L, k);
  }
  return gr_l_lazy_map(L, GR_MAP_clamp, 3);
}

/* gr.clamp(a, low, high, options) */
static int l_clamp(lua_State *L) {
  const int options = gr_l_options_at(L, 2, 4);
  if (gr_l_has_expression(L, 3) || gr_l_test_any_array(L, 2) || gr_l_test_any_array(L, 3))
    return clamp_between(L, options);
  gr_array *a = gr_l_check_array(L, 1);
  gr_map_call call = {.op = GR_MAP_clamp, .dtype = a->dtype, .a = {a, 0}};
  call.b = end_term(L, 2, options, a->dtype, 0);
  call.c = end_term(L, 3, options, a->dtype, 1);
  gr_value low = gr_element_get(a->dtype, &call.b.value), high = gr_element_get(a->dtype, &call.c.value);
  if (low.is_float ? low.v[0].f > high.v[0].f : low.v[0].i > high.v[0].i)
    gr_l_argerror(L, 3, "upper end of %.14g or more expected, got %.14g", lua_tonumber(L, 2), lua_tonumber(L, 3));
  return finish(L, &call, a, a->dtype, options);
}

static int lazy_cast(lua_State *L) {
  static const int args[] = {1};
  if (lua_type(L, 2) != LUA_TSTRING) gr_l_argerror(L, 2, "dtype name expected, got %s", gr_l_kind(L, 2));
  const gr_dtype to = (gr_dtype)gr_l_dtype_arg(L, 2, gr_l_word(L, 2, 2));
  return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_cast, GR_IS_lt, to, args, 1, 3);
}

/* gr.cast(a, dtype, {dtype, into}) */
static int l_cast(lua_State *L) {
  if (gr_l_has_expression(L, 1)) return lazy_cast(L);
  gr_array *a = gr_l_check_array(L, 1);
  gr_map_call call = {.op = GR_MAP_cast, .dtype = a->dtype, .a = {a, 0}};
  const int options = gr_l_options_at(L, 2, 3);
  char text[GR_OPTION_TEXT];
  int at;
  gr_l_options(L, options, "dtype", "into");
  const char *name = gr_l_dtype_name(L, 2, options, &at, text);
  if (!name) gr_l_argerror(L, 2, "dtype name expected, got %s", gr_l_kind(L, 2));
  return put(L, &call, a, (gr_dtype)gr_l_dtype_arg(L, at, name), options);
}

/* ---- comparisons and choices ---- */

static gr_relation check_relation(lua_State *L, const char *name, int arg, const char *what) {
  for (int k = 0; name && k < GR_RELATION_COUNT; k++)
    if (!strcmp(name, gr_relation_names[k])) return (gr_relation)k;
  gr_l_argerror(L, arg, "%s'<', '<=', '==', '~=', '>=' or '>' expected, got '%.40s'", what, name);
}

/* The number at i, of any size and kind, as the right side of a comparison; NULL, or why it is none. */
static const char *compare_with(lua_State *L, int i, gr_map_call *call, char text[96]) {
  if (!is_number(L, i)) return gr_l_put(L, i, call->dtype, &call->b.value, text);
  const gr_number x = gr_l_to_number(L, i);
  return gr_compare_number(call->dtype, &call->relation, &x, &call->b.value, text);
}

/* gr.compare(a, op, b, options) */
static int l_compare(lua_State *L) {
  static const int args[] = {1, 3};
  const int lazy = gr_l_has_expression(L, 3);
  int spread = 0;
  gr_array *a = lazy ? NULL : gr_l_check_array(L, 1);
  char text[96];
  if (lua_type(L, 2) != LUA_TSTRING)
    gr_l_argerror(L, 2, "comparison such as '<' expected, got %s", luaL_typename(L, 2));
  const gr_relation relation = check_relation(L, lua_tostring(L, 2), 2, "");
  if (lazy) return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_compare, relation, GR_U8, args, 2, 4);
  gr_map_call call = {.op = GR_MAP_compare, .relation = relation, .dtype = a->dtype};
  if (!is_number(L, 3)) read_pair(L, 1, 3, &call, &spread);
  else call.a.array = a, compare_with(L, 3, &call, text);
  if (spread) return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_compare, relation, GR_U8, args, 2, 4);
  return finish(L, &call, a, GR_U8, 4);
}

gr_array *gr_l_predicate(lua_State *L, int options, const gr_array *a, gr_tally tally) {
  gr_context *c = gr_l_context(L);
  char op[GR_OPTION_TEXT];
  const char *name = gr_l_option_string(L, options, "op", op);
  gr_map_call call = {.op = GR_MAP_compare, .dtype = a->dtype, .a = {a, 0}};
  char text[96];
  if (!gr_l_push_option(L, options, "value")) {
    if (name) gr_l_argerror(L, options, "option 'op': only together with 'value'");
    return NULL;
  }
  if (!name) gr_l_argerror(L, options, "option 'value': only together with 'op'");
  call.relation = check_relation(L, name, options, "option 'op': ");
  const char *why = compare_with(L, -1, &call, text);
  if (why) gr_l_argerror(L, options, "option 'value': %s", why);
  call.tally = tally;
  gr_array *out = gr_l_new_beside(L, c, a, tally ? GR_I64 : GR_U8, tally ? gr_tally_length(a->n) : a->n);
  GR_TRY(L, c, 1, gr_map_arrays(c, &call, out));
  return out;
}

static gr_array *check_mask(lua_State *L, int arg) {
  gr_array *mask = gr_l_check_mask(L, arg);
  if (mask->dtype != GR_U8) gr_l_argerror(L, arg, "mask of dtype u8 expected, got %s", gr_dtypes[mask->dtype].name);
  return mask;
}

/* The dtype of a choice between two numbers: that of the option 'into', else f32 as elsewhere. */
static gr_dtype dtype_of_numbers(lua_State *L, int options) {
  gr_array *into = gr_l_option_array(L, options, "into");
  if (!into) return GR_F32;
  lua_pop(L, 1);
  return into->dtype;
}

/* gr.where(mask, a, b, options): a where the mask is not zero, b elsewhere; each an array or a number */
static int l_where(lua_State *L) {
  static const int args[] = {2, 3, 1};
  int spread;
  if (gr_l_has_expression(L, 3)) return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_where, GR_IS_lt, GR_U8, args, 3, 4);
  gr_array *mask = check_mask(L, 1);
  gr_map_call call = {.op = GR_MAP_where, .c = {mask, 0}};
  gr_array *first = read_pair(L, 2, 3, &call, &spread);
  spread |= (call.a.array && is_spread(mask, call.a.array)) || (call.b.array && is_spread(mask, call.b.array));
  if (spread) return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_where, GR_IS_lt, GR_U8, args, 3, 4);
  if (!first) {
    call.dtype = dtype_of_numbers(L, 4);
    call.a = number_term(L, 2, call.op, call.dtype);
    call.b = number_term(L, 3, call.op, call.dtype);
  } else {
    int arg = call.a.array ? 2 : 3;
    if (first->n != mask->n)
      gr_l_argerror(L, arg, "length %lld expected, got %lld", (long long)mask->n, (long long)first->n);
    gr_l_check_device(L, mask, first, arg);
  }
  return finish(L, &call, mask, call.dtype, 4);
}

/* ---- compaction ---- */

/*
** Counting the kept elements, making room and copying them is one step: if a finalizer could write to the mask in
** between, there might be more elements than room.
*/
static gr_status run_compact(lua_State *L, gr_context *c, gr_reduced of, const gr_array *mask, const gr_array *into,
                             gr_array *out) {
  const gr_array *a = of.a;
  gr_value kept;
  gr_status status = of.e ? gr_reduce_all(c, GR_OP_count, mask, NULL, 0, &kept)
                          : gr_compact_counting(c, a, mask, into, out, &kept.v[0].i);
  const int64_t n = kept.v[0].i;
  if (status != GR_OK) return status;
  if (into && into->n < n)
    gr_l_argerror(L, 3, "option 'into': room for %lld elements expected, got %lld", (long long)n, (long long)into->n);
  if (!of.e) return GR_OK;
  gr_array_release(out); /* of a first try that ran out of memory */
  if (into) gr_array_view(into, out, 0, 1, n);
  else status = gr_array_make_beside(c, a, out, a->dtype, n);
  return status == GR_OK ? gr_formula_compact(c, of, mask, out) : status;
}

/* gr.compact(a, mask, options): with into, its first elements as a view */
int gr_l_compact(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_reduced of = gr_l_check_operand(L, 1, 3);
  const int predicate = !gr_l_test_array(L, 2); /* whose mask is this call's own */
  gr_array *a = of.a, *mask = check_mask(L, 2);
  if (mask->n != a->n) gr_l_argerror(L, 2, "length %lld expected, got %lld", (long long)a->n, (long long)mask->n);
  gr_l_check_device(L, a, mask, 2);
  gr_l_options(L, 3, "into");
  gr_array *into = gr_l_option_array(L, 3, "into");
  if (into) {
    if (into->dtype != a->dtype)
      gr_l_argerror(L, 3, "option 'into': dtype %s expected, got %s", gr_dtypes[a->dtype].name,
                    gr_dtypes[into->dtype].name);
    gr_l_check_device(L, a, into, 3);
    gr_l_check_apart(L, 3, into, a);
    gr_l_check_disjoint(L, 3, into, mask, "mask");
  }
  gr_array *out = gr_l_push_array(L);
  GR_TRY_WITH(L, c, 1, of.e, NULL, run_compact(L, c, of, mask, into, out));
  if (predicate) gr_l_release(L, mask);
  gr_l_drop_elements(L, of);
  if (!into) gr_l_reserve(L, c, (size_t)(out->n * gr_size(out->dtype))); /* only now is it known how many */
  return 1;
}

/* ---- registration ---- */

/*
** By the result of floats and the number of operands: what is computed element by element needs nothing of its own
** here, other rows have a function of their name above.
*/
#define SAME_1(name) l_unary
#define SAME_2(name) l_binary
#define SAME_3(name) l_##name
#define CALL_1(name) l_unary
#define CALL_2(name) l_binary
#define MASK_1(name) l_unary
#define MASK_2(name) l_binary
#define NOT_1(name) l_unary
#define NOT_2(name) l_binary
#define NONE_1(name) l_##name
#define NONE_2(name) l_##name
#define NONE_3(name) l_##name
#define GR_X(name, operands, f, i, real, whole) {#name, f##_##operands(name), GR_MAP_##name},
const gr_function gr_map_functions[] = {GR_MAPS(GR_X){"compact", gr_l_compact, 0}, {NULL, NULL, 0}};
#undef GR_X

/* a < b: Lua makes a boolean of whatever the event gives. */
static int l_less(lua_State *L) {
  const char *equal = gr_l_number(L) ? "=" : "";
  return luaL_error(L, GR_ARRAY_NAME ": '<%s' would be a boolean: write a:compare(\"<%s\", b), or \">%s\" for '>%s'",
                    equal, equal, equal, equal);
}

/* Errors name the function: 'add', not '__add'. */
void gr_l_map_metamethods(lua_State *L) {
#define GR_X(event, name) \
  gr_l_set_event(L, #event, #name, gr_map_operands(GR_MAP_##name) == 1 ? l_unm : l_binary, GR_MAP_##name);
  GR_L_OPERATORS(GR_X)
#undef GR_X
  gr_l_set_event(L, "__lt", "lt", l_less, 0);
  gr_l_set_event(L, "__le", "le", l_less, 1);
}
