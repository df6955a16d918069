/* The double loops for one instruction set (TARGET, NAMED): results of up to 32 bits, float64; see quotient.h.
 *
 * The integer is clamped, not x: what is beyond the range stays beyond it, whatever its rest is, since a rest
 * moves the integer by one at the most. Everything stays a double until it is stored, since SSE2 has hardly any
 * 64-bit integers. */

#define OWN(field) (columns ? p->field[i] : one_##field)
#define ONES                                                                           \
    const double one_scale = *p->scale, one_inverse = *p->inverse, one_magic = *p->magic; \
    const double one_low = *p->low, one_high = *p->high; /* which no store can change */

/* x - t * scale, rounded once. `brief`: neither x nor scale has more than 24 digits, nor t more than 40. Without
 * fma t is then split at 2^12. Both products are exact; so is x less the first: that is x itself where |x| < scale,
 * and else a multiple of scale's unit below 2^13 * scale. */
INLINE double NAMED(rest_double)(double t, double scale, double x, int brief) {
#if FUSED
    (void)brief;
    return __builtin_fma(-t, scale, x);
#else
    double coarse;
    if (!brief) return fma(-t, scale, x);
    coarse = (t + 0x1.8p64) - 0x1.8p64;
    return (x - coarse * scale) - (t - coarse) * scale;
#endif
}

INLINE void NAMED(store_double)(void *RESTRICT out, size_t i, double shifted, int width) {
    if (width == 1) ((int8_t *)out)[i] = (int8_t)bits_of_double(shifted);
    else if (width == 2) ((int16_t *)out)[i] = (int16_t)bits_of_double(shifted);
    else if (width == 4) ((int32_t *)out)[i] = (int32_t)bits_of_double(shifted);
    else ((int64_t *)out)[i] = bits_of_double(shifted) - MAGIC_DOUBLE_BITS;
}

/* The integer for an x: t, or one step up or down from it; always added, since GCC makes a branch of `t - (c ? 1 :
 * 0)`. Nearest modes do as `careful`; Q less the middle tells whether to step up. Its bits plus 1 are the next
 * double: so of a tie that goes up it becomes positive. */
INLINE double NAMED(stepped)(double x, double scale, double inverse, double slack, int mode, int brief) {
    double shifted, t, rest, outward, step;
    int64_t up, sign;
    if (mode < AWAY) shifted = CHOOSE_DOUBLE(x, inverse, -slack) + MAGIC_DOUBLE;
    else shifted = CHOOSE_DOUBLE(x, inverse, MAGIC_DOUBLE);
    t = shifted - MAGIC_DOUBLE; /* NGQ-F1, ONQ-F1 */
    rest = NAMED(rest_double)(mode < AWAY ? t + 0.5 : t, scale, x, brief);
    if (mode == DOWNWARD) return t + (rest < 0.0 ? -1.0 : 0.0); /* NGQ-R9 */
    if (mode == UPWARD) return t + (rest > 0.0 ? 1.0 : 0.0); /* NGQ-R8 */
    if (mode >= AWAY) { /* the rest seen from zero; a step away from it is +1 or -1 */
        sign = bits_of_double(x) & INT64_MIN;
        outward = double_of(bits_of_double(rest) ^ sign);
        step = double_of(bits_of_double(1.0) | sign);
        if (mode == AWAY) return t + (outward > 0.0 ? step : 0.0); /* NGQ-R6 */
        return t + (outward < 0.0 ? -step : 0.0); /* NGQ-R7 */
    }
    if (mode == NEAREST_EVEN) up = bits_of_double(shifted) & 1; /* NGQ-R5, ONQ-R1 */
    else if (mode == NEAREST_AWAY) up = (int64_t)(~(uint64_t)bits_of_double(x) >> 63); /* NGQ-R1 */
    else if (mode == NEAREST_ZERO) up = (int64_t)((uint64_t)bits_of_double(x) >> 63); /* NGQ-R2 */
    else up = mode == NEAREST_UP; /* NGQ-R3, NGQ-R4 */
    return t + (double_of(bits_of_double(rest) + up) > 0.0 ? 1.0 : 0.0);
}

/* From doubles, or from floats that need no factor. */
INLINE void NAMED(wide_block)(const double *RESTRICT x, const float *RESTRICT floats, const double_plan *p, int columns,
                              int mode, void *RESTRICT out, int width, size_t n, int brief) {
    ONES
    const double slack = p->slack;
    for (size_t i = 0; i < n; i++) {
        const double v = floats ? floats[i] : x[i];
        double t = NAMED(stepped)(v, OWN(scale), OWN(inverse), slack, mode, brief);
        t = t > OWN(low) ? t : OWN(low); /* a NaN becomes low */
        t = t < OWN(high) ? t : OWN(high); /* ONQ-C1 */
        NAMED(store_double)(out, i, t + OWN(magic), width); /* NGQ-F2, NGQ-F3, ONQ-F2 */
    }
}

INLINE void NAMED(wide_any)(const double *x, const float *floats, const double_plan *p, int columns, int mode, void *out,
                            int width, size_t n, int brief) {
#define CASE(m)                                                                                  \
    case m:                                                                                      \
        if (floats) NAMED(wide_block)(NULL, floats, p, columns, m, out, width, n, 1);            \
        else if (brief) NAMED(wide_block)(x, NULL, p, columns, m, out, width, n, 1);             \
        else NAMED(wide_block)(x, NULL, p, columns, m, out, width, n, 0);                        \
        return;
    switch (mode) { CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) }
#undef CASE
}

/* One function a layout and width: in a single one the compiler would take minutes. */
#define EACH(c, w)                                                                                                 \
    TARGET SEPARATE static void NAMED(wide_##c##_##w)(const double *x, const float *floats, const double_plan *p,      \
                                                      int mode, void *out, size_t n, int brief) {                  \
        const double_plan own = *p; /* as in quotient_narrow.h */                                                  \
        NAMED(wide_any)(x, floats, &own, c, mode, out, w, n, brief);                                                  \
    }
#define ALL EACH(0, 1) EACH(0, 2) EACH(0, 4) EACH(0, 8) EACH(1, 1) EACH(1, 2) EACH(1, 4) EACH(1, 8)
ALL
#undef EACH

/* A block. Widths of 1 and 2 bytes are rare here: zero points and scales far out. */
TARGET static void NAMED(wide)(const double *x, const float *floats, const double_plan *p, int columns, int mode,
                               void *out, int width, size_t n, int brief) {
#define EACH(c, w) if (columns == (c) && width == (w)) NAMED(wide_##c##_##w)(x, floats, p, mode, out, n, brief);
    ALL
#undef EACH
}
#undef ALL
#undef OWN
#undef ONES
