/* Loops over float64 arrays behind _steps.pyx, compiled for several instruction sets where the compiler can choose. */

#include "clones.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Modes: the nine of ROUND_MODES in the order of _steps.pyx, then sums with a half in float64 and in float32. */
enum {
    NEAREST_AWAY, NEAREST_ZERO, NEAREST_UP, NEAREST_DOWN, NEAREST_EVEN, AWAY, TOWARD_ZERO, UP, DOWN,
    FLOOR_DOUBLE, TRUNCATE_DOUBLE, AWAY_DOUBLE, FLOOR_SINGLE, TRUNCATE_SINGLE, AWAY_SINGLE
};

INLINE int takes_integer_above(double v, double below, int mode) {
    const double part = v - below;
    /* Just below 0 the difference is rounded, perhaps to a half; but it is more. */
    const int more = (part > 0.5) | ((v < 0) & (v > -0.5)), tie = part == 0.5, some = part != 0.0;
    switch (mode) {
    case NEAREST_AWAY: return more | (tie & !(below < 0));
    case NEAREST_ZERO: return more | (tie & (below < 0));
    case NEAREST_UP: return more | tie;
    case NEAREST_DOWN: return more;
    case NEAREST_EVEN: return more | (tie & (floor(below * 0.5) * 2.0 != below));
    case AWAY: return some & !(below < 0);
    case TOWARD_ZERO: return some & (below < 0);
    case UP: return some;
    default: return 0;
    }
}

INLINE double rounded_one(double v, int mode) {
    const double below = floor(v), half = copysign(0.5, v);
    switch (mode) {
    case FLOOR_DOUBLE: return floor(v + 0.5);
    case TRUNCATE_DOUBLE: return trunc(v + 0.5);
    case AWAY_DOUBLE: return trunc(v + half);
    case FLOOR_SINGLE: return floor((double)((float)v + 0.5f));
    case TRUNCATE_SINGLE: return trunc((double)((float)v + 0.5f));
    case AWAY_SINGLE: return trunc((double)((float)v + (float)half));
    default: return v - v == 0.0 ? below + (takes_integer_above(v, below, mode) ? 1.0 : 0.0) : v;
    }
}

#define ROUND_CASE(MODE) case MODE: for (size_t i = 0; i < n; i++) to[i] = rounded_one(v[i], MODE); break;

CLONES void round_doubles(const double *v, double *to, size_t n, int mode) {
    switch (mode) {
    ROUND_CASE(NEAREST_AWAY) ROUND_CASE(NEAREST_ZERO) ROUND_CASE(NEAREST_UP) ROUND_CASE(NEAREST_DOWN)
    ROUND_CASE(NEAREST_EVEN) ROUND_CASE(AWAY) ROUND_CASE(TOWARD_ZERO) ROUND_CASE(UP) ROUND_CASE(DOWN)
    ROUND_CASE(FLOOR_DOUBLE) ROUND_CASE(TRUNCATE_DOUBLE) ROUND_CASE(AWAY_DOUBLE)
    ROUND_CASE(FLOOR_SINGLE) ROUND_CASE(TRUNCATE_SINGLE) ROUND_CASE(AWAY_SINGLE)
    }
}

/* Values of the facet "saturation", in the order of _steps.pyx. */
enum {
    SATURATE, WRAP, NARROW_RANGE, CLAMP, CLAMP_WRAP, INT32, INT32_WRAP, INT32_WIDER, INT64, INT64_WIDER, SINGLE, CAST,
    SUM32_WRAP, SUM64_WRAP
};

typedef struct { double lowest, highest; int bits; } range_t;

INLINE double clamped(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

/* Python's modulus by a power of two, exact for an integer. */
INLINE double modulus(double v, double size) { return v - floor(v / size) * size; }

INLINE double passed(double w, double room) { return (w >= -room) & (w < room) ? w : -room; }

INLINE double sum_of(double whole, int64_t zero_point, range_t r, int kind) {
    const double z = (double)zero_point, two31 = 2147483648.0, two63 = 9223372036854775808.0;
    const double w = kind == INT32 || kind == INT32_WRAP || kind == INT32_WIDER ? passed(whole, two31)
        : kind == INT64 || kind == INT64_WIDER ? passed(whole, two63)
        : kind == CLAMP || kind == CLAMP_WRAP ? clamped(whole, r.lowest, r.highest) : whole;
    if (kind == WRAP || kind == CLAMP_WRAP || kind == INT32_WRAP) {
        const double size = r.highest - r.lowest + 1.0;
        return modulus(modulus(w, size) + z - r.lowest, size) + r.lowest;
    }
    if (kind == SUM32_WRAP || kind == SUM64_WRAP) {
        const double size = r.highest - r.lowest + 1.0, held = passed(w + z, kind == SUM32_WRAP ? two31 : two63);
        return modulus(modulus(held, size) - r.lowest, size) + r.lowest;
    }
    if (kind == INT32) return modulus(w + z + two31, 2 * two31) - two31;
    if (kind == INT64) {
        const double total = (w == -two63) & (z < 0) ? two63 : w + z;
        return (w - two63) + z >= 0 ? -two63 : total;
    }
    if (kind == SINGLE || kind == CAST) {
        const double total = (double)((float)w + (float)zero_point);
        return kind == CAST && total > r.highest ? r.lowest : total;
    }
    return w + z;
}

INLINE double stage_of(double w, double code, int64_t zero_point, range_t r, int kind) {
    const double z = (double)zero_point, two31 = 2147483648.0, two34 = 17179869184.0, two63 = 9223372036854775808.0;
    if (kind == WRAP || kind == SUM64_WRAP) return w; /* a step added to a number of 54 bits would be rounded */
    double inner = w, steps = (w > -INFINITY ? 1.0 : 0.0) + (w == INFINITY ? 1.0 : 0.0);
    if (kind == SATURATE || kind == NARROW_RANGE)
        inner = code;
    else if (kind == CLAMP || kind == CLAMP_WRAP)
        inner = clamped(w, r.lowest, r.highest);
    else if (kind == INT32_WRAP || (kind == INT32 && r.bits == 32)) /* the sum wraps */
        inner = clamped(w, -two31 - 1, two31);
    else if (kind == SINGLE || kind == CAST || kind == SUM32_WRAP)
        inner = clamped(w, -two34, two34);
    else {
        inner = clamped(w, r.lowest - z - 1.0, r.highest - z + 1.0);
        if (kind == INT64 || kind == INT64_WIDER)
            steps += (w >= -two63 ? 1.0 : 0.0) + (w > -two63 ? 1.0 : 0.0) + (w >= two63 ? 1.0 : 0.0)
                + ((w - two63) + z >= 0 ? 1.0 : 0.0);
        else
            steps += (w >= -two31 ? 1.0 : 0.0) + (w >= two31 ? 1.0 : 0.0) + (w >= -two31 - z ? 1.0 : 0.0)
                + (w >= two31 - z ? 1.0 : 0.0);
    }
    return w == w ? inner + steps : w;
}

INLINE void saturate_one(double w, int64_t z, range_t r, int kind, int64_t *code, double *stage) {
    const double total = sum_of(w, z, r, kind), least = kind == NARROW_RANGE ? r.lowest + 1.0 : r.lowest;
    const double inside = clamped(total == total ? total : 0.0, least, r.highest); /* NaN has no code */
    *code = (int64_t)inside;
    *stage = stage_of(w, inside, z, r, kind);
}

#define SATURATE_CASE(KIND) \
    case KIND: \
        if (each) for (size_t i = 0; i < n; i++) saturate_one(w[i], z[i], r, KIND, codes + i, stages + i); \
        else for (size_t i = 0; i < n; i++) saturate_one(w[i], first, r, KIND, codes + i, stages + i); \
        break;

/* `each`: every number has a zero point of its own. */
CLONES void saturate_doubles(const double *w, const int64_t *z, int each, range_t r, int kind, int64_t *codes,
                             double *stages, size_t n) {
    const int64_t first = n ? *z : 0;
    switch (kind) {
    SATURATE_CASE(SATURATE) SATURATE_CASE(WRAP) SATURATE_CASE(NARROW_RANGE) SATURATE_CASE(CLAMP)
    SATURATE_CASE(CLAMP_WRAP) SATURATE_CASE(INT32) SATURATE_CASE(INT32_WRAP) SATURATE_CASE(INT32_WIDER)
    SATURATE_CASE(INT64) SATURATE_CASE(INT64_WIDER) SATURATE_CASE(SINGLE) SATURATE_CASE(CAST)
    SATURATE_CASE(SUM32_WRAP) SATURATE_CASE(SUM64_WRAP)
    }
}

void sum_doubles(const double *w, const int64_t *z, int each, range_t r, int kind, double *sums, size_t n) {
    for (size_t i = 0; i < n; i++) sums[i] = sum_of(w[i], each ? z[i] : *z, r, kind);
}

/*
 * A product and a number added, rounded to odd: rounding the sum again, to fewer digits, does no harm. The product must
 * be exact. A sum of 0 is exact, so that the sum's bits count its magnitude.
 */
INLINE double odd_sum(double product, double added) {
    const double total = product + added, back = total - product;
    const double error = (product - (total - back)) + (added - back);
    int64_t bits;
    double odd;
    memcpy(&bits, &total, sizeof bits);
    const int64_t step = (error > 0) == (total > 0) ? 1 : -1;
    bits += (error != 0.0) & (total - total == 0.0) & ((bits & 1) == 0) ? step : 0;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* `each`: every product has a number of its own to be added. */
CLONES void add_to_odd(const double *products, const double *added, int each, double *sums, size_t n) {
    const double first = n ? *added : 0.0;
    if (each) for (size_t i = 0; i < n; i++) sums[i] = odd_sum(products[i], added[i]);
    else for (size_t i = 0; i < n; i++) sums[i] = odd_sum(products[i], first);
}

CLONES void bits_of_singles(const uint32_t *v, int64_t nan_code, int64_t *codes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude = v[i] & 0x7FFFFFFFu;
        codes[i] = magnitude > 0x7F800000u ? nan_code : magnitude ? (int64_t)v[i] : 0;
    }
}

CLONES void words_of_ordinals(const int64_t *ordinals, uint32_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const int32_t o = (int32_t)ordinals[i];
        words[i] = o < 0 ? (uint32_t)-o | 0x80000000u : (uint32_t)o;
    }
}

/* Whether a stage falls from a to b, or is NaN. */
CLONES int some_fall(const double *a, const double *b, size_t n) {
    int64_t falls = 0;
    for (size_t i = 0; i < n; i++) falls |= !(a[i] <= b[i]);
    return falls != 0;
}

CLONES int some_differ(const int64_t *a, const int64_t *b, size_t n) {
    int64_t differ = 0;
    for (size_t i = 0; i < n; i++) differ |= a[i] ^ b[i];
    return differ != 0;
}

/* A stage has a row of its own, `below_step` or `above_step` numbers after the row before. */
typedef struct { int64_t *low, *high; double *below, *above; size_t below_step, above_step; } intervals_t;

/*
 * Appends the intervals that hold something and at whose ends a stage differs to those at `count`; the new count.
 * Each is written before it is known whether it counts, so that no branch is to be predicted.
 */
INLINE size_t keep_open(intervals_t from, size_t n, size_t rows, intervals_t to, size_t count) {
    for (size_t i = 0; i < n; i++) {
        int differ = 0;
        to.low[count] = from.low[i];
        to.high[count] = from.high[i];
        for (size_t r = 0; r < rows; r++) {
            const double a = from.below[r * from.below_step + i], b = from.above[r * from.above_step + i];
            to.below[r * to.below_step + count] = a;
            to.above[r * to.above_step + count] = b;
            differ |= a != b;
        }
        count += differ & (from.high[i] - from.low[i] > 1);
    }
    return count;
}

static size_t keep_open_halves(intervals_t from, int64_t *middle, double *stages, size_t step, size_t n, size_t rows,
                               intervals_t to) {
    const intervals_t lower = {from.low, middle, from.below, stages, from.below_step, step};
    const intervals_t upper = {middle, from.high, stages, from.above, step, from.above_step};
    if (rows == 1) return keep_open(upper, n, 1, to, keep_open(lower, n, 1, to, 0));
    return keep_open(upper, n, rows, to, keep_open(lower, n, rows, to, 0));
}
