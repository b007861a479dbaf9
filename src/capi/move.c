/* Parcels: arrays on their way from one context to another. */
#include <stdlib.h>

#include "src/capi/call.h"
#include "src/core/parcel.h"

struct gpureduce_parcel {
  gr_parcel parcel;
};

gpureduce_status gpureduce_detach(gpureduce_array *a, gpureduce_parcel **out) {
  gr_capi q;
  if (!gr_capi_begin(&q, "detach", a) || !gr_capi_needs(&q, out, "out")) return gr_capi_end(&q);
  gpureduce_parcel *p = calloc(1, sizeof *p);
  gr_capi_hold(&q); /* the array may be its last */
  if (!p) gr_capi_refuse(&q, GPUREDUCE_NO_MEMORY, "out of memory: no room for a parcel");
  else {
    gr_handle_remove(a); /* while it changes */
    GR_CAPI_TRY(&q, gr_parcel_pack(&a->array, &p->parcel));
    gr_handle_add(a, GR_HANDLE_ARRAY);
  }
  if (gr_capi_end(&q) != GPUREDUCE_OK) return free(p), q.status;
  gr_handle_add(p, GR_HANDLE_PARCEL);
  *out = p;
  return GPUREDUCE_OK;
}

/* Nobody else has the parcel from now on. */
static int take_parcel(gr_capi *q, const gpureduce_parcel *p) {
  if (!gr_capi_needs(q, p, "the parcel")) return 0;
  if (gr_handle_take(p, GR_HANDLE_PARCEL)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_UNKNOWN, "there is no such parcel");
}

gpureduce_status gpureduce_attach(gpureduce_context *context, gpureduce_parcel *parcel, gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "attach", context) && gr_capi_needs(&q, out, "out") && take_parcel(&q, parcel)) {
    gpureduce_array *a = gr_capi_fresh(&q, out);
    if (a) GR_CAPI_TRY(&q, gr_parcel_open(q.c, &parcel->parcel, &a->array));
    if (q.status == GPUREDUCE_OK) free(parcel);
    else gr_handle_add(parcel, GR_HANDLE_PARCEL);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_discard(gpureduce_parcel *parcel) {
  gr_capi q = {.name = "discard"};
  if (!parcel) return GPUREDUCE_OK;
  if (!take_parcel(&q, parcel)) return q.status;
  gr_parcel_discard(&parcel->parcel);
  free(parcel);
  return GPUREDUCE_OK;
}
