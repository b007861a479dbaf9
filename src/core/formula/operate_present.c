/* What custom operators do with what is present of arrays: a copy of it, vector by vector. */
#include "src/core/formula/operate.h"

#include <string.h>
#include "src/core/ranks/meet.h"

/* Of vector v alone; operands are arrays. */
static gr_status reduce_one(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *p, int64_t v, uint64_t *words) {
  gr_array a = gr_shape_vector(s, p->a.a, v), mask, kept = {0};
  const gr_partial one = {.a = {NULL, &a}, .missing = gr_missing_of(s, &p->missing, v, &mask)};
  gr_status status = GR_OK;
  if (a.n) status = gr_partial_compact(c, &one, one.a, &kept);
  gr_reduced of = {NULL, a.n ? &kept : &a};
  if (status == GR_OK) status = gr_custom_reduce(c, u, (gr_shape){.axis = 2}, &of, NULL, words);
  gr_array_release(&kept);
  return status;
}

gr_status gr_custom_reduce_present(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *partial,
                                   gr_array *const *out, uint64_t *words) {
  gr_partial p = *partial;
  uint64_t own[GR_OPERATOR_STATES];
  gr_vec to;
  if (!gr_may_miss(&p.missing)) return gr_custom_reduce(c, u, s, &p.a, out, words);
  gr_status status = gr_reduced_eval_both(c, &p.a, &p.missing.mask);
  if (status == GR_OK && gr_array_released(p.a.a)) status = GR_RELEASED;
  if (status != GR_OK) return status;
  if (!out) return reduce_one(c, u, s, &p, 0, words);
  const int64_t results = gr_shape_results(s, p.a.a->n);
  gr_stop_begin(&c->stop);
  for (int64_t v = 0; v < results && status == GR_OK; v++) {
    if (v && v % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    status = reduce_one(c, u, s, &p, v, own);
    for (int k = 0; k < u->op.results && status == GR_OK; k++) {
      status = gr_array_write(out[k], GR_HOST, v == 0, &to);
      if (status == GR_OK) memcpy((char *)(uintptr_t)to.data + v * to.stride, &own[k], (size_t)gr_size(out[k]->dtype));
    }
  }
  return status;
}

/* ---- scans ---- */

/*
** What is present of an array, by itself, and what belongs to each place: the result of as many of them as come before
** it, or also at it; of none that of nothing at all.
*/
typedef struct scanned {
  gr_made present; /* u8, by place */
  gr_array kept, result[GR_OPERATOR_STATES];
  uint64_t none[GR_OPERATOR_STATES];
} scanned;

/* All but the scan: room for the results of what is kept. */
static gr_status make_kept(gr_context *c, gr_custom *u, const gr_array *a, const gr_missing *m, scanned *s,
                           gr_array **to) {
  const gr_partial p = {.a = {NULL, (gr_array *)(uintptr_t)a}, .missing = *m};
  gr_array nothing = gr_array_part(a, 0, 1, 0);
  gr_status status = GR_OK;
  if (a->n) status = gr_partial_split(c, &p, p.a, &s->present, &s->kept);
  else gr_array_view(a, &s->kept, 0, 1, 0);
  if (status == GR_OK)
    status = gr_custom_reduce(c, u, (gr_shape){.axis = 2}, &(gr_reduced){NULL, &nothing}, NULL, s->none);
  for (int k = 0; k < u->op.results && status == GR_OK; k++)
    status = gr_array_make_beside(c, a, to[k] = &s->result[k], u->op.result[k], s->kept.n);
  return status;
}

static void drop(scanned *s) {
  for (int k = 0; k < GR_OPERATOR_STATES; k++) gr_array_release(&s->result[k]);
  gr_array_release(&s->kept);
  gr_made_drop(&s->present);
}

/* Results come from the host, as do an operator's scans. */
static gr_status spread(const scanned *s, int64_t n, int k, int exclusive, int reverse, const gr_array *out) {
  const int size = gr_size(out->dtype), before = exclusive != reverse;
  const int64_t most = s->kept.n;
  gr_vec present, from, to;
  int64_t count = 0;
  gr_status status = gr_array_read(&s->present.a, GR_HOST, &present);
  if (status == GR_OK) status = gr_array_read(&s->result[k], GR_HOST, &from);
  if (status == GR_OK) status = gr_array_write(out, GR_HOST, 1, &to);
  for (int64_t i = 0; i < n && status == GR_OK; i++) {
    const int here = ((const uint8_t *)present.data)[i * present.stride] != 0;
    if (!before) count += here;
    /* forwards the first `count` of those that are kept, backwards the others */
    const int64_t at = reverse ? count : count - 1;
    const char *x = at < 0 || at == most ? (const char *)&s->none[k] : (const char *)from.data + at * from.stride;
    memcpy((char *)(uintptr_t)to.data + i * to.stride, x, (size_t)size);
    if (before) count += here;
  }
  return status;
}

static gr_status scan_one(gr_context *c, gr_custom *u, const gr_array *a, const gr_missing *m, gr_array *const *out,
                          int exclusive, int reverse) {
  scanned s = {.present = {0}};
  gr_array *to[GR_OPERATOR_STATES];
  if (gr_array_released(a)) return GR_RELEASED;
  if (!a->n) return GR_OK;
  if (!gr_may_miss(m)) return gr_custom_scan(c, u, a, out, exclusive, reverse);
  gr_status status = make_kept(c, u, a, m, &s, to);
  if (status == GR_OK) status = gr_custom_scan(c, u, &s.kept, to, 0, reverse);
  for (int k = 0; k < u->op.results && status == GR_OK; k++) status = spread(&s, a->n, k, exclusive, reverse, out[k]);
  drop(&s);
  return status;
}

static gr_status scan_vector(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *p, gr_array *const *out,
                             int64_t v, int exclusive, int reverse) {
  gr_array mask, parts[GR_OPERATOR_STATES], *to[GR_OPERATOR_STATES];
  const gr_array a = gr_shape_vector(s, p->a.a, v);
  const gr_missing m = gr_missing_of(s, &p->missing, v, &mask);
  for (int k = 0; k < u->op.results; k++) {
    parts[k] = gr_shape_vector(s, out[k], v);
    to[k] = &parts[k];
  }
  return scan_one(c, u, &a, &m, to, exclusive, reverse);
}

gr_status gr_custom_scan_present(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *partial,
                                 gr_array *const *out, int exclusive, int reverse) {
  gr_partial p = *partial;
  gr_status status = gr_custom_make(c, u, p.a.a->dtype);
  if (status == GR_OK) status = gr_reduced_eval(c, &p.missing.mask);
  if (status != GR_OK) return status;
  if (!s.rows) return scan_one(c, u, p.a.a, &p.missing, out, exclusive, reverse);
  const int64_t count = p.a.a->n ? gr_shape_results(s, p.a.a->n) : 0;
  gr_stop_begin(&c->stop);
  for (int64_t v = 0; v < count && status == GR_OK; v++) {
    if (v && v % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    if (gr_array_released(p.a.a)) return GR_RELEASED;
    status = scan_vector(c, u, s, &p, out, v, exclusive, reverse);
  }
  return status;
}

/* ---- over ranks ---- */

/* As long as nothing of a rank is present, places have what the last rank came to that has something. */
static gr_status take_before(gr_context *c, const gr_custom *u, scanned *s, int reverse) {
  gr_comm *comm = c->comm;
  const int step = reverse ? 1 : -1;
  gr_card card = {.n = s->kept.n};
  gr_status status = GR_OK;
  _Static_assert(GR_OPERATOR_STATES <= GR_CARD_FIELDS, "a card has room for the results");
  for (int k = 0; k < u->op.results && card.n && status == GR_OK; k++) {
    gr_vec v;
    status = gr_array_read(&s->result[k], GR_HOST, &v);
    if (status == GR_OK)
      memcpy(&card.fields[k], (const char *)v.data + (reverse ? 0 : card.n - 1) * v.stride,
             (size_t)gr_size(u->op.result[k]));
  }
  status = gr_ranks_agree(c, status);
  if (status == GR_OK) status = gr_ranks_moved(c, comm->table->gather(comm->handle, &card, comm->cards, sizeof card));
  for (int r = comm->rank + step; status == GR_OK && r >= 0 && r < comm->size; r += step) {
    if (!comm->cards[r].n) continue;
    memcpy(s->none, comm->cards[r].fields, sizeof s->none);
    break;
  }
  return status;
}

gr_status gr_custom_ranks_scan_present(gr_context *c, gr_custom *u, const gr_array *a, const gr_missing *missing,
                                       gr_array *const *out, int exclusive, int reverse) {
  struct gr_comm *comm = c->comm;
  gr_missing m = *missing;
  gr_array *to[GR_OPERATOR_STATES];
  char options[GR_CUSTOM_OPTIONS];
  scanned s = {.present = {0}};
  gr_custom_options(options, exclusive, reverse, &m);
  if (!gr_may_miss(&m)) return gr_custom_ranks_scan(c, u, a, out, exclusive, reverse, options, GR_OK);
  c->comm = NULL; /* what is present each rank keeps for itself */
  gr_status mine = gr_array_released(a) ? GR_RELEASED : gr_custom_make(c, u, a->dtype);
  if (mine == GR_OK) mine = gr_reduced_eval(c, &m.mask);
  if (mine == GR_OK) mine = make_kept(c, u, a, &m, &s, to);
  c->comm = comm;
  const int well = mine == GR_OK;
  gr_status status = gr_custom_ranks_scan(c, u, well ? &s.kept : a, well ? to : out, 0, reverse, options, mine);
  if (status == GR_OK) status = take_before(c, u, &s, reverse);
  if (status == GR_OK) {
    for (int k = 0; k < u->op.results && a->n && mine == GR_OK; k++)
      mine = spread(&s, a->n, k, exclusive, reverse, out[k]);
    status = gr_ranks_agree(c, mine);
  }
  drop(&s);
  return status;
}
