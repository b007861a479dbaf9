/*
** Values to elements by position. Each thread has a range of the elements for itself and goes through all indices in
** their order, so that nobody waits for another, and the last of several values for one element is the one that stays.
** Where places rise no two are the same, so each thread has a range of the indices.
*/
#include "kernels/cpu/lookup/places.h"
#include "kernels/numerics/fixed.h"

#define FEW 65536  /* indices that one thread is quick enough with */
#define LOOK 65536 /* indices between two looks whether to stop, and of a piece where places rise */

typedef struct state {
  const gr_put_job *job;
  const char *values;
  int64_t step; /* from one value to the next; 0: one number */
} state;

/* clang-format off */
#define AT (a + at[k] * stride)
#define MINE if ((uint64_t)(at[k] - low) < (uint64_t)(high - low))
#define SET(type) for (k = 0; k < m; k++, y += s->step) MINE memcpy(AT, y, sizeof(type)); break;
#define ADD(type)                                                             \
  for (k = 0; k < m; k++, y += s->step) MINE {                                \
    type x, more;                                                             \
    memcpy(&x, AT, sizeof(x));                                                \
    memcpy(&more, y, sizeof(x));                                              \
    x = (type)(x + more);                                                     \
    memcpy(AT, &x, sizeof(x));                                                \
  }                                                                           \
  break;
#define SUM(id, name, type)                                                   \
  case GR_##id:                                                               \
    for (k = 0; k < m; k++, y += s->step) MINE {                              \
      type x;                                                                 \
      memcpy(&x, y, sizeof(x));                                               \
      sums[at[k]] = gr_fixed_add(sums[at[k]], gr_fixed_of(gr_widen_##name(x), s->job->unit)); \
    }                                                                         \
    break;
/* The only value for an element, by the same arithmetic. */
#define ONE(id, name, type)                                                   \
  case GR_##id:                                                               \
    for (k = 0; k < m; k++, y += s->step) {                                   \
      type x;                                                                 \
      memcpy(&x, y, sizeof(x));                                               \
      const gr_fixed one = gr_fixed_of(gr_widen_##name(x), s->job->unit);     \
      const double sum = gr_fixed_value(one, s->job->unit);                   \
      if (sum == 0) continue;                                                 \
      memcpy(&x, AT, sizeof(x));                                              \
      x = gr_f64_to_##name(gr_widen_##name(x) + sum);                         \
      memcpy(AT, &x, sizeof(x));                                              \
    }                                                                         \
    break;
#define EXTREME(id, name, l, type, kind)                                      \
  case GR_##id:                                                               \
    for (k = 0; k < m; k++, y += s->step) MINE {                              \
      type x, value;                                                          \
      memcpy(&x, AT, sizeof(x));                                              \
      memcpy(&value, y, sizeof(x));                                           \
      x = gr_extreme_##name(x, value, s->job->op == GR_PUT_max);              \
      memcpy(AT, &x, sizeof(x));                                              \
    }                                                                         \
    break;
#define FINISH(id, name, type)                                                \
  case GR_##id:                                                               \
    for (k = low; k < high; k++) {                                            \
      const double sum = gr_fixed_value(sums[k], s->job->unit);               \
      type x;                                                                 \
      if (sum == 0) continue;                                                 \
      memcpy(&x, a + k * stride, sizeof(x));                                  \
      x = gr_f64_to_##name(gr_widen_##name(x) + sum);                         \
      memcpy(a + k * stride, &x, sizeof(x));                                  \
    }                                                                         \
    break;
#define FLOATS(X) X(F16, f16, gr_f16) X(BF16, bf16, gr_bf16) X(F32, f32, float) X(F64, f64, double)
_Static_assert(FLOATS(GR_ROW) == GR_FLOAT_COUNT, "a float is missing above");

static void put(const state *s, int64_t from, int m, const int64_t *at, int64_t low, int64_t high) {
  const gr_dtype t = s->job->dtype;
  const int64_t stride = s->job->a.stride;
  const char *y = s->values + from * s->step;
  char *a = (char *)(uintptr_t)s->job->a.data;
  gr_fixed *sums = (gr_fixed *)s->job->state;
  int k;
  switch (s->job->op) {
    case GR_PUT_set:
      switch (gr_size_of(t)) {
        case 1: SET(uint8_t)
        case 2: SET(uint16_t)
        case 4: SET(uint32_t)
        default: SET(uint64_t)
      }
      break;
    case GR_PUT_add:
      if (gr_is_float(t) && s->job->rising) switch (t) {
        FLOATS(ONE)
        default: break;
      } else if (gr_is_float(t)) switch (t) {
        FLOATS(SUM)
        default: break;
      } else switch (gr_size_of(t)) {
        case 1: ADD(uint8_t)
        case 2: ADD(uint16_t)
        case 4: ADD(uint32_t)
        default: ADD(uint64_t)
      }
      break;
    case GR_PUT_min:
    case GR_PUT_max:
      switch (t) { GR_DTYPES(EXTREME) }
      break;
  }
}

/* What was added up, to the elements; those with nothing stay as they are, -0 and NaN too. */
static void finish(const state *s, int64_t low, int64_t high) {
  const int64_t stride = s->job->a.stride;
  const gr_fixed *sums = (const gr_fixed *)s->job->state;
  char *a = (char *)(uintptr_t)s->job->a.data;
  int64_t k;
  switch (s->job->dtype) {
    FLOATS(FINISH)
    default: break;
  }
}
/* clang-format on */

static void put_range(void *arg, int64_t low, int64_t high) {
  const state *s = (const state *)arg;
  const gr_put_job *job = s->job;
  const int adds = job->op == GR_PUT_add && gr_is_float(job->dtype);
  int64_t at[GR_PLACES];
  if (adds) memset((gr_fixed *)job->state + low, 0, (size_t)(high - low) * sizeof(gr_fixed));
  for (int64_t from = 0; from < job->n; from += GR_PLACES) {
    const int m = job->n - from < GR_PLACES ? (int)(job->n - from) : GR_PLACES;
    if (from % LOOK == 0 && from && gr_stopped()) return;
    (void)gr_places(job->positions, &job->index, from, m, job->length, at);
    put(s, from, m, at, low, high);
  }
  if (adds) finish(s, low, high);
}

static void put_rising(void *arg, int64_t from, int64_t end) {
  const state *s = (const state *)arg;
  const gr_put_job *job = s->job;
  int64_t at[GR_PLACES];
  for (; from < end; from += GR_PLACES) {
    const int m = end - from < GR_PLACES ? (int)(end - from) : GR_PLACES;
    (void)gr_places(job->positions, &job->index, from, m, job->length, at);
    put(s, from, m, at, 0, job->length);
  }
}

void gr_cpu_put(const gr_put_job *job, gr_parallel parallel, int threads) {
  const int64_t ranges = parallel && job->n > FEW && job->length >= threads ? threads : 1;
  const gr_operand *values = &job->values;
  const state s = {job, values->vec.data ? (const char *)values->vec.data : (const char *)&values->value,
                   values->vec.data ? values->vec.stride : 0};
  if (job->seen && *job->seen <= job->n) return;
  if (job->rising) gr_in_ranges(parallel, job->n, LOOK, put_rising, &s);
  else gr_in_ranges(parallel, job->length, (job->length + ranges - 1) / ranges, put_range, &s);
}
