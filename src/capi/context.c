/* Contexts: how one begins, what it may take, and its end. */
#include <math.h>
#include <stdio.h>

#include "src/backend/cpu.h"
#include "src/backends.h"
#include "src/capi/call.h"
#include "src/core/dlpack.h"
#include "src/core/explain.h"
#include "src/core/later.h"
#include "src/core/pool.h"
#include "src/core/threads.h"

/* ---- configs ---- */

static void limit(gr_context *c, uint64_t bytes, int64_t elements, double seconds) {
  c->limits.bytes = bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
  c->limits.lowered = 0;
  c->limits.elements = elements;
  c->limits.seconds = seconds;
  c->stop.most = seconds < 9e9 ? (int64_t)ceil(seconds * 1e9) : 0;
}

static int check_limits(gr_capi *q, int64_t elements, double seconds) {
  if (elements < 0)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "elements: 0 or more expected, got %lld", (long long)elements);
  if (!(seconds >= 0)) return gr_capi_refuse(q, GPUREDUCE_BAD, "seconds: 0 or more expected, got %.14g", seconds);
  return 1;
}

/* Members that came later are 0 in what a host with an earlier header gives. */
static int read_config(gr_capi *q, const gpureduce_config *given, gpureduce_config *own) {
  return gr_capi_grown(q, given, GR_CAPI_FIRST(gpureduce_config, alloc_user), own, sizeof *own, "config");
}

gpureduce_status gr_capi_check_config(const gpureduce_config *given) {
  gr_capi q = {.name = "config"};
  gpureduce_config own, *config = &own;
  if (!read_config(&q, given, config) || !check_limits(&q, config->elements, config->seconds)) return q.status;
  gr_context unused;
  if (config->device && (strlen(config->device) >= sizeof unused.wish || !*config->device))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "device: a name such as 'cpu' or 'cuda:0' expected, got '%.40s'", config->device);
  else if (config->threads < 0 || config->threads > GR_MOST_THREADS)
    gr_capi_refuse(&q, GPUREDUCE_BAD, "threads: 0 to %d expected, got %ld", GR_MOST_THREADS, (long)config->threads);
  else if (!config->host_alloc != !config->host_free || !config->device_alloc != !config->device_free)
    gr_capi_refuse(&q, GPUREDUCE_BAD, "allocators: both of a pair expected, got one");
  if (q.status == GPUREDUCE_OK && (config->host_alloc || config->device_alloc)) {
    const gr_allocator by = {.host = config->host_alloc,
                             .free_host = config->host_free,
                             .device = config->device_alloc,
                             .free_device = config->device_free,
                             .user = config->alloc_user};
    if (!gr_pool_allocate_by(&by))
      gr_capi_refuse(&q, GPUREDUCE_BAD, "allocators: the library has memory already, so they come too late");
  }
  return q.status;
}

void gr_capi_configure(gr_context *c, const gpureduce_config *given) {
  gr_capi q = {.name = "config"};
  gpureduce_config own, *config = &own;
  if (!read_config(&q, given, config)) return; /* it has been checked */
  c->stop.flag = (const _Atomic int32_t *)(uintptr_t)config->stop;
  if (config->device) snprintf(c->wish, sizeof c->wish, "%s", config->device);
  c->stream = config->stream;
  c->log = (gr_journal){config->log, config->log_user};
  limit(c, config->bytes, config->elements, config->seconds);
  if (config->threads) gr_threads_set(config->threads);
  if (config->run) gr_threads_by(config->run, config->run_user);
}

/* ---- life ---- */

gpureduce_status gpureduce_open(const gpureduce_config *config, gpureduce_context **out) {
  static const gr_host host = {sizeof(gr_context), NULL, gr_backends, gr_cpu_backend};
  gr_capi q = {.name = "open"};
  gpureduce_status status = gr_capi_needs(&q, out, "out") ? GPUREDUCE_OK : q.status;
  if (status == GPUREDUCE_OK && config) status = gr_capi_check_config(config);
  if (status != GPUREDUCE_OK) return status;
  gr_choose_secret();
  gr_context *c = gr_context_new(&host);
  if (!c) return gr_capi_fail(GPUREDUCE_NO_MEMORY, "open: out of memory");
  gr_explain_trace(c);
  if (config) gr_capi_configure(c, config);
  const gr_status ready = config && config->device ? gr_context_ready(c) : GR_OK;
  if (ready != GR_OK) {
    status = gr_capi_fail((gpureduce_status)ready, "open: %s", c->error);
    gr_context_drop(c);
    return status;
  }
  gr_handle_add(c, GR_HANDLE_CONTEXT);
  *out = (gpureduce_context *)(void *)c;
  return GPUREDUCE_OK;
}

/* Contexts of Lua states are larger, since they have a head only in common. */
gpureduce_status gpureduce_close(gpureduce_context *context) {
  gr_capi q;
  if (!context) return GPUREDUCE_OK;
  if (gr_capi_begin_with(&q, "close", context) && q.c->host->bytes != sizeof(gr_context))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "the context is that of a Lua state, and closes with it");
  if (q.status == GPUREDUCE_OK) {
    gr_later_finish(q.c);
    q.c->stop.flag = NULL;
    gr_handle_remove(context);
    gr_dlpack_leave(q.c); /* and the call with it: whoever has something of the context's may be in it by now */
    q.entered = 0;
  }
  return gr_capi_end(&q);
}

/* ---- settings ---- */

gpureduce_status gpureduce_use(gpureduce_context *context, const char *device) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "use", context) && gr_capi_needs(&q, device, "device"))
    GR_CAPI_TRY(&q, gr_context_use(q.c, device));
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_device(gpureduce_context *context, const char **out) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "device", context) && gr_capi_needs(&q, out, "out")) {
    GR_CAPI_TRY(&q, gr_context_ready(q.c));
    if (q.status == GPUREDUCE_OK) *out = q.c->queue->backend->name;
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_limit(gpureduce_context *context, uint64_t bytes, int64_t elements, double seconds) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "limit", context) && check_limits(&q, elements, seconds))
    limit(q.c, bytes, elements, seconds);
  return gr_capi_end(&q);
}

/* Any thread calls this, in the middle of other calls: so it does not enter the context. */
gpureduce_status gpureduce_stop(gpureduce_context *context, int raised) {
  gr_capi q = {.name = "stop"};
  if (!gr_capi_needs(&q, context, "the context")) return q.status;
  gr_handle_hold();
  if (gr_handle_known(context, GR_HANDLE_CONTEXT))
    atomic_store(&((gr_context *)(void *)context)->stop.raised, raised != 0);
  else gr_capi_refuse(&q, GPUREDUCE_UNKNOWN, "there is no such context");
  gr_handle_let_go();
  return q.status;
}

gpureduce_status gpureduce_usage(gpureduce_context *context, gpureduce_counts *out) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "usage", context) && gr_capi_sized(&q, out, sizeof *out, "gpureduce_counts")) {
    gr_dlpack_settle(q.c);
    gr_later_sweep(q.c);
    const gr_pool_counts p = gr_pool_read();
    const gr_stats s = gr_context_stats(q.c);
    *out = (gpureduce_counts){.size = sizeof *out,
                              .arrays = q.c->storages,
                              .live = q.c->live,
                              .limit = q.c->limits.bytes,
                              .host = p.host - q.c->spared,
                              .device = p.device,
                              .pooled = p.pooled + q.c->spared,
                              .bytes_up = s.bytes_up,
                              .bytes_down = s.bytes_down,
                              .launches = s.launches,
                              .syncs = s.syncs};
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_wait(gpureduce_context *context) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "wait", context)) {
    gr_later_finish(q.c); /* what scripts have left for later */
    for (int k = 0; k < q.c->queue_count; k++) {
      gr_queue *queue = q.c->queues[k];
      gr_capi_said(&q, gr_fail_from(q.c, queue, queue->backend->wait(queue), "waiting", 0));
    }
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_trim(gpureduce_context *context) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "trim", context)) {
    gr_dlpack_settle(q.c);
    gr_storage_trim(q.c);
    gr_pool_trim();
  }
  return gr_capi_end(&q);
}
