#include "src/backend/cuda/take.h"

#include <string.h>

#include "src/backend/jit/tuning.h"

#define BOTH_FIELDS 3 /* of sum and extremes: the sum, two keys */
#define TALLIED_FIELDS 2

_Static_assert(GR_ARGUMENT_BYTES == GR_OWN_ARGUMENT_BYTES + GR_JIT_WORDS * sizeof(uint64_t),
               "a batch has no room for a formula's arguments");

/* From the first byte of the inputs to the last. Those that repeat end earlier than this says. */
static gr_cuda_span inputs_of(const gr_formula_job *job) {
  gr_cuda_span all = {NULL, NULL};
  for (int k = 0; k < job->program->input_count; k++) {
    const gr_vec *v = &job->inputs[k];
    const int64_t along = (job->n - 1) * v->stride;
    const char *at = v->data, *from = at + (along < 0 ? along : 0), *to = at + (along > 0 ? along : 0) + 8;
    if (!all.to || from < all.from) all.from = from;
    if (to > all.to) all.to = to;
  }
  return all;
}

gr_status gr_cuda_take_formula(gr_cuda_queue *q, const gr_formula_job *job, const gr_jit_asked *asked, gr_dtype t,
                               gr_cuda_taken *c) {
  const int stores = asked->reducer == GR_JIT_STORE;
  gr_jit_code code;
  const char *why;
  if (!gr_jit_code_of(job, asked, &code, c->words)) return GR_NOT_FUSED;
  if (!stores) code.dtype = (int16_t)t;
  code.changes = (uint8_t)stores;
  code.number = !stores && job->words && !asked->present;
  code.early = !stores && q->device->chip.major >= 9;
  code.rings = code.early && code.number && q->device->chip.shared_optin >= GR_JIT_RING_LEAST;
  gr_compiled *found = gr_jit_take(q->device->chip.device, &code, &why);
  if (!found) return !strcmp(why, "out of memory") ? GR_NO_MEMORY : GR_NOT_FUSED;
  c->formula = (gr_cuda_formula){.function = found->function,
                                 .compiled = found,
                                 .resident = found->resident,
                                 .fields = asked->reducer == GR_JIT_BOTH ? BOTH_FIELDS
                                           : asked->tally < 0            ? 0
                                                                         : TALLIED_FIELDS,
                                 .present = (gr_cuda_present)asked->present,
                                 .across = asked->reducer == GR_JIT_COLUMNS_SUM,
                                 .count = gr_jit_words(&code),
                                 .words = c->words,
                                 .reads = inputs_of(job),
                                 .launch = gr_jit_launch};
  return GR_OK;
}

int gr_cuda_skeleton_for(const gr_reduce_job *job, gr_reducer *red, gr_dtype *t) {
  const gr_dtype bits = gr_bits_of_size(gr_size_of(job->dtype));
  *red = gr_reducer_of(job->op, job->dtype);
  *t = job->dtype;
  switch (*red) {
    case GR_RED_SUM:
    case GR_RED_PROD:
    case GR_RED_MINMAX:
    case GR_RED_SUMSQ:
    case GR_RED_VARIANCE:
    case GR_RED_PRESENT:
    case GR_RED_SUMEXP:
    case GR_RED_DOT:
    case GR_RED_SQDIFF:
    case GR_RED_COSINE: return 1;
    case GR_RED_SUMABS: *red = GR_RED_SUMSQ; return 1;
    case GR_RED_ARGMIN:
    case GR_RED_ARGMAX:
      *red = GR_RED_ARGMAX;
      if (!gr_is_float(*t)) *t = bits;
      return 1;
    case GR_RED_COUNT: *t = bits; return 1;
    case GR_RED_SUMWIDE:
    case GR_RED_DIFFER:
    case GR_RED_SUM_F32:
    case GR_RED_SUM_KAHAN:
    case GR_RED_SUM_NEUMAIER:
    case GR_RED_DOT_F32:
    case GR_RED_DOT_KAHAN:
    case GR_RED_DOT_NEUMAIER: return 0;
  }
  return 0;
}
