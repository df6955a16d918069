/*
 * For many float32 scales at once: how many float32 inputs get another code from one arithmetic than from another.
 *
 * An arithmetic's code never falls as x grows, since each of its steps is rounded and rounding keeps order. So the code
 * is the number of decisions that x has passed, and of each decision only the least input that passes it matters.
 * An input's *ordinal* counts float32 numbers from 0 in both directions; -0 and +0 have the same one.
 *
 * Each least input is guessed from a product in float64 and then proven: the arithmetic itself must pass the decision at
 * that input and not at the one before. Where it does not, an exact search takes over. No guess enters a result.
 */

#include "clones.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES 512                /* scales at once: what is kept of them stays in the first cache */
#define INFINITE 0x7F800000      /* the ordinal of infinity */

/* How an argument of round comes about, in the order of _all_scales.pyx. */
enum {
    EXACT, DIVIDE_SINGLE, DIVIDE_DOUBLE, RECIPROCAL_SINGLE, RECIPROCAL_DOUBLE, NARROW_DOUBLE, FUSED_SINGLE,
    RANGE_SINGLE, RANGE_MULTIPLIED_SINGLE, RANGE_FUSED_SINGLE
};

/*
 * One arithmetic. A decision d is passed where the argument of round is at least `least[d]`. `start[d]` is about what
 * x / scale is there. Of EXACT it is exactly that, and `least[d]` is 1 if x / scale must be more than that, 0 if not.
 * `added` is the zero point of a fused step. A range begins at `first` and ends at `last` times the scale.
 */
typedef struct { int kind; float added, first, last; const double *start, *least; } side_t;

/* What a side keeps of each scale: the guess's factor, and the operands of its steps. */
typedef struct { double factor[LANES], wide[LANES]; float by[LANES], low[LANES], high[LANES]; } lanes_t;

/* Whether this thread flushes subnormal operands or results to 0: nothing here would be right. */
static int flushes_subnormals(void) {
    volatile float normal = 0x1p-126f, half = 0.5f, least = 0x1p-149f, two = 2.0f;
    return normal * half == 0.0f || least * two == 0.0f;
}

INLINE float of_bits(uint32_t bits) { float v; memcpy(&v, &bits, sizeof v); return v; }
INLINE uint32_t bits_of(float v) { uint32_t bits; memcpy(&bits, &v, sizeof bits); return bits; }

INLINE int32_t ordinal_of(float v) {
    const int32_t bits = (int32_t)bits_of(v);
    return bits < 0 ? -(bits & 0x7FFFFFFF) : bits;
}

INLINE float input_of(int32_t o) { return of_bits(o < 0 ? (uint32_t)-o | 0x80000000u : (uint32_t)o); }

/* The constants of an arithmetic at a scale. Those of a range follow conformance/semantics/quantize_scaling.py. */
INLINE void prepare_lane(int kind, const side_t *side, float scale, lanes_t *to, size_t i) {
    const float inverse = 1.0f / scale, low = scale * side->first, high = scale * side->last;
    const float width = high - low, steps = side->last - side->first, factor = steps / width;
    to->factor[i] = (double)scale;
    to->wide[i] = 1.0 / (double)scale;
    to->by[i] = scale;
    to->low[i] = low;
    to->high[i] = high;
    switch (kind) {
    case RECIPROCAL_SINGLE: case NARROW_DOUBLE: case FUSED_SINGLE:
        to->by[i] = inverse;
        to->factor[i] = 1.0 / (double)inverse;
        break;
    case RANGE_SINGLE: to->by[i] = width; break;
    case RANGE_MULTIPLIED_SINGLE: case RANGE_FUSED_SINGLE: to->by[i] = factor; break;
    }
}

/* Whether x passes a decision: the argument of round is at least `least`. A NaN passes none. */
INLINE int passes(int kind, float x, const lanes_t *at, size_t i, const side_t *side, double least) {
    const float single = (float)least, by = at->by[i], low = at->low[i];
    const float steps = side->last - side->first;
    float inside;
    switch (kind) {
    case DIVIDE_SINGLE: return x / by >= single;
    case DIVIDE_DOUBLE: return (double)x / (double)by >= least;
    case RECIPROCAL_SINGLE: return x * by >= single;
    case RECIPROCAL_DOUBLE: return (double)x * at->wide[i] >= least;
    case NARROW_DOUBLE: return (double)x * (double)by >= least;
    case FUSED_SINGLE: return fmaf(x, by, side->added) >= single;
    case RANGE_SINGLE: inside = (x - low) / by * steps; break;
    case RANGE_MULTIPLIED_SINGLE: inside = x * by + -low * by; break;
    default: inside = fmaf(x, by, -low * by);
    }
    return (x <= low ? 0.0f : x > at->high[i] ? steps : inside) >= single;
}

/* As passes; an x of 0 has the argument that 0 has at other scales where 1 / scale is infinite and 0 times it is NaN. */
INLINE int passes_or_zero(int kind, int32_t o, const lanes_t *at, size_t i, const side_t *side, double least) {
    const int of_inverse = kind == RECIPROCAL_SINGLE || kind == NARROW_DOUBLE || kind == FUSED_SINGLE;
    if (of_inverse && o == 0 && isinf(at->by[i])) return (double)side->added >= least;
    return passes(kind, input_of(o), at, i, side, least);
}

/* The least ordinal that passes, from a guess on in steps that double, then by halving; INFINITE + 1 if none does. */
INLINE int32_t searched(int kind, int32_t guess, const lanes_t *at, size_t i, const side_t *side, double least) {
    int64_t below = -(int64_t)INFINITE - 1, above = (int64_t)INFINITE + 1, step = 1, o = guess;
    while (above - below > 1) {
        if (o <= below || o >= above) o = below + (above - below) / 2;
        if (passes_or_zero(kind, (int32_t)o, at, i, side, least)) above = o, o -= step;
        else below = o, o += step;
        step *= 2;
    }
    return (int32_t)above;
}

/* Decision d's least passing ordinal at n scales. */
INLINE void least_of_kind(int kind, const side_t *side, const lanes_t *at, size_t d, size_t n, int32_t *to) {
    const double start = side->start[d], least = side->least[d];
    int32_t wrong[LANES], any = 0;
    if (kind == EXACT) { /* the product is exact: at most 18 and 24 bits */
        for (size_t i = 0; i < n; i++) {
            const double product = start * at->factor[i];
            const float near = (float)product;
            to[i] = ordinal_of(near) + ((double)near < product || (least != 0.0 && (double)near == product));
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double product = start * at->factor[i];
        const float near = (float)product;
        const int32_t o = ordinal_of(near) + ((double)near < product);
        to[i] = o;
        const int here = passes(kind, input_of(o), at, i, side, least);
        wrong[i] = (!here) | passes(kind, input_of(o - 1), at, i, side, least);
        any |= wrong[i];
    }
    if (any)
        for (size_t i = 0; i < n; i++)
            if (wrong[i]) to[i] = searched(kind, to[i], at, i, side, least);
}

#define KIND_CASE(KIND) case KIND: least_of_kind(KIND, side, at, d, n, to); break;

CLONES void least_inputs(const side_t *side, const lanes_t *at, size_t d, size_t n, int32_t *to) {
    switch (side->kind) {
    KIND_CASE(EXACT) KIND_CASE(DIVIDE_SINGLE) KIND_CASE(DIVIDE_DOUBLE) KIND_CASE(RECIPROCAL_SINGLE)
    KIND_CASE(RECIPROCAL_DOUBLE) KIND_CASE(NARROW_DOUBLE) KIND_CASE(FUSED_SINGLE) KIND_CASE(RANGE_SINGLE)
    KIND_CASE(RANGE_MULTIPLIED_SINGLE) KIND_CASE(RANGE_FUSED_SINGLE)
    }
}

/*
 * The codes differ exactly between the two least inputs of some decision. Neighbours may overlap: `ends` is where the
 * inputs that were counted so far end, for no least input falls from one decision to the next.
 */
CLONES void add_between(const int32_t *a, const int32_t *b, size_t n, int32_t *ends, uint32_t *counts) {
    for (size_t i = 0; i < n; i++) {
        const int32_t low = a[i] < b[i] ? a[i] : b[i], high = a[i] < b[i] ? b[i] : a[i];
        const int32_t begin = low > ends[i] ? low : ends[i];
        counts[i] += high > begin ? (uint32_t)high - (uint32_t)begin : 0u;
        ends[i] = high > ends[i] ? high : ends[i];
    }
}

static void prepare(const side_t *side, const uint32_t *scales, size_t n, lanes_t *to) {
    for (size_t i = 0; i < n; i++) prepare_lane(side->kind, side, of_bits(scales[i]), to, i);
}

/* For each of n scales (bit patterns, positive and finite) the number of inputs whose codes differ. */
static void count_differing(const side_t *left, const side_t *right, size_t decisions, const uint32_t *scales, size_t n,
                            uint32_t *counts) {
    lanes_t of_left, of_right;
    int32_t a[LANES], b[LANES], ends[LANES];
    for (size_t done = 0; done < n; done += LANES) {
        const size_t some = n - done < LANES ? n - done : LANES;
        prepare(left, scales + done, some, &of_left);
        prepare(right, scales + done, some, &of_right);
        for (size_t i = 0; i < some; i++) ends[i] = INT32_MIN, counts[done + i] = 0;
        for (size_t d = 0; d < decisions; d++) {
            least_inputs(left, &of_left, d, some, a);
            least_inputs(right, &of_right, d, some, b);
            add_between(a, b, some, ends, counts + done);
        }
    }
}

/* The least inputs (ordinals) of all decisions at one scale. */
static void least_inputs_of(const side_t *side, size_t decisions, uint32_t scale, int32_t *to) {
    lanes_t at;
    prepare(side, &scale, 1, &at);
    for (size_t d = 0; d < decisions; d++) least_inputs(side, &at, d, 1, to + d);
}
