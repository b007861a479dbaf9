/* Arrays in files: NPY where the name ends in .npy, else raw elements. */
#include <errno.h>

#include "src/capi/operations.h"
#include "src/core/file.h"

/* What the system refuses keeps errno, and what is wrong with a file is told with its name. */
static void said(gr_capi *q, gr_status status, const char *path) {
  const int code = errno;
  if (status == GR_SYSTEM) gr_capi_refuse(q, GPUREDUCE_SYSTEM, "%.200s: %s", path, strerror(code));
  else if (status == GR_BAD) gr_capi_refuse(q, GPUREDUCE_BAD, "%.200s: %.180s", path, q->c->error);
  else gr_capi_said(q, status);
  errno = code;
}

static int read_file(gr_capi *q, const char *path, const gpureduce_file *given, gr_load *l) {
  static const gpureduce_file all = {.size = sizeof all, .dtype = GPUREDUCE_F32};
  const gpureduce_file *f = given ? given : &all;
  if (!gr_capi_needs(q, path, "path") || (given && !gr_capi_sized(q, given, sizeof *given, "gpureduce_file")) ||
      !gr_capi_dtype(q, f->dtype))
    return 0;
  *l = (gr_load){.path = path,
                 .npy = gr_file_is_npy(path),
                 .map = f->map != 0,
                 .dtype = (gr_dtype)f->dtype,
                 .offset = f->offset,
                 .count = f->count ? f->count : -1,
                 .source = {.fd = -1}};
  if (f->offset < 0 || f->count < 0)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "offset and count of 0 or more expected, got %lld and %lld",
                          (long long)f->offset, (long long)f->count);
  if (!l->npy || (!f->offset && !f->count)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "offset and count are for raw files");
}

gpureduce_status gpureduce_load(gpureduce_context *context, const char *path, const gpureduce_file *file,
                                gpureduce_array **out) {
  gr_capi q;
  gr_load l;
  gpureduce_array *a = NULL;
  if (!gr_capi_begin_with(&q, "load", context) || !gr_capi_needs(&q, out, "out") || !read_file(&q, path, file, &l))
    return gr_capi_end(&q);
  gr_status status = gr_load_begin(q.c, &l);
  if (status == GR_OK && (a = gr_capi_fresh(&q, out)) != NULL) {
    status = gr_load_finish(q.c, &l, &a->array);
    if (status != GR_OK && gr_capi_again(&q, status)) status = gr_load_finish(q.c, &l, &a->array);
    if (l.npy && l.header.dimensions == 2) a->array.rows = l.header.shape[0];
  }
  if (status != GR_OK) said(&q, status, path);
  const int code = errno;
  gr_load_end(&l);
  gr_capi_end(&q);
  errno = code;
  return q.status;
}

gpureduce_status gpureduce_save(const gpureduce_array *a, const char *path) {
  gr_capi q;
  if (gr_capi_begin(&q, "save", a) && gr_capi_needs(&q, path, "path")) {
    const gr_array *x = &a->array;
    const int64_t shape[2] = {x->rows ? x->rows : x->n, gr_array_columns(x)};
    const int npy = gr_file_is_npy(path), dimensions = x->rows ? 2 : 1;
    gr_status status = gr_file_save(q.c, path, x, npy, dimensions, shape);
    if (status != GR_OK && gr_capi_again(&q, status)) status = gr_file_save(q.c, path, x, npy, dimensions, shape);
    if (status != GR_OK) said(&q, status, path);
  }
  return gr_capi_end(&q);
}
