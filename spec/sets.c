/*
** Every instruction set that this CPU has against plain C: reductions of all operations and dtypes (whole, strided,
** rows, columns), scans, histograms, RMSNorm and softmax of random lengths, places and data; results must have the same
** bits. Plain C is compared with the model by the golden specs, so this carries them to machines that Lua is not on:
** `make neon` runs it compiled for 64-bit ARM, under an emulator. Usage: sets [rounds [seed]].
*/
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cpu/kernels_cpu.h"
#include "kernels/cpu/isa/table.h"
#include "spec/chance.h"

#define MOST 140000 /* elements: more than a block of a scan, and a few */
#define SETS 5

static int64_t some_length(void) { return 1 + below((int64_t)1 << (1 + below(17))); }

/* ---- data: ordinary numbers, or any bits at all, with NaNs or without ---- */

static _Alignas(64) char data[2][MOST * 8 + 64];

static int is_nan(gr_dtype t, uint64_t bits) {
  switch (t) {
    case GR_F16: return (bits & 0x7fff) > 0x7c00;
    case GR_BF16: return (bits & 0x7fff) > 0x7f80;
    case GR_F32: return (bits & 0x7fffffff) > 0x7f800000;
    case GR_F64: return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    default: return 0;
  }
}

static uint64_t ordinary(gr_dtype t) {
  const double x = (double)(int64_t)next() * 0x1p-61;
  switch (t) {
    case GR_F16: return gr_f64_to_f16(x).bits;
    case GR_BF16: return gr_f64_to_bf16(x).bits;
    case GR_F32: { const float f = (float)x; uint32_t u; memcpy(&u, &f, 4); return u; }
    case GR_F64: { uint64_t u; memcpy(&u, &x, 8); return u; }
    default: return next();
  }
}

static void fill(gr_dtype t) {
  const int size = gr_size_of(t), wild = below(3) == 0, nans = below(8) == 0;
  int64_t k;
  int which;
  for (which = 0; which < 2; which++) {
    for (k = 0; k < MOST; k++) {
      uint64_t bits = wild ? next() : ordinary(t);
      if (nans && gr_is_float(t) && below(4) == 0) bits = next() | (uint64_t)gr_key_inf(t);
      while (!nans && is_nan(t, bits)) bits = next();
      if (below(64) == 0) bits = below(2) ? 0 : (uint64_t)1 << (8 * size - 1); /* zeros of both signs */
      memcpy(data[which] + k * size, &bits, (size_t)size);
    }
  }
}

/* ---- one case: a job, with its results in order ---- */

#define RESULTS (MOST * 8)
typedef struct results { char byte[RESULTS]; } results;

static struct {
  enum { REDUCE, SCAN, HISTOGRAM, RMSNORM, SOFTMAX, KINDS } kind;
  gr_op op;
  gr_dtype t;
  int64_t n, count, stride, bins, skip;
  int turn, exclusive, reverse, modulo, natural, vector;
} it;

/* What results are by nature, which kernels may write by themselves. */
static gr_dtype reduced(void) {
  if (!it.natural) return GR_F64;
  if (it.op == GR_OP_min || it.op == GR_OP_max) return it.t;
  if (it.op == GR_OP_argmin || it.op == GR_OP_argmax) return GR_I64;
  return (it.op == GR_OP_sum || it.op == GR_OP_dot) && !gr_is_float(it.t) ? GR_I64 : GR_F64;
}

static int64_t reduce(results *to) {
  gr_reduce_job job = {0};
  const int size = gr_size_of(it.t);
  gr_value value;
  job.op = it.op;
  job.dtype = it.t;
  job.n = it.n;
  job.count = it.count;
  job.a.data = data[0] + it.skip * size;
  job.b.data = data[1] + it.skip * size;
  job.a.stride = job.b.stride = it.turn ? it.count * size : it.stride * size;
  job.a.step = job.b.step = it.turn ? size : it.n * it.stride * size;
  if (it.vector) { /* one for all */
    job.b.step = 0;
    job.b.stride = it.stride * size;
  }
  job.out = to->byte;
  job.out_dtype = reduced();
  job.scale_a = job.scale_b = 1;
  if (it.count > 1) {
    gr_cpu_reduce(&job, NULL);
    return it.count * gr_size_of(job.out_dtype);
  }
  value = gr_cpu_reduce_value(&job, NULL);
  memcpy(to->byte, value.v, sizeof(value.v));
  return it.op == GR_OP_minmax ? 16 : 8; /* the second number is nobody's else */
}

static gr_dtype scanned(gr_dtype t) {
  if (it.op == GR_OP_min || it.op == GR_OP_max) return t;
  return t == GR_F64 ? GR_F64 : gr_is_float(t) ? GR_F32 : GR_I64;
}

static int64_t scan(results *to) {
  gr_scan_job job = {0};
  const int size = gr_size_of(it.t);
  job.op = it.op;
  job.dtype = it.t;
  job.out_dtype = scanned(it.t);
  job.n = it.n;
  job.count = 1;
  job.a.data = data[0] + it.skip * size;
  job.a.stride = it.stride * size;
  job.out.data = to->byte;
  job.out.stride = gr_size_of(job.out_dtype);
  job.exclusive = it.exclusive;
  job.reverse = it.reverse;
  gr_cpu_scan(&job, NULL, NULL);
  return it.n * job.out.stride;
}

static int64_t histogram(results *to) {
  gr_histogram_job job = {0};
  const int size = gr_size_of(it.t);
  job.dtype = it.t;
  job.n = it.n;
  job.bins = it.bins;
  job.a.data = data[0] + it.skip * size;
  job.a.stride = it.stride * size;
  job.first = gr_is_float(it.t) ? -2.5 : -100;
  job.last = gr_is_float(it.t) ? 2.75 : 200;
  job.per_bin = (double)it.bins / (job.last - job.first);
  job.guess = 1;
  job.modulo = it.modulo;
  job.counts = (int64_t *)(void *)to->byte;
  job.tails = job.counts + it.bins;
  gr_cpu_histogram(&job, NULL, NULL, NULL, 0);
  return (it.bins + 3) * 8;
}

static int64_t rmsnorm(results *to) {
  gr_rmsnorm_job job = {0};
  const int size = gr_size_of(it.t);
  job.dtype = it.t;
  job.n = it.n;
  job.count = it.count;
  job.x.data = data[0] + it.skip * size;
  job.w.data = it.turn ? data[1] : NULL;
  job.out.data = to->byte;
  job.x.stride = job.w.stride = job.out.stride = size;
  job.x.step = job.out.step = it.n * size;
  job.eps = 1e-5;
  gr_cpu_rmsnorm(&job, NULL);
  return it.n * it.count * size;
}

static int64_t softmax(results *to) {
  gr_softmax_job job = {0};
  const int size = gr_size_of(it.t);
  job.dtype = it.t;
  job.n = it.n;
  job.count = it.count;
  job.x.data = data[0] + it.skip * size;
  job.out.data = to->byte;
  job.x.stride = job.out.stride = size;
  job.x.step = job.out.step = it.n * size;
  gr_cpu_softmax(&job, NULL);
  return it.n * it.count * size;
}

static int64_t (*const run[KINDS])(results *) = {reduce, scan, histogram, rmsnorm, softmax};
static const char *const names[KINDS] = {"reduce", "scan", "histogram", "rmsnorm", "softmax"};

static int defined(void) {
  const gr_reducer red = gr_reducer_of(it.op, it.t);
  switch (it.kind) {
    case REDUCE:
      if (it.op == GR_OP_minmax && it.count > 1) return 0; /* min and max by themselves */
      return gr_acc_kind_of(red, it.t) != GR_ACC_NONE;
    case SCAN: return it.op == GR_OP_sum || it.op == GR_OP_prod || it.op == GR_OP_min || it.op == GR_OP_max;
    case HISTOGRAM: return it.op == GR_OP_sum && it.t != GR_I64;
    default: return it.op == GR_OP_sum && gr_is_float(it.t);
  }
}

static void shape(void) {
  it.count = it.kind == SCAN || it.kind == HISTOGRAM || below(2) ? 1 : 1 + below(below(4) ? 100 : 1000);
  it.stride = it.kind == RMSNORM || it.kind == SOFTMAX || below(3) ? 1 : 2;
  it.n = some_length() / (it.count * it.stride) + 1;
  it.skip = below(9);
  it.turn = it.count > 1 && below(2);
  it.natural = it.count > 1 && below(4) > 0;
  it.vector = (int)below(2);
  it.exclusive = (int)below(2);
  it.reverse = (int)below(2);
  it.bins = 1 + below((int64_t)1 << (1 + below(13)));
  it.modulo = gr_is_float(it.t) ? 0 : (int)below(3);
  if (it.modulo == 2 && it.t != GR_U8) it.modulo = 1; /* 2: all samples are known to lie in the bins */
  if (it.modulo == 2) it.bins += 255;
}

int main(int argc, char **argv) {
  static const char *const sets[SETS] = {"generic", "sse2", "avx2", "avx512", "neon"};
  static results expected, got;
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  int64_t cases = 0, wrong = 0;
  int round, k, s;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (s = 0; s < SETS; s++)
    if (gr_cpu_select(sets[s])) printf("%s ", sets[s]);
  for (round = 0; round < rounds; round++) {
    for (k = 0; k < KINDS * GR_OP_COUNT * GR_DTYPE_COUNT; k++) {
      it.t = (gr_dtype)(k / (KINDS * GR_OP_COUNT));
      it.kind = k % KINDS;
      it.op = (gr_op)(k / KINDS % GR_OP_COUNT);
      if (k % (KINDS * GR_OP_COUNT) == 0) fill(it.t);
      shape();
      gr_cpu_select("generic");
      if (!defined()) continue;
      run[it.kind](&expected);
      for (s = 1; s < SETS; s++) {
        int64_t bytes;
        if (!gr_cpu_select(sets[s])) continue;
        bytes = run[it.kind](&got);
        cases++;
        if (!memcmp(&expected, &got, (size_t)bytes)) continue;
        if (wrong++ >= 10) continue;
        printf("\n%s: %s, operation %d, dtype %d, n %lld, count %lld, stride %lld, skip %lld, ", sets[s],
               names[it.kind], (int)it.op, (int)it.t, (long long)it.n, (long long)it.count, (long long)it.stride,
               (long long)it.skip);
        printf("turn %d, exclusive %d, reverse %d, bins %lld", it.turn, it.exclusive, it.reverse,
               (long long)it.bins);
      }
    }
  }
  printf(": %lld of %lld cases differ from plain C\n", (long long)wrong, (long long)cases);
  return wrong > 0 || cases == 0;
}
