/*
** The CUDA backend: one gr_backend for each device, one stream for each queue. It links the static runtime
** only, so the module loads where there is no driver; there gr_cuda_backends finds nothing and says why.
*/
#define _POSIX_C_SOURCE 200809L
#include "src/backend/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/numerics.h"
#include "src/core/clock.h"

#define MAX_DEVICES 64
#define FIRST_SCRATCH ((size_t)1 << 20)
#define SMALL_BUFFER ((size_t)64 << 10)
#define NOW_BYTES (sizeof(gr_cuda_slot) + 4096) /* the slot of numbers that are waited for at once; a page for limbs */

static struct {
  pthread_once_t once;
  int count, synchronous;
  char why[200];
  gr_cuda_device devices[MAX_DEVICES];
} all = {.once = PTHREAD_ONCE_INIT};

/* After a fault such as an illegal address this process cannot use CUDA again. */
static atomic_int lost;
static char lost_why[200];

/* ---- errors ---- */

static int is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress: case cudaErrorLaunchTimeout: case cudaErrorAssert: case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction: case cudaErrorMisalignedAddress: case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc: case cudaErrorLaunchFailure: case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable: case cudaErrorContextIsDestroyed:
      return 1;
    default: return 0;
  }
}

gr_status gr_cuda_check(gr_cuda_queue *q, cudaError_t e, const char *doing) {
  if (e == cudaSuccess) return GR_OK;
  (void)cudaGetLastError(); /* ours, not to be found by the host program */
  snprintf(q->base.error, sizeof q->base.error, "%s failed on %s: %s (%s)", doing, q->base.backend->name,
           cudaGetErrorString(e), cudaGetErrorName(e));
  if (is_sticky(e)) {
    int expected = 0;
    q->base.lost = 1;
    if (atomic_compare_exchange_strong(&lost, &expected, 1)) {
      snprintf(lost_why, sizeof lost_why, "%.150s", q->base.error);
      atomic_store(&lost, 2);
    }
  }
  return e == cudaErrorMemoryAllocation ? GR_NO_MEMORY : GR_DEVICE;
}

int gr_cuda_enter(gr_cuda_queue *q) {
  int was = 0;
  cudaError_t e;
  if (atomic_load(&lost)) {
    q->base.lost = 1;
    snprintf(q->base.error, sizeof q->base.error, "the device is lost to this process: %s",
             atomic_load(&lost) == 2 ? lost_why : "another thread met the fault");
    return -1;
  }
  e = cudaGetDevice(&was);
  if (e == cudaSuccess && was != q->device->chip.device) e = cudaSetDevice(q->device->chip.device);
  return gr_cuda_check(q, e, "choosing the device") == GR_OK ? was : -1;
}

void gr_cuda_leave(gr_cuda_queue *q, int was) {
  if (was != q->device->chip.device) (void)cudaSetDevice(was);
}

/* The same for the calls that have no queue; -1 when nothing may be called. */
static int enter_device(const gr_cuda_device *d) {
  int was = 0;
  if (atomic_load(&lost) || cudaGetDevice(&was) != cudaSuccess) return -1;
  if (was != d->chip.device && cudaSetDevice(d->chip.device) != cudaSuccess) return -1;
  return was;
}

static void leave_device(const gr_cuda_device *d, int was) {
  if (was != d->chip.device) (void)cudaSetDevice(was);
}

/* ---- memory ---- */

static void *device_alloc(gr_backend *b, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  void *p = NULL;
  int was = enter_device(d);
  if (was < 0) return NULL;
  if (cudaMalloc(&p, bytes ? bytes : 256) != cudaSuccess) {
    (void)cudaGetLastError();
    p = NULL;
  }
  leave_device(d, was);
  return p;
}

/* Errors are of no use here: at the end of the process the runtime may be gone already. */
static void device_free(gr_backend *b, void *p, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  int was = enter_device(d);
  (void)bytes;
  if (was < 0) return;
  if (cudaFree(p) != cudaSuccess) (void)cudaGetLastError();
  leave_device(d, was);
}

static size_t device_available(gr_backend *b) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  size_t now = 0, total = 0;
  int was = enter_device(d);
  if (was < 0) return 0;
  if (cudaMemGetInfo(&now, &total) != cudaSuccess) {
    (void)cudaGetLastError();
    now = 0;
  }
  leave_device(d, was);
  return now;
}

/* All of it starts as zeros: the counters must, and a chain's stale epochs must not look current. */
cudaError_t gr_cuda_grow(gr_cuda_queue *q, gr_cuda_scratch *s, size_t bytes) {
  size_t size = s->bytes ? s->bytes : FIRST_SCRATCH;
  cudaError_t e;
  if (bytes <= s->bytes) return cudaSuccess;
  while (size < bytes) size *= 2;
  if (s->memory) {
    if (gr_cuda_launch_batch(q, "a batch") != GR_OK) return cudaErrorLaunchFailure;
    if ((e = cudaStreamSynchronize(q->stream)) != cudaSuccess) return e;
    (void)cudaFree(s->memory);
    s->memory = NULL;
    s->bytes = 0;
  }
  q->base.stats.allocations++;
  if ((e = cudaMalloc(&s->memory, size)) != cudaSuccess) return e;
  s->bytes = size;
  return cudaMemsetAsync(s->memory, 0, size, q->stream);
}

/* ---- queues ---- */

static void queue_close(gr_queue *base) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int was = enter_device(q->device);
  if (was >= 0) {
    if (q->stream) {
      (void)cudaStreamSynchronize(q->stream);
      (void)cudaStreamDestroy(q->stream);
    }
    gr_cuda_ring_close(&q->small);
    gr_cuda_ring_close(&q->large);
    if (q->work.memory) (void)cudaFree(q->work.memory);
    if (q->chain.memory) (void)cudaFree(q->chain.memory);
    if (q->even.memory) (void)cudaFree(q->even.memory);
    if (q->now.host) (void)cudaFreeHost(q->now.host);
    gr_cuda_later_close(q);
    gr_cuda_graphs_close(q);
    (void)cudaGetLastError();
    leave_device(q->device, was);
  }
  free(q);
}

static gr_queue *queue_open(gr_backend *b) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  gr_cuda_queue *q = calloc(1, sizeof *q);
  cudaError_t e;
  int was;
  if (!q) return NULL;
  q->base.backend = b;
  q->device = d;
  q->ticket = q->now.ticket = 1;
  if ((was = enter_device(d)) < 0) {
    free(q);
    return NULL;
  }
  e = cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking);
  if (e == cudaSuccess) e = gr_cuda_ring_open(&q->small, SMALL_BUFFER);
  if (e == cudaSuccess) e = cudaHostAlloc((void **)&q->now.host, NOW_BYTES, cudaHostAllocMapped);
  if (e == cudaSuccess) {
    memset(q->now.host, 0, NOW_BYTES);
    e = cudaHostGetDevicePointer((void **)&q->now.mapped, q->now.host, 0);
  }
  q->base.pinned = GR_RING * SMALL_BUFFER + NOW_BYTES;
  if (e == cudaSuccess) e = gr_cuda_grow(q, &q->work, FIRST_SCRATCH);
  q->base.stats.allocations = 0;
  leave_device(d, was);
  if (e == cudaSuccess) return &q->base;
  queue_close(&q->base);
  return NULL;
}

/* ---- launches ---- */

void gr_cuda_prepare_known(gr_cuda_queue *q, const gr_cuda_scratch *s, gr_cuda_run *run) {
  memset(run, 0, sizeof *run);
  run->stream = q->stream;
  run->chip = &q->device->chip;
  run->scratch = s->memory;
  run->scratch_bytes = s->bytes;
  run->epoch = ++q->epoch;
  run->written = &q->written;
}

void gr_cuda_prepare(gr_cuda_queue *q, const gr_cuda_scratch *s, gr_cuda_run *run) {
  gr_cuda_prepare_known(q, s, run);
  run->written = NULL;
  gr_cuda_wrote_anything(q);
}

gr_status gr_cuda_launched(gr_cuda_queue *q, int error, const char *what) {
  cudaError_t e = (cudaError_t)error;
  q->base.stats.launches++;
  if (e == cudaSuccess && all.synchronous) e = cudaStreamSynchronize(q->stream);
  return gr_cuda_check(q, e, what);
}

#define LAUNCH(name, job_type, scratch_of, where, what, prepare)           \
  static gr_status queue_##name(gr_queue *base, const job_type *job) {     \
    gr_cuda_queue *q = (gr_cuda_queue *)base;                              \
    gr_status status;                                                      \
    int was = gr_cuda_enter(q);                                            \
    if (was < 0) return GR_DEVICE;                                         \
    status = gr_cuda_check(q, gr_cuda_grow(q, &q->where, scratch_of), "scratch memory for " what); \
    if (status == GR_OK) {                                                 \
      gr_cuda_run run;                                                     \
      prepare(q, &q->where, &run);                                         \
      status = gr_cuda_launched(q, gr_cuda_##name(job, &run), what);               \
    }                                                                      \
    gr_cuda_leave(q, was);                                                 \
    return status;                                                         \
  }
LAUNCH(scan, gr_scan_job, gr_cuda_scan_scratch(job, &q->device->chip), chain, "scan", gr_cuda_prepare_known)
LAUNCH(rmsnorm, gr_rmsnorm_job, gr_cuda_rmsnorm_scratch(job, &q->device->chip), work, "rmsnorm", gr_cuda_prepare_known)
LAUNCH(softmax, gr_softmax_job, gr_cuda_softmax_scratch(job, &q->device->chip), work, "softmax", gr_cuda_prepare)
LAUNCH(digits, gr_digits_job, 0, work, "quantile", gr_cuda_prepare)
LAUNCH(pick, gr_pick_job, 0, work, "quantile", gr_cuda_prepare)
LAUNCH(fill, gr_fill_job, 0, work, "fill", gr_cuda_prepare)
LAUNCH(copy, gr_copy_job, 0, work, "copy", gr_cuda_prepare)
LAUNCH(random, gr_random_job, 0, work, "random numbers", gr_cuda_prepare)
LAUNCH(edges, gr_edges_job, 0, work, "edges", gr_cuda_prepare)
LAUNCH(map, gr_map_job, 0, work, "an element operator", gr_cuda_prepare)
LAUNCH(compact, gr_compact_job, gr_cuda_compact_scratch(job, &q->device->chip), chain, "compact", gr_cuda_prepare)
#undef LAUNCH

/* One call may issue several kernels and memsets: the launcher counts them. */
static gr_status queue_ladder(gr_queue *base, const gr_ladder_job *job) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int (*launch)(const gr_ladder_job *, const gr_cuda_run *, uint64_t *) = gr_cuda_ladder_sum;
  gr_status status;
  int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  switch (gr_ladder_family(job->rung)) {
    case GR_TAUGHT_histogram: launch = gr_cuda_ladder_histogram; break;
    case GR_TAUGHT_scan: launch = gr_cuda_ladder_scan; break;
    case GR_TAUGHT_rmsnorm: launch = gr_cuda_ladder_rows; break;
    default:
      if (job->op == GR_OP_dot) launch = gr_cuda_ladder_dot;
  }
  status = gr_cuda_check(q, gr_cuda_grow(q, &q->work, gr_cuda_ladder_scratch(job, &q->device->chip)), "scratch memory");
  if (status == GR_OK) {
    gr_cuda_run run;
    gr_cuda_prepare(q, &q->work, &run);
    base->stats.launches--; /* gr_cuda_launched() counts one of them */
    status = gr_cuda_launched(q, launch(job, &run, &base->stats.launches), "teaching kernel");
  }
  gr_cuda_leave(q, was);
  return status;
}

const char *gr_op_name(gr_op op) {
  static const char *const names[] = {
#define GR_X(name, red, f, i, e) #name,
    GR_OPS(GR_X)
#undef GR_X
  };
  return names[op];
}

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Whether the stream is healthy; a kernel that faulted, or ended without its ticket, is not. */
static gr_status ask_stream(gr_cuda_queue *q, const uint64_t *halves, int count, uint64_t ticket, const char *what) {
  cudaError_t e = cudaStreamQuery(q->stream);
  if (e == cudaErrorNotReady) (void)cudaGetLastError();
  else if (e != cudaSuccess) return gr_cuda_check(q, e, what);
  else if (!gr_told_there(halves, count, ticket)) return gr_cuda_check(q, cudaErrorLaunchFailure, what);
  return GR_OK;
}

/* Spins at first, asking the stream now and then; a wait that has lasted is not made much longer by naps. */
gr_status gr_cuda_await(gr_cuda_queue *q, const uint64_t *halves, int count, uint64_t ticket, int64_t limit,
                        const char *what, int *there) {
  if ((*there = gr_told_there(halves, count, ticket))) return GR_OK;
  int64_t began = gr_nanoseconds(), asked = began;
  for (unsigned spins = 1; !(*there = gr_told_there(halves, count, ticket)); spins++) {
    if (limit != 0) {
      if (spins > 4096) pause_a_little(); /* it takes up to 50 ns */
      if (spins % 64) continue;
    }
    int64_t now = gr_nanoseconds();
    if (limit == 0 || now - asked > 20000) {
      gr_status status = ask_stream(q, halves, count, ticket, what);
      if (status != GR_OK) return status;
      asked = now;
    }
    if (limit >= 0 && now - began >= limit) {
      *there = gr_told_there(halves, count, ticket);
      return GR_OK;
    }
    if (now - began > 2000000) { /* a nap takes 50 us more than asked: earlier it would show */
      struct timespec t = {0, (now - began) / 32 < 50000 ? (now - began) / 32 : 50000};
      nanosleep(&t, NULL);
    }
  }
  return GR_OK;
}

static int halves_of(const gr_cuda_place *p) { return 2 * p->told.states * p->told.fields; } /* of one result */

/* The run of one whose results go to a slot. */
static void prepare_told(gr_cuda_queue *q, const gr_reduce_job *const *jobs, int count, gr_cuda_place *place, gr_cuda_run *run) {
  gr_cuda_prepare_known(q, &q->work, run);
  run->done = place->mapped->told;
  run->ticket = place->ticket;
  run->told = &place->told;
  for (int k = 0; k < count; k++) place->op[k] = jobs[k]->op;
  place->dtype = jobs[0]->dtype;
  place->n = jobs[0]->n;
  place->ddof = jobs[0]->ddof;
  place->users = place->waiting = count;
}

gr_status gr_cuda_add_reduce(gr_cuda_queue *q, const gr_reduce_job *const *jobs, int count, gr_cuda_place *place) {
  gr_cuda_run run;
  prepare_told(q, jobs, count, place, &run);
  run.batch = &q->batch;
  int error = count == 1 ? gr_cuda_reduce(jobs[0], &run) : gr_cuda_reduce_arrays(jobs, count, &run);
  volatile uint64_t *told = place->host->told;
  for (int k = 0; k < count * halves_of(place); k++) told[k] = 0;
  atomic_thread_fence(memory_order_seq_cst);
  return gr_cuda_check(q, (cudaError_t)error, gr_op_name(jobs[0]->op));
}

/* A ticket of its own says what is new in the slot: how much will come is not known before the launch. */
gr_status gr_cuda_start_reduce(gr_cuda_queue *q, const gr_reduce_job *job, gr_cuda_place *place) {
  gr_cuda_run run;
  place->ticket++;
  prepare_told(q, &job, 1, place, &run);
  return gr_cuda_launched(q, gr_cuda_reduce(job, &run), gr_op_name(job->op));
}

int gr_cuda_is_told(const gr_cuda_place *p, int lane) {
  return gr_told_there(p->host->told + lane * halves_of(p), halves_of(p), p->ticket);
}

gr_status gr_cuda_await_reduce(gr_cuda_queue *q, const gr_cuda_place *p, int lane, int64_t limit, const char *what, int *there) {
  return gr_cuda_await(q, p->host->told + lane * halves_of(p), halves_of(p), p->ticket, limit, what, there);
}

void gr_cuda_take(gr_cuda_place *p, int lane, uint64_t words[2]) {
  p->waiting--;
  gr_value r = gr_told_value(p->host->told + lane * halves_of(p), &p->told, p->op[lane], p->dtype, p->n, p->ddof);
  for (int k = 0; k < 2; k++) words[k] = (uint64_t)r.v[k].i;
}

/* That of 2^18 elements has room in what every queue starts with: no need to plan it twice. */
gr_status gr_cuda_reduce_room(gr_cuda_queue *q, const gr_reduce_job *job, int count) {
  if (count * job->count == 1 && job->n <= 1 << 18 && q->work.bytes >= FIRST_SCRATCH) return GR_OK;
  const gr_cuda_chip *chip = &q->device->chip;
  size_t bytes = count == 1 ? gr_cuda_reduce_scratch(job, chip) : gr_cuda_reduce_arrays_scratch(job, count, chip);
  return gr_cuda_check(q, gr_cuda_grow(q, &q->work, bytes), "scratch memory");
}

static gr_status reduce_to_host(gr_cuda_queue *q, const gr_reduce_job *job, uint64_t *result) {
  int there;
  gr_status status = gr_cuda_add_reduce(q, &job, 1, &q->now);
  q->base.stats.syncs++;
  if (status == GR_OK) status = gr_cuda_launch_batch(q, gr_op_name(job->op));
  if (status == GR_OK) status = gr_cuda_await_reduce(q, &q->now, 0, -1, gr_op_name(job->op), &there);
  if (status != GR_OK) return status;
  gr_cuda_take(&q->now, 0, result);
  return GR_OK;
}

static gr_status queue_reduce(gr_queue *base, const gr_reduce_job *job, uint64_t *result) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_status status;
  int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  status = gr_cuda_reduce_room(q, job, 1);
  if (status == GR_OK && result) {
    status = reduce_to_host(q, job, result);
  } else if (status == GR_OK) {
    gr_cuda_run run;
    gr_cuda_prepare_known(q, &q->work, &run);
    status = gr_cuda_launched(q, gr_cuda_reduce(job, &run), gr_op_name(job->op));
  }
  gr_cuda_leave(q, was);
  return status;
}

static gr_status queue_zero(gr_queue *base, void *device, size_t bytes) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_status status;
  int was;
  if (bytes == 0) return GR_OK;
  if ((was = gr_cuda_enter(q)) < 0) return GR_DEVICE;
  gr_cuda_wrote_anything(q);
  status = gr_cuda_launched(q, (int)cudaMemsetAsync(device, 0, bytes, q->stream), "zeroing");
  gr_cuda_leave(q, was);
  return status;
}

static gr_status queue_wait(gr_queue *base) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_status status;
  int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  status = gr_cuda_check(q, cudaStreamSynchronize(q->stream), "waiting");
  gr_cuda_leave(q, was);
  base->stats.syncs++;
  return status;
}

/* ---- devices ---- */

static cudaError_t read_chip(gr_cuda_chip *chip, int device) {
  cudaError_t e = cudaDeviceGetAttribute(&chip->major, cudaDevAttrComputeCapabilityMajor, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->minor, cudaDevAttrComputeCapabilityMinor, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->sms, cudaDevAttrMultiProcessorCount, device);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&chip->shared_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->l2_bytes, cudaDevAttrL2CacheSize, device);
  chip->device = device;
  return e;
}

static cudaError_t describe(gr_cuda_device *d, int device) {
  static struct cudaDeviceProp properties; /* large; used under the once-guard alone */
  cudaError_t e = read_chip(&d->chip, device);
  gr_backend *b = &d->base;
  if (e == cudaSuccess) e = cudaGetDeviceProperties(&properties, device);
  if (e != cudaSuccess) return e;
  snprintf(b->name, sizeof b->name, "cuda:%d", device);
  snprintf(b->description, sizeof b->description, "%.90s", properties.name);
  b->separate = 1;
  b->alloc = device_alloc;
  b->free = device_free;
  b->available = device_available;
  b->open = queue_open;
  b->close = queue_close;
  b->upload = gr_cuda_upload;
  b->download = gr_cuda_download;
  b->zero = queue_zero;
  b->wait = queue_wait;
  b->reduce = queue_reduce;
  b->start = gr_cuda_start;
  b->mark = gr_cuda_mark;
  b->poll = gr_cuda_poll;
  b->forget = gr_cuda_forget;
  b->elapsed = gr_cuda_elapsed;
  b->even = 1;
  b->histogram = gr_cuda_do_histogram;
  b->scan = queue_scan;
  b->weights = gr_cuda_do_weights;
  b->softmax = queue_softmax;
  b->digits = queue_digits;
  b->pick = queue_pick;
  b->rmsnorm = queue_rmsnorm;
  b->fill = queue_fill;
  b->copy = queue_copy;
  b->random = queue_random;
  b->edges = queue_edges;
  b->ladder = queue_ladder;
  b->map = queue_map;
  b->compact = queue_compact;
  b->exact = gr_cuda_do_exact;
  b->digest = gr_cuda_do_digest;
  return cudaSuccess;
}

static void explain(cudaError_t e) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (e == cudaErrorInsufficientDriver && driver == 0)
    snprintf(all.why, sizeof all.why, "no NVIDIA driver");
  else if (e == cudaErrorInsufficientDriver)
    snprintf(all.why, sizeof all.why, "the NVIDIA driver is for CUDA %d.%d, this build needs %d.%d or later",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (e == cudaErrorNoDevice)
    snprintf(all.why, sizeof all.why, "no CUDA device (none there, or CUDA_VISIBLE_DEVICES hides them)");
  else
    snprintf(all.why, sizeof all.why, "CUDA does not start: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
}

/* The first device is the one that will be used, so it alone is tried with a kernel (that makes its context). */
static cudaError_t try_first(void) {
  int was = 0;
  cudaError_t e = cudaGetDevice(&was);
  if (e == cudaSuccess && was != 0) e = cudaSetDevice(0);
  if (e == cudaSuccess) e = (cudaError_t)gr_cuda_loadable();
  if (was != 0) (void)cudaSetDevice(was);
  return e;
}

static void open_devices(void) {
  const char *sync = getenv("GPUREDUCE_SYNC");
  int count = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  all.synchronous = sync && *sync && strcmp(sync, "0") != 0;
  if (e == cudaSuccess && count == 0) e = cudaErrorNoDevice;
  if (count > MAX_DEVICES) count = MAX_DEVICES;
  for (int k = 0; k < count && e == cudaSuccess; k++) e = describe(&all.devices[k], k);
  if (e == cudaSuccess) e = try_first();
  if (e == cudaSuccess) {
    all.count = count;
    return;
  }
  (void)cudaGetLastError();
  if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction || e == cudaErrorInvalidKernelImage)
    snprintf(all.why, sizeof all.why, "this build has no kernels for %s (compute capability %d.%d)",
             all.devices[0].base.description, all.devices[0].chip.major, all.devices[0].chip.minor);
  else
    explain(e);
}

int gr_cuda_backends(gr_backend **list, int room, const char **why) {
  pthread_once(&all.once, open_devices);
  for (int k = 0; k < all.count && k < room; k++) list[k] = &all.devices[k].base;
  *why = all.count ? "" : all.why;
  return all.count;
}
