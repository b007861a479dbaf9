/* What custom operators do. As in ops.h: callers have checked shapes, failures have words. */
#ifndef GR_FORMULA_OPERATE_H
#define GR_FORMULA_OPERATE_H

#include "src/core/formula/operator.h"
#include "src/core/formula/present.h"

/*
** Results of each vector of the shape, into arrays of their dtypes; out NULL: of the whole, as elements in the lowest
** bytes of words[k].
*/
gr_status gr_custom_reduce(gr_context *, gr_custom *, gr_shape, gr_reduced *, gr_array *const *out, uint64_t *words);

/* Where numbers go that are such words. */
static inline void gr_words_out(gr_vec *out, uint64_t *words, int count) {
  for (int k = 0; k < count; k++) {
    words[k] = 0;
    out[k] = (gr_vec){&words[k], 8, 0};
  }
}

/* Whether its device has the states of that, unless it turns out that it has not. */
int gr_custom_operates(const gr_custom *, gr_shape, const gr_array *);

/* The same of what is present of each vector, which is copied first; of all, where nothing may be missing. */
gr_status gr_custom_reduce_present(gr_context *, gr_custom *, gr_shape, const gr_partial *, gr_array *const *out,
                                   uint64_t *words);

/*
** Results of what is present of what lies over the ranks of the context's communicator, of which the operand is this
** one's part; gr_custom_ranks_each: of each column of rows that lie so, into arrays made here.
*/
gr_status gr_custom_ranks(gr_context *, gr_custom *, const gr_missing *, gr_reduced *, uint64_t *words);
gr_status gr_custom_ranks_each(gr_context *, gr_custom *, gr_shape, const gr_missing *, gr_reduced *,
                               gr_array *const *out);

/* Results at each position. */
gr_status gr_custom_scan(gr_context *, gr_custom *, const gr_array *a, gr_array *const *out, int exclusive,
                         int reverse);

/*
** The same of each vector of the shape, by itself, and of what is present of it: a missing element's place has what
** there is so far.
*/
gr_status gr_custom_scan_present(gr_context *, gr_custom *, gr_shape, const gr_partial *, gr_array *const *out,
                                 int exclusive, int reverse);

/* The options of a call in words, which ranks compare. */
#define GR_CUSTOM_OPTIONS 48
void gr_custom_options(char text[GR_CUSTOM_OPTIONS], int exclusive, int reverse, const gr_missing *);

/*
** Of what is present of a vector that lies over the ranks of the context's communicator; gr_custom_ranks_scan: of all
** of it, for who is well (mine); the options are such words.
*/
gr_status gr_custom_ranks_scan(gr_context *, gr_custom *, const gr_array *a, gr_array *const *out, int exclusive,
                               int reverse, const char *options, gr_status mine);
gr_status gr_custom_ranks_scan_present(gr_context *, gr_custom *, const gr_array *a, const gr_missing *,
                                       gr_array *const *out, int exclusive, int reverse);

/*
** Tries on samples whether the identity is one, whether the merge commutes (if it is to) and is associative; GR_BAD
** and what breaks it.
*/
gr_status gr_custom_check(gr_context *, gr_custom *);

#endif
