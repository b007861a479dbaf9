/*
** Segments: each is reduced as the slice that it is. Short ones go to the threads by the batch; those that the
** core has chosen are long, and the threads share each of them.
*/
#include "kernels/cpu/reduce/reduce.h"

static const void *later(const void *data, int64_t bytes) { return data ? (const char *)data + bytes : NULL; }

static void reduce_segment(const gr_reduce_job *job, int64_t s, gr_parallel parallel) {
  gr_reduce_job one = *job;
  const int64_t from = gr_segment(job, s, &one.n), at = s * gr_size_of(job->out_dtype);
  if (one.n > job->n) return;
  one.count = 1;
  one.offsets = NULL;
  one.a.data = later(job->a.data, from * job->a.stride);
  one.b.data = later(job->b.data, from * job->b.stride);
  one.out = (char *)job->out + at;
  if (job->out2) one.out2 = (char *)job->out2 + at;
  gr_cpu_reduce(&one, parallel);
}

static void reduce_several(void *job, int64_t s, int64_t end) {
  for (; s < end; s++) reduce_segment((const gr_reduce_job *)job, s, NULL);
}

void gr_reduce_segments(const gr_reduce_job *job, gr_parallel parallel) {
  int64_t n;
  if (job->chosen) {
    for (int64_t k = 0; k < job->count; k++) reduce_segment(job, job->chosen[k], parallel);
    return;
  }
  int64_t first = gr_segment(job, 0, &n);
  int64_t all = gr_segment(job, job->count - 1, &n) + n - first;
  const int64_t several = GR_PIECE_BYTES / (all / job->count * gr_size_of(job->dtype) + 64) + 1;
  gr_in_ranges(parallel, job->count, several, reduce_several, job);
}
