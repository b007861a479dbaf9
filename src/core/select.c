#include "src/core/select.h"

#include <stdio.h>
#include <stdlib.h>
#include "kernels/numerics/digest.h"
#include "src/core/pool.h"
#include "src/core/ranks/meet.h"
#include "src/core/select_few.h"
#include "src/core/select_weighted.h"

#define GR_X(id, name) #name,
const char *const gr_method_names[] = {GR_METHODS(GR_X) NULL};
#undef GR_X

/*
** Radix selection on the order keys: count the highest digit of all keys, follow each wanted rank into the group of
** keys that share the digit it falls on, count the next digit of those groups, and so on. Ranks that fall into the
** same group share its counters.
*/

/* A wanted rank: the digits of its key that are known, and how many keys of its group come before it. */
typedef struct rank {
  int64_t wanted, left;
  uint64_t prefix;
} rank;

typedef struct selection {
  gr_context *c;
  gr_array data, picked; /* data: a view of what is searched */
  rank *ranks;
  int64_t count, nans;
  int known, width; /* bits of the keys */
} selection;

#define DIGIT 11 /* bits */
#define FEWER 8  /* candidates are picked when they are at most 1 / FEWER of the data */
/*
** A device's array is searched on the host when elements x ranks / bytes of an element are at most HOST_ELEMENTS and
** all lie within HOST_BYTES: bringing them takes 10 to 25 us, less than the device's passes (docs/findings/select.md).
*/
#define HOST_ELEMENTS 4096
#define HOST_BYTES 262144

/* The bits that the next passes can take, with so many groups. */
static int digit_of(const selection *s, int groups) {
  int bits = DIGIT, left = s->width - s->known;
  while (((int64_t)groups << bits) > GR_SELECT_COUNTERS) bits--;
  return bits < left ? bits : left;
}

/*
** The prefixes of ranks first ... that differ, at most GR_SELECT_GROUPS; *next: the first rank that is not among them.
*/
static int groups_from(const selection *s, int64_t first, int64_t *next, uint64_t *prefixes) {
  int groups = 0;
  for (*next = first; *next < s->count; ++*next) {
    const uint64_t prefix = s->ranks[*next].prefix;
    if (groups && prefixes[groups - 1] == prefix) continue;
    if (groups == GR_SELECT_GROUPS) break;
    prefixes[groups++] = prefix;
  }
  return groups;
}

static gr_status describe(const selection *s, int groups, int bits, const uint64_t *prefixes, gr_groups *of) {
  *of = (gr_groups){.dtype = s->data.dtype, .n = s->data.n, .groups = groups, .prefixes = prefixes};
  of->shift = s->width - s->known - bits;
  of->bits = bits;
  return gr_array_read(&s->data, gr_kernel_side(s->data.storage), &of->a);
}

/* One step further into each rank's group, by its counters; returns how many keys are in the groups stepped into. */
static int64_t follow(selection *s, int64_t first, int64_t end, int bits, const int64_t *counts) {
  int64_t group = -1, candidates = 0, digit = 0, before = 0;
  uint64_t prefix = 0;
  for (int64_t k = first; k < end; k++) {
    rank *r = &s->ranks[k];
    int fresh = group < 0 || r->prefix != prefix;
    if (fresh) {
      group++;
      prefix = r->prefix;
      digit = before = 0;
    }
    const int64_t *of = counts + (group << bits);
    while (before + of[digit] <= r->left) before += of[digit++], fresh = 1;
    if (fresh) candidates += of[digit];
    r->left -= before;
    r->prefix = prefix << bits | (uint64_t)digit;
    /* The next rank of this group is counted from the group's start as well. */
  }
  return candidates;
}

/* Count one digit of ranks first .. *next - 1. */
static gr_status count_digit(selection *s, int64_t first, int64_t *next, int *bits, int64_t *candidates) {
  uint64_t prefixes[GR_SELECT_GROUPS];
  gr_digits_job job;
  gr_array counts = {0};
  gr_vec v;
  gr_queue *q = s->data.storage->queue;
  const gr_side side = gr_kernel_side(s->data.storage);
  const int groups = groups_from(s, first, next, prefixes);
  if (!*bits) *bits = digit_of(s, groups);
  const int64_t slots = (int64_t)groups << *bits;
  gr_status status = describe(s, groups, *bits, prefixes, &job.of);
  if (status == GR_OK) status = gr_array_make_open(s->c, &s->data, &counts, GR_I64, slots + 1, side, &v);
  if (status == GR_OK) {
    job.counts = (int64_t *)(uintptr_t)v.data;
    status = gr_fail_from(s->c, q, q->backend->digits(q, &job), "quantile", 0);
  }
  if (status == GR_OK && s->c->comm) status = gr_array_write(&counts, GR_HOST, 0, &v);
  else if (status == GR_OK) status = gr_array_read(&counts, GR_HOST, &v);
  if (s->c->comm) status = gr_ranks_add(s->c, (uint64_t *)(uintptr_t)v.data, slots + 1, status);
  if (status == GR_OK) {
    const int64_t *got = v.data;
    s->nans = got[slots];
    if (!s->nans) *candidates += follow(s, first, *next, *bits, got);
  }
  gr_array_release(&counts);
  return status;
}

/* From here on look at the candidates alone. */
static gr_status pick_candidates(selection *s, int64_t candidates) {
  uint64_t prefixes[GR_SELECT_GROUPS];
  int64_t next;
  gr_pick_job job;
  gr_array out = {0}, found = {0};
  gr_vec v = {0};
  gr_queue *q = s->data.storage->queue;
  const gr_side side = gr_kernel_side(s->data.storage);
  const int groups = groups_from(s, 0, &next, prefixes);
  gr_status status = describe(s, groups, 0, prefixes, &job.of);
  if (status == GR_OK) status = gr_array_make_open(s->c, &s->data, &out, s->data.dtype, candidates, side, &v);
  job.out = (void *)(uintptr_t)v.data;
  if (status == GR_OK) status = gr_array_make_open(s->c, &s->data, &found, GR_I64, 1, side, &v);
  job.found = (int64_t *)(uintptr_t)v.data;
  if (status == GR_OK) status = gr_fail_from(s->c, q, q->backend->pick(q, &job), "quantile", 0);
  gr_array_release(&found);
  if (status == GR_OK) {
    s->picked = out;
    s->data = out;
  } else {
    gr_array_release(&out);
  }
  return status;
}

/* Whether picking pays: it is a pass itself, and the passes after it are nearly free. */
static int pays(const selection *s, int64_t candidates) {
  const int left = s->width - s->known;
  int64_t next;
  uint64_t prefixes[GR_SELECT_GROUPS];
  const int groups = groups_from(s, 0, &next, prefixes), bits = digit_of(s, groups);
  return !s->picked.storage && next == s->count && left > 2 * bits && candidates <= s->data.n / FEWER;
}

static gr_status select_all(selection *s) {
  gr_status status = GR_OK;
  while (s->known < s->width && status == GR_OK && !s->nans) {
    int bits = 0;
    int64_t next = 0, candidates = 0;
    uint64_t prefixes[GR_SELECT_GROUPS];
    groups_from(s, 0, &next, prefixes);
    /* Too many ranks for one pass: all take digits of one width. */
    if (next < s->count) bits = digit_of(s, GR_SELECT_GROUPS);
    next = 0;
    while (next < s->count && status == GR_OK && !s->nans) status = count_digit(s, next, &next, &bits, &candidates);
    s->known += bits;
    /* Over ranks, candidates of one would not be worth a decision of all. */
    if (status == GR_OK && !s->nans && !s->c->comm && pays(s, candidates)) status = pick_candidates(s, candidates);
  }
  return status;
}

/* ---- few elements ---- */

/* Whether the host sorts it out by itself; of data in its own memory four times as much, as its other way is slower. */
static int is_few(const selection *s) {
  const gr_storage *from = s->data.storage;
  const int64_t size = gr_size(s->data.dtype), apart = s->data.stride < 0 ? -s->data.stride : s->data.stride;
  const int own = gr_kernel_side(from) == GR_HOST;
  if (s->c->comm) return 0;
  if (from->queue->error[0] || s->data.n > (own ? 4 : 1) * HOST_ELEMENTS * size / s->count) return 0;
  return own || from->full[GR_HOST] || (from->bytes <= 4 * HOST_BYTES && (s->data.n - 1) * apart < HOST_BYTES);
}

static gr_status select_few(selection *s) {
  const int64_t n = s->data.n;
  gr_vec v;
  gr_status status = gr_array_read(&s->data, GR_HOST, &v);
  if (status != GR_OK) return status;
  gr_queue *q = s->data.storage->queue;
  size_t bytes = (size_t)n * 2 * sizeof(uint64_t);
  uint64_t *keys = gr_pool_take(NULL, q, &bytes);
  if (!keys) return gr_fail_memory(s->c, NULL, bytes);
  s->nans = gr_keys_of(s->data.dtype, v, n, keys);
  for (int64_t k = 0; k < s->count && !s->nans; k++) {
    rank *r = s->ranks + k;
    uint64_t pair[2];
    gr_keys_at(keys, n, r->wanted, keys + n, pair);
    r->prefix = pair[0];
    if (k + 1 < s->count && r[1].wanted == r->wanted + 1) r[1].prefix = pair[1], k++;
  }
  gr_pool_give(NULL, q, keys, bytes);
  return GR_OK;
}

/* ---- quantiles from ranks ---- */

/* Where a share falls: between the elements of ranks low and high (from 0), weight of the way. */
typedef struct position {
  int64_t low, high;
  double weight;
} position;

/* Between the elements on both sides of h; beyond the ends, at them. */
static position between_ranks(double h, int64_t n) {
  if (h >= (double)(n - 1)) return (position){n - 1, n - 1, 0};
  if (h < 0) return (position){0, 0, 0};
  return (position){(int64_t)floor(h), (int64_t)floor(h) + 1, h - floor(h)};
}

/* At the first of the two elements around h, or at the next one. */
static position at_rank(double h, int64_t n, int first) {
  const double k = first ? floor(h) : floor(h) + 1;
  return between_ranks(k, n);
}

/*
** The methods of Hyndman and Fan (Sample quantiles in statistical packages, 1996), computed as NumPy does. Of samples
** that stand for a continuous distribution: positions by alpha and beta, which say what lies outside of them.
*/
static position plotting(double q, int64_t n, double alpha, double beta) {
  return between_ranks((double)n * q + (alpha + q * (1 - alpha - beta)) - 1, n);
}

static position inverse(double q, int64_t n, gr_quantile_method method) {
  const double h = (double)n * q - 1, closest = h - 0.5;
  if (method == GR_CLOSEST) return at_rank(closest, n, closest == floor(closest) && fmod(floor(closest), 2) != 0);
  if (method == GR_INVERTED) return at_rank(h, n, h == floor(h));
  position p = between_ranks(h, n);
  if (p.weight > 0) p.low = p.high;
  else if (p.high > p.low) p.weight = 0.5;
  return p;
}

/* NumPy's rules: position (n - 1) q; nearest takes the even rank when it is halfway. */
static position position_of(double q, int64_t n, gr_quantile_method method) {
  const double h = (double)(n - 1) * q, whole = floor(h);
  position p = {(int64_t)whole < n - 1 ? (int64_t)whole : n - 1, 0, h - whole};
  p.high = p.weight > 0 && p.low < n - 1 ? p.low + 1 : p.low;
  switch (method) {
    case GR_LOWER: p.high = p.low; break;
    case GR_HIGHER: p.low = p.high; break;
    case GR_NEAREST:
      if (p.weight > 0.5 || (p.weight == 0.5 && p.low % 2 == 1)) p.low = p.high;
      else p.high = p.low;
      break;
    case GR_MIDPOINT: p.weight = 0.5; break;
    case GR_MIDDLE: p.low = (n - 1) / 2, p.high = n / 2; break;
    case GR_INVERTED:
    case GR_AVERAGED:
    case GR_CLOSEST: return inverse(q, n, method);
    case GR_INTERPOLATED: return plotting(q, n, 0, 1);
    case GR_HAZEN: return plotting(q, n, 0.5, 0.5);
    case GR_WEIBULL: return plotting(q, n, 0, 0);
    case GR_MEDIAN_UNBIASED: return plotting(q, n, 1 / 3.0, 1 / 3.0);
    case GR_NORMAL_UNBIASED: return plotting(q, n, 3 / 8.0, 3 / 8.0);
    case GR_LINEAR: break;
  }
  return p;
}

/* Interpolates from the nearer neighbour, as NumPy does; equal neighbours and infinities must not become NaN. */
static double between(double low, double high, double weight) {
  const double step = high - low;
  if (low == high) return low;
  if (step - step != 0) return low * (1 - weight) + high * weight; /* infinite, or too wide for f64 */
  return weight < 0.5 ? low + step * weight : high - step * (1 - weight);
}

/* The mean of two elements, rounded once. */
static double mean_of(const gr_value *x, const gr_value *y) {
  if (!x->is_float) { /* halves of 32 bits: their sums are exact */
    const int64_t a = x->v[0].i, b = y->v[0].i;
    return ((double)((a >> 32) + (b >> 32)) * 0x1p32 + (double)((a & UINT32_MAX) + (b & UINT32_MAX))) / 2;
  }
  const double a = x->v[0].f, b = y->v[0].f, sum = a + b;
  if (a == b) return a;                            /* -0.0 before 0.0 */
  if (sum != sum) return gr_nan();                 /* infinities of both signs */
  return sum - sum == 0 ? sum / 2 : a / 2 + b / 2; /* the halves of large numbers are exact */
}

static int compare(const void *x, const void *y) {
  const int64_t a = ((const rank *)x)->wanted, b = ((const rank *)y)->wanted;
  return (a > b) - (a < b);
}

static gr_value value_of(const selection *s, int64_t wanted) {
  const rank key = {.wanted = wanted}, *r = bsearch(&key, s->ranks, (size_t)s->count, sizeof key, compare);
  const uint64_t bits = gr_selected_bits(gr_selector_of(s->data.dtype), r->prefix);
  return gr_element_get(s->data.dtype, &bits); /* little-endian: the low bytes are the element */
}

gr_status gr_ranked(gr_context *c, const gr_array *a, int64_t wanted, gr_value *out) {
  rank one = {.wanted = wanted, .left = wanted};
  selection s = {.c = c, .data = *a, .ranks = &one, .count = 1, .width = 8 * gr_size(a->dtype)};
  const gr_status status = is_few(&s) ? select_few(&s) : select_all(&s);
  if (status == GR_OK) *out = s.nans ? gr_value_f(gr_nan()) : value_of(&s, wanted);
  gr_array_release(&s.picked);
  return status;
}

static gr_value result_of(const selection *s, position p, gr_quantile_method method) {
  if (s->nans) return gr_value_f(gr_nan());
  gr_value low = value_of(s, p.low);
  if (gr_quantile_selects(method)) return low;
  gr_value high = value_of(s, p.high);
  if (method == GR_MIDDLE) return gr_value_f(mean_of(&low, &high));
  if (!low.is_float) low.v[0].f = (double)low.v[0].i, high.v[0].f = (double)high.v[0].i;
  return gr_value_f(between(low.v[0].f, high.v[0].f, p.weight));
}

/* Meets the other ranks, whose elements are searched together: *n becomes how many these are. */
static gr_status meet(gr_context *c, const gr_array *a, const double *q, int64_t count, gr_quantile_method method,
                      int64_t *n, gr_status mine) {
  uint64_t sum[2] = {0, 0};
  char text[160], number[40];
  for (int64_t k = 0; k < count; k++) gr_digest_add(sum, gr_bits64(q[k]), (uint64_t)k);
  snprintf(text, sizeof text, "quantile of %s, method %s, of %lld shares from %s on (digest %016llx)",
           gr_dtypes[a->dtype].name, method == GR_MIDDLE ? "of the median" : gr_method_names[method], (long long)count,
           gr_ranks_digits(q[0], 17, number), (unsigned long long)sum[0]);
  gr_status status = gr_ranks_meet(c, text, a->n, 1, mine);
  *n = gr_ranks_all(c);
  if (status != GR_OK || *n) return status;
  return gr_fail(c, GR_BAD, "array is empty on all ranks: '%s' needs an element",
                 method == GR_MIDDLE ? "median" : "quantile");
}

gr_status gr_quantiles(gr_context *c, const gr_array *a, const double *q, int64_t count, gr_quantile_method method,
                       gr_value *out) {
  selection s = {.c = c, .data = *a, .width = 8 * gr_size(a->dtype)};
  int64_t k, n = a->n, kept = 0;
  gr_status status = GR_OK;
  if (count == 0) return GR_OK;
  s.ranks = calloc((size_t)count * 2, sizeof *s.ranks);
  if (!s.ranks) status = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld shares asked", (long long)count);
  if (c->comm) status = meet(c, a, q, count, method, &n, status);
  if (status != GR_OK) return free(s.ranks), status;
  for (k = 0; k < count; k++) {
    const position p = position_of(q[k], n, method);
    s.ranks[2 * k].wanted = p.low;
    s.ranks[2 * k + 1].wanted = p.high;
  }
  qsort(s.ranks, (size_t)count * 2, sizeof *s.ranks, compare);
  for (k = 0; k < 2 * count; k++)
    if (k == 0 || s.ranks[k].wanted != s.ranks[kept - 1].wanted) s.ranks[kept++] = s.ranks[k];
  s.count = kept;
  for (k = 0; k < kept; k++) s.ranks[k].left = s.ranks[k].wanted;
  status = is_few(&s) ? select_few(&s) : select_all(&s);
  for (k = 0; k < count && status == GR_OK; k++) out[k] = result_of(&s, position_of(q[k], n, method), method);
  gr_array_release(&s.picked);
  free(s.ranks);
  return status;
}

/* ---- of rows and columns ---- */

/* What is present of vector k. */
static gr_status keep_present(gr_context *c, gr_shape shape, const gr_sample *s, int64_t k, gr_array *a, gr_array *w,
                              gr_array kept[2]) {
  gr_array mask;
  const gr_partial p = {.a = {NULL, a}, .missing = gr_missing_of(shape, &s->missing, k, &mask)};
  gr_status status = gr_partial_compact(c, &p, (gr_reduced){NULL, a}, &kept[0]);
  if (status == GR_OK && s->weights) status = gr_partial_compact(c, &p, (gr_reduced){NULL, w}, &kept[1]);
  if (status == GR_OK && kept[0].n == 0) status = gr_partial_none(c, &s->missing, shape, 0, 0, k, s->name);
  *a = kept[0];
  *w = kept[1];
  return status;
}

/* Of vector k; a mask is an array. */
static gr_status quantiles_of(gr_context *c, gr_shape shape, const gr_sample *s, int64_t k, const double *q,
                              int64_t count, gr_quantile_method method, gr_value *out) {
  gr_array a = gr_shape_vector(shape, s->a, k), w = {0}, kept[2] = {{0}, {0}};
  gr_status status = GR_OK;
  if (s->weights) w = gr_shape_vector(shape, s->weights, k);
  if (gr_may_miss(&s->missing)) status = keep_present(c, shape, s, k, &a, &w, kept);
  if (status == GR_OK)
    status = s->weights ? gr_quantiles_weighted(c, &a, &w, q, count, out) : gr_quantiles(c, &a, q, count, method, out);
  gr_array_release(&kept[0]);
  gr_array_release(&kept[1]);
  return status;
}

gr_status gr_quantiles_sampled(gr_context *c, const gr_sample *sample, const double *q, int64_t count,
                               gr_quantile_method method, gr_value *out) {
  gr_sample s = *sample;
  const gr_status status = gr_reduced_eval(c, &s.missing.mask);
  return status == GR_OK ? quantiles_of(c, (gr_shape){.axis = 2}, &s, 0, q, count, method, out) : status;
}

/* Where a vector may have nothing, results go to out when all of them are known. */
gr_status gr_quantiles_each(gr_context *c, gr_shape shape, const gr_sample *sample, const double *q, int64_t count,
                            gr_quantile_method method, gr_array *out) {
  gr_sample s = *sample;
  const int64_t vectors = shape.rows ? gr_shape_results(shape, s.a->n) : 1;
  const int apart = gr_may_miss(&s.missing);
  gr_value *results = malloc((size_t)count * sizeof *results + 1);
  gr_array own = {0}, *const to = apart ? &own : out;
  gr_vec v;
  gr_status status = results ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld shares asked", (long long)count);
  gr_stop_begin(&c->stop);
  if (status == GR_OK) status = gr_reduced_eval(c, &s.missing.mask);
  if (status == GR_OK && apart) status = gr_array_make_beside(c, s.a, &own, out->dtype, out->n);
  for (int64_t k = 0; k < vectors && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    status = quantiles_of(c, shape, &s, k, q, count, method, results);
    if (status == GR_OK) status = gr_array_write(to, GR_HOST, k == 0, &v);
    for (int64_t j = 0; j < count && status == GR_OK; j++)
      gr_element_put(to->dtype, (char *)(uintptr_t)v.data + (j * vectors + k) * v.stride, &results[j], 0);
  }
  if (apart && status == GR_OK) status = gr_copy(c, &own, out);
  gr_array_release(&own);
  free(results);
  return status;
}
