/*
** Tuning of the CUDA backend: how it waits, copies, keeps graphs and chooses between ways. The numbers never choose
** results. Measured on one H200 and its host (docs/findings/small-calls.md, copies.md); no other machine has others.
** Figures that say "H100" are us of one H100 and its host (bench/tuning.lua, docs/adding.md): every other value was run
** beside the one in use.
*/
#ifndef GR_BACKEND_CUDA_TUNING_H
#define GR_BACKEND_CUDA_TUNING_H

/* ---- waiting ---- */

/* Looks at the mailbox before a wait pauses between them, which takes up to 50 ns: a number is in Lua 0.1 us sooner,
   together with no look at the clock meanwhile. Looks between two of those at the clock: by 16 a number of 2^14 7.37 ->
   7.24 us (H100). */
#define GR_WAIT_SPINS 4096
#define GR_WAIT_CLOCK 64
/* Nanoseconds between two questions to the stream whether it is healthy: 5000 or 20000 within 1 % (H100, 2^28). */
#define GR_WAIT_ASK 20000
/* Nanoseconds from which on a wait naps, for such a part of the time that it has lasted, and at most so long. A nap
   takes 50 us more than asked: naps after 200 us cost 20 to 45 us at 2^28 elements, after 2 ms none. The part and the
   most: 8 or 32, 20 or 50 us within 1 % (H100, 1.5 x 10^9 f64). */
#define GR_WAIT_NAPS 2000000
#define GR_WAIT_NAP_SHARE 32
#define GR_WAIT_NAP 50000
/* Nanoseconds between two looks at an event for which there is a limit: so near is a limit kept, which is given in
   seconds. */
#define GR_MARK_NAP 20000

/* ---- copies ---- */

/* Bytes up to which a copy shares small buffers, and one to the host is made by a kernel: 64 KB are there after 14.9
   us, by the copy engine after 23.8. On an H100 48 KB that were filled just before take 17.4 by a kernel and 16.4 by
   the engine. */
#define GR_COPY_SMALL ((size_t)64 << 10)
/* Pinned buffers in turn, the largest piece, which is a buffer, the smallest, pieces of a copy, and what a thread
   copies at a time. With all of it 1 GiB of pageable memory goes up at 38 to 42 GB/s and down at 28 to 38, by the
   driver's own way at 8 and 16. H100, 256 MiB up and down: by 2 buffers 8156 -> 12699 us and 8216 -> 12020; by pieces
   of 2 MiB 8058 -> 14883 and 8324 -> 11270; by 128 KiB of a thread 7575 -> 7272 and 8286 -> 8311. Of 4 MiB and 16 MiB
   down: by 8 pieces instead of 4 245 -> 332 and 472 -> 622; by 128 KiB at least 4 MiB 343 -> 361 (with 8 pieces). */
#define GR_RING 4
#define GR_COPY_PIECE ((size_t)4 << 20)
#define GR_COPY_LEAST ((size_t)256 << 10)
#define GR_COPY_PIECES 4
#define GR_COPY_SHARE ((size_t)256 << 10)

/* ---- launches ---- */

/* Graphs of a queue, each of which takes some 100 KB of the device's memory. H200, sums of 16 arrays in turn: by 12 or
   48 8.70 -> 8.83, 8.90 us. */
#define GR_MOST_GRAPHS 24
/* Of them of the same kernels with different arguments, each ready if its arguments come again (by 2, 6 arrays in turn
   8.53 -> 8.30 us, 24 8.44 -> 8.35, H100): three arrays in turn 5.59 us a sum, with one graph for all of them 6.96. */
#define GR_MOST_ALIKE 4
/* Bytes from which on a result for later has a launch of its own, and no graph: sums of f32 back to back, of 64 KB 2.95
   us by a launch and 2.5 by a graph, of 512 KB 2.96 and 3.45; var of 2^28 u8 64 and 78. H100: by a launch from 64 KB on
   sums of 128 KB 4.29 -> 5.25 us; 512 KB, which have one either way, differ by 4 %. */
#define GR_ALONE_BYTES (256 << 10)
/* Slots for results for later that are allocated at a time: they are allocated once, and used again. */
#define GR_PAGE_SLOTS 16
/* Bytes of scratch memory at first, which then doubles: so it grows a few times, then stays. */
#define GR_FIRST_SCRATCH ((size_t)1 << 20)

/* ---- ways ---- */

/* Elements for each of several vectors, up to one for each multiprocessor, from which on each has all of the device for
   its exact sum, not a block, as they are read one after the other then. H200, f32: of any number from 65536 elements
   on 100 x 100000 816 us, so 55; by 16384 4 x 100000 22.5 -> 34.5, by 8192 20 x 300000 61 -> 209. */
#define GR_LONG_VECTOR 32768
/* Bytes of a row from which on a warp for each row of a formula is taken for faster than storing the elements for the
   kernels of short rows. H200, f32 rows of (a - b)^2: by 512 65536 x 200 55.7 -> 65.4 us, by 2048 x 400 103 -> 106. */
#define GR_LEAST_ROW 1024

#endif
