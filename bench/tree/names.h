/* Sizes and names from the tables of dtypes and operations, for the programs beside. */
#ifndef BENCH_TREE_NAMES_H
#define BENCH_TREE_NAMES_H

#include "kernels/jobs.h"

#define GR_X(id, s, l, type, k) sizeof(type),
static const int sizes[] = {GR_DTYPES(GR_X)};
#undef GR_X
#define GR_X(id, s, l, type, k) #s,
static const char *dtypes[] = {GR_DTYPES(GR_X)};
#undef GR_X
#define GR_X(name, r, f, i, e, by) #name,
static const char *ops[] = {GR_OPS(GR_X)};
#undef GR_X

#endif
