/* Constants and polynomials for f64, fitted to least relative error at Chebyshev points. A value in two or three
   parts is what the first lacks, again and again. */
#define EXP_HIGH 709.8
#define EXP_LOW -745.2
#define EXP_NORMAL 708.0
#define INV_LN2 1.4426950408889634
#define INV_LN2_LOW 2.0355273740931033e-17
#define LN2_HIGH 0.6931471805599453
#define LN2_LOW 2.3190468138462996e-17
#define LN2_FIRST 0.6931471805598903 /* 42 bits: exact times any exponent */
#define LN2_LAST 5.497923018708371e-14
#define INV_LN10 0.4342944819032518
#define INV_LN10_LOW 1.098319650216765e-17
#define LOG10_2_FIRST 0.30102999566395283
#define LOG10_2_LAST 2.8363394551044964e-14
#define ROOT_HALF 0.7071067811865476
#define TWO_OVER_PI 0.6366197723675814
#define HALF_PI_1 1.5707963267948966
#define HALF_PI_2 6.123233995736766e-17
#define HALF_PI_3 -1.4973849048591698e-33
#define HALF_PI_LOW 6.123233995736766e-17
#define PI_1 3.141592653589793
#define PI_LOW 1.2246467991473532e-16
#define QUARTER_PI_1 0.7853981633974483
#define QUARTER_PI_LOW 3.061616997868383e-17
#define THREE_QUARTERS_1 2.356194490192345
#define THREE_QUARTERS_LOW 9.184850993605148e-17
#define TAN_EIGHTH 0.41421356237309503
#define TURN_LIMIT 268435456.0 /* 2^28 */
#define ATAN_LARGE 0x1p900
#define ATAN_DOWN 0x1p-100
#define ATAN_SMALL 0x1p400
#define ATAN_TINY 0x1p-100
#define ATAN_UP 0x1p500
#define CBRT_UP 18
#define CBRT_BIAS 341
#define CBRT_START(u) FROM((UINT64_C(0x553eee50) - ((u >> 32) * UINT64_C(0x55555556) >> 32)) << 32)
#define CBRT_1 0.3333333333333333
#define CBRT_2 0.2222222222222222
#define CBRT_3 0.1728395061728395
#define LOG_TAIL(f, square) gr_log_tail(f, square)
#define EXP_TAIL(r)                                                                                                  \
  FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, 2.0922396511937954e-09,                      \
  2.510935628488689e-08), 2.755725013209569e-07), 2.755724336890551e-06), 2.4801587350659786e-05),                   \
  0.00019841269886877012), 0.0013888888888872884), 0.008333333333321372), 0.041666666666666685),                     \
  0.16666666666666677), 0.5)
#define EXP2_POLY(r)                                                                                                 \
  FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, FMA(r, 4.46617822065042e-10,                        \
  7.0739946621100475e-09), 1.0177981295431929e-07), 1.3215434056185123e-06), 1.525273404724801e-05),                 \
  0.00015403530459561299), 0.0013333558146154069), 0.00961812910759219), 0.05550410866482297),                       \
  0.24022650695910136), 0.6931471805599453)
#define LOG_SERIES(z)                                                                                                \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, 0.13233495346690835, 0.13252298604955196),                        \
  0.15386981732507055), 0.1818177852785033), 0.22222222604730527), 0.28571428569425694), 0.40000000000004887),       \
  0.6666666666666666)
#define SIN_POLY(z)                                                                                                  \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, 1.58951436307465e-10, -2.5050730252463292e-08), 2.7557313518135976e-06),        \
  -0.00019841269829318822), 0.008333333333321816), -0.1666666666666663)
#define COS_POLY(z)                                                                                                  \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, -1.1358506480405499e-11, 2.087570176399007e-09), -2.7557314198215274e-07),      \
  2.480158728896359e-05), -0.0013888888888873318), 0.041666666666666595)
#define ATAN_POLY(z)                                                                                                 \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, -0.017918684462002794,                       \
  0.038074971521618525), -0.05039710587804273), 0.05847978153443287), -0.06663116019422295),                         \
  0.07692061238219512), -0.09090897812948054), 0.11111110785270618), -0.1428571428022975),                           \
  0.19999999999953874), -0.333333333333332)
#define ASIN_POLY(z)                                                                                                 \
  FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, 0.032682086282909584,          \
  -0.02108554490090757), 0.021769315216365805), 0.0036806447875036615), 0.010787170117256856),                       \
  0.011397659355330832), 0.013980976169116888), 0.017351598803368395), 0.022372215737232765),                        \
  0.03038194268060161), 0.04464285717519312), 0.0749999999997017), 0.16666666666666763)
