/* Histograms: the counting here; the result's methods (quantile, plot) in lua/gpureduce/histogram.lua. */
#include <stdio.h>

#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/ladder.h"
#include "src/binding/make.h"
#include "src/binding/matrix.h"
#include "src/binding/missing.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/results.h"
#include "src/binding/rounding.h"
#include "src/core/histogram.h"
#include "src/core/ops.h"
#include "src/core/ranks/meet.h"

#define MAX_BINS ((int64_t)1 << 31)

static int64_t check_bins(lua_State *L, int arg, const char *name, int64_t bins) {
  if (bins < 1 || bins > MAX_BINS)
    gr_l_argerror(L, arg, "option '%s': 1 to %lld expected, got %lld", name, (long long)MAX_BINS, (long long)bins);
  return bins;
}

/* {edges = table or array}: as an f64 array on a's device, left on the stack. */
static gr_array *edges_option(lua_State *L, gr_context *c, const gr_array *a) {
  gr_array *edges = gr_l_option_numbers(L, c, 2, "edges", a, GR_F64, "edge");
  if (!edges) return NULL;
  gr_l_check_edges(L, 2, "edges", a, edges);
  return edges;
}

/* {weights = w}: an array of any dtype as long as a; left on the stack. */
static gr_reduced weights_option(lua_State *L, const gr_array *a) {
  const gr_reduced w = gr_l_option_operand(L, 2, "weights");
  if (w.a) gr_l_check_weights(L, 2, a, w.a);
  return w;
}

/* Bits of the options that are given, by gr_l_options: looking up an option takes as long if it is not there. */
enum {
  BINS = 1,
  MIN = 2,
  MAX = 4,
  EDGES = 8,
  MODULO = 16,
  LOG = 32,
  WEIGHTS = 64,
  DENSITY = 128,
  INTO = 256,
  KERNEL = 512 + 1024 + 2048,
  SHAPE = 4096 + 8192,
  MISSING = 16384 + 32768,
  COMM = 65536,
  OUT = 131072
};

static gr_binning read_binning(lua_State *L, gr_context *c, const gr_array *a, int *options) {
  static const char *const names[] = {"bins",    "min",  "max",    "edges", "modulo", "log",  "weights",
                                      "density", "into", "kernel", "block", "timed",  "rows", "axis",
                                      "skipnan", "mask", "comm",   "out",   NULL};
  gr_binning b = {.bins = 0};
  const int given = *options = gr_l_options_of(L, 2, names);
  if (!given) gr_l_argerror(L, 2, "options table with 'bins' or 'edges' expected, got no value");
  b.has_min = given & MIN && gr_l_option_number(L, 2, "min", &b.min);
  b.has_max = given & MAX && gr_l_option_number(L, 2, "max", &b.max);
  b.modulo = given & MODULO && gr_l_option_flag(L, 2, "modulo");
  if (b.has_min && b.min - b.min != 0) gr_l_argerror(L, 2, "option 'min': finite number expected, got %g", b.min);
  if (b.has_max && b.max - b.max != 0) gr_l_argerror(L, 2, "option 'max': finite number expected, got %g", b.max);
  if (b.modulo && gr_is_float(a->dtype))
    gr_l_argerror(L, 2, "option 'modulo': integer dtype expected, got %s", gr_dtypes[a->dtype].name);
  if (b.modulo && (b.has_min || b.has_max)) gr_l_argerror(L, 2, "option 'modulo': takes no 'min' and 'max'");
  b.log = given & LOG && gr_l_option_flag(L, 2, "log");
  if (b.log && b.modulo) gr_l_argerror(L, 2, "option 'log': takes no 'modulo'");
  if (b.log && b.has_min && b.min <= 0)
    gr_l_argerror(L, 2, "option 'min': above 0 expected with 'log', got %.14g", b.min);
  if (given & WEIGHTS) b.weights = weights_option(L, a);
  if (given & MISSING) b.missing = gr_l_option_missing(L, 2, a);
  int has_bins = given & BINS && gr_l_option_int(L, 2, "bins", &b.bins);
  if (has_bins) check_bins(L, 2, "bins", b.bins);
  b.edges = given & EDGES ? edges_option(L, c, a) : NULL;
  if (b.edges && (has_bins || b.has_min || b.has_max || b.modulo))
    gr_l_argerror(L, 2, "option 'edges': takes no 'bins', 'min', 'max' or 'modulo'");
  if (b.edges && b.log) gr_l_argerror(L, 2, "option 'log': takes no 'edges'");
  if (b.edges) b.bins = check_bins(L, 2, "edges", b.edges->n - 1);
  if (!b.edges && !has_bins) gr_l_argerror(L, 2, "option 'bins' or 'edges' expected");
  return b;
}

/* Counts and tails are views of one array of bins + 3 elements; pushes one of the two. */
static gr_array *push_part(lua_State *L, const gr_array *all, int64_t first, int64_t count) {
  gr_array *part = gr_l_push_array(L);
  gr_array_view(all, part, first, 1, count);
  return part;
}

/* The array in a field of the histogram at i, left on the stack. */
static gr_array *field_array(lua_State *L, int i, const char *name) {
  lua_pushstring(L, name);
  lua_rawget(L, i);
  return gr_l_test_array(L, -1);
}

/* The arrays of a histogram, as into_option checks them and fill_into fills them. */
static const char *const part_names[] = {"counts", "tails", "edges"};

/*
** {into = a histogram}: where it is on the stack, with its parts above it, or 0. It has as many bins of the same dtype,
** beside a. The fields are a script's to change, so they are looked at once.
*/
static int into_option(lua_State *L, const gr_array *a, const gr_binning *b, int single) {
  const gr_dtype sums = gr_histogram_dtype(b->weights.a), dtypes[] = {single ? GR_F32 : sums, sums, GR_F64};
  const int64_t lengths[] = {b->bins, 3, b->bins + 1};
  if (!gr_l_push_option(L, 2, "into")) return 0;
  int at = lua_gettop(L);
  luaL_getmetatable(L, GR_OWN(histogram));
  if (!lua_istable(L, at) || !lua_getmetatable(L, at) || !lua_rawequal(L, -1, -2))
    gr_l_argerror(L, 2, "option 'into': histogram expected, got %s", luaL_typename(L, at));
  lua_settop(L, at);
  for (int k = 0; k < 3; k++) {
    const gr_array *part = field_array(L, at, part_names[k]);
    if (part && gr_array_released(part))
      gr_l_argerror(L, 2, "option 'into': the histogram's %s have been released", part_names[k]);
    if (!part || part->n != lengths[k] || part->dtype != dtypes[k])
      gr_l_argerror(L, 2, "option 'into': histogram of %s[%lld] expected, got %s[%lld]", gr_dtypes[dtypes[k]].name,
                    (long long)lengths[k], part ? gr_dtypes[part->dtype].name : "nothing",
                    part ? (long long)part->n : 0);
    gr_l_check_device(L, a, part, 2);
  }
  if (gr_l_option_flag(L, 2, "density")) gr_l_argerror(L, 2, "option 'density': takes no 'into'");
  return at;
}

static gr_array *part_of(lua_State *L, int at, int k) { return lua_touserdata(L, at + 1 + k); }

/*
** If counts and tails of the histogram at `at` are parts of one array, as in those that this module makes, and it can
** be written at once: that array, on the stack; else NULL.
*/
static gr_array *counts_together(lua_State *L, int at, const gr_array *a, const gr_binning *b) {
  gr_array *all = gr_l_push_array(L);
  const gr_array *counts = part_of(L, at, 0), *tails = part_of(L, at, 1);
  gr_array_view(counts, all, 0, 1, b->bins + 3);
  const int together = tails->storage == counts->storage && counts->dtype == tails->dtype && counts->stride == 8 &&
                       tails->stride == 8 && tails->offset == counts->offset + b->bins * 8 &&
                       !gr_array_overlap(all, a) && !(b->weights.a && gr_array_overlap(all, b->weights.a));
  if (together) return all;
  gr_l_release(L, all);
  return NULL;
}

/* Copies new parts into those of the histogram at `at`, unless they are the same, and releases them. */
static void fill_into(lua_State *L, gr_context *c, int at, gr_array *counts, gr_array *edges, const gr_binning *b) {
  for (int k = 0; k < 2 && !b->into; k++) {
    gr_array *part = push_part(L, counts, k ? b->bins : 0, k ? 3 : b->bins);
    gr_array *to = part_of(L, at, k);
    GR_TRY(L, c, 2, to->dtype == part->dtype ? gr_copy(c, part, to) : gr_l_round_into(c, part, to));
    gr_array_release(part);
  }
  GR_TRY(L, c, 2, gr_edges_into(c, edges, part_of(L, at, 2)));
  gr_array_release(edges);
  gr_array_release(counts);
  lua_pushvalue(L, at);
}

/* A histogram of parts at those places of the stack: counts, tails, edges. */
static void push_histogram(lua_State *L, int counts, int tails, int edges) {
  const int places[] = {counts, tails, edges};
  lua_createtable(L, 0, 4);
  for (int k = 0; k < 3; k++) {
    lua_pushvalue(L, places[k]);
    lua_setfield(L, -2, part_names[k]);
  }
}

/* Of rows or columns: a table of histograms, whose counts and tails are rows of matrices that are its fields. */
static int push_each(lua_State *L, gr_context *c, gr_reduced of, gr_shape s, gr_binning *b, int given, int single) {
  const gr_array *a = of.a;
  const int64_t vectors = gr_shape_results(s, a->n);
  const int others = given & (DENSITY | INTO | KERNEL);
  const char *other = others ? gr_l_first_given(L, 2, "density", "into", "kernel", "block", "timed") : NULL;
  if (other) gr_l_argerror(L, 2, "option '%s': takes no 'rows' or 'axis'", other);
  gr_l_reserve(L, c, (size_t)gr_l_results(L, 2, vectors, b->bins + 3) * 8);
  const int at = lua_gettop(L) + 1;
  gr_array *counts = gr_l_push_array(L), *tails = gr_l_push_array(L), *edges = gr_l_push_array(L);
  if (of.e) GR_TRY_WITH(L, c, 1, of.e, b->weights.e, gr_reduced_eval(c, &of));
  if (b->weights.e) GR_TRY_WITH(L, c, 2, b->weights.e, NULL, gr_reduced_eval(c, &b->weights));
  GR_TRY(L, c, 2, gr_histogram_each(c, s, a, b, counts, tails, edges));
  if (single) {
    lua_pushvalue(L, at);
    gr_l_round_top(L, c, NULL, 2);
    lua_replace(L, at);
    counts = gr_l_test_array(L, at);
  }
  push_histogram(L, at, at + 1, at + 2);
  for (int64_t k = 0; k < vectors; k++) {
    gr_array_row(counts, k, gr_l_push_array(L));
    gr_array_row(tails, k, gr_l_push_array(L));
    push_histogram(L, at + 4, at + 5, at + 2);
    lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(histogram));
    lua_setmetatable(L, -2);
    gr_rawseti(L, at + 3, (lua_Integer)(k + 1));
    lua_settop(L, at + 3);
  }
  return 1;
}

/* gr.histogram(a, {bins, min, max, log} or {edges} or {bins, modulo}, and with them weights, density) */
static int l_histogram(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_reduced of = gr_l_check_operand(L, 1, 2);
  gr_array *a = of.a;
  int given;
  gr_binning b = read_binning(L, c, a, &given);
  gr_kernel_choice k = {0};
  gr_comm *comm = given & COMM ? gr_l_option_comm(L, 2) : NULL;
  if (comm && given & (SHAPE | INTO | KERNEL))
    gr_l_refuse_with_comm(L, 2, given & SHAPE ? "rows' or 'axis" : given & INTO ? "into" : "kernel");
  const gr_array *counted = b.weights.a ? b.weights.a : a;
  int density = given & DENSITY && gr_l_option_flag(L, 2, "density");
  const gr_dtype sums = gr_histogram_dtype(b.weights.a);
  const int single = given & OUT && gr_l_option_out(L, 2, "histogram", counted->dtype, density ? GR_F64 : sums);
  if (given & SHAPE) {
    const gr_shape s = gr_l_option_shape(L, 2, a);
    if (s.rows) return push_each(L, c, of, s, &b, given, single);
    gr_l_refuse_without_rows(L, 2, a);
  }
  if (given & KERNEL) k = gr_l_option_kernel(L, 2, GR_TAUGHT_histogram, a);
  if (k.info) b.kernel = &k;
  if (k.info && b.weights.a) gr_l_argerror(L, 2, "option 'weights': takes no 'kernel'");
  if (k.info && given & MISSING)
    gr_l_argerror(L, 2, "option '%s': takes no 'kernel'", gr_l_has_option(L, 2, "mask") ? "mask" : "skipnan");
  int into = given & INTO ? into_option(L, a, &b, single) : 0;
  if (into) b.into = counts_together(L, into, a, &b);
  gr_l_reserve(L, c, (size_t)(b.bins * 16)); /* counts and edges */
  if (comm && gr_may_miss(&b.missing)) {     /* what is present lies over the ranks, too */
    const gr_partial p = {.a = of, .missing = b.missing};
    if (b.weights.a) b.weights = gr_l_push_present(L, c, comm, 2, &p, b.weights);
    of = gr_l_push_present(L, c, comm, 2, &p, of);
    gr_l_drop_elements(L, b.missing.mask);
    b.missing = (gr_missing){0};
  }
  gr_array *counts = gr_l_push_array(L);
  int at = lua_gettop(L);
  gr_array *edges = gr_l_push_array(L);
  if (comm) {
    GR_TRY_BEFORE(L, c, comm, 2, of.e, b.weights.e, gr_reduced_eval_both(c, &of, &b.weights));
    GR_TRY_RANKS(L, c, comm, 2, gr_histogram(c, of, &b, counts, edges));
  } else GR_TRY_WITH(L, c, 2, of.e, b.weights.e, gr_histogram(c, of, &b, counts, edges));
  gr_l_drop_elements(L, of);
  gr_l_drop_elements(L, b.weights);
  gr_l_drop_elements(L, b.missing.mask);
  if (into) return fill_into(L, c, into, counts, edges, &b), 1 + gr_l_push_seconds(L, &k);
  gr_array *bars = push_part(L, counts, 0, b.bins);
  push_part(L, counts, b.bins, 3);
  push_histogram(L, at + 2, at + 3, at + 1);
  if (density) {
    gr_array *out = gr_l_push_array(L);
    GR_TRY_AFTER(L, c, comm, 2, gr_density(c, bars, NULL, edges, out));
    if (single) gr_l_round_top(L, c, comm, 2);
    lua_setfield(L, -2, "density");
  }
  if (single && bars->dtype == GR_F64) {
    lua_pushvalue(L, at + 2);
    gr_l_round_top(L, c, comm, 2);
    lua_setfield(L, -2, part_names[0]);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(histogram));
  lua_setmetatable(L, -2);
  return 1 + gr_l_push_seconds(L, &k);
}

/* An element that no bin is for. Of one process it is the first argument's fault; ranks all fail in the same words. */
static gr_status wrong_element(lua_State *L, gr_context *c, const char *range, int64_t end, int64_t got) {
  char limit[32] = "";
  if (end) snprintf(limit, sizeof limit, " %lld", (long long)end);
  if (!c->comm) gr_l_argerror(L, 1, "elements %s%s expected, got %lld", range, limit, (long long)got);
  return gr_fail(c, GR_BAD, "elements %s%s expected, got %lld", range, limit, (long long)got);
}

/*
** A pass for the range and a pass for the counts, without an allocation of Lua's in between: a finalizer that writes to
** a could put a sample outside of the bins. Of an expression elements are stored, as both need them.
*/
static gr_status count_each(lua_State *L, gr_context *c, gr_reduced of, int64_t least, gr_binning *b,
                            gr_array *counts) {
  const gr_array *a = of.a;
  gr_value range = gr_value_i(-1);
  gr_status status = gr_reduced_eval(c, &of);
  int64_t n = a->n;
  if (c->comm) {
    char what[64];
    snprintf(what, sizeof what, "bincount with minlength %lld", (long long)least);
    status = gr_ranks_meet(c, what, n, 1, status);
    n = gr_ranks_all(c);
  }
  if (status == GR_OK && n) status = gr_reduce_all(c, GR_OP_minmax, a, NULL, 0, &range);
  if (status != GR_OK) return status;
  if (n && range.v[0].i < 0) return wrong_element(L, c, "of 0 or more", 0, range.v[0].i);
  if (n && range.v[1].i >= MAX_BINS) return wrong_element(L, c, "below", MAX_BINS, range.v[1].i);
  b->bins = n && range.v[1].i + 1 > least ? range.v[1].i + 1 : least;
  gr_array_release(counts); /* of a first try that ran out of memory */
  if (b->bins == 0) return gr_array_make_beside(c, a, counts, gr_histogram_dtype(b->weights.a), 0);
  status = gr_histogram(c, of, b, counts, NULL);
  counts->n = b->bins; /* without the tails */
  return status;
}

/*
** gr.bincount(a, {minlength, weights, into, mask, out}): how often each of 0 .. max occurs, i64, or the sums of the
** weights there. Negative elements are an error.
*/
static int l_bincount(lua_State *L) {
  static const char *const names[] = {"minlength", "weights", "into", "skipnan", "mask", "comm", "out", NULL};
  gr_context *c = gr_l_context(L);
  gr_reduced of = gr_l_check_operand(L, 1, 2);
  gr_array *a = of.a;
  int64_t least = 0;
  if (gr_is_float(a->dtype)) gr_l_argerror(L, 1, "integer dtype expected, got %s", gr_dtypes[a->dtype].name);
  const int given = gr_l_options_of(L, 2, names);
  if (given && gr_l_option_int(L, 2, "minlength", &least) && (least < 0 || least > MAX_BINS))
    gr_l_argerror(L, 2, "option 'minlength': 0 to %lld expected, got %lld", (long long)MAX_BINS, (long long)least);
  gr_reduced weights = given ? weights_option(L, a) : GR_NONE;
  const gr_dtype sums = gr_histogram_dtype(weights.a);
  const int single = given && gr_l_option_out(L, 2, "bincount", weights.a ? weights.a->dtype : a->dtype, sums);
  const gr_partial p = {.a = of, .missing = given ? gr_l_option_missing(L, 2, a) : (gr_missing){0}};
  gr_comm *comm = given ? gr_l_option_comm(L, 2) : NULL;
  if (gr_may_miss(&p.missing)) {
    if (weights.a) weights = gr_l_push_present(L, c, comm, 2, &p, weights);
    of = gr_l_push_present(L, c, comm, 2, &p, of);
  }
  const gr_array *room = given ? gr_l_option_array(L, 2, "into") : NULL; /* all of it is filled */
  if (room && room->n > least && room->n <= MAX_BINS) least = room->n;
  gr_binning b = {.modulo = 2, .weights = weights};
  gr_array *counts = gr_l_push_array(L);
  const int at = lua_gettop(L);
  if (comm) {
    GR_TRY_BEFORE(L, c, comm, 2, of.e, weights.e, gr_reduced_eval_both(c, &of, &b.weights));
    GR_TRY_RANKS(L, c, comm, 1, count_each(L, c, of, least, &b, counts));
  } else GR_TRY_WITH(L, c, 2, of.e, weights.e, count_each(L, c, of, least, &b, counts));
  gr_array *into = given ? gr_l_option_into(L, 2, single ? GR_F32 : sums, b.bins, a) : NULL;
  gr_l_drop_elements(L, of);
  gr_l_drop_elements(L, weights);
  gr_l_drop_elements(L, p.missing.mask);
  if (!into && !single) return gr_l_reserve(L, c, (size_t)(b.bins * 8)), 1; /* only now is it known how many */
  if (!into) return lua_settop(L, at), gr_l_round_top(L, c, comm, 2), 1;
  GR_TRY_AFTER(L, c, comm, 2, single ? gr_l_round_into(c, counts, into) : gr_copy(c, counts, into));
  gr_l_release(L, counts);
  return 1;
}

const gr_function gr_histogram_functions[] = {
    {"histogram", l_histogram, 0}, {"bincount", l_bincount, 0}, {NULL, NULL, 0}};
