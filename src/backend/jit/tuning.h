/*
** Tuning of what is compiled: lines, and registers of a thread. The numbers choose code, never results. Measured on one
** H200 (docs/findings/compiled.md), ptxas 13.0; no other chip has others. Figures that say "H100" are us of one H100
** (bench/tuning.lua, docs/adding.md): every other value was run beside the one in use.
*/
#ifndef GR_JIT_TUNING_H
#define GR_JIT_TUNING_H

/* Lines of steps in a kernel, half of which one element may have: 16000 take the driver some 0.3 s, in which nothing
   can interrupt it. */
#define GR_JIT_MOST_LINES 16000
/* Of an operator whose steps stand in the loop: words of a state, lines of the elements of a word of input. Log-sum-exp
   of f32, which has more lines, 8248 lines and 410 ms of ptxas in the loop, 2275 and 138 in a function. Nothing spills
   up to four words; H100: by 2 words, or 100 lines, the operator of bench/tuning, of two f64, takes 113 -> 161 us for
   2^26 f32. */
#define GR_JIT_LOOP_WORDS 4
#define GR_JIT_LOOP_LINES 400

/* Registers for what is loaded ahead of the steps: four rows of two inputs, half of what a thread has where four blocks
   are on a multiprocessor. 2^28 f32, GB/s, with 8 rows and 128 registers -> so: sum of (a - b)^2 4472 -> 4421, of
   sqrt(a*a + b*b) * 0.5 + a 4254 -> 4431, of abs(a - b) / (abs(b) + 1) 3323 -> 4356; with 80 registers 4308, 4165,
   4217. */
#define GR_JIT_LOADED 32
/* Registers for what is loaded while words before are used, without rings, and of a histogram, which has few: of
   2^26 f32 256 bins of a * a + 1 take 1.02 of the time of an array's. H100, sums of 2^26 f32: by 16 (a - b)^2 182 ->
   176 us, the root within 1 %. */
#define GR_JIT_HELD 32
#define GR_JIT_HELD_FEW 16

/* From Hopper on numbers' inputs wait in shared memory instead: rows of a ring, half as many where inputs are many, and
   bytes of all rings of a block, of which four are to find room. 2^28 f32, by registers -> so: exp(a) * sin(b) 1236 ->
   824 us, the root 480 -> 476, a * a + b * b + c * c 752 -> 701; 2^26 f16 a * b + 1 78 -> 70; 2^20 root 10.2 -> 9.6. By
   2 rows, or 16 KB, the root 501, of 2^26 126 instead of 128 (H200). Bytes that a block may have of a multiprocessor,
   at least, so that four of the largest are there: 12.0 has fewer. */
#define GR_JIT_RING_ROWS 4
#define GR_JIT_RING_BYTES 32768
#define GR_JIT_RING_LEAST (4 * 45 * 1024)

/* Lines of steps that do with as many registers as the skeleton alone, and the registers of those that do not. H200,
   sums of 2^26 f32: by 120 lines exp(a) * sin(b) 197 -> 214 us, twice as long a formula 620 -> 609, by 30 a root's 118
   -> 122, by 1500 within 1 %; by 80 or 168 registers within 1 %. */
#define GR_JIT_FEW_LINES 480
#define GR_JIT_MANY_REGISTERS 128
/* Registers of few lines of the least of one formula and the greatest of another: three blocks on a multiprocessor.
   With them minmax by skipnan takes 1.09 of the plain one's time; by 64 or 128 within 1 % (H200, ends of a * b). */
#define GR_JIT_ENDS_REGISTERS 80
/* The same of positions in a vector of elements of 4 and 8 bytes, from 9.0 on: four blocks. By a mask argmax of f32
   takes 92 otherwise, and so two blocks; 24 bytes spill, none of them in the loop over leaves. Not measured. */
#define GR_JIT_POSITION_REGISTERS 64
/* The same of sum and extremes of one formula: four blocks, where what is read waits in shared memory. By 80 sum, min,
   max and mean of 2^26 f32 root 134 -> 141 us, of a * b 131.7 -> 133.3 (H200). */
#define GR_JIT_BOTH_REGISTERS 64

#endif
