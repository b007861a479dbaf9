#include "src/backend/jit/shipped.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* zlib, which every Linux has: asked for when the first formula is compiled, so that the module loads without it. */
static struct {
  pthread_once_t once;
  int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);
} zlib = {.once = PTHREAD_ONCE_INIT};

static void find_zlib(void) {
  void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library) *(void **)&zlib.uncompress = dlsym(library, "uncompress");
}

static const gr_shipped *shipped_named(const char *name) {
  const gr_shipped *s = gr_shipped_texts;
  while (s->name && strcmp(s->name, name) != 0) s++;
  return s->name ? s : NULL;
}

/* With a zero behind it. */
static char *unpack(const gr_shipped *s, const char **why) {
  char *text = malloc(s->unpacked_bytes + 1);
  unsigned long bytes = s->unpacked_bytes;
  *why = "out of memory";
  if (!text) return NULL;
  *why = "what the module carries is damaged";
  if (zlib.uncompress((unsigned char *)text, &bytes, s->packed, s->packed_bytes) == 0 && bytes == s->unpacked_bytes) {
    text[bytes] = 0;
    return text;
  }
  free(text);
  return NULL;
}

/* ---- lines by number ---- */

static struct {
  pthread_mutex_t lock;
  char *text; /* in which lines end with a zero; once it is there it stays */
  char **line;
  unsigned count;
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_lines(const char **why) {
  const gr_shipped *s = shipped_named("lines");
  unsigned count = 0;
  char *text = s ? unpack(s, why) : NULL;
  if (!text) return;
  for (char *p = text; (p = strchr(p, '\n')); p++) count++;
  char **line = malloc((count + 1) * sizeof *line);
  *why = "out of memory";
  if (!line) {
    free(text);
    return;
  }
  char *p = text;
  for (unsigned k = 0; k < count; k++) {
    line[k] = p;
    p = strchr(p, '\n');
    *p++ = 0;
  }
  lines.text = text;
  lines.line = line;
  lines.count = count;
}

static int have_lines(const char **why) {
  *why = "what the module carries is damaged";
  pthread_mutex_lock(&lines.lock);
  if (!lines.line) read_lines(why); /* again, if there was no memory for them */
  const int there = lines.line != NULL;
  pthread_mutex_unlock(&lines.lock);
  return there;
}

static unsigned next_number(const unsigned char **at, unsigned least_of_two) {
  const unsigned char *p = *at;
  const unsigned first = *p++;
  unsigned n = first;
  if (first == 255) {
    n = least_of_two + (p[0] + 256u * p[1]) * 256 + p[2];
    p += 3;
  } else if (first >= least_of_two) {
    n = least_of_two + (first - least_of_two) * 256 + *p++;
  }
  *at = p;
  return n;
}

/* A number's digits; it has few. */
static char *put_number(char *to, int64_t n) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

static char *put_line(char *to, const char *line, const unsigned char **differences, int64_t last[256]) {
  for (const char *p = line; *p; p++) {
    if (*p != 1) {
      *to++ = *p;
      continue;
    }
    const unsigned char a = (unsigned char)p[-1], b = (unsigned char)p[-2];
    int64_t *n = &last[(31 * a + b) % 256];
    const unsigned twice = next_number(differences, 240);
    *n += twice % 2 ? -(int64_t)(twice / 2) - 1 : (int64_t)(twice / 2);
    to = put_number(to, *n);
  }
  *to++ = '\n';
  return to;
}

static char *put_together(const gr_shipped *s, const char **why) {
  int64_t last[256] = {0};
  if (!have_lines(why)) return NULL;
  char *packed = unpack(s, why);
  if (!packed) return NULL;
  char *text = malloc(s->bytes + 1), *to = text;
  *why = "out of memory";
  const unsigned char *id = (unsigned char *)packed + s->ids, *differences = (unsigned char *)packed + s->differences;
  while (text && to < text + s->bytes) to = put_line(to, lines.line[next_number(&id, 192)], &differences, last);
  if (text) *to = 0;
  free(packed);
  return text;
}

char *gr_shipped_text(const char *name, const char **why) {
  const gr_shipped *s = shipped_named(name);
  pthread_once(&zlib.once, find_zlib);
  *why = !s ? "it has no skeleton" : "there is no zlib (libz.so.1)";
  if (!s || !zlib.uncompress) return NULL;
  return s->differences ? put_together(s, why) : unpack(s, why);
}
