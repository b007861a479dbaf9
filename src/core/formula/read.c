/*
** Letters and digits are ASCII's, whatever the host's locale says, and numbers have a point.
*/
#define _GNU_SOURCE 1 /* strtod_l */
#include "src/core/formula/read.h"

#include <locale.h>
#include <stdlib.h>

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Whether r is at such a text. */
static int starts(const gr_reader *r, const char *text) {
  const size_t n = strlen(text);
  return r->length - r->at >= n && !memcmp(r->text + r->at, text, n);
}

static void skip_space(gr_reader *r) {
  for (;;) {
    while (r->at < r->length && r->text[r->at] && strchr(" \t\r\n\v\f", r->text[r->at])) r->at++;
    if (!starts(r, "--")) return;
    while (r->at < r->length && r->text[r->at] != '\n') r->at++; /* a comment */
  }
}

/* Whole numbers as they are, in 64 bits (hexadecimal ones wrap); 0: it is none, or too large. */
static int read_whole(const char *p, size_t n, int64_t *out) {
  uint64_t x = 0;
  const int hex = n > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
  for (size_t k = hex ? 2 : 0; k < n; k++) {
    if (hex ? !is_hex(p[k]) : !is_digit(p[k])) return 0;
    const uint64_t digit = (uint64_t)(is_digit(p[k]) ? p[k] - '0' : (p[k] | 32) - 'a' + 10);
    if (!hex && (x > INT64_MAX / 10 || x * 10 + digit > INT64_MAX)) return 0;
    x = hex ? x << 4 | digit : x * 10 + digit;
  }
  *out = (int64_t)x;
  return 1;
}

/*
** Digits, letters, points, and a sign behind an exponent's letter, all there are: then it is a number, or it is
** none.
*/
static gr_status read_number(gr_reader *r) {
  const char *p = r->text + r->at;
  const int hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
  gr_number *x = &r->word.number;
  size_t n = 0;
  while (is_digit(p[n]) || is_letter(p[n]) || p[n] == '.' ||
         (n && (p[n] == '+' || p[n] == '-') && (p[n - 1] | 32) == (hex ? 'p' : 'e')))
    n++;
  r->word.kind = GR_WORD_NUMBER;
  r->word.length = n;
  *x = (gr_number){.whole = 1, .integer = 1};
  if (read_whole(p, n, &x->i)) {
    x->f = (double)x->i;
  } else {
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return gr_fail(r->context, GR_NO_MEMORY, "out of memory");
    *x = (gr_number){.f = strtod_l(p, &end, plain)};
    freelocale(plain);
    if (end != p + n || (hex && n < 3))
      return gr_formula_wrong(r->context, r->text, r->length, r->at, "malformed number");
    x->whole = gr_whole(x->f, &x->i);
  }
  r->at += n;
  return GR_OK;
}

static gr_status read_name(gr_reader *r) {
  gr_word *w = &r->word;
  const char *p = r->text + r->at;
  size_t n = 0;
  while (is_letter(p[n]) || is_digit(p[n])) n++;
  if (n >= GR_NAME_LENGTH)
    return gr_formula_wrong(r->context, r->text, r->length, r->at, "name of at most %d letters expected",
                            GR_NAME_LENGTH - 1);
  memcpy(w->text, p, n);
  w->text[n] = 0;
  w->length = n;
  w->kind = strcmp(w->text, "and") && strcmp(w->text, "or") && strcmp(w->text, "not") ? GR_WORD_NAME : GR_WORD_SIGN;
  r->at += n;
  return GR_OK;
}

/* What people of other languages write, and what it is called here. */
static const char *meant(const gr_reader *r) {
  static const char *const others[][2] = {{"!=", "'~='"}, {"&&", "'and'"}, {"||", "'or'"},
                                          {"!", "'not'"}, {"=", "'=='"},   {"?", "where(c, x, y)"}};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
    if (starts(r, others[k][0])) return others[k][1];
  return NULL;
}

static gr_status read_sign(gr_reader *r) {
  static const char *const signs[] = {"//", "<<", ">>", "<=", ">=", "==", "~=", "+", "-", "*", "/",
                                      "%",  "^",  "&",  "|",  "~",  "<",  ">",  "(", ")", ","};
  const int doubled = starts(r, "&&") || starts(r, "||");
  for (size_t k = 0; k < sizeof signs / sizeof signs[0] && !doubled; k++) {
    if (!starts(r, signs[k])) continue;
    r->word.kind = GR_WORD_SIGN;
    r->word.length = strlen(signs[k]);
    memcpy(r->word.text, signs[k], r->word.length + 1);
    r->at += r->word.length;
    return GR_OK;
  }
  const char *other = meant(r);
  if (other) return gr_formula_wrong(r->context, r->text, r->length, r->at, "write %s", other);
  const unsigned char c = (unsigned char)r->text[r->at];
  if (c > ' ' && c <= '~') return gr_formula_wrong(r->context, r->text, r->length, r->at, "unexpected '%c'", c);
  return gr_formula_wrong(r->context, r->text, r->length, r->at, "unexpected byte %d", c);
}

gr_status gr_reader_next(gr_reader *r) {
  skip_space(r);
  r->word.column = r->at;
  r->word.length = 0;
  r->word.text[0] = 0;
  r->word.kind = GR_WORD_END;
  if (r->at >= r->length) return GR_OK;
  const char c = r->text[r->at];
  if (is_digit(c) || (c == '.' && is_digit(r->text[r->at + 1]))) return read_number(r);
  return is_letter(c) ? read_name(r) : read_sign(r);
}
