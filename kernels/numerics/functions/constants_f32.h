/* Constants and polynomials for f32; see constants_f64.h. */
#define EXP_HIGH 89.0f
#define EXP_LOW -104.0f
#define EXP_NORMAL 87.0f
#define INV_LN2 1.442695f
#define INV_LN2_LOW 1.925963e-08f
#define LN2_HIGH 0.6931472f
#define LN2_LOW -1.9046542e-09f
#define LN2_FIRST 0.69314575f /* 16 bits: exact times any exponent */
#define LN2_LAST 1.4286068e-06f
#define INV_LN10 0.4342945f
#define INV_LN10_LOW -1.010305e-08f
#define LOG10_2_FIRST 0.30103302f
#define LOG10_2_LAST -3.0243555e-06f
#define ROOT_HALF 0.70710678f
#define TWO_OVER_PI 0.63661975f
#define HALF_PI_1 1.5707964f
#define HALF_PI_2 -4.371139e-08f
#define HALF_PI_3 -1.7151245e-15f
#define HALF_PI_LOW -4.371139e-08f
#define PI_1 3.1415927f
#define PI_LOW -8.742278e-08f
#define QUARTER_PI_1 0.7853982f
#define QUARTER_PI_LOW -2.1855694e-08f
#define THREE_QUARTERS_1 2.3561945f
#define THREE_QUARTERS_LOW -5.9624403e-09f
#define TAN_EIGHTH 0.41421357f
#define TURN_LIMIT 131072.0f /* 2^17 */
#define ATAN_LARGE 0x1p120f
#define ATAN_DOWN 0x1p-8f
#define ATAN_SMALL 0x1p40f
#define ATAN_TINY 0x1p-24f
#define ATAN_UP 0x1p64f
#define CBRT_UP 8
#define CBRT_BIAS 43
#define CBRT_START(u) FROM(0x54a21d2au - (uint32_t)((uint64_t)u * 0x55555556u >> 32))
#define CBRT_1 0.33333334f
#define CBRT_2 0.22222222f
#define CBRT_3 0.17283951f
#define LOG_TAIL(f, square) ((f) * (f) * (f) * LOG_POLY(f))
/* (e^r - 1 - r) / r^2 by the powers of r */
#define EXP_0 0.5f
#define EXP_1 0.16666667f
#define EXP_2 0.041666478f
#define EXP_3 0.008333189f
#define EXP_4 0.0013933751f
#define EXP_5 0.00019960961f
#define EXP_TAIL(r) FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, EXP_5, EXP_4), EXP_3), EXP_2), EXP_1), EXP_0)
#define EXP2_POLY(r)                                                                                                 \
  FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, 1.4704701e-05f, 0.00015456413f), 0.0013336423f), 0.009618077f),          \
  0.055504065f), 0.2402265f), 0.6931472f)
#define LOG_POLY(f)                                                                                                  \
  FMA(f, FMA(f, FMA(f, FMA(f, FMA(f, FMA(f, FMA(f, FMA(f, 0.069146134f, -0.11788833f), 0.11872738f),                 \
  -0.123844825f), 0.14218713f), -0.16669247f), 0.20002224f), -0.24999987f), 0.3333331f)
#define SIN_POLY(z)                                                                                                  \
  FMA(z, FMA(z, -0.00019517369f, 0.008332185f), -0.16666655f)
#define COS_POLY(z)                                                                                                  \
  FMA(z, FMA(z, 2.4432025e-05f, -0.0013887308f), 0.041666646f)
#define ATAN_POLY(z)                                                                                                 \
  FMA(z, FMA(z, FMA(z, FMA(z, -0.060935427f, 0.106004834f), -0.14244549f), 0.19998534f), -0.33333316f)
#define ASIN_POLY(z)                                                                                                 \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, 0.037600957f, 0.014374673f), 0.03182588f), 0.044514578f), 0.07500518f),         \
  0.1666666f)
#define TANH_POLY(z)                                                                                                 \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, -0.00035811536f, 0.0023003586f), -0.007944985f), 0.021486098f),          \
  -0.053879693f), 0.13332345f), -0.33333296f)
/* s times the polynomial of s r, for an s that is a power of 2 */
#define EXP_SHORT(r, s)                                                                                              \
  FMA(r, FMA(r, FMA(r, FMA(r, (s) * (s) * (s) * (s) * (s) * 0.0013936578f, (s) * (s) * (s) * (s) * 0.008366736f),    \
  (s) * (s) * (s) * 0.041666448f), (s) * (s) * 0.16666542f), (s) * 0.5f)
