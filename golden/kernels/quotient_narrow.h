/* The float loops for one instruction set (TARGET, NAMED): results of at most 2^20 steps from zero; see quotient.h.
 *
 * x is clamped first. The bits of MAGIC_SINGLE + n are those of MAGIC_SINGLE plus n, and the zero point is part of
 * `magic` already: so the lowest 8 or 16 bits of a sum are a result of that width as they are. */

#define OWN(field) (layout == COLUMNS ? p->field[i] : one_##field) /* of the element's scale */
#define ONES                                                                          \
    const float one_scale = *p->scale, one_inverse = *p->inverse, one_magic = *p->magic; \
    const float one_low = *p->low, one_high = *p->high, one_factor = p->factor; /* which no store can change */
#define TIMES_FACTOR(value, factor) CHOOSE_SINGLE(value, factor, -0.0f) /* fma is the faster one for subnormals */
#define CLAMPED(value)                                                       \
    float v = layout == TIMES ? TIMES_FACTOR(value, one_factor) : (value);    \
    v = v > OWN(low) ? v : OWN(low); /* a NaN becomes low */                  \
    v = v < OWN(high) ? v : OWN(high); /* ONQ-C1 */

INLINE void NAMED(store_single)(void *RESTRICT out, size_t i, int32_t bits, int width) {
    if (width == 1) ((int8_t *)out)[i] = (int8_t)bits;
    else if (width == 2) ((int16_t *)out)[i] = (int16_t)bits;
    else ((int32_t *)out)[i] = bits - MAGIC_SINGLE_BITS; /* NGQ-F3, ONQ-F2 */
}

/* Nearest integers, without a rest: Q lies strictly between x times a number below the inverse and x times one
 * above. If both products round to one integer, so does Q, and Q is no tie: of a tie the two would lie on both
 * sides. Returns whether some element's do not. NEIGHBOURS is how many floats away from the rounded inverse those
 * numbers are: with fma one is enough, without it the product's own rounding must not reach Q either. Without `x`
 * the inputs are the bit patterns from `first` on, which need not go through memory then. */
INLINE int NAMED(bracketed)(const float *RESTRICT x, uint32_t first, const single_plan *p, int layout,
                            void *RESTRICT out, int width, size_t n) {
    ONES
    int32_t differing = 0;
    for (size_t i = 0; i < n; i++, first++) {
        CLAMPED(x ? x[i] : float_of(first))
        const uint32_t inverse = bits_of_float(OWN(inverse));
        const float one = CHOOSE_SINGLE(v, float_of(inverse - NEIGHBOURS), OWN(magic)); /* NGQ-F1, ONQ-F1 */
        const float other = CHOOSE_SINGLE(v, float_of(inverse + NEIGHBOURS), OWN(magic));
        differing |= (int32_t)(bits_of_float(one) ^ bits_of_float(other));
        NAMED(store_single)(out, i, (int32_t)bits_of_float(one), width); /* NGQ-F2, NGQ-F3, ONQ-F2 */
    }
    return differing != 0;
}

/* Nearest integers whatever the quotients are. The product is made a little less, by `slack`, which is more than it
 * can be off: so t is not above Q + 1/2, and where t is not nearest, t + 1 is. The middle of the two, less Q,
 * tells: its bits are less than 0 if t + 1 is nearest, and 0, less than 1, at a tie. */
INLINE void NAMED(careful)(const float *RESTRICT x, const single_plan *p, int layout, int mode, void *RESTRICT out,
                           int width, size_t n) {
    ONES
    const float less = -p->slack;
    for (size_t i = 0; i < n; i++) {
        CLAMPED(x[i])
        const float magic = OWN(magic);
        const float shifted = CHOOSE_SINGLE(v, OWN(inverse), less) + magic; /* NGQ-F1, ONQ-F1 */
        const float rest = REST_SINGLE((shifted - magic) + 0.5f, OWN(scale), -v);
        const int32_t sign = (int32_t)bits_of_float(v) >> 31, code = (int32_t)bits_of_float(shifted);
        int32_t up; /* whether a tie goes up */
        if (mode == NEAREST_EVEN) up = (code ^ (int32_t)bits_of_float(magic)) & 1; /* NGQ-R5, ONQ-R1 */
        else if (mode == NEAREST_AWAY) up = 1 + sign; /* NGQ-R1 */
        else if (mode == NEAREST_ZERO) up = -sign; /* NGQ-R2 */
        else up = mode == NEAREST_UP; /* NGQ-R3, NGQ-R4 */
        NAMED(store_single)(out, i, (int32_t)bits_of_float(rest) < up ? code + 1 : code, width); /* NGQ-F3, ONQ-F2 */
    }
}

/* The same where the plan has suitable factors: then rounding says it all. t is the nearest integer, at a tie the
 * one next to zero, for the inverse is `inner`; or the nearest even one. So it is x less t * scale that is to be
 * rounded to steps: exactly known, as it is x where |x| < scale / 2, and else a multiple of the smaller unit and
 * below scale. The factor `kept` makes of scale / 2 a bit less than half a step, which rounds to t, and `moved` a
 * bit more; of the floats next to scale / 2 neither makes half a step. See `factors`. */
INLINE void NAMED(rounded)(const float *RESTRICT x, const single_plan *p, int layout, int mode, void *RESTRICT out,
                           int width, size_t n) {
    ONES
    const float one_kept = *p->kept, one_moved = *p->moved;
    for (size_t i = 0; i < n; i++) {
        CLAMPED(x[i])
        const float magic = OWN(magic);
        float shifted, t, factor;
        if (mode == NEAREST_EVEN) { /* NGQ-R5, ONQ-R1 */
            t = CHOOSE_SINGLE(v, OWN(inverse), 2 * MAGIC_SINGLE) - 2 * MAGIC_SINGLE; /* NGQ-F1, ONQ-F1 */
            shifted = t + magic;
        } else {
            shifted = CHOOSE_SINGLE(v, OWN(inverse) * INNER, magic);
            t = shifted - magic;
        }
        if (mode == NEAREST_UP) factor = v < 0 ? OWN(kept) : OWN(moved); /* NGQ-R3 */
        else if (mode == NEAREST_DOWN) factor = v < 0 ? OWN(moved) : OWN(kept); /* NGQ-R4 */
        else factor = mode == NEAREST_AWAY ? OWN(moved) : OWN(kept); /* NGQ-R1, NGQ-R2 */
        shifted = REST_SINGLE(REST_SINGLE(-t, OWN(scale), v), factor, shifted);
        NAMED(store_single)(out, i, (int32_t)bits_of_float(shifted), width); /* NGQ-F2, NGQ-F3, ONQ-F2 */
    }
}

/* The same where every scale is a power of two: then a product is the quotient itself, unless it underflows, which
 * rounds to 0 as well. t is the nearest integer, at a tie one of two, and what is left of Q says which. AWAY adds the
 * float below 1/2 and cuts: their sum is rounded to the next integer from a tie on, and below for less. With fma, ZERO
 * needs but the factor below the inverse: it takes less than a unit from Q, so only a tie gets below itself. */
INLINE void NAMED(divided)(const float *RESTRICT x, const single_plan *p, int layout, int mode, void *RESTRICT out,
                           int width, size_t n) {
    ONES
    for (size_t i = 0; i < n; i++) {
        CLAMPED(x[i])
        const float magic = OWN(magic), inverse = OWN(inverse);
        const uint32_t sign = bits_of_float(v) & 0x80000000u;
        float shifted, left;
        if (mode == NEAREST_AWAY) { /* NGQ-R1 */
            const float moved = v * inverse + float_of(sign | 0x3effffffu); /* NGQ-F1, ONQ-F1 */
            NAMED(store_single)(out, i, (int32_t)moved + (int32_t)bits_of_float(magic), width);
            continue;
        }
        if (mode == NEAREST_EVEN) { /* NGQ-R5, ONQ-R1 */
            shifted = (CHOOSE_SINGLE(v, inverse, MAGIC_SINGLE) - MAGIC_SINGLE) + magic;
        } else if (mode == NEAREST_ZERO && FUSED) { /* NGQ-R2 */
            shifted = CHOOSE_SINGLE(v, float_of(bits_of_float(inverse) - 1), magic);
        } else {
            shifted = CHOOSE_SINGLE(v, inverse, magic);
            left = CHOOSE_SINGLE(v, inverse, magic - shifted);
            if (mode == NEAREST_UP) shifted += left == 0.5f ? 1.0f : 0.0f; /* NGQ-R3 */
            else if (mode == NEAREST_DOWN) shifted += left == -0.5f ? -1.0f : 0.0f; /* NGQ-R4 */
            else shifted += left == float_of(0xbf000000u ^ sign) ? float_of(0xbf800000u ^ sign) : 0.0f; /* NGQ-R2 */
        }
        NAMED(store_single)(out, i, (int32_t)bits_of_float(shifted), width); /* NGQ-F2, NGQ-F3, ONQ-F2 */
    }
}

/* The integer below, above, toward or away from zero: the nearest, or one less or more, as the rest's sign says. An
 * exact rest is +0 here: a - b, rounded to nearest, is +0 where a equals b, and so is 0 * scale + x for x = -0.
 * `sign` is -1 for a negative x, else 0. Less 1, the bits of +0 become negative too, so that < becomes <=. */
INLINE void NAMED(directed)(const float *RESTRICT x, const single_plan *p, int layout, int mode, void *RESTRICT out,
                            int width, size_t n) {
    ONES
    for (size_t i = 0; i < n; i++) {
        CLAMPED(x[i])
        const float magic = OWN(magic), scale = OWN(scale);
        const float shifted = CHOOSE_SINGLE(v, OWN(inverse), magic); /* NGQ-F1, ONQ-F1 */
        const int32_t sign = (int32_t)bits_of_float(v) >> 31;
        int32_t code = (int32_t)bits_of_float(shifted); /* NGQ-F2, NGQ-F3, ONQ-F2 */
        if (mode == DOWNWARD || mode == TO_ZERO) {
            const int32_t rest = (int32_t)bits_of_float(REST_SINGLE(magic - shifted, scale, v));
            if (mode == DOWNWARD) code += rest >> 31; /* NGQ-R9 */
            else code += ((rest + sign) >> 31) - sign; /* NGQ-R7: of a negative Q the integer below that < Q, plus 1 */
        } else {
            const int32_t rest = (int32_t)bits_of_float(REST_SINGLE(shifted - magic, scale, -v)); /* its negative */
            if (mode == UPWARD) code -= rest >> 31; /* NGQ-R8 */
            else code -= ((rest + sign) >> 31) - sign; /* NGQ-R6 */
        }
        NAMED(store_single)(out, i, code, width);
    }
}

/* One block. `*wary` is 0, or 1 if the block before had a quotient next to a tie, or 1 more than the number of
 * blocks to round carefully at once, since two in a row had one. */
INLINE void NAMED(narrow_block)(const float *x, uint32_t first, const single_plan *p, int layout, int mode, void *out,
                                int width, size_t n, int *wary) {
    float patterns[BLOCK];
    if (mode < AWAY && p->brackets && *wary <= 1) {
        if (!NAMED(bracketed)(x, first, p, layout, out, width, n)) {
            *wary = 0;
            return;
        }
        *wary = *wary ? 1 + WARY : 1;
    } else if (*wary) --*wary;
    if (!x) for (uint32_t i = 0; i < (uint32_t)n; i++) patterns[i] = float_of(first + i);
    if (!x) x = patterns;
    if (!FUSED && layout == TIMES) { /* beforehand: converting subnormals to double takes long */
        for (size_t i = 0; i < n; i++) patterns[i] = TIMES_FACTOR(x[i], p->factor);
        x = patterns, layout = ONE;
    }
    if (mode >= AWAY) NAMED(directed)(x, p, layout, mode, out, width, n);
    else if (p->powers) NAMED(divided)(x, p, layout, mode, out, width, n);
    else if (p->factors) NAMED(rounded)(x, p, layout, mode, out, width, n);
    else NAMED(careful)(x, p, layout, mode, out, width, n);
}

/* One function a mode and layout: in a single one the compiler would take minutes. Bytes may alias anything: only of a
 * plan of its own does the compiler know that no store changes it. */
#define CASE(m, l, w)                                                        \
    case w:                                                                  \
        NAMED(narrow_block)(x, first, &own, l, m, out, w, n, wary); \
        break;
#define EACH(m, l)                                                                                            \
    TARGET SEPARATE static void NAMED(narrow_##m##_##l)(const float *x, uint32_t first, const single_plan *plan, \
                                                        void *out, int width, size_t n, int *wary) {          \
        const single_plan own = *plan;                                                                        \
        switch (width) { CASE(m, l, 1) CASE(m, l, 2) CASE(m, l, 4) }                                          \
    }
#define LAYOUTS(m) EACH(m, 0) EACH(m, 1) EACH(m, 2)
LAYOUTS(0) LAYOUTS(1) LAYOUTS(2) LAYOUTS(3) LAYOUTS(4) LAYOUTS(5) LAYOUTS(6) LAYOUTS(7) LAYOUTS(8)
#undef EACH
#undef CASE

/* A row's part that is floats in memory, or without `x` bit patterns from `first` on. A long row's first block
 * ends with a cache line, since vectors that lie across two take twice as long to read. Columns have plans that begin
 * with one, and in a short row the ends, which fill no vector, would cost more. */
TARGET static void NAMED(narrow)(const float *x, uint32_t first, const single_plan *plan, int layout, int mode,
                                 void *out, int width, size_t n, int *wary) {
    const size_t past = layout != COLUMNS && n >= LONG ? (uintptr_t)x / sizeof(float) % LINE : 0;
    size_t at, size;
    for (at = 0; at < n; at += size) {
        const size_t most = at ? BLOCK : BLOCK - past;
        const single_plan own = layout == COLUMNS ? single_from(plan, at) : *plan;
        const float *from = x ? x + at : NULL;
        void *to = (char *)out + at * width;
        size = n - at < most ? n - at : most;
        if (x && n >= FAR && n - at >= 2 * BLOCK) fetch_ahead(from + BLOCK, BLOCK * sizeof(float));
        switch (mode * 3 + layout) {
#define EACH(m, l)                                                                            \
    case (m) * 3 + (l):                                                                       \
        NAMED(narrow_##m##_##l)(from, first + (uint32_t)at, &own, to, width, size, wary); \
        break;
            LAYOUTS(0) LAYOUTS(1) LAYOUTS(2) LAYOUTS(3) LAYOUTS(4) LAYOUTS(5) LAYOUTS(6) LAYOUTS(7) LAYOUTS(8)
#undef EACH
        }
    }
}
#undef LAYOUTS
#undef OWN
#undef ONES
#undef CLAMPED
#undef TIMES_FACTOR
