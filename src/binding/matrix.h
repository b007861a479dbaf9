/* Matrices: arrays that know their rows. */
#ifndef GR_L_MATRIX_H
#define GR_L_MATRIX_H

#include "src/binding/results.h"
#include "src/core/ops.h"

/* The metatable of transposed matrices, which has all that arrays' has; that one is on top of the stack. */
void gr_l_transposed_metatable(lua_State *L, gr_context *);
/* The matrix on top of the stack is from here on its transpose. */
void gr_l_mark_transposed(lua_State *L, gr_array *);
/*
** The options rows and axis, of which a matrix needs the second alone: rows is 0 without them. How they go with other
** options is for gr_l_refuse_without_rows: those that say how to read a matrix are mistakes where none is read.
*/
gr_shape gr_l_option_shape(lua_State *L, int options, const gr_array *a);
void gr_l_refuse_without_rows(lua_State *L, int options, const gr_array *a);
/* count results of each of so many vectors, altogether: an error if that is more than any memory holds. */
int64_t gr_l_results(lua_State *L, int arg, int64_t vectors, int64_t count);
/* As the option keepdims says, results of the shape (axis as the caller has it) become a matrix. */
void gr_l_keep_dimensions(gr_array *results, int axis);

/* Whether argument `arg` lies transposed and is reduced by 'axis' alone: by the other axis of what lies there, then. */
int gr_l_reduces_transposed(lua_State *L, int arg, int options);
/* The shape that the options give, as what lies there has it. */
void gr_l_turn_shape(gr_shape *, const gr_array *a);

/*
** Where it is not so, a transposed matrix is put in order first, and then its rows are a rank's own: over ranks, 'axis'
** would mean others than it says.
*/
void gr_l_check_ranked_axis(lua_State *L, int arg, int options);

#endif
