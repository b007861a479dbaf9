/*
** Exact sums and digests on a device. One vector's limbs come back through the mailbox, like any number; those of
** many short vectors are copied. What they come to is the core's business.
*/
#include "src/backend/cuda/function.h"

#include <stdlib.h>
#include "kernels/cuda/exact/exact.h"

/* The mapped page beside the slot of numbers that are waited for at once. */
static uint64_t *page(gr_cuda_mailbox *slot) { return (uint64_t *)(slot + 1); }

static gr_status await(gr_cuda_queue *q, gr_cuda_run *run, int error, const char *what) {
  int there;
  gr_status status = gr_cuda_launched(q, error, what);
  q->base.stats.syncs++;
  return status == GR_OK ? gr_cuda_await(q, q->now.host->words, 4, run->ticket, -1, what, &there) : status;
}

/* A run whose end the host waits for. */
static gr_cuda_run waited_for(gr_cuda_queue *q) {
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.done = q->now.mapped->words;
  run.ticket = ++q->ticket;
  return run;
}

/* Finds which infinities and NaN there are; with one of these the limbs do not matter. */
static gr_status classify(gr_cuda_queue *q, const gr_exact_job *job, int64_t v, gr_exact *sum) {
  gr_cuda_run run = waited_for(q);
  gr_status status = await(q, &run, gr_cuda_exact_specials(job, v, page(q->now.mapped), &run), "exact sum");
  if (status == GR_OK) sum->flags |= (uint32_t)page(q->now.host)[0];
  return status;
}

/* A vector's limbs, as the kernel left them, become an accumulator of those that are not zero. */
static gr_status drain(gr_cuda_queue *q, const gr_exact_job *job, int64_t v, const uint64_t *limbs, gr_exact *sum) {
  int first, count = gr_cuda_exact_limbs(job, &first), low = 0;
  gr_exact_clear(sum);
  if (limbs[count]) return classify(q, job, v, sum);
  while (low < count && !limbs[low]) low++;
  while (count > low && !limbs[count - 1]) count--;
  for (int k = low; k < count; k++) sum->limb[first + k] = (int64_t)limbs[k];
  sum->low = first + low;
  sum->high = first + count;
  gr_exact_carry(sum);
  return GR_OK;
}

/* One vector, by a graph that is kept, as reductions to a number are. */
static gr_status one(gr_cuda_queue *q, const gr_exact_job *job, int64_t v, gr_exact *sum) {
  uint64_t limbs[GR_MAILBOX_WORDS / 2], *halves = q->now.host->words;
  int first, there, words = gr_cuda_exact_limbs(job, &first) + 1;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.done = q->now.mapped->words;
  run.ticket = q->now.ticket;
  run.batch = &q->batch;
  gr_status status = gr_cuda_check(q, (cudaError_t)gr_cuda_exact(job, v, 0, NULL, &run), "exact sum");
  gr_cuda_clear_mailbox(q->now.host->words, 2 * words);
  q->base.stats.syncs++;
  if (status == GR_OK) status = gr_cuda_launch_batch(q, "exact sum");
  if (status == GR_OK) status = gr_cuda_await(q, halves, 2 * words, run.ticket, -1, "exact sum", &there);
  for (int k = 0; k < words && status == GR_OK; k++) limbs[k] = gr_mailbox_word(halves + 2 * k);
  return status == GR_OK ? drain(q, job, v, limbs, sum) : status;
}

/* A block for each of some vectors, whose limbs go through scratch memory. */
static gr_status some(gr_cuda_queue *q, const gr_exact_job *job, int64_t from, int64_t count, uint64_t *limbs,
                      gr_exact *sums) {
  int first, pitch = gr_cuda_exact_limbs(job, &first) + 1;
  uint64_t *out = (uint64_t *)((char *)q->work.memory + GR_COUNTER_BYTES);
  gr_exact_job part = *job;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  part.count = count;
  gr_status status = gr_cuda_launched(q, gr_cuda_exact(&part, from, 1, out, &run), "exact sum");
  if (status == GR_OK) status = gr_cuda_download(&q->base, limbs, out, (size_t)(count * pitch) * 8);
  for (int64_t k = 0; k < count && status == GR_OK; k++) status = drain(q, job, from + k, limbs + k * pitch, sums + k);
  return status;
}

static gr_status many(gr_cuda_queue *q, const gr_exact_job *job, gr_exact *sums) {
  int first, pitch = gr_cuda_exact_limbs(job, &first) + 1;
  int64_t most = (int64_t)(q->work.bytes - GR_COUNTER_BYTES) / (8 * pitch);
  gr_status status = GR_OK;
  if (most > job->count) most = job->count;
  uint64_t *limbs = malloc((size_t)(most * pitch) * 8);
  if (!limbs) return GR_NO_MEMORY;
  for (int64_t v = 0; v < job->count && status == GR_OK; v += most)
    status = some(q, job, v, job->count - v < most ? job->count - v : most, limbs, sums + v);
  free(limbs);
  return status;
}

static gr_status sum_exactly(gr_cuda_queue *q, const gr_exact_job *job, gr_exact *sums) {
  gr_status status = GR_OK;
  const int64_t sms = q->device->chip.sms, at_once = job->count < sms ? job->count : sms;
  if (job->count > 1 && job->n < GR_LONG_VECTOR * at_once) return many(q, job, sums);
  for (int64_t v = 0; v < job->count && status == GR_OK; v++) status = one(q, job, v, sums + v);
  return status;
}
GR_CUDA_FUNCTION(gr_cuda_do_exact, sum_exactly(q, job, sums), gr_queue *base, const gr_exact_job *job, gr_exact *sums)

static gr_status digest(gr_cuda_queue *q, const gr_digest_job *job, uint64_t result[2]) {
  gr_cuda_run run = waited_for(q);
  gr_status status = await(q, &run, gr_cuda_digest(job, page(q->now.mapped), &run), "digest");
  if (status != GR_OK) return status;
  result[0] = page(q->now.host)[0];
  result[1] = page(q->now.host)[1];
  gr_digest_finish(result, (uint64_t)job->n * (uint64_t)gr_size_of(job->dtype));
  return GR_OK;
}
GR_CUDA_FUNCTION(gr_cuda_do_digest, digest(q, job, result), gr_queue *base, const gr_digest_job *job,
                 uint64_t result[2])
