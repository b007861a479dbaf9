/*
** What this machine can do at best: bare loops that do only what nobody can leave out (read the bytes, move them, convert
** and multiply them, count), each in several ways, one thread and two. The best of them are in bench/peers_cpu/bounds.c, which
** bench/cpu.lua runs beside the peers. Nanoseconds an element, the least of many rounds taken in turn.
**
**   cc -O2 -march=native -ffp-contract=off -I. bench/cpu_bounds.c -o build/cpu_bounds -lpthread
**   build/cpu_bounds read|move|dot|count [ELEMENTS ...]    without elements at sizes of its own; up to a minute each
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "src/core/clock.h"

static double now(void) { return (double)gr_nanoseconds(); }

#define HUGE_PAGE ((size_t)2 << 20)

static unsigned slots; /* the memory holds numbers below this instead of floats, if it is not 0 */

/* pages: 0 small, 1 huge where the system likes, 2 made huge afterwards. */
static char *memory(size_t bytes, int pages) {
  const size_t room = (bytes + 2 * HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
  char *p = aligned_alloc(HUGE_PAGE, room);
  if (!p) exit(1);
  madvise(p, room, pages == 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (size_t k = 0; k < room / 4; k++) {
    const uint32_t random = (uint32_t)(k * UINT64_C(0x9e3779b97f4a7c15) >> 29);
    if (slots) ((uint32_t *)(void *)p)[k] = random % slots;
    else ((float *)(void *)p)[k] = (float)(random >> 8) * 0x1p-24f;
  }
#ifdef MADV_COLLAPSE
  if (pages == 2 && madvise(p, room, MADV_HUGEPAGE) == 0 && madvise(p, room, MADV_COLLAPSE) != 0) perror("collapse");
#endif
  return p;
}

/* ---- two threads: the second waits for work without sleeping ---- */

typedef struct work { const char *a, *b; char *out; size_t bytes; } work;
typedef void (*loop)(const work *w);
static struct { loop f; work w; _Atomic int full; } hand;

static void *helper(void *arg) {
  (void)arg;
  for (;;) {
    while (!atomic_load(&hand.full)) _mm_pause();
    hand.f(&hand.w);
    atomic_store(&hand.full, 0);
  }
  return NULL;
}

/* bytes: of a; the other arrays are cut in the same proportion. */
static size_t scale_b = 1, scale_out = 1;
static void run(loop f, const work *w, int threads) {
  static int started;
  pthread_t id;
  work mine = *w;
  if (threads == 1) {
    f(w);
    return;
  }
  if (!started++) pthread_create(&id, NULL, helper, NULL);
  mine.bytes = w->bytes / 8192 * 4096;
  hand.w = (work){w->a + mine.bytes, w->b + mine.bytes * scale_b, w->out + mine.bytes * scale_out, w->bytes - mine.bytes};
  hand.f = f;
  atomic_store(&hand.full, 1);
  f(&mine);
  while (atomic_load(&hand.full)) _mm_pause();
}

typedef struct way { const char *name; loop f; int pages; double best[3]; } way;

/* All ways in turn; elements: what the time is divided by. */
static void compare(const char *what, size_t bytes, double elements, way *ways, int count, int threads_most, double seconds) {
  char *a[3] = {0}, *b[3] = {0}, *out[3] = {0};
  double until;
  int rounds = 0;
  for (int k = 0; k < count; k++) {
    const int p = ways[k].pages;
    ways[k].best[1] = ways[k].best[2] = 1e30;
    if (a[p]) continue;
    a[p] = memory(bytes, p);
    b[p] = memory(bytes * scale_b, p);
    out[p] = memory(bytes * scale_out, p);
  }
  for (until = now() + seconds * 1e9; now() < until || rounds < 3; rounds++) {
    for (int k = 0; k < count; k++) {
      const int p = ways[k].pages;
      const work w = {a[p], b[p], out[p], bytes};
      for (int t = 1; t <= threads_most; t++) {
        const int repeat = (int)(2e7 / (double)bytes) + 1;
        double start = 0, each;
        for (int r = -1; r < repeat; r++) {
          if (r == 0) start = now();
          run(ways[k].f, &w, t);
        }
        each = (now() - start) / repeat;
        if (each < ways[k].best[t]) ways[k].best[t] = each;
      }
    }
  }
  for (int k = 0; k < count; k++) {
    printf("%-14s %11.0f  %-46s", what, elements, ways[k].name);
    for (int t = 1; t <= threads_most; t++) printf("  %d: %8.4f ns %10.1f us", t, ways[k].best[t] / elements, ways[k].best[t] / 1e3);
    printf("\n");
    fflush(stdout);
  }
  for (int p = 0; p < 3; p++) free(a[p]), free(b[p]), free(out[p]);
}
#define COMPARE(what, bytes, elements, ways, threads, seconds) \
  compare(what, bytes, elements, ways, (int)(sizeof(ways) / sizeof((ways)[0])), threads, seconds)

/* ---- reading ---- */

#define KEEP(x) __asm__ volatile("" ::"v"(x))
#define LOAD(p) _mm512_loadu_si512((const void *)(p))

#define READ(name, fetch)                                                                  \
  static void name(const work *w) {                                                        \
    __m512i x[8] = {_mm512_setzero_si512()};                                               \
    const char *p = w->a, *end = p + w->bytes / 512 * 512;                                 \
    for (int j = 0; j < 8; j++) x[j] = _mm512_setzero_si512();                             \
    for (; p < end; p += 512) {                                                            \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) {                                \
        fetch;                                                                             \
        x[j] = _mm512_or_si512(x[j], LOAD(p + 64 * j));                                    \
      }                                                                                    \
    }                                                                                      \
    for (int j = 0; j < 8; j++) KEEP(x[j]);                                                \
  }
#define FETCH(ahead, hint) _mm_prefetch(p + 64 * j + (ahead), hint)
READ(read_plain, (void)0)
READ(read_1k, FETCH(1024, _MM_HINT_T0))
READ(read_4k, FETCH(4096, _MM_HINT_T0))
READ(read_16k, FETCH(16384, _MM_HINT_T0))
READ(read_t1, FETCH(4096, _MM_HINT_T1))
READ(read_t1_by_2, j % 2 ? (void)0 : FETCH(4096, _MM_HINT_T1))
READ(read_t1_by_8, j ? (void)0 : FETCH(4096, _MM_HINT_T1))
READ(read_nta, FETCH(4096, _MM_HINT_NTA))
READ(read_both, (FETCH(1024, _MM_HINT_T0), FETCH(16384, _MM_HINT_T1)))

static void read_avx2(const work *w) {
  __m256i x[8];
  const char *p = w->a, *end = p + w->bytes / 256 * 256;
  for (int j = 0; j < 8; j++) x[j] = _mm256_setzero_si256();
  for (; p < end; p += 256) {
    _mm_prefetch(p + 4096, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 64, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 128, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 192, _MM_HINT_T0);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) x[j] = _mm256_or_si256(x[j], _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * j)));
  }
  for (int j = 0; j < 8; j++) KEEP(x[j]);
}

/* Several places at once, each `apart` bytes from the next. */
#define PLACES(name, places, apart, ahead)                                                 \
  static void name(const work *w) {                                                        \
    __m512i x[places];                                                                     \
    const size_t gap = (apart), part = w->bytes / (places) / 64 * 64;                      \
    const size_t inner = gap ? gap : part;                                                 \
    for (int j = 0; j < (places); j++) x[j] = _mm512_setzero_si512();                      \
    for (size_t base = 0; base + (places) * inner <= w->bytes; base += (places) * inner)   \
      for (size_t k = 0; k < inner; k += 64) {                                             \
        _Pragma("GCC unroll 8") for (int j = 0; j < (places); j++) {                       \
          const char *p = w->a + base + (size_t)j * inner + k;                             \
          if (ahead) _mm_prefetch(p + (ahead), _MM_HINT_T0);                               \
          x[j] = _mm512_or_si512(x[j], LOAD(p));                                           \
        }                                                                                  \
      }                                                                                    \
    for (int j = 0; j < (places); j++) KEEP(x[j]);                                         \
  }
PLACES(read_halves, 2, 0, 1024)
PLACES(read_quarters, 4, 0, 1024)
PLACES(read_pages2, 2, 4096, 0)
PLACES(read_pages4, 4, 4096, 16384)
PLACES(read_pages8, 8, 4096, 32768)

/* In order, while what comes `chunk` bytes later is fetched from four places of it in turn. */
#define SPREAD(name, chunk, hint)                                                          \
  static void name(const work *w) {                                                        \
    __m512i x[4];                                                                          \
    for (int j = 0; j < 4; j++) x[j] = _mm512_setzero_si512();                             \
    for (size_t base = 0; base + (chunk) <= w->bytes; base += (chunk))                     \
      for (size_t k = 0; k < (chunk); k += 256) {                                          \
        const char *p = w->a + base + k, *next = w->a + base + (chunk) + k / 4;            \
        _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++) {                              \
          _mm_prefetch(next + (chunk) / 4 * j, hint);                                      \
          x[j] = _mm512_or_si512(x[j], LOAD(p + 64 * j));                                  \
        }                                                                                  \
      }                                                                                    \
    for (int j = 0; j < 4; j++) KEEP(x[j]);                                                \
  }
SPREAD(read_spread16, 16384, _MM_HINT_T0)
SPREAD(read_spread32, 32768, _MM_HINT_T1)
SPREAD(read_spread64, 65536, _MM_HINT_T1)
SPREAD(read_spread256, 262144, _MM_HINT_T1)

/* Stretches of the first and of the second half in turn. */
#define TURNS(name, stretch)                                                               \
  static void name(const work *w) {                                                        \
    const size_t half = w->bytes / 2 / (stretch) * (stretch);                              \
    for (size_t k = 0; k < half; k += (stretch)) {                                         \
      const work first = {w->a + k, NULL, NULL, (stretch)}, second = {w->a + half + k, NULL, NULL, (stretch)}; \
      read_4k(&first);                                                                     \
      read_4k(&second);                                                                    \
    }                                                                                      \
  }
TURNS(read_turns4, 4096)
TURNS(read_turns16, 16384)
TURNS(read_turns64, 65536)

static void bound_read(size_t n) {
  const size_t bytes = 4 * n;
  static way ways[] = {{"plain", read_plain, 1, {0}}, {"1 KB ahead", read_1k, 1, {0}}, {"4 KB ahead", read_4k, 1, {0}},
                {"16 KB ahead", read_16k, 1, {0}}, {"4 KB ahead, second cache", read_t1, 1, {0}}, {"4 KB ahead, non-temporal", read_nta, 1, {0}},
                {"second cache, one line of two", read_t1_by_2, 1, {0}}, {"second cache, one line of eight", read_t1_by_8, 1, {0}},
                {"1 KB, and 16 KB into the second cache", read_both, 1, {0}}, {"AVX2, 4 KB ahead", read_avx2, 1, {0}},
                {"two halves at once", read_halves, 1, {0}}, {"four quarters at once", read_quarters, 1, {0}},
                {"two pages of 4 KB at once", read_pages2, 1, {0}}, {"four pages at once", read_pages4, 1, {0}}, {"eight pages at once", read_pages8, 1, {0}},
                {"in order, fetching four places of 16 KB", read_spread16, 1, {0}}, {"in order, fetching four places of 32 KB", read_spread32, 1, {0}},
                {"in order, fetching four places of 64 KB", read_spread64, 1, {0}}, {"in order, fetching four places of 256 KB", read_spread256, 1, {0}},
                {"halves by turns of 4 KB", read_turns4, 1, {0}}, {"halves by turns of 16 KB", read_turns16, 1, {0}},
                {"halves by turns of 64 KB", read_turns64, 1, {0}},
                {"small pages, 4 KB ahead", read_4k, 0, {0}}, {"pages made huge afterwards, 4 KB ahead", read_4k, 2, {0}}};
  scale_b = scale_out = 0;
  COMPARE("read f32", bytes, (double)bytes / 4, ways, 2, bytes > 100000000 ? 8 : 3);
}

/* ---- moving: n elements of one size to n of another ---- */

#define MOVE(name, ratio, fetch, put)                                                      \
  static void name(const work *w) {                                                        \
    const char *p = w->a, *end = p + w->bytes / 512 * 512;                                 \
    char *q = w->out;                                                                      \
    for (; p < end; p += 512) {                                                            \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) {                                \
        const __m512i x = LOAD(p + 64 * j);                                                \
        fetch;                                                                             \
        _Pragma("GCC unroll 8") for (int i = 0; i < (ratio); i++) put((void *)(q + 64 * i), x); \
        q += 64 * (ratio);                                                                 \
      }                                                                                    \
    }                                                                                      \
    _mm_sfence();                                                                          \
  }
MOVE(move_plain, 1, (void)0, _mm512_storeu_si512)
MOVE(move_4k, 1, FETCH(4096, _MM_HINT_T0), _mm512_storeu_si512)
MOVE(move_w, 1, (FETCH(4096, _MM_HINT_T0), __builtin_prefetch(q + 4096, 1)), _mm512_storeu_si512)
MOVE(move_past, 1, FETCH(4096, _MM_HINT_T0), _mm512_stream_si512)
MOVE(move2_4k, 2, FETCH(4096, _MM_HINT_T0), _mm512_storeu_si512)
MOVE(move2_w, 2, (FETCH(4096, _MM_HINT_T0), __builtin_prefetch(q + 4096, 1), __builtin_prefetch(q + 4160, 1)), _mm512_storeu_si512)
MOVE(move2_past, 2, FETCH(4096, _MM_HINT_T0), _mm512_stream_si512)
MOVE(move8_4k, 8, FETCH(4096, _MM_HINT_T0), _mm512_storeu_si512)
MOVE(move8_past, 8, FETCH(4096, _MM_HINT_T0), _mm512_stream_si512)
static void move_c(const work *w) { memcpy(w->out, w->a, w->bytes); }
static void move_rep(const work *w) {
  const char *p = w->a;
  char *q = w->out;
  size_t n = w->bytes;
  __asm__ volatile("rep movsb" : "+S"(p), "+D"(q), "+c"(n)::"memory");
}

static void bound_move(size_t n) {
  static way same[] = {{"plain", move_plain, 1, {0}}, {"4 KB ahead", move_4k, 1, {0}}, {"and where it goes", move_w, 1, {0}},
                {"past the caches", move_past, 1, {0}}, {"memcpy", move_c, 1, {0}}, {"rep movsb", move_rep, 1, {0}}};
  static way twice[] = {{"4 KB ahead", move2_4k, 1, {0}}, {"and where it goes", move2_w, 1, {0}}, {"past the caches", move2_past, 1, {0}}};
  static way eight[] = {{"4 KB ahead", move8_4k, 1, {0}}, {"past the caches", move8_past, 1, {0}}};
  scale_b = 0, scale_out = 1;
  COMPARE("move f32", 4 * n, (double)n, same, 2, 2);
  COMPARE("move f64", 8 * n, (double)n, same, 2, 2);
  scale_out = 2;
  COMPARE("i32 to i64", 4 * n, (double)n, twice, 2, 2);
  scale_out = 8;
  COMPARE("u8 to i64", n, (double)n, eight, 2, 2);
}

/* ---- dot: two arrays, in cache ---- */

#define DOT(name, bytes_a_step, type, zero, step)                                    \
  static void name(const work *w) {                                                        \
    type s[8];                                                                             \
    const char *p = w->a, *q = w->b, *end = p + w->bytes / (8 * (bytes_a_step)) * (8 * (bytes_a_step)); \
    for (int j = 0; j < 8; j++) s[j] = zero;                                               \
    for (; p < end; p += 8 * (bytes_a_step), q += 8 * (bytes_a_step)) {                    \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) step(s[j], p + j * (bytes_a_step), q + j * (bytes_a_step)); \
    }                                                                                      \
    for (int j = 0; j < 8; j++) KEEP(s[j]);                                                \
  }
#define WIDE(p) _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)(p)))
#define WIDE2(p) _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)(p)))
#define STEP_CONVERT(s, p, q) s = _mm512_fmadd_pd(WIDE(p), WIDE(q), s)
#define STEP_CONVERT2(s, p, q) s = _mm256_fmadd_pd(WIDE2(p), WIDE2(q), s)
#define STEP_CONVERT2_ADD(s, p, q) s = _mm256_add_pd(_mm256_mul_pd(WIDE2(p), WIDE2(q)), s)
#define STEP_F32(s, p, q) s = _mm512_fmadd_ps(_mm512_loadu_ps((const void *)(p)), _mm512_loadu_ps((const void *)(q)), s)
#define STEP_F64(s, p, q) s = _mm512_add_pd(_mm512_mul_pd(_mm512_loadu_pd((const void *)(p)), _mm512_loadu_pd((const void *)(q))), s)
#define STEP_LOADS(s, p, q) s = _mm512_ternarylogic_epi64(LOAD(p), LOAD(q), s, 0xfe)
/* The bits put where a double has them: odd elements by a masked load, a shift and a mask; wrong for zeros, which would cost more. */
#define HIGH(p) _mm512_and_si512(_mm512_srai_epi64(_mm512_maskz_loadu_epi32(0xaaaa, (const void *)(p)), 3), _mm512_set1_epi64((int64_t)0x8fffffffffffffffull))
#define STEP_SHIFT(s, p, q) \
  s = _mm512_fmadd_pd((__m512d)HIGH(p), (__m512d)HIGH(q), s), s = _mm512_fmadd_pd((__m512d)HIGH((p) - 4), (__m512d)HIGH((q) - 4), s)
#define STEP_MIXED(s, p, q) s = _mm512_fmadd_pd((__m512d)HIGH(p), WIDE(q), s), s = _mm512_fmadd_pd((__m512d)HIGH((p) - 4), WIDE((q) + 32), s)
/* Product and its error in f32, both converted. */
#define STEP_PAIR(s, p, q) do { const __m256 x_ = _mm256_loadu_ps((const void *)(p)), y_ = _mm256_loadu_ps((const void *)(q)), m_ = _mm256_mul_ps(x_, y_); \
  s = _mm512_add_pd(s, _mm512_add_pd(_mm512_cvtps_pd(m_), _mm512_cvtps_pd(_mm256_fmsub_ps(x_, y_, m_)))); } while (0)
DOT(dot_convert, 32, __m512d, _mm512_setzero_pd(), STEP_CONVERT)
DOT(dot_convert2, 16, __m256d, _mm256_setzero_pd(), STEP_CONVERT2)
DOT(dot_convert2_add, 16, __m256d, _mm256_setzero_pd(), STEP_CONVERT2_ADD)
DOT(dot_shift, 64, __m512d, _mm512_setzero_pd(), STEP_SHIFT)
DOT(dot_mixed, 64, __m512d, _mm512_setzero_pd(), STEP_MIXED)
DOT(dot_pair, 32, __m512d, _mm512_setzero_pd(), STEP_PAIR)
DOT(dot_f32, 64, __m512, _mm512_setzero_ps(), STEP_F32)
DOT(dot_f64, 64, __m512d, _mm512_setzero_pd(), STEP_F64)
DOT(dot_loads, 64, __m512i, _mm512_setzero_si512(), STEP_LOADS)

static void bound_dot(size_t n) {
  static way f32[] = {{"f32 alone, as OpenBLAS", dot_f32, 1, {0}}, {"conversions of 8 and fma", dot_convert, 1, {0}}, {"conversions of 4 and fma", dot_convert2, 1, {0}},
               {"conversions of 4, multiply, add", dot_convert2_add, 1, {0}}, {"both by shifts (wrong for 0)", dot_shift, 1, {0}},
               {"one by shifts, one converted", dot_mixed, 1, {0}}, {"f32 product and its error, converted", dot_pair, 1, {0}}, {"loads alone", dot_loads, 1, {0}}};
  static way f64[] = {{"loads alone", dot_loads, 1, {0}}, {"multiply, add", dot_f64, 1, {0}}};
  scale_b = 1, scale_out = 0;
  COMPARE("dot f32", 4 * n, (double)n, f32, n < 100000 ? 1 : 2, 1.5);
  COMPARE("dot f64", 8 * n, (double)n, f64, n < 100000 ? 1 : 2, 1.5);
}

/* ---- counting: from slots that somebody has found; tables are cleared and added up ---- */

static uint32_t table32[8 << 16];
static uint16_t table16[4 << 16];
static int64_t counts[1 << 16];

#define COUNTING(name, type, table, tables)                                                \
  static void name(const work *w) {                                                        \
    const uint32_t *p = (const uint32_t *)(const void *)w->a, *end = p + w->bytes / 32 * 8; \
    type *t[8];                                                                            \
    for (int j = 0; j < 8; j++) t[j] = table + (unsigned)(j % (tables)) * slots;           \
    memset(table, 0, (tables) * slots * sizeof(type));                                     \
    for (; p < end; p += 8) {                                                              \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) t[j][p[j]]++;                    \
    }                                                                                      \
    for (unsigned k = 0; k < slots; k++) {                                                 \
      uint32_t sum = 0;                                                                    \
      for (int j = 0; j < (tables); j++) sum += t[j][k];                                   \
      counts[k] = sum;                                                                     \
    }                                                                                      \
    KEEP(counts[0]);                                                                       \
  }
#undef KEEP
#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")
COUNTING(count_1, uint32_t, table32, 1)
COUNTING(count_4, uint32_t, table32, 4)
COUNTING(count_8, uint32_t, table32, 8)
COUNTING(count_4_narrow, uint16_t, table16, 4)

static void bound_count(size_t n) {
  static way ways[] = {{"one table", count_1, 1, {0}}, {"four tables", count_4, 1, {0}}, {"eight tables", count_8, 1, {0}},
                       {"four tables of 16 bits", count_4_narrow, 1, {0}}};
  static const unsigned bins[] = {256, 4096, 65536};
  scale_b = scale_out = 0;
  for (int k = 0; k < 3; k++) {
    char what[32];
    slots = bins[k];
    snprintf(what, sizeof what, "count %u", slots);
    if (n / 8 >= slots || slots <= 4096) COMPARE(what, 4 * n, (double)n, ways, 1, 0.5);
  }
  slots = 0;
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*f)(size_t n); size_t n[3]; } bounds[] = {
    {"read", bound_read, {2000000, 10000000}}, {"move", bound_move, {1000000, 10000000}},
    {"dot", bound_dot, {10000, 100000, 1000000}}, {"count", bound_count, {10000, 1000000}}};
  for (int k = 0; argc > 1 && k < 4; k++) {
    if (strcmp(argv[1], bounds[k].name) != 0) continue;
    for (int i = 2; i < argc; i++) bounds[k].f((size_t)atof(argv[i]));
    for (int i = 0; argc == 2 && i < 3 && bounds[k].n[i]; i++) bounds[k].f(bounds[k].n[i]);
    return 0;
  }
  fprintf(stderr, "usage: %s read|move|dot|count [ELEMENTS ...]\n", argv[0]);
  return 2;
}
