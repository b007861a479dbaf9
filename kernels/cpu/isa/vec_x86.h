/*
** What SSE2 and AVX2 write alike. Theirs are GR_MM, which names an instruction, GR_ORDERED and GR_UNORDERED,
** the registers vd_mm, vf_mm and vi_mm, and vd_pick and vf_pick.
*/
#ifndef GR_CPU_VEC_X86_H
#define GR_CPU_VEC_X86_H

GR_INLINE vd vd_set(double x) { return (vd)GR_MM(set1_pd)(x); }
GR_INLINE vf vf_set(float x) { return (vf)GR_MM(set1_ps)(x); }
GR_INLINE vd vd_abs(vd x) { return (vd)GR_MM(andnot_pd)(GR_MM(set1_pd)(-0.0), (vd_mm)x); }

/* z where x and y are numbers, else `other`. */
GR_INLINE vd vd_numbers(vd x, vd y, vd z, vd other) { return vd_pick(GR_ORDERED(pd, (vd_mm)x, (vd_mm)y), z, other); }
GR_INLINE vf vf_numbers(vf x, vf y, vf z, vf other) { return vf_pick(GR_ORDERED(ps, (vf_mm)x, (vf_mm)y), z, other); }

GR_INLINE void vd_store(gr_dtype t, void *p, vd x) {
  vd_store_number(t, p, vd_pick(GR_UNORDERED(pd, (vd_mm)x, (vd_mm)x), vd_set(gr_nan()), x));
}

/* For smallest and largest. Of two equal or unordered operands min and max give the second. */
#define GR_VECTOR_ORDER 1
#define GR_ZERO_ORDER 0
#define GR_GUESS_VECTORS 0
typedef vf vf_mask;
typedef vd vd_mask;
GR_INLINE vf vf_min(vf x, vf y) { return (vf)GR_MM(min_ps)((vf_mm)x, (vf_mm)y); }
GR_INLINE vd vd_min(vd x, vd y) { return (vd)GR_MM(min_pd)((vd_mm)x, (vd_mm)y); }
GR_INLINE vf vf_max(vf x, vf y) { return (vf)GR_MM(max_ps)((vf_mm)x, (vf_mm)y); }
GR_INLINE vd vd_max(vd x, vd y) { return (vd)GR_MM(max_pd)((vd_mm)x, (vd_mm)y); }
GR_INLINE vf vf_or(vf x, vf y) { return (vf)GR_MM(or_ps)((vf_mm)x, (vf_mm)y); }
GR_INLINE vd vd_or(vd x, vd y) { return (vd)GR_MM(or_pd)((vd_mm)x, (vd_mm)y); }
GR_INLINE vf vf_and(vf x, vf y) { return (vf)GR_MM(and_ps)((vf_mm)x, (vf_mm)y); }
GR_INLINE vd vd_and(vd x, vd y) { return (vd)GR_MM(and_pd)((vd_mm)x, (vd_mm)y); }
GR_INLINE vf_mask vf_no_mask(void) { return vf_set(0); }
GR_INLINE vd_mask vd_no_mask(void) { return vd_set(0); }
GR_INLINE vf_mask vf_nan(vf_mask m, vf x, vf y) { return vf_or(m, (vf)GR_UNORDERED(ps, (vf_mm)x, (vf_mm)y)); }
GR_INLINE vd_mask vd_nan(vd_mask m, vd x, vd y) { return vd_or(m, (vd)GR_UNORDERED(pd, (vd_mm)x, (vd_mm)y)); }
GR_INLINE int vf_any(vf_mask m) { return GR_MM(movemask_ps)((vf_mm)m) != 0; }
GR_INLINE int vd_any(vd_mask m) { return GR_MM(movemask_pd)((vd_mm)m) != 0; }

/* Is the sign bit set in any lane; in every lane? */
GR_INLINE int vf_any_sign(vf x) { return vf_any(x); }
GR_INLINE int vf_all_sign(vf x) { return GR_MM(movemask_ps)((vf_mm)x) == (1 << GR_WF) - 1; }
GR_INLINE int vd_any_sign(vd x) { return vd_any(x); }
GR_INLINE int vd_all_sign(vd x) { return GR_MM(movemask_pd)((vd_mm)x) == (1 << GR_W) - 1; }

/* Which of a vector's elements have these bits: bit k for element k; of 64 bits each set has its own. */
GR_INLINE unsigned gr_match32(const void *p, uint32_t bits) {
  vi_mm x;
  memcpy(&x, p, sizeof(x));
  return (unsigned)GR_MM(movemask_ps)((vf_mm)GR_MM(cmpeq_epi32)(x, GR_MM(set1_epi32)((int)bits)));
}

#endif
