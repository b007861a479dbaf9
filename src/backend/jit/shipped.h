/*
** What the module carries of PTX, written by mk/skeletons.lua and compressed as zlib does:
**
** "reduce N R D"  the skeleton of gr_reduce_leaves for reducer R and dtype D, N is 1: to one number of the host's, 0:
**               to arrays. Lines of PTX, but for
**                 @P BYTES                 the kernel's name and arguments, of which the first so many are its own
**                 @R REGISTERS             how many registers a thread may have
**                 @ROWS P : W... [: W...]  a hole of kernels/cuda/formula/hole.cuh: words of rows from P on
**                 @WORD P V : W... [: W...] and V elements of one word
**                 @HOLD N                  registers for what N rows or words of results are made of
**                 @LOAD P L                loads that for the rows from P on, of whose elements L are there
**                 @NEXT P L : W... [: W...]  makes the next of them
**                 @AHEAD P...              loads it for words at several places
**                 @APART P... : W...       makes those
**                 @ANNOUNCE P              asks for what belongs to 128 bytes of results
**                 @AWAIT_EARLIER           waits for the launches before this one (grid/dependent_launch.cuh)
**                 @LET_NEXT_START          lets the next one begin
** "present R D"  likewise, of elements that lie in memory, without those that are NaN; no holes
** "counted R D"  (kernels/cuda/formula/skeletons_present.cu); "counted": the others are counted besides
** "rows_staged R D", "rows_by_element R D", "cols_unordered R D", ...  the same kernels of those names
** "hopper NAME"  that of sums of bf16 for chips from Hopper on
** "both D"      likewise, of sum and extremes together (kernels/cuda/formula/skeletons_both.cu)
** "columns D"   gr_reduce_cols_sum of dtype D
** "gr_histogram_WAY_D", "gr_scan_LENGTH_OP_D"  those of kernels/cuda/formula/skeletons_histogram.cu and _scan.cu
** "gr_formula_store_S"  that of a kernel which stores elements of S bytes
** "gr_operator_HOW_S_W"  that of an operator of somebody's own for elements of S bytes, whose state has W words of 32
**               bits (kernels/cuda/formula/operator.cu); HOW an element's steps stand there: in a "loop", or "apart"
**                 @ELEMENT X Y P F : W...  element with the bits X, Y at position P joins state W; F: it is the first
**                 @ELEMENT X Y P F A : W...  in a function; A: where the kernel's arguments are
**                 @MERGE A : W... : V...  in a function: state V joins state W
** "steps"       the bodies of element operators, "=S NAME FUNCTIONS..." and lines of PTX, but for
**                 @I K REGISTER            operand K is expected there
**                 @O REGISTER              the result is there
**               then the functions that they call: "=F NAME FUNCTIONS..." and their lines; at the end "=".
*/
#ifndef GR_JIT_SHIPPED_H
#define GR_JIT_SHIPPED_H

/*
** "steps" and "lines" are texts as they are. Of the others several are packed together, and each line is its number
** in "lines", where a byte 1 stands for a number. ids: where the numbers of its lines begin in what is unpacked: a byte
** each, or from 192 on two, of which the first has the higher part. differences: where those numbers begin that lines
** have not: each less the last one before it of the same class, twice that, or, if it is negative, twice the rest and
** one more; in a byte, or from 240 on two, or 255 and three. The class of a number is (31 a + b) mod 256 of the two
** characters before it, a the nearer one.
*/
typedef struct gr_shipped {
  const char *name;
  const unsigned char *packed;
  unsigned long packed_bytes, unpacked_bytes;
  unsigned long bytes; /* of the text */
  unsigned long ids, differences;
} gr_shipped;

extern const gr_shipped gr_shipped_texts[]; /* the last one has no name */

/* The text of that name, in memory of its own that ends with a zero; NULL: *why says why not. */
char *gr_shipped_text(const char *name, const char **why);

#endif
