/* What states come to: numbers, and how they are stored as results. */
#include "kernels/cpu/reduce/reduce.h"

#define WHOLE (value.is_float ? (int64_t)value.v[which].f : value.v[which].i)
static void store(gr_dtype t, void *out, int64_t v, gr_value value, int which) {
  const double f = value.is_float ? value.v[which].f : (double)value.v[which].i;
  switch (t) {
#define GR_X(id, s, l, type, kind) \
  case GR_##id: ((type *)out)[v] = (type)WHOLE; break;
    GR_INTEGERS(GR_X)
#undef GR_X
#undef WHOLE
    case GR_F16: ((gr_f16 *)out)[v] = gr_f64_to_f16(f); break;
    case GR_BF16: ((gr_bf16 *)out)[v] = gr_f64_to_bf16(f); break;
    case GR_F32: ((float *)out)[v] = gr_f64_to_f32(f); break;
    case GR_F64: ((double *)out)[v] = f; break;
  }
}

/*
** Takes pointers and is not inlined: states and values are stored word by word, and passing one by value would copy it
** in wider pieces, which wait until those words have left the store queue.
*/
GR_APART void gr_finish_state(const gr_reduce_job *job, const gr_acc *acc, gr_value *r) {
  *r = gr_finish(job->op, job->dtype, *acc, job->n, job->ddof);
}

void gr_finish_vector(const gr_plan *p, int64_t v, gr_acc acc) {
  const gr_reduce_job *job = p->job;
  gr_value value;
  gr_finish_state(job, &acc, &value);
  store(job->out_dtype, job->out, v, value, 0);
  if (job->out2) store(job->out_dtype, job->out2, v, value, 1);
}

/* Extremes from their keys, without the way by a value: which is 0 for the smallest, 1 for the largest. */
static void finish_extremes(const gr_reduce_job *job, int64_t v, int count, const gr_acc *states, int which) {
  const int64_t inf = gr_key_inf(job->dtype);
  int k;
#define PUT(type, bits)                       \
  for (k = 0; k < count; k++) {               \
    const int64_t key = states[k].i[which];   \
    ((type *)job->out)[v + k] = (type)(bits); \
  }                                           \
  break
#define NUMBER(bits, nan) (states[k].i[0] >= ~inf && states[k].i[1] <= inf ? (bits) : (nan))
  switch (job->dtype) {
    case GR_U8:
    case GR_I8: PUT(uint8_t, key);
    case GR_U16:
    case GR_I16: PUT(uint16_t, key);
    case GR_U32:
    case GR_I32: PUT(uint32_t, key);
    case GR_I64: PUT(int64_t, key);
    case GR_F16: PUT(uint16_t, NUMBER(gr_key_bits16((uint16_t)key), 0x7e00));
    case GR_BF16: PUT(uint16_t, NUMBER(gr_key_bits16((uint16_t)key), 0x7fc0));
    case GR_F32: PUT(uint32_t, NUMBER(gr_key_bits32((uint32_t)key), 0x7fc00000));
    case GR_F64: PUT(uint64_t, NUMBER(gr_key_bits64((uint64_t)key), INT64_C(0x7ff8000000000000)));
  }
#undef NUMBER
#undef PUT
}

/* Results that kernels may write by themselves, with the one NaN; of sums of floats means are then made. */
int gr_are_double_sums(const gr_plan *p) {
  const gr_op op = p->job->op;
  return p->job->out_dtype == GR_F64 && p->kind == GR_ACC_TREE &&
         (op == GR_OP_sum || op == GR_OP_dot || op == GR_OP_mean);
}
int gr_are_whole_sums(const gr_plan *p) {
  const gr_op op = p->job->op;
  return p->job->out_dtype == GR_I64 && p->kind == GR_ACC_WRAP && (op == GR_OP_sum || op == GR_OP_dot);
}
static int are_extremes(const gr_plan *p) {
  return p->job->out_dtype == p->job->dtype && (p->job->op == GR_OP_min || p->job->op == GR_OP_max);
}
static int are_positions(const gr_plan *p) { return p->job->out_dtype == GR_I64 && p->kind == GR_ACC_POSITION; }

void *gr_results_at(const gr_plan *p, int64_t v) {
  const int written = gr_are_double_sums(p) || gr_are_whole_sums(p) || are_extremes(p) || are_positions(p);
  return written ? (char *)p->job->out + v * gr_size_of(p->job->out_dtype) : NULL;
}

void gr_finish_sums(const gr_plan *p, int count, double *sums) {
  const double less = gr_divisor((double)p->job->n, p->job->ddof);
  for (int k = 0; k < count && p->job->op == GR_OP_mean; k++) sums[k] = sums[k] / less;
  for (int k = 0; k < count; k++) sums[k] = gr_canonical(sums[k]);
}

void gr_finish_results(const gr_plan *p, int count, void *results) {
  if (p->job->op == GR_OP_mean && gr_are_double_sums(p)) gr_finish_sums(p, count, (double *)results);
}

void gr_finish_vectors(const gr_plan *p, int64_t v, int count, const gr_acc *states) {
  const gr_reduce_job *job = p->job;
  const double n = (double)job->n;
  double *f = (double *)job->out + v;
  int64_t *i = (int64_t *)job->out + v;
  if (job->n == 0) { /* a sum of nothing is 0, not the -0 that it begins with */
    for (int k = 0; k < count; k++) gr_finish_vector(p, v + k, states[k]);
  } else if (gr_are_double_sums(p)) {
    for (int k = 0; k < count; k++) f[k] = states[k].f[0];
    gr_finish_sums(p, count, f);
  } else if (job->out_dtype == GR_F64 && job->op == GR_OP_var) {
    for (int k = 0; k < count; k++) f[k] = gr_canonical(states[k].f[1] / gr_divisor(n - job->ddof, job->ddof));
  } else if (gr_are_whole_sums(p)) {
    for (int k = 0; k < count; k++) i[k] = states[k].i[0];
  } else if (are_extremes(p)) {
    finish_extremes(job, v, count, states, job->op == GR_OP_max);
  } else if (are_positions(p)) {
    for (int k = 0; k < count; k++) i[k] = states[k].i[1] + 1;
  } else {
    for (int k = 0; k < count; k++) gr_finish_vector(p, v + k, states[k]);
  }
}
