#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* strtod_l */
#endif
#include "src/core/csv.h"

#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "src/core/dtype.h"

typedef enum gr_csv_state {
  ROW,    /* before the first byte of a row */
  FIELD,  /* before the first byte of a field */
  PLAIN,  /* in a field without quotes */
  QUOTED, /* in one with quotes */
  CLOSED, /* behind a quote that may have been the last */
  CR      /* behind a row that \r has ended; a \n is part of it */
} gr_csv_state;

typedef struct gr_csv_parser {
  gr_csv_state state;
  int64_t line, row_line, fields; /* fields: of this row, as far as they have ended */
  int named, keep;                /* the header is read; this field is wanted */
  char *text;                     /* what is wanted of this row: the names, or the number */
  size_t length, room;
  locale_t c; /* its numbers have a point, whatever the host's have */
  char piece[65536];
} gr_csv_parser;

/* ---- numbers ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

static int is_word(const char *s, const char *end, const char *word) {
  while (s < end && *word && lower(*s) == *word) s++, word++;
  return s == end && !*word;
}

static const char *digits(const char *s, const char *end) {
  while (s < end && *s >= '0' && *s <= '9') s++;
  return s;
}

/* Reads a whole number of 64 bits. 0: it is none, or too large and must become a double. */
static int read_whole(const char *s, const char *end, int negative, int64_t *out) {
  uint64_t v = 0, most = (uint64_t)INT64_MAX + (uint64_t)negative;
  for (; s < end; s++) {
    uint64_t d = (uint64_t)(*s - '0');
    if (v > (most - d) / 10) return 0;
    v = v * 10 + d;
  }
  *out = negative ? (int64_t)(0 - v) : (int64_t)v;
  return 1;
}

/*
** Numbers as people write them, and nan and inf; no hexadecimal digits, nothing around them but space. text ends with
** a NUL.
*/
static int read_number(const gr_csv_parser *p, const char *s, const char *end, gr_number *x) {
  while (s < end && (*s == ' ' || (*s >= '\t' && *s <= '\r'))) s++;
  while (s < end && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r'))) end--;
  const char *start = s;
  int negative = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+')) s++;
  *x = (gr_number){.whole = 0};
  if (is_word(s, end, "nan")) return x->f = gr_nan(), 1;
  if (is_word(s, end, "inf") || is_word(s, end, "infinity")) return x->f = negative ? -INFINITY : INFINITY, 1;
  const char *first = s, *dot = digits(s, end);
  s = dot < end && *dot == '.' ? digits(dot + 1, end) : dot;
  if (s - first == (s > dot)) return 0; /* no digit */
  int is_whole = s == end && dot == end;
  if (s < end && (*s == 'e' || *s == 'E')) {
    s++;
    if (s < end && (*s == '-' || *s == '+')) s++;
    const char *exponent = s;
    s = digits(s, end);
    if (s == exponent) return 0;
  }
  if (s < end) return 0;
  if (is_whole && read_whole(first, end, negative, &x->i)) {
    x->whole = 1;
    x->integer = !(negative && x->i == 0); /* -0 is a float's */
    x->f = x->integer ? (double)x->i : -0.0;
    return 1;
  }
  x->f = strtod_l(start, NULL, p->c);
  x->whole = gr_whole(x->f, &x->i);
  return 1;
}

/* ---- rows ---- */

static gr_status keep_byte(gr_context *g, gr_csv *v, char c) {
  gr_csv_parser *p = v->parser;
  if (p->length == GR_CSV_FIELD_LIMIT)
    return gr_fail(g, GR_BAD, "%" PRId64 ": %s more than %zu bytes long", p->row_line,
                   v->header && !p->named ? "the header is" : "a number is", GR_CSV_FIELD_LIMIT);
  if (p->length + 1 >= p->room) { /* there is always room for a NUL behind it */
    size_t room = p->room ? 2 * p->room : 256;
    char *more = realloc(p->text, room);
    if (!more) return gr_fail(g, GR_NO_MEMORY, "out of memory: reading a field");
    p->text = more;
    p->room = room;
  }
  p->text[p->length++] = c;
  return GR_OK;
}

static gr_status too_narrow(gr_context *g, gr_csv *v) {
  v->fault = 2;
  return gr_fail(g, GR_BAD, "has %" PRId64 " columns, column %" PRId64 " asked", v->width, v->position);
}

/* The first row of a file with a header: its names stay, and one of them may be the column. */
static gr_status take_header(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser;
  const char *at = p->text;
  p->named = 1;
  v->names = p->text;
  v->names_length = p->length;
  p->text = NULL;
  p->length = p->room = 0;
  if (!v->column) return v->position > v->width ? too_narrow(g, v) : GR_OK;
  for (int64_t k = 1; k <= v->width; k++) {
    size_t n = strlen(at);
    if (n == v->column_length && !memcmp(at, v->column, n)) return v->position = k, GR_OK;
    at += n + 1;
  }
  v->fault = 2;
  return gr_fail(g, GR_BAD, "has no column '%s'", v->column);
}

static gr_status take_element(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser;
  gr_number x;
  char element[8], why[96];
  size_t room, size = (size_t)gr_size(v->dtype);
  gr_status status = keep_byte(g, v, 0);
  if (status != GR_OK) return status;
  p->length--;
  if (!read_number(p, p->text, p->text + p->length, &x))
    return gr_fail(g, GR_BAD, "%" PRId64 ": '%.40s' is not a number", p->row_line, p->text);
  if (gr_element_store(v->dtype, element, &x, why)) return gr_fail(g, GR_BAD, "%" PRId64 ": %s", p->row_line, why);
  char *to = gr_blocks_room(&v->elements, &room);
  if (!to) return gr_fail(g, GR_NO_MEMORY, "out of memory: reading a column");
  memcpy(to, element, size);
  gr_blocks_add(&v->elements, size);
  p->length = 0;
  return GR_OK;
}

/* A field begins: whether anybody wants it. */
static void begin_field(gr_csv *v) {
  gr_csv_parser *p = v->parser;
  p->keep = v->header && !p->named ? 1 : p->fields + 1 == v->position;
}

static gr_status end_field(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser;
  p->fields++;
  return v->header && !p->named ? keep_byte(g, v, 0) : GR_OK;
}

static gr_status end_row(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser;
  if (!v->width) v->width = p->fields;
  if (p->fields != v->width)
    return gr_fail(g, GR_BAD, "%" PRId64 ": %" PRId64 " fields expected, got %" PRId64, p->row_line, v->width,
                   p->fields);
  gr_status status = v->header && !p->named   ? take_header(g, v)
                     : v->position > v->width ? too_narrow(g, v)
                                              : take_element(g, v);
  p->state = ROW;
  p->fields = 0;
  p->line++;
  return status;
}

/* The byte after a field: a separator, the end of the row, or a mistake. */
static gr_status behind(gr_context *g, gr_csv *v, char c) {
  gr_csv_parser *p = v->parser;
  if (c != v->separator && c != '\n' && c != '\r')
    return gr_fail(g, GR_BAD, "%" PRId64 ": '%c' after a field", p->line, c);
  gr_status status = end_field(g, v);
  if (c == v->separator) return p->state = FIELD, status;
  if (status == GR_OK) status = end_row(g, v);
  if (c == '\r') p->state = CR;
  return status;
}

static gr_status take_byte(gr_context *g, gr_csv *v, char c) {
  gr_csv_parser *p = v->parser;
  if (p->state == CR) {
    p->state = ROW;
    if (c == '\n') return GR_OK;
  }
  switch (p->state) {
    case ROW:
      p->row_line = p->line;
      /* fall through */
    case FIELD:
      begin_field(v);
      p->state = c == '"' ? QUOTED : PLAIN;
      if (c == '"') return GR_OK;
      /* fall through */
    case PLAIN:
      if (c == v->separator || c == '\n' || c == '\r' || c == '"') return behind(g, v, c);
      break;
    case CLOSED:
      if (c != '"') return behind(g, v, c);
      p->state = QUOTED;
      break;
    default:
      if (c == '"') return p->state = CLOSED, GR_OK;
      if (c == '\n') p->line++;
      break;
  }
  if (!p->keep) return GR_OK;
  if (!c && v->header && !p->named) return gr_fail(g, GR_BAD, "%" PRId64 ": a NUL in the header", p->line);
  return keep_byte(g, v, c);
}

/* ---- a file ---- */

gr_status gr_csv_begin(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser = calloc(1, sizeof *p);
  if (!p || !(p->c = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
    return gr_fail(g, GR_NO_MEMORY, "out of memory: reading a file");
  p->line = 1;
  v->fault = 1;
  return GR_OK;
}

gr_status gr_csv_feed(gr_context *g, gr_csv *v, const char *bytes, size_t n) {
  gr_status status = GR_OK;
  fenv_t host; /* numbers are rounded to nearest, whatever the host has set */
  fegetenv(&host);
  fesetenv(FE_DFL_ENV);
  for (size_t k = 0; k < n && status == GR_OK; k++) status = take_byte(g, v, bytes[k]);
  fesetenv(&host);
  return status;
}

gr_status gr_csv_finish(gr_context *g, gr_csv *v) {
  gr_csv_parser *p = v->parser;
  if (p->state == ROW || p->state == CR) return GR_OK;
  if (p->state == QUOTED) return gr_fail(g, GR_BAD, "%" PRId64 ": a quoted field does not end", p->row_line);
  return gr_csv_feed(g, v, "\n", 1);
}

void gr_csv_end(gr_csv *v) {
  gr_csv_parser *p = v->parser;
  if (p && p->c) freelocale(p->c);
  if (p) free(p->text);
  free(p);
  free(v->names);
  v->parser = NULL;
  v->names = NULL;
  gr_blocks_free(&v->elements);
  gr_source_close(&v->source);
}

static gr_status read_all(gr_context *g, gr_csv *v) {
  char *const piece = v->parser->piece;
  int64_t total = 0;
  size_t got;
  gr_status status = GR_OK;
  while (status == GR_OK) {
    status = gr_source_read(&v->source, piece, sizeof v->parser->piece, &got);
    if (status != GR_OK || !got) break;
    /* The byte order mark that some programs write. */
    size_t mark = total == 0 && got >= 3 && !memcmp(piece, "\xEF\xBB\xBF", 3) ? 3 : 0;
    total += (int64_t)got;
    if (v->source.bytes < 0 && total > GR_STREAM_LIMIT)
      return gr_fail(g, GR_BAD, " no end after %" PRId64 " bytes: of what is no file of its own, no more are read",
                     GR_STREAM_LIMIT);
    status = gr_csv_feed(g, v, piece + mark, got - mark);
  }
  return status == GR_OK ? gr_csv_finish(g, v) : status;
}

gr_status gr_csv_read(gr_context *g, gr_csv *v) {
  gr_status status = gr_source_open(g, &v->source, v->path);
  if (status == GR_OK) status = gr_csv_begin(g, v);
  return status == GR_OK ? read_all(g, v) : status;
}
