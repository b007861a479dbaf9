/*
** Every operation x dtype of the CUDA reductions against a scalar model, on random sizes and views: flat at any
** offset, strided, rows, columns, transposed; outputs lie between guards. Link with kernels/cuda/reduce/*.o.
**   check [rounds] [seed] [largest]
** With MATRICES set only rows and columns, with FLUSH set views that end where their memory ends, for memcheck.
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
#include <cuda_runtime.h>
#include "bench/check_call.cuh"
#include "bench/tree/names.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/grid/mailbox.h"
#include "kernels/numerics/numerics.h"

enum { F64, I64, SAME, BOOL, ZERO, UNDEFINED, START, RAISE };
#define GR_X(name, r, f, i, e, by) {f, i, e},
static const int results[][3] = {GR_OPS(GR_X)};
#undef GR_X

/* ---- the model ---- */

struct Element {
  double d;
  float f;
  int64_t i, key;
};

static Element element(gr_dtype t, const char *p) {
  Element e = {};
  switch (t) {
#define GR_X(id, s, l, type, k)                  \
  case GR_##id: {                                \
    type x;                                      \
    memcpy(&x, p, sizeof(x));                    \
    e.d = gr_widen_##s(x);                       \
    e.key = gr_key_##s(x);                       \
    e.i = (int64_t)(gr_is_float(t) ? 0 : e.key); \
    break;                                       \
  }
    GR_DTYPES(GR_X)
#undef GR_X
    default: break;
  }
  e.f = (float)e.d;
  return e;
}

static void add(gr_reducer red, gr_acc_kind kind, gr_dtype t, gr_acc *a, float *lane32, Element x, Element y, int64_t k,
                double sa, double sb) {
  bool integer = !gr_is_float(t);
  switch (red) {
    case GR_RED_SUM:
    case GR_RED_PROD:
    case GR_RED_DOT:
      if (integer) {
        uint64_t v = (uint64_t)x.i * (red == GR_RED_DOT ? (uint64_t)y.i : 1);
        a->i[0] = (int64_t)(red == GR_RED_PROD ? (uint64_t)a->i[0] * v : (uint64_t)a->i[0] + v);
      } else if (red == GR_RED_PROD) a->f[0] *= x.d;
      else if (sizes[t] == 2) *lane32 += red == GR_RED_DOT ? x.f * y.f : x.f;
      else a->f[0] += red == GR_RED_DOT ? x.d * y.d : x.d;
      break;
    case GR_RED_SUMWIDE: {
      __int128 s = (__int128)a->i[1] * 4294967296 + a->i[0] + x.i;
      a->i[0] = (int64_t)(uint32_t)s;
      a->i[1] = (int64_t)(s >> 32);
      break;
    }
    case GR_RED_MINMAX:
      if (x.key < a->i[0]) a->i[0] = x.key;
      if (x.key > a->i[1]) a->i[1] = x.key;
      break;
    case GR_RED_ARGMIN:
    case GR_RED_ARGMAX: {
      int64_t key = red == GR_RED_ARGMIN ? ~x.key : x.key;
      if (!integer && x.d != x.d) key = INT64_MAX;
      if (key > a->i[0] || (key == a->i[0] && k < a->i[1])) a->i[0] = key, a->i[1] = k;
      break;
    }
    case GR_RED_COUNT: a->i[0] += x.d != 0; break;
    case GR_RED_DIFFER: a->i[0] += integer ? x.i != y.i : x.d != y.d && !(x.d != x.d && y.d != y.d); break;
    case GR_RED_SUMABS: a->f[0] += fabs(x.d); break;
    case GR_RED_SUMSQ: a->f[0] += (x.d * sa) * (x.d * sa); break;
    case GR_RED_PRESENT:
      if (x.d != x.d) break;
      [[fallthrough]];
    case GR_RED_VARIANCE: a->f[1] += (x.d - sa) * (x.d - sa); break; /* second pass, sa is the mean */
    case GR_RED_SUMEXP: {
      gr_acc one = gr_identity(kind, 0);
      one.f[0] = x.d, one.f[1] = 1;
      *a = gr_merge_scaled(*a, one);
      break;
    }
    case GR_RED_SQDIFF: a->f[0] += (x.d - y.d) * (x.d - y.d); break;
    case GR_RED_COSINE:
      a->f[0] += (x.d * sa) * (y.d * sb);
      a->f[1] += (x.d * sa) * (x.d * sa);
      a->f[2] += (y.d * sb) * (y.d * sb);
      break;
    case GR_RED_SUM_F32: *lane32 += x.f; break;
    case GR_RED_DOT_F32: *lane32 += x.f * y.f; break;
    case GR_RED_SUM_KAHAN: gr_add_kahan(&a->f[0], &a->f[1], x.d); break;
    case GR_RED_SUM_NEUMAIER: gr_add_neumaier(&a->f[0], &a->f[1], x.d); break;
    case GR_RED_DOT_KAHAN:
    case GR_RED_DOT_NEUMAIER: {
      double p = x.d * y.d, e = t == GR_F64 ? fma(x.d, y.d, -p) : 0.0;
      if (red == GR_RED_DOT_KAHAN) gr_add_kahan(&a->f[0], &a->f[1], p), a->f[1] -= e;
      else gr_add_neumaier(&a->f[0], &a->f[1], p), a->f[1] += e;
      break;
    }
    default: break;
  }
  (void)kind;
}

/* One leaf: lanes in order, then by halves. */
static gr_acc model_leaf(gr_reducer red, gr_acc_kind kind, gr_dtype t, const char *a, int64_t as, const char *b,
                         int64_t bs, int64_t first, int64_t count, double sa, double sb) {
  int lanes = GR_LANES(sizes[t]);
  bool in32 = kind == GR_ACC_TREE && (red == GR_RED_SUM_F32 || red == GR_RED_DOT_F32 ||
                                      (sizes[t] == 2 && gr_is_float(t) && (red == GR_RED_SUM || red == GR_RED_DOT)));
  std::vector<gr_acc> lane(lanes, gr_identity(kind == GR_ACC_VARIANCE ? GR_ACC_TREE : kind, red == GR_RED_PROD));
  std::vector<float> lane32(lanes, -0.0f);
  if (kind == GR_ACC_VARIANCE)
    for (auto &l : lane) l.f[1] = -0.0;
  for (int64_t k = 0; k < count; k++)
    add(red, kind, t, &lane[k % lanes], &lane32[k % lanes], element(t, a + (first + k) * as),
        element(t, b + (first + k) * bs), first + k, sa, sb);
  if (in32)
    for (int l = 0; l < lanes; l++) lane[l].f[0] = lane32[l];
  for (int h = lanes / 2; h; h /= 2)
    for (int l = 0; l < h; l++) {
      if (kind == GR_ACC_VARIANCE) lane[l].f[1] += lane[l + h].f[1];
      else lane[l] = gr_merge(red, kind, lane[l], lane[l + h]);
    }
  return lane[0];
}

static gr_value model(const gr_reduce_job &j, int64_t v, const char *ha, const char *hb) {
  gr_reducer red = gr_reducer_of(j.op, j.dtype);
  gr_acc_kind kind = gr_acc_kind_of(red, j.dtype);
  const char *a = ha + v * j.a.step, *b = hb + v * j.b.step;
  std::vector<gr_acc> nodes;
  for (int64_t first = 0; first < j.n; first += GR_LEAF(sizes[j.dtype])) {
    int64_t count = std::min<int64_t>(GR_LEAF(sizes[j.dtype]), j.n - first);
    gr_acc acc;
    if (red == GR_RED_VARIANCE && !gr_is_float(j.dtype) && sizes[j.dtype] <= 2) { /* exact sums */
      int64_t sum = 0, squares = 0;
      for (int64_t k = 0; k < count; k++) {
        int64_t x = element(j.dtype, a + (first + k) * j.a.stride).i;
        sum += x, squares += x * x;
      }
      acc.f[0] = (double)sum;
      acc.f[1] = (double)(count * squares - sum * sum) / (double)count;
      acc.f[2] = (double)count;
    } else if (kind == GR_ACC_VARIANCE) {
      gr_acc sum = gr_identity(GR_ACC_TREE, 0);
      int lanes = GR_LANES(sizes[j.dtype]);
      int64_t there = 0;
      std::vector<double> lane(lanes, -0.0);
      for (int64_t k = 0; k < count; k++) {
        const double x = element(j.dtype, a + (first + k) * j.a.stride).d;
        if (red == GR_RED_VARIANCE || x == x) lane[k % lanes] += x, there++;
      }
      for (int h = lanes / 2; h; h /= 2)
        for (int l = 0; l < h; l++) lane[l] += lane[l + h];
      sum.f[0] = lane[0];
      acc = model_leaf(red, kind, j.dtype, a, j.a.stride, a, j.a.stride, first, count, sum.f[0] / (double)there, 0);
      acc.f[0] = sum.f[0];
      acc.f[2] = (double)there;
    } else {
      acc = model_leaf(red, kind, j.dtype, a, j.a.stride, b, j.b.stride, first, count, j.scale_a, j.scale_b);
    }
    nodes.push_back(acc);
  }
  while (nodes.size() > 1) {
    std::vector<gr_acc> up;
    for (size_t i = 0; i < nodes.size(); i += 2)
      up.push_back(i + 1 < nodes.size() ? gr_merge(red, kind, nodes[i], nodes[i + 1]) : nodes[i]);
    nodes.swap(up);
  }
  return gr_finish(j.op, j.dtype, nodes.empty() ? gr_identity(kind, red == GR_RED_PROD) : nodes[0], j.n, j.ddof);
}

static void store(char *out, gr_dtype t, gr_value r, int which) {
  double x = r.is_float ? r.v[which].f : (double)r.v[which].i;
  int64_t i = r.is_float ? (int64_t)0 : r.v[which].i;
  gr_f16 h;
  gr_bf16 g;
  float f;
  switch (t) {
    case GR_F64: memcpy(out, &x, 8); break;
    case GR_F32:
      f = gr_f64_to_f32(x);
      memcpy(out, &f, 4);
      break;
    case GR_F16:
      h = gr_f64_to_f16(x);
      memcpy(out, &h, 2);
      break;
    case GR_BF16:
      g = gr_f64_to_bf16(x);
      memcpy(out, &g, 2);
      break;
    default: memcpy(out, &i, sizes[t]); break;
  }
}

/* ---- random jobs ---- */

static std::mt19937_64 rng;
static int64_t below(int64_t n) { return (int64_t)(rng() % (uint64_t)n); }

static void fill(std::vector<char> &buffer, gr_dtype t, int flavour) {
  for (size_t i = 0; i + sizes[t] <= buffer.size(); i += sizes[t]) {
    double x = ((double)(rng() >> 11) * 0x1p-53 - 0.5) * (flavour == 1 ? 1e6 : 4);
    uint64_t u = rng();
    if (flavour == 2) x = (double)(below(5) - 2), u = (uint64_t)(below(5) - 2);
    if (flavour == 3 && below(50) == 0) x = below(2) ? INFINITY : below(2) ? NAN : -0.0;
    if (flavour == 3 && below(3) == 0) u = 0;
    if (t == GR_F16) {
      gr_f16 h = gr_f64_to_f16(x);
      memcpy(&buffer[i], &h, 2);
    } else if (t == GR_BF16) {
      gr_bf16 h = gr_f64_to_bf16(x);
      memcpy(&buffer[i], &h, 2);
    } else if (t == GR_F32) {
      float f = (float)x;
      memcpy(&buffer[i], &f, 4);
    } else if (t == GR_F64) memcpy(&buffer[i], &x, 8);
    else memcpy(&buffer[i], &u, sizes[t]);
  }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 20, bad = 0, tried = 0;
  int64_t largest = argc > 3 ? atoll(argv[3]) : 300000;
  rng.seed(argc > 2 ? atoi(argv[2]) : 1);
  gr_cuda_chip chip = {0, 9, 0, 132, 232448, 60 << 20};
  CHECK(cudaDeviceGetAttribute(&chip.sms, cudaDevAttrMultiProcessorCount, 0));
  size_t bytes = (size_t)8 << 20, scratch_bytes = (size_t)64 << 20, out_bytes = 1 << 20;
  char *da, *db, *dout, *scratch;
  uint64_t *slot;
  CHECK(cudaMalloc(&da, bytes + (getenv("FLUSH") ? 0 : 256)));
  CHECK(cudaMalloc(&db, bytes + (getenv("FLUSH") ? 0 : 256)));
  CHECK(cudaMalloc(&dout, out_bytes * 2));
  CHECK(cudaMalloc(&scratch, scratch_bytes));
  CHECK(cudaMemset(scratch, 0xcd, scratch_bytes));
  CHECK(cudaMemset(scratch, 0, GR_COUNTER_BYTES));
  CHECK(cudaHostAlloc(&slot, GR_MAILBOX_WORDS * 8, cudaHostAllocMapped));
  std::vector<char> ha(bytes), hb(bytes), got(out_bytes * 2), want(out_bytes * 2);
  for (int round = 0; round < rounds; round++)
    for (int t = 0; t < GR_DTYPE_COUNT; t++) {
      int size = sizes[t];
      fill(ha, (gr_dtype)t, round % 4);
      fill(hb, (gr_dtype)t, round % 4);
      if (round % 4 == 3) memcpy(hb.data(), ha.data(), bytes / 2);
      CHECK(cudaMemcpy(da, ha.data(), bytes, cudaMemcpyDefault));
      CHECK(cudaMemcpy(db, hb.data(), bytes, cudaMemcpyDefault));
      for (int op = 0; op < GR_OP_COUNT; op++) {
        gr_reduce_job j = {};
        gr_reducer red = gr_reducer_of((gr_op)op, (gr_dtype)t);
        gr_acc_kind kind = gr_acc_kind_of(red, (gr_dtype)t);
        if (kind == GR_ACC_NONE) continue;
        int64_t room = (int64_t)(bytes / size), off_a = below(20), off_b = below(2) ? off_a : below(20),
                shape = getenv("MATRICES") ? 3 + below(5) : below(8);
        j.op = (gr_op)op;
        j.dtype = (gr_dtype)t;
        j.ddof = below(2);
        j.scale_a = below(2) ? 1 : 0x1p-3;
        j.scale_b = below(2) ? 1 : 0x1p5;
        j.count = 1;
        int64_t sa = 1, sb = 1, ta = 0, tb = 0; /* in elements */
        int64_t top = std::min<int64_t>(largest, room / 2 - 100);
        if (shape <= 1) j.n = below(3) ? below(3000) : below(top);
        else if (shape == 2) {
          const int64_t steps[] = {2, 3, -1, 5, -2, 0};
          sa = steps[below(6)];
          sb = below(2) ? sa : steps[below(6)];
          j.n = below(3) ? below(3000) : below(std::min(top, room / 8));
        } else { /* a matrix of pitch >= columns */
          int64_t cols = below(3) ? below(70) + 1 : below(3) ? below(5000) + 1 : below(30000) + 1;
          int64_t rows = std::max<int64_t>(1, below(std::min<int64_t>(20000, top / cols) + 1));
          int64_t pitch = cols + (below(2) ? 0 : below(9));
          if (below(4) == 0) pitch = (cols + 15) / 16 * 16, off_a = off_b = 0;
          if (below(2)) std::swap(rows, cols), pitch = cols + (pitch & 7);
          if (shape <= 4) {
            j.n = cols;
            j.count = rows;
            ta = tb = pitch;
          } else if (shape <= 6) {
            j.n = rows;
            j.count = cols;
            sa = sb = pitch;
            ta = tb = 1;
          } else {
            j.n = cols / 2;
            j.count = rows;
            sa = sb = 2;
            ta = tb = pitch;
          }
          if (below(3) == 0) tb = 0, sb = 1;
          if (j.count * 8 > (int64_t)out_bytes - 512) j.count = (int64_t)out_bytes / 8 - 64;
        }
        if (j.n == 0 && results[op][2] == RAISE) j.n = 1;
        if (sa < 0) off_a += -sa * j.n;
        if (sb < 0) off_b += -sb * j.n;
        if (getenv("FLUSH")) {
          auto end = [&](int64_t s, int64_t t) {
            return std::max<int64_t>(0, (j.n - 1) * s) + std::max<int64_t>(0, (j.count - 1) * t);
          };
          if (end(sa, ta) < room - 64 && sa >= 0) off_a = room - 1 - end(sa, ta);
          if (end(sb, tb) < room - 64 && sb >= 0) off_b = room - 1 - end(sb, tb);
        }
        j.a = {da + off_a * size, sa * size, ta * size};
        j.b = {db + off_b * size, sb * size, tb * size};
        int kind_of_result = results[op][gr_is_float(j.dtype) ? 0 : 1];
        j.out_dtype = kind_of_result == F64    ? GR_F64
                      : kind_of_result == I64  ? GR_I64
                      : kind_of_result == BOOL ? GR_U8
                                               : j.dtype;
        bool two = op == GR_OP_minmax || op == GR_OP_norm2 || op == GR_OP_cosine;
        j.out = dout + 64;
        j.out2 = two ? dout + out_bytes + 64 : nullptr;
        if (below(8) == 0 && kind_of_result == F64) j.out_dtype = GR_F32;
        gr_cuda_scratch memory = {scratch, scratch_bytes, nullptr, nullptr};
        gr_cuda_run run = {nullptr, &chip, &memory, 1, nullptr, 0};
        gr_cuda_span written = {}; /* nothing that it reads: it may read at once */
        if (below(2)) run.written = &written;
        gr_mailbox_shape states;
        bool ticket = j.count == 1 && below(2) && (j.out_dtype == GR_F64 || j.out_dtype == GR_I64);
        if (ticket) {
          run.done = slot;
          run.mailbox = &states;
          run.ticket = (uint64_t)++tried << 8;
        }
        CHECK(cudaMemset(dout, 0xa5, out_bytes * 2));
        memset(want.data(), 0xa5, out_bytes * 2);
        CHECK(gr_cuda_reduce(&j, &run));
        if (ticket)
          while (!gr_mailbox_arrived(slot, 2 * states.states * states.fields, run.ticket))
            CHECK(cudaStreamQuery(0) == cudaErrorNotReady ? 0 : cudaPeekAtLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(got.data(), dout, out_bytes * 2, cudaMemcpyDefault));
        if (ticket) {
          gr_value r = gr_mailbox_value(slot, &states, j.op, j.dtype, j.n, j.ddof);
          memcpy(&got[64], &r.v[0], 8);
        }
        for (int64_t v = 0; v < j.count; v++) {
          gr_value r = model(j, v, ha.data() + off_a * size, hb.data() + off_b * size);
          store(&want[64 + v * sizes[j.out_dtype]], j.out_dtype, r, 0);
          if (two && !ticket) store(&want[out_bytes + 64 + v * sizes[j.out_dtype]], j.out_dtype, r, 1);
        }
        tried++;
        if (got != want && bad++ < 30) {
          size_t at = 0;
          while (got[at] == want[at]) at++;
          double x = 0, y = 0;
          size_t e = (at % out_bytes - 64) / sizes[j.out_dtype];
          memcpy(&x, &got[at / out_bytes * out_bytes + 64 + e * sizes[j.out_dtype]], sizes[j.out_dtype]);
          memcpy(&y, &want[at / out_bytes * out_bytes + 64 + e * sizes[j.out_dtype]], sizes[j.out_dtype]);
          printf(
              "%s %s n %lld count %lld stride %lld/%lld step %lld/%lld off %lld/%lld out %s flavour %d: byte %zu, "
              "vector %zu got %a want %a\n",
              ops[op], dtypes[t], (long long)j.n, (long long)j.count, (long long)sa, (long long)sb, (long long)ta,
              (long long)tb, (long long)off_a, (long long)off_b, dtypes[j.out_dtype], round % 4, at, e, x, y);
        }
      }
    }
  CHECK(cudaMemcpy(got.data(), scratch, GR_COUNTER_BYTES, cudaMemcpyDefault));
  for (int i = 0; i < GR_COUNTER_BYTES; i++)
    if (got[i]) {
      printf("counter byte %d is not zero\n", i);
      bad++;
      break;
    }
  printf("reductions: %d of %d wrong\n", bad, tried);
  return bad != 0;
}
