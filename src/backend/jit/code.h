/*
** A formula as it is compiled: what of its program one launch needs, numbered anew, without what may change from call
** to call (numbers, addresses, lengths), which the kernel gets as arguments. Two formulas with the
** same code are the same kernel; the bytes of the code are its key.
*/
#ifndef GR_JIT_CODE_H
#define GR_JIT_CODE_H

#include "kernels/operator.h"
#include "src/backend/jit/text.h"

#define GR_JIT_NODES 512 /* of a kernel; larger formulas run step by step */
#define GR_JIT_WORDS 192 /* 8-byte arguments of a formula */

/* How the elements of an input that has one for each position are read. */
typedef enum gr_jit_way {
  GR_JIT_WORDS_OF_16, /* next to each other, from an address that is a multiple of 16: several at once */
  GR_JIT_ONE_BY_ONE
} gr_jit_way;

typedef struct gr_jit_code {
  int16_t reducer, dtype; /* of the skeleton; reducer: also one of those below */
  int16_t a, b;           /* nodes of the result, or of a pair (b < 0: no pair) */
  int16_t tally;          /* a node of u8 that is counted besides where it is not 0; < 0: none */
  int16_t count, inputs, numbers;
  uint8_t matrix;  /* rows or columns are among the inputs: 1; 2: and positions or strides are of 2^31 and more */
  uint8_t wide;    /* elements of a word are of one row, next to each other in what is one for each column */
  uint8_t changes; /* stores to an array that may be one of the inputs */
  uint8_t number;  /* of reductions: one, for the host */
  uint8_t variant; /* of histograms and scans: which of the skeletons */
  uint8_t present; /* the skeleton (gr_cuda_present) reads inputs as they lie; nodes say what that stands for */
  uint8_t early;   /* for a chip on which launches may begin early (9.0 and later) */
  uint8_t rings;   /* of a number, for a chip with shared memory for what it reads (rings.h) */
  uint8_t way[GR_FORMULA_INPUTS];
  /* Of an operator: dtypes of its states, and what gives them, operands as in gr_node. Its map's nodes come first. */
  uint8_t states, state[GR_OPERATOR_STATES];
  int16_t map_count, mapped[GR_OPERATOR_STATES], merged[GR_OPERATOR_STATES];
  gr_node nodes[GR_JIT_NODES]; /* count are used */
} gr_jit_code;

/* Other skeletons than those of one reducer: -1, -2 and so on in its place. X(id, as gr.compiled says it). */
#define GR_JIT_OTHERS(X)                                      \
  X(STORE, "elements")   /* stores the elements */            \
  X(BOTH, "SUM, MINMAX") /* sum and extremes */               \
  X(OPERATOR, "operator")                                     \
  X(ENDS, "MINMAX") /* the least of a, the greatest of b */   \
  X(COLUMNS_SUM, "columns")                                   \
  X(HISTOGRAM, "histogram") /* variant: a gr_hist_skeleton */ \
  X(SCAN, "scan")           /* variant: a gr_scan_skeleton */
enum {
#define GR_X(id, text) GR_JIT_NUMBER_##id,
  GR_JIT_OTHERS(GR_X)
#undef GR_X
};
typedef enum gr_jit_other {
#define GR_X(id, text) GR_JIT_##id = -1 - GR_JIT_NUMBER_##id,
  GR_JIT_OTHERS(GR_X)
#undef GR_X
} gr_jit_other;

static inline size_t gr_jit_code_bytes(const gr_jit_code *c) {
  return offsetof(gr_jit_code, nodes) + (size_t)c->count * sizeof(gr_node);
}

/* Places of arguments: words after those of the skeleton. */
/* The matrix's columns; 2^63 / columns, rounded up; address and stride of each input; numbers. */
enum { GR_JIT_COLUMNS, GR_JIT_INVERSE, GR_JIT_INPUT };
static inline int gr_jit_input(int k) { return GR_JIT_INPUT + 2 * k; }
static inline int gr_jit_number(const gr_jit_code *c, int k) { return GR_JIT_INPUT + 2 * c->inputs + k; }
static inline int gr_jit_words(const gr_jit_code *c) { return c->present ? 0 : gr_jit_number(c, c->numbers); }

/*
** The code for nodes of a job, as gr_jit_code has them, by such a skeleton, and the arguments of this call. 0: it has
** more nodes or arguments than a kernel.
*/
typedef struct gr_jit_asked {
  int reducer, a, b, tally, variant, present;
} gr_jit_asked;
int gr_jit_code_of(const gr_formula_job *, const gr_jit_asked *, gr_jit_code *, uint64_t words[GR_JIT_WORDS]);

/* The same of an operator: its map and its merge. */
int gr_jit_operator_code(const gr_operator *, gr_jit_code *, uint64_t words[GR_JIT_WORDS]);
/* Words of 32 bits of a state; those of a skeleton, which may be more. */
int gr_jit_state_words(const gr_jit_code *);
int gr_jit_skeleton_words(int words);

/* The PTX of a code, in *out; 0: *why says why there is none. The entry is called "formula". */
int gr_jit_ptx(const gr_jit_code *, gr_text *out, const char **why);

#endif
