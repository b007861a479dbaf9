/* What the programs that call the C API share: checks that say where they failed, and small helpers. */
#ifndef CAPI_CHECK_H
#define CAPI_CHECK_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpureduce.h"

int luaopen_gpureduce(lua_State *);

static const char *device;
static int failures;

#define CHECK(what) \
  do { \
    if (!(what)) failures++, printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, gpureduce_error()); \
  } while (0)
#define OK(call) CHECK((call) == GPUREDUCE_OK)
/* A refusal, and what it says. */
#define NO(expected, text, call) \
  do { \
    CHECK((call) == (expected)); \
    const char *said_ = gpureduce_error(); \
    if (!strstr(said_, text)) failures++, printf("%s:%d: '%s' in '%s'\n", __FILE__, __LINE__, text, said_); \
  } while (0)

static gpureduce_context *open_one(void) {
  const gpureduce_config config = {.size = sizeof config, .device = device};
  gpureduce_context *c = NULL;
  OK(gpureduce_open(&config, &c));
  return c;
}

static gpureduce_array *numbers(gpureduce_context *c, gpureduce_dtype t, int n, const void *elements) {
  gpureduce_array *a = NULL;
  OK(gpureduce_make(c, t, n, 0, &a));
  OK(gpureduce_set(a, 0, n, elements));
  return a;
}

static double reduced(const char *op, const gpureduce_array *a, const gpureduce_array *b) {
  gpureduce_number r = {0};
  OK(gpureduce_reduce(op, a, b, NULL, &r));
  return r.whole ? (double)r.i : r.f;
}

static int holds(const gpureduce_array *a, int n, const double *expected) {
  double got[16];
  gpureduce_info info = {.size = sizeof info};
  OK(gpureduce_describe(a, &info));
  if (info.length != n || info.dtype != GPUREDUCE_F64) return 0;
  OK(gpureduce_get(a, 0, n, got));
  return memcmp(got, expected, (size_t)n * sizeof *got) == 0;
}

static int released; /* wrapped blocks that were given back */
static void release(void *user) {
  free(user);
  released++;
}

/* Nothing is left, and what failed is known: the status of the program. */
static int ended(void) {
  gpureduce_context *c = open_one();
  gpureduce_counts counts = {.size = sizeof counts};
  OK(gpureduce_usage(c, &counts));
  CHECK(counts.host == 0 && counts.device == 0 && counts.arrays == 0);
  OK(gpureduce_close(c));
  puts(failures ? "failed" : "ok");
  return failures != 0;
}

#endif
