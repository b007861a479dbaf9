#include "src/core/ranks/borders.h"

#include <stdlib.h>
#include "src/core/ranks/meet.h"

/* What is sent is the same for whoever gets it. */
gr_border gr_border_of(const gr_comm *comm, const gr_ranks_fold *f, int all) {
  gr_border b = {0};
  const int own = gr_ranks_own(comm);
  const int64_t from = gr_begin_of_leaf(comm->starts[own], f->leaf);
  b.sends = gr_border_sends(comm->starts, comm->size, own, f->leaf, all, &b.tail, 1);
  if (b.sends) b.sent = (b.tail.end - b.tail.first) * f->element;
  b.receipts = gr_border_receipts(comm->starts, comm->size, own, f->leaf, all, NULL, 0);
  if (b.receipts) b.before = (comm->starts[own] - from) * f->element;
  b.stretches = b.sends > b.receipts ? b.sends : b.receipts;
  return b;
}

int gr_border_wanted(const gr_context *c, const gr_ranks_fold *f, const gr_reduce_job *job, int64_t first, int64_t end,
                     char *room, gr_brought *wanted, gr_reduce_job *here) {
  const int64_t low = gr_ranks_before(c), width = f->element / f->inputs, bytes = (end - first) * width;
  *here = *job;
  if (!f->device) return 0;
  memset(room, 0, (size_t)(bytes * f->inputs)); /* which is sent, should the device fail */
  for (int k = 0; k < f->inputs; k++, room += bytes) {
    gr_vec *v = k ? &here->b : &here->a;
    wanted[k] = (gr_brought){room, (const char *)v->data + (first - low) * width, (size_t)bytes};
    v->data = (const void *)((uintptr_t)room - (uintptr_t)((first - low) * width));
  }
  return f->inputs;
}

gr_status gr_border_bring(gr_context *c, const gr_ranks_fold *f, const gr_reduce_job *job, int64_t first, int64_t end,
                          char *room, gr_reduce_job *here) {
  gr_brought wanted[GR_BROUGHT];
  const int count = gr_border_wanted(c, f, job, first, end, room, wanted, here);
  if (!count) return GR_OK;
  const gr_status status = f->device->backend->states(f->device, NULL, 0, NULL, wanted, count);
  return gr_fail_from(c, f->device, status, "elements at a border", 0);
}

gr_status gr_border_tail(gr_context *c, const gr_ranks_fold *f, const gr_reduce_job *job, const gr_border *b,
                         char *room, gr_reduce_job *here) {
  *here = *job;
  return b->sends ? gr_border_bring(c, f, job, b->tail.first, b->tail.end, room, here) : GR_OK;
}

void gr_border_address(const gr_comm *comm, const gr_ranks_fold *f, const gr_reduce_job *job, int all,
                       const gr_border *b, gr_stretch *s, gr_message *in, gr_message *out, char *before, char *sent) {
  const int own = gr_ranks_own(comm);
  if (b->sends) s[0] = b->tail;
  if (b->sends > 1) gr_border_sends(comm->starts, comm->size, own, f->leaf, all, s, b->sends);
  if (b->sends && job) gr_ranks_pack(f, job, comm->starts[own], s->first, s->end, sent);
  for (int64_t k = 0; k < b->sends; k++) out[k] = (gr_message){gr_ranks_peer(comm, s[k].peer), sent, b->sent};
  if (b->receipts) gr_border_receipts(comm->starts, comm->size, own, f->leaf, all, s, b->receipts);
  for (int64_t k = 0; k < b->receipts; k++) {
    in[k] = (gr_message){gr_ranks_peer(comm, s[k].peer), before, (s[k].end - s[k].first) * f->element};
    before += in[k].bytes;
  }
}

gr_status gr_ranks_borders(gr_context *c, const gr_ranks_fold *f, const gr_reduce_job *job, int all, char **before,
                           gr_status mine) {
  const gr_border b = gr_border_of(c->comm, f, all);
  const int64_t bytes = b.sent + b.before + 64, edge = f->device ? b.sent : 0;
  gr_reduce_job here = *job;
  gr_stretch *s = malloc((size_t)(b.stretches + 1) * sizeof *s);
  gr_message *in = malloc((size_t)(b.receipts + b.sends + 1) * sizeof *in);
  *before = malloc((size_t)(bytes + edge));
  if (mine == GR_OK && (!s || !in || !*before))
    mine = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes of elements at borders", (long long)bytes);
  if (mine == GR_OK) mine = gr_border_tail(c, f, job, &b, *before + bytes, &here);
  gr_status status = gr_ranks_agree(c, mine);
  if (status == GR_OK) { /* what is sent lies behind what comes */
    gr_message *out = in + b.receipts;
    gr_border_address(c->comm, f, &here, all, &b, s, in, out, *before, *before + b.before);
    status = gr_ranks_exchange(c, out, b.sends, in, b.receipts);
  }
  free(s);
  free(in);
  return status;
}

gr_status gr_ranks_borders_of(gr_context *c, gr_dtype t, gr_vec v, int64_t leaf, int all, char **before,
                              gr_status mine) {
  const gr_ranks_fold f = {.leaf = leaf, .count = 1, .element = gr_size_of(t), .inputs = 1};
  const gr_reduce_job job = {.dtype = t, .count = 1, .a = v};
  return gr_ranks_borders(c, &f, &job, all, before, mine);
}

void gr_ranks_join(const gr_vec *own, int size, const char *before, int64_t from, int64_t low, int64_t end, char *to) {
  memcpy(to, before, (size_t)((low - from) * size));
  if (own->stride == size) memcpy(to + (low - from) * size, own->data, (size_t)((end - low) * size));
  for (int64_t p = own->stride == size ? end : low; p < end; p++)
    memcpy(to + (p - from) * size, (const char *)own->data + (p - low) * own->stride, (size_t)size);
}
