/*
** gr.fuse: a formula's text; called with what its names stand for it gives an expression. gr.lazy, and what
** expressions do.
*/
#include <stdio.h>

#include "src/binding/lazy.h"
#include "src/binding/map.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/values.h"
#include "kernels/numerics/map.h"

#define FORMULA_NAME "gpureduce.formula"

/* ---- formulas ---- */

static int l_fuse(lua_State *L) {
  gr_context *c = gr_l_context(L);
  size_t length;
  if (lua_type(L, 1) != LUA_TSTRING)
    gr_l_argerror(L, 1, "formula such as \"a * b + 1\" expected, got %s", gr_l_kind(L, 1));
  if (!lua_isnoneornil(L, 2))
    gr_l_argerror(L, 2, "nothing expected after the formula: its inputs come in a call, f{a = a}");
  const char *text = lua_tolstring(L, 1, &length);
  if (length > GR_FORMULA_TEXT)
    gr_l_argerror(L, 1, "text of at most %d characters expected, got %lld", GR_FORMULA_TEXT, (long long)length);
  gr_formula *f = gr_newuserdata(L, gr_formula_room(length));
  memset(f, 0, sizeof *f);
  luaL_setmetatable(L, GR_OWN(formula));
  gr_status status = GR_CALL(L, c, gr_formula_read(c, f, text, length));
  if (status == GR_NO_MEMORY && gr_l_again(L, c, status)) status = GR_CALL(L, c, gr_formula_read(c, f, text, length));
  if (status == GR_BAD) gr_l_hint_function(c);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  return 1;
}

/* Other keys of the table of inputs than the formula's names, and n. */
static void check_keys(lua_State *L, const gr_formula *f) {
  const char *names[GR_FORMULA_NAMES + 2];
  char hint[GR_HINT];
  for (int k = 0; k < f->name_count; k++) names[k] = f->names[k].text;
  names[f->name_count] = "n";
  names[f->name_count + 1] = NULL;
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    int k = 0;
    if (lua_type(L, -2) != LUA_TSTRING)
      gr_l_argerror(L, 1, "names of inputs are strings, got a %s", luaL_typename(L, -2));
    const char *name = lua_tostring(L, -2);
    while (names[k] && strcmp(name, names[k])) k++;
    if (!names[k]) gr_l_argerror(L, 1, "unknown input '%.40s'%s", name, gr_l_hint(name, names, hint));
    lua_pop(L, 1);
  }
  if (gr_l_inherits(L, 2)) gr_l_argerror(L, 1, "table of inputs without __index expected: inputs are read raw");
}

/* The value of a name, which stays on the stack. */
static gr_given read_input(lua_State *L, const char *name) {
  gr_given g = {.array = NULL};
  lua_pushstring(L, name);
  lua_rawget(L, 2);
  if (gr_l_test_transposed(L, -1)) gr_l_check_array(L, lua_gettop(L));
  g.array = gr_l_test_array(L, -1);
  if (g.array && gr_array_released(g.array)) gr_l_argerror(L, 1, "input '%s': array has been released", name);
  if (g.array) return g;
  g.expression = gr_l_test_expression(L, -1);
  if (g.expression && !gr_expression_alive(g.expression))
    gr_l_argerror(L, 1, "input '%s': expression has been released", name);
  if (g.expression) return g;
  if (lua_isnil(L, -1)) gr_l_argerror(L, 1, "input '%s' expected", name);
  if (lua_type(L, -1) != LUA_TNUMBER)
    gr_l_argerror(L, 1, "input '%s': array, number or expression expected, got %s", name, gr_l_kind(L, -1));
  g.number = gr_l_to_number(L, -1);
  return g;
}

/* f{a = a, b = 2}: an expression; its operands are on the stack while it is made. */
static int l_bind(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const gr_formula *f = gr_l_check_object(L, 1, GR_OWN(formula));
  gr_given given[GR_FORMULA_NAMES];
  int64_t n = -1;
  if (lua_type(L, 2) != LUA_TTABLE) gr_l_argerror(L, 1, "table of inputs expected, got %s", gr_l_kind(L, 2));
  lua_settop(L, 2);
  luaL_checkstack(L, f->name_count + 80, "too many inputs");
  check_keys(L, f);
  if (gr_l_push_option(L, 2, "n")) {
    if (!gr_l_to_int64(L, -1, &n) || n < 0)
      gr_l_argerror(L, 1, "input 'n': length of 0 or more expected, got %s",
                    lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1) : gr_l_kind(L, -1));
  }
  for (int k = 0; k < f->name_count; k++) given[k] = read_input(L, f->names[k].text);
  gr_expression *e = gr_l_push_expression(L, gr_formula_expression_room(f, given));
  GR_TRY(L, c, 1, gr_formula_bind(c, f, given, n, e));
  return 1;
}

static int l_formula_tostring(lua_State *L) {
  const gr_formula *f = gr_l_check_object(L, 1, GR_OWN(formula));
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, FORMULA_NAME ": ");
  luaL_addlstring(&b, f->text, (size_t)f->length);
  luaL_pushresult(&b);
  return 1;
}

/* ---- expressions ---- */

/* gr.lazy(a): an expression of the array's elements; one is itself. */
static int l_lazy(lua_State *L) {
  gr_context *c = gr_l_context(L);
  if (!gr_l_test_array(L, 1) && gr_l_test_expression(L, 1)) return lua_settop(L, 1), 1;
  gr_array *a = gr_l_check_array(L, 1);
  gr_expression *e = gr_l_push_expression(L, gr_expression_room((gr_parts){1, 0, 1}));
  GR_TRY(L, c, 1, gr_expression_of(c, a, e));
  return 1;
}

static gr_expression *check_expression(lua_State *L, int arg) {
  gr_expression *e = gr_l_check_object(L, arg, GR_OWN(expression));
  if (!gr_expression_alive(e)) gr_l_argerror(L, arg, "expression has been released");
  return e;
}

/* e:eval{into=}: its elements */
static int l_eval(lua_State *L) {
  gr_expression *e = check_expression(L, 1);
  lua_settop(L, 2);
  gr_l_options(L, 2, "into");
  gr_l_evaluate(L, e, 2);
  return 1;
}

/* e:steps(): what it does, a line a step. */
static int l_steps(lua_State *L) {
  const gr_expression *e = check_expression(L, 1);
  const size_t n = gr_program_text(&e->program, NULL, 0);
  char *text = gr_newuserdata(L, n + 1);
  gr_program_text(&e->program, text, n + 1);
  lua_pushlstring(L, text, n);
  return 1;
}

static int l_release(lua_State *L) {
  gr_expression *e = gr_l_check_object(L, 1, GR_OWN(expression));
  gr_expression_settle(e);
  gr_expression_release(e);
  e->released = 1;
  return 0;
}

static int count_steps(const gr_expression *e) {
  int steps = 0;
  for (int k = 0; k < e->program.count; k++) steps += e->program.nodes[k].kind == GR_NODE_STEP;
  return steps;
}

/* What gr.row, gr.column and gr.scalar give. */
static int push_line(lua_State *L, const gr_expression *e) {
  static const char *const what[] = {"", "a scalar", "a row", "a column"};
  char text[96];
  snprintf(text, sizeof text, GR_EXPRESSION_NAME " %s[%lld], %s", gr_dtypes[gr_expression_dtype(e)].name,
           (long long)e->inputs[0].n, what[e->program.nodes[0].spread]);
  lua_pushstring(L, text);
  return 1;
}

static int l_expression_tostring(lua_State *L) {
  const gr_expression *e = gr_l_check_object(L, 1, GR_OWN(expression));
  const int steps = count_steps(e);
  const long long rows = gr_expression_alive(e) && !gr_expression_line(e) ? gr_expression_rows(e) : 0;
  char text[128], shape[64];
  if (!gr_expression_alive(e)) return lua_pushliteral(L, GR_EXPRESSION_NAME " (released)"), 1;
  if (gr_expression_line(e)) return push_line(L, e);
  if (rows) snprintf(shape, sizeof shape, "%lld x %lld", rows, (long long)e->columns);
  else snprintf(shape, sizeof shape, "%lld", (long long)e->n);
  snprintf(text, sizeof text, GR_EXPRESSION_NAME " %s[%s] of %d step%s", gr_dtypes[gr_expression_dtype(e)].name, shape,
           steps, steps == 1 ? "" : "s");
  lua_pushstring(L, text);
  return 1;
}

static int l_length(lua_State *L) {
  const gr_expression *e = check_expression(L, 1);
  lua_pushinteger(L, (lua_Integer)(gr_expression_line(e) ? e->inputs[0].n : e->n));
  return 1;
}

/* ---- operators ---- */

/* e:lt(x) and its like: gr_l_number says which */
static int l_relation(lua_State *L) {
  static const int args[] = {1, 2};
  check_expression(L, 1);
  return gr_l_lazy(L, GR_COMBINES_MAP, GR_MAP_compare, (gr_relation)gr_l_number(L), GR_U8, args, 2, 3);
}

static int l_power(lua_State *L) {
  static const int args[] = {1, 2};
  lua_settop(L, 2);
  return gr_l_lazy(L, GR_COMBINES_POWER, GR_MAP_mul, GR_IS_lt, GR_U8, args, 2, 0);
}

/* e:land(x) and its like, of truths: operands may differ in dtype, which those of the table's rows may not. */
static int l_logic(lua_State *L) {
  static const int args[] = {1, 2};
  const gr_combining does = (gr_combining)gr_l_number(L);
  const int count = does == GR_COMBINES_NOT ? 1 : 2;
  check_expression(L, 1);
  return gr_l_lazy(L, does, GR_MAP_mul, GR_IS_lt, GR_U8, args, count, count + 1);
}

/* Operators between two values, of the table's row of that name; -e and ~e give the operand twice. */
static int l_operator(lua_State *L) {
  const gr_map op = (gr_map)gr_l_number(L);
  const int operands = gr_map_operands(op);
  lua_settop(L, operands);
  return gr_l_lazy_map(L, op, operands);
}

static int l_less(lua_State *L) {
  return gr_l_number(L)
             ? luaL_error(L, GR_EXPRESSION_NAME ": '<=' would be a boolean: write e:le(x), or e:ge(x) for '>='")
             : luaL_error(L, GR_EXPRESSION_NAME ": '<' would be a boolean: write e:lt(x), or e:gt(x) for '>'");
}

/*
** Keys that no method has: what arrays have, expressions have once they are computed. The methods are at the first
** upvalue, the module at the second.
*/
static int l_no_method(lua_State *L) {
  static const char *const fields[] = {"dtype", "rows", "columns", "shape", NULL};
  const char *names[GR_NAMES], *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  char hint[GR_HINT];
  lua_settop(L, 2);
  if (!key)
    return luaL_error(L, GR_EXPRESSION_NAME
                      ": no element is there yet: write e:eval()[i], e:take(index) or "
                      "e:compact(mask)");
  for (int k = 0; fields[k]; k++)
    if (!strcmp(key, fields[k]))
      return luaL_error(L, GR_EXPRESSION_NAME ": no field '%s': write e:info().%s", key, k == 3 ? "rows" : key);
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(2));
  if (lua_isfunction(L, -1))
    return luaL_error(L, GR_EXPRESSION_NAME ": no method '%s': write e:eval():%s(...)", key, key);
  gr_l_list_functions(L, lua_upvalueindex(1), 0, names);
  return luaL_error(L, GR_EXPRESSION_NAME ": no method '%s'%s", key, gr_l_hint(key, names, hint));
}

/* The methods are on top, the module is at `module`. */
static void refuse_others(lua_State *L, int module) {
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, -2);
  lua_pushvalue(L, module);
  lua_pushcclosure(L, l_no_method, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* e:info(): {dtype, n, steps, rows, columns} */
static int l_info(lua_State *L) {
  const gr_expression *e = check_expression(L, 1);
  lua_createtable(L, 0, 5);
  if (!gr_expression_line(e) && gr_expression_rows(e)) {
    gr_l_set_whole(L, "rows", gr_expression_rows(e));
    gr_l_set_whole(L, "columns", e->columns);
  }
  gr_l_set_text(L, "dtype", gr_dtypes[gr_expression_dtype(e)].name);
  gr_l_set_whole(L, "n", gr_expression_line(e) ? e->inputs[0].n : e->n);
  gr_l_set_whole(L, "steps", count_steps(e));
  return 1;
}

const gr_function gr_formula_functions[] = {{"fuse", l_fuse, 0}, {"lazy", l_lazy, 0}, {NULL, NULL, 0}};

#define GR_X(name, text) {#name, l_relation, GR_IS_##name},
static const gr_function relations[] = {GR_RELATIONS(GR_X){NULL, NULL, 0}};
#undef GR_X

static const gr_function own_methods[] = {
    {"eval", l_eval, 0},
    {"steps", l_steps, 0},
    {"info", l_info, 0},
    {"release", l_release, 0},
    {"pow", l_power, 0},
    {"land", l_logic, GR_COMBINES_AND},
    {"lor", l_logic, GR_COMBINES_OR},
    {"lnot", l_logic, GR_COMBINES_NOT},
    {NULL, NULL, 0},
};

/* The module is at `module`, the methods on top. */
static void add_function(lua_State *L, int module, const char *name) {
  lua_getfield(L, module, name);
  lua_setfield(L, -2, name);
}

/* The module's functions that take expressions are methods of them. */
static void add_functions(lua_State *L, int module) {
  static const char *const names[] = {"histogram", "histogram2d", "bincount", "scan",     "compact", "take",
                                      "shuffle",   "choice",      "quantile", "median",   "rmsnorm", "softmax",
                                      "cov",       "corr",        "digest",   "allclose", "isclose", "differ"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) add_function(L, module, names[k]);
#define GR_X(name, operands, f, i, real, whole) add_function(L, module, #name);
  GR_MAPS(GR_X)
#undef GR_X
  for (const gr_function *f = gr_reduce_functions; f->name; f++) add_function(L, module, f->name);
}

static void add_operators(lua_State *L) {
#define GR_X(event, name) gr_l_set_event(L, #event, #name, l_operator, GR_MAP_##name);
  GR_L_OPERATORS(GR_X)
#undef GR_X
  gr_l_set_event(L, "__pow", "pow", l_power, 0); /* by products, where the exponent is a number */
  gr_l_set_event(L, "__lt", "lt", l_less, 0);
  gr_l_set_event(L, "__le", "le", l_less, 1);
}

void gr_l_formula_metatables(lua_State *L) {
  static const gr_function none[] = {{NULL, NULL, 0}};
  static const gr_function of_formulas[] = {{"__tostring", l_formula_tostring, 0}, {NULL, NULL, 0}};
  static const gr_function of_expressions[] = {
      {"__gc", l_release, 0}, {"__tostring", l_expression_tostring, 0}, {"__len", l_length, 0}, {NULL, NULL, 0}};
  const int module = lua_gettop(L);
  gr_l_make_metatable(L, GR_OWN(formula), none, of_formulas);
  luaL_getmetatable(L, GR_OWN(formula));
  gr_l_set_event(L, "__call", "formula", l_bind, 0);
  lua_pop(L, 1);
  gr_l_make_metatable(L, GR_OWN(expression), none, of_expressions);
  luaL_getmetatable(L, GR_OWN(expression));
  add_operators(L);
  lua_newtable(L);
  add_functions(L, module);
  gr_l_register(L, relations); /* these last: they may bear an element operator's name */
  gr_l_register(L, own_methods);
  refuse_others(L, module);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
