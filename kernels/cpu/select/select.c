/*
** Selection: how many keys of each group have which next digit, and the elements of some groups. Each piece counts in
** tables of its own.
*/
#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/room.h"

#define PIECE_ELEMENTS (128 * 1024)

typedef struct state {
  const gr_groups *of;
  gr_selector s;
  int64_t *counts;
  char *out;
  int64_t *found;
  int tables;
  uint16_t first[(1 << GR_SELECT_TOP) + 1]; /* several groups: those whose highest bits are t begin at first[t] */
} state;

/* Which of several groups a key with these highest bits and this prefix belongs to, or -1. */
static inline int32_t group_of(const state *s, uint32_t t, uint64_t prefix) {
  int32_t low = s->first[t], count = s->first[t + 1] - low;
  if (count == 0) return -1;
  while (count > 1) {
    const int32_t half = count / 2;
    low += s->of->prefixes[low + half] <= prefix ? half : 0;
    count -= half;
  }
  return s->of->prefixes[low] == prefix ? low : -1;
}

/* Bits below a key's highest ones; a byte is done after one digit and never has several groups. */
#define REST(U) (sizeof(U) > 1 ? 8 * (int32_t)sizeof(U) - GR_SELECT_TOP : 0)

/*
** Elements from .. from + n by their unsigned type: counted in `table`, where every tables-th element has one of its
** own, or, without a table, appended to out.
*/
#define SELECT(U)                                                                                               \
  static int64_t count_##U(const state *s, int64_t from, int64_t n, uint32_t *table) {                          \
    const gr_groups of = *s->of;                                                                                \
    const U top = (U)s->s.top, nan = (U)s->s.nan, low = (U)(s->s.flip >> 1), mask = (U)(((U)1 << of.bits) - 1); \
    const int32_t width = 8 * (int32_t)sizeof(U) - 1, rest = REST(U);                                           \
    const int apart = (of.groups << of.bits), every = s->tables - 1;                                            \
    const char *p = (const char *)of.a.data + from * of.a.stride;                                               \
    const U only = (U)of.prefixes[0];                                                                           \
    int64_t k, nans = 0;                                                                                        \
    for (k = 0; k < n; k++, p += of.a.stride) {                                                                 \
      U x, key, digit, prefix;                                                                                  \
      int32_t g = 0;                                                                                            \
      memcpy(&x, p, sizeof(x));                                                                                 \
      if ((U)(x & (U)~top) > nan) {                                                                             \
        nans++;                                                                                                 \
        continue;                                                                                               \
      }                                                                                                         \
      key = (U)(x ^ top ^ (low & (U)(0 - (x >> width))));                                                       \
      digit = (U)(key >> of.shift);                                                                             \
      prefix = (U)(digit >> of.bits);                                                                           \
      if (of.groups == 1 ? prefix != only : (g = group_of(s, (uint32_t)(key >> rest), prefix)) < 0) continue;   \
      table[((uint32_t)g << of.bits) + (uint32_t)(digit & mask) + (uint32_t)((int)(k & every) * apart)]++;      \
    }                                                                                                           \
    return nans;                                                                                                \
  }                                                                                                             \
  static void pick_##U(const state *s, int64_t from, int64_t n) {                                               \
    const gr_groups of = *s->of;                                                                                \
    const U top = (U)s->s.top, nan = (U)s->s.nan, low = (U)(s->s.flip >> 1), only = (U)of.prefixes[0];          \
    const int32_t width = 8 * (int32_t)sizeof(U) - 1, rest = REST(U);                                           \
    const char *p = (const char *)of.a.data + from * of.a.stride;                                               \
    int64_t k;                                                                                                  \
    for (k = 0; k < n; k++, p += of.a.stride) {                                                                 \
      U x, key, prefix;                                                                                         \
      memcpy(&x, p, sizeof(x));                                                                                 \
      key = (U)(x ^ top ^ (low & (U)(0 - (x >> width))));                                                       \
      prefix = (U)((U)(key >> of.shift) >> of.bits);                                                            \
      if ((U)(x & (U)~top) > nan) continue;                                                                     \
      if (of.groups == 1 ? prefix != only : group_of(s, (uint32_t)(key >> rest), prefix) < 0) continue;         \
      ((U *)s->out)[__atomic_fetch_add(s->found, 1, __ATOMIC_RELAXED)] = x;                                     \
    }                                                                                                           \
  }
SELECT(uint8_t)
SELECT(uint16_t)
SELECT(uint32_t)
SELECT(uint64_t)

static void do_count(void *arg, int64_t from, int64_t end) {
  const state *s = (const state *)arg;
  const int32_t slots = s->of->groups << s->of->bits;
  const int64_t n = end - from;
  uint32_t *table = gr_room_take(GR_SELECT_COUNTERS * sizeof(*table));
  int64_t nans;
  int32_t i, t;
  memset(table, 0, (size_t)slots * (size_t)s->tables * sizeof(*table));
  switch (gr_size_of(s->of->dtype)) {
    case 1: nans = count_uint8_t(s, from, n, table); break;
    case 2: nans = count_uint16_t(s, from, n, table); break;
    case 4: nans = count_uint32_t(s, from, n, table); break;
    default: nans = count_uint64_t(s, from, n, table); break;
  }
  for (i = 0; i < slots; i++) {
    int64_t sum = 0;
    for (t = 0; t < s->tables; t++) sum += table[i + t * slots];
    if (sum) __atomic_fetch_add(&s->counts[i], sum, __ATOMIC_RELAXED);
  }
  gr_room_give(table);
  if (nans) __atomic_fetch_add(&s->counts[slots], nans, __ATOMIC_RELAXED);
}

static void do_pick(void *arg, int64_t from, int64_t end) {
  const state *s = (const state *)arg;
  const int64_t n = end - from;
  switch (gr_size_of(s->of->dtype)) {
    case 1: pick_uint8_t(s, from, n); break;
    case 2: pick_uint16_t(s, from, n); break;
    case 4: pick_uint32_t(s, from, n); break;
    default: pick_uint64_t(s, from, n); break;
  }
}

static void begin_groups(state *s) {
  const int known = 8 * gr_size_of(s->of->dtype) - s->of->shift - s->of->bits, above = known - GR_SELECT_TOP;
  int g = 0, t;
  for (t = 0; t <= 1 << GR_SELECT_TOP; t++) {
    while (g < s->of->groups && s->of->prefixes[g] >> above < (uint64_t)t) g++;
    s->first[t] = (uint16_t)g;
  }
}

static void run(state *s, void (*body)(void *, int64_t, int64_t), gr_parallel parallel) {
  s->s = gr_selector_of(s->of->dtype);
  if (s->of->groups > 1) begin_groups(s);
  gr_in_ranges(parallel, s->of->n, PIECE_ELEMENTS, body, s);
}

void gr_cpu_digits(const gr_digits_job *job, gr_parallel parallel) {
  const int32_t slots = job->of.groups << job->of.bits;
  state s = {.of = &job->of, .counts = job->counts};
  s.tables = 4 * slots <= GR_SELECT_COUNTERS ? 4 : 1; /* runs of equal keys do not wait for one counter */
  memset(job->counts, 0, (size_t)(slots + 1) * sizeof(*job->counts));
  run(&s, do_count, parallel);
}

void gr_cpu_pick(const gr_pick_job *job, gr_parallel parallel) {
  state s = {.of = &job->of, .out = (char *)job->out, .found = job->found};
  *job->found = 0;
  run(&s, do_pick, parallel);
}
