/*
** OpenBLAS's side of bench/cpu.lua: one command a line on standard input, one line of answer each. The same commands as
** python_peer.py, and `threads N`. Floats only.
**
**   cc -O2 bench/peers_cpu/openblas_peer.c -o build/openblas_peer -lopenblas
*/
#define _GNU_SOURCE 1
#include <cblas.h>
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
  v->data = aligned_alloc(1 << 21, (v->bytes + (1 << 21)) >> 21 << 21);
  madvise(v->data, v->bytes, MADV_HUGEPAGE);
  size_t got = fread(v->data, 1, v->bytes, f);
  fclose(f);
  return got == v->bytes;
}

/* ---- operations ---- */

static double run(const char *op) {
  const int n = (int)(x.bytes / (size_t)size), f = size == 4;
  const float *s = (const float *)(void *)x.data;
  const double *d = (const double *)(void *)x.data;
  if (!strcmp(op, "dot"))
    return f ? cblas_sdot(n, s, 1, (float *)(void *)y.data, 1) : cblas_ddot(n, d, 1, (double *)(void *)y.data, 1);
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
    else if (!strncmp(line, "threads", 7) && words == 1)
      openblas_set_num_threads(threads = atoi(a)), calm_down(), puts("ok");
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
