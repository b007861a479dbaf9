/*
** Bare loops that do only what nobody can leave out: read the bytes, move them, convert and multiply them, count them.
** bounds.c runs the best of them beside the peers, bench/cpu_bounds.lua looks for the best. Sizes are whole vectors but
** where a loop says more.
*/
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include "kernels/cpu/isa/vec_avx512.h"

/*
** out_size: the size of an element of the result; written: bytes of the result, for `moved` alone. Histograms: bins,
** from low on, so many to a unit; counting: bins slots. Their result has one count more than bins: of samples that
** rounding brings to the upper end.
*/
typedef struct work {
  const char *x, *y;
  char *out;
  int64_t bytes, size, out_size, written, bins;
  double low, per_bin;
} work;
typedef void (*loop)(const work *w);

#define KEEP(v) __asm__ volatile("" ::"x"(v))
#define LOAD(p) _mm512_loadu_si512((const void *)(p))

/* ---- reading ---- */

#define READ(name, fetch)                                                                  \
  static void name(const work *w) {                                                        \
    __m512i x[8];                                                                          \
    const char *p = w->x, *end = p + w->bytes / 512 * 512;                                 \
    for (int j = 0; j < 8; j++) x[j] = _mm512_setzero_si512();                             \
    for (; p < end; p += 512) {                                                            \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) {                                \
        fetch;                                                                             \
        x[j] = _mm512_or_si512(x[j], LOAD(p + 64 * j));                                    \
      }                                                                                    \
    }                                                                                      \
    for (; p < end + w->bytes % 512; p += 64) x[0] = _mm512_or_si512(x[0], LOAD(p));       \
    for (int j = 0; j < 8; j++) KEEP(x[j]);                                                \
  }
#define FETCH(ahead, hint) _mm_prefetch(p + 64 * j + (ahead), hint)
READ(read_plain, (void)0)
READ(read_1k, FETCH(1024, _MM_HINT_T0))
READ(read_4k, FETCH(4096, _MM_HINT_T0))
READ(read_16k, FETCH(16384, _MM_HINT_T0))
READ(read_t1, FETCH(4096, _MM_HINT_T1))
READ(read_t1_by_8, j ? (void)0 : FETCH(4096, _MM_HINT_T1))
READ(read_nta, FETCH(4096, _MM_HINT_NTA))
READ(read_twice, (FETCH(1024, _MM_HINT_T0), FETCH(16384, _MM_HINT_T1)))

static void read_avx2(const work *w) {
  __m256i x[8];
  const char *p = w->x, *end = p + w->bytes / 256 * 256;
  for (int j = 0; j < 8; j++) x[j] = _mm256_setzero_si256();
  for (; p < end; p += 256) {
    _mm_prefetch(p + 4096, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 64, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 128, _MM_HINT_T0);
    _mm_prefetch(p + 4096 + 192, _MM_HINT_T0);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) 
      x[j] = _mm256_or_si256(x[j], _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * j)));
  }
  for (int j = 0; j < 8; j++) KEEP(x[j]);
}

/* Several places at once, each `apart` bytes from the next. */
#define PLACES(name, places, apart, ahead)                                                 \
  static void name(const work *w) {                                                        \
    __m512i x[places];                                                                     \
    const int64_t gap = (apart), part = w->bytes / (places) / 64 * 64;                     \
    const int64_t inner = gap ? gap : part;                                                \
    for (int j = 0; j < (places); j++) x[j] = _mm512_setzero_si512();                      \
    for (int64_t base = 0; base + (places) * inner <= w->bytes; base += (places) * inner)  \
      for (int64_t k = 0; k < inner; k += 64) {                                            \
        _Pragma("GCC unroll 8") for (int j = 0; j < (places); j++) {                       \
          const char *p = w->x + base + j * inner + k;                                     \
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
    for (int64_t base = 0; base + (chunk) <= w->bytes; base += (chunk))                    \
      for (int64_t k = 0; k < (chunk); k += 256) {                                         \
        const char *p = w->x + base + k, *next = w->x + base + (chunk) + k / 4;            \
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
#define TURNS(name, stretch)                                                                                       \
  static void name(const work *w) {                                                                                \
    const int64_t half = w->bytes / 2 / (stretch) * (stretch);                                                     \
    for (int64_t k = 0; k < half; k += (stretch)) {                                                                \
      const work first = {.x = w->x + k, .bytes = (stretch)}, second = {.x = w->x + half + k, .bytes = (stretch)}; \
      read_4k(&first);                                                                                             \
      read_4k(&second);                                                                                            \
    }                                                                                                              \
  }
TURNS(read_turns4, 4096)
TURNS(read_turns16, 16384)
TURNS(read_turns64, 65536)
static void read_both(const work *w) {
  const work y = {.x = w->y, .bytes = w->bytes};
  read_4k(w);
  read_4k(&y);
}

/* ---- moving: in order, where it goes fetched too, past the caches; integers to words of 64 bits ---- */

#define MOVE(name, fetch, put)                                                             \
  static void name(const work *w) {                                                        \
    const char *p = w->x, *end = p + w->bytes / 512 * 512;                                 \
    char *q = w->out;                                                                      \
    for (; p < end; p += 512, q += 512) {                                                  \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) {                                \
        fetch;                                                                             \
        put((void *)(q + 64 * j), LOAD(p + 64 * j));                                       \
      }                                                                                    \
    }                                                                                      \
    for (; p < w->x + w->bytes; p += 64, q += 64) put((void *)q, LOAD(p));                 \
    _mm_sfence();                                                                          \
  }
MOVE(move_plain, (void)0, _mm512_storeu_si512)
MOVE(move_4k, FETCH(4096, _MM_HINT_T0), _mm512_storeu_si512)
MOVE(move_w, (FETCH(4096, _MM_HINT_T0), __builtin_prefetch(q + 64 * j + 4096, 1)), _mm512_storeu_si512)
MOVE(move_past, FETCH(4096, _MM_HINT_T0), _mm512_stream_si512)
static void move_c(const work *w) { memcpy(w->out, w->x, (size_t)w->bytes); }
static void move_rep(const work *w) {
  const char *p = w->x;
  char *q = w->out;
  size_t n = (size_t)w->bytes;
  __asm__ volatile("rep movsb" : "+S"(p), "+D"(q), "+c"(n)::"memory");
}
/* Reads all, and writes as many bytes as the result has, each line of it as far along as what is read meanwhile. */
static void moved(const work *w) {
  const int64_t lines = w->bytes / 64, results = w->written / 64 ? w->written / 64 : 1;
  const int64_t some = lines / results, rest = lines % results;
  const char *p = w->x;
  char *q = w->out;
  __m512i x[4];
  for (int j = 0; j < 4; j++) x[j] = _mm512_setzero_si512();
  for (int64_t r = 0, left = 0; r < results; r++, q += 64) {
    const char *end = p + some * 64;
    left += rest;
    if (left >= results) left -= results, end += 64;
    for (; p + 256 <= end; p += 256)
      _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++) x[j] = _mm512_or_si512(x[j], LOAD(p + 64 * j));
    for (; p < end; p += 64) x[0] = _mm512_or_si512(x[0], LOAD(p));
    _mm512_storeu_si512((void *)q, x[0]);
  }
  for (int j = 0; j < 4; j++) KEEP(x[j]);
}
/* Integers to words of 64 bits. */
#define WIDEN(name, fetch, put, end_with)                                                        \
  static void name(const work *w) {                                                              \
    const char *p = w->x, *end = p + w->bytes;                                                   \
    char *out = w->out;                                                                          \
    for (; p < end; p += 8 * w->size, out += 64) {                                               \
      fetch;                                                                                     \
      put((void *)out, w->size == 4 ? _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)p)) \
                                    : _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)p)));   \
    }                                                                                            \
    end_with;                                                                                    \
  }
WIDEN(widen_near, (void)0, _mm512_storeu_si512, (void)0)
WIDEN(widen, GR_PREFETCH(p + 4096), _mm512_storeu_si512, (void)0)
WIDEN(widen_w, (GR_PREFETCH(p + 4096), __builtin_prefetch(out + 4096, 1)), _mm512_storeu_si512, (void)0)
WIDEN(widen_past, GR_PREFETCH(p + 4096), _mm512_stream_si512, _mm_sfence())

/* ---- running sums ---- */

/*
** Groups of eight scanned by themselves and one number added, as every way through the tree of docs/numerics.md must,
** but neither their totals nor what lies before them.
*/
GR_INLINE void groups_of(gr_dtype t, const work *w) {
  const vd base = vd_set((double)w->bytes);
  const int64_t step = 32 * w->size;
  vd q[4];
  for (int64_t k = 0; k < w->bytes; k += step) {
    vd_woven_load(t, w->x + k, q);
    vd_woven_scan(t, q);
    GR_UNROLL for (int j = 0; j < 4; j++) q[j] += base;
    vd_woven_store(t, 0, w->out + k, q);
  }
}
static void groups(const work *w) {
  w->size == 4 ? groups_of(GR_F32, w) : groups_of(GR_F64, w);
}

/* ---- multiplying: floats that become doubles, or doubles ---- */

#define DOT(name, bytes_a_step, type, zero, step)                                                                     \
  static void name(const work *w) {                                                                                   \
    type s[8];                                                                                                        \
    const char *p = w->x, *q = w->y, *end = p + w->bytes / (8 * (bytes_a_step)) * (8 * (bytes_a_step));               \
    for (int j = 0; j < 8; j++) s[j] = zero;                                                                          \
    for (; p < end; p += 8 * (bytes_a_step), q += 8 * (bytes_a_step)) {                                               \
      _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) step(s[j], p + j * (bytes_a_step), q + j * (bytes_a_step)); \
    }                                                                                                                 \
    for (; p < w->x + w->bytes; p += (bytes_a_step), q += (bytes_a_step)) step(s[0], p, q);                           \
    for (int j = 0; j < 8; j++) KEEP(s[j]);                                                                           \
  }
#define WIDE(p) _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)(p)))
#define WIDE2(p) _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)(p)))
#define STEP_CONVERT(s, p, q) s = _mm512_fmadd_pd(WIDE(p), WIDE(q), s)
#define STEP_CONVERT2(s, p, q) s = _mm256_fmadd_pd(WIDE2(p), WIDE2(q), s)
#define STEP_CONVERT2_ADD(s, p, q) s = _mm256_add_pd(_mm256_mul_pd(WIDE2(p), WIDE2(q)), s)
#define STEP_F32(s, p, q) s = _mm512_fmadd_ps(_mm512_loadu_ps((const void *)(p)), _mm512_loadu_ps((const void *)(q)), s)
#define LOAD_F64(p) _mm512_loadu_pd((const void *)(p))
#define STEP_F64(s, p, q) s = _mm512_add_pd(_mm512_mul_pd(LOAD_F64(p), LOAD_F64(q)), s)
#define STEP_LOADS(s, p, q) s = _mm512_ternarylogic_epi64(LOAD(p), LOAD(q), s, 0xfe)
/*
** The bits put where a double has them: odd elements by a masked load, a shift and a mask; wrong for zeros, which would
** cost more.
*/
#define ODD(p) _mm512_maskz_loadu_epi32(0xaaaa, (const void *)(p))
#define HIGH(p) _mm512_and_si512(_mm512_srai_epi64(ODD(p), 3), _mm512_set1_epi64((int64_t)0x8fffffffffffffffull))
#define STEP_SHIFT(s, p, q) \
  s = _mm512_fmadd_pd((__m512d)HIGH(p), (__m512d)HIGH(q), s), \
  s = _mm512_fmadd_pd((__m512d)HIGH((p) - 4), (__m512d)HIGH((q) - 4), s)
#define STEP_MIXED(s, p, q) \
  s = _mm512_fmadd_pd((__m512d)HIGH(p), WIDE(q), s), s = _mm512_fmadd_pd((__m512d)HIGH((p) - 4), WIDE((q) + 32), s)
/* Product and its error in f32, both converted. */
#define STEP_PAIR(s, p, q)                                                                                  \
  do {                                                                                                      \
    const __m256 x_ = _mm256_loadu_ps((const void *)(p)), y_ = _mm256_loadu_ps((const void *)(q));          \
    const __m256 m_ = _mm256_mul_ps(x_, y_);                                                                \
    s = _mm512_add_pd(s, _mm512_add_pd(_mm512_cvtps_pd(m_), _mm512_cvtps_pd(_mm256_fmsub_ps(x_, y_, m_)))); \
  } while (0)
DOT(dot_convert, 32, __m512d, _mm512_setzero_pd(), STEP_CONVERT)
DOT(dot_convert2, 16, __m256d, _mm256_setzero_pd(), STEP_CONVERT2)
DOT(dot_convert2_add, 16, __m256d, _mm256_setzero_pd(), STEP_CONVERT2_ADD)
DOT(dot_shift, 64, __m512d, _mm512_setzero_pd(), STEP_SHIFT)
DOT(dot_mixed, 64, __m512d, _mm512_setzero_pd(), STEP_MIXED)
DOT(dot_pair, 32, __m512d, _mm512_setzero_pd(), STEP_PAIR)
DOT(dot_f32, 64, __m512, _mm512_setzero_ps(), STEP_F32)
DOT(dot_f64, 64, __m512d, _mm512_setzero_pd(), STEP_F64)
DOT(dot_loads, 64, __m512i, _mm512_setzero_si512(), STEP_LOADS)
/* Floats that become doubles and are added; the other factors of a matrix times a vector are doubles already. */
#define STEP_ADD(s, p, q) s = _mm512_add_pd(WIDE(p), s)
DOT(add_convert, 32, __m512d, _mm512_setzero_pd(), STEP_ADD)
static void multiply(const work *w) { w->size == 4 ? dot_convert(w) : dot_f64(w); }

/*
** ---- counting slots, and histograms ----
**
** Bins come from one multiplication and addition, each block's while those of the block before are counted.
*/

#define ADD_UP(type)                                                                       \
  static void add_up_##type(const type *t, int64_t slots, int tables, char *out) {         \
    uint64_t *to = (uint64_t *)(void *)out;                                                \
    for (int64_t k = 0; k < slots; k++) to[k] = t[k];                                      \
    for (int j = 1; j < tables; j++)                                                       \
      for (int64_t k = 0; k < slots; k++) to[k] += t[j * slots + k];                       \
  }
ADD_UP(uint8_t)
ADD_UP(uint16_t)
ADD_UP(uint32_t)

#define RESULTS(w) ((w)->bins + 1)

/* Counters that run over do so. */
#define TABLES(type, tables)                                                               \
  const int64_t slots = RESULTS(w);                                                        \
  type *const table = __builtin_alloca((size_t)((tables) * slots) * sizeof(type)), *t[8];  \
  for (int j = 0; j < 8; j++) t[j] = table + j % (tables) * slots;                         \
  memset(table, 0, (size_t)((tables) * slots) * sizeof(type));

#define COUNT(name, type, tables)                                                          \
  static void name(const work *w) {                                                        \
    const int32_t *p = (const int32_t *)(const void *)w->x, *end = p + w->bytes / 32 * 8;  \
    TABLES(type, tables)                                                                   \
    for (; p < end; p += 8) {                                                              \
      GR_PREFETCH(p + 512);                                                                \
      GR_COUNT_EIGHT(t, p);                                                                \
    }                                                                                      \
    add_up_##type(table, slots, tables, w->out);                                           \
  }
COUNT(count_1, uint32_t, 1)
COUNT(count_4, uint32_t, 4)
COUNT(count_8, uint32_t, 8)
COUNT(count_1_narrow, uint16_t, 1)
COUNT(count_4_narrow, uint16_t, 4)
COUNT(count_bytes, uint8_t, 1)
/* The range first; bytes are their own slots. */
static void count_range(const work *w) {
  const int32_t *p = (const int32_t *)(const void *)w->x;
  __m512i most = _mm512_setzero_si512();
  if (w->size == 1) {
    TABLES(uint32_t, 4)
    for (int64_t k = 0; k < w->bytes; k += 8) {
      uint64_t eight;
      memcpy(&eight, w->x + k, 8);
      for (int j = 0; j < 8; j++) t[j % 4][eight >> 8 * j & 255]++;
    }
    add_up_uint32_t(table, slots, 4, w->out);
    return;
  }
  for (int64_t k = 0; k < w->bytes / 4; k += 16) most = _mm512_max_epu32(most, LOAD(p + k));
  KEEP(most);
  w->bins > 256 ? count_4_narrow(w) : count_8(w);
}

#define BLOCK 64
#define FIND_F64(x, to) \
  _mm256_storeu_si256((void *)(to), _mm512_cvttpd_epi32(_mm512_fmadd_pd(_mm512_loadu_pd(x), per_bin, start)))
#define FIND_F32(x, to) \
  _mm512_storeu_si512((to), _mm512_cvttps_epi32(_mm512_fmadd_ps(_mm512_loadu_ps(x), per_bin, start)))
#define SAMPLES(sample, vector, s)                                                                                     \
  const sample *x = (const sample *)(const void *)w->x, *end = x + w->bytes / (int64_t)sizeof(sample) / BLOCK * BLOCK; \
  const vector per_bin = _mm512_set1_##s((sample)w->per_bin), start = _mm512_set1_##s((sample)(-w->low * w->per_bin)); \
  _Alignas(64) int32_t room[2 * BLOCK];
#define FIND(name, sample, vector, s, width, find)                                         \
  static void name(const work *w) {                                                        \
    SAMPLES(sample, vector, s)                                                             \
    for (; x < end; x += BLOCK) {                                                          \
      GR_UNROLL for (int j = 0; j < BLOCK; j += (width)) {                                 \
        GR_PREFETCH(x + j + 512);                                                          \
        find(x + j, room + j);                                                             \
      }                                                                                    \
      __asm__ volatile("" ::"r"(room) : "memory");                                         \
    }                                                                                      \
  }
FIND(find_f64, double, __m512d, pd, 8, FIND_F64)
FIND(find_f32, float, __m512, ps, 16, FIND_F32)
static void find(const work *w) { w->size == 4 ? find_f32(w) : find_f64(w); }

#define BYTES_EIGHT(t, slots) GR_UNROLL for (int i = 0; i < 8; i++) t[0][(slots)[i]]++
#define HISTOGRAM(name, sample, vector, s, width, find, type, tables, eight)               \
  static void name(const work *w) {                                                        \
    SAMPLES(sample, vector, s)                                                             \
    TABLES(type, tables)                                                                   \
    int32_t *found = room, *next = room + BLOCK, *swap;                                    \
    for (int j = 0; j < BLOCK; j += (width)) find(x + j, found + j);                       \
    for (x += BLOCK; x < end; x += BLOCK, swap = found, found = next, next = swap) {       \
      GR_UNROLL for (int k = 0; k < BLOCK; k += 16) {                                      \
        GR_UNROLL for (int j = k; j < k + 16; j += (width)) {                              \
          GR_PREFETCH(x + j + 512);                                                        \
          find(x + j, next + j);                                                           \
        }                                                                                  \
        eight(t, found + k);                                                               \
        eight(t, found + k + 8);                                                           \
      }                                                                                    \
    }                                                                                      \
    for (int k = 0; k < BLOCK; k += 8) eight(t, found + k);                                \
    add_up_##type(table, slots, tables, w->out);                                           \
  }
#define HISTOGRAMS(name, type, tables, eight)                                              \
  HISTOGRAM(name##_f64, double, __m512d, pd, 8, FIND_F64, type, tables, eight)             \
  HISTOGRAM(name##_f32, float, __m512, ps, 16, FIND_F32, type, tables, eight)              \
  static void name(const work *w) { w->size == 4 ? name##_f32(w) : name##_f64(w); }
HISTOGRAMS(histogram_words, uint32_t, 8, GR_COUNT_EIGHT)
HISTOGRAMS(histogram_narrow, uint16_t, 4, GR_COUNT_EIGHT)
HISTOGRAMS(histogram_bytes, uint8_t, 1, BYTES_EIGHT)
static void histogram(const work *w) {
  w->bins <= 256 ? histogram_words(w) : w->bins <= 4096 ? histogram_narrow(w) : histogram_bytes(w);
}

/* ---- by name ---- */

#define WAY(f) {#f, f}
static const struct { const char *name; loop f; } ways[] = {
  WAY(read_plain), WAY(read_1k), {"read", read_4k}, WAY(read_16k), WAY(read_t1), WAY(read_t1_by_8), WAY(read_nta),
  WAY(read_twice), {"halves", read_halves}, WAY(read_quarters), WAY(read_pages2), WAY(read_pages4), WAY(read_pages8),
  WAY(read_spread16), WAY(read_spread32), WAY(read_spread64), WAY(read_spread256), WAY(read_turns4), WAY(read_turns16),
  WAY(read_turns64), WAY(move_plain), WAY(move_4k), {"move", move_w}, WAY(move_past), WAY(widen_near), WAY(widen),
  WAY(widen_w), WAY(widen_past), WAY(moved), WAY(add_convert), WAY(dot_convert), WAY(dot_convert2),
  WAY(dot_convert2_add), WAY(dot_shift),
  WAY(dot_mixed), WAY(dot_pair), WAY(dot_f32), WAY(dot_f64), WAY(dot_loads), WAY(count_1), WAY(count_4), WAY(count_8),
  WAY(count_1_narrow), WAY(count_4_narrow), WAY(count_bytes), WAY(read_avx2), WAY(read_both), WAY(move_c),
  WAY(move_rep), WAY(multiply), WAY(count_range), WAY(find), WAY(histogram_words), WAY(histogram_narrow),
  WAY(histogram_bytes), WAY(histogram), WAY(groups),
};
#undef WAY
