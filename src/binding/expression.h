/* Expressions as functions meet them: in an array's place, where their elements are made when they are wanted. */
#ifndef GR_L_EXPRESSION_H
#define GR_L_EXPRESSION_H

#include "src/binding/results.h"
#include "src/core/formula/bind.h"
#include "src/core/formula/run.h"

#define GR_EXPRESSION_NAME "gpureduce.expression"

gr_expression *gr_l_test_expression(lua_State *L, int i); /* NULL if it is none */
/* Whether an expression is among the first `count` arguments. */
int gr_l_has_expression(lua_State *L, int count);
/* A block of so many bytes with the metatable, on the stack: an expression of nothing yet. */
gr_expression *gr_l_push_expression(lua_State *L, size_t bytes);

/*
** All elements of e, which argument `arg` has, as a new array on the stack. later: on the CPU they may be left for
** later (when.h).
*/
gr_array *gr_l_push_elements_later(lua_State *L, int arg, const gr_expression *e, int later);
/* The array at arg; of an expression its elements, as an array that takes its place on the stack. */
gr_array *gr_l_check_elements(lua_State *L, int arg);
/* The same of an option: left on the stack, or NULL. */
gr_array *gr_l_option_elements(lua_State *L, int arg, const char *name);
/* The option weights: an array of any dtype as long as a, left on the stack, or NULL. */
gr_array *gr_l_option_weights(lua_State *L, int arg, const gr_array *a);
/* What must hold of weights w of a: as long, on its device. */
void gr_l_check_weights(lua_State *L, int arg, const gr_array *a, const gr_array *w);
/* A mask (u8) of where it is not zero, as an array in its place. */
gr_array *gr_l_check_mask(lua_State *L, int arg);

/*
** What a reduction takes at arg: an array; or an expression and a promise of its elements, on top of the stack.
** Raises for
** all else.
*/
gr_reduced gr_l_check_reduced(lua_State *L, int arg);
/* The same of a function's argument `arg` of `count`, which stay where they are; and of an option (a NULL: none). */
gr_reduced gr_l_check_operand(lua_State *L, int arg, int count);
gr_reduced gr_l_option_operand(lua_State *L, int arg, const char *name);
/* At a call's end: the memory of elements that were stored on the way. */
void gr_l_drop_elements(lua_State *L, gr_reduced);

/*
** Its elements on the stack: in the option 'into' of the table at options, or in a new array. They may go to one of its
** inputs that is read position for position.
*/
gr_array *gr_l_evaluate(lua_State *L, gr_expression *, int options);

/* out, which option 'into' of the table at arg gave, shares nothing with what the expression reads. */
void gr_l_check_expression_apart(lua_State *L, int arg, const gr_expression *e, const gr_array *out);

/*
** " (did you mean 'sqrt'?)" goes behind the words of a failure to read a formula, before the line that shows where.
*/
void gr_l_hint_function(gr_context *);

/* As GR_TRY, of calls that read expressions (each may be NULL), whose arrays are not on the stack. */
int gr_l_again_with(lua_State *L, gr_context *, gr_status, const gr_expression *, const gr_expression *);
#define GR_TRY_WITH(L, c, arg, e, f, call)                                                         \
  do {                                                                                             \
    gr_context *c_ = (c);                                                                          \
    gr_status status_ = GR_CALL(L, c_, call);                                                      \
    if (status_ != GR_OK && gr_l_again_with(L, c_, status_, e, f)) status_ = GR_CALL(L, c_, call); \
    if (status_ != GR_OK) gr_l_raise(L, c_, status_, arg);                                         \
  } while (0)

#endif
