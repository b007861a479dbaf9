/*
** OpenBLAS's side of bench/cpu.lua, and loops that only read or move: one command a line on standard input, one line of
** answer each. The same commands as numpy_peer.py, and `threads N`. Floats only.
**
**   cc -O2 bench/peers_cpu/openblas_peer.c -o build/openblas_peer -lopenblas -lpthread
*/
#define _GNU_SOURCE 1
#include <cblas.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Extensions that not every cblas.h declares. */
size_t cblas_ismax(int n, const float *x, int step);
size_t cblas_idmax(int n, const double *x, int step);
size_t cblas_ismin(int n, const float *x, int step);
size_t cblas_idmin(int n, const double *x, int step);

static struct vector { char *data; size_t bytes; } x, y;
static char *copy; /* where x is moved to; NULL: not yet */
static int size, threads = 1;
static volatile double sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Huge pages, as NumPy asks for. */
static int load(struct vector *v, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return 0;
  fseek(f, 0, SEEK_END);
  v->bytes = (size_t)ftell(f);
  rewind(f);
  free(v->data);
  free(copy);
  copy = NULL;
  v->data = aligned_alloc(1 << 21, (v->bytes + (1 << 21)) >> 21 << 21);
  madvise(v->data, v->bytes, MADV_HUGEPAGE);
  size_t got = fread(v->data, 1, v->bytes, f);
  fclose(f);
  return got == v->bytes;
}

/* ---- reading ---- */

typedef struct part { const char *data; size_t bytes; } part;

__attribute__((target_clones("avx512f", "avx2", "default"))) static void *read_part(void *arg) {
  typedef uint64_t v __attribute__((vector_size(64), aligned(8)));
  const part *p = arg;
  const v *at = (const v *)(const void *)p->data;
  v a = {0}, b = {0}, c = {0}, d = {0};
  for (size_t k = 0; k + 4 <= p->bytes / 64; k += 4) {
    for (int j = 0; j < 4; j++) __builtin_prefetch((const char *)(at + k + j) + 4096);
    a |= at[k];
    b |= at[k + 1];
    c |= at[k + 2];
    d |= at[k + 3];
  }
  a |= b | c | d;
  __asm__ volatile("" ::"m"(a));
  return NULL;
}

static void each_part(void *(*body)(void *), const struct vector *v) {
  part p[64];
  pthread_t id[64];
  for (int k = 0; k < threads; k++) {
    size_t from = v->bytes / 64 * (size_t)k / (size_t)threads * 64, to = v->bytes / 64 * (size_t)(k + 1) / (size_t)threads * 64;
    p[k] = (part){v->data + from, to - from};
    if (k > 0) pthread_create(&id[k], NULL, body, &p[k]);
  }
  body(&p[0]);
  for (int k = 1; k < threads; k++) pthread_join(id[k], NULL);
}

/* ---- moving: what a running sum cannot do without; large results past the caches ---- */

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static void *move_part(void *arg) {
  const part *p = arg;
  char *to = copy + (p->data - x.data);
#ifdef __SSE2__
  for (size_t k = 0; k + 64 <= p->bytes && x.bytes >= 8 << 20; k += 64) {
    __builtin_prefetch(p->data + k + 4096);
    for (int j = 0; j < 64; j += 16)
      _mm_stream_si128((__m128i *)(void *)(to + k + j), _mm_loadu_si128((const __m128i *)(const void *)(p->data + k + j)));
  }
  _mm_sfence();
  if (x.bytes >= 8 << 20) return NULL;
#endif
  memcpy(to, p->data, p->bytes);
  return NULL;
}

/* ---- operations ---- */

static double run(const char *op) {
  const int n = (int)(x.bytes / (size_t)size), f = size == 4;
  const float *s = (const float *)(void *)x.data;
  const double *d = (const double *)(void *)x.data;
  if (!strcmp(op, "read")) return each_part(read_part, &x), 0;
  if (!strcmp(op, "read2")) return each_part(read_part, &x), each_part(read_part, &y), 0;
  if (!strcmp(op, "move")) {
    if (!copy) copy = aligned_alloc(1 << 21, (x.bytes + (1 << 21)) >> 21 << 21), madvise(copy, x.bytes, MADV_HUGEPAGE);
    return each_part(move_part, &x), 0;
  }
  if (!strcmp(op, "dot")) return f ? cblas_sdot(n, s, 1, (float *)(void *)y.data, 1) : cblas_ddot(n, d, 1, (double *)(void *)y.data, 1);
  const size_t k = !strcmp(op, "min") ? (f ? cblas_ismin(n, s, 1) : cblas_idmin(n, d, 1))
                                      : (f ? cblas_ismax(n, s, 1) : cblas_idmax(n, d, 1));
  return !strcmp(op, "argmax") ? (double)k + 1 : f ? (double)s[k] : d[k];
}

/* Its idle threads go on using CPUs for 2^26 clocks, which the next contender must not suffer from. */
static void calm_down(void) {
  const struct timespec t = {0, 60 * 1000 * 1000};
  if (threads > 1) nanosleep(&t, NULL);
}

static double measure(const char *op, int repeat) {
  sink = run(op);
  double start = now();
  for (int k = 0; k < repeat; k++) sink = run(op);
  const double each = (now() - start) / repeat;
  calm_down();
  return each;
}

int main(void) {
  char line[512], a[256], b[256], c[256];
  while (fgets(line, sizeof line, stdin)) {
    int words = sscanf(line, "%*s %255s %255s %255s", a, b, c);
    if (!strncmp(line, "version", 7)) puts(openblas_get_config());
    else if (!strncmp(line, "threads", 7) && words == 1) openblas_set_num_threads(threads = atoi(a)), calm_down(), puts("ok");
    else if (!strncmp(line, "load", 4) && words == 3) {
      size = atoi(b + 1);
      puts(load(a[0] == 'x' ? &x : &y, c) ? "ok" : "failed");
    }
    else if (!strncmp(line, "check", 5)) printf("%.17g\n", run(a)), calm_down();
    else if (!strncmp(line, "time", 4)) printf("%.17g\n", measure(a, atoi(b)));
    fflush(stdout);
  }
  return 0;
}
