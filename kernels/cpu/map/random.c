/* Random numbers: the stream of kernels/numerics/math.h, group by group. */
#include "kernels/cpu/kernels_cpu.h"
#include "kernels/numerics/math.h"

#define RANDOM_GROUPS 4096 /* counter blocks to a piece */

static void put(gr_dtype t, char *p, double x) {
  switch (t) {
    case GR_F64: memcpy(p, &x, 8); break;
    case GR_F32: {
      const float f = gr_f64_to_f32(x);
      memcpy(p, &f, 4);
      break;
    }
    case GR_F16: {
      const gr_f16 h = gr_f64_to_f16(x);
      memcpy(p, &h, 2);
      break;
    }
    default: {
      const gr_bf16 h = gr_f64_to_bf16(x);
      memcpy(p, &h, 2);
      break;
    }
  }
}

static void do_random(void *arg, int64_t k) {
  const gr_random_job *job = (const gr_random_job *)arg;
  const int group = gr_random_group(job->dtype);
  const int64_t groups = (job->n + group - 1) / group;
  const int64_t end = (k + 1) * RANDOM_GROUPS < groups ? (k + 1) * RANDOM_GROUPS : groups;
  int64_t g, i;
  for (g = k * RANDOM_GROUPS; g < end; g++) {
    double x[4];
    gr_random_fill(job->dtype, job->seed, job->stream, (uint64_t)g, job->normal, x);
    for (i = 0; i < group && g * group + i < job->n; i++)
      put(job->dtype, (char *)(uintptr_t)job->out.data + (g * group + i) * job->out.stride, x[i]);
  }
}

void gr_cpu_random(const gr_random_job *job, gr_parallel parallel) {
  const int group = gr_random_group(job->dtype);
  gr_in_pieces(parallel, (job->n + group - 1) / group, RANDOM_GROUPS, do_random, (void *)(uintptr_t)job);
}
