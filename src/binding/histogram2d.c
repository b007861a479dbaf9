/* Histograms of pairs: the counting here; the result's methods (plot, svg) in lua/gpureduce/histogram2d.lua. */

#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/make.h"
#include "src/binding/missing.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/rounding.h"
#include "src/core/histogram2d.h"
#include "src/core/ops.h"

#define OPTIONS 3 /* the argument with the options */

static const char letters[2] = {'x', 'y'};

/* ---- options that have a part for x and one for y ---- */

/* The table on top, which is the option called name, is a list of up to two and nothing else. */
static void check_two(lua_State *L, const char *name) {
  if (gr_l_inherits(L, lua_gettop(L)))
    gr_l_argerror(L, OPTIONS, "option '%s': table without __index expected: tables are read raw", name);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    int64_t k;
    if (lua_type(L, -2) != LUA_TNUMBER || !gr_l_to_int64(L, -2, &k) || k < 1 || k > 2)
      gr_l_argerror(L, OPTIONS, "option '%s': one for x and one for y expected, got more", name);
    lua_pop(L, 1);
  }
}

/* Pushes part k (0, 1) of the option; 0 and nothing if it is not there. both: what is no table goes for both. */
static int push_part(lua_State *L, const char *name, int k, int both) {
  if (!gr_l_push_option(L, OPTIONS, name)) return 0;
  if (!lua_istable(L, -1)) {
    if (both) return 1;
    gr_l_argerror(L, OPTIONS, "option '%s': table of one for x and one for y expected, got %s", name,
                  gr_l_kind(L, lua_gettop(L)));
  }
  check_two(L, name);
  gr_rawgeti(L, -1, k + 1);
  lua_remove(L, -2);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  return 0;
}

static int read_bins(lua_State *L, int k, int64_t *bins) {
  if (!push_part(L, "bins", k, 1)) return 0;
  if (lua_type(L, -1) != LUA_TNUMBER)
    gr_l_argerror(L, OPTIONS, "option 'bins': number expected for %c, got %s", letters[k], gr_l_kind(L, lua_gettop(L)));
  if (!gr_l_to_int64(L, -1, bins))
    gr_l_argerror(L, OPTIONS, "option 'bins': whole number expected for %c, got %.14g", letters[k],
                  lua_tonumber(L, -1));
  lua_pop(L, 1);
  return 1;
}

/* One end of a range, or 0 if it is left out. */
static int read_end(lua_State *L, int k, int end, double *out) {
  gr_rawgeti(L, -1, end + 1);
  const int given = !lua_isnil(L, -1);
  if (given && lua_type(L, -1) != LUA_TNUMBER)
    gr_l_argerror(L, OPTIONS, "option 'range': two numbers expected for %c, got %s", letters[k],
                  gr_l_kind(L, lua_gettop(L)));
  *out = lua_tonumber(L, -1);
  if (given && *out - *out != 0)
    gr_l_argerror(L, OPTIONS, "option 'range': finite numbers expected for %c, got %g", letters[k], *out);
  lua_pop(L, 1);
  return given;
}

static void read_range(lua_State *L, int k, gr_binning *b) {
  if (!push_part(L, "range", k, 0)) return;
  if (!lua_istable(L, -1))
    gr_l_argerror(L, OPTIONS, "option 'range': {{x0, x1}, {y0, y1}} expected, got %s for %c",
                  gr_l_kind(L, lua_gettop(L)), letters[k]);
  check_two(L, "range");
  b->has_min = read_end(L, k, 0, &b->min);
  b->has_max = read_end(L, k, 1, &b->max);
  lua_pop(L, 1);
}

static int read_log(lua_State *L, int k) {
  if (!push_part(L, "log", k, 1)) return 0;
  if (!lua_isboolean(L, -1))
    gr_l_argerror(L, OPTIONS, "option 'log': boolean expected for %c, got %s", letters[k], gr_l_kind(L, lua_gettop(L)));
  const int log = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return log;
}

/* As f64 on a's device; left on the stack. NULL: not given. */
static gr_array *read_edges(lua_State *L, gr_context *c, const gr_array *a, int k) {
  static const char *const names[2] = {"edges[1]", "edges[2]"};
  if (!push_part(L, "edges", k, 0)) return NULL;
  gr_array *edges = gr_l_top_numbers(L, c, OPTIONS, names[k], a, GR_F64, "edge");
  gr_l_check_edges(L, OPTIONS, names[k], a, edges);
  return edges;
}

static gr_binning read_axis(lua_State *L, gr_context *c, const gr_array *a, int k) {
  gr_binning b = {.bins = 0, .limits = "range"};
  const int has_bins = read_bins(L, k, &b.bins);
  read_range(L, k, &b);
  b.log = read_log(L, k);
  b.edges = read_edges(L, c, a, k);
  if (has_bins && (b.bins < 1 || b.bins > GR_MOST_CELLS))
    gr_l_argerror(L, OPTIONS, "option 'bins': 1 to %lld expected for %c, got %lld", (long long)GR_MOST_CELLS,
                  letters[k], (long long)b.bins);
  if (b.log && b.has_min && b.min <= 0)
    gr_l_argerror(L, OPTIONS, "option 'range': above 0 expected for %c with 'log', got %.14g", letters[k], b.min);
  if (b.edges && (has_bins || b.has_min || b.has_max || b.log))
    gr_l_argerror(L, OPTIONS, "option 'edges': takes no 'bins', 'range' or 'log' for %c", letters[k]);
  if (!b.edges && !has_bins) gr_l_argerror(L, OPTIONS, "option 'bins' or 'edges' expected for %c", letters[k]);
  if (b.edges) b.bins = b.edges->n - 1;
  return b;
}

/* ---- results ---- */

/* The arrays of a histogram of pairs, in the order of `into`'s checks: counts, tails, the edges of x and of y. */
enum { COUNTS, TAILS, X_EDGES, Y_EDGES, PARTS };
static const char *const part_names[PARTS] = {"counts", "tails", "xedges", "yedges"};

/* {into = a histogram}: its parts are on the stack from the place that is returned on, beside a; 0: not given. */
static int into_option(lua_State *L, const gr_array *a, const gr_pairs *p, int single) {
  const gr_dtype sums = gr_histogram_dtype(p->weights.a), counts = single ? GR_F32 : sums;
  const gr_dtype dtypes[PARTS] = {counts, sums, GR_F64, GR_F64};
  const int64_t nx = p->bins[0].bins, ny = p->bins[1].bins, lengths[PARTS] = {nx * ny, GR_PAIRS_TAILS, nx + 1, ny + 1};
  if (!gr_l_push_option(L, OPTIONS, "into")) return 0;
  const int at = lua_gettop(L);
  luaL_getmetatable(L, GR_OWN(histogram2d));
  if (!lua_istable(L, at) || !lua_getmetatable(L, at) || !lua_rawequal(L, -1, -2))
    gr_l_argerror(L, OPTIONS, "option 'into': histogram of pairs expected, got %s", gr_l_kind(L, at));
  lua_settop(L, at);
  for (int k = 0; k < PARTS; k++) {
    lua_pushstring(L, part_names[k]);
    lua_rawget(L, at);
    const gr_array *part = gr_l_test_array(L, -1);
    if (part && gr_array_released(part))
      gr_l_argerror(L, OPTIONS, "option 'into': the histogram's %s have been released", part_names[k]);
    if (!part || part->n != lengths[k] || part->dtype != dtypes[k] || (k == COUNTS && part->rows != nx))
      gr_l_argerror(L, OPTIONS, "option 'into': histogram of %lld x %lld %s expected, got another in its %s",
                    (long long)nx, (long long)ny, gr_dtypes[counts].name, part_names[k]);
    gr_l_check_device(L, a, part, OPTIONS);
  }
  if (gr_l_option_flag(L, OPTIONS, "density")) gr_l_argerror(L, OPTIONS, "option 'density': takes no 'into'");
  return at;
}

/* The cells of what was counted, or what lies in none of them, as a view on the stack. */
static gr_array *push_view(lua_State *L, const gr_array *all, int64_t first, int64_t count, int64_t rows) {
  gr_array *part = gr_l_push_array(L);
  gr_array_view(all, part, first, 1, count);
  part->rows = rows;
  return part;
}

/* New parts go into those of the histogram at `at`, which lie above it, and are released. Pushes that histogram. */
static void fill_into(lua_State *L, gr_context *c, int at, gr_array *all, gr_array *const parts[PARTS]) {
  for (int k = 0; k < PARTS; k++) {
    gr_array *to = lua_touserdata(L, at + 1 + k);
    GR_TRY(L, c, OPTIONS, to->dtype == parts[k]->dtype ? gr_copy(c, parts[k], to) : gr_l_round_into(c, parts[k], to));
    gr_l_release(L, parts[k]);
  }
  gr_l_release(L, all);
  lua_pushvalue(L, at);
}

/* x and y lie on one device and are equally long. */
static void check_pairs(lua_State *L, const gr_array *x, const gr_array *y) {
  if (x->n != y->n) gr_l_argerror(L, 2, "length %lld expected, got %lld", (long long)x->n, (long long)y->n);
  gr_l_check_device(L, x, y, 2);
}

/* Weights are stored where they are an expression: the pairs are one already. */
static gr_reduced weights_option(lua_State *L, gr_context *c, const gr_array *a) {
  gr_reduced w = gr_l_option_operand(L, OPTIONS, "weights");
  if (!w.a) return w;
  gr_l_check_weights(L, OPTIONS, a, w.a);
  if (w.e) GR_TRY_WITH(L, c, OPTIONS, w.e, NULL, gr_reduced_eval(c, &w));
  return w;
}

static gr_pairs read_pairs(lua_State *L, gr_context *c) {
  static const char *const names[] = {"bins", "range",   "edges", "log",  "weights", "density",
                                      "into", "skipnan", "mask",  "comm", "out",     NULL};
  gr_pairs p = {.samples = {{NULL, NULL}}};
  lua_settop(L, OPTIONS);
  luaL_checkstack(L, 40, "arguments");
  for (int k = 0; k < 2; k++) p.samples[k] = gr_l_check_reduced(L, k + 1);
  check_pairs(L, p.samples[0].a, p.samples[1].a);
  if (!gr_l_options_of(L, OPTIONS, names))
    gr_l_argerror(L, OPTIONS, "options table with 'bins' or 'edges' expected, got no value");
  for (int k = 0; k < 2; k++) p.bins[k] = read_axis(L, c, p.samples[k].a, k);
  if (p.bins[0].bins > GR_MOST_CELLS / p.bins[1].bins)
    gr_l_argerror(L, OPTIONS, "%lld x %lld bins are more than %lld", (long long)p.bins[0].bins,
                  (long long)p.bins[1].bins, (long long)GR_MOST_CELLS);
  p.weights = weights_option(L, c, p.samples[0].a);
  return p;
}

/* {skipnan, mask}: what is present of the pairs and their weights goes on, in arrays on the stack. */
static void keep_present(lua_State *L, gr_context *c, gr_comm *comm, gr_pairs *p) {
  gr_partial of = {.a = p->samples[0], .b = p->samples[1]};
  of.missing = gr_l_option_missing_part(L, OPTIONS, gr_is_float(of.a.a->dtype) ? of.a.a : of.b.a);
  if (!gr_may_miss(&of.missing)) return;
  if (p->weights.a) p->weights = gr_l_push_present(L, c, comm, OPTIONS, &of, p->weights);
  for (int k = 0; k < 2; k++) p->samples[k] = gr_l_push_present(L, c, comm, OPTIONS, &of, p->samples[k]);
  for (int k = 0; k < 2; k++) gr_l_drop_elements(L, k ? of.b : of.a);
  gr_l_drop_elements(L, of.missing.mask);
}

/* gr.histogram2d(x, y, {bins, range, log} or {edges}, and with them weights, density, into, skipnan, mask, comm) */
static int l_histogram2d(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_pairs p = read_pairs(L, c);
  const gr_array *a = p.samples[0].a;
  const int64_t nx = p.bins[0].bins, ny = p.bins[1].bins;
  const gr_array *counted = p.weights.a ? p.weights.a : a;
  const int density = gr_l_option_flag(L, OPTIONS, "density");
  const gr_dtype sums = gr_histogram_dtype(p.weights.a), widest = density ? GR_F64 : sums;
  const int single = gr_l_option_out(L, OPTIONS, "histogram2d", counted->dtype, widest);
  const int into = into_option(L, a, &p, single);
  gr_comm *comm = gr_l_option_comm(L, OPTIONS);
  if (comm && into) gr_l_refuse_with_comm(L, OPTIONS, "into");
  keep_present(L, c, comm, &p);
  gr_l_reserve(L, c, (size_t)(nx * ny + nx + ny) * 8);
  gr_array *all = gr_l_push_array(L), *edges[2];
  static const int places[PARTS] = {3, 4, 1, 2}; /* of the parts on the stack, above all of them */
  const int first = lua_gettop(L);
  for (int k = 0; k < 2; k++) edges[k] = gr_l_push_array(L);
  if (comm) GR_TRY_RANKS(L, c, comm, OPTIONS, gr_histogram2d(c, &p, all, edges));
  else GR_TRY_WITH(L, c, OPTIONS, p.samples[0].e, p.samples[1].e, gr_histogram2d(c, &p, all, edges));
  for (int k = 0; k < 2; k++) gr_l_drop_elements(L, p.samples[k]);
  gr_array *parts[PARTS] = {[X_EDGES] = edges[0], [Y_EDGES] = edges[1]};
  parts[COUNTS] = push_view(L, all, 0, nx * ny, nx);
  parts[TAILS] = push_view(L, all, nx * ny, GR_PAIRS_TAILS, 0);
  if (into) return fill_into(L, c, into, all, parts), 1;
  lua_createtable(L, 0, PARTS + 1);
  for (int k = 0; k < PARTS; k++) {
    lua_pushvalue(L, first + places[k]);
    lua_setfield(L, -2, part_names[k]);
  }
  if (density) {
    gr_l_reserve(L, c, (size_t)(nx * ny) * 8);
    gr_array *out = gr_l_push_array(L);
    GR_TRY_AFTER(L, c, comm, OPTIONS, gr_density(c, parts[COUNTS], edges[0], edges[1], out));
    if (single) gr_l_round_top(L, c, comm, OPTIONS);
    lua_setfield(L, -2, "density");
  }
  if (single && sums == GR_F64) {
    lua_pushvalue(L, first + places[COUNTS]);
    gr_l_round_top(L, c, comm, OPTIONS);
    lua_setfield(L, -2, part_names[COUNTS]);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(histogram2d));
  lua_setmetatable(L, -2);
  return 1;
}

const gr_function gr_histogram2d_functions[] = {{"histogram2d", l_histogram2d, 0}, {NULL, NULL, 0}};
