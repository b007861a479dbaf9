/*
** Tuning of the skeletons that formulas fill. The numbers choose blocks, registers and rows in flight, never results.
** Measured on one H200 (docs/findings/compiled.md); no other chip has others. What is asked of the driver's compiler is
** in src/backend/jit/tuning.h. Figures that say "H100" are us of one H100 (bench/tuning.lua, docs/adding.md): every
** other value was run beside the one in use.
*/
#ifndef GR_CUDA_FORMULA_TUNING_H
#define GR_CUDA_FORMULA_TUNING_H

/* Threads of a block that stores elements, and rows of 512 bytes of a warp; C reads these, too. 128 or 256 threads:
   within 1 % (H100); fewer rows have no hole, and more are not measured. */
#define GR_STORE_THREADS 256
#define GR_STORE_ROWS 4

/* Compute capability (its first digit) from which on kernels of what is present are there (skeletons_present.cu). */
#define GR_PRESENT_LEAST 8

#ifdef __cplusplus
struct gr_formula_tuning {
  /* Registers of a thread that stores elements: by 40 f64 2^24 sqrt(a * a + b * b) 137 -> 173 us, f32 2^26 a * b + 1
     within 1 % (H100). */
  static constexpr int store_registers = 64;
  /* Rows of a leaf in a hole, so that 64 registers do, and four blocks find room. 2^28 f32, GB/s, with 8 rows and 128
     registers -> so: sum of (a - b)^2 4472 -> 4421, of sqrt(a*a + b*b) * 0.5 + a 4254 -> 4431, of abs(a - b) / (abs(b)
     + 1) 3323 -> 4356. */
  static constexpr int rows = 4;
  /* Of numbers, rows that a loop makes, one by one, of what is held, or of a ring; the same of lanes of several
     fields, which take many registers. The steps stand there once: ptxas takes 47..51 ms for the root, not 59..70.
     H100: by 2 rows instead of 4 sums of 2^26 within 1 %; by 2 of several fields instead of 1 cosine f32 2^24 of
     a * 2 43.5 -> 48.7 us; two made at once 174 -> 181. */
  static constexpr int rows_held = 4, rows_held_of_fields = 1;
  /* Of a sum with extremes beside it: as many find room, as a thread has one pair of keys. Sum, min, max and mean of
     2^26 f32 take 1.08 of the sum alone, by 2 rows 1.12 (H200). */
  static constexpr int rows_held_beside = 4;
  /* Of operators of somebody's own: rows in flight, and registers by the size of an element and the words of a state.
     Nothing spills up to four words. H200, f32 2^26 and f64 2^25: by 2 rows 104 -> 121 us, 79 -> 84, by 8 101 and 75,
     not taken, as what spills was not looked up; by 128 registers f64 79 -> 83, by 64 where there are 128 f32 108 ->
     114, f16 112 -> 144. */
  static constexpr int operator_rows = 4;
  static constexpr int operator_registers(int size, int words) { return 16 / size * words <= 8 ? 64 : 128; }
};
#endif

#endif
