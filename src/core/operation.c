#include "src/core/operation.h"

#define GR_X(name, red, f, i, empty, by) \
  {#name, GR_INPUTS_##red, GR_EMPTY_##empty == GR_EMPTY_RAISE, GR_GIVES_##f, GR_GIVES_##i},
const gr_op_info gr_ops[GR_OP_COUNT] = {GR_OPS(GR_X)};
#undef GR_X

#define GR_X(name, ...) #name,
const char *const gr_op_names[] = {GR_OPS(GR_X) NULL}, *const gr_map_names[] = {GR_MAPS(GR_X) NULL};
const char *const gr_scanned_names[] = {GR_SCANNED(GR_X) NULL}, *const gr_put_names[] = {GR_PUTS(GR_X) NULL};
#undef GR_X
#define GR_X(name, text) text,
const char *const gr_relation_names[] = {GR_RELATIONS(GR_X) NULL};
#undef GR_X

int gr_op_named(const char *name) {
  for (int k = 0; k < GR_OP_COUNT; k++)
    if (gr_same_word(name, gr_ops[k].name)) return k;
  return -1;
}

gr_dtype gr_result_dtype(gr_op op, gr_dtype dtype) {
  switch (gr_is_float(dtype) ? gr_ops[op].floats : gr_ops[op].integers) {
    case GR_GIVES_F64: return GR_F64;
    case GR_GIVES_I64: return GR_I64;
    case GR_GIVES_BOOL: return GR_U8;
    case GR_GIVES_SAME: break;
  }
  return dtype;
}
