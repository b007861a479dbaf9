#include "src/backend/jit/shipped.h"

#include <dlfcn.h>
#include <pthread.h>
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

char *gr_shipped_text(const char *name, const char **why) {
  const gr_shipped *s = gr_shipped_texts;
  pthread_once(&zlib.once, find_zlib);
  while (s->name && strcmp(s->name, name) != 0) s++;
  *why = !s->name ? "it has no skeleton" : !zlib.uncompress ? "there is no zlib (libz.so.1)" : "out of memory";
  if (!s->name || !zlib.uncompress) return NULL;
  char *text = malloc(s->bytes + 1);
  unsigned long bytes = s->bytes;
  if (!text) return NULL;
  if (zlib.uncompress((unsigned char *)text, &bytes, s->packed, s->packed_bytes) == 0 && bytes == s->bytes) {
    text[bytes] = 0;
    return text;
  }
  *why = "what the module carries is damaged";
  free(text);
  return NULL;
}
