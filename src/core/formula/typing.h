/*
** What operators do with parts of an expression: which dtype a step has, what numbers become beside arrays, and what is
** said where two do not fit. Numbers alone are computed at once, so a step has a node among its operands.
*/
#ifndef GR_FORMULA_TYPING_H
#define GR_FORMULA_TYPING_H

#include "src/core/formula/expression.h"

gr_meaning gr_means_number(gr_number);
gr_meaning gr_means_node(int node);

/* An operator of GR_MAPS; relation and to are those of compare and cast, the mask of where is z. */
gr_status gr_type_map(gr_builder *, gr_map, gr_relation relation, gr_dtype to, gr_meaning x, gr_meaning y, gr_meaning z,
                      gr_meaning *out);
/* Masks (u8, 0 or 1) of what is not zero. */
gr_status gr_type_and(gr_builder *, gr_meaning x, gr_meaning y, gr_meaning *out);
gr_status gr_type_or(gr_builder *, gr_meaning x, gr_meaning y, gr_meaning *out);
gr_status gr_type_not(gr_builder *, gr_meaning x, gr_meaning *out);
/* x ^ y; literal: y is written in the text, and small whole ones become products. */
gr_status gr_type_power(gr_builder *, gr_meaning x, gr_meaning y, int literal, gr_meaning *out);
/* As a predicate: a node of u8 that is not zero where x is not. */
gr_status gr_type_mask(gr_builder *, gr_meaning x, int *node);

#endif
