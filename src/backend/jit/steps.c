#include "src/backend/jit/steps.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/backend/jit/shipped.h"

#define MOST_CALLED 16

struct gr_step_body {
  const char *name, *text; /* text ends at the next "\n=" */
  size_t bytes;
  int lines, called[MOST_CALLED], calls; /* functions by number */
};

static struct {
  pthread_mutex_t lock;
  const char *why;
  gr_step_body *bodies, *functions; /* bodies rise by name */
  int count, function_count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Bodies, or functions: the parts that begin with "=" and that letter. */
static int count_parts(const char *text, char kind) {
  int count = 0;
  for (const char *p = text; p; p = strstr(p, "\n=")) {
    if (*p == '\n') p++;
    count += p[0] == '=' && p[1] == kind;
    p++;
  }
  return count;
}

static int function_named(const char *name) {
  for (int k = 0; k < all.function_count; k++)
    if (!strcmp(all.functions[k].name, name)) return k;
  return -1;
}

/* The part whose line begins at p; its words become strings. Returns where the next one begins. */
static char *read_part(char *p, gr_step_body *b) {
  char *line = strchr(p, '\n'), *end;
  *line++ = 0;
  end = *line == '=' ? line : strstr(line, "\n=") + 1;
  *b = (gr_step_body){.text = line, .bytes = (size_t)(end - line)};
  b->name = strtok_r(p + 2, " ", &p);
  for (const char *q = line; q < end; q++) b->lines += *q == '\n';
  return end;
}

/* Names of functions that follow the name on its line, which read_part has cut off there. */
static void read_calls(gr_step_body *b) {
  char *rest = (char *)(uintptr_t)b->name + strlen(b->name) + 1;
  for (char *word; rest < b->text && (word = strtok_r(rest, " ", &rest)) && word < b->text;)
    b->called[b->calls < MOST_CALLED ? b->calls++ : MOST_CALLED - 1] = function_named(word);
}

static void read_all(void) {
  char *text = gr_shipped_text("steps", &all.why);
  if (!text) return;
  const int bodies = count_parts(text, 'S'), functions = count_parts(text, 'F');
  gr_step_body *parts = calloc((size_t)(bodies + functions), sizeof *parts);
  all.why = "out of memory";
  if (!parts) {
    free(text);
    return;
  }
  char *p = text;
  for (int k = 0; k < bodies + functions; k++) p = read_part(p, &parts[k]);
  all.functions = parts + bodies;
  all.function_count = functions;
  all.count = bodies;
  for (int k = 0; k < bodies + functions; k++) read_calls(&parts[k]);
  all.bodies = parts;
}

int gr_steps_read(const char **why) {
  pthread_mutex_lock(&all.lock);
  if (!all.bodies) read_all(); /* again, if there was no memory for them */
  *why = all.bodies ? NULL : all.why;
  pthread_mutex_unlock(&all.lock);
  return !*why;
}

static int by_name(const void *name, const void *body) {
  return strcmp((const char *)name, ((const gr_step_body *)body)->name);
}

const gr_step_body *gr_step_named(const char *name) {
  return bsearch(name, all.bodies, (size_t)all.count, sizeof *all.bodies, by_name);
}

int gr_step_lines(const gr_step_body *b) { return b->lines; }

static size_t line_at(const char *p) { return (size_t)(strchr(p, '\n') - p) + 1; }

void gr_step_paste(gr_text *t, const gr_step_body *b, const char *const in[3], const char *const from[3],
                   const char *out, const char *to) {
  const char *end = b->text + b->bytes;
  gr_text_add(t, "{\n");
  for (const char *p = b->text; p < end; p += line_at(p)) {
    const int bytes = (int)line_at(p);
    if (*p != '@' || p[2] != ' ') gr_text_bytes(t, p, (size_t)bytes);
    else if (p[1] == 'I') gr_text_add(t, "mov.%s %.*s, %s;\n", in[p[3] - '0'], bytes - 6, p + 5, from[p[3] - '0']);
    else gr_text_add(t, "mov.%s %s, %.*s;\n", out, to, bytes - 4, p + 3);
  }
  gr_text_add(t, "}\n");
}

int gr_step_functions(void) { return all.function_count; }

void gr_step_call(gr_text *t, const gr_step_body *b, char *given) {
  for (int k = 0; k < b->calls; k++) { /* needed ones come first */
    const int f = b->called[k];
    if (f < 0 || given[f]) continue;
    given[f] = 1;
    gr_text_bytes(t, all.functions[f].text, all.functions[f].bytes);
  }
}
