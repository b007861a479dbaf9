/* gr.operator: associative operators of one's own, for reductions and scans. */
#include "src/binding/operator.h"
#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/matrix.h"
#include "src/binding/missing.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/rounding.h"
#include "src/binding/shape.h"
#include "src/binding/values.h"
#include "src/binding/when.h"
#include "src/core/formula/operate.h"

#define OPERATOR_NAME "gpureduce.operator"
#define MOST GR_OPERATOR_STATES

gr_custom *gr_l_test_operator(lua_State *L, int i) {
  return lua_isuserdata(L, i) ? gr_l_test_object(L, i, GR_OWN(operator)) : NULL;
}

/* ---- making one; strings stay on the stack until their text has been read ---- */

/* The text on top of the stack, which is that of `what`. */
static gr_text check_text(lua_State *L, const char *name, const char *state) {
  gr_text t;
  const char *quote = state ? "'" : "", *of = state ? " of state '" : "";
  if (lua_type(L, -1) != LUA_TSTRING)
    gr_l_argerror(L, 1, "option '%s': formula%s%s%s expected, got %s", name, of, state ? state : "", quote,
                  gr_l_kind(L, -1));
  t.text = lua_tolstring(L, -1, &t.length);
  if (t.length > GR_FORMULA_TEXT)
    gr_l_argerror(L, 1, "option '%s': text of at most %d characters expected, got %lld", name, GR_FORMULA_TEXT,
                  (long long)t.length);
  return t;
}

static void add_state(lua_State *L, gr_operator_texts *t) {
  if (lua_type(L, -1) != LUA_TSTRING) gr_l_argerror(L, 1, "option 'state': name expected, got %s", gr_l_kind(L, -1));
  size_t length;
  const char *name = lua_tolstring(L, -1, &length), *why = gr_custom_name(name, length);
  if (why) gr_l_argerror(L, 1, "option 'state': '%.40s': %s", name, why);
  for (int k = 0; k < t->states; k++)
    if (!strcmp(name, t->name[k])) gr_l_argerror(L, 1, "option 'state': '%s' is there twice", name);
  t->name[t->states++] = name;
}

/* state = "m", or a list of names */
static void read_states(lua_State *L, gr_operator_texts *t) {
  if (!gr_l_push_option(L, 1, "state")) gr_l_argerror(L, 1, "option 'state' expected: the name of a state, or names");
  if (!lua_istable(L, -1)) {
    add_state(L, t);
    return;
  }
  const int list = lua_gettop(L);
  const int64_t n = gr_l_list_length(L, list, 1);
  if (n < 1 || n > MOST) gr_l_argerror(L, 1, "option 'state': 1 to %d names expected, got %lld", MOST, (long long)n);
  for (int k = 1; k <= n; k++) {
    gr_rawgeti(L, list, k);
    add_state(L, t);
  }
}

/* Other keys of the table on top than names of states. */
static void check_keys(lua_State *L, const char *name, const gr_operator_texts *t) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    int k = 0;
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      gr_l_argerror(L, 1, "option '%s': names of states are strings, got a %s", name, luaL_typename(L, -1));
    while (k < t->states && strcmp(lua_tostring(L, -1), t->name[k])) k++;
    if (k == t->states) gr_l_argerror(L, 1, "option '%s': no state '%.40s'", name, lua_tostring(L, -1));
  }
  if (gr_l_inherits(L, -1)) gr_l_argerror(L, 1, "option '%s': table without __index expected", name);
}

/* Pushes what the option says of state k: the value itself if there is one state, else that by its name in a table. */
static void push_of_state(lua_State *L, const char *name, const gr_operator_texts *t, int k) {
  if (!gr_l_push_option(L, 1, name)) gr_l_argerror(L, 1, "option '%s' expected", name);
  if (!lua_istable(L, -1)) {
    if (t->states > 1)
      gr_l_argerror(L, 1, "option '%s': table with a value for each of the %d states expected, got %s", name, t->states,
                    gr_l_kind(L, -1));
    return;
  }
  if (k == 0) check_keys(L, name, t);
  lua_pushstring(L, t->name[k]);
  lua_rawget(L, -2);
}

static void read_of_states(lua_State *L, gr_operator_texts *t) {
  for (int k = 0; k < t->states; k++) {
    push_of_state(L, "map", t, k);
    t->map[k] = check_text(L, "map", t->name[k]);
    push_of_state(L, "merge", t, k);
    t->merge[k] = check_text(L, "merge", t->name[k]);
    push_of_state(L, "identity", t, k);
    if (lua_type(L, -1) != LUA_TNUMBER)
      gr_l_argerror(L, 1, "option 'identity': number of state '%s' expected, got %s", t->name[k], gr_l_kind(L, -1));
    t->identity[k] = gr_l_to_number(L, -1);
  }
}

/* finish = "sqrt(s)", or a list of such */
static void read_finish(lua_State *L, gr_operator_texts *t) {
  if (!gr_l_push_option(L, 1, "finish")) return;
  if (!lua_istable(L, -1)) {
    t->finish[t->results++] = check_text(L, "finish", NULL);
    return;
  }
  const int list = lua_gettop(L);
  const int64_t n = gr_l_list_length(L, list, 1);
  if (n < 1 || n > MOST)
    gr_l_argerror(L, 1, "option 'finish': formula or a list of 1 to %d expected, got %lld", MOST, (long long)n);
  for (int k = 1; k <= n; k++) {
    gr_rawgeti(L, list, k);
    t->finish[t->results++] = check_text(L, "finish", NULL);
  }
}

/* gr.operator{state=, map=, merge=, identity=, finish=, commutative=, check=} */
static int l_operator(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_operator_texts t = {.states = 0};
  if (lua_type(L, 1) != LUA_TTABLE)
    gr_l_argerror(L, 1, "table with 'state', 'map', 'merge' and 'identity' expected, got %s", gr_l_kind(L, 1));
  lua_settop(L, 1);
  luaL_checkstack(L, 8 * MOST + 40, "too many states");
  gr_l_options(L, 1, "state", "map", "merge", "identity", "finish", "commutative", "check");
  read_states(L, &t);
  read_of_states(L, &t);
  read_finish(L, &t);
  t.ordered = gr_l_has_option(L, 1, "commutative") && !gr_l_option_flag(L, 1, "commutative");
  const int check = gr_l_option_flag(L, 1, "check");
  const size_t bytes = gr_custom_room(&t);
  gr_custom *u = gr_newuserdata(L, bytes);
  memset(u, 0, bytes);
  luaL_setmetatable(L, GR_OWN(operator));
  gr_status status = GR_CALL(L, c, gr_custom_read(c, u, &t));
  if (status == GR_NO_MEMORY && gr_l_again(L, c, status)) status = GR_CALL(L, c, gr_custom_read(c, u, &t));
  if (status == GR_BAD) gr_l_hint_function(c);
  if (status != GR_OK) gr_l_raise(L, c, status, 1);
  if (check) GR_TRY(L, c, 1, gr_custom_check(c, u));
  return 1;
}

/* ---- reductions ---- */

/* What a call asks for. */
typedef struct call {
  gr_custom *u;
  gr_reduced of;
  gr_shape shape;
  gr_segments segments;
  gr_missing missing;
  gr_future *gather;
  int first, options; /* where the operand and the options are */
  int later, has_at, results, keepdims;
  int transposed; /* it lies so, and shape is that of what lies there */
  int64_t at;
  gr_dtype dtype[MOST];
  uint8_t single[MOST]; /* this result is of f64 and rounded to f32 */
} call;

/* Dtypes of results, which stay what they are although somebody may use the operator for another dtype meanwhile. */
static void find_results(lua_State *L, call *q) {
  gr_context *c = gr_l_context(L);
  GR_TRY(L, c, q->first, gr_custom_make(c, q->u, q->of.a->dtype));
  q->results = q->u->op.results;
  memcpy(q->dtype, q->u->op.result, sizeof q->dtype);
  if (!gr_l_has_option(L, q->options, "out") || !gr_l_option_single(L, q->options)) return;
  int wide = 0;
  for (int k = 0; k < q->results; k++) wide += q->single[k] = q->dtype[k] == GR_F64;
  if (!wide) gr_l_option_out(L, q->options, "operator", q->of.a->dtype, q->dtype[0]); /* which raises */
}

static gr_dtype dtype_of(const call *q, int k) { return q->single[k] ? GR_F32 : q->dtype[k]; }

/* Where results are computed that go to out[k] rounded: an array of f64 on the stack; else out[k] itself. Rounding lets
   go of those arrays. */
static void push_wide(lua_State *L, gr_context *c, gr_comm *comm, const call *q, gr_array *const *out,
                      gr_array **wide) {
  for (int k = 0; k < q->results; k++)
    wide[k] = q->single[k] ? gr_l_new_part(L, c, comm, q->of.a, GR_F64, out[k]->n) : out[k];
}

static void round_wide(lua_State *L, gr_context *c, gr_comm *comm, const call *q, gr_array *const *out,
                       gr_array **wide) {
  for (int k = 0; k < q->results; k++) {
    if (!q->single[k]) continue;
    GR_TRY_AFTER(L, c, comm, q->options, gr_l_round_into(c, wide[k], out[k]));
    gr_l_release(L, wide[k]);
  }
}

/* To arrays, or to words. */
static gr_status run(gr_context *c, const call *q, gr_array *const *out, uint64_t *words) {
  const gr_partial p = {.a = q->of, .missing = q->missing};
  return gr_custom_reduce_present(c, q->u, q->shape, &p, out, words);
}

/* Positions of segments are checked right before they are used: a finalizer may have written to them. */
static gr_status run_each(lua_State *L, gr_context *c, call *q, gr_array *const *out) {
  if (q->shape.segments) {
    const gr_status status = gr_segments_of(c, q->segments.offsets, q->of.a->n, &q->segments);
    if (status == GR_BAD) gr_l_raise(L, c, status, q->options);
    if (status != GR_OK) return status;
  }
  return run(c, q, out, NULL);
}

static void push_words(lua_State *L, const call *q, const uint64_t *words) {
  for (int k = 0; k < q->results; k++) {
    gr_l_push_element(L, q->dtype[k], &words[k]);
    if (!q->single[k]) continue;
    lua_pushnumber(L, (lua_Number)gr_single((double)lua_tonumber(L, -1)));
    lua_replace(L, -2);
  }
}

static int push_numbers(lua_State *L, gr_context *c, call *q) {
  uint64_t words[MOST];
  GR_TRY_WITH(L, c, q->first, q->of.e, NULL, run(c, q, NULL, words));
  push_words(L, q, words);
  return q->results;
}

static void refuse_into_of_many(lua_State *L, int arg, int results) {
  if (results > 1 && gr_l_has_option(L, arg, "into"))
    gr_l_argerror(L, arg, "option 'into': the operator gives %d results, it takes one", results);
}

static void check_apart(lua_State *L, const call *q, const gr_array *out) {
  const gr_array *offsets = q->shape.segments ? q->segments.offsets : NULL;
  gr_l_check_expression_apart(L, q->options, q->of.e, out);
  gr_l_check_mask_apart(L, q->options, &q->missing, out);
  gr_l_check_disjoint(L, q->options, out, offsets, "input");
}

static int push_arrays(lua_State *L, gr_context *c, call *q) {
  gr_array *out[MOST] = {NULL}, *wide[MOST];
  const int64_t n = gr_shape_results(q->shape, q->of.a->n);
  refuse_into_of_many(L, q->options, q->results);
  if (q->keepdims && gr_l_has_option(L, q->options, "into"))
    gr_l_argerror(L, q->options, "option 'keepdims': takes no 'into', which has a shape of its own");
  out[0] = gr_l_option_into(L, q->options, dtype_of(q, 0), n, q->of.a);
  if (out[0]) check_apart(L, q, out[0]);
  gr_l_before_output(L, c, q->gather);
  for (int k = 0; k < q->results; k++)
    if (!out[k]) out[k] = gr_l_new_beside(L, c, q->of.a, dtype_of(q, k), n);
  for (int k = 0; k < q->results && q->keepdims; k++) gr_l_keep_dimensions(out[k], q->shape.axis);
  const int top = lua_gettop(L);
  push_wide(L, c, NULL, q, out, wide);
  GR_TRY_WITH(L, c, q->first, q->of.e, NULL, run_each(L, c, q, wide));
  round_wide(L, c, NULL, q, out, wide);
  lua_settop(L, top);
  return q->results;
}

static gr_status run_at(lua_State *L, gr_context *c, call *q, const gr_array *into, int64_t at, gr_array *wide) {
  gr_array one = gr_l_element(into, at), *const out[1] = {wide ? wide : &one};
  return run_each(L, c, q, out);
}

/* The number that `wide` has, as the element of 'into'. */
static gr_status round_at(gr_context *c, const gr_array *wide, const gr_array *into, int64_t at) {
  gr_array one = gr_l_element(into, at);
  return gr_l_round_into(c, wide, &one);
}

/* The only result becomes an element of 'into'. */
static int put_at(lua_State *L, gr_context *c, call *q) {
  refuse_into_of_many(L, q->options, q->results);
  gr_array *into = gr_l_option_array(L, q->options, "into");
  if (!into) gr_l_argerror(L, q->options, "option 'at': only together with 'into'");
  if (into->dtype != dtype_of(q, 0))
    gr_l_argerror(L, q->options, "option 'into': dtype %s expected, got %s", gr_dtypes[dtype_of(q, 0)].name,
                  gr_dtypes[into->dtype].name);
  gr_l_check_device(L, q->of.a, into, q->options);
  const int64_t at = gr_l_check_at(L, q->options, into, q->at);
  const gr_array one = gr_l_element(into, at);
  gr_l_check_disjoint(L, q->options, &one, q->of.a, "input");
  check_apart(L, q, &one);
  gr_l_before_output(L, c, q->gather);
  gr_array *wide = q->single[0] ? gr_l_new_beside(L, c, q->of.a, GR_F64, 1) : NULL;
  GR_TRY_WITH(L, c, q->first, q->of.e, NULL, run_at(L, c, q, into, at, wide));
  if (!wide) return 1;
  GR_TRY(L, c, q->options, round_at(c, wide, into, at));
  gr_l_release(L, wide);
  lua_pop(L, 1);
  return 1;
}

/* Options rows and axis, or segments. */
static void read_shape(lua_State *L, call *q) {
  const int segments = gr_l_has_option(L, q->options, "segments");
  const char *other = segments ? gr_l_first_given(L, q->options, "rows", "axis", "keepdims") : NULL;
  if (other) gr_l_argerror(L, q->options, "option 'segments': takes no '%s'", other);
  if (!segments) q->shape = gr_l_option_shape(L, q->options, q->of.a);
  if (gr_l_option_segments(L, q->options, q->of.a, &q->segments)) q->shape.segments = &q->segments;
  if (!q->shape.rows && !q->shape.segments) gr_l_refuse_without_rows(L, q->options, q->of.a);
}

/* Of columns that lie over ranks: arrays that the core makes, since a rank without rows does not know how long. */
static void push_ranked_columns(lua_State *L, gr_context *c, gr_comm *comm, call *q) {
  gr_array *out[MOST], *wide[MOST];
  const int first = lua_gettop(L) + 1;
  for (int k = 0; k < q->results; k++) wide[k] = gr_l_push_array(L);
  GR_TRY_RANKS(L, c, comm, q->first, gr_custom_ranks_each(c, q->u, q->shape, &q->missing, &q->of, wide));
  for (int k = 0; k < q->results; k++) {
    out[k] = wide[k];
    if (q->single[k]) {
      gr_l_reserve_array(L, c, GR_F32, wide[k]->n);
      out[k] = gr_l_push_array(L);
      GR_TRY_AFTER(L, c, comm, q->options, gr_array_make_beside(c, wide[k], out[k], GR_F32, wide[k]->n));
    } else {
      lua_pushvalue(L, first + k);
    }
    if (q->keepdims) gr_l_keep_dimensions(out[k], q->transposed ? 3 - q->shape.axis : q->shape.axis);
  }
  round_wide(L, c, comm, q, out, wide);
}

/* Of what lies over ranks. */
static int push_ranks(lua_State *L, gr_context *c, gr_comm *comm, call *q) {
  uint64_t words[MOST];
  gr_queue *where = q->of.a->storage->queue;
  const char *other = gr_l_first_given(L, q->options, "segments", "at", "into");
  if (q->shape.rows && q->shape.axis != 1) other = q->transposed ? "axis" : "rows";
  if (other) gr_l_refuse_with_comm(L, q->options, other);
  if (q->shape.rows) {
    push_ranked_columns(L, c, comm, q);
  } else {
    GR_TRY_RANKS(L, c, comm, q->first, gr_custom_ranks(c, q->u, &q->missing, &q->of, words));
    push_words(L, q, words);
  }
  gr_l_drop_elements(L, q->of);
  gr_l_drop_elements(L, q->missing.mask);
  return q->later && !q->gather ? gr_l_later_values(L, c, q->results, where, "operator") : q->results;
}

int gr_l_operator_reduce(lua_State *L, gr_custom *u, int first, int options) {
  static const char *const names[] = {"rows",    "axis", "into", "at",       "async", "segments",
                                      "skipnan", "mask", "comm", "keepdims", "out",   NULL};
  gr_context *c = gr_l_context(L);
  call q = {.u = u, .first = first, .options = options, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  gr_comm *comm = NULL;
  luaL_checkstack(L, MOST + 40, "too many results");
  q.transposed = gr_l_reduces_transposed(L, first, options) && gr_l_has_option(L, options, "comm");
  if (!q.transposed) gr_l_check_ranked_axis(L, first, options);
  q.of = q.transposed ? (gr_reduced){NULL, gr_l_test_any_array(L, first)} : gr_l_check_reduced(L, first);
  gr_array *promise = q.of.e ? q.of.a : NULL;
  if (gr_l_options_of(L, options, names)) {
    read_shape(L, &q);
    if (q.transposed) gr_l_turn_shape(&q.shape, q.of.a);
    q.has_at = gr_l_option_int(L, options, "at", &q.at);
    gr_l_check_places(L, options, &q.shape, q.has_at, gr_l_has_option(L, options, "into"));
    q.later = gr_l_option_flag(L, options, "async");
    q.keepdims = gr_l_option_flag(L, options, "keepdims");
    comm = gr_l_option_comm(L, options);
    q.missing = (comm ? gr_l_option_missing_part : gr_l_option_missing)(L, options, q.of.a);
  }
  find_results(L, &q);
  if (comm) return push_ranks(L, c, comm, &q);
  gr_queue *where = q.of.a->storage->queue;
  int n = q.has_at                           ? put_at(L, c, &q)
          : q.shape.rows || q.shape.segments ? push_arrays(L, c, &q)
                                             : push_numbers(L, c, &q);
  if (q.later && !q.gather) n = gr_l_later_values(L, c, n, where, "operator");
  if (promise) gr_l_release(L, promise);
  gr_l_drop_elements(L, q.missing.mask);
  return n;
}

/* ---- scans ---- */

static gr_status scan(gr_context *c, const call *q, gr_array *const *out, int exclusive, int reverse) {
  const gr_partial p = {.a = q->of, .missing = q->missing};
  return gr_custom_scan_present(c, q->u, q->shape, &p, out, exclusive, reverse);
}

int gr_l_operator_scan(lua_State *L, gr_custom *u, int first, int options) {
  static const char *const names[] = {"into", "exclusive", "reverse", "rows", "axis",
                                      "out",  "skipnan",   "mask",    "comm", NULL};
  gr_context *c = gr_l_context(L);
  gr_array *out[MOST] = {NULL}, *wide[MOST];
  call q = {.u = u, .first = first, .options = options, .shape = {.axis = 2}};
  gr_comm *comm = NULL;
  int exclusive = 0, reverse = 0;
  luaL_checkstack(L, MOST + 40, "too many results");
  /* Over ranks elements are stored where all hear of it, should there be no room. */
  q.of = gr_l_has_option(L, options, "comm") ? gr_l_check_reduced(L, first)
                                             : (gr_reduced){NULL, gr_l_check_elements(L, first)};
  if (gr_l_options_of(L, options, names)) {
    exclusive = gr_l_option_flag(L, options, "exclusive");
    reverse = gr_l_option_flag(L, options, "reverse");
    q.shape = gr_l_option_shape(L, options, q.of.a);
    if (!q.shape.rows) gr_l_refuse_without_rows(L, options, q.of.a);
    comm = gr_l_option_comm(L, options);
    if (comm && q.shape.rows) gr_l_refuse_with_comm(L, options, "rows' or 'axis");
    q.missing = (comm ? gr_l_option_missing_part : gr_l_option_missing)(L, options, q.of.a);
  }
  find_results(L, &q);
  refuse_into_of_many(L, options, q.results);
  const int64_t rows = q.of.a->rows;
  out[0] = gr_l_option_into(L, options, dtype_of(&q, 0), q.of.a->n, q.of.a);
  if (out[0]) gr_l_check_mask_apart(L, options, &q.missing, out[0]);
  for (int k = 0; k < q.results; k++)
    if (!out[k]) out[k] = gr_l_new_part(L, c, comm, q.of.a, dtype_of(&q, k), q.of.a->n), out[k]->rows = rows;
  const int top = lua_gettop(L);
  push_wide(L, c, comm, &q, out, wide);
  if (q.of.e) GR_TRY_BEFORE(L, c, comm, first, q.of.e, NULL, gr_reduced_eval(c, &q.of));
  if (comm)
    GR_TRY_RANKS(L, c, comm, first, gr_custom_ranks_scan_present(c, u, q.of.a, &q.missing, wide, exclusive, reverse));
  else GR_TRY(L, c, first, scan(c, &q, wide, exclusive, reverse));
  round_wide(L, c, comm, &q, out, wide);
  gr_l_drop_elements(L, q.of);
  lua_settop(L, top);
  gr_l_drop_elements(L, q.missing.mask);
  return q.results;
}

/* ---- methods ---- */

static gr_custom *take_self(lua_State *L) {
  gr_custom *u = gr_l_check_object(L, 1, GR_OWN(operator));
  lua_settop(L, 3);
  return u;
}

/* op:reduce(a, options), op:scan(a, options) */
static int l_reduce(lua_State *L) { return gr_l_operator_reduce(L, take_self(L), 2, 3); }
static int l_scan(lua_State *L) { return gr_l_operator_scan(L, take_self(L), 2, 3); }

/* op(a, options): arguments are counted without the operator. */
static int l_call(lua_State *L) {
  gr_custom *u = take_self(L);
  lua_pushvalue(L, 1);
  lua_remove(L, 1);
  return gr_l_operator_reduce(L, u, 1, 2);
}

static int l_tostring(lua_State *L) {
  const gr_custom *u = gr_l_check_object(L, 1, GR_OWN(operator));
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, OPERATOR_NAME ":");
  for (int k = 0; k < u->states; k++) {
    const gr_formula *f = u->text[GR_STAGE_MERGE][k];
    luaL_addstring(&b, k ? ", " : " ");
    luaL_addstring(&b, u->name[k]);
    luaL_addstring(&b, " = ");
    luaL_addlstring(&b, f->text, (size_t)f->length);
  }
  luaL_pushresult(&b);
  return 1;
}

const gr_function gr_operator_functions[] = {{"operator", l_operator, 0}, {NULL, NULL, 0}};

void gr_l_operator_metatable(lua_State *L) {
  static const gr_function methods[] = {{"reduce", l_reduce, 0}, {"scan", l_scan, 0}, {NULL, NULL, 0}};
  static const gr_function meta[] = {{"__tostring", l_tostring, 0}, {NULL, NULL, 0}};
  gr_l_make_metatable(L, GR_OWN(operator), methods, meta);
  luaL_getmetatable(L, GR_OWN(operator));
  gr_l_set_event(L, "__call", "operator", l_call, 0);
  lua_pop(L, 1);
}
