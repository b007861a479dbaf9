/*
** Copies between the host and the device. Pageable memory goes through pinned buffers, several in flight, so
** that the CPU's copy of one piece overlaps the transfer of another: the driver's own path is a fraction as fast.
** Small results are written to mapped memory by a kernel, which the host polls for: 2 KB are there 8 us sooner than by
** the copy engine (docs/findings/copies.md).
*/
#include "src/backend/cuda/cuda.h"

#include <string.h>
#include "src/core/threads.h"

cudaError_t gr_cuda_ring_open(gr_cuda_ring *r, size_t size) {
  cudaError_t e = cudaHostAlloc((void **)&r->memory, GR_RING * size, cudaHostAllocMapped);
  if (e == cudaSuccess) e = cudaHostGetDevicePointer((void **)&r->mapped, r->memory, 0);
  for (int k = 0; k < GR_RING && e == cudaSuccess; k++)
    e = cudaEventCreateWithFlags(&r->done[k], cudaEventDisableTiming);
  r->size = size;
  if (e != cudaSuccess) gr_cuda_ring_close(r);
  return e;
}

void gr_cuda_ring_close(gr_cuda_ring *r) {
  for (int k = 0; k < GR_RING; k++)
    if (r->done[k]) (void)cudaEventDestroy(r->done[k]);
  if (r->memory) (void)cudaFreeHost(r->memory);
  memset(r, 0, sizeof *r);
}

/* Room for bytes (at most a buffer) that no transfer reads any more. */
static cudaError_t take(gr_cuda_ring *r, cudaStream_t stream, size_t bytes, char **out) {
  cudaError_t e = cudaSuccess;
  if (r->used + bytes > r->size) {
    e = cudaEventRecord(r->done[r->at], stream);
    r->at = (r->at + 1) % GR_RING;
    r->used = 0;
    if (e == cudaSuccess) e = cudaEventSynchronize(r->done[r->at]);
  }
  *out = r->memory + (size_t)r->at * r->size + r->used;
  r->used += (bytes + 255) & ~(size_t)255;
  return e;
}

typedef struct {
  char *to;
  const char *from;
  size_t bytes;
} span;

static void copy_share(void *arg, int64_t k) {
  const span *s = arg;
  size_t at = (size_t)k * GR_COPY_SHARE;
  memcpy(s->to + at, s->from + at, s->bytes - at < GR_COPY_SHARE ? s->bytes - at : GR_COPY_SHARE);
}

/* memcpy by several threads: one alone is slower than the bus. */
static void copy_host(char *to, const char *from, size_t bytes) {
  span s = {to, from, bytes};
  if (bytes < 2 * GR_COPY_SHARE) memcpy(to, from, bytes);
  else gr_threads_run((int64_t)((bytes + GR_COPY_SHARE - 1) / GR_COPY_SHARE), copy_share, &s);
}

/* The size of pieces: small enough that the first transfer starts soon, large enough that they are few. */
static size_t piece_of(size_t bytes) {
  size_t piece = (bytes / GR_COPY_PIECES + 255) & ~(size_t)255;
  return piece < GR_COPY_LEAST ? GR_COPY_LEAST : piece > GR_COPY_PIECE ? GR_COPY_PIECE : piece;
}

static cudaError_t open_large(gr_cuda_queue *q) {
  if (q->large.memory) return cudaSuccess;
  q->base.stats.allocations++;
  q->base.pinned += GR_RING * GR_COPY_PIECE;
  return gr_cuda_ring_open(&q->large, GR_COPY_PIECE);
}

static cudaError_t upload(gr_cuda_queue *q, char *device, const char *host, size_t bytes) {
  gr_cuda_ring *r = bytes <= GR_COPY_SMALL ? &q->small : &q->large;
  size_t piece = bytes <= GR_COPY_SMALL ? GR_COPY_SMALL : piece_of(bytes);
  cudaError_t e = r == &q->large ? open_large(q) : cudaSuccess;
  q->written = gr_anything;
  for (size_t at = 0; at < bytes && e == cudaSuccess; at += piece) {
    size_t now = bytes - at < piece ? bytes - at : piece;
    char *pinned;
    if ((e = take(r, q->stream, now, &pinned)) != cudaSuccess) break;
    copy_host(pinned, host + at, now);
    e = cudaMemcpyAsync(device + at, pinned, now, cudaMemcpyHostToDevice, q->stream);
  }
  return e;
}

/* The kernel copies whole words of 16 bytes. Blocks of the device are padded to whole words, so it may read these. */
static size_t before_word(const void *device) { return (uintptr_t)device & 15; }

static const char what[] = "copying from the device";

#define GR_SENT_TICKET 1 /* of all, as what comes with states is waited for at once */

static gr_status download_small(gr_cuda_queue *q, char *host, const char *device, size_t bytes) {
  const size_t before = before_word(device), all = before + bytes;
  const int halves = 4 * gr_cuda_send_blocks(all);
  char *pinned;
  int there;
  gr_status status = gr_cuda_check(q, take(&q->small, q->stream, all, &pinned), what);
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.done = q->now.mapped->words;
  run.ticket = ++q->ticket;
  char *mapped = q->small.mapped + (pinned - q->small.memory);
  status = gr_cuda_check(q, (cudaError_t)gr_cuda_send(device - before, mapped, all, &run), what);
  if (status == GR_OK) status = gr_cuda_await(q, q->now.host->words, halves, q->ticket, -1, what, &there);
  if (status != GR_OK) return status;
  q->written = (gr_cuda_span){NULL, NULL}; /* all that was queued before has ended */
  memcpy(host, pinned + before, bytes);
  return GR_OK;
}

int gr_cuda_can_bring(const gr_brought *b, int count) {
  for (int k = 0; k < count; k++)
    if (before_word(b[k].device) + b[k].bytes > sizeof((gr_cuda_sent *)0)->bytes) return 0;
  return 1;
}

static cudaError_t open_sent(gr_cuda_queue *q) {
  const size_t bytes = GR_BROUGHT * sizeof *q->sent;
  if (q->sent) return cudaSuccess;
  cudaError_t e = cudaHostAlloc((void **)&q->sent, bytes, cudaHostAllocMapped);
  if (e != cudaSuccess) return q->sent = NULL, e;
  e = cudaHostGetDevicePointer((void **)&q->sent_mapped, q->sent, 0);
  if (e != cudaSuccess) return (void)cudaFreeHost(q->sent), q->sent = NULL, e;
  q->base.stats.allocations++;
  q->base.pinned += bytes;
  return cudaSuccess;
}

gr_status gr_cuda_bring(gr_cuda_queue *q, const gr_brought *b, int count) {
  gr_status status = gr_cuda_check(q, open_sent(q), "pinned memory");
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.batch = &q->batch;
  run.ticket = GR_SENT_TICKET;
  for (int k = 0; k < count && status == GR_OK; k++) {
    const size_t before = before_word(b[k].device), all = before + b[k].bytes;
    run.done = q->sent_mapped[k].words;
    gr_cuda_clear_mailbox(q->sent[k].words, 4 * gr_cuda_send_blocks(all));
    status = gr_cuda_check(
        q, (cudaError_t)gr_cuda_send((const char *)b[k].device - before, q->sent_mapped[k].bytes, all, &run), what);
  }
  return status;
}

gr_status gr_cuda_await_brought(gr_cuda_queue *q, const gr_brought *b, int count) {
  gr_status status = GR_OK;
  int there;
  for (int k = 0; k < count && status == GR_OK; k++) {
    const size_t before = before_word(b[k].device);
    const int halves = 4 * gr_cuda_send_blocks(before + b[k].bytes);
    status = gr_cuda_await(q, q->sent[k].words, halves, GR_SENT_TICKET, -1, what, &there);
    if (status != GR_OK) return status;
    memcpy(b[k].host, q->sent[k].bytes + before, b[k].bytes);
    q->base.stats.bytes_down += b[k].bytes;
    q->base.stats.copies++;
  }
  return status;
}

/* The stream orders these transfers after uploads that still read the same buffers. */
static cudaError_t download_large(gr_cuda_queue *q, char *host, const char *device, size_t bytes) {
  gr_cuda_ring *r = &q->large;
  size_t piece = piece_of(bytes), issued = 0, done = 0;
  cudaError_t e = open_large(q);
  for (int k = 0; done < bytes && e == cudaSuccess; k = (k + 1) % GR_RING) {
    while (issued < bytes && issued < done + GR_RING * piece && e == cudaSuccess) {
      int slot = (int)(issued / piece % GR_RING);
      size_t now = bytes - issued < piece ? bytes - issued : piece;
      e = cudaMemcpyAsync(r->memory + (size_t)slot * r->size, device + issued, now, cudaMemcpyDeviceToHost, q->stream);
      if (e == cudaSuccess) e = cudaEventRecord(r->done[slot], q->stream);
      issued += now;
    }
    if (e == cudaSuccess) e = cudaEventSynchronize(r->done[k]);
    if (e == cudaSuccess) {
      size_t now = bytes - done < piece ? bytes - done : piece;
      copy_host(host + done, r->memory + (size_t)k * r->size, now);
      done += now;
    }
  }
  r->at = 0; /* nothing in the ring is waited for any more */
  r->used = 0;
  return e;
}

gr_status gr_cuda_upload(gr_queue *base, void *device, const void *host, size_t bytes) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int was;
  if (bytes == 0) return GR_OK;
  if ((was = gr_cuda_enter(q)) < 0) return GR_DEVICE;
  gr_status status = gr_cuda_check(q, upload(q, device, host, bytes), "copying to the device");
  gr_cuda_leave(q, was);
  base->stats.copies++;
  base->stats.bytes_up += bytes;
  return status;
}

gr_status gr_cuda_download(gr_queue *base, void *host, const void *device, size_t bytes) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_status status;
  int was;
  if (bytes == 0) return GR_OK;
  if ((was = gr_cuda_enter(q)) < 0) return GR_DEVICE;
  if (before_word(device) + bytes <= GR_COPY_SMALL) status = download_small(q, host, device, bytes);
  else status = gr_cuda_check(q, download_large(q, host, device, bytes), what);
  gr_cuda_leave(q, was);
  base->stats.copies++;
  base->stats.syncs++;
  base->stats.bytes_down += bytes;
  return status;
}
