/* The reference as gr.help tells it: generated at build from docs/api by docs/topics.lua, which says how it is packed.
*/
#ifndef GR_REFERENCE_H
#define GR_REFERENCE_H

#include <stdint.h>

/* What a byte stands for: two bytes, which may stand for others themselves, though never in a circle; 0, 0: itself. */
extern const unsigned char gr_reference_pairs[256][2];
/* All lines that differ, packed, one after the other; and where line k ends. */
extern const unsigned char gr_reference_bytes[];
extern const uint32_t gr_reference_ends[];
/* Of each topic: how many lines it has, and the numbers of these. The first is its name, "# Scan" of a chapter. */
extern const uint16_t gr_reference_topics[];

#endif
