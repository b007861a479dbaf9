/*
** Tuning numbers of the scans. They choose grids and what is on its way, never results (a tile's elements, in scan.cuh,
** do). The figures beside them are of one H200 (docs/findings/scan.md); no other chip has numbers of its own.
*/
#ifndef GR_CUDA_SCAN_TUNING_H
#define GR_CUDA_SCAN_TUNING_H

/*
** Up to so many tiles each has a block (short.cuh), of so many writing warps: 2^18 elements 7.3 -> 5.7 us. At most a
** superblock of tiles, since a block adds up all groups before its own itself.
*/
#define GR_SCAN_SHORT 1024
#define GR_SCAN_WRITERS 8 /* warps, of two rows each; of the ring too */

/* Columns of so many elements, so many in all, have warps that go down them (down.cuh). */
#define GR_SCAN_DOWN_LEAST 256
#define GR_SCAN_DOWN_ALL (1 << 20)

/* The ring (ring.cuh). Its warps: one that loads, so many that add rows up, three that add tiles up, the writers. */
#define GR_SCAN_ADDERS 4
#define GR_SCAN_BLOCKS 2 /* a multiprocessor, where two rings of two tiles find room */
#define GR_SCAN_AHEAD 4  /* tiles asked for and not yet added up, at most: more or fewer were slower */
#define GR_SCAN_SLOTS 16 /* of a ring, at most */

#endif
