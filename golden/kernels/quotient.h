/* round(x / scale) + zero_point in binary floating point, exactly, without a division and without a tolerance.
 *
 * Let t be an integer next to the real quotient Q = x / scale. Rounding x * (1 / scale) finds one: the roundings
 * move Q by less than 1/2 for all |Q| that occur here. All that remains to ask is on which side of t, or of t +
 * 1/2, Q lies: that is the sign of x - t * scale. One fma computes it with one rounding, and rounding keeps a sign.
 * It gives zero for nothing else, since neither operand is so small that what differs could underflow; see
 * `prepare` and Parameters in _kernel.pyx. Gradual underflow is needed; kernel.py refuses to work without it.
 *
 * A directed mode asks about t: Q is between t - 1 and t + 1. A nearest mode asks about t + 1/2, of a t that was
 * found with a product made too small on purpose: then t or t + 1 is nearest, and a tie shows as zero. For 8 bits
 * most blocks are spared that: no quotient is near a tie if two products, one too small and one too large, round to
 * the same integers.
 *
 * The loops below are compiled once for each instruction set and picked at run time. They give the same bits,
 * since every step that is rounded feeds only the choice of t, and each choice ends in the same result.
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
#define SEPARATE __attribute__((noinline))
#else
#define INLINE static __inline
#define SEPARATE
#endif

#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

#define BLOCK 1024 /* elements between two checks for ties: few enough that most blocks of 8 bits have none */
#define WARY 64    /* blocks for which ties are taken for granted once they come in a row */
#define LINE 16    /* floats of a cache line */
#define LONG (16 * BLOCK)
#define FAR (256 * BLOCK) /* floats that the caches next to a core don't hold */
#define MOST_BRACKETED 512 /* steps from zero: farther out too many blocks would have a quotient next to a tie */

#define MAGIC_SINGLE 12582912.0f /* 1.5 * 2^23: an integer added to it has its own last bits */
#define MAGIC_SINGLE_BITS 0x4b400000
#define INNER 0.99999952f /* 1 - 2^-21: more than the roundings of a product, and less than 1/4 step for 2^20 */
#define MAGIC_DOUBLE 6755399441055744.0 /* 1.5 * 2^52 */
#define MAGIC_DOUBLE_BITS 0x4338000000000000

enum { ONE = 0, COLUMNS = 1, TIMES = 2 }; /* one scale; one for each element; one, and a factor for x */

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

/* What scales and zero points make of a node, in float (clamping x) and in double (clamping the integer): an array for
 * each, so that loops with a scale for each element read whole vectors. */
typedef struct {
    const float *scale, *inverse, *low, *high, *magic, *kept, *moved;
    float slack; /* more than a product is off */
    float factor; /* of one scale: what makes x * factor of x, a power of two or its negative */
    int brackets, factors, powers;
} single_plan;

typedef struct {
    const double *scale, *inverse, *low, *high, *magic;
    double slack;
} double_plan;

INLINE single_plan single_from(const single_plan *p, size_t at) {
    const single_plan own = {p->scale + at, p->inverse + at, p->low + at, p->high + at, p->magic + at,
                             p->kept + at, p->moved + at, p->slack, p->factor, p->brackets,
                             p->factors, p->powers};
    return own;
}

INLINE double_plan double_from(const double_plan *p, size_t at) {
    const double_plan own = {p->scale + at, p->inverse + at, p->low + at, p->high + at, p->magic + at, p->slack};
    return own;
}

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

/* No quotient that counts is greater. */
static double reach(int64_t lowest, int64_t highest, int64_t zero_point) {
    return fmax(fabs((double)(lowest - zero_point)), fabs((double)(highest - zero_point))) + 1.0;
}

/* The factors that `rounded` wants, the floats next to 1 / scale on both sides, and whether those of the mode are good.
 * What they are to make more or less than a half is so by 2^-28, which shows even in a sum with MAGIC_SINGLE in double.
 * `kept` is good for most scales, powers of two among them, `moved` for none of these. */
static int factors(float scale, int mode, float *kept, float *moved) {
    const double half = scale * 0.5f;
    const double above = nextafterf(scale, INFINITY) * 0.5f, below = nextafterf(scale, 0.0f) * 0.5f;
    const double more = 0.5 + 0x1p-28, less = 0.5 - 0x1p-28;
    const float inverse = 1.0f / scale;
    *kept = half * inverse <= less ? inverse : nextafterf(inverse, 0.0f);
    *moved = half * inverse >= more ? inverse : nextafterf(inverse, INFINITY);
    return (mode == NEAREST_AWAY || (half * *kept <= less && above * *kept >= more)) &&
           (mode == NEAREST_EVEN || mode == NEAREST_ZERO || (half * *moved >= more && below * *moved <= less));
}

/* Number `i` of `count` in memory for 7 * count numbers; `p` points into it. A product is off by at most 3 roundings of
 * 2^-24; slack is 4, and 1/4 at the most. */
static void prepare_single(single_plan *p, float *memory, size_t count, size_t i, float scale, int64_t zero_point,
                           int64_t lowest, int64_t highest, int mode) {
    const double most = reach(lowest, highest, zero_point);
    memory[i] = scale, memory[count + i] = 1.0f / scale;
    memory[2 * count + i] = single_end((double)(lowest - zero_point), scale, mode);
    memory[3 * count + i] = single_end((double)(highest - zero_point), scale, mode);
    memory[4 * count + i] = MAGIC_SINGLE + (float)zero_point; /* NGQ-F3, ONQ-F2 */
    p->slack = fmaxf(p->slack, (float)(most * 0x1p-22));
    p->brackets = p->brackets && most <= MOST_BRACKETED;
    p->powers = p->powers && !(bits_of_float(scale) & 0x7fffff);
    p->factors &= factors(scale, mode, &memory[5 * count + i], &memory[6 * count + i]);
}

/* Quotients of less than 2^50 are rounded rightly, and what is beyond the range. A product is off by at most 3 roundings
 * of 2^-53, and for 2^50 by less than 1/4, since both sums' are at most 2^-4 there; slack is more. The inverse of the
 * largest scales is subnormal and has but 50 digits, but then no quotient is above 2^24. */
static void prepare_double(double_plan *p, double *memory, size_t count, size_t i, double scale, int64_t zero_point,
                           int64_t lowest, int64_t highest) {
    memory[i] = scale, memory[count + i] = 1.0 / scale;
    memory[2 * count + i] = (double)(lowest - zero_point), memory[3 * count + i] = (double)(highest - zero_point);
    memory[4 * count + i] = MAGIC_DOUBLE + (double)zero_point; /* NGQ-F3, ONQ-F2 */
    p->slack = fmax(p->slack, fmin(0.25, reach(lowest, highest, zero_point) * 0x1p-51 + (scale > 0x1p1000) * 0x1p-20));
}

static void plan_single(single_plan *p, const float *memory, size_t count) {
    p->scale = memory, p->inverse = memory + count, p->low = memory + 2 * count, p->high = memory + 3 * count;
    p->magic = memory + 4 * count, p->kept = memory + 5 * count, p->moved = memory + 6 * count;
    p->slack = 0.0f, p->factor = 1.0f, p->brackets = p->factors = p->powers = 1;
}

static void plan_double(double_plan *p, const double *memory, size_t count) {
    p->scale = memory, p->inverse = memory + count, p->low = memory + 2 * count, p->high = memory + 3 * count;
    p->magic = memory + 4 * count, p->slack = 0.0;
}

/* One row of a tensor: either one scale and zero point for all of it, or (columns) one for each element. */
typedef struct {
    int kind, working, mode, width, columns, wide, direct, brief;
    size_t n;
    const void *x;         /* bits, of the kind */
    single_plan single;    /* for the float loops, or */
    double_plan twice;     /* for the double ones (wide) */
    const double *operand; /* what x is divided by in working precision, else an exact factor; direct: not needed */
    void *out;             /* integers of `width` bytes */
} request_t;

/* Of a direct request. */
INLINE int layout_of(const request_t *r) {
    return r->columns ? COLUMNS : r->single.factor == 1.0f ? ONE : TIMES;
}

/* Results that came, `width` bytes each, for consecutive patterns, and what to hold them to; see quotient_count.h. */
typedef struct {
    const void *got;
    size_t n;
    int width, leaves;
    int64_t zero_point, lowest, highest;
} count_t;

/* Asks for memory that is wanted soon. Processors foresee a long run by themselves, but only to the end of a page. */
static void fetch_ahead(const void *memory, size_t size) {
#if defined(__GNUC__)
    for (size_t at = 0; at < size; at += LINE * sizeof(float)) __builtin_prefetch((const char *)memory + at);
#else
    (void)memory, (void)size;
#endif
}

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define PASTE_THREE_(a, b, c) a##b##c
#define PASTE_THREE(a, b, c) PASTE_THREE_(a, b, c)

#if defined(__aarch64__)
#define FUSED 1 /* every processor has it */
#else
#define FUSED 0
#endif
#define TARGET
#define SUFFIX _baseline
#include "quotient_target.h"
#undef TARGET
#undef SUFFIX
#undef FUSED

#if defined(__GNUC__) && defined(__x86_64__)
#define FUSED 1
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
#undef FUSED
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

/* Fills a row. `*wary` starts at 0 and goes on from row to row, see narrow_block. */
static void run_row(const request_t *r, int *wary, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { row_avx512(r, wary); return; }
    if (path == 1) { row_avx2(r, wary); return; }
#endif
    row_baseline(r, wary);
}

static void run_count(const request_t *exact, const request_t *working, uint32_t first, const count_t *what,
                      int64_t *differ, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { count_patterns_avx512(exact, working, first, what, differ); return; }
    if (path == 1) { count_patterns_avx2(exact, working, first, what, differ); return; }
#endif
    count_patterns_baseline(exact, working, first, what, differ);
}

static void run_row_from(const request_t *r, uint32_t first, int *wary, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) { row_from_avx512(r, first, wary); return; }
    if (path == 1) { row_from_avx2(r, first, wary); return; }
#endif
    row_from_baseline(r, first, wary);
}

static int64_t run_only_working(const void *got, const void *exact, const void *working, int width, size_t n,
                                int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) return only_working_avx512(got, exact, working, width, n);
    if (path == 1) return only_working_avx2(got, exact, working, width, n);
#endif
    return only_working_baseline(got, exact, working, width, n);
}

static int run_repeats(const unsigned char *bytes, size_t size, uint64_t word, int path) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (path == 2) return repeats_avx512(bytes, size, word);
    if (path == 1) return repeats_avx2(bytes, size, word);
#endif
    return repeats_baseline(bytes, size, word);
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
