/* Elements by their positions. */
#include "kernels/cpu/lookup/places.h"

#define PIECE_ELEMENTS (64 * 1024)

/* Notes that the word is k or less, of all threads. */
static void note(const gr_lookup_job *job, int64_t k) {
  int64_t least = __atomic_load_n(job->bad, __ATOMIC_RELAXED);
  while (k < least && !__atomic_compare_exchange_n(job->bad, &least, k, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

/* The least index that is no position. */
static void note_bad(const gr_lookup_job *job, int64_t from, int m, const int64_t *at) {
  int k = 0;
  while (k < m && (uint64_t)at[k] < (uint64_t)job->length) k++;
  if (k < m) note(job, from + k);
}

#define TAKE(type)                                                                                      \
  if (good)                                                                                             \
    for (k = 0; k < m; k++, to += job->out.stride) memcpy(to, a + at[k] * job->a.stride, sizeof(type)); \
  else                                                                                                  \
    for (k = 0; k < m; k++, to += job->out.stride)                                                      \
      if ((uint64_t)at[k] < (uint64_t)job->length) memcpy(to, a + at[k] * job->a.stride, sizeof(type)); \
  break;

static void take(const gr_lookup_job *job, int64_t from, int m, const int64_t *at, int good) {
  const char *a = (const char *)job->a.data;
  char *to = (char *)(uintptr_t)job->out.data + from * job->out.stride;
  int k;
  switch (gr_size_of(job->dtype)) {
    case 1: TAKE(uint8_t)
    case 2: TAKE(uint16_t)
    case 4: TAKE(uint32_t)
    default: TAKE(uint64_t)
  }
}

static void do_take(void *arg, int64_t from, int64_t end) {
  const gr_lookup_job *job = (const gr_lookup_job *)arg;
  int64_t at[GR_PLACES], before = -1;
  int rising = !job->out.data;
  if (rising && from) (void)gr_places(job->positions, &job->index, from - 1, 1, job->length, &before);
  for (; from < end; from += GR_PLACES) {
    const int m = end - from < GR_PLACES ? (int)(end - from) : GR_PLACES;
    const int good = gr_places(job->positions, &job->index, from, m, job->length, at);
    if (!good && job->bad) note_bad(job, from, m, at);
    if (job->out.data) take(job, from, m, at, good);
    else if (rising) rising = gr_rise(at, m, &before);
  }
  if (job->bad && !rising) note(job, job->n);
}

void gr_cpu_lookup(const gr_lookup_job *job, gr_parallel parallel) {
  if (job->seen && *job->seen < job->n) return;
  if (job->bad) *job->bad = INT64_MAX;
  gr_in_ranges(parallel, job->n, PIECE_ELEMENTS, do_take, job);
}
