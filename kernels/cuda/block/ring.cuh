/*
** A ring of slots in shared memory, through which data pass from the warps that fetch to those that use them. Every
** warp goes round on its own, with a cursor of its own, and waits at the mbarriers of a slot.
**
** An mbarrier of a slot ends one phase a lap. Who uses what others do on the same lap waits for this_lap; who wants to
** do again what others must be done with since the lap before, as one who fills a slot, waits for last_lap, which a new
** mbarrier lets pass: on the first lap all slots are free. A warp must not come a whole lap early, or it takes the
** phase before for its own.
**
** A slot is filled by TMA (expect so many bytes, then gr_copy_tile: block/tma.cuh), by asynchronous copies
** (gr_copy_async, then arrive_fetched) or by stores (then arrive).
*/
#ifndef GR_CUDA_BLOCK_RING_CUH
#define GR_CUDA_BLOCK_RING_CUH

#include "kernels/cuda/block/mbarrier.cuh"

/* Where a warp is in a ring, and in which of the two phases the mbarriers of that slot are. */
struct gr_ring_cursor {
  int slot;
  unsigned phase;
  /* On by up to a lap. */
  __device__ __forceinline__ void step(int slots, int by = 1) {
    slot += by;
    if (slot >= slots) slot -= slots, phase ^= 1;
  }
  __device__ __forceinline__ unsigned this_lap() const { return phase; }
  __device__ __forceinline__ unsigned last_lap() const { return phase ^ 1; }
};

/* Slot has mbarriers and the numbers that go with the data of a slot, of which there are so many bytes. */
template <class Slot, int bytes>
struct gr_ring {
  static constexpr int slot_bytes = bytes + (int)sizeof(Slot);
  char *data;
  Slot *slots;
  int count;
  gr_ring_cursor at = {0, 0};

  __device__ __forceinline__ gr_ring(char *memory, int count)
      : data(memory), slots((Slot *)(memory + count * bytes)), count(count) {}
  __device__ __forceinline__ gr_ring(char *data, Slot *slots, int count) : data(data), slots(slots), count(count) {}
  /* Each of so many threads makes the mbarriers of one slot; a barrier of all who use them must follow. */
  template <class F>
  __device__ __forceinline__ void init(int thread, const F &init_slot) const {
    if (thread < count) init_slot(slots[thread]);
    gr_mbarriers_visible();
  }
  __device__ __forceinline__ void step(int by = 1) { at.step(count, by); }
  __device__ __forceinline__ Slot &slot() const { return slots[at.slot]; }
  __device__ __forceinline__ char *here() const { return data + at.slot * bytes; }
};

/*
** The other ring: of one warp that fetches for itself, a few groups of copies ahead. A thread waits for its own groups,
** the oldest first, so that there are no mbarriers, and no slot is refilled before its warp has read it. slots: a power
** of two.
*/
template <int slots>
struct gr_copy_ring {
  static __device__ __forceinline__ int slot(int group) { return group & (slots - 1); }
  /* The copies that this thread has asked for are a group. */
  static __device__ __forceinline__ void end_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  /* Until the oldest of `slots` groups is there; what other lanes have asked for, behind __syncwarp. */
  static __device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(slots - 1) : "memory");
#endif
  }
};

#endif
