/*
** A formula on the CPU: a block of positions at a time goes through all steps by the loops of the element operators, in
** registers (blocks of elements) that stay in the first cache.
*/
#ifndef GR_CPU_BLOCK_H
#define GR_CPU_BLOCK_H

#include "kernels/formula.h"
#include "kernels/cpu/kernels_cpu.h"
#include "kernels/cpu/map/map.h"

#define GR_BLOCK_MOST 1024 /* positions of a block, and 64 at least */
#define GR_PANEL 64        /* columns that are made together, at most */
#define GR_BLOCK_OUTS (2 * GR_FORMULA_TOGETHER)

/* Where a node's elements are: somewhere in memory, or in a register (place), or in an output buffer. */
#define GR_PLACE_NONE (-1)
#define GR_PLACE_OUT (-2) /* less k: output buffer k */
typedef struct gr_source {
  const char *base; /* NULL: by its place */
  int64_t stride;   /* bytes a position; 0: always the same block */
  int32_t place;
} gr_source;

typedef struct gr_block_step {
  gr_map_step map;
  const gr_node *node;
  int operand[3]; /* in the order that the loop wants */
  gr_source from[3];
  uint8_t count, ready; /* operands; bit k: operand k needs no conversion */
} gr_block_step;

typedef struct gr_block_plan {
  const gr_formula_job *job;
  gr_block_step *steps;
  gr_source *sources;     /* of nodes */
  int32_t *last, *places; /* of nodes: the last step that reads it; places that are free, then inputs in memory */
  int32_t step_count, streams, registers, constants, outs, converts;
  int32_t block;   /* positions */
  int32_t element; /* bytes of the widest */
  int32_t out_node[GR_BLOCK_OUTS];
  char *memory; /* constants, then a set of registers for each of `sets` threads */
  int32_t sets;
  int64_t set_bytes;
  int32_t in_panels; /* of columns: positions do not follow one another, so no input is read where it lies */
} gr_block_plan;

/* The bytes that the plan of a program needs; then the plan (room: so many bytes), and what the blocks need besides. */
int64_t gr_block_plan_bytes(const gr_program *);
int64_t gr_block_make(gr_block_plan *, const gr_formula_job *, void *room, int threads);
/* The plan is ready once it has that memory, on 64 bytes. */
void gr_block_ready(gr_block_plan *, void *memory);

/*
** Memory from `at` on, at the same place in a page as the first input in memory: processors take a load for one of
** what a
** store before it wrote, and wait, when the two agree in these 12 bits. GR_BLOCK_PAGE bytes more let it be so.
*/
#define GR_BLOCK_PAGE 4096
char *gr_block_in_step(const gr_block_plan *, char *at);

/* What a thread works in; set: one of plan->sets. */
static inline char *gr_block_set(const gr_block_plan *p, int set) { return p->memory + p->set_bytes * set; }

/* Positions from .. from + m (any number) into the output buffers, from their beginning. */
void gr_block_run(const gr_block_plan *, char *set, int64_t from, int64_t m, char *const *outs);

/* The same of m positions in rows of `width` (GR_PANEL at most), which begin every `pitch` positions. */
void gr_block_rows(const gr_block_plan *, char *set, int64_t from, int64_t m, int64_t width, int64_t pitch,
                   char *const *outs);

/* The same of the first m elements of inputs that lie elsewhere, side by side: each run says where. */
void gr_block_run_on(const gr_block_plan *, char *set, const char *const *inputs, int64_t m, char *const *outs);

/* Which output buffer holds a node; -1: none, as it lies in memory as it is (gr_block_input). */
int gr_block_out_of(const gr_block_plan *, int node);
const char *gr_block_input(const gr_block_plan *, int node, int64_t from);

#endif
