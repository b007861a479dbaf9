/* Lookup: which element a position is, and what becomes of elements that values are put to. */
#ifndef GR_LOOKUP_H
#define GR_LOOKUP_H

#include "kernels/numerics/map.h"

/*
** The place from 0 of a position, which counts from 1, or from -1 at the end. As an unsigned number it is `length` or
** more if there is none: for 0, too.
*/
GR_FN int64_t gr_place(int64_t position, int64_t length) { return position + (position > 0 ? -1 : length); }

/*
** gr_extreme_<dtype>: the lesser (most: the greater) of what is there and a value, in the order of keys, -0 before +0.
** A NaN that is there stays as it is, and one among the values becomes the one NaN: so it does not matter in which
** order values come.
*/
#define GR_X(id, s, l, type, kind)                                                \
  GR_FN type gr_extreme_##s(type there, type value, int most) {                   \
    const int64_t last = GR_##kind == GR_FLOAT ? gr_key_inf(GR_##id) : INT64_MAX; \
    const int64_t p = gr_key_##s(there), q = gr_key_##s(value);                   \
    if (p > last || p < ~last) return there;                                      \
    if (q > last || q < ~last) return gr_f64_to_##s(gr_nan());                    \
    return (most ? q > p : q < p) ? value : there;                                \
  }
GR_DTYPES(GR_X)
#undef GR_X

#endif
