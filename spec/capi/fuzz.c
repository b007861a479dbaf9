/*
** Random calls of the C API beside a model (model.h, lazy.h), with all the mistakes that a host can make: capi_fuzz
** DEVICE CALLS SEED. Handles are passed after their end, from other contexts, NULL and wild; structs have wrong sizes,
** enumerations and numbers wrong values. Every call must answer what the model says, or refuse with a text. Only a
** checked build knows handles that are gone: make fuzz-capi.
*/
#include "lazy.h"

/* ---- mistakes ---- */

/* An array that is none where one is asked for, first or second. */
static void misuse_array(handle *h) {
  gpureduce_array *bad = bad_array(), *out = NULL;
  gpureduce_number r[2];
  gpureduce_info info = {.size = sizeof info};
  gpureduce_parcel *parcel = NULL;
  int equal;
  void *p = NULL;
  const gpureduce_operand two[2] = {{.array = bad}, {.array = h->a}};
  const gpureduce_operand other[2] = {{.array = h->a}, {.array = bad ? bad : (void *)contexts[0]}};
  const gpureduce_options segments = {.size = sizeof segments, .segments = bad ? bad : (void *)contexts[0]};
  switch (chance(15)) {
    case 0: refused(gpureduce_reduce("sum", bad, NULL, NULL, r)); break;
    case 1: refused(gpureduce_reduce("dot", h->a, bad, NULL, r)); break;
    case 2: refused(gpureduce_reduce_each("sum", h->a, NULL, &segments, &out, NULL)); break;
    case 3: refused(gpureduce_map("add", bad ? two : other, 2, NULL, &out)); break;
    case 4: refused(gpureduce_map("add", other, 2, NULL, &out)); break;
    case 5: refused(gpureduce_keep(bad, &out)); break;
    case 6: refused(gpureduce_describe(bad, &info)); break;
    case 7: refused(gpureduce_view(bad, 0, 1, 1, &out)); break;
    case 8: refused(gpureduce_host_pointer(bad, GPUREDUCE_READ, &p)); break;
    case 9: refused(gpureduce_equal(h->a, bad, &equal)); break;
    case 10: refused(gpureduce_detach(bad, &parcel)); break;
    case 11: refused(gpureduce_push(states[0] ? states[0] : states[2], bad)); break;
    case 12: refused(gpureduce_take(h->a, bad, &out)); break;
    case 13: refused(gpureduce_put("set", h->a, bad, two[1])); break;
    default:
      if (bad) refused(gpureduce_drop(bad));
      else OK(gpureduce_drop(bad));
  }
  CHECK(!out && !parcel);
}

/* Names, structs and numbers that are none. */
static void misuse_rest(handle *h) {
  gpureduce_context *c = contexts[chance(CONTEXTS)], *fresh = NULL;
  gpureduce_array *out = NULL, *edges = NULL;
  gpureduce_number r[2];
  const gpureduce_operand one[1] = {{.array = h->a}};
  gpureduce_options o = {.size = sizeof o};
  gpureduce_config config = {.size = sizeof config, .device = device};
  gpureduce_memory m = {.size = sizeof m, .dtype = GPUREDUCE_F32, .data = r, .length = 1};
  gpureduce_binning b = {.size = sizeof b, .bins = 4};
  double share = chance(2) ? -1 : NAN;
  char elements[8] = {0};
  switch (chance(30)) {
    case 0: refused(gpureduce_reduce("nosuch", h->a, NULL, NULL, r)); break;
    case 1: refused(gpureduce_reduce(NULL, h->a, NULL, NULL, r)); break;
    case 2: refused(gpureduce_reduce("sum", h->a, NULL, NULL, NULL)); break;
    case 3: refused(gpureduce_reduce("sum", h->a, h->a, NULL, r)); break;
    case 4:
      o.size = (uint32_t)chance(500) + 1;
      if (o.size == sizeof o || o.size == offsetof(gpureduce_options, mask)) o.size = 0;
      refused(gpureduce_reduce("sum", h->a, NULL, &o, r)); break;
    case 5:
      o.rows = bad_number();
      if (h->n && o.rows != -1) refused(gpureduce_reduce_each("sum", h->a, NULL, &o, &out, NULL));
      break;
    case 6: o.axis = 3 + (int)chance(9); o.rows = 1; refused(gpureduce_scan("sum", h->a, &o, &out)); break;
    case 7: o.ddof = NAN; refused(gpureduce_reduce("var", h->a, NULL, &o, r)); break;
    case 8: o.eps = 1; refused(gpureduce_softmax(h->a, &o, &out)); break;
    case 9: refused(gpureduce_map("add", one, 1, NULL, &out)); break;
    case 10: refused(gpureduce_map("neg", one, (int)bad_number(), NULL, &out)); break;
    case 11: refused(gpureduce_map(NULL, one, 1, NULL, &out)); break;
    case 12: refused(gpureduce_map("neg", NULL, 1, NULL, &out)); break;
    case 13: o.dtype = (gpureduce_dtype)(11 + chance(100)); refused(gpureduce_map("cast", one, 1, &o, &out)); break;
    case 14: refused(gpureduce_view(h->a, bad_number(), 1, 1, &out)); break;
    case 15: refused(gpureduce_view(h->a, 0, 1, bad_number(), &out)); break;
    case 16: refused(gpureduce_view(h->a, 0, 0, 1, &out)); break;
    case 17: refused(gpureduce_get(h->a, bad_number(), 1, elements)); break;
    case 18: refused(gpureduce_get(h->a, 0, bad_number(), elements)); break;
    case 19: refused(gpureduce_set(h->a, bad_number(), 0, elements)); break;
    case 20: refused(gpureduce_host_pointer(h->a, (int)chance(100) + 8, (void **)&out)); break;
    case 21: refused(gpureduce_make(c, (gpureduce_dtype)(11 + chance(1000)), 1, 0, &out)); break;
    case 22: refused(gpureduce_make(c, GPUREDUCE_F64, one_in(2) ? -1 : INT64_MAX, 0, &out)); break;
    case 23: config.size = (uint32_t)chance(64); refused(gpureduce_open(&config, &fresh)); break;
    case 24: m.size = (uint32_t)chance(64); refused(gpureduce_wrap(c, &m, &out)); break;
    case 25:
      m.length = bad_number();
      m.stride = 4 << chance(20);
      if (m.length > INT64_MAX / 4 / m.stride || m.length < 0) refused(gpureduce_wrap(c, &m, &out));
      break;
    case 26:
      m.stride = -4 + (int64_t)chance(7);
      if (m.stride) refused(gpureduce_wrap(c, &m, &out));
      break;
    case 27:
      b.bins = bad_number();
      b.min = one_in(2) ? NAN : 0;
      b.max = 1;
      refused(gpureduce_histogram(h->a, &b, &out, &edges));
      break;
    case 28: refused(gpureduce_quantiles(h->a, &share, 1, NULL, r)); break;
    default: refused(gpureduce_use(c, one_in(2) ? NULL : "nosuch"));
  }
  CHECK(!fresh && !edges);
}

/* Into an array that does not fit, or belongs elsewhere, or is the input. */
static void misuse_out(handle *h, const handle *other) {
  gpureduce_array *out = other->a;
  const gpureduce_operand one[1] = {{.array = h->a}};
  if (h->released || (!other->released && h->owner == other->owner && other->n == h->n)) return;
  refused(gpureduce_map("neg", one, 1, NULL, &out));
  CHECK(out == other->a);
}

/* Calls whose answers the model does not follow: any, but with a text when they refuse. */
static void call_any(const handle *h) {
  gpureduce_array *out = NULL, *more = NULL;
  gpureduce_number r[4];
  const double shares[3] = {0, 0.25, 1};
  const gpureduce_options rows = {.size = sizeof rows, .rows = 1 + (int64_t)chance(4), .axis = 1 + (int)chance(2)};
  const gpureduce_binning b = {.size = sizeof b, .bins = 1 + (int64_t)chance(40), .min = 0, .max = 3};
  static const char *const ops[] = {"mean", "var", "argmax", "any", "all", "norm2", "logsumexp", "minmax", "prod"};
  gpureduce_status status = GPUREDUCE_OK;
  switch (chance(10)) {
    case 0: status = gpureduce_reduce(ops[chance(9)], h->a, NULL, NULL, r); break;
    case 1: status = gpureduce_reduce_each(ops[chance(9)], h->a, NULL, &rows, &out, &more); break;
    case 2: status = gpureduce_scan("max", h->a, &rows, &out); break;
    case 3: status = gpureduce_histogram(h->a, &b, &out, &more); break;
    case 4: status = gpureduce_quantiles(h->a, shares, 3, one_in(2) ? "nearest" : NULL, r); break;
    case 5: status = gpureduce_softmax(h->a, NULL, &out); break;
    case 6: status = gpureduce_covariance(h->a, &rows, one_in(2), &out); break;
    case 7: status = gpureduce_matrix(h->a, rows.rows, &out); break;
    case 8: status = gpureduce_compact(h->a, h->a, &out); break;
    default: status = gpureduce_take(h->a, h->a, &out);
  }
  if (status == GPUREDUCE_OK) answers++;
  else refused(status);
  OK(gpureduce_drop(out));
  OK(gpureduce_drop(more));
}

static void call(void) {
  handle *h = some();
  if (!h || one_in(12)) return one_in(3) ? call_wrap() : call_make();
  switch (chance(30)) {
    case 20: case 21: call_formula(h); break;
    case 22: case 23: call_lazy(); break;
    case 24: call_missing(h, some()); break;
    case 25: call_many(h); break;
    case 26: call_operator(h); break;
    case 27: misuse_more(h); break;
    case 28: case 29: call_more(h); break;
    case 0: call_view(h); break;
    case 1: call_get(h); break;
    case 2: call_set(h); break;
    case 3: call_fill(h); break;
    case 4: call_pointer(h); break;
    case 5: case 6: call_reduce(h); break;
    case 7: call_dot(h, some()); break;
    case 8: call_map(h); break;
    case 9: call_copy(h); break;
    case 10: call_move(h); break;
    case 11: call_lua(h); break;
    case 12: case 13: misuse_array(h); break;
    case 14: case 15: misuse_rest(h); break;
    case 16: misuse_out(h, some()); break;
    case 17: call_any(h); break;
    default:
      OK(gpureduce_drop(h->a));
      forget(h);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: capi_fuzz DEVICE CALLS SEED\n"), 2;
  const long calls = atol(argv[2]);
  device = argv[1];
  state = strtoull(argv[3], NULL, 10);
  for (int k = 0; k < CONTEXTS; k++) open_context(k);
  long done = 0;
  for (; done < calls && !failures; done++) {
    call();
    if (!one_in(5000)) continue;
    const int k = (int)chance(CONTEXTS);
    drop_lazies(k, 0);
    close_context(k);
    drop_lazies(k, 1);
  }
  for (int k = 0; k < MOST; k++) {
    if (!live[k].a) continue;
    OK(gpureduce_drop(live[k].a));
    drop_block(live[k].data);
  }
  for (int k = 0; k < 4; k++) {
    if (!parcels[k]) continue;
    OK(gpureduce_discard(parcels[k]));
    drop_block(parceled[k].data);
  }
  for (int k = 0; k < CONTEXTS; k++) drop_lazies(k, 1);
  for (int k = 0; k < CONTEXTS; k++) {
    if (states[k]) lua_close(states[k]);
    else OK(gpureduce_close(contexts[k]));
  }
  CHECK(wrapped_now == 0);
  printf("%ld calls on %s, seed %s: %ld answered, %ld refused\n", done, device, argv[3], answers, refusals);
  return ended();
}
