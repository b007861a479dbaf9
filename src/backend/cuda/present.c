/* Which formulas reduce what is not NaN of floats that lie in memory: for these there are kernels that leave it out. */
#include "src/backend/cuda/take.h"

#include "kernels/numerics/numerics.h"

/* Whether such a kernel serves an operation of floats, if that is in the place of what it leaves out. */
static int leaves_out(gr_op op, gr_dtype t, uint64_t fill) {
  const uint64_t infinity = (uint64_t)gr_key_inf(t), sign = UINT64_C(1) << (8 * gr_size_of(t) - 1);
  switch ((int)op) {
    case GR_OP_sum:
    case GR_OP_mean:
    case GR_OP_norm1:
    case GR_OP_norm2:
    case GR_OP_sumsq:
    case GR_OP_dot:
    case GR_OP_mse: return fill == 0;
    case GR_OP_min:
    case GR_OP_argmin: return fill == infinity;
    case GR_OP_max:
    case GR_OP_argmax: return fill == (infinity | sign);
  }
  return 0;
}

int gr_cuda_is_of_present(const gr_formula_job *job, const gr_consumer *c, gr_filled *f) {
  const gr_program *p = job->program;
  const int counts = c->job.op == GR_OP_count;
  if (!gr_find_filled(p, c, c->b < 0 ? 1 : 2, counts, f) || !f->nan) return 0;
  for (int k = 0; k < 2 && f->of[k] >= 0; k++) {
    const gr_node *x = &p->nodes[f->of[k]], *filled = &p->nodes[k ? c->b : c->a];
    if (x->kind != GR_NODE_INPUT || x->spread != GR_EACH || x->dtype != p->nodes[f->of[0]].dtype) return 0;
    if (counts) continue;
    if (!GR_IS_NUMBER(filled->b) || !leaves_out(c->job.op, c->job.dtype, p->numbers[GR_NUMBER_OF(filled->b)])) return 0;
  }
  return 1;
}
