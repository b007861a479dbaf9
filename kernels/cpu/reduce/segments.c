/*
** Segments: each is reduced as the slice that it is. Short ones go to the threads by the batch; those that the
** core has chosen are long, and the threads share each of them.
*/
#include "kernels/cpu/reduce/reduce.h"

typedef struct batches {
  const gr_reduce_job *job;
  int64_t size; /* segments to a batch */
} batches;

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

static void do_batch(void *arg, int64_t k) {
  const batches *b = (const batches *)arg;
  const int64_t end = (k + 1) * b->size < b->job->count ? (k + 1) * b->size : b->job->count;
  for (int64_t s = k * b->size; s < end; s++) reduce_segment(b->job, s, NULL);
}

void gr_reduce_segments(const gr_reduce_job *job, gr_parallel parallel) {
  batches b;
  int64_t n, k;
  if (job->chosen) {
    for (k = 0; k < job->count; k++) reduce_segment(job, job->chosen[k], parallel);
    return;
  }
  int64_t first = gr_segment(job, 0, &n);
  int64_t all = gr_segment(job, job->count - 1, &n) + n - first;
  b.job = job;
  b.size = GR_PIECE_BYTES / (all / job->count * gr_size_of(job->dtype) + 64) + 1;
  k = (job->count - 1) / b.size + 1;
  if (parallel && k > 1) {
    parallel(k, do_batch, &b);
  } else {
    b.size = job->count;
    do_batch(&b, 0);
  }
}
