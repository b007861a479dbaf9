#include "src/capi/call.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/core/dlpack.h"
#include "src/core/later.h"
#include "src/core/pool.h"

static _Thread_local char said[512];

const char *gpureduce_error(void) { return said; }

/* ---- failures ---- */

gpureduce_status gr_capi_fail(gpureduce_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(said, sizeof said, format, args);
  va_end(args);
  return status;
}

int gr_capi_refuse(gr_capi *q, gpureduce_status status, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  q->status = gr_capi_fail(status, "%s: %s", q->name, text);
  return 0;
}

_Static_assert((int)GPUREDUCE_OK == GR_OK && (int)GPUREDUCE_NO_MEMORY == GR_NO_MEMORY &&
                   (int)GPUREDUCE_DEVICE == GR_DEVICE && (int)GPUREDUCE_BAD == GR_BAD &&
                   (int)GPUREDUCE_SYSTEM == GR_SYSTEM && (int)GPUREDUCE_RELEASED == GR_RELEASED &&
                   (int)GPUREDUCE_STOPPED == GR_STOPPED,
               "statuses of the core are those of the API");
_Static_assert((int)GPUREDUCE_U8 == GR_U8 && (int)GPUREDUCE_I64 == GR_I64 && (int)GPUREDUCE_F16 == GR_F16 &&
                   (int)GPUREDUCE_F64 == GR_F64 && GR_DTYPE_COUNT == 11,
               "dtypes have the API's numbers");

/* Until the call has ended: what it drops may be the last that the context has. */
void gr_capi_hold(gr_capi *q) {
  q->c->refs++;
  q->held = 1;
}

void gr_capi_said(gr_capi *q, gr_status status) {
  if (status == GR_STOPPED) gr_storage_stopped(q->c);
  if (status == GR_OK || q->status != GPUREDUCE_OK) return;
  gr_capi_refuse(q, (gpureduce_status)status, "%s",
                 status == GR_RELEASED ? "an array of the call has been released" : q->c->error);
}

/* Whether the array was on a device that is lost, and is on the CPU from now on. */
static int leave(const gr_array *a, gr_queue *cpu) {
  gr_storage *s = a->storage;
  return s && s->queue && s->queue->lost && gr_storage_leave(s, cpu);
}

int gr_capi_again(gr_capi *q, gr_status status) {
  gr_queue *cpu = status == GR_DEVICE ? gr_context_cpu(q->c) : NULL;
  int left = 0;
  if (q->status != GPUREDUCE_OK) return 0;
  if (status == GR_NO_MEMORY) {
    gr_later_finish(q->c); /* what was left for later holds memory, too */
    gr_storage_trim(q->c);
    gr_pool_trim();
    return 1;
  }
  for (int k = 0; k < q->count && cpu; k++) left |= leave(q->arrays[k], cpu);
  for (int k = 0; k < q->lazy_count && cpu; k++) {
    const gr_expression *e = q->lazy[k].e;
    for (int i = 0; i < e->program.input_count; i++) left |= leave(&e->inputs[i], cpu);
    leave(&q->lazy[k].elements, cpu);
  }
  return left;
}

/* ---- who calls ---- */

int gr_capi_enter(gr_capi *q, gr_context *c) {
  if (gr_background_inside())
    return gr_capi_refuse(q, GPUREDUCE_BUSY, "work that was left for later is under way in this thread");
  int nobody = 0;
  while (!atomic_compare_exchange_weak_explicit(&c->entered, &nobody, GR_CALLED, memory_order_acquire,
                                                memory_order_relaxed)) {
    if (nobody == GR_CALLED || gr_dlpack_inside())
      return gr_capi_refuse(q, GPUREDUCE_BUSY, "another call of this context is under way");
    if (nobody == GR_RETURNED) sched_yield();
    nobody = 0;
  }
  q->c = c;
  q->entered = 1;
  if (c->stop.caller) return gr_capi_refuse(q, GPUREDUCE_BUSY, "a call from Lua is under way in this context");
  c->stop.known = 0;
  c->raw_count = 0;
  return 1;
}

/* All but what is written before it is read, since setting the whole struct to 0 would be half of a short call. */
static void clear(gr_capi *q, const char *name) {
  q->name = name;
  q->c = NULL;
  q->status = GPUREDUCE_OK;
  q->entered = q->held = q->count = q->lazy_count = q->fresh_count = 0;
  q->mask = NULL;
}

int gr_capi_begin_with(gr_capi *q, const char *name, gpureduce_context *context) {
  clear(q, name);
  if (!gr_capi_needs(q, context, "the context")) return 0;
  gr_handle_hold();
  const int entered = gr_handle_known(context, GR_HANDLE_CONTEXT)
                          ? gr_capi_enter(q, (gr_context *)(void *)context)
                          : gr_capi_refuse(q, GPUREDUCE_UNKNOWN, "there is no such context");
  gr_handle_let_go();
  return entered;
}

/* The handle is one of ours, and has elements. */
static int check(gr_capi *q, const gpureduce_array *a, const char *what) {
  if (!gr_capi_needs(q, a, what)) return 0;
  if (!gr_handle_known(a, GR_HANDLE_ARRAY) || (a->array.stamp & ~UINT64_C(1)) != (gr_stamp(&a->array) & ~UINT64_C(1)))
    return gr_capi_refuse(q, GPUREDUCE_UNKNOWN, "%s is no array that is alive", what);
  if (gr_array_released(&a->array)) return gr_capi_refuse(q, GPUREDUCE_RELEASED, "%s has been released", what);
  return 1;
}

const gr_expression *gr_capi_expression(const gpureduce_array *a) {
  return a->array.stamp == (gr_stamp(&a->array) ^ 1) ? a->e : NULL;
}

static int check_array(gr_capi *q, const gpureduce_array *a, const char *what) {
  if (!gr_capi_expression(a)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "%s is an expression: eval makes an array of it", what);
}

int gr_capi_begin_lazy(gr_capi *q, const char *name, const gpureduce_array *a) {
  clear(q, name);
  gr_handle_hold();
  const int entered = check(q, a, "the array") && gr_capi_enter(q, a->array.storage->context);
  gr_handle_let_go();
  if (!entered) return 0;
  if (!gr_capi_expression(a)) q->arrays[q->count++] = &a->array;
  return 1;
}

int gr_capi_begin(gr_capi *q, const char *name, const gpureduce_array *a) {
  return gr_capi_begin_lazy(q, name, a) && check_array(q, a, "the array");
}

/* The caller's from now on, or gone. */
static void hand_over(gpureduce_array *a, gpureduce_array **to) {
  if (to) {
    gr_handle_add(a, GR_HANDLE_ARRAY);
    *to = a;
  } else {
    gr_capi_forget(a);
  }
}

gpureduce_status gr_capi_end(gr_capi *q) {
  gr_context *c = q->c;
  for (int k = 0; k < q->fresh_count; k++)
    hand_over(q->fresh[k].made, q->status == GPUREDUCE_OK ? q->fresh[k].to : NULL);
  q->fresh_count = 0;
  for (int k = 0; k < q->lazy_count; k++) gr_array_release(&q->lazy[k].elements);
  q->lazy_count = 0;
  if (!q->entered) return q->status;
  c->stop.known = 0;
  c->raw_count = 0;
  if (c->abandoned && !q->held) c->refs++, q->held = 1;
  if (q->held) gr_dlpack_go(c);
  else atomic_store_explicit(&c->entered, 0, memory_order_release);
  return q->status;
}

/* ---- what with ---- */

int gr_capi_takes_lazy(gr_capi *q, const gpureduce_array *a, const char *what) {
  gr_handle_hold();
  if (check(q, a, what) && a->array.storage->context != q->c)
    gr_capi_refuse(q, GPUREDUCE_FOREIGN, "%s belongs to another context: a parcel moves it", what);
  gr_handle_let_go();
  if (q->status != GPUREDUCE_OK) return 0;
  if (q->count < GR_CAPI_ARRAYS && !gr_capi_expression(a)) q->arrays[q->count++] = &a->array;
  return 1;
}

int gr_capi_takes(gr_capi *q, const gpureduce_array *a, const char *what) {
  return gr_capi_takes_lazy(q, a, what) && check_array(q, a, what);
}

gr_reduced gr_capi_promised(gr_capi *q, gr_capi_lazy *list, int *count, const gr_expression *e) {
  for (int k = 0; k < *count; k++)
    if (list[k].e == e) return (gr_reduced){e, &list[k].elements};
  gr_capi_lazy *l = &list[*count];
  *l = (gr_capi_lazy){.e = e};
  GR_CAPI_TRY(q, gr_expression_promise(q->c, e, &l->elements));
  if (q->status != GPUREDUCE_OK) return GR_NONE;
  ++*count;
  return (gr_reduced){e, &l->elements};
}

gr_reduced gr_capi_operand(gr_capi *q, const gpureduce_array *a) {
  const gr_expression *e = gr_capi_expression(a);
  return e ? gr_capi_promised(q, q->lazy, &q->lazy_count, e) : (gr_reduced){NULL, (gr_array *)(uintptr_t)&a->array};
}

const gr_array *gr_capi_elements(gr_capi *q, const gpureduce_array *a) {
  gr_reduced r = gr_capi_operand(q, a);
  if (r.e) GR_CAPI_TRY(q, gr_reduced_eval(q->c, &r));
  return q->status == GPUREDUCE_OK ? r.a : NULL;
}

int gr_capi_needs(gr_capi *q, const void *p, const char *what) {
  return p ? 1 : gr_capi_refuse(q, GPUREDUCE_NULL, "%s is NULL", what);
}

int gr_capi_sized(gr_capi *q, const void *p, size_t size, const char *what) {
  uint32_t given;
  if (!gr_capi_needs(q, p, what)) return 0;
  memcpy(&given, p, sizeof given);
  if (given == size) return 1;
  return gr_capi_refuse(q, GPUREDUCE_VERSION, "size of %s: %zu expected, got %lu", what, size, (unsigned long)given);
}

int gr_capi_grown(gr_capi *q, const void *p, size_t first, void *own, size_t size, const char *what) {
  uint32_t given;
  if (!gr_capi_needs(q, p, what)) return 0;
  memcpy(&given, p, sizeof given);
  if (given != first && !gr_capi_sized(q, p, size, what)) return 0;
  memset(own, 0, size);
  memcpy(own, p, given);
  return 1;
}

int gr_capi_dtype(gr_capi *q, gpureduce_dtype t) {
  if ((unsigned)t < GR_DTYPE_COUNT) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "dtype from 0 to %d expected, got %lld", GR_DTYPE_COUNT - 1, (long long)t);
}

/* ---- handles ---- */

/* The lowest bit of a stamp tells the handles of hosts from the values of Lua; addresses and secrets have it even. */
gpureduce_array *gr_capi_fresh(gr_capi *q, gpureduce_array **out) {
  gpureduce_array *a = q->fresh_count < GR_CAPI_FRESH ? calloc(1, sizeof *a) : NULL;
  if (!a) {
    gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "out of memory: no room for a handle");
    return NULL;
  }
  a->array = (gr_array){.stamp = gr_stamp(&a->array) ^ 1, .storage = &gr_released};
  q->fresh[q->fresh_count].made = a;
  q->fresh[q->fresh_count++].to = out;
  return a;
}

void gr_capi_forget(gpureduce_array *a) {
  gr_handle_remove(a);
  if (a->e) {
    gr_expression_settle(a->e);
    gr_expression_release(a->e);
    free(a->e);
  }
  gr_array_settle(&a->array, 1);
  a->array.stamp = 1; /* so that release leaves a storage behind, and no handle is it any more */
  gr_array_release(&a->array);
  a->array.stamp = 0;
  free(a);
}

/* ---- results ---- */

static int same_place(const gr_array *a, const gr_array *b) {
  return a->offset == b->offset && a->stride == b->stride && a->dtype == b->dtype && a->n == b->n;
}

static int check_out(gr_capi *q, const gr_array *out, const gr_array *beside, gr_dtype t, int64_t n, int in_place) {
  if (out->dtype != t || out->n != n)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "out: %s[%lld] expected, got %s[%lld]", gr_dtypes[t].name, (long long)n,
                          gr_dtypes[out->dtype].name, (long long)out->n);
  if (beside && out->storage->queue != beside->storage->queue)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "out: array on device '%s' expected, got one on '%s'",
                          beside->storage->queue->backend->name, out->storage->queue->backend->name);
  for (int k = 0; k < q->count; k++)
    if (q->arrays[k] != out && !(in_place && same_place(out, q->arrays[k])) && gr_array_overlap(out, q->arrays[k]))
      return gr_capi_refuse(q, GPUREDUCE_BAD, "out overlaps the input");
  for (int k = 0; k < q->lazy_count; k++)
    for (int i = 0; i < q->lazy[k].e->program.input_count; i++)
      if (gr_array_overlap(out, &q->lazy[k].e->inputs[i]))
        return gr_capi_refuse(q, GPUREDUCE_BAD, "out overlaps what the expression reads");
  if (q->mask && gr_array_overlap(out, q->mask)) return gr_capi_refuse(q, GPUREDUCE_BAD, "out overlaps the mask");
  for (int k = 0; k < q->count && !in_place; k++)
    if (q->arrays[k] == out) return gr_capi_refuse(q, GPUREDUCE_BAD, "out is the input");
  return 1;
}

gr_array *gr_capi_out(gr_capi *q, gpureduce_array **out, const gr_array *beside, gr_dtype t, int64_t n, int64_t rows,
                      int in_place) {
  if (!gr_capi_needs(q, out, "out")) return NULL;
  if (*out) {
    const int before = q->count;
    if (!gr_capi_takes(q, *out, "out")) return NULL;
    q->count = before;
    return check_out(q, &(*out)->array, beside, t, n, in_place) ? &(*out)->array : NULL;
  }
  gpureduce_array *made = gr_capi_fresh(q, out);
  if (!made) return NULL;
  GR_CAPI_TRY(q, gr_array_make_beside(q->c, beside, &made->array, t, n));
  made->array.rows = rows;
  return q->status == GPUREDUCE_OK ? &made->array : NULL;
}
