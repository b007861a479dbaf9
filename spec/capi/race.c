/*
** Threads that share one context, its handles and one another's, and end them while others use them: no host may, and a
** checked build (make CHECKED=1) answers each call with a status: capi_race DEVICE CALLS SEED. In other builds it makes
** no calls. spec/capi_spec.lua runs it.
*/
#include "check.h"

#include <stdatomic.h>

#define THREADS 3
#define PLACES 6
#define LENGTH 40

static gpureduce_context *contexts[2];
static _Atomic(gpureduce_array *) arrays[PLACES];
static _Atomic(gpureduce_operator *) operators[2];
static _Atomic(gpureduce_future *) futures[2];
static _Atomic(gpureduce_parcel *) parcels[2];
static _Atomic long told[GPUREDUCE_UNKNOWN + 1];
static uint64_t seed;

static uint64_t chance(uint64_t *state, uint64_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 33) % below;
}

/* Every answer is one of the statuses, with words if it is a refusal. */
static int fine(gpureduce_status status) {
  if (status < GPUREDUCE_OK || status > GPUREDUCE_UNKNOWN || (status != GPUREDUCE_OK && !*gpureduce_error()))
    failures++, printf("status %d, '%s'\n", (int)status, gpureduce_error());
  else told[status]++;
  return status == GPUREDUCE_OK;
}

/* Until it is gone, whoever has ended it. */
#define END(call) \
  do { \
  } while ((call) == GPUREDUCE_BUSY)

static void keep_array(uint64_t *s, gpureduce_array *a) {
  gpureduce_array *before = atomic_exchange(&arrays[chance(s, PLACES)], a);
  END(gpureduce_drop(before));
}

static void call(uint64_t *s) {
  static const gpureduce_operator_state sum = {.name = "s", .map = "x", .merge = "s1 + s2"};
  const gpureduce_operator_states states = {.size = sizeof states, .count = 1, .states = &sum};
  gpureduce_context *c = contexts[chance(s, 2)];
  gpureduce_array *a = arrays[chance(s, PLACES)], *b = arrays[chance(s, PLACES)], *out = NULL;
  const gpureduce_input in[2] = {{.name = "a", .array = a}, {.name = "b", .array = b}};
  const gpureduce_item item = {.op = "sum", .a = a};
  gpureduce_operator *o = NULL;
  gpureduce_future *f = NULL;
  gpureduce_parcel *p = NULL;
  gpureduce_number r;
  double x[LENGTH];
  int done;
  switch (chance(s, 16)) {
    case 0: case 1: if (fine(gpureduce_make(c, GPUREDUCE_F64, LENGTH, 0, &out))) keep_array(s, out); break;
    case 2: if (fine(gpureduce_formula(c, "a + b", in, 2, -1, &out))) keep_array(s, out); break;
    case 3: fine(gpureduce_drop(a)); break;
    case 4: fine(gpureduce_reduce("dot", a, b, NULL, &r)); break;
    case 5: fine(gpureduce_get(a, 0, LENGTH, x)); break;
    case 6: if (fine(gpureduce_view(a, LENGTH - 1, -1, LENGTH, &out))) keep_array(s, out); break;
    case 7:
      if (!fine(gpureduce_detach(a, &p))) break;
      p = atomic_exchange(&parcels[chance(s, 2)], p);
      fine(gpureduce_discard(p));
      break;
    case 8: if (fine(gpureduce_attach(c, parcels[chance(s, 2)], &out))) keep_array(s, out); break;
    case 9:
      if (!fine(gpureduce_operator_make(c, &states, &o))) break;
      o = atomic_exchange(&operators[chance(s, 2)], o);
      END(gpureduce_operator_drop(o));
      break;
    case 10: fine(gpureduce_operator_drop(operators[chance(s, 2)])); break;
    case 11: fine(gpureduce_operator_reduce(operators[chance(s, 2)], a, NULL, &r)); break;
    case 12:
      if (!fine(gpureduce_start(&item, 1, &f))) break;
      f = atomic_exchange(&futures[chance(s, 2)], f);
      END(gpureduce_future_drop(f));
      break;
    case 13: fine(gpureduce_results(futures[chance(s, 2)], -1, &done, &r)); break;
    case 14: fine(gpureduce_future_drop(futures[chance(s, 2)])); break;
    default: fine(gpureduce_stop(c, 0));
  }
}

static long calls;
static void *run(void *arg) {
  uint64_t state = seed + (uint64_t)(size_t)arg;
  for (long k = 0; k < calls && !failures; k++) call(&state);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t ids[THREADS];
  if (argc != 4) return fprintf(stderr, "usage: capi_race DEVICE CALLS SEED\n"), 2;
  device = argv[1];
#ifdef GR_CHECKED
  calls = atol(argv[2]);
#endif
  seed = strtoull(argv[3], NULL, 10);
  for (int k = 0; k < 2; k++) contexts[k] = open_one();
  for (size_t k = 0; k < THREADS; k++) pthread_create(&ids[k], NULL, run, (void *)k);
  for (int k = 0; k < THREADS; k++) pthread_join(ids[k], NULL);
  for (int k = 0; k < PLACES; k++) gpureduce_drop(arrays[k]);
  for (int k = 0; k < 2; k++) {
    gpureduce_operator_drop(operators[k]);
    gpureduce_future_drop(futures[k]);
    gpureduce_discard(parcels[k]);
  }
  for (int k = 0; k < 2; k++) OK(gpureduce_close(contexts[k]));
  CHECK(calls == 0 || (told[GPUREDUCE_OK] && told[GPUREDUCE_UNKNOWN] && told[GPUREDUCE_FOREIGN]));
  return ended();
}
