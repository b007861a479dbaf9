/* Results for later: gr.async and its futures, gr.many, gr.timer. */
#include "src/binding/when.h"
#include "src/binding/expression.h"
#include "src/binding/options.h"
#include "src/binding/ranks.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/together.h"
#include "src/binding/values.h"
#include "src/core/stopwatch.h"

#define FUTURE_NAME "gpureduce.future"

typedef struct future {
  gr_future core;
  int values; /* reference to a table of the results that were there at once, or LUA_NOREF */
  gr_part parts[];
} future;

/* ---- life ---- */

/* Open, with its metatable, on the stack. */
static future *push_future(lua_State *L, gr_context *c, int room) {
  size_t bytes = sizeof(future) + (size_t)room * sizeof(gr_part);
  future *f = gr_newuserdata(L, bytes);
  memset(f, 0, sizeof *f);
  f->values = LUA_NOREF;
  luaL_setmetatable(L, GR_OWN(future));
  gr_future_open(&f->core, c, f->parts);
  return f;
}

static int l_future_gc(lua_State *L) {
  future *f = gr_l_check_object(L, 1, GR_OWN(future));
  gr_future_abandon(&f->core);
  luaL_unref(L, LUA_REGISTRYINDEX, f->values);
  f->values = LUA_NOREF;
  return 0;
}

int gr_l_push_future_values(lua_State *L, int i) {
  const future *f = gr_l_test_object(L, i, GR_OWN(future));
  if (!f || f->values == LUA_NOREF) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, f->values);
  return 1;
}

/* ---- filling ---- */

/* A failure of the device is for get to tell; one of memory is tried again; nothing else happens here. */
static void start(lua_State *L, gr_context *c, gr_future *f) {
  gr_status status = GR_CALL(L, c, gr_future_start(f));
  if (status == GR_NO_MEMORY) {
    gr_l_reclaim(L, c);
    status = GR_CALL(L, c, gr_future_start(f));
  }
  if (status == GR_DEVICE) gr_future_fail(f, status);
  else if (status != GR_OK) gr_l_raise(L, c, status, 1);
}

/* The top n values become results of f, which is at index at below them; f is done when all work queued so far is. */
static void keep_values(lua_State *L, gr_context *c, int at, int n, gr_queue *q, const char *name) {
  future *f = lua_touserdata(L, at);
  lua_createtable(L, n, 0);
  lua_insert(L, -n - 1);
  for (int k = n; k >= 1; k--) lua_rawseti(L, -k - 1, k);
  f->values = luaL_ref(L, LUA_REGISTRYINDEX);
  f->parts[0] = (gr_part){.values = n};
  f->core.count = 1;
  if (!q) return;
  gr_status status = gr_future_mark(&f->core, q, name);
  if (status == GR_NO_MEMORY) {
    gr_l_reclaim(L, c);
    status = gr_future_mark(&f->core, q, name);
  }
  if (status == GR_NO_MEMORY) gr_l_raise(L, c, status, 1);
  if (status != GR_OK) gr_future_fail(&f->core, status);
}

void gr_l_before_output(lua_State *L, gr_context *c, gr_future *f) {
  if (f) start(L, c, f);
}

void gr_l_later_begins(gr_context *c) {
  if (!c->later) gr_later_forget(c);
}

gr_future *gr_l_push_later(lua_State *L, gr_context *c) {
  future *f = push_future(L, c, 1);
  f->core.later = 1;
  return &f->core;
}

void gr_l_start_later(lua_State *L, gr_context *c, gr_future *f) {
  gr_future_filled(f);
  start(L, c, f);
}

int gr_l_later_values(lua_State *L, gr_context *c, int n, gr_queue *q, const char *name) {
  future *f = push_future(L, c, 1);
  gr_future_take_works(&f->core);
  gr_future_filled(&f->core);
  lua_insert(L, -n - 1);
  keep_values(L, c, lua_gettop(L) - n, n, q, name);
  return 1;
}

/* ---- gr.async ---- */

/*
** The module's functions by name and their names by function, the reductions by name as they gather, and what they do
** with arrays alone (reduce needs more): made once, when all are there.
*/
void gr_l_when_functions(lua_State *L, gr_context *c, const gr_function *reductions) {
  gr_l_state_of(c)->reductions = reductions;
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);
  for (const gr_function *r = reductions; r->name; r++) {
    const gr_function gathers[] = {{r->name, r->f, GR_GATHERS}, {NULL, NULL, 0}};
    int op = strcmp(r->name, "norm") ? gr_op_named(r->name) : GR_OP_norm2;
    lua_insert(L, -2);
    gr_l_register(L, gathers);
    lua_insert(L, -2);
    if (op < 0) continue;
    lua_pushinteger(L, op);
    lua_setfield(L, -2, r->name);
  }
  lua_setfield(L, -3, "operations");
  lua_setfield(L, -2, "reductions");
  lua_pushnil(L);
  while (lua_next(L, -3)) {
    if (lua_isfunction(L, -1)) {
      lua_pushvalue(L, -2);
      lua_settable(L, -4);
    } else lua_pop(L, 1);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
}

/*
** Run the function below nargs arguments, whose reductions go to f; later: and whose operations may be left for later.
** An error leaves no trace but itself. Returns how many results.
*/
static int call_gathering(lua_State *L, gr_context *c, gr_future *f, int nargs, int later) {
  gr_l_state *s = gr_l_state_of(c);
  gr_future *before = s->gathering;
  const int later_before = c->later;
  int base = lua_gettop(L) - nargs - 1;
  s->gathering = f;
  c->later = later;
  int failed = lua_pcall(L, nargs, LUA_MULTRET, 0);
  s->gathering = before;
  c->later = later_before;
  return failed ? -1 : lua_gettop(L) - base;
}

/* The error on top again, at the line of the caller, with words in front. */
static int raise_again(lua_State *L, const char *where, int item) {
  luaL_where(L, 1);
  if (item) lua_pushfstring(L, where, item);
  else lua_pushliteral(L, "");
  lua_pushvalue(L, -3);
  if (lua_type(L, -1) == LUA_TSTRING) lua_concat(L, 3);
  return lua_error(L);
}

/* The queue that a call's work goes to: that of its first array, else of the device in use. */
static gr_queue *queue_of(lua_State *L, gr_context *c, int first, int last) {
  for (int k = first; k <= last; k++) {
    gr_array *a = gr_l_test_array(L, k);
    if (a && !gr_array_released(a)) return a->storage->queue;
    const gr_expression *e = a ? NULL : gr_l_test_expression(L, k);
    if (e && e->program.input_count && !gr_array_released(&e->inputs[0])) return gr_expression_queue(e);
  }
  return c->queue;
}

static int many(lua_State *L, gr_context *c, int later);

static int l_many(lua_State *L) { return many(L, gr_l_context(L), 0); }

/* gr.async(f, ...): a future of f(...), f one of the module's functions. */
static int l_async(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int nargs = lua_gettop(L) - 1;
  if (nargs < 0) gr_l_argerror(L, 1, "function of this module expected, got no value");
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
  lua_pushvalue(L, 1);
  lua_rawget(L, -2);
  if (!lua_isfunction(L, 1) || lua_type(L, -1) != LUA_TSTRING)
    gr_l_argerror(L, 1, "function of this module expected, got %s",
                  lua_isfunction(L, 1) ? "another function" : gr_l_kind(L, 1));
  const char *name = lua_tostring(L, -1); /* the table keeps it */
  if (lua_tocfunction(L, 1) == l_many) {
    lua_settop(L, nargs + 1);
    lua_remove(L, 1);
    return many(L, c, 1);
  }
  lua_getfield(L, -2, "reductions");
  lua_getfield(L, -1, name);
  int reduction = !lua_isnil(L, -1), results;
  if (reduction) lua_replace(L, 1); /* the one that gathers */
  lua_settop(L, nargs + 1);
  gr_queue *q = queue_of(L, c, 2, nargs + 1);
  future *f = push_future(L, c, 1);
  lua_insert(L, 1);
  f->core.later = 1;
  const int is_c = lua_iscfunction(L, 2);
  gr_work *left = gr_later_take(c); /* of a call in which this one happens */
  results = call_gathering(L, c, reduction ? &f->core : NULL, nargs, 1);
  gr_future_take_works(&f->core);
  gr_future_filled(&f->core);
  c->left = left;
  if (results < 0 && !is_c) return lua_error(L); /* the Lua parts find the caller's line themselves */
  if (results < 0 && !(q && q->lost)) return raise_again(L, "", 0);
  if (results < 0) { /* the device failed before it took the work: get reports that, too */
    gr_fail(c, GR_DEVICE, "%s: %s", name, q->error);
    gr_future_fail(&f->core, GR_DEVICE);
  } else if (f->core.count) start(L, c, &f->core);
  else keep_values(L, c, 1, results, q ? q : c->queue, name);
  lua_settop(L, 1);
  return 1;
}

/* ---- looking ---- */

/* All results in order; a failure raises each time it is asked for. */
static int push_results(lua_State *L, future *f) {
  int top = lua_gettop(L), at = 0;
  if (f->core.state == GR_FAILED) return luaL_error(L, "gpureduce: %s", f->core.error);
  for (int k = 0; k < f->core.count; k++) {
    const gr_part *p = &f->parts[k];
    luaL_checkstack(L, p->values + 4, "too many results");
    if (p->queue) {
      gr_l_push_result(L, p->job.op, &p->value);
      continue;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->values);
    int table = lua_gettop(L);
    for (int v = 0; v < p->values; v++) gr_rawgeti(L, table, ++at);
    lua_remove(L, table);
  }
  return lua_gettop(L) - top;
}

/* Raises when the caller is to stop; the work goes on. */
static void wait_for(lua_State *L, gr_context *c, future *f, int64_t nanoseconds) {
  c->stop.caller = L;
  gr_future_wait(&f->core, nanoseconds);
  gr_l_called(c, GR_OK);
  if (f->core.stopped && f->core.state == GR_RUNNING) gr_l_raise(L, c, gr_fail(c, GR_STOPPED, "interrupted"), 1);
}

static int l_future_done(lua_State *L) {
  future *f = gr_l_check_object(L, 1, GR_OWN(future));
  gr_future_wait(&f->core, 0);
  return lua_pushboolean(L, f->core.state != GR_RUNNING), 1;
}

/* f:get(seconds): the results; nil and a word when they are not there after so long. Without seconds it waits. */
static int l_future_get(lua_State *L) {
  future *f = gr_l_check_object(L, 1, GR_OWN(future));
  int64_t nanoseconds = -1;
  if (!lua_isnoneornil(L, 2)) {
    double seconds = gr_l_check_number(L, 2);
    if (!(seconds >= 0)) gr_l_argerror(L, 2, "seconds of 0 or more expected, got %.14g", seconds);
    nanoseconds = seconds < 9e9 ? (int64_t)(seconds * 1e9) : -1;
  }
  if (f->core.context) wait_for(L, f->core.context, f, nanoseconds);
  if (f->core.state != GR_RUNNING) return push_results(L, f);
  lua_pushnil(L);
  lua_pushliteral(L, "not done");
  return 2;
}

static int l_future_tostring(lua_State *L) {
  static const char *const words[] = {"running", "done", "failed"};
  future *f = gr_l_check_object(L, 1, GR_OWN(future));
  lua_pushfstring(L, FUTURE_NAME " (%s)", words[f->core.state]);
  return 1;
}

/* ---- gr.many ---- */

/* Item k of the list: a name and its arguments, called. Returns how many values it gave at once. */
static int run_item(lua_State *L, gr_context *c, future *f, int k, int reductions) {
  gr_rawgeti(L, 1, k);
  int item = lua_gettop(L);
  if (!lua_istable(L, item))
    gr_l_argerror(L, 1, "item %d: table like {\"sum\", a} expected, got %s", k, gr_l_kind(L, item));
  const int n = (int)gr_l_list_length(L, item, 1);
  if (gr_rawgeti(L, item, 1) != LUA_TSTRING)
    gr_l_argerror(L, 1, "item %d: name of a reduction expected, got %s", k, gr_l_kind(L, -1));
  lua_pushvalue(L, -1);
  lua_rawget(L, reductions);
  if (lua_isnil(L, -1)) {
    const char *names[64], *given = lua_tostring(L, -2);
    char hint[GR_HINT];
    int count = 0;
    for (const gr_function *r = gr_l_state_of(c)->reductions; r->name && count < 63; r++) names[count++] = r->name;
    names[count] = NULL;
    gr_l_argerror(L, 1, "item %d: no reduction '%.40s'%s", k, given, gr_l_hint(given, names, hint));
  }
  luaL_checkstack(L, n + 4, "too many arguments");
  for (int j = 2; j <= n; j++) gr_rawgeti(L, item, j);
  gr_l_state_of(c)->alike = 0;
  int before = f->core.count, results = call_gathering(L, c, &f->core, n - 1, f->core.later);
  /* Of ranks that call different things, not all need be at item k of a list. */
  if (results < 0) raise_again(L, "gr.many: item %d: ", gr_l_state_of(c)->alike ? 0 : k);
  return f->core.count > before ? 0 : results;
}

/* A part without a job stands for the values on top, which go to the table of values, made when it is wanted. */
static void add_values(lua_State *L, future *f, int n, int table) {
  if (f->values == LUA_NOREF) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    f->values = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_replace(L, table);
  }
  int at = (int)lua_rawlen(L, table);
  for (int k = n; k >= 1; k--) lua_rawseti(L, table, at + k);
  /* only now: what is above may raise, and a finalizer looks at all parts */
  f->parts[f->core.count++] = (gr_part){.values = n};
}

/* Adds the item at the top if it is a name with the one or two arrays that it takes, as most are. 0: it has more. */
static int add_plain(lua_State *L, gr_future *f, int operations) {
  gr_ranks_wanted x;
  if (!gr_l_read_item(L, lua_gettop(L), 0, operations, &x) || x.a->n == 0) return 0;
  return gr_future_add(f, x.op, x.a, x.b, 0) == GR_OK;
}

/*
** Computes few plain items at once. Nothing raises meanwhile, so the future needs no object to own it. Returns how many
** results there are, or -1 if an item is not plain or something failed: the long way then says what is wrong.
*/
static int many_plain(lua_State *L, gr_context *c, int n) {
  gr_part parts[GR_TOGETHER];
  gr_future f;
  const int top = lua_gettop(L);
  if (n > GR_TOGETHER || c->exact || !lua_checkstack(L, 2 * GR_TOGETHER + 8)) return -1;
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
  lua_getfield(L, -1, "operations");
  gr_future_open(&f, c, parts);
  int plain = 1;
  for (int k = 1; k <= n && plain; k++) {
    gr_rawgeti(L, 1, k);
    plain = add_plain(L, &f, top + 2);
    lua_settop(L, top + 2);
  }
  gr_future_filled(&f);
  gr_status status = plain ? GR_CALL(L, c, gr_future_start(&f)) : GR_BAD;
  if (status == GR_OK) gr_future_wait(&f, -1);
  gr_future_close(&f);
  lua_settop(L, top);
  if (status == GR_STOPPED || f.status == GR_STOPPED) gr_l_raise(L, c, GR_STOPPED, 1);
  if (f.state != GR_READY) return -1;
  for (int k = 0; k < n; k++) gr_l_push_result(L, parts[k].job.op, &parts[k].value);
  return lua_gettop(L) - top;
}

static int many(lua_State *L, gr_context *c, int later) {
  if (!lua_istable(L, 1)) gr_l_argerror(L, 1, "list of items like {\"sum\", a} expected, got %s", gr_l_kind(L, 1));
  gr_l_options(L, 2, "async");
  later |= gr_l_option_flag(L, 2, "async");
  const int n = (int)gr_l_list_length(L, 1, 1);
  lua_settop(L, 1);
  if (later) gr_l_later_begins(c);
  int results = later || n == 0 ? -1 : many_plain(L, c, n);
  if (results < 0 && n) {
    lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
    lua_getfield(L, -1, "operations");
    if (!later) results = gr_l_many_ranks(L, c, n, 3);
    if (results < 0) results = gr_l_many_expressions(L, c, n, !later, 3);
  }
  if (results >= 0) return results;
  lua_settop(L, 1);
  future *f = push_future(L, c, n);
  f->core.later = later;
  lua_pushnil(L);
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
  lua_getfield(L, -1, "reductions");
  for (int k = 1; k <= n; k++) {
    int before = f->core.count;
    results = run_item(L, c, f, k, 5);
    if (f->core.count == before) add_values(L, f, results, 3);
    lua_settop(L, 5);
  }
  gr_future_filled(&f->core);
  start(L, c, &f->core);
  lua_settop(L, 2);
  if (later) gr_future_take_works(&f->core);
  if (later) return 1;
  wait_for(L, c, f, -1);
  return push_results(L, f);
}

/* ---- gr.timer ---- */

typedef struct timer {
  gr_context *context; /* NULL: stopped */
  gr_stopwatch watch;
  double seconds;
} timer;

static void let_go(timer *t) {
  gr_context *c = t->context;
  t->context = NULL;
  if (!c) return;
  gr_stopwatch_drop(&t->watch);
  gr_context_drop(c);
}

static int l_timer_gc(lua_State *L) {
  let_go(gr_l_check_object(L, 1, GR_OWN(timer)));
  return 0;
}

static timer *push_timer(lua_State *L, gr_context *c) {
  GR_TRY(L, c, 1, gr_context_ready(c));
  timer *t = gr_newuserdata(L, sizeof *t);
  memset(t, 0, sizeof *t);
  luaL_setmetatable(L, GR_OWN(timer));
  GR_TRY(L, c, 1, gr_stopwatch_start(c, c->queue, &t->watch, "timer"));
  t->context = c;
  c->refs++;
  return t;
}

static double stop(lua_State *L, timer *t) {
  gr_context *c = t->context;
  if (!c) return t->seconds;
  gr_status status = gr_stopwatch_stop(c, &t->watch, "timer", &t->seconds);
  let_go(t);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  return t->seconds;
}

/* t:stop(): seconds of the device since gr.timer(), once the work in between is done. */
static int l_timer_stop(lua_State *L) { return lua_pushnumber(L, stop(L, gr_l_check_object(L, 1, GR_OWN(timer)))), 1; }

/* gr.timer() starts one; gr.timer(f, ...) gives the seconds of f(...), and its results after them. */
static int l_timer(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int n = lua_gettop(L);
  if (n == 0) return push_timer(L, c), 1;
  if (!lua_isfunction(L, 1)) gr_l_argerror(L, 1, "function or nothing expected, got %s", gr_l_kind(L, 1));
  timer *t = push_timer(L, c);
  lua_insert(L, 1);
  lua_call(L, n - 1, LUA_MULTRET);
  lua_pushnumber(L, stop(L, t));
  lua_insert(L, 2);
  return lua_gettop(L) - 1;
}

/* ---- registration ---- */

const gr_function gr_when_functions[] = {
    {"async", l_async, 0}, {"many", l_many, 0}, {"timer", l_timer, 0}, {NULL, NULL, 0}};

static const gr_function future_methods[] = {{"done", l_future_done, 0}, {"get", l_future_get, 0}, {NULL, NULL, 0}};
static const gr_function future_meta[] = {
    {"__gc", l_future_gc, 0}, {"__tostring", l_future_tostring, 0}, {NULL, NULL, 0}};
static const gr_function timer_methods[] = {{"stop", l_timer_stop, 0}, {NULL, NULL, 0}};
static const gr_function timer_meta[] = {{"__gc", l_timer_gc, 0}, {NULL, NULL, 0}};

void gr_l_when_metatables(lua_State *L) {
  gr_l_make_metatable(L, GR_OWN(future), future_methods, future_meta);
  gr_l_make_metatable(L, GR_OWN(timer), timer_methods, timer_meta);
}
