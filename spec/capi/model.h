/*
** The model that random calls of the C API are held against (fuzz.c): handles on blocks of whole numbers, which views
** share, in some contexts without Lua and some of Lua states. Each call_... makes one call, and knows its answer.
*/
#ifndef CAPI_MODEL_H
#define CAPI_MODEL_H

#include "check.h"

/* ---- chance ---- */

static uint64_t state;
static uint64_t chance(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}
static int one_in(uint64_t n) { return chance(n) == 0; }

/* ---- the model: blocks of whole numbers, which views share; handles on them ---- */

#define MOST 40       /* handles, and as many that are gone */
#define LONGEST 30000 /* elements: some more than a chunk of 64 KiB */
#define CONTEXTS 4

typedef struct block {
  double *x;
  int refs;
} block;

typedef struct handle {
  gpureduce_array *a;
  block *data;
  gpureduce_dtype t;
  int64_t n, first, step, rows;
  int owner;    /* the context */
  int released; /* it has moved away */
  int fixed;    /* read-only */
} handle;

static handle live[MOST];
static gpureduce_array *gone[MOST];
static gpureduce_context *contexts[CONTEXTS];
static lua_State *states[CONTEXTS];
static gpureduce_parcel *parcels[4];
static handle parceled[4];
static long refusals, answers, wrapped_now;

static double *at(const handle *h, int64_t k) { return &h->data->x[h->first + k * h->step]; }

static block *new_block(int64_t n) {
  block *b = calloc(1, sizeof *b);
  b->x = calloc((size_t)n + 1, sizeof *b->x);
  b->refs = 1;
  return b;
}
static void drop_block(block *b) {
  if (--b->refs) return;
  free(b->x);
  free(b);
}

static void forget(handle *h) {
  gone[chance(MOST)] = h->a;
  drop_block(h->data);
  memset(h, 0, sizeof *h);
}

static handle *room(void) {
  for (int k = 0; k < MOST; k++)
    if (!live[k].a) return &live[k];
  handle *h = &live[chance(MOST)];
  OK(gpureduce_drop(h->a));
  forget(h);
  return h;
}

static handle *some(void) {
  for (int tries = 0; tries < 20; tries++) {
    handle *h = &live[chance(MOST)];
    if (h->a) return h;
  }
  for (int k = 0; k < MOST; k++)
    if (live[k].a) return &live[k];
  return NULL;
}

/* ---- what a call answers ---- */

static void refused_at(int line, gpureduce_status status) {
  refusals++;
  if (status > GPUREDUCE_OK && status <= GPUREDUCE_UNKNOWN && *gpureduce_error()) return;
  failures++;
  printf("line %d: status %d, '%s'\n", line, (int)status, gpureduce_error());
}
#define refused(status) refused_at(__LINE__, status)

/* One that must do as it is told; returns whether it did. */
static int fine(gpureduce_status status) {
  answers++;
  OK(status);
  return status == GPUREDUCE_OK;
}

/* A handle that is none; NULL, gone, wild, a context. */
static gpureduce_array *bad_array(void) {
  static char nothing[64];
  gpureduce_info info = {.size = sizeof info};
  gpureduce_array *a = one_in(2) ? gone[chance(MOST)] : NULL;
  if (a && gpureduce_describe(a, &info) != GPUREDUCE_UNKNOWN) a = NULL; /* its address is in use again */
  if (a) return a;
  switch (chance(4)) {
    case 0: return (gpureduce_array *)(void *)contexts[chance(CONTEXTS)];
    case 1: return (gpureduce_array *)(void *)nothing;
    case 2: return (gpureduce_array *)(size_t)(8 + chance(1 << 20));
    default: return NULL;
  }
}

static int64_t bad_number(void) {
  static const int64_t list[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, INT64_C(1) << 40, -(INT64_C(1) << 33)};
  return list[chance(sizeof list / sizeof list[0])];
}

static int64_t length(void) { return one_in(20) ? 0 : (int64_t)chance(one_in(30) ? LONGEST : 50); }

/* ---- calls that the model follows ---- */

static void adopt(handle *h, gpureduce_array *a, block *data, gpureduce_dtype t, int64_t n, int owner) {
  *h = (handle){.a = a, .data = data, .t = t, .n = n, .step = 1, .owner = owner};
}

/* Elements as they lie in memory. */
static size_t size_of(gpureduce_dtype t) {
  return t == GPUREDUCE_F64 || t == GPUREDUCE_I64 ? 8 : t == GPUREDUCE_F32 ? 4 : 1;
}
static void put(gpureduce_dtype t, void *p, int64_t k, double x) {
  if (t == GPUREDUCE_F64) ((double *)p)[k] = x;
  else if (t == GPUREDUCE_I64) ((int64_t *)p)[k] = (int64_t)x;
  else if (t == GPUREDUCE_F32) ((float *)p)[k] = (float)x;
  else ((uint8_t *)p)[k] = (uint8_t)x;
}
static double look(gpureduce_dtype t, const void *p, int64_t k) {
  if (t == GPUREDUCE_F64) return ((const double *)p)[k];
  if (t == GPUREDUCE_I64) return (double)((const int64_t *)p)[k];
  if (t == GPUREDUCE_F32) return ((const float *)p)[k];
  return ((const uint8_t *)p)[k];
}
static double element(void) { return (double)chance(4); } /* every dtype has it, and sums of all are exact */

static const gpureduce_dtype kinds[] = {GPUREDUCE_F64, GPUREDUCE_F64, GPUREDUCE_I64, GPUREDUCE_F32, GPUREDUCE_U8};

static void call_make(void) {
  handle *h = room();
  const int owner = (int)chance(CONTEXTS);
  const gpureduce_dtype t = kinds[chance(5)];
  const int64_t n = length();
  gpureduce_array *a = NULL;
  if (fine(gpureduce_make(contexts[owner], t, n, 0, &a))) adopt(h, a, new_block(n), t, n, owner);
}

static void release_memory(void *user) {
  free(user);
  wrapped_now--;
}

static void call_wrap(void) {
  handle *h = room();
  const int owner = (int)chance(CONTEXTS);
  const gpureduce_dtype t = kinds[chance(5)];
  const int64_t n = length();
  const int64_t apart = 1 + (int64_t)chance(3);
  block *data = new_block(n);
  char *memory = malloc((size_t)(n * apart) * size_of(t) + 8);
  for (int64_t k = 0; k < n; k++) put(t, memory, k * apart, data->x[k] = element());
  gpureduce_memory m = {.size = sizeof m, .dtype = t, .flags = one_in(4) ? GPUREDUCE_READONLY : 0, .data = memory,
                        .length = n, .stride = apart * (int64_t)size_of(t), .release = release_memory, .user = memory};
  gpureduce_array *a = NULL;
  wrapped_now++;
  if (fine(gpureduce_wrap(contexts[owner], &m, &a))) {
    adopt(h, a, data, t, n, owner);
    h->fixed = m.flags != 0;
  } else {
    release_memory(memory);
    drop_block(data);
  }
}

static void call_view(handle *h) {
  if (h->released || !h->n) return;
  handle from = *h;
  const int64_t step = one_in(2) ? 1 + (int64_t)chance(3) : -1 - (int64_t)chance(3);
  const int64_t first = (int64_t)chance((uint64_t)h->n);
  const int64_t most = (step > 0 ? (h->n - 1 - first) / step : first / -step) + 1;
  const int64_t count = (int64_t)chance((uint64_t)most + 1);
  gpureduce_array *a = NULL;
  if (!fine(gpureduce_view(from.a, first, step, count, &a))) return;
  from.data->refs++;
  h = room();
  *h = from;
  h->a = a;
  h->n = count;
  h->first += first * from.step;
  h->step *= step;
}

static void call_get(const handle *h) {
  char elements[LONGEST * 8];
  const int64_t first = (int64_t)chance((uint64_t)h->n + 1), count = (int64_t)chance((uint64_t)(h->n - first) + 1);
  const gpureduce_status status = gpureduce_get(h->a, first, count, elements);
  if (h->released) return refused(status);
  if (!fine(status)) return;
  for (int64_t k = 0; k < count; k++) CHECK(look(h->t, elements, k) == *at(h, first + k));
}

static void call_set(const handle *h) {
  char elements[LONGEST * 8];
  const int64_t first = (int64_t)chance((uint64_t)h->n + 1), count = (int64_t)chance((uint64_t)(h->n - first) + 1);
  double values[64];
  const int64_t some_of_them = count < 64 ? count : 64;
  for (int64_t k = 0; k < some_of_them; k++) put(h->t, elements, k, values[k] = element());
  const gpureduce_status status = gpureduce_set(h->a, first, some_of_them, elements);
  if (h->released || (h->fixed && some_of_them)) return refused(status);
  if (!fine(status)) return;
  for (int64_t k = 0; k < some_of_them; k++) *at(h, first + k) = values[k];
}

static void call_fill(const handle *h) {
  const double x = element();
  const gpureduce_status status = gpureduce_fill(h->a, (gpureduce_number){.whole = one_in(2), .i = (int64_t)x, .f = x});
  if (h->released || (h->fixed && h->n)) return refused(status);
  if (fine(status))
    for (int64_t k = 0; k < h->n; k++) *at(h, k) = x;
}

static void call_pointer(const handle *h) {
  void *p = NULL;
  const int access = 1 + (int)chance(7), writes = access != GPUREDUCE_READ;
  const int on_device = one_in(2);
  const gpureduce_status status =
      on_device ? gpureduce_device_pointer(h->a, access, NULL, &p) : gpureduce_host_pointer(h->a, access, &p);
  if (h->released || (h->fixed && writes && h->n)) return refused(status);
  if (!fine(status) || !h->n) return;
  gpureduce_info info = {.size = sizeof info};
  OK(gpureduce_describe(h->a, &info));
  for (int64_t k = 0; k < h->n; k++) {
    char *e = (char *)p + k * info.stride;
    if (access != GPUREDUCE_WHOLE && (access & (GPUREDUCE_READ | GPUREDUCE_WRITE)))
      CHECK(look(h->t, e, 0) == *at(h, k));
    if (writes) put(h->t, e, 0, *at(h, k) = (double)(k & 3));
  }
  if (on_device) OK(gpureduce_device_done(h->a, NULL));
}

static void call_reduce(const handle *h) {
  static const char *const ops[] = {"sum", "max", "min", "count", "sumsq"};
  const int op = (int)chance(5);
  gpureduce_number r = {0};
  const gpureduce_options exact = {.size = sizeof exact, .exact = 1};
  const gpureduce_status status = gpureduce_reduce(ops[op], h->a, NULL, one_in(4) ? &exact : NULL, &r);
  if (h->released || (!h->n && (op == 1 || op == 2))) return refused(status);
  if (!fine(status)) return;
  double x = op == 1 ? 0 : op == 2 ? 3 : 0;
  for (int64_t k = 0; k < h->n; k++) {
    const double e = *at(h, k);
    x = op == 0 ? x + e : op == 1 ? (e > x ? e : x) : op == 2 ? (e < x ? e : x) : op == 3 ? x + (e != 0) : x + e * e;
  }
  CHECK((r.whole ? (double)r.i : r.f) == x);
}

static void call_dot(const handle *a, const handle *b) {
  gpureduce_number r = {0};
  const gpureduce_status status = gpureduce_reduce("dot", a->a, b->a, NULL, &r);
  if (a->released || b->released || a->owner != b->owner || a->t != b->t || a->n != b->n) return refused(status);
  double x = 0;
  for (int64_t k = 0; k < a->n; k++) x += *at(a, k) * *at(b, k);
  if (status == GPUREDUCE_BAD && strstr(gpureduce_error(), "on device")) return; /* one of them came from elsewhere */
  if (fine(status)) CHECK((r.whole ? (double)r.i : r.f) == x);
}

/* The array minus itself, or compared with 2: elements stay small. */
static void call_map(const handle *h) {
  const gpureduce_operand two[2] = {{.array = h->a}, {.number = {.whole = 1, .i = 2}}}, same[2] = {two[0], two[0]};
  const int compares = one_in(2);
  gpureduce_array *a = NULL;
  const gpureduce_status status = gpureduce_map(compares ? ">=" : "sub", compares ? two : same, 2, NULL, &a);
  if (h->released) return refused(status);
  if (!fine(status)) return;
  block *data = new_block(h->n);
  const gpureduce_dtype t = compares ? GPUREDUCE_U8 : h->t;
  const int64_t n = h->n;
  const int owner = h->owner;
  for (int64_t k = 0; k < n; k++) data->x[k] = compares ? *at(h, k) >= 2 : 0;
  adopt(room(), a, data, t, n, owner);
}

static void call_copy(const handle *h) {
  gpureduce_array *a = NULL;
  const gpureduce_status status = gpureduce_copy(h->a, &a);
  if (h->released) return refused(status);
  if (!fine(status)) return;
  block *data = new_block(h->n);
  const handle from = *h;
  for (int64_t k = 0; k < from.n; k++) data->x[k] = *at(&from, k);
  adopt(room(), a, data, from.t, from.n, from.owner);
}

/* ---- moving ---- */

static void call_move(handle *h) {
  const int k = (int)chance(4), owner = (int)chance(CONTEXTS);
  if (parcels[k]) {
    gpureduce_array *a = NULL;
    if (one_in(4)) {
      OK(gpureduce_discard(parcels[k]));
      drop_block(parceled[k].data);
    } else if (fine(gpureduce_attach(contexts[owner], parcels[k], &a))) {
      handle *to = room();
      *to = parceled[k];
      to->a = a;
      to->owner = owner;
    }
    parcels[k] = NULL;
    return;
  }
  const gpureduce_status status = gpureduce_detach(h->a, &parcels[k]);
  if (h->released) return refused(status);
  if (!fine(status)) return;
  parceled[k] = *h;
  if (h->data->refs > 1) { /* somebody else sees the elements: a copy went. Else they went themselves */
    block *data = new_block(h->n);
    for (int64_t i = 0; i < h->n; i++) data->x[i] = *at(h, i);
    parceled[k].data = data;
    parceled[k].first = 0;
    parceled[k].step = 1;
    parceled[k].fixed = 0;
    drop_block(h->data);
  }
  h->data = new_block(h->n);
  h->first = 0;
  h->step = 1;
  h->released = 1;
}

/* ---- Lua ---- */

/*
** To a script and back: it sees the sum. Its value shares the elements until it is collected, so that a copy may move
** later; of what is read-only that could be told, so these stay here.
*/
static void call_lua(handle *h) {
  lua_State *L = states[h->owner];
  if (h->fixed) return;
  if (!L) return refused(gpureduce_push(states[0] ? states[0] : states[1] ? states[1] : states[2], h->a));
  const gpureduce_status status = gpureduce_push(L, h->a);
  if (h->released) return refused(status);
  if (!fine(status)) return;
  gpureduce_array *borrowed = gpureduce_test(L, -1), *kept = NULL;
  CHECK(borrowed && gpureduce_test(L, 1 - 2) == borrowed);
  refused(gpureduce_drop(borrowed));
  if (one_in(3) && fine(gpureduce_keep(borrowed, &kept))) OK(gpureduce_drop(kept));
  lua_getglobal(L, "look");
  lua_insert(L, -2);
  double sum = 0;
  for (int64_t k = 0; k < h->n; k++) sum += *at(h, k);
  CHECK(lua_pcall(L, 1, 1, 0) == 0 && lua_tonumber(L, -1) == sum);
  lua_settop(L, 0);
  if (one_in(10)) lua_gc(L, LUA_GCCOLLECT, 0);
  gone[chance(MOST)] = borrowed; /* once a script keeps it no more */
}

static const char look_text[] =
    "function look(a) if math.random(3) == 1 then kept = a end return a:sum() end";

static void open_context(int k) {
  if (k % 2) {
    contexts[k] = open_one();
    return;
  }
  lua_State *L = states[k] = luaL_newstate();
  gpureduce_config config = {.size = sizeof config, .device = device};
  luaL_openlibs(L);
  OK(gpureduce_configure(L, &config));
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 1);
  lua_setglobal(L, "gr");
  CHECK(luaL_loadstring(L, look_text) == 0 && lua_pcall(L, 0, 0, 0) == 0);
  OK(gpureduce_of_state(L, &contexts[k]));
}

/* A script that kept a handle's elements shares them for as long as it likes, so the model lets go of them, too. */
static void close_context(int k) {
  for (int i = 0; i < MOST; i++) {
    if (!live[i].a || live[i].owner != k) continue;
    if (one_in(2)) call_reduce(&live[i]);
    OK(gpureduce_drop(live[i].a));
    forget(&live[i]);
  }
  if (states[k]) lua_close(states[k]);
  else OK(gpureduce_close(contexts[k]));
  states[k] = NULL;
  refused(gpureduce_wait(contexts[k]));
  open_context(k);
}

#endif
