/* Random numbers, orders and choices: the same on every backend. */
#include "kernels/numerics/math.h"
#include "src/binding/expression.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/core/random.h"

/*
** {seed, stream}: which numbers; or, without a seed, that the next ones of the state are wanted (named: 0), which are
** taken when all arguments have been checked.
*/
static gr_draw check_draw(lua_State *L, int options, int *named) {
  int64_t seed = 0, stream = 0;
  *named = gr_l_option_int(L, options, "seed", &seed);
  if (gr_l_option_int(L, options, "stream", &stream) && !*named)
    gr_l_argerror(L, options, "option 'stream': only together with 'seed'");
  if (stream < 0 || (uint64_t)stream >= GR_STREAMS)
    gr_l_argerror(L, options, "option 'stream': 0 or more, below 2^62, expected, got %lld", (long long)stream);
  return (gr_draw){(uint64_t)seed, (uint64_t)stream};
}

/* What a function of random numbers fills, with which numbers, and whose ranks have a part of it each. */
typedef struct drawing {
  gr_array *out;
  gr_draw draw;
  gr_comm *comm;
} drawing;

/* By the options, and on the stack; the last thing to be checked. */
static drawing begin_drawing(lua_State *L, gr_context *c, int options, gr_dtype t, int64_t n) {
  int named;
  drawing d = {.draw = check_draw(L, options, &named)};
  d.comm = gr_l_option_comm(L, options);
  d.out = gr_l_option_into(L, options, t, n, NULL);
  if (!d.out) d.out = gr_l_new_part(L, c, d.comm, NULL, t, n);
  if (!named) d.draw = gr_random_take(c);
  return d;
}

static const char *const of_drawing[] = {"dtype", "seed", "stream", "into", "comm", NULL};

/* gr.rand(n, dtype, {dtype, seed, stream, into}), gr.randn, gr.exponential: the upvalue is the kind. */
static int l_random(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const int options = gr_l_options_at(L, 2, 3);
  int64_t n = gr_l_check_length(L, 1);
  gr_l_options_of(L, options, of_drawing);
  gr_dtype t = gr_l_dtype(L, 2, options, GR_F32);
  if (!gr_is_float(t)) gr_l_argerror(L, 2, "float dtype expected, got %s", gr_dtypes[t].name);
  const drawing d = begin_drawing(L, c, options, t, n);
  GR_TRY_RANKS(L, c, d.comm, 1, gr_random(c, d.out, d.draw, (int)gr_l_number(L)));
  return 1;
}

/* The integer dtype at arg, or of the option; i64 if there is none. */
static gr_dtype integer_dtype(lua_State *L, int arg, int options) {
  const gr_dtype t = gr_l_dtype(L, arg, options, GR_I64);
  if (gr_is_float(t)) gr_l_argerror(L, arg, "integer dtype expected, got %s", gr_dtypes[t].name);
  return t;
}

/* An end of a range, at arg, as an element of dtype t. */
static int64_t check_end(lua_State *L, int arg, gr_dtype t) {
  const int64_t x = gr_l_check_int(L, arg);
  if (x < gr_dtypes[t].lowest || x > gr_dtypes[t].highest)
    gr_l_argerror(L, arg, "value %lld does not fit %s (%lld to %lld)", (long long)x, gr_dtypes[t].name,
                  (long long)gr_dtypes[t].lowest, (long long)gr_dtypes[t].highest);
  return x;
}

/* gr.randint(low, high, n, dtype, {dtype, seed, stream, into}): both ends included, as in math.random. */
static int l_randint(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const int options = gr_l_options_at(L, 4, 5);
  gr_l_check_int(L, 1);
  gr_l_check_int(L, 2);
  const int64_t n = gr_l_check_length(L, 3);
  gr_l_options_of(L, options, of_drawing);
  const gr_dtype t = integer_dtype(L, 4, options);
  const int64_t low = check_end(L, 1, t), high = check_end(L, 2, t);
  if (high < low) gr_l_argerror(L, 2, "%lld or more expected, got %lld", (long long)low, (long long)high);
  const drawing d = begin_drawing(L, c, options, t, n);
  GR_TRY_RANKS(L, c, d.comm, 1, gr_random_whole(c, d.out, d.draw, low, (uint64_t)high - (uint64_t)low + 1));
  return 1;
}

/* gr.permutation(n, dtype, {dtype, seed, stream, into}): 1 .. n in random order. */
static int l_permutation(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const int options = gr_l_options_at(L, 2, 3);
  const int64_t n = gr_l_check_length(L, 1);
  gr_l_options(L, options, "dtype", "seed", "stream", "into");
  const gr_dtype t = integer_dtype(L, 2, options);
  if (n > gr_dtypes[t].highest)
    gr_l_argerror(L, 1, "length of at most %lld, the highest of %s, expected, got %lld",
                  (long long)gr_dtypes[t].highest, gr_dtypes[t].name, (long long)n);
  const drawing d = begin_drawing(L, c, options, t, n);
  GR_TRY(L, c, 1, gr_random_order(c, d.out, d.draw, n));
  return 1;
}

/* The choice, into the option 'into' or a new array of k elements; leaves it on the stack. */
static int choose(lua_State *L, int options, gr_choice *choice, int64_t k) {
  gr_context *c = gr_l_context(L);
  const gr_array *a = choice->a;
  int named;
  choice->draw = check_draw(L, options, &named);
  gr_array *out = gr_l_option_into(L, options, a->dtype, k, a);
  gr_l_check_disjoint(L, options, out, a, "input");
  gr_l_check_disjoint(L, options, out, choice->weights, "weights");
  if (!out) out = gr_l_new_beside(L, c, a, a->dtype, k);
  if (!named) choice->draw = gr_random_take(c);
  GR_TRY(L, c, options, gr_choose(c, choice, out));
  return 1;
}

/* gr.shuffle(a, {seed, stream, into}): all elements in random order. */
static int l_shuffle(lua_State *L) {
  gr_choice choice = {.a = gr_l_check_elements(L, 1)};
  gr_l_options(L, 2, "seed", "stream", "into");
  return choose(L, 2, &choice, choice.a->n);
}

/* {replace}: yes, if it does not say no. */
static int replaces(lua_State *L) { return !gr_l_has_option(L, 3, "replace") || gr_l_option_flag(L, 3, "replace"); }

/* gr.choice(a, k, {replace, weights, seed, stream, into}) */
static int l_choice(lua_State *L) {
  gr_choice choice = {.a = gr_l_check_elements(L, 1)};
  const gr_array *a = choice.a;
  const int64_t k = gr_l_check_length(L, 2);
  gr_l_options(L, 3, "replace", "weights", "seed", "stream", "into");
  choice.replace = replaces(L);
  const gr_array *w = choice.weights = gr_l_option_elements(L, 3, "weights");
  if (w) gr_l_check_weights(L, 3, a, w);
  if (k && !a->n) gr_l_argerror(L, 1, "array is empty: '%s' needs an element", gr_l_name(L));
  if (!choice.replace && k > a->n)
    gr_l_argerror(L, 2, "%lld elements at most, each once, expected, got %lld", (long long)a->n, (long long)k);
  return choose(L, 3, &choice, k);
}

/* gr.seed(n): random numbers without a seed of their own start again, with this one. */
static int l_seed(lua_State *L) {
  gr_random_start(gr_l_context(L), (uint64_t)gr_l_check_int(L, 1));
  return 0;
}

const gr_function gr_random_functions[] = {
    {"rand", l_random, GR_UNIFORM},
    {"randn", l_random, GR_NORMAL},
    {"exponential", l_random, GR_EXPONENTIAL},
    {"randint", l_randint, 0},
    {"permutation", l_permutation, 0},
    {"shuffle", l_shuffle, 0},
    {"choice", l_choice, 0},
    {"seed", l_seed, 0},
    {NULL, NULL, 0},
};
