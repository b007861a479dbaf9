#include "src/core/select_few.h"

#include <string.h>
#include "kernels/numerics/numerics.h"

#define SAMPLE 48
#define SORTED 64 /* so many keys are sorted */

/* By the elements' unsigned type. */
#define KEYS(U)                                                                  \
  static int64_t keys_##U(gr_selector s, gr_vec v, int64_t n, uint64_t *keys) {  \
    const U top = (U)s.top, nan = (U)s.nan, low = (U)(s.flip >> 1);              \
    const char *p = v.data;                                                      \
    int64_t nans = 0;                                                            \
    for (int64_t k = 0; k < n; k++, p += v.stride) {                             \
      U x;                                                                       \
      memcpy(&x, p, sizeof x);                                                   \
      keys[k] = (U)(x ^ top ^ (low & (U)(0 - (x >> (8 * (int)sizeof(U) - 1))))); \
      nans += (U)(x & (U)~top) > nan;                                            \
    }                                                                            \
    return nans;                                                                 \
  }
KEYS(uint8_t)
KEYS(uint16_t)
KEYS(uint32_t)
KEYS(uint64_t)

int64_t gr_keys_of(gr_dtype t, gr_vec v, int64_t n, uint64_t *keys) {
  const gr_selector s = gr_selector_of(t);
  switch (gr_size_of(t)) {
    case 1: return keys_uint8_t(s, v, n, keys);
    case 2: return keys_uint16_t(s, v, n, keys);
    case 4: return keys_uint32_t(s, v, n, keys);
    default: return keys_uint64_t(s, v, n, keys);
  }
}

static void sort(uint64_t *keys, int64_t n) {
  for (int64_t k = 1; k < n; k++) {
    const uint64_t x = keys[k];
    int64_t at = k;
    for (; at > 0 && keys[at - 1] > x; at--) keys[at] = keys[at - 1];
    keys[at] = x;
  }
}

/*
** Two keys between which the key of a rank most probably lies, from a sample taken at positions without a pattern. one:
** the caller wants one key, which is given twice.
*/
static void guess(const uint64_t *keys, int64_t n, int64_t rank, int one, uint64_t *low, uint64_t *high) {
  uint64_t sample[SAMPLE];
  for (uint32_t k = 0; k < SAMPLE; k++) sample[k] = keys[(uint64_t)(k * 2654435769u) * (uint64_t)n >> 32];
  sort(sample, SAMPLE);
  const int64_t at = rank * SAMPLE / n, apart = one ? 0 : 8;
  *low = sample[at < apart ? 0 : at - apart];
  *high = sample[at + apart < SAMPLE ? at + apart : SAMPLE - 1];
}

/* The key of the rank after that of x. */
static uint64_t key_after(uint64_t x, const uint64_t *keys, int64_t n, int64_t rank) {
  uint64_t next = UINT64_MAX;
  int64_t before = 0;
  for (int64_t k = 0; k < n; k++) {
    before += keys[k] <= x;
    next = keys[k] > x && keys[k] < next ? keys[k] : next;
  }
  return before > rank + 1 ? x : next;
}

/*
** Keys outside of the guessed range are dropped until few are left. A wrong guess still says on which side of the range
** the key lies.
*/
void gr_keys_at(const uint64_t *all, int64_t count, int64_t wanted, uint64_t *room, uint64_t pair[2]) {
  const uint64_t *keys = all;
  uint64_t least = 0, most = UINT64_MAX, low = 0, high = 1;
  int64_t n = count, rank = wanted;
  int one = 0, wrong = 0;
  while (n > SORTED && low != high) {
    int64_t below = 0, found = 0;
    low = least, high = most;
    if (!wrong) guess(keys, n, rank, one, &low, &high);
    for (int64_t k = 0; k < n; k++) {
      const uint64_t x = keys[k];
      room[found] = x;
      below += x < low;
      found += x - low <= high - low;
    }
    wrong = rank < below || rank >= below + found;
    if (!wrong) {
      one = found > n / 2;
      keys = room, n = found, rank -= below;
    } else {
      if (rank < below) most = low - 1;
      else least = high + 1;
      keys = all, n = count, rank = wanted, low = 0, high = 1;
    }
  }
  if (low != high) {
    if (keys != room) memcpy(room, keys, (size_t)n * sizeof *keys);
    sort(room, n);
    low = room[rank];
  }
  pair[0] = low;
  pair[1] = low != high && rank + 1 < n ? room[rank + 1] : key_after(low, all, count, wanted);
}
