/* Options that say which vectors an array is: the whole, rows, columns, segments. */
#ifndef GR_L_SHAPE_H
#define GR_L_SHAPE_H

#include "src/binding/args.h"
#include "src/core/ops.h"

/*
** {segments = offsets}: m + 1 rising positions; segment k is a[offsets[k]] up to a[offsets[k + 1] - 1]. They are not
** looked at yet; their array stays on the stack. Whether the option is there.
*/
int gr_l_option_segments(lua_State *L, int arg, const gr_array *a, gr_segments *);

/*
** {into = array, at = i}, of which those are there: 'at' goes with neither rows nor segments; 'into' needs one of the
** three.
*/
void gr_l_check_places(lua_State *L, int arg, const gr_shape *, int has_at, int has_into);
int64_t gr_l_check_at(lua_State *L, int arg, const gr_array *into, int64_t at); /* from 1; raises if there is none */
/* That element, as an array which lives no longer than a call. */
gr_array gr_l_element(const gr_array *, int64_t at);

#endif
