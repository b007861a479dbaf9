#include "src/core/ranks/add.h"

#include "src/core/ranks/meet.h"

/*
** What a rank tells the others of its values: the host adds them, since no device has them or they are few; a device
** has them that cannot be joined, or has not been tried yet, or is joined.
*/
enum { ON_HOST, APART, UNTRIED, JOINED };

/* Bytes below which a copy to the host, MPI and a copy back are quicker than devices between themselves. */
#define LEAST_BYTES (64 << 10)

static int where(const gr_comm *comm, const gr_array *values) {
  const gr_queue *q = values->storage->queue;
  const gr_backend *device = q->backend;
  if (!comm->table->join || !device->separate || !device->lend || q->lost) return ON_HOST;
  if (values->n * 8 < LEAST_BYTES) return ON_HOST;
  if (comm->device != device) return UNTRIED;
  return comm->joined ? JOINED : APART;
}

typedef struct adding {
  const gr_comm *comm;
  uint64_t *values;
  int64_t count;
} adding;

static int join(void *with, void *stream) {
  const gr_comm *comm = with;
  (void)stream;
  return comm->table->join(comm->handle, comm->device->identity);
}

static int add_there(void *with, void *stream) {
  const adding *a = with;
  return a->comm->table->add_there(a->comm->handle, stream, a->values, a->count);
}

/* Joins the devices of all ranks, which all of them try. One whose device fails says so by an identity of nothing. */
static gr_status join_devices(gr_context *c, gr_queue *q) {
  static const uint8_t nothing[GR_COMM_IDENTITY];
  _Static_assert(sizeof q->backend->identity == GR_COMM_IDENTITY, "both tell devices alike");
  gr_comm *comm = c->comm;
  int code = 0;
  comm->device = q->backend;
  const gr_status lent = q->backend->lend(q, join, comm, &code);
  if (lent != GR_OK) code = comm->table->join(comm->handle, nothing);
  comm->joined = code == 0;
  return code == GR_COMM_APART ? GR_OK : gr_ranks_moved(c, code);
}

/* Where one rank cannot, the devices of others must not wait for it; the hosts add from then on. */
static gr_status add_on_devices(gr_context *c, gr_queue *q, const gr_vec *values, int64_t count) {
  gr_comm *comm = c->comm;
  adding a = {comm, (uint64_t *)(uintptr_t)values->data, count};
  int code = 0;
  gr_status status = gr_fail_from(c, q, q->backend->lend(q, add_there, &a, &code), "adding over ranks", 0);
  if (status == GR_OK) status = gr_ranks_moved(c, code);
  status = gr_ranks_agree(c, status);
  if (status == GR_OK) return GR_OK;
  comm->table->leave(comm->handle);
  comm->joined = 0;
  return status;
}

/* Whether devices add, by what all ranks have told; those that have not been tried are joined first. */
static gr_status choose(gr_context *c, gr_queue *q, int *devices) {
  const gr_comm *comm = c->comm;
  int least = JOINED, untried = 0;
  for (int r = 0; r < comm->size; r++) {
    const int way = (int)comm->cards[r].n;
    untried |= way == UNTRIED;
    if (way < least) least = way;
  }
  *devices = 0;
  const gr_status status = least != ON_HOST && untried ? join_devices(c, q) : GR_OK;
  *devices = least != ON_HOST && (untried || least == JOINED) && comm->joined;
  return status;
}

gr_status gr_ranks_add_array(gr_context *c, gr_array *values, gr_status mine) {
  gr_comm *comm = c->comm;
  gr_vec v = {0};
  int devices = 0, hosts = 1;
  if (comm->size == 1) return mine;
  const int way = mine == GR_OK ? where(comm, values) : ON_HOST;
  if (mine == GR_OK) mine = gr_array_write(values, way == ON_HOST ? GR_HOST : GR_DEVSIDE, 0, &v);
  gr_status status = gr_ranks_agree_on(c, way, mine);
  if (status != GR_OK) return status;
  for (int r = 0; r < comm->size; r++) hosts &= comm->cards[r].n == ON_HOST;
  gr_queue *q = values->storage->queue;
  if (!hosts) status = choose(c, q, &devices);
  if (status != GR_OK) return status;
  if (devices) return add_on_devices(c, q, &v, values->n);
  /* Ranks whose values were to stay on devices bring them now, which some may fail in. */
  if (!hosts) status = gr_ranks_agree(c, gr_array_write(values, GR_HOST, 0, &v));
  if (status != GR_OK) return status;
  return gr_ranks_moved(c, comm->table->add(comm->handle, (uint64_t *)(uintptr_t)v.data, values->n));
}
