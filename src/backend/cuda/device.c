/*
** The CUDA backend: one gr_backend for each device, one stream for each queue. It links the static runtime
** only, so the module loads where there is no driver; there gr_cuda_backends finds nothing and says why.
*/
#define _POSIX_C_SOURCE 200809L
#include "src/backend/cuda/cuda.h"
#include "src/backend/gpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 64
#define SMALL_BUFFER ((size_t)64 << 10)
/* The mailbox of numbers that are waited for at once; a page for limbs. */
#define NOW_BYTES (sizeof(gr_cuda_mailbox) + 4096)

static struct {
  pthread_once_t once;
  int count, synchronous;
  int64_t lose_at; /* GPUREDUCE_TEST_LOSE: launches until one writes where nothing is; 0: never */
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
  size_t size = s->bytes ? s->bytes : GR_FIRST_SCRATCH;
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

static gr_queue *queue_open(gr_backend *b, gr_status *why) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  gr_cuda_queue *q = calloc(1, sizeof *q);
  cudaError_t e;
  int was;
  *why = GR_NO_MEMORY;
  if (!q) return NULL;
  q->base.backend = b;
  q->device = d;
  q->ticket = q->now.ticket = 1;
  if ((was = enter_device(d)) < 0) {
    free(q);
    *why = GR_DEVICE;
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
  if (e == cudaSuccess) e = gr_cuda_grow(q, &q->work, GR_FIRST_SCRATCH);
  q->base.stats.allocations = 0;
  leave_device(d, was);
  if (e == cudaSuccess) return &q->base;
  *why = e == cudaErrorMemoryAllocation ? GR_NO_MEMORY : GR_DEVICE;
  queue_close(&q->base);
  return NULL;
}

void gr_cuda_prepare(gr_cuda_queue *q, const gr_cuda_scratch *s, gr_cuda_run *run) {
  memset(run, 0, sizeof *run);
  run->stream = q->stream;
  run->chip = &q->device->chip;
  run->scratch = s->memory;
  run->epoch = ++q->epoch;
  run->running = q->written;
  run->written = &q->written;
  q->written = gr_anything;
}

/* For tests alone: an illegal address, which the device does not survive. */
static cudaError_t lose(gr_cuda_queue *q) {
  const gr_edges_job job = {.first = 0, .last = 1, .bins = 1000, .edges = (double *)(uintptr_t)4096};
  gr_cuda_run run;
  gr_cuda_prepare(q, &q->work, &run);
  const cudaError_t e = (cudaError_t)gr_cuda_edges(&job, &run);
  return e == cudaSuccess ? cudaStreamSynchronize(q->stream) : e;
}

gr_status gr_cuda_launched(gr_cuda_queue *q, int error, const char *what) {
  cudaError_t e = (cudaError_t)error;
  q->base.stats.launches++;
  if (all.lose_at > 0 && --all.lose_at == 0) e = lose(q);
  if (e == cudaSuccess && all.synchronous) e = cudaStreamSynchronize(q->stream);
  return gr_cuda_check(q, e, what);
}

static gr_status queue_zero(gr_queue *base, void *device, size_t bytes) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_status status;
  int was;
  if (bytes == 0) return GR_OK;
  if ((was = gr_cuda_enter(q)) < 0) return GR_DEVICE;
  q->written = gr_anything;
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
  b->reduce = gr_cuda_do_reduce;
  b->start = gr_cuda_start;
  b->mark = gr_cuda_mark;
  b->poll = gr_cuda_poll;
  b->forget = gr_cuda_forget;
  b->elapsed = gr_cuda_elapsed;
  b->even = 1;
  b->histogram = gr_cuda_do_histogram;
  b->weights = gr_cuda_do_weights;
  b->exact = gr_cuda_do_exact;
  b->digest = gr_cuda_do_digest;
  gr_cuda_launches(b);
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
  const char *lose_at = getenv("GPUREDUCE_TEST_LOSE");
  int count = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (lose_at) all.lose_at = strtoll(lose_at, NULL, 10);
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
