#include "src/binding/shape.h"

#include "src/binding/make.h"
#include "src/binding/results.h"

int gr_l_option_segments(lua_State *L, int arg, const gr_array *a, gr_segments *segments) {
  gr_context *c = gr_l_context(L);
  gr_array *offsets = gr_l_option_numbers(L, c, arg, "segments", a, GR_I64, "position");
  if (!offsets) return 0;
  if (offsets->dtype != GR_I64 && offsets->dtype != GR_I32)
    gr_l_argerror(L, arg, "option 'segments': dtype i64 or i32 expected, got %s", gr_dtypes[offsets->dtype].name);
  if (offsets->n < 1) gr_l_argerror(L, arg, "option 'segments': 1 or more positions expected, got 0");
  gr_l_check_device(L, a, offsets, arg);
  if (!gr_array_dense(offsets)) {
    gr_array *dense = gr_l_new_beside(L, c, offsets, offsets->dtype, offsets->n);
    GR_TRY(L, c, arg, gr_copy(c, offsets, dense));
    offsets = dense;
  }
  *segments = (gr_segments){.offsets = offsets, .count = offsets->n - 1};
  return 1;
}

void gr_l_check_places(lua_State *L, int arg, const gr_shape *shape, int has_at, int has_into) {
  const int many = shape->rows || shape->segments;
  if (has_at && many) gr_l_argerror(L, arg, "option 'at': takes no '%s'", shape->rows ? "rows" : "segments");
  if (!has_at && !many && has_into)
    gr_l_argerror(L, arg, "option 'into': only together with 'at', 'rows' or 'segments'");
}

int64_t gr_l_check_at(lua_State *L, int arg, const gr_array *into, int64_t at) {
  const int64_t from_start = at < 0 ? at + into->n + 1 : at;
  if (from_start < 1 || from_start > into->n)
    gr_l_argerror(L, arg, "option 'at': position from 1 to %lld expected, got %lld", (long long)into->n, (long long)at);
  return from_start;
}

gr_array gr_l_element(const gr_array *a, int64_t at) {
  gr_array one = *a;
  one.offset += (at - 1) * a->stride;
  one.n = 1;
  return one;
}
