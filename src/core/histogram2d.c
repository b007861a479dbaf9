/*
** A formula makes the number of each pair's cell as it is counted, so that pairs are read once and nothing is stored
** between. Which bin of an axis a sample is in: of even bins and those by equal factors a product (of the logarithm's)
** says which edge is nearest, and that edge, made anew by the arithmetic that edges are made by, on which side of it.
** Bins between other edges are searched for before, by halves, with one lookup for each of the halves.
*/
#include "src/core/histogram2d.h"

#include <stdio.h>

#include "kernels/numerics/math.h"
#include "src/core/exact.h"
#include "src/core/formula/bind.h"
#include "src/core/lookup.h"
#include "src/core/ops.h"
#include "src/core/ranks/meet.h"

/* ---- formulas ---- */

static gr_status eval(gr_context *c, const char *text, const gr_named *words, int count, gr_array *out) {
  gr_expression *e;
  gr_status status = gr_formula_express(c, text, words, count, &e);
  if (status == GR_OK) status = gr_expression_eval(c, e, out);
  gr_expression_drop(e);
  return status;
}

/* ---- bins between any edges ---- */

/* So many samples are searched for at a time: what lies between stays in a cache, or is worth a launch. */
#define PIECE_ON_HOST ((int64_t)1 << 14)
#define PIECE_ON_DEVICE ((int64_t)1 << 22)

/*
** found: of each sample in [first edge, last edge] its bin, from 1; of others any. `at` and `edge`: as long, for what
** lies between. Bins [found, found + count) hold the answer, the same count for all samples: whether the upper half of
** them begins at or below the sample says which half is left.
*/
static gr_status search_piece(gr_context *c, const gr_array *edges, int64_t bins, const gr_array *samples,
                              gr_array *found, gr_array *at, gr_array *edge) {
  const int whole = edges->dtype == GR_I64;
  gr_named words[] = {{"found", {.array = found}},
                      {"at", {.array = at}},
                      {"edge", {.array = edge}},
                      {"sample", {.array = samples}},
                      {"half", {.number = gr_number_i(0)}}};
  gr_status status = gr_fill(c, found, gr_value_i(1));
  for (int64_t count = bins, half; count > 1 && status == GR_OK; count -= half) {
    half = count / 2;
    words[4].given.number = gr_number_i(half);
    status = eval(c, "found + half", words, 5, at);
    if (status == GR_OK) status = gr_take_known(c, edges, at, edge);
    if (status == GR_OK)
      status = eval(c, whole ? "where(edge <= i64(sample), at, found)" : "where(edge <= f64(sample), at, found)", words,
                    5, found);
  }
  return status;
}

static gr_status search(gr_context *c, const gr_array *a, const gr_made_bins *made, int64_t bins, gr_array *found) {
  const gr_array *edges = made->limits.storage ? &made->limits : made->edges;
  const int64_t most = gr_kernel_side(a->storage) == GR_HOST ? PIECE_ON_HOST : PIECE_ON_DEVICE;
  const int64_t room = a->n < most ? a->n : most;
  gr_array at = {0}, edge = {0};
  gr_status status = gr_array_make_beside(c, a, found, GR_I32, a->n);
  if (status == GR_OK) status = gr_array_make_beside(c, a, &at, GR_I32, room);
  if (status == GR_OK) status = gr_array_make_beside(c, a, &edge, edges->dtype, room);
  if (a->n > most) gr_stop_begin(&c->stop);
  for (int64_t first = 0; first < a->n && status == GR_OK; first += most) {
    const int64_t n = a->n - first < most ? a->n - first : most;
    if (first && (status = gr_context_look(c)) != GR_OK) break;
    const gr_array samples = gr_array_part(a, first, 1, n);
    gr_array into = gr_array_part(found, first, 1, n);
    gr_array places = gr_array_part(&at, 0, 1, n), ends = gr_array_part(&edge, 0, 1, n);
    status = search_piece(c, edges, bins, &samples, &into, &places, &ends);
  }
  gr_array_release(&at);
  gr_array_release(&edge);
  return status;
}

/* ---- cells ---- */

typedef enum axis_kind {
  ALONE,    /* one bin, in which is what lies between its edges */
  EVEN_F32, /* whose bins may be estimated in f32 */
  EVEN,
  FACTORS,
  FOUND,
  KINDS
} axis_kind;

/* The samples along x or y: their bins, and how a formula says which. */
typedef struct axis {
  gr_reduced of;
  gr_array flat; /* the samples, if they lie somewhere: their matrix read row by row */
  gr_array found;
  gr_made_bins made;
  axis_kind kind;
  int whole; /* i64 samples, which are compared with whole limits */
  int64_t bins;
} axis;

static int is_float(const axis *x) { return gr_is_float(x->of.a->dtype); }

/*
** A formula's text for the bin of one axis, by its letter and the words that axis_words has. An estimate, wrong by less
** than half a bin, says which edge between two bins is nearest to the sample; so the sample is in the bin on this side
** of that edge or in the one on the other, and one edge has to be made.
*/
static void bin_text(const axis *x, char v, char *out, size_t size) {
  const gr_dtype t = x->of.a->dtype;
  char narrow[8], wide[8], nearest[80], edge[160];
  if (x->kind == ALONE) snprintf(out, size, "0");
  if (x->kind == FOUND) snprintf(out, size, "%c_found - 1", v);
  if (x->kind == ALONE || x->kind == FOUND) return;
  snprintf(narrow, sizeof narrow, t == GR_F32 ? "%c" : "f32(%c)", v);
  snprintf(wide, sizeof wide, t == GR_F64 ? "%c" : "f64(%c)", v);
  snprintf(nearest, sizeof nearest, "clamp(i32((%s%s%s - %c_from) * %c_by), 1, %c_top)",
           x->kind == FACTORS ? "log(" : "", x->kind == EVEN_F32 ? narrow : wide, x->kind == FACTORS ? ")" : "", v, v,
           v);
  snprintf(edge, sizeof edge, x->kind == FACTORS ? "exp(f64(%s) * %c_step + %c_zero)" : "f64(%s) * %c_step + %c_zero",
           nearest, v, v);
  if (x->whole) snprintf(out, size, "where(%c < i64(ceil(%s)), %s - 1, %s)", v, edge, nearest, nearest);
  else snprintf(out, size, "where(%s < %s, %s - 1, %s)", wide, edge, nearest, nearest);
}

enum { BIN_TEXT = 512, CELL_TEXT = 2 * BIN_TEXT + 256 };

static void cell_text(const axis axes[2], char out[CELL_TEXT]) {
  const int x = is_float(&axes[0]), y = is_float(&axes[1]);
  const char *nan = x && y ? "isnan(x) or isnan(y)" : x ? "isnan(x)" : "isnan(y)";
  char bin[2][BIN_TEXT], inside[2][64];
  for (int k = 0; k < 2; k++) {
    const gr_dtype t = axes[k].of.a->dtype;
    const char *half = t == GR_F16 || t == GR_BF16 ? "f32" : "", v = "xy"[k];
    bin_text(&axes[k], v, bin[k], BIN_TEXT);
    snprintf(inside[k], sizeof inside[k], "%s(%c) >= %c_low and %s(%c) <= %c_high", half, v, v, half, v, v);
  }
  if (x || y)
    snprintf(out, CELL_TEXT, "where(%s and %s, (%s) * y_bins + (%s), outside + i32(%s))", inside[0], inside[1], bin[0],
             bin[1], nan);
  else /* of two single bins the cell is a number, and so is what lies outside of them */
    snprintf(out, CELL_TEXT, "i32(where(%s and %s, (%s) * y_bins + (%s), outside))", inside[0], inside[1], bin[0],
             bin[1]);
}

/* The least float in the first bin, and the greatest in the last one. */
static double float_end(double edge, int is_last) {
  const float f = (float)edge;
  return is_last ? f > edge ? nextafterf(f, -INFINITY) : f : f < edge ? nextafterf(f, INFINITY) : f;
}

/* The same of integers. */
static int64_t whole_end(double edge, int is_last) {
  return edge >= 0x1p63 ? INT64_MAX : edge < -0x1p63 ? INT64_MIN : gr_edge_limit(edge, is_last);
}

enum { AXIS_WORDS = 9 };

static void axis_words(const axis *x, char letter, gr_named out[AXIS_WORDS]) {
  static const char *const names[AXIS_WORDS] = {"",      "_found", "_low", "_high", "_from",
                                                "_zero", "_step",  "_by",  "_top"};
  const double first = x->made.first, last = x->made.last;
  const double low = x->kind == FACTORS ? gr_log(first) : first, high = x->kind == FACTORS ? gr_log(last) : last;
  const double step = (high - low) / (double)x->bins, by = (double)x->bins / (high - low);
  const double from = low - step / 2;
  const int floats = is_float(x) && x->of.a->dtype != GR_F64;
  const gr_number numbers[AXIS_WORDS] = {
      [2] = x->whole ? gr_number_i(whole_end(first, 0)) : gr_number_f(floats ? float_end(first, 0) : first),
      [3] = x->whole ? gr_number_i(whole_end(last, 1)) : gr_number_f(floats ? float_end(last, 1) : last),
      [4] = gr_number_f(x->kind == EVEN_F32 ? (float)from : from),
      [5] = gr_number_f(low),
      [6] = gr_number_f(step),
      [7] = gr_number_f(x->kind == EVEN_F32 ? (float)by : by),
      [8] = gr_number_i(x->bins - 1),
  };
  for (int k = 0; k < AXIS_WORDS; k++) {
    out[k].given = (gr_given){.number = numbers[k]};
    snprintf(out[k].name, sizeof out[k].name, "%c%s", letter, names[k]);
  }
  if (x->of.e) out[0].given.expression = x->of.e;
  else out[0].given.array = &x->flat;
  out[1].given.array = &x->found;
}

/*
** Whether samples have 32 bits or fewer, and an estimate in f32 is wrong by less than half a bin: by what is lost of
** the place where it begins, and of samples that are integers, and by three roundings of the result. Edges may be a
** fourth of a bin from where bins of one width would put them (see kind_of).
*/
static int fits_f32(const axis *x) {
  const gr_dtype t = x->of.a->dtype;
  const double step = (x->made.last - x->made.first) / (double)x->bins, from = x->made.first - step / 2;
  const double largest = fmax(fabs(from), fabs(x->made.last));
  const double lost = fabs(from - (float)from) + (t == GR_U32 || t == GR_I32 ? largest * 0x1p-24 : 0);
  if (gr_size(t) > 4) return 0;
  if (!(largest < 0x1p120) || !(step > 0x1p-120)) return 0;
  return lost / step + (double)x->bins * 0x1p-22 < 0x1p-3;
}

/*
** Whether an estimate says the nearest edge, and the edges by the formula are those of the axis: steps are wide beside
** what the arithmetic rounds (even ones of 2^-49 of their ends or more, which is 8 roundings of f64 there), and whole
** limits far from the ends of their dtype.
*/
static axis_kind kind_of(const axis *x, const gr_binning *b) {
  const double first = x->made.first, last = x->made.last;
  if (x->bins == 1) return ALONE;
  if (x->whole && !(fmax(fabs(first), fabs(last)) < 0x1p62)) return FOUND;
  if (b->edges) return FOUND;
  if (!b->log) return !x->made.rise ? FOUND : fits_f32(x) ? EVEN_F32 : EVEN;
  return (gr_log(last) - gr_log(first)) / (double)b->bins > 0x1p-36 ? FACTORS : FOUND;
}

static gr_status prepare_axis(gr_context *c, const gr_binning *b, axis *x) {
  const int ranged = !b->edges && !(b->has_min && b->has_max);
  gr_status status = GR_OK;
  x->whole = x->of.a->dtype == GR_I64;
  if (x->of.e && (ranged || gr_expression_rows(x->of.e))) status = gr_reduced_eval(c, &x->of);
  if (status == GR_OK) status = gr_make_bins(c, x->of.a, b, &x->made);
  if (status != GR_OK) return status;
  x->kind = kind_of(x, b);
  if (x->of.e && x->kind == FOUND) status = gr_reduced_eval(c, &x->of);
  x->flat = *x->of.a; /* lives no longer than this call */
  x->flat.rows = 0;
  if (status == GR_OK && x->kind == FOUND) status = search(c, &x->flat, &x->made, x->bins, &x->found);
  return status;
}

/* The number of each pair's cell, as an expression in memory of its own. */
static gr_status express_cells(gr_context *c, const axis axes[2], int64_t cells, gr_expression **e) {
  char text[CELL_TEXT];
  gr_named words[2 * AXIS_WORDS + 2];
  axis_words(&axes[0], 'x', words);
  axis_words(&axes[1], 'y', words + AXIS_WORDS);
  words[2 * AXIS_WORDS] = (gr_named){"y_bins", {.number = gr_number_i(axes[1].bins)}};
  words[2 * AXIS_WORDS + 1] = (gr_named){"outside", {.number = gr_number_i(cells + GR_PAIRS_OUTSIDE)}};
  cell_text(axes, text);
  return gr_formula_express(c, text, words, 2 * AXIS_WORDS + 2, e);
}

static gr_status count(gr_context *c, axis axes[2], gr_reduced weights, gr_array *counts) {
  gr_expression *e;
  gr_array promise = {0};
  const int64_t cells = axes[0].bins * axes[1].bins;
  gr_binning b = {.bins = cells + GR_PAIRS_TAILS, .modulo = 2, .weights = weights};
  gr_status status = express_cells(c, axes, cells, &e);
  if (status == GR_BAD && (axes[0].of.e || axes[1].of.e)) { /* together they are more than an expression holds */
    gr_expression_drop(e);
    status = gr_reduced_eval_both(c, &axes[0].of, &axes[1].of);
    e = NULL;
    if (status == GR_OK) status = express_cells(c, axes, cells, &e);
  }
  if (status == GR_OK) status = gr_expression_promise(c, e, &promise);
  if (c->comm) status = gr_ranks_agree(c, status);
  if (status == GR_OK) status = gr_histogram(c, (gr_reduced){e, &promise}, &b, counts, NULL);
  if (status == GR_OK) counts->n = b.bins; /* nothing lies outside of these */
  if (promise.storage) gr_array_release(&promise);
  gr_expression_drop(e);
  return status;
}

/* ---- ranks ---- */

/* Meets the other ranks, which must bin alike; operands that are not stored yet are so before. */
static gr_status meet(gr_context *c, const gr_pairs *p, axis axes[2]) {
  char text[GR_CARD_TEXT];
  size_t at = (size_t)snprintf(text, sizeof text, "histogram2d, weights %s",
                               p->weights.a ? gr_dtypes[p->weights.a->dtype].name : "none");
  gr_status status = GR_OK;
  for (int k = 0; k < 2; k++) {
    const gr_binning *b = &p->bins[k];
    uint64_t sum[2] = {0, 0};
    if (status == GR_OK) status = gr_reduced_eval(c, &axes[k].of);
    const double min = b->has_min ? b->min : NAN, max = b->has_max ? b->max : NAN;
    char first[40], last[40];
    if (status == GR_OK && b->edges) status = gr_digest_here(c, b->edges, sum);
    /* Two such texts fit into one error, so ends are short; all of their digits go into the digest. */
    gr_digest_add(sum, gr_bits64(min), 0);
    gr_digest_add(sum, gr_bits64(max), 1);
    at += (size_t)snprintf(text + at, sizeof text - at, ", %c: %s, %lld bins%s from %s to %s, edges %08x", "xy"[k],
                           gr_dtypes[axes[k].of.a->dtype].name, (long long)b->bins, b->log ? " log" : "",
                           gr_ranks_digits(min, 6, first), gr_ranks_digits(max, 6, last), (unsigned)sum[0]);
  }
  return gr_ranks_meet(c, text, axes[0].of.a->n, 1, status);
}

/* What is wrong with the bins is so along one of the axes. */
static void say_axis(gr_context *c, gr_status status, int k) {
  const size_t length = strlen(c->error);
  if (status == GR_BAD) snprintf(c->error + length, sizeof c->error - length, " (along %c)", "xy"[k]);
}

gr_status gr_histogram2d(gr_context *c, const gr_pairs *p, gr_array *counts, gr_array *const edges[2]) {
  axis axes[2];
  gr_status status = GR_OK;
  gr_array_release(counts); /* of a first try that ran out of memory */
  memset(axes, 0, sizeof axes);
  for (int k = 0; k < 2; k++) {
    gr_array_release(edges[k]);
    axes[k].of = p->samples[k];
    axes[k].made.edges = edges[k];
    axes[k].bins = p->bins[k].bins;
  }
  if (c->comm) status = meet(c, p, axes);
  for (int k = 0; k < 2 && status == GR_OK; k++) {
    status = prepare_axis(c, &p->bins[k], &axes[k]);
    say_axis(c, status, k);
    if (c->comm) status = gr_ranks_agree(c, status);
  }
  if (status == GR_OK) status = count(c, axes, p->weights, counts);
  for (int k = 0; k < 2; k++) {
    gr_array_release(&axes[k].made.limits);
    gr_array_release(&axes[k].found);
  }
  return status;
}
