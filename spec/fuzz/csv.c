/* The reader of CSV on any bytes, in one piece and in many, which must agree; make fuzz-readers. */
#include <stdlib.h>

#include "src/core/csv.h"

static gr_context context;

static gr_status read(gr_csv *v, const uint8_t *asked, const uint8_t *bytes, size_t size, size_t piece,
                      uint8_t **elements) {
  static const char separators[] = ",;\t .a1";
  static const char *const names[] = {"x", "", "mass", "a,b"};
  *v = (gr_csv){.path = "fuzz", .source = {.fd = -1}};
  v->separator = separators[asked[0] % (sizeof separators - 1)];
  v->header = asked[1] & 1;
  if (v->header && (asked[1] & 2)) v->column = names[asked[2] % 4], v->column_length = strlen(v->column);
  else v->position = 1 + asked[2] % 5;
  v->dtype = (gr_dtype)(asked[3] % GR_DTYPE_COUNT);
  context.error[0] = 0;
  gr_status status = gr_csv_begin(&context, v);
  for (size_t at = 0; at < size && status == GR_OK; at += piece)
    status = gr_csv_feed(&context, v, (const char *)bytes + at, size - at < piece ? size - at : piece);
  if (status == GR_OK) status = gr_csv_finish(&context, v);
  if (status != GR_OK && (!strlen(context.error) || v->fault < 1 || v->fault > 2)) abort();
  if (v->elements.bytes % gr_size(v->dtype) || (v->names && v->names[v->names_length - 1])) abort();
  *elements = malloc(v->elements.bytes ? (size_t)v->elements.bytes : 1);
  if (!*elements) abort();
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gr_csv one, many;
  uint8_t *a, *b;
  char error[sizeof context.error];
  if (size < 5) return 0;
  gr_status status = read(&one, data, data + 5, size - 5, size, &a);
  memcpy(error, context.error, sizeof error);
  if (read(&many, data, data + 5, size - 5, 1 + data[4] % 7, &b) != status || strcmp(error, context.error) != 0)
    abort();
  int64_t bytes = one.elements.bytes;
  if (bytes != many.elements.bytes || one.width != many.width || one.position != many.position) abort();
  gr_blocks_move(&one.elements, a);
  gr_blocks_move(&many.elements, b);
  if (memcmp(a, b, (size_t)bytes) != 0) abort();
  free(a);
  free(b);
  gr_csv_end(&one);
  gr_csv_end(&many);
  return 0;
}
