#include "src/core/explain.h"
#include "src/core/exact.h"
#include "src/core/formula/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The array as a kernel would get it: memory that is not there yet will be aligned as all is. */
static gr_vec vector_of(const gr_array *a) {
  const char *memory = a->storage->memory[gr_kernel_side(a->storage)];
  return (gr_vec){.data = (const void *)((memory ? (uintptr_t)memory : 4096) + (uintptr_t)a->offset),
                  .stride = a->n > 1 ? a->stride : gr_size(a->dtype)};
}

/* Bytes of chunks that only the host has, where the array lies. */
static int64_t uploads_of(const gr_array *a) {
  const gr_storage *s = a->storage;
  int64_t first = a->offset, last = a->offset + (a->n - 1) * a->stride, bytes = 0;
  if (gr_kernel_side(s) == GR_HOST || s->full[GR_DEVSIDE]) return 0;
  if (last < first) first = last, last = a->offset;
  last += gr_size(a->dtype) - 1;
  for (size_t k = (size_t)first / GR_CHUNK; k <= (size_t)last / GR_CHUNK; k++) {
    const size_t end = (k + 1) * GR_CHUNK < s->bytes ? (k + 1) * GR_CHUNK : s->bytes;
    const int stale = !gr_storage_current(s, GR_DEVSIDE, k) && gr_storage_current(s, GR_HOST, k);
    if (stale) bytes += (int64_t)(end - k * GR_CHUNK);
  }
  return bytes;
}

static gr_reduce_job job_of(const gr_reduction *r) {
  gr_reduce_job job = gr_reduce_job_new(r->op, r->a->dtype, 0, r->ddof);
  job.a = vector_of(r->a);
  job.out_dtype = GR_F64;
  if (r->b) job.b = vector_of(r->b);
  gr_shape_cut(r->shape, r->a, r->b, &job);
  if (r->shape.segments) {
    const int64_t most = GR_SEGMENT_LEAVES * (int64_t)GR_LEAF(gr_size(job.dtype));
    job.offsets = r->a; /* that there are some: nobody looks at them */
    job.n = r->shape.segments->longest < most ? r->shape.segments->longest : most;
  }
  return job;
}

static int64_t expression_uploads(const gr_expression *e) {
  int64_t bytes = 0;
  for (int k = 0; k < e->program.input_count; k++) bytes += e->inputs[k].n ? uploads_of(&e->inputs[k]) : 0;
  return bytes;
}

/* Of expressions: in one pass, or as arrays of their elements, which are stored first. */
static void explain_formula(const gr_reduction *r, gr_explanation *e) {
  const gr_queue *q = r->a->storage->queue;
  const gr_reduced a = {r->of, (gr_array *)(uintptr_t)r->a}, b = {r->with, (gr_array *)(uintptr_t)r->b};
  const int whole = r->shape.rows == 0 && !r->shape.segments;
  const int may = r->exact ? whole && gr_exact_feeds(r->op, a, b) : gr_formula_fuses(r->op, r->shape, a, b);
  const int fuses = r->fused || may;
  e->reads = r->of ? gr_expression_reads(r->of) : r->a->n * gr_size(r->a->dtype);
  if (r->b) e->reads += r->with ? gr_expression_reads(r->with) : r->b->n * gr_size(r->b->dtype);
  e->uploads = (r->of ? expression_uploads(r->of) : uploads_of(r->a)) + (r->with ? expression_uploads(r->with)
                                                                         : r->b  ? uploads_of(r->b)
                                                                                 : 0);
  e->how = (gr_explained){.kernel = fuses ? "formula" : "formula, stored"};
  const char *uncompiled = q->backend->uncompiled ? q->backend->uncompiled(q->backend) : NULL;
  if (q->backend->uncompiled && !uncompiled && fuses)
    e->how.why = "one kernel of all steps, which the driver compiles once";
  else if (uncompiled) e->how = (gr_explained){.kernel = "formula, stored", .why = uncompiled};
  else if (fuses) e->how.why = "blocks of elements go through all steps and into the reduction";
  else if (q->backend->formula) e->how.why = "elements are computed in one pass and stored, then reduced as an array";
  else e->how.why = "one launch a step, with results in the device's memory, then reduced as an array";
}

gr_status gr_explain(const gr_reduction *r, gr_explanation *e) {
  if (gr_array_released(r->a) || (r->b && gr_array_released(r->b))) return GR_RELEASED;
  gr_queue *q = r->a->storage->queue;
  const gr_reduce_job job = job_of(r);
  const int number = r->shape.rows == 0 && !r->shape.segments;
  memset(e, 0, sizeof *e);
  e->device = q->backend->name;
  e->reads = r->a->n * gr_size(r->a->dtype) + (r->b ? r->b->n * gr_size(r->b->dtype) : 0);
  e->writes = job.count * (number ? 8 : gr_size(gr_result_dtype(r->op, r->a->dtype)));
  e->uploads = uploads_of(r->a) + (r->b ? uploads_of(r->b) : 0);
  if (r->of || r->with) {
    explain_formula(r, e);
    return GR_OK;
  }
  if (r->exact) {
    e->how = (gr_explained){.kernel = "exact sums", .why = "sums that are correctly rounded, whatever the data"};
    return GR_OK;
  }
  q->backend->explain(q, &job, number, &e->how);
  if (gr_is_only_place(r->op, r->shape, r->a->n)) {
    e->how = (gr_explained){.kernel = "fill", .why = "an only element is the first"};
    e->reads = e->uploads = 0;
  }
  if (!number || r->ddof != 0 || !gr_reduce_is_small(r->a, r->b)) return GR_OK;
  e->how.kernel = "small";
  e->how.why = "a short vector in the host's memory, at once";
  e->how.blocks = e->how.threads = 1;
  return GR_OK;
}

/* Of an operation from array to array, or into `writes` bytes; its queue. */
static gr_queue *begin(const gr_array *a, int64_t writes, gr_explanation *e) {
  gr_queue *q = a->storage->queue;
  *e = (gr_explanation){
      .device = q->backend->name, .reads = a->n * gr_size(a->dtype), .writes = writes, .uploads = uploads_of(a)};
  return q;
}

gr_status gr_explain_scan(gr_op op, const gr_array *a, gr_explanation *e) {
  if (gr_array_released(a)) return GR_RELEASED;
  const gr_scan_job job = {
      .op = op, .dtype = a->dtype, .out_dtype = gr_scan_dtype(op, a->dtype), .n = a->n, .count = 1, .a = vector_of(a)};
  gr_queue *q = begin(a, a->n * gr_size(job.out_dtype), e);
  q->backend->explain_scan(q, &job, &e->how);
  return GR_OK;
}

gr_status gr_explain_histogram(const gr_array *a, const gr_binning *b, gr_explanation *e) {
  if (gr_array_released(a)) return GR_RELEASED;
  gr_histogram_job job = gr_histogram_job_of(a, b, b->min, b->max);
  job.a = vector_of(a);
  gr_queue *q = begin(a, (b->bins + 3) * 8, e);
  q->backend->explain_histogram(q, &job, &e->how);
  return GR_OK;
}

void gr_explain_line(const char *what, const gr_explanation *e, char text[GR_EXPLAIN_TEXT]) {
  const gr_explained *h = &e->how;
  size_t at = 0;
#define ADD(...) at += (size_t)snprintf(text + at, at < GR_EXPLAIN_TEXT ? GR_EXPLAIN_TEXT - at : 0, __VA_ARGS__)
  ADD("%s on %s: %s", what, e->device, h->kernel);
  if (h->set) ADD(" (%s)", h->set);
  if (h->launches > 1) ADD(", %" PRId64 " launches", h->launches);
  if (h->set && h->blocks)
    ADD(", %" PRId64 " %s, %" PRId64 " %s", h->blocks, h->blocks == 1 ? "piece" : "pieces", h->threads,
        h->threads == 1 ? "thread" : "threads");
  else if (h->blocks) ADD(", %" PRId64 " x %" PRId64 " threads", h->blocks, h->threads);
  if (h->shared) ADD(", %" PRId64 " bytes shared", h->shared);
  if (h->scratch) ADD(", %" PRId64 " scratch", h->scratch);
  if (h->combine) ADD(", %s", h->combine);
  ADD("; reads %" PRId64 ", writes %" PRId64 " bytes", e->reads, e->writes);
  if (e->uploads) ADD(" after uploading %" PRId64, e->uploads);
  ADD("; %s", h->why);
#undef ADD
}

static void put_text(const char *name, gr_shape s, const gr_array *a, const gr_explanation *e,
                     char text[GR_EXPLAIN_TEXT]) {
  const int64_t count = gr_shape_results(s, a->n);
  char what[160], in[64] = "";
  if (s.segments) snprintf(in, sizeof in, " in %" PRId64 " segments", count);
  else if (s.rows) snprintf(in, sizeof in, " in %" PRId64 " %s", count, s.axis == 1 ? "columns" : "rows");
  snprintf(what, sizeof what, "%s of %" PRId64 " %s%s", name, a->n, gr_dtypes[a->dtype].name, in);
  gr_explain_line(what, e, text);
}

void gr_explain_text(const gr_reduction *r, const gr_explanation *e, char text[GR_EXPLAIN_TEXT]) {
  put_text(gr_ops[r->op].name, r->shape, r->a, e, text);
}

gr_status gr_explain_custom(const gr_custom *u, gr_shape s, gr_reduced a, gr_explanation *e,
                            char text[GR_EXPLAIN_TEXT]) {
  if (gr_array_released(a.a)) return GR_RELEASED;
  const gr_queue *q = a.a->storage->queue;
  memset(e, 0, sizeof *e);
  e->device = q->backend->name;
  e->reads = a.e ? gr_expression_reads(a.e) : a.a->n * gr_size(a.a->dtype);
  const int there = gr_custom_operates(u, s, a.a);
  if ((there || q->backend->custom) && q->backend->separate)
    e->uploads = a.e ? expression_uploads(a.e) : uploads_of(a.a);
  for (int k = 0; k < u->op.results; k++) e->writes += gr_shape_results(s, a.a->n) * gr_size(u->op.result[k]);
  e->how.kernel = u->ordered ? "operator, in order" : "operator";
  e->how.why = there ? "states of leaves in one pass, along the tree"
               : q->backend->custom
                   ? "programs take blocks of states along the tree"
                   : "the host gets the elements, and its programs take blocks of states along the tree";
  put_text("operator", s, a.a, e, text);
  return GR_OK;
}

/* ---- a line a call ---- */

static void trace(const gr_reduction *r) {
  char text[GR_EXPLAIN_TEXT];
  gr_explanation e;
  if (r->a->n == 0 || gr_shape_results(r->shape, r->a->n) == 0) return;
  if (r->custom) {
    const gr_reduced a = {r->of, (gr_array *)(uintptr_t)r->a};
    if (gr_explain_custom(r->custom, r->shape, a, &e, text) != GR_OK) return;
  } else {
    if (gr_explain(r, &e) != GR_OK) return;
    gr_explain_text(r, &e, text);
  }
  gr_log_line(r->a->storage->context, text);
}

void gr_explain_trace(gr_context *c) {
  const char *wish = getenv("GPUREDUCE_TRACE");
  if (wish && *wish && strcmp(wish, "0") != 0) c->trace = trace;
}
