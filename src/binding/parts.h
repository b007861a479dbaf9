/* The parts of the module: each gives a list of functions, gr_<part>_functions, which luaopen_gpureduce registers. */
#ifndef GR_L_PARTS_H
#define GR_L_PARTS_H

#include "src/binding/register.h"

/* clang-format off */
#define GR_PARTS(X)                                                                                           \
  X(array) X(make) X(reduce) X(histogram) X(histogram2d) X(scan) X(select) X(map) X(when) X(wrap) X(scope)    \
  X(file) X(device) X(ladder) X(exact) X(safe) X(explain) X(formula) X(operator) X(matrix) X(lookup)          \
  X(random) X(dlpack) X(close)
/* clang-format on */

#define GR_X(part) extern const gr_function gr_##part##_functions[];
GR_PARTS(GR_X)
#undef GR_X

/* In the registry: the metatables of histograms, which Lua parts make. */
#define GR_HISTOGRAM_NAME "gpureduce.histogram"
#define GR_HISTOGRAM2D_NAME "gpureduce.histogram2d"

#endif
