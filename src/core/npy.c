/*
** NumPy's NPY files: a strict reader of the dictionary that NumPy writes in their header, one pass over it, a writer,
** and elements in Fortran order put right.
*/
#include <inttypes.h>
#include <stdio.h>

#include "src/core/npy.h"

/* A dtype by its letter and its size in bytes, which is one digit; b1 is of truths. Or -1. */
static int dtype_of(const char *descr) {
  if (!strcmp(descr, "b1")) return GR_U8;
  return strlen(descr) == 2 ? gr_dtype_of_letter(descr[0], (size_t)(descr[1] - '0')) : -1;
}

/* '<' or '>', the order of this machine. */
static char own_order(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one ? '<' : '>';
}

size_t gr_npy_header_bytes(const unsigned char *b) {
  if (memcmp(b, "\x93NUMPY", 6) != 0 || b[6] < 1 || b[6] > 3) return 0;
  size_t length = b[8] | (size_t)b[9] << 8;
  return b[6] == 1 ? 10 + length : 12 + (length | (size_t)b[10] << 16 | (size_t)b[11] << 24);
}

/* ---- reading ---- */

typedef struct cursor {
  const char *at, *end;
} cursor;

/* Not isspace and isdigit, which ask the locale. */
static void skip_space(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r'))) c->at++;
}

static int at_digit(const cursor *c) { return c->at < c->end && *c->at >= '0' && *c->at <= '9'; }

static int take(cursor *c, const char *word) {
  size_t n = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return 0;
  c->at += n;
  return 1;
}

/* A quoted string of less than 32 characters, none of them NUL. */
static int take_string(cursor *c, char out[32]) {
  skip_space(c);
  if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) return 0;
  char quote = *c->at++;
  size_t n = 0;
  while (c->at < c->end && *c->at != quote && *c->at && n < 31) out[n++] = *c->at++;
  out[n] = 0;
  if (c->at >= c->end || *c->at != quote) return 0;
  c->at++;
  return 1;
}

static gr_status take_dtype(gr_context *g, cursor *c, gr_npy *h) {
  char s[32];
  skip_space(c);
  if (c->at < c->end && *c->at == '[') return gr_fail(g, GR_BAD, "NPY structured dtypes are not supported");
  if (!take_string(c, s)) return gr_fail(g, GR_BAD, "NPY header: 'descr' is not a string");
  const int t = s[0] == '<' || s[0] == '>' || s[0] == '|' ? dtype_of(s + 1) : -1;
  if (t >= 0 && (s[0] != '|' || s[2] == '1')) {
    h->dtype = (gr_dtype)t;
    h->swap = s[2] != '1' && s[0] != own_order();
    return GR_OK;
  }
  if (strchr(s, 'O')) return gr_fail(g, GR_BAD, "NPY data has the object dtype ('%s'), which is not supported", s);
  return gr_fail(g, GR_BAD, "NPY dtype '%s' is not supported", s);
}

/* The product of the lengths; one of 0 makes it 0, whatever the others are. */
static gr_status count_elements(gr_context *g, gr_npy *h) {
  int none = 0;
  h->n = 1;
  for (int k = 0; k < h->dimensions; k++) none |= h->shape[k] == 0;
  for (int k = 0; k < h->dimensions && !none; k++) {
    if (h->n > INT64_MAX / 16 / h->shape[k]) return gr_fail(g, GR_BAD, "NPY header: the shape is too large");
    h->n *= h->shape[k];
  }
  if (none) h->n = 0;
  return GR_OK;
}

static gr_status take_shape(gr_context *g, cursor *c, gr_npy *h) {
  h->dimensions = 0;
  if (!take(c, "(")) return gr_fail(g, GR_BAD, "NPY header: 'shape' is not a tuple");
  while (!take(c, ")")) {
    int64_t d = 0;
    if (h->dimensions == GR_MAX_DIMENSIONS)
      return gr_fail(g, GR_BAD, "NPY header: more than %d dimensions", GR_MAX_DIMENSIONS);
    skip_space(c);
    if (!at_digit(c)) return gr_fail(g, GR_BAD, "NPY header: 'shape' holds something other than lengths");
    while (at_digit(c)) {
      if (d > (INT64_MAX - 9) / 10) return gr_fail(g, GR_BAD, "NPY header: a length is too large");
      d = d * 10 + (*c->at++ - '0');
    }
    h->shape[h->dimensions++] = d;
    if (!take(c, ",")) {
      if (!take(c, ")")) return gr_fail(g, GR_BAD, "NPY header: 'shape' does not end");
      break;
    }
  }
  return count_elements(g, h);
}

static gr_status take_entries(gr_context *g, cursor *c, gr_npy *h) {
  int seen = 0, fortran = 0;
  if (!take(c, "{")) return gr_fail(g, GR_BAD, "NPY header is not a dictionary");
  while (!take(c, "}")) {
    char key[32];
    gr_status status = GR_OK;
    if (!take_string(c, key) || !take(c, ":")) return gr_fail(g, GR_BAD, "NPY header is malformed");
    if (!strcmp(key, "descr")) seen |= 1, status = take_dtype(g, c, h);
    else if (!strcmp(key, "shape")) seen |= 2, status = take_shape(g, c, h);
    else if (!strcmp(key, "fortran_order")) {
      seen |= 4;
      fortran = take(c, "True");
      if (!fortran && !take(c, "False"))
        return gr_fail(g, GR_BAD, "NPY header: 'fortran_order' is neither True nor False");
    } else return gr_fail(g, GR_BAD, "NPY header has an unknown key '%s'", key);
    if (status != GR_OK) return status;
    if (!take(c, ",") && !take(c, "}")) return gr_fail(g, GR_BAD, "NPY header is malformed");
    else if (c->at[-1] == '}') break;
  }
  if (seen != 7)
    return gr_fail(g, GR_BAD, "NPY header lacks '%s'", !(seen & 1) ? "descr" : !(seen & 2) ? "shape" : "fortran_order");
  h->fortran = fortran && h->dimensions > 1;
  return GR_OK;
}

gr_status gr_npy_parse(gr_context *g, const unsigned char *b, size_t have, int64_t file_bytes, gr_npy *h) {
  *h = (gr_npy){.dimensions = 0};
  if (have < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
    return gr_fail(g, GR_BAD, "not an NPY file (its first bytes are not \\x93NUMPY)");
  if (b[6] < 1 || b[6] > 3)
    return gr_fail(g, GR_BAD, "NPY version %d.%d is not supported (1.0 to 3.0 are)", b[6], b[7]);
  size_t header = have < 12 && b[6] > 1 ? SIZE_MAX : gr_npy_header_bytes(b);
  if (file_bytes >= 0 && (uint64_t)header > (uint64_t)file_bytes)
    return gr_fail(g, GR_BAD, "truncated NPY file: its header does not fit in %" PRId64 " bytes", file_bytes);
  if (header != SIZE_MAX && header > GR_NPY_HEADER_LIMIT)
    return gr_fail(g, GR_BAD, "NPY header of %zu bytes: at most %zu are read", header, GR_NPY_HEADER_LIMIT);
  if (header > have) return gr_fail(g, GR_BAD, "truncated NPY file: its header does not fit in %zu bytes", have);
  cursor c = {(const char *)b + (b[6] == 1 ? 10 : 12), (const char *)b + header};
  gr_status status = take_entries(g, &c, h);
  skip_space(&c);
  if (status == GR_OK && c.at < c.end) status = gr_fail(g, GR_BAD, "NPY header goes on behind its dictionary");
  if (status != GR_OK) return status;
  h->data_offset = (int64_t)header;
  return file_bytes < 0 ? GR_OK : gr_npy_fits(g, h, file_bytes - h->data_offset, 0);
}

gr_status gr_npy_fits(gr_context *g, const gr_npy *h, int64_t there, int more) {
  int64_t promised = h->n * gr_size(h->dtype);
  if (promised > there)
    return gr_fail(g, GR_BAD,
                   "truncated NPY file: its header promises %" PRId64 " bytes of data, %" PRId64 " are there", promised,
                   there);
  if (promised < there)
    return gr_fail(g, GR_BAD,
                   "NPY file is longer than its header says: %" PRId64 " bytes of data promised, %s%" PRId64
                   " are there",
                   promised, more ? "at least " : "", there);
  return GR_OK;
}

/* ---- Fortran order ---- */

void gr_turn_begin(gr_turn *t, const gr_npy *h, void *to) {
  int64_t step = t->size = gr_size(h->dtype);
  t->to = to;
  t->offset = 0;
  t->dimensions = 0;
  for (int k = h->dimensions - 1; k >= 0; k--) { /* the last index runs fastest in C order */
    t->at[k] = 0;
    t->length[k] = h->shape[k];
    t->step[k] = step;
    step *= h->shape[k];
  }
  for (int k = 0; k < h->dimensions; k++) { /* those of one position would only take time */
    if (t->length[k] < 2) continue;
    t->length[t->dimensions] = t->length[k];
    t->step[t->dimensions++] = t->step[k];
  }
}

void gr_turn_put(gr_turn *t, const void *elements, int64_t n) {
  const char *from = elements;
  for (int64_t k = 0; k < n; k++, from += t->size) {
    char *to = t->to + t->offset;
    switch (t->size) { /* of a size that the compiler knows */
      case 1: *to = *from; break;
      case 2: memcpy(to, from, 2); break;
      case 4: memcpy(to, from, 4); break;
      default: memcpy(to, from, 8); break;
    }
    for (int d = 0; d < t->dimensions; d++) {
      t->offset += t->step[d];
      if (++t->at[d] < t->length[d]) break;
      t->at[d] = 0;
      t->offset -= t->step[d] * t->length[d];
    }
  }
}

/* ---- writing ---- */

size_t gr_npy_format(char *text, gr_dtype dtype, int dimensions, const int64_t *shape) {
  if (dtype == GR_BF16) return 0;
  int at = snprintf(text, 4096, "\x93NUMPY\x01%c..{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", 0,
                    gr_size(dtype) == 1 ? '|' : own_order(), gr_dtype_letter(dtype), gr_size(dtype));
  for (int k = 0; k < dimensions; k++)
    at += snprintf(text + at, 4096 - (size_t)at, k ? ", %" PRId64 : "%" PRId64, shape[k]);
  at += snprintf(text + at, 4096 - (size_t)at, dimensions == 1 ? ",), }" : "), }");
  while ((at + 1) % 64) text[at++] = ' '; /* the data starts at a multiple of 64 */
  text[at++] = '\n';
  text[8] = (char)((at - 10) & 255);
  text[9] = (char)((at - 10) >> 8);
  return (size_t)at;
}
