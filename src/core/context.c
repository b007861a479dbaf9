#include "src/core/context.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/room.h"
#include "src/core/fork.h"
#include "src/core/pool.h"
#include "src/core/threads.h"

#define DEFAULT_FLOOR ((size_t)64 << 20)

static atomic_int contexts; /* of this process */

gr_context *gr_context_new(const gr_host *host) {
  gr_context *c = calloc(1, host->bytes);
  if (!c) return NULL;
  gr_fork_prepare();
  c->host = host;
  atomic_fetch_add(&contexts, 1);
  c->refs = 1;
  c->floor = c->budget = DEFAULT_FLOOR;
  c->automatic = 1;
  return c;
}

void gr_context_drop(gr_context *c) {
  if (--c->refs > 0) return;
  gr_background_leave(&c->line);
  free(c->claims_room);
  if (c->trim) c->trim(c);
  if (c->forget) c->forget(c);
  for (int k = 0; k < c->queue_count; k++) {
    gr_queue *q = c->queues[k];
    q->backend->wait(q);
    gr_pool_settle(q);
    q->backend->close(q);
  }
  if (c->host->gone) c->host->gone(c);
  free(c);
  if (atomic_fetch_sub(&contexts, 1) != 1) return;
  gr_background_rest(); /* nobody is left to use it again */
  gr_threads_rest();
  gr_room_free();
  gr_pool_trim();
}

gr_stats gr_context_stats(const gr_context *c) {
  gr_stats sum = {0};
  for (int k = 0; k < c->queue_count; k++) {
    const gr_stats *s = &c->queues[k]->stats;
#define GR_X(name) sum.name += s->name;
    GR_STATS(GR_X)
#undef GR_X
  }
  return sum;
}

void gr_log_line(const gr_context *c, const char *line) {
  if (c->log.say) c->log.say(c->log.user, line);
  else fprintf(stderr, "gpureduce: %s\n", line);
}

gr_queue *gr_context_on(gr_context *c, gr_backend *backend, gr_status *why) {
  for (int k = 0; k < c->queue_count; k++)
    if (c->queues[k]->backend == backend) return c->queues[k];
  if (!backend->explain) return *why = GR_DEVICE, NULL; /* a backend that cannot say what it does is not accepted */
  if (c->stream && !backend->adopt) {
    gr_fail(c, GR_BAD, "device '%s' has no streams", backend->name);
    return *why = GR_BAD, NULL;
  }
  gr_queue *q = backend->open(backend, why);
  if (!q) return NULL;
  if (c->stream && (*why = backend->adopt(q, c->stream)) != GR_OK) return backend->close(q), NULL;
  c->stream = NULL;
  q->stop = backend->separate ? NULL : &c->stop;
  q->small = c->trace ? NULL : backend->small;
  c->queues[c->queue_count++] = q;
  return q;
}

gr_queue *gr_context_cpu(gr_context *c) {
  gr_status why;
  return gr_context_on(c, c->host->cpu(), &why);
}

static gr_backend *backend_named(gr_backend *const *list, int n, const char *name) {
  char first_gpu[] = "cuda:0";
  if (!strcmp(name, "cuda")) name = first_gpu;
  for (int k = 0; k < n; k++)
    if (!strcmp(list[k]->name, name)) return list[k];
  return NULL;
}

static gr_status unknown_device(gr_context *c, gr_backend *const *list, int n, const char *name, const char *why,
                                const char *source) {
  char known[200] = "";
  size_t at = 0;
  for (int k = 0; k < n && at < sizeof known - 20; k++)
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", k ? ", " : "", list[k]->name);
  /* What the environment asks for is no argument of the call that met it. */
  gr_status status = *source ? GR_DEVICE : GR_BAD;
  if (!strncmp(name, "cuda", 4) && n == 2) return gr_fail(c, status, "no device '%s'%s: %s", name, source, why);
  return gr_fail(c, status, "no device '%s'%s (there are: %s)", name, source, known);
}

static gr_status open_on(gr_context *c, gr_backend *b, gr_queue **q) {
  gr_status status = GR_OK;
  *q = gr_context_on(c, b, &status);
  if (!*q && status == GR_BAD) return status;
  if (!*q)
    return gr_fail(c, status, "%sdevice '%s' does not open", status == GR_NO_MEMORY ? "out of memory: " : "", b->name);
  return (*q)->lost ? gr_fail(c, GR_DEVICE, "device '%s' is lost: %s", b->name, (*q)->error) : GR_OK;
}

gr_status gr_context_use(gr_context *c, const char *name) {
  gr_backend *list[GR_MAX_BACKENDS], *chosen;
  const char *why = "", *wish = name ? name : *c->wish ? c->wish : getenv("GPUREDUCE_DEVICE");
  int n = c->host->backends(list, &why);
  if (wish && *wish) {
    chosen = backend_named(list, n, wish);
    if (!chosen)
      return unknown_device(c, list, n, wish, why, name || *c->wish ? "" : ", which GPUREDUCE_DEVICE asks for");
    c->why = !name && *c->wish            ? "chosen by the host"
             : !name                      ? "chosen by GPUREDUCE_DEVICE"
             : c->queue && c->queue->lost ? "the device before was lost"
                                          : "chosen by use";
  } else {
    const int gpus = n - 2; /* which come first, before the CPU and the pretend device */
    chosen = list[gpus > 0 ? c->local % gpus : 0];
    c->why = gpus > 1 && c->local ? "its turn among the ranks of this host" : gpus > 0 ? "a CUDA device answers" : why;
  }
  gr_queue *q;
  gr_status status = open_on(c, chosen, &q);
  if (status != GR_OK) return status;
  if (c->queue != q && c->log.say) {
    char line[400];
    snprintf(line, sizeof line, "device %s in use: %s", chosen->name, c->why);
    gr_log_line(c, line);
  }
  c->queue = q;
  return GR_OK;
}

gr_status gr_context_queue(gr_context *c, const char *name, gr_queue **q) {
  gr_backend *list[GR_MAX_BACKENDS];
  const char *why = "";
  const int n = c->host->backends(list, &why);
  gr_backend *named = backend_named(list, n, name);
  return named ? open_on(c, named, q) : unknown_device(c, list, n, name, why, "");
}

int gr_context_over(const gr_context *c, size_t bytes) {
  return c->automatic && (bytes > c->budget || c->live > c->budget - bytes);
}

/* "4.0 GiB" */
static const char *bytes_text(size_t bytes, char text[24]) {
  static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double x = (double)bytes;
  int u = 0;
  while (x >= 1024 && u < 6) x /= 1024, u++;
  snprintf(text, 24, u ? "%.1f %s" : "%.0f %s", x, unit[u]);
  return text;
}

gr_status gr_context_allows(gr_context *c, size_t bytes) {
  char limit[24], live[24], asked[24];
  if (!c->limits.bytes || (bytes <= c->limits.bytes && c->live <= c->limits.bytes - bytes)) return GR_OK;
  return gr_fail(c, GR_NO_MEMORY, "out of memory: arrays of %s at most, as %s says: %s asked, %s live",
                 bytes_text(c->limits.bytes, limit), c->limits.lowered ? "gr.gc" : gr_limits_by(c),
                 bytes_text(bytes, asked), bytes_text(c->live, live));
}

gr_status gr_context_allows_length(gr_context *c, int64_t n) {
  if (!c->limits.elements || n <= c->limits.elements) return GR_OK;
  return gr_fail(c, GR_BAD, "%lld elements of an array at most, as %s says, got %lld", (long long)c->limits.elements,
                 gr_limits_by(c), (long long)n);
}

void gr_context_collected(gr_context *c) {
  size_t twice = c->live > SIZE_MAX / 2 ? SIZE_MAX : 2 * c->live;
  c->budget = twice > c->floor ? twice : c->floor;
  c->collections++;
}

gr_status gr_fail(gr_context *c, gr_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->error, sizeof c->error, format, args);
  va_end(args);
  return status;
}

gr_status gr_fail_from(gr_context *c, gr_queue *q, gr_status status, const char *what, size_t asked) {
  if (status == GR_OK) return GR_OK;
  if (status == GR_STOPPED) return gr_fail(c, status, "interrupted");
  if (status == GR_NO_MEMORY) return gr_fail_memory(c, q, asked);
  return gr_fail(c, status, "%s: %s", what, q->error);
}

gr_status gr_fail_gone(gr_context *c, const gr_queue *q) {
  return gr_fail(c, GR_DEVICE, "elements that only %s had are gone with the device: %s", q->backend->name, q->error);
}

gr_status gr_fail_memory(gr_context *c, gr_queue *q, size_t asked) {
  if (!q) return gr_fail_room(c, c->host->cpu(), asked); /* the host's memory is its */
  if (q->backend->wait(q) == GR_DEVICE) return gr_fail(c, GR_DEVICE, "taking memory: %s", q->error);
  return gr_fail_room(c, q->backend, asked);
}

gr_status gr_fail_room(gr_context *c, gr_backend *backend, size_t asked) {
  char a[24], f[24], l[24];
  return gr_fail(c, GR_NO_MEMORY, "out of memory on %s: %s asked, %s free, %s live in %lld arrays", backend->name,
                 bytes_text(asked, a), bytes_text(backend->available(backend), f), bytes_text(c->live, l),
                 (long long)c->storages);
}
