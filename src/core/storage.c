#include "src/core/storage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/numerics/numerics.h"
#include "src/core/pool.h"

/* Read by all threads, written by none. Its queue has no operations: nothing gets as far as asking for one. */
static gr_backend released_backend = {.name = "released"};
static gr_queue released_queue = {.backend = &released_backend};
gr_storage gr_released = {.queue = &released_queue, .refs = 1};

/* ---- bitmaps ---- */

static int has_many(const gr_storage *s) { return s->bytes > 64 * GR_CHUNK; }

static uint64_t *words_of(gr_storage *s, int side) {
  return has_many(s) ? s->current[side].many : &s->current[side].few;
}

static int bit(const gr_storage *s, int side, size_t chunk) {
  const uint64_t *words = has_many(s) ? s->current[side].many : &s->current[side].few;
  return (int)(words[chunk >> 6] >> (chunk & 63) & 1);
}

static void set_bits(gr_storage *s, int side, size_t first, size_t last, int value) {
  uint64_t *words = words_of(s, side);
  for (size_t c = first; c <= last;) {
    size_t low = c & 63, high = (c | 63) < last ? 63 : last & 63; /* a word at a time: 4 GiB are 1024 words */
    uint64_t mask = (UINT64_MAX << low) & (UINT64_MAX >> (63 - high));
    if (value) words[c >> 6] |= mask;
    else words[c >> 6] &= ~mask;
    c = (c | 63) + 1;
  }
}

static void note_full(gr_storage *s, int side) {
  const uint64_t *word = words_of(s, side);
  size_t words = gr_storage_chunks(s) >> 6, rest = gr_storage_chunks(s) & 63;
  s->full[side] = 0;
  if (s->must_revalidate || s->pending) return;
  for (size_t w = 0; w < words; w++)
    if (word[w] != UINT64_MAX) return;
  if (rest && word[words] != (UINT64_C(1) << rest) - 1) return;
  s->full[side] = 1;
}

int gr_storage_current(const gr_storage *s, gr_side side, size_t chunk) { return bit(s, side, chunk); }

void gr_storage_mark(gr_storage *s, gr_side side, size_t first, size_t last, int current) {
  set_bits(s, side, first, last, current);
  if (current) note_full(s, side);
  else s->full[side] = 0;
}

static gr_status bring(gr_storage *, gr_side, size_t first, size_t last);

/* ---- life ---- */

/* The memory of spared storages stays in the second cache. */
#define SPARED_MOST ((size_t)1 << 20)

static gr_storage *take_spare(gr_context *c, size_t room) {
  gr_storage **list = &c->spare[gr_pool_class(room)], *s = *list;
  if (!s) return NULL;
  *list = s->next;
  c->spared -= room;
  s->full[GR_HOST] = 0;
  s->current[GR_HOST].few = 0;
  return s;
}

/* Keeps s, which nobody uses any more, as a spare; returns whether there was room. */
static int make_spare(gr_storage *s) {
  gr_context *c = s->context;
  if (s->bytes > GR_CHUNK || s->memory[GR_DEVSIDE] || s->owner != GR_OWNED || s->outside) return 0;
  if (c->spared + s->room[GR_HOST] > SPARED_MOST) return 0;
  if (s->memory[GR_HOST]) {
    s->kept = s->memory[GR_HOST];
    s->memory[GR_HOST] = NULL;
    c->live -= s->room[GR_HOST];
  }
  if (!s->kept) return 0;
  s->exported = 0;
  free(s->even);
  s->even = NULL;
  gr_storage **list = &c->spare[gr_pool_class(s->room[GR_HOST])];
  s->next = *list;
  *list = s;
  c->spared += s->room[GR_HOST];
  c->trim = gr_storage_trim;
  return 1;
}

void gr_storage_trim(gr_context *c) {
  for (int k = 0; k < GR_SPARE_CLASSES; k++)
    while (c->spare[k]) {
      gr_storage *s = c->spare[k];
      c->spare[k] = s->next;
      gr_pool_give(NULL, NULL, s->kept, s->room[GR_HOST]);
      free(s);
    }
  c->spared = 0;
}

gr_storage *gr_storage_new(gr_context *context, gr_queue *queue, size_t bytes) {
  const size_t room = gr_pool_round(bytes);
  gr_storage *s = bytes <= GR_CHUNK && !queue->backend->separate ? take_spare(context, room) : NULL;
  if (!s) s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->bytes = bytes;
  s->room[GR_HOST] = room;
  if (has_many(s)) {
    const size_t words = (gr_storage_chunks(s) + 63) / 64;
    s->current[0].many = calloc(2 * words, sizeof(uint64_t));
    if (!s->current[0].many) {
      free(s);
      return NULL;
    }
    s->current[1].many = s->current[0].many + words;
  }
  s->context = context;
  s->queue = queue;
  s->refs = 1;
  context->refs++;
  context->storages++;
  return s;
}

void gr_storage_keep(gr_storage *s) {
  if (s != &gr_released) s->refs++;
}

static void drop_device_copy(gr_storage *s) {
  if (!s->memory[GR_DEVSIDE]) return;
  if (!s->lent) {
    gr_pool_give(s->queue->backend, s->queue, s->memory[GR_DEVSIDE], s->room[GR_DEVSIDE]);
    s->context->live -= s->room[GR_DEVSIDE];
  }
  s->memory[GR_DEVSIDE] = NULL;
}

int gr_storage_leave(gr_storage *s, gr_queue *cpu) {
  if (s->watched || !s->queue->backend->separate) return 0;
  for (size_t k = 0; k < gr_storage_chunks(s); k++)
    if (bit(s, GR_DEVSIDE, k) && !bit(s, GR_HOST, k)) return 0;
  drop_device_copy(s);
  if (s->bytes) gr_storage_mark(s, GR_DEVSIDE, 0, gr_storage_chunks(s) - 1, 0);
  s->queue = cpu;
  return 1;
}

static void free_storage(gr_storage *s) {
  gr_context *context = s->context;
  if (s->memory[GR_HOST]) {
    if (s->owner == GR_MAPPED) munmap(s->memory[GR_HOST], s->bytes);
    else if (s->owner == GR_OWNED) gr_pool_give(NULL, s->queue, s->memory[GR_HOST], s->room[GR_HOST]);
    if (s->owner != GR_WRAPPED) context->live -= s->room[GR_HOST];
  }
  gr_pool_give(NULL, s->queue, s->kept, s->room[GR_HOST]);
  if (s->outside) s->outside->release(s);
  drop_device_copy(s);
  if (has_many(s)) free(s->current[0].many);
  free(s->even);
  free(s);
}

/* ---- what a stopped call leaves ---- */

/* Chunks first .. last of one side get no contents before they are written. Without room for a note they do. */
static gr_status note_raw(gr_storage *s, gr_side side, size_t first, size_t last) {
  gr_context *c = s->context;
  if (s->owner != GR_OWNED || s->lent || s->exported) return GR_OK; /* its owner knows what is there */
  if (c->raw_count == GR_MOST_RAW) return bring(s, side, first, last);
  c->raw[c->raw_count++] = (gr_raw){s, first, last, side};
  return GR_OK;
}

void gr_storage_blank(const gr_raw *r) {
  const gr_storage *s = r->storage;
  if (!s) return;
  const size_t from = r->first * GR_CHUNK, to = (r->last + 1) * GR_CHUNK;
  memset(s->memory[r->side] + from, 0, (to < s->bytes ? to : s->bytes) - from);
}

gr_raw gr_storage_raw(const gr_storage *s) {
  const gr_context *c = s->context;
  gr_raw first = {0};
  for (int k = 0; k < c->raw_count; k++) {
    if (c->raw[k].storage != s) continue;
    if (first.storage) gr_storage_blank(&c->raw[k]);
    else first = c->raw[k];
  }
  return first;
}

void gr_storage_stopped(gr_context *c) {
  for (int k = 0; k < c->raw_count; k++) {
    const gr_raw *r = &c->raw[k];
    gr_storage_mark(r->storage, (gr_side)r->side, r->first, r->last, 0);
  }
  c->raw_count = 0;
}

void gr_storage_forget_raw(const gr_storage *s) {
  gr_context *c = s->context;
  for (int k = c->raw_count - 1; k >= 0; k--)
    if (c->raw[k].storage == s) c->raw[k] = c->raw[--c->raw_count];
}

void gr_storage_drop(gr_storage *s) {
  if (s == &gr_released) return;
  gr_context *context = s->context;
  if (--s->refs > 0) return;
  if (context->raw_count) gr_storage_forget_raw(s);
  if (!make_spare(s)) free_storage(s);
  context->storages--;
  gr_context_drop(context);
}

size_t gr_storage_held(const gr_storage *s) {
  const size_t host = s->memory[GR_HOST] && s->owner != GR_WRAPPED ? s->room[GR_HOST] : 0;
  return host + (s->memory[GR_DEVSIDE] && !s->lent ? s->room[GR_DEVSIDE] : 0);
}

void gr_storage_depart(gr_storage *s) {
  gr_context *c = s->context;
  gr_storage_forget_raw(s);
  c->live -= gr_storage_held(s);
  c->storages--;
  s->context = NULL;
  s->queue = NULL;
  gr_context_drop(c);
}

void gr_storage_join(gr_storage *s, gr_context *c, gr_queue *q) {
  s->context = c;
  s->queue = q;
  c->refs++;
  c->storages++;
  c->live += gr_storage_held(s);
}

void gr_storage_discard(gr_storage *s, gr_backend *backend) {
  gr_context nobody = {.live = gr_storage_held(s)};
  if (s->memory[GR_DEVSIDE] && !s->lent) {
    gr_pool_give(backend, NULL, s->memory[GR_DEVSIDE], s->room[GR_DEVSIDE]);
    s->memory[GR_DEVSIDE] = NULL;
  }
  s->context = &nobody;
  free_storage(s);
}

void gr_storage_adopt(gr_storage *s, void *memory, gr_owner owner) {
  s->memory[GR_HOST] = memory;
  s->owner = (unsigned char)owner;
  if (owner != GR_WRAPPED) s->context->live += s->room[GR_HOST];
  if (s->bytes) set_bits(s, GR_HOST, 0, gr_storage_chunks(s) - 1, 1);
  s->full[GR_HOST] = 1;
}

void gr_storage_borrow(gr_storage *s, void *memory) {
  s->memory[GR_DEVSIDE] = memory;
  s->lent = 1;
  if (s->bytes) set_bits(s, GR_DEVSIDE, 0, gr_storage_chunks(s) - 1, 1);
  s->full[GR_DEVSIDE] = 1;
}

gr_status gr_storage_even(gr_storage *s, double first, double last, int64_t bins) {
  if (!s->even) s->even = malloc(sizeof *s->even);
  if (!s->even) return gr_fail(s->context, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  *s->even = (gr_edges_job){.first = first, .last = last, .bins = bins};
  if (s->watched || s->pending) gr_storage_settle(s, 1);
  for (int side = 0; side < 2; side++) gr_storage_mark(s, side, 0, gr_storage_chunks(s) - 1, 0);
  return GR_OK;
}

/* What the host's bytes from .. to hold, as long as nobody has written them. */
static void make_host(gr_storage *s, size_t from, size_t to) {
  const gr_edges_job *even = s->even;
  double *edges = (double *)(void *)s->memory[GR_HOST];
  if (!even) {
    memset(s->memory[GR_HOST] + from, 0, to - from);
    return;
  }
  for (size_t k = from / sizeof(double); k < to / sizeof(double); k++)
    edges[k] = gr_even_edge(even->first, even->last, even->bins, (int64_t)k);
}

static gr_status need_memory(gr_storage *s, gr_side side) {
  if (s->memory[side]) return GR_OK;
  gr_status status = gr_context_allows(s->context, s->room[GR_HOST]);
  if (status != GR_OK) return status;
  void *p = side == GR_HOST ? s->kept : NULL;
  if (p) s->kept = NULL;
  else {
    gr_backend *backend = side == GR_HOST ? NULL : s->queue->backend;
    size_t room = s->bytes;
    p = gr_pool_take(backend, s->queue, &room);
    if (!p) return gr_fail_memory(s->context, backend ? s->queue : NULL, room);
    status = gr_context_allows(s->context, room);
    if (status != GR_OK) return gr_pool_give(backend, s->queue, p, room), status; /* a larger block of the cache */
    s->room[side] = room;
  }
  s->memory[side] = p;
  s->context->live += s->room[side];
  return GR_OK;
}

/* ---- moving ---- */

/* Chunks first .. last are stale on side, and all of them current on the other side or none is. */
static gr_status bring_run(gr_storage *s, gr_side side, size_t first, size_t last, int from_other) {
  size_t from = first * GR_CHUNK, to = (last + 1) * GR_CHUNK;
  gr_backend *b = s->queue->backend;
  gr_status status = GR_OK;
  if (to > s->bytes) to = s->bytes;
  if (!from_other && side == GR_DEVSIDE && s->even) { /* made on the host and uploaded */
    status = need_memory(s, GR_HOST);
    if (status == GR_OK) status = bring_run(s, GR_HOST, first, last, 0);
    if (status != GR_OK) return status;
    from_other = 1;
  }
  char *here = s->memory[side] + from, *there = s->memory[!side] + (from_other ? from : 0);
  if (!from_other && side == GR_HOST) make_host(s, from, to);
  else if (!from_other) status = b->zero(s->queue, here, to - from);
  else if (side == GR_HOST && s->outside) status = s->outside->download(s, from, to);
  else if (side == GR_HOST) status = b->download(s->queue, here, there, to - from);
  else if (s->outside) status = s->outside->upload(s, from, to);
  else status = b->upload(s->queue, here, there, to - from);
  if (status == GR_DEVICE && s->queue->lost && from_other && side == GR_HOST) return gr_fail_gone(s->context, s->queue);
  if (status != GR_OK) return gr_fail_from(s->context, s->queue, status, "moving data", to - from);
  set_bits(s, side, first, last, 1);
  return GR_OK;
}

/* So many chunks at once are filled on the host between two looks whether the call is to stop. */
#define FILLED 512

static gr_status bring(gr_storage *s, gr_side side, size_t first, size_t last) {
  const int fills = side == GR_HOST && last - first > FILLED;
  size_t c = first;
  if (fills) gr_stop_begin(&s->context->stop);
  while (c <= last) {
    if (bit(s, side, c)) {
      c++;
      continue;
    }
    int other = bit(s, !side, c);
    size_t end = c;
    const size_t most = fills && !other && last - c > FILLED ? c + FILLED : last;
    while (end < most && !bit(s, side, end + 1) && bit(s, !side, end + 1) == other) end++;
    gr_status status = fills && c > first ? gr_context_look(s->context) : GR_OK;
    if (status == GR_OK) status = bring_run(s, side, c, end, other);
    if (status != GR_OK) return status;
    c = end + 1;
  }
  note_full(s, side);
  return GR_OK;
}

void gr_storage_use(gr_storage *s, int writes) {
  gr_storage_keep(s);
  s->watched += !writes;
  s->pending += writes;
  if (writes) s->full[GR_HOST] = 0;
}

void gr_storage_unuse(gr_storage *s, int writes) {
  s->watched -= !writes;
  s->pending -= writes;
  if (writes && s->bytes) note_full(s, GR_HOST);
  gr_storage_drop(s);
}

void gr_storage_settle(gr_storage *s, int write) {
  gr_context *c = s->context;
  if (c->settle && (s->pending || write)) c->settle(s, write);
  if (s->watched && write) c->write(s);
}

gr_status gr_storage_read(gr_storage *s, gr_side side, size_t from, size_t to) {
  if (s == &gr_released) return GR_RELEASED;
  if (s->context->claims) s->context->claim(s, 0);
  else if (s->pending) gr_storage_settle(s, 0);
  if (s->full[side] || from >= to) return GR_OK;
  gr_status status = s->must_revalidate ? s->outside->refresh(s, side, from, to, 0) : GR_OK;
  if (status == GR_OK) status = need_memory(s, side);
  return status != GR_OK ? status : bring(s, side, from / GR_CHUNK, (to - 1) / GR_CHUNK);
}

gr_status gr_storage_write(gr_storage *s, gr_side side, size_t from, size_t to, int whole) {
  if (s == &gr_released) return GR_RELEASED;
  if (from >= to) return GR_OK;
  if (s->context->claims) s->context->claim(s, 1);
  else if (s->watched || s->pending) gr_storage_settle(s, 1);
  gr_status status = s->must_revalidate ? s->outside->refresh(s, side, from, to, 1) : GR_OK;
  if (status == GR_OK) status = need_memory(s, side);
  size_t first = from / GR_CHUNK, last = (to - 1) / GR_CHUNK;
  if (status == GR_OK && !s->full[side]) {
    if (!whole) status = bring(s, side, first, last);
    else {
      const size_t head = first + (from % GR_CHUNK != 0), end = last + !(to % GR_CHUNK && to < s->bytes);
      if (head > first) status = bring(s, side, first, first);
      if (status == GR_OK && end == last) status = bring(s, side, last, last);
      if (status == GR_OK && head < end) status = note_raw(s, side, head, end - 1);
    }
  }
  if (status != GR_OK) return status;
  if (!s->full[side]) {
    set_bits(s, side, first, last, 1);
    note_full(s, side);
  }
  set_bits(s, !side, first, last, 0);
  s->full[!side] = 0;
  return GR_OK;
}
