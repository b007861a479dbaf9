/*
** A custom operator: its texts, read once, and what becomes of them for elements of a dtype. It lies in one block of
** memory that its owner gives.
*/
#ifndef GR_FORMULA_OPERATOR_H
#define GR_FORMULA_OPERATOR_H

#include "kernels/operator.h"
#include "src/core/formula/bind.h"

/* What its author says. Texts may hold NUL, and live no longer than the call that takes them. */
typedef struct gr_text {
  const char *text;
  size_t length;
} gr_text;
typedef struct gr_operator_texts {
  int states, results; /* results: texts of finish; 0: the states themselves */
  int ordered;
  const char *name[GR_OPERATOR_STATES]; /* of states: gr_custom_name has found them good */
  gr_text map[GR_OPERATOR_STATES], merge[GR_OPERATOR_STATES], finish[GR_OPERATOR_STATES];
  gr_number identity[GR_OPERATOR_STATES];
} gr_operator_texts;

typedef enum gr_stage { GR_STAGE_MAP, GR_STAGE_MERGE, GR_STAGE_FINISH, GR_STAGES } gr_stage;

typedef struct gr_custom {
  int32_t states, results, ordered;
  char name[GR_OPERATOR_STATES][GR_NAME_LENGTH];
  gr_number identity[GR_OPERATOR_STATES];
  gr_formula *text[GR_STAGES][GR_OPERATOR_STATES]; /* of the whole block: NULL where there is none */
  gr_expression *steps[GR_STAGES];
  int nodes[GR_STAGES];
  gr_meaning *meanings;
  int32_t made; /* op is that for elements of its dtype */
  gr_operator op;
} gr_custom;

/* Why that is no name for a state, or NULL. */
const char *gr_custom_name(const char *name, size_t length);

size_t gr_custom_room(const gr_operator_texts *);
/* u: a block of so many bytes, of zeros. GR_BAD and words that show where. */
gr_status gr_custom_read(gr_context *, gr_custom *u, const gr_operator_texts *);

/* Makes u->op for elements of that dtype, unless it is made; words say what does not fit with what. */
gr_status gr_custom_make(gr_context *, gr_custom *u, gr_dtype);

#endif
