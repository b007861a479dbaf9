#include "src/core/parcel.h"

#include "src/core/ops.h"

/* Whether the storage may go as it is. */
static int may_go(const gr_storage *s) { return s->refs == 1 && !s->watched && (!s->outside || s->outside->roams); }

gr_status gr_parcel_pack(gr_array *a, gr_parcel *out) {
  if (gr_array_released(a)) return GR_RELEASED;
  gr_context *c = a->storage->context;
  gr_status status = GR_OK;
  gr_storage_settle(a->storage, 1); /* work in the background stays with its context */
  gr_array go = *a;
  go.stamp = 0;
  if (!may_go(a->storage)) {
    go.storage = NULL;
    status = gr_array_make_beside(c, a, &go, a->dtype, a->n);
    if (status == GR_OK) status = gr_copy(c, a, &go);
    go.rows = a->rows;
  } else {
    gr_storage_keep(a->storage);
  }
  gr_queue *q = a->storage->queue;
  if (status == GR_OK && q->backend->separate)
    status = gr_fail_from(c, q, q->backend->wait(q), "waiting for an array that moves", 0);
  if (status != GR_OK) {
    if (go.storage) gr_array_release(&go);
    return status;
  }
  gr_array_release(a);
  *out = (gr_parcel){go, q->backend};
  gr_storage_depart(go.storage);
  return GR_OK;
}

gr_status gr_parcel_open(gr_context *c, gr_parcel *p, gr_array *out) {
  gr_status status = gr_context_allows_length(c, p->array.n);
  if (status != GR_OK) return status;
  gr_queue *q = gr_context_on(c, p->backend, &status);
  if (!q) return status == GR_BAD ? status : gr_fail(c, status, "device '%s' does not open", p->backend->name);
  status = gr_context_allows(c, gr_storage_held(p->array.storage));
  if (status != GR_OK) return status;
  gr_storage_join(p->array.storage, c, q);
  const uint64_t stamp = out->stamp;
  *out = p->array;
  out->stamp = stamp;
  p->array.storage = NULL;
  return GR_OK;
}

void gr_parcel_discard(gr_parcel *p) {
  if (p->array.storage) gr_storage_discard(p->array.storage, p->backend);
  p->array.storage = NULL;
}
