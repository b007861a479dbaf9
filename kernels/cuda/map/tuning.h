/*
** Tuning of element operators, fills, copies and random numbers. Measured on one H200 (docs/findings/map.md,
** copies.md); no other chip has others.
*/
#ifndef GR_CUDA_MAP_TUNING_H
#define GR_CUDA_MAP_TUNING_H

struct gr_map_tuning {
  static constexpr int threads = 256;
  static constexpr int words = 2;         /* of a thread, loaded together: 3900 to 4440 GB/s of a copy's 4290 */
  static constexpr int wide_elements = 4; /* of a thread, of casts and what is computed in f64: 2700 to 3800 */
  static constexpr int blocks_each = 16;  /* of a multiprocessor, where blocks go round (fill, copy, random numbers) */
  static constexpr int send_threads = 1024; /* of a block that sends to the host */
};

#endif
