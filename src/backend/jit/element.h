/*
** What the files that write PTX share: element.c writes one element of a formula, emit.c kernels around it, holes.c
** what operators have in them.
**
** Names in what they write: %first, the position where a hole begins; %at, that of the element; %v0, %v1 ... the
** nodes' values; %l0, %l1 ... words that were loaded, %h0, %h1 ... ahead, in registers, %ring4, %ring8 and %ring16
** where in shared memory; %ok, whether the element is there; p0, the kernel's arguments. Of an operator: %x0, %x1, the
** bits of an element; %a0, %a1 ... and %m0, %m1 ... words of a left and of a right state.
*/
#ifndef GR_JIT_ELEMENT_H
#define GR_JIT_ELEMENT_H

#include "src/backend/jit/code.h"

typedef struct gr_emitter {
  const gr_jit_code *code;
  gr_text *t;
  int base;                  /* bytes of arguments before the formula's */
  int from, to;              /* which nodes: those of an operator's map, or of its merge; else all of them */
  int inside;                /* in the function of a word, not in the kernel: arguments lie at %arguments */
  int apart;                 /* all elements are made by that function */
  int size;                  /* of a result; of an operator's element */
  int words;                 /* of an operator's state */
  int wide;                  /* elements of a word, whose row is known (gr_emit_row) */
  int held;                  /* registers %h of what is loaded ahead; 0: it is not */
  int rings;                 /* rows that the rings have (rings.h); 0: there are none */
  int ring_row;              /* bytes of such a row, of all inputs and a block's threads */
  int ring_at[GR_JIT_NODES]; /* by node: where its part of a row begins */
  int labels;                /* that rings have used */
  const char *why;
  uint8_t raw[GR_JIT_NODES]; /* by node: whether its NaN may be any */
  int of_row[GR_JIT_NODES];  /* by node, if wide: where its words of %s begin */
} gr_emitter;

/* Fills in raw; first of all. */
void gr_emit_find_raw(gr_emitter *);

int gr_emit_size(const gr_emitter *, int node); /* of its element, in bytes */
int gr_emit_log2(int);                          /* of a power of two */
int gr_emit_lines(gr_emitter *);                /* of an element's steps */
void gr_emit_functions(gr_emitter *);           /* that the steps call */

/* An argument of the formula to a register: of a type as ld has it. */
void gr_emit_argument(gr_emitter *, const char *type, const char *to, int word);
const char *gr_emit_load(const gr_emitter *); /* the instruction that loads from an input */

/* 32-bit words of an input for one word of results; the type of a load of so many bytes, and where it goes to. */
int gr_emit_words_of(const gr_emitter *, int node);
const char *gr_emit_loaded(int bytes, char prefix, int first, char to[64]);

/* Whether an input is loaded by words of 16 bytes where a hole has rows. */
int gr_emit_by_words(const gr_emitter *, const gr_node *);

/*
** All nodes for the element at position %at, in registers %v. words: where the words of input nodes begin that are
** there already, and c, which of their elements it is; NULL: nothing is there. guarded: only if %ok.
*/
void gr_emit_nodes(gr_emitter *, const int *words, int c, int guarded);

/*
** What all elements of the word of results `ahead` positions after %first have from its row, and from what is one for
** each column, if the code is wide: for the elements that are made in this block. left: as gr_emit_nodes needs it for
** %ok: a register with how many elements there are from %first on, or NULL. Closed by gr_emit_row_end.
*/
void gr_emit_row(gr_emitter *, int ahead, const char *left);
void gr_emit_row_end(gr_emitter *);

/* State k of an operator to its words, which begin at `prefix` `first`: a node's value, or a number. */
void gr_emit_state(gr_emitter *, int ref, gr_dtype, const char *prefix, int first);

/* A node's value as element c of the 32-bit words `to`. */
void gr_emit_put(gr_emitter *, int node, int c, char *const *to);

#endif
