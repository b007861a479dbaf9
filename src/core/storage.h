/*
** A storage is one range of bytes that may have a copy in host memory, one in device memory, or both. Each
** 64 KiB chunk of each copy is current or stale; a chunk that is current nowhere is all zeros and has not been
** written yet. Bytes move only when somebody needs a chunk on a side where it is stale.
**
** Small results come and go by the hundred, so a storage in host memory alone is kept as a spare when it is dropped:
** the next one of its size is made without the allocator.
**
** Invariants: a bit of current[side] is set only if memory[side] exists; full[side] says that all bits are set, but is
** 0 while work in the background writes the storage (pending), so that every use comes by.
** On a backend without memory of its own both sides are the same: everything happens on GR_HOST.
*/
#ifndef GR_STORAGE_H
#define GR_STORAGE_H

#include "src/core/context.h"

#define GR_CHUNK ((size_t)65536)

typedef enum gr_side { GR_HOST, GR_DEVSIDE } gr_side;

/* Of the host copy: the pool, a file mapping, somebody else (wrap.h). */
typedef enum gr_owner { GR_OWNED, GR_MAPPED, GR_WRAPPED } gr_owner;

/* What memory of somebody else needs, where storages of their own move bytes and no more. */
typedef struct gr_outside {
  /* Called before a read or write of [from, to) on side: the memory may have moved or changed since. */
  gr_status (*refresh)(gr_storage *, gr_side, size_t from, size_t to, int write);
  /* Bytes that go to the other side; into the memory of somebody else the elements alone. */
  gr_status (*download)(gr_storage *, size_t from, size_t to);
  gr_status (*upload)(gr_storage *, size_t from, size_t to);
  void (*release)(gr_storage *); /* at the last drop */
  int roams; /* release may be called from any thread, and with no context: the storage may go to another */
} gr_outside;

struct gr_storage {
  struct gr_storage *next; /* among the spared */
  gr_context *context;
  gr_queue *queue;
  int refs;
  int watched, pending; /* futures and work in the background that must end before it is written; before it is read */
  unsigned char owner;  /* a gr_owner */
  /* Wrapped memory that may change or move: full stays 0, so that each use calls refresh. */
  unsigned char must_revalidate;
  unsigned char unsteady; /* wrapped memory whose owner may move or change it at any time */
  unsigned char lent;     /* the device copy is somebody else's, which outside->release gives back */
  unsigned char full[2];
  unsigned char exported; /* others may write to the memory that kernels use (dlpack.h), so it stays what it is */
  gr_outside *outside;    /* of wrapped and of lent memory, else NULL: the head of a struct that its functions know */
  struct gr_edges_job *even; /* not NULL: chunks that are current nowhere are these even edges, not zeros */
  char *memory[2], *kept;    /* kept: host memory of a spare storage, until it is needed */
  size_t bytes, room[2];     /* room: bytes of each copy as the pool gives it; the host's is known before */
  union {
    uint64_t few, *many; /* a bit a chunk; one word serves up to 4 MiB */
  } current[2];
};

/*
** The storage of arrays that have been released, one for the whole process: every read and write of it fails with
** GR_RELEASED. A finalizer may release an array in the middle of a call, wherever the script's memory is managed, and
** what follows then meets this instead of a null pointer.
*/
extern gr_storage gr_released;

/* All zeros, without memory yet. NULL when there is no memory for the bookkeeping. */
gr_storage *gr_storage_new(gr_context *, gr_queue *, size_t bytes);
void gr_storage_keep(gr_storage *);
void gr_storage_drop(gr_storage *); /* at the last drop it is freed or becomes a spare */
void gr_storage_trim(gr_context *); /* frees the spares: their memory goes to the pool */

/* Makes a new storage hold bins + 1 even edges, which are computed on the host when they are first read. */
gr_status gr_storage_even(gr_storage *, double first, double last, int64_t bins);

/*
** A storage between two contexts, which nobody else refers to, and whose work is done: it leaves the one, and joins the
** other on a queue of the same device, or is discarded. Meanwhile it belongs to no thread.
*/
void gr_storage_depart(gr_storage *);
void gr_storage_join(gr_storage *, gr_context *, gr_queue *);
void gr_storage_discard(gr_storage *, gr_backend *);
size_t gr_storage_held(const gr_storage *); /* bytes of its memory that count as its context's */

static inline size_t gr_storage_chunks(const gr_storage *s) { return (s->bytes + GR_CHUNK - 1) / GR_CHUNK; }

/* The side on which kernels of this storage's backend run. */
static inline gr_side gr_kernel_side(const gr_storage *s) { return s->queue->backend->separate ? GR_DEVSIDE : GR_HOST; }

/* Work in the background begins to use it, as something to read or to write; and has ended. */
void gr_storage_use(gr_storage *, int writes);
void gr_storage_unuse(gr_storage *, int writes);
/* Waits for what must end before it is read, or written. */
void gr_storage_settle(gr_storage *, int write);

/* After the loss of the device: makes the storage the CPU's if the host has all of it current; returns whether. */
int gr_storage_leave(gr_storage *, gr_queue *cpu);

/* Whether kernels may write to a part of it, and nothing comes from the host's memory before they do. */
static inline int gr_storage_is_there(const gr_storage *s) {
  return s->full[GR_DEVSIDE] || (!s->memory[GR_HOST] && !s->outside);
}

/* Make bytes [from, to) current on side, in queue order. */
gr_status gr_storage_read(gr_storage *, gr_side, size_t from, size_t to);

/*
** Somebody is about to write within [from, to) on side: afterwards that side is current there and the other
** is stale. whole: every byte of the range will be written, so only chunks that the range cuts are brought first.
*/
gr_status gr_storage_write(gr_storage *, gr_side, size_t from, size_t to, int whole);

/* The call under way was stopped: what it was to write, and nobody had written before, is zeros again. */
void gr_storage_stopped(gr_context *);
/*
** What of it the call under way found as others left it, for a work that carries one such stretch; its storage is NULL
** if nothing. Of two (a call with two results in one storage) the other becomes zeros at once. And zeros there.
*/
gr_raw gr_storage_raw(const gr_storage *);
void gr_storage_blank(const gr_raw *);
/* A work carries it: what the same call writes there later has nothing to do with that stretch. */
void gr_storage_forget_raw(const gr_storage *);

/* The host copy is a private mapping of a file (unmapped at the end) or wrapped, ready to read. */
void gr_storage_adopt(gr_storage *, void *memory, gr_owner);
/* The device copy is somebody else's, all of it current. */
void gr_storage_borrow(gr_storage *, void *memory);

/* For wrap.c: whether a chunk is current on a side, and marking chunks first .. last so. */
int gr_storage_current(const gr_storage *, gr_side, size_t chunk);
void gr_storage_mark(gr_storage *, gr_side, size_t first, size_t last, int current);

#endif
