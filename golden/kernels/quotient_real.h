/* The loops for one instruction set (TARGET, NAMED) and one real type; see quotient.h. No include guard. */

/* x of one element clamped, an integer t near its quotient, also as a code, and the rest. */
#define ELEMENT(i) ELEMENT_OF(x[i], i)
#define ELEMENT_OF(value, i)                                   \
    const PLAN *q = columns ? p + (i) : &one;                  \
    REAL v = value;                                            \
    v = v > q->low ? v : q->low; /* a NaN becomes low */       \
    v = v < q->high ? v : q->high; /* ONQ-C1 */                \
    REAL shifted = FMA(v, q->inverse, MAGIC); /* NGQ-F1, ONQ-F1 */ \
    REAL t = shifted - MAGIC;                                  \
    REAL rest = FMA_EXACT(-t, q->scale, v);                    \
    INT code = BITS(shifted) + q->add; /* NGQ-F2, NGQ-F3, ONQ-F2 */

INLINE void NAMED(store)(void *out, size_t i, int64_t code, int width) {
    if (width == 1) ((int8_t *)out)[i] = (int8_t)code;
    else if (width == 2) ((int16_t *)out)[i] = (int16_t)code;
    else if (width == 4) ((int32_t *)out)[i] = (int32_t)code;
    else ((int64_t *)out)[i] = code;
}

/* The integer below, above or toward zero of each quotient, found in one step: the nearest to the product shifted by a
 * little less than a half, or the product truncated. Returns whether one is on the wrong side, as it can be where Q is
 * within `slack` of an integer. The rest's sign tells. It is written so that no zero gets a wrong sign: a - b, rounded
 * to nearest, is +0 where a equals b. One scale for all. */
INLINE int NAMED(sided)(const REAL *x, const PLAN *p, int mode, void *out, int width, size_t n) {
    const REAL low = p->low, high = p->high, inverse = p->inverse, scale = p->scale, enlarged = p->enlarged;
    const REAL slack = p->slack, shift = mode == UPWARD ? (REAL)0.5 - slack : slack - (REAL)0.5;
    const INT add = p->add + BITS(MAGIC);
    INT worst = 0;
    for (size_t i = 0; i < n; i++) {
        REAL v = x[i], beyond;
        INT code;
        v = v > low ? v : low; /* a NaN becomes low */
        v = v < high ? v : high;
        if (mode >= UPWARD) {
            REAL shifted = FMA(v, inverse, shift) + MAGIC, t = shifted - MAGIC;
            beyond = mode == UPWARD ? FMA_EXACT(-t, scale, v) : FMA_EXACT(t, scale, -v);
            code = BITS(shifted) + p->add;
        } else {
            INT t = (INT)(v * enlarged);
            beyond = FROM_BITS(BITS(FMA_EXACT((REAL)t, scale, -v)) ^ (BITS(v) & ~MAGNITUDE));
            code = t + add;
        }
        worst = worst > BITS(beyond) ? worst : BITS(beyond);
        NAMED(store)(out, i, code, width);
    }
    return worst > 0;
}

/* The same from the nearest integer, which one comparison of the rest corrects. */
INLINE void NAMED(directed)(const REAL *x, const PLAN *p, int columns, int mode, void *out, int width, size_t n) {
    const PLAN one = *p; /* which no store can change */
    for (size_t i = 0; i < n; i++) {
        ELEMENT(i)
        if (mode == DOWNWARD) code -= rest < 0; /* NGQ-R9 */
        else if (mode == UPWARD) code += rest > 0; /* NGQ-R8 */
        else { /* the rest seen from zero; a step away from it is +1 or -1 */
            INT sign = BITS(v) & ~MAGNITUDE;
            REAL outward = FROM_BITS(BITS(rest) ^ sign);
            REAL step = FROM_BITS(BITS((REAL)1) | sign);
            if (mode == TO_ZERO) outward = -outward, step = -step; /* NGQ-R7 */
            shifted += outward > 0 ? step : 0; /* NGQ-R6 */
            code = BITS(shifted) + q->add;
        }
        NAMED(store)(out, i, code, width);
    }
}

/* Nearest integers. Returns whether one of them may be a tie or next to one. Without `x` the inputs are the bit
 * patterns from `first` on, which need not go through memory then. */
INLINE int NAMED(nearest)(const REAL *x, uint32_t first, const PLAN *p, int columns, void *out, int width, size_t n) {
    const PLAN one = *p; /* which no store can change */
    INT worst = 0;
    int ties = 0;
    for (size_t i = 0; i < n; i++, first++) {
        ELEMENT_OF(x ? x[i] : PATTERN(first), i)
        if (columns) ties |= !(rest < q->half) | !(rest > -q->half);
        else {
            INT magnitude = BITS(rest) & MAGNITUDE;
            worst = worst > magnitude ? worst : magnitude;
        }
        NAMED(store)(out, i, code, width);
    }
    return columns ? ties : worst >= BITS(p->half);
}

/* The same with the right choice on a tie, and where t is the second nearest. Returns whether any was needed. */
INLINE int NAMED(careful)(const REAL *x, const PLAN *p, int columns, int mode, void *out, int width, size_t n) {
    const PLAN one = *p; /* which no store can change */
    /* From memory: as constants of 0 and 1 they would become branches, and the loop stay scalar. */
    INT found = 0;
    const INT even = TIES[mode][0], away = TIES[mode][1], zero = TIES[mode][2], up = TIES[mode][3];
    for (size_t i = 0; i < n; i++) {
        ELEMENT(i)
        INT above = rest > q->half, below = rest < -q->half;
        INT tie_above = rest == q->half, tie_below = rest == -q->half;
        INT lower = BITS(shifted) - BITS(MAGIC) + above - below - tie_below; /* of two as near; else the nearest */
        INT negative = lower < 0;
        INT choice = (even & lower) | up | (away & ~negative) | (zero & negative); /* NGQ-R1, NGQ-R2, NGQ-R3, NGQ-R5 */
        code += above - below - tie_below + ((tie_above | tie_below) & choice); /* NGQ-F2, NGQ-R4 */
        found |= above | below | tie_above | tie_below;
        NAMED(store)(out, i, code, width);
    }
    return found != 0;
}

/* `ties`: whether the block before had ties; then this one probably has some too. Returns whether it has. */
INLINE int NAMED(block)(const REAL *x, const PLAN *p, int columns, int mode, void *out, int width, size_t n, int ties) {
    if (mode < AWAY) {
        if (!ties) ties = NAMED(nearest)(x, 0, p, columns, out, width, n);
        return ties && NAMED(careful)(x, p, columns, mode, out, width, n);
    }
    if (columns || mode == AWAY || p->slack == 0 || NAMED(sided)(x, p, mode, out, width, n))
        NAMED(directed)(x, p, columns, mode, out, width, n);
    return 0;
}

/* Where an argument of round lies: the integer below (or at) it, and 0 or 1 for: inexact, a tie, above a tie. */
#define PLACE(v0, p, below, inexact, tie, above)                                        \
    INT below, inexact, tie, above;                                                      \
    {                                                                                    \
        REAL v = v0;                                                                     \
        v = v > (p)->low ? v : (p)->low;                                                 \
        v = v < (p)->high ? v : (p)->high;                                               \
        REAL shifted = FMA(v, (p)->inverse, MAGIC);                                      \
        REAL rest = FMA_EXACT(MAGIC - shifted, (p)->scale, v);                           \
        INT under = rest < 0, half_above = rest > (p)->half, half_below = rest > -(p)->half; \
        below = BITS(shifted) - BITS(MAGIC) - under;                                     \
        inexact = rest != 0;                                                             \
        tie = (rest == (p)->half) | (rest == -(p)->half);                                \
        above = half_above | (under & half_below);                                       \
    }

/* Whether the lower and the upper integer are the one that came, once clamped, and whether they are out of range. */
#define MATCH(below, is_lower, is_upper, out_lower, out_upper)                          \
    INT is_lower, is_upper, out_lower, out_upper;                                        \
    {                                                                                    \
        INT lower = below, upper = below + 1;                                            \
        out_lower = (lower < lowest) | (lower > highest);                                \
        out_upper = (upper < lowest) | (upper > highest);                                \
        lower = lower > lowest ? lower : lowest, upper = upper > lowest ? upper : lowest; \
        lower = lower < highest ? lower : highest, upper = upper < highest ? upper : highest; \
        is_lower = lower == g, is_upper = upper == g;                                    \
    }

/* For one mode, whether the code is neither the exact one nor that of working precision, and specified. */
#define DIFFERS(mode, up, up_w)                                                          \
    {                                                                                    \
        INT u = up, w = up_w;                                                            \
        INT same = (is_lower ^ (u & (is_lower ^ is_upper))) | (is_lower_w ^ (w & (is_lower_w ^ is_upper_w))); \
        if (leaves) same |= (out_lower ^ (u & (out_lower ^ out_upper))) | (out_lower_w ^ (w & (out_lower_w ^ out_upper_w))); \
        differ##mode += same ^ 1;                                                        \
    }

/* All nine modes on a block: x and the quotients in working precision, with the plans of both (bounds beyond the type's
 * by two), against the codes that came. Results outside [lowest, highest] are unspecified if `leaves`. */
INLINE void NAMED(count)(const REAL *x, const REAL *quotients, const PLAN *exact, const PLAN *working, const INT *got,
                         INT zero_point, INT lowest, INT highest, int leaves, size_t n, int64_t *differ) {
    const PLAN p = *exact, unit = *working;
    INT differ0 = 0, differ1 = 0, differ2 = 0, differ3 = 0, differ4 = 0, differ5 = 0, differ6 = 0, differ7 = 0;
    INT differ8 = 0;
    lowest -= zero_point, highest -= zero_point;
    for (size_t i = 0; i < n; i++) {
        PLACE(x[i], &p, below, inexact, tie, above)
        PLACE(quotients[i], &unit, below_w, inexact_w, tie_w, above_w)
        INT g = got[i] - zero_point, negative = below < 0, negative_w = below_w < 0;
        MATCH(below, is_lower, is_upper, out_lower, out_upper)
        MATCH(below_w, is_lower_w, is_upper_w, out_lower_w, out_upper_w)
        DIFFERS(0, above | (tie & ~negative), above_w | (tie_w & ~negative_w)) /* NGQ-R1 */
        DIFFERS(1, above | (tie & negative), above_w | (tie_w & negative_w)) /* NGQ-R2 */
        DIFFERS(2, above | tie, above_w | tie_w) /* NGQ-R3 */
        DIFFERS(3, above, above_w) /* NGQ-R4 */
        DIFFERS(4, above | (tie & below), above_w | (tie_w & below_w)) /* NGQ-R5, ONQ-R1 */
        DIFFERS(5, inexact & ~negative, inexact_w & ~negative_w) /* NGQ-R6 */
        DIFFERS(6, inexact & negative, inexact_w & negative_w) /* NGQ-R7 */
        DIFFERS(7, inexact, inexact_w) /* NGQ-R8 */
        DIFFERS(8, 0, 0) /* NGQ-R9 */
    }
    differ[0] += differ0, differ[1] += differ1, differ[2] += differ2, differ[3] += differ3, differ[4] += differ4;
    differ[5] += differ5, differ[6] += differ6, differ[7] += differ7, differ[8] += differ8;
}
#undef PLACE
#undef MATCH
#undef DIFFERS

TARGET static void NAMED(counted)(const REAL *x, const REAL *quotients, const PLAN *exact, const PLAN *working,
                                  const INT *got, INT zero_point, INT lowest, INT highest, int leaves, size_t n,
                                  int64_t *differ) {
    if (leaves) NAMED(count)(x, quotients, exact, working, got, zero_point, lowest, highest, 1, n, differ);
    else NAMED(count)(x, quotients, exact, working, got, zero_point, lowest, highest, 0, n, differ);
}

TARGET static void NAMED(blocks)(const REAL *x, const PLAN *p, int columns, int mode, void *out, int width, size_t n,
                                 int *ties) {
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t size = n - at < BLOCK ? n - at : BLOCK;
        void *to = (char *)out + at * width;
        const PLAN *own = columns ? p + at : p;
#define CASE(m, c, w)                                      \
    if (mode == (m) && columns == (c) && width == (w)) {   \
        NAMED(block)(x + at, own, c, m, to, w, size, 0);   \
        continue;                                          \
    }
#define CASES(c, w) CASE(AWAY, c, w) CASE(TO_ZERO, c, w) CASE(UPWARD, c, w) CASE(DOWNWARD, c, w)
        CASES(0, 1) CASES(0, 2) CASES(0, 4) CASES(1, 1) CASES(1, 2) CASES(1, 4)
#if WIDEST == 8
        CASES(0, 8) CASES(1, 8)
#endif
#undef CASE
#undef CASES
#define CASE(c, w)                                         \
    if (columns == (c) && width == (w)) {                  \
        *ties = NAMED(block)(x + at, own, c, mode, to, w, size, *ties); \
        continue;                                          \
    }
        CASE(0, 1) CASE(0, 2) CASE(0, 4) CASE(1, 1) CASE(1, 2) CASE(1, 4)
#if WIDEST == 8
        CASE(0, 8) CASE(1, 8)
#endif
#undef CASE
    }
}
#undef ELEMENT
#undef ELEMENT_OF
