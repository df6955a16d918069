/* All nine modes' answers from one quotient, for one real type (REAL, INT, PLAN); see quotient_count.h. No guard. */

/* Where an argument of round lies: the integer below (or at) it, and 0 or 1 for: inexact, a tie, above a tie.
 * Floats are clamped before, see quotient_narrow.h, doubles after, see quotient_wide.h. */
#define PLACE(value, p, below, inexact, tie, above)                                      \
    INT below, inexact, tie, above;                                                      \
    {                                                                                    \
        REAL v = value, t, rest, middle;                                                 \
        if (CLAMPS_FIRST) v = v > *(p)->low ? v : *(p)->low, v = v < *(p)->high ? v : *(p)->high; \
        t = CHOOSE(v, *(p)->inverse, MAGIC) - MAGIC;                                     \
        rest = REST(t, *(p)->scale, v);                                                  \
        inexact = rest != 0;                                                             \
        t += rest < 0 ? (REAL)-1 : (REAL)0;                                              \
        middle = REST(t + (REAL)0.5, *(p)->scale, v);                                    \
        tie = middle == 0, above = middle > 0;                                           \
        if (!CLAMPS_FIRST) t = t > *(p)->low ? t : *(p)->low, t = t < *(p)->high - 1 ? t : *(p)->high - 1; \
        below = BITS(t + MAGIC) - BITS(MAGIC);                                           \
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

/* A block: x and the quotients in working precision, with the plans of both (bounds beyond the type's by two), against
 * the codes that came. Results outside [lowest, highest] are unspecified if `leaves`. */
INLINE void OF_KIND(count)(const REAL *x, const REAL *quotients, const PLAN *exact, const PLAN *working,
                                      const INT *got, const count_t *what, int leaves, size_t n, int64_t *differ) {
    const INT zero_point = (INT)what->zero_point;
    const INT lowest = (INT)what->lowest - zero_point, highest = (INT)what->highest - zero_point;
    const PLAN p = *exact, unit = *working;
    INT differ0 = 0, differ1 = 0, differ2 = 0, differ3 = 0, differ4 = 0, differ5 = 0, differ6 = 0, differ7 = 0;
    INT differ8 = 0;
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

/* One number for the place of an argument, which grows with it. What is beyond both ends has one each. */
INLINE int64_t OF_KIND(spot)(REAL x, const PLAN *p, const count_t *what) {
    PLACE(x, p, below, inexact, tie, above)
    if (below < what->lowest - what->zero_point - 1) return 4 * (what->lowest - what->zero_point - 2);
    if (below > what->highest - what->zero_point) return 4 * (what->highest - what->zero_point + 1);
    return 4 * (int64_t)below + inexact + tie + 2 * above;
}

INLINE void OF_KIND(widen)(const count_t *what, size_t at, size_t n, INT *to) {
    const int is_signed = what->lowest < 0;
    size_t i;
#define EACH(type) for (i = 0; i < n; i++) to[i] = (INT)((const type *)what->got)[at + i];
    if (what->width == 1 && is_signed) EACH(int8_t)
    else if (what->width == 1) EACH(uint8_t)
    else if (what->width == 2 && is_signed) EACH(int16_t)
    else if (what->width == 2) EACH(uint16_t)
    else if (is_signed) EACH(int32_t)
    else EACH(uint32_t)
#undef EACH
}

/* Each of a part's elements, their patterns made in memory. */
TARGET static void OF_KIND(count_each)(const request_t *exact, const request_t *working, uint32_t first,
                                                  const count_t *what, size_t at, size_t n, int64_t *differ) {
    uint32_t patterns[PART];
    REAL x[PART], quotients[PART];
    INT got[PART];
    const PLAN *plans[] = {PLAN_OF(exact), PLAN_OF(working)};
    request_t e = *exact, w = *working;
    e.x = w.x = patterns;
    NAMED(fill)(patterns, e.kind == SINGLE_KIND ? 4 : 2, first + (uint32_t)at, n);
    STAGE(&e, 0, n, x);
    STAGE(&w, 0, n, quotients);
    OF_KIND(widen)(what, at, n, got);
    if (what->leaves) OF_KIND(count)(x, quotients, plans[0], plans[1], got, what, 1, n, differ);
    else OF_KIND(count)(x, quotients, plans[0], plans[1], got, what, 0, n, differ);
}

/* Whether the first and the last x of a part, and all between them therefore, have the same place in both forms. */
TARGET static int OF_KIND(at_one_place)(const request_t *exact, const request_t *working, uint32_t first,
                                                   uint32_t last, const count_t *what) {
    const uint32_t words[] = {first, last};
    const uint16_t halves[] = {(uint16_t)first, (uint16_t)last};
    REAL x[2], quotients[2];
    request_t e = *exact, w = *working;
    e.x = w.x = e.kind == SINGLE_KIND ? (const void *)words : halves;
    STAGE(&e, 0, 2, x);
    STAGE(&w, 0, 2, quotients);
    return OF_KIND(spot)(x[0], PLAN_OF(exact), what) == OF_KIND(spot)(x[1], PLAN_OF(exact), what) &&
           OF_KIND(spot)(quotients[0], PLAN_OF(working), what) ==
               OF_KIND(spot)(quotients[1], PLAN_OF(working), what);
}
#undef PLACE
#undef MATCH
#undef DIFFERS
