/* round(x / scale) + zero_point in binary floating point, exactly, without a division and without a tolerance.
 *
 * Let t be an integer next to the real quotient Q = x / scale: the nearest one, or where Q lies close to the middle of
 * two either of them. Rounding x * (1 / scale) finds one, since the two roundings move Q by less than 1/4 for all |Q|
 * that occur here. Then the rest r = x - t * scale, rounded once by fma, is exact:
 *   - r is a whole multiple of u, the smaller of the units in the last place of x and scale, and |r| <= scale;
 *   - if |x| >= scale, u is scale's unit at the smallest, so that r has no more digits than scale;
 *   - if |x| < scale, t is 0 and r is x, or t is 1 or -1 and |x| is scale / 2 or more, or but a unit less. It is not less
 *     than half of the power of two below scale, since the inverse of a power of two is exact: so u is at least half of
 *     scale's unit, and |r|, about scale / 2 at the most, has no more digits than scale.
 * So the sign of r says on which side of t the quotient lies, and |2 r| against scale whether t is nearest or Q a tie:
 * all that any of the nine modes asks. Gradual underflow is needed; kernel.py refuses to work without it.
 *
 * An x whose result is beyond the result's type is first clamped to the last x that gives its end, so that nothing
 * overflows.
 *
 * The loops below are compiled once for each instruction set and picked at run time. They give the same bits, since
 * every step that is rounded feeds only the choice of t, and both choices end in the same result.
 */

#ifndef TIEBREAK_QUOTIENT_H
#define TIEBREAK_QUOTIENT_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static __inline
#endif

#define BLOCK 512 /* elements between two checks for ties */

enum { HALF_KIND = 0, BRAIN_KIND = 1, SINGLE_KIND = 2, DOUBLE_KIND = 3 };

enum {
    NEAREST_AWAY = 0,
    NEAREST_ZERO = 1,
    NEAREST_UP = 2,
    NEAREST_DOWN = 3,
    NEAREST_EVEN = 4,
    AWAY = 5,
    TO_ZERO = 6,
    UPWARD = 7,
    DOWNWARD = 8,
    MODES = 9
};

/* When a tie goes up, for each nearest mode: if the lower integer is odd, if it is not negative, if it is negative,
 * always. */
static volatile int TIES[5][4] = {
    {0, 1, 0, 0}, /* NGQ-R1 */
    {0, 0, 1, 0}, /* NGQ-R2 */
    {0, 0, 0, 1}, /* NGQ-R3 */
    {0, 0, 0, 0}, /* NGQ-R4 */
    {1, 0, 0, 0}, /* NGQ-R5, ONQ-R1 */
};

/* What one scale and zero point make of a node, in float and in double. */
typedef struct {
    float scale, inverse, half, low, high;
    float slack;    /* more than the product is off; 0 if so much that most blocks have a quotient so near an integer */
    float enlarged; /* the inverse, enough more that no product is nearer to zero than the quotient */
    int32_t add;
} single_plan;

typedef struct {
    double scale, inverse, half, low, high, slack, enlarged;
    int64_t add;
} double_plan;

INLINE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

INLINE uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

INLINE int64_t bits_of_double(double value) {
    int64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

INLINE double double_of(int64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

INLINE float from_half(uint32_t bits) {
    uint32_t magnitude = (bits & 0x7fff) << 13;
    float value = float_of(magnitude) * 0x1p112f; /* exact: the exponents' biases differ by 112 */
    value = magnitude >= 0x0f800000u ? float_of(magnitude | 0x7f800000u) : value;
    return float_of(bits_of_float(value) | (bits & 0x8000) << 16);
}

/* A float rounded to float16, ties to even, as a float. Rounding a quotient of two float16 twice is rounding it once,
 * since 24 >= 2 * 11 + 2. */
INLINE float to_half(float value) {
    uint32_t bits = bits_of_float(value), sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    float small = (float_of(magnitude) + 0.75f) - 0.75f; /* below 2^-14 the unit is 2^-24, as just above 1/2 */
    uint32_t large = (magnitude + 0xfff + ((magnitude >> 13) & 1)) & ~0x1fffu;
    uint32_t rounded = magnitude < 0x38800000u ? bits_of_float(small) : large;
    rounded = rounded >= 0x47800000u && magnitude <= 0x7f800000u ? 0x7f800000u : rounded; /* 2^16 and more */
    return float_of((magnitude > 0x7f800000u ? magnitude : rounded) | sign);
}

INLINE float to_brain(float value) {
    uint32_t bits = bits_of_float(value);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
    return float_of((bits & 0x7fffffffu) > 0x7f800000u ? bits : rounded);
}

/* The quotient's integer for one x, in double; |x / scale| < 2^50, scale at least 2^-900. */
static double rounded_one(double x, double scale, int mode) {
    double t = rint(x / scale), rest = fma(-t, scale, x), below; /* NGQ-F1, ONQ-F1 */
    if (rest == 0.0) return t;
    below = rest < 0.0 ? t - 1.0 : t;
    switch (mode) {
        case AWAY: return below + (x > 0.0); /* NGQ-R6 */
        case TO_ZERO: return below + (x < 0.0); /* NGQ-R7 */
        case UPWARD: return below + 1.0; /* NGQ-R8 */
        case DOWNWARD: return below; /* NGQ-R9 */
    }
    if (2.0 * fabs(rest) != scale) return 2.0 * rest > scale ? t + 1.0 : 2.0 * rest < -scale ? t - 1.0 : t;
    switch (mode) {
        case NEAREST_AWAY: return below + (below >= 0.0); /* NGQ-R1 */
        case NEAREST_ZERO: return below + (below < 0.0); /* NGQ-R2 */
        case NEAREST_UP: return below + 1.0; /* NGQ-R3 */
        case NEAREST_DOWN: return below; /* NGQ-R4 */
    }
    return below + (fmod(below, 2.0) != 0.0); /* NGQ-R5, ONQ-R1 */
}

/* The x whose integer is `end`, close to end * scale; infinite ones become the largest finite. */
static float single_end(double end, float scale, int mode) {
    float x = (float)(end * scale), up, down;
    int i;
    if (x > FLT_MAX || x < -FLT_MAX) return x > 0.0f ? FLT_MAX : -FLT_MAX;
    for (up = down = x, i = 0; i < 8; i++) {
        if (rounded_one(up, scale, mode) == end) return up;
        if (rounded_one(down, scale, mode) == end) return down;
        up = nextafterf(up, INFINITY), down = nextafterf(down, -INFINITY);
    }
    return x; /* not reached: neighbours are nearer than 1/8 of a step */
}

static double double_end(double end, double scale, int mode) {
    double x = end * scale, up, down;
    int i;
    if (x > DBL_MAX || x < -DBL_MAX) return x > 0.0 ? DBL_MAX : -DBL_MAX;
    for (up = down = x, i = 0; i < 8; i++) {
        if (rounded_one(up, scale, mode) == end) return up;
        if (rounded_one(down, scale, mode) == end) return down;
        up = nextafter(up, INFINITY), down = nextafter(down, -INFINITY);
    }
    return x;
}

/* No quotient that counts is greater. */
static double reach(int64_t lowest, int64_t highest, int64_t zero_point) {
    return fmax(fabs((double)(lowest - zero_point)), fabs((double)(highest - zero_point))) + 1.0;
}

static void prepare_single(single_plan *p, float scale, int64_t zero_point, int64_t lowest, int64_t highest, int mode) {
    p->scale = scale, p->inverse = 1.0f / scale, p->half = scale * 0.5f;
    p->low = single_end((double)(lowest - zero_point), scale, mode);
    p->high = single_end((double)(highest - zero_point), scale, mode);
    p->add = (int32_t)zero_point - 0x4b400000; /* NGQ-F3, ONQ-F2: less the bits of 1.5 * 2^23 */
    p->slack = (float)(reach(lowest, highest, zero_point) * 0x1p-22);
    if (p->slack > 1.0f / BLOCK) p->slack = 0.0f;
    p->enlarged = p->inverse * (1.0f + 0x1p-21f);
}

static void prepare_double(double_plan *p, double scale, int64_t zero_point, int64_t lowest, int64_t highest, int mode) {
    p->scale = scale, p->inverse = 1.0 / scale, p->half = scale * 0.5;
    p->low = double_end((double)(lowest - zero_point), scale, mode);
    p->high = double_end((double)(highest - zero_point), scale, mode);
    p->add = zero_point - 0x4338000000000000; /* NGQ-F3, ONQ-F2: less the bits of 1.5 * 2^52 */
    p->slack = reach(lowest, highest, zero_point) * 0x1p-51;
    p->enlarged = p->inverse * (1.0 + 0x1p-50);
}

/* One row of a tensor: either one scale and zero point for all of it, or (columns) one for each element. */
typedef struct {
    int kind, working, mode, width, columns, wide, direct;
    size_t n;
    const void *x;              /* bits, of the kind */
    const single_plan *single;  /* for the float loops, or */
    const double_plan *twice;   /* for the double ones (wide) */
    const double *operand;      /* what x is divided by in working precision, else an exact factor; direct: neither */
    void *out;                  /* integers of `width` bytes */
} request_t;

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* Without an fma instruction: both products below are exact in double, of a float the difference too. */
#define TARGET
#define SUFFIX _baseline
#define CHOOSE_SINGLE(a, b, c) ((a) * (b) + (c))
#define REST_SINGLE(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#define CHOOSE_DOUBLE(a, b, c) ((a) * (b) + (c))
#include "quotient_target.h"
#undef TARGET
#undef SUFFIX
#undef CHOOSE_SINGLE
#undef REST_SINGLE
#undef CHOOSE_DOUBLE

#if defined(__GNUC__) && defined(__x86_64__)
#define CHOOSE_SINGLE(a, b, c) __builtin_fmaf(a, b, c)
#define REST_SINGLE(a, b, c) __builtin_fmaf(a, b, c)
#define CHOOSE_DOUBLE(a, b, c) __builtin_fma(a, b, c)

#define TARGET __attribute__((target("avx2,fma")))
#define SUFFIX _avx2
#include "quotient_target.h"
#undef TARGET
#undef SUFFIX

#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")))
#endif
#define SUFFIX _avx512
#include "quotient_target.h"
#undef TARGET
#undef SUFFIX
#undef CHOOSE_SINGLE
#undef REST_SINGLE
#undef CHOOSE_DOUBLE
#endif

/* Whether this processor (and its operating system) has what path 0, 1 or 2 needs. */
static int path_runs(int path) {
    if (path == 0) return 1;
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (path == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return path_runs(1) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}

static void run_row(const request_t *r, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { row_avx512(r); return; }
    if (path == 1) { row_avx2(r); return; }
#endif
    row_baseline(r);
}

static void run_count(const request_t *exact, const request_t *working, const void *got, int64_t zero_point,
                      int64_t lowest, int64_t highest, int leaves, int64_t *differ, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) {
        count_row_avx512(exact, working, got, zero_point, lowest, highest, leaves, differ);
        return;
    }
    if (path == 1) {
        count_row_avx2(exact, working, got, zero_point, lowest, highest, leaves, differ);
        return;
    }
#endif
    count_row_baseline(exact, working, got, zero_point, lowest, highest, leaves, differ);
}

static void run_row_from(const request_t *r, uint32_t first, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { row_from_avx512(r, first); return; }
    if (path == 1) { row_from_avx2(r, first); return; }
#endif
    row_from_baseline(r, first);
}

/* Consecutive bit patterns of 2 or 4 bytes. */
static void run_fill(void *out, int width, uint32_t first, size_t n, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { fill_avx512(out, width, first, n); return; }
    if (path == 1) { fill_avx2(out, width, first, n); return; }
#endif
    fill_baseline(out, width, first, n);
}

#endif
