/* The loops of element operators for any machine. */
#define GR_LOOPS gr_map_base
#include "kernels/cpu/map/map_loops.inc"
