/* Everything for one instruction set: TARGET (an attribute), SUFFIX (of names), FUSED (1 if it has fma). No guard. */

#define NAMED(name) PASTE(name, SUFFIX)
#if FUSED
#define NEIGHBOURS 1
#define CHOOSE_SINGLE(a, b, c) __builtin_fmaf(a, b, c)
#define REST_SINGLE(a, b, c) __builtin_fmaf(a, b, c)
#define CHOOSE_DOUBLE(a, b, c) __builtin_fma(a, b, c)
#else /* the product is exact in double, and the sum's sign right */
#define NEIGHBOURS 2
#define CHOOSE_SINGLE(a, b, c) ((a) * (b) + (c))
#define REST_SINGLE(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#define CHOOSE_DOUBLE(a, b, c) ((a) * (b) + (c))
#endif

/* Counted in the patterns' own 32 bits: with a wider counter each vector would have to be narrowed. */
TARGET static void NAMED(fill)(void *out, int width, uint32_t first, size_t n) {
    uint32_t *words = (uint32_t *)out, i, size = (uint32_t)n;
    uint16_t *halves = (uint16_t *)out;
    if (width == 4) for (i = 0; i < size; i++) words[i] = first + i;
    else for (i = 0; i < size; i++) halves[i] = (uint16_t)(first + i);
}

/* Whether the bytes are those of the word again and again. They are read once, where memcmp with themselves would read
 * them twice, and from the end, since what was written last is next to the core still. */
TARGET static int NAMED(repeats)(const unsigned char *bytes, size_t size, uint64_t word) {
    size_t left = size / 8, i, n;
    if (memcmp(bytes + 8 * left, &word, size % 8)) return 0;
    for (; left; left -= n) {
        const unsigned char *from;
        uint64_t differ = 0, found;
        n = left < BLOCK ? left : BLOCK;
        from = bytes + 8 * (left - n);
        for (i = 0; i < n; i++) {
            memcpy(&found, from + 8 * i, 8);
            differ |= found ^ word;
        }
        if (differ) return 0;
    }
    return 1;
}

/* How many of the results are not `exact` but `working`, or -1 if one is neither. */
TARGET static int64_t NAMED(only_working)(const void *got, const void *exact, const void *working, int width, size_t n) {
    uint32_t i, size = (uint32_t)n, inexact = 0, neither = 0;
#define EACH(type)                                                                   \
    {                                                                                \
        const type *g = (const type *)got, *e = (const type *)exact, *w = (const type *)working; \
        for (i = 0; i < size; i++) {                                                 \
            inexact += g[i] != e[i];                                                 \
            neither += (g[i] != e[i]) & (g[i] != w[i]);                              \
        }                                                                            \
    }
    if (width == 1) EACH(uint8_t)
    else if (width == 2) EACH(uint16_t)
    else EACH(uint32_t)
#undef EACH
    return neither ? -1 : (int64_t)inexact;
}

#include "quotient_narrow.h"
#include "quotient_wide.h"

/* Floats from bits, times a factor that is exact, or divided in their own type. */
TARGET static void NAMED(stage_single)(const request_t *r, size_t at, size_t n, float *to) {
    const double *by = r->operand + (r->columns ? at : 0);
    const float one = (float)by[0];
    size_t i;
#define EACH(load, factor, result)                       \
    {                                                    \
        for (i = 0; i < n; i++) {                        \
            const float v = load, s = factor;            \
            to[i] = result;                              \
        }                                                \
        return;                                          \
    }
#define KINDS(load, narrow)                                                          \
    {                                                                                \
        if (r->working && r->columns) EACH(load, (float)by[i], narrow(v / s)) /* NGQ-F1, ONQ-F1, ONQ-P1 */ \
        if (r->working) EACH(load, one, narrow(v / s))                               \
        if (r->columns) EACH(load, (float)by[i], v * s)                              \
        EACH(load, one, v * s)                                                       \
    }
    if (r->kind == HALF_KIND) KINDS(from_half(((const uint16_t *)r->x)[at + i]), to_half)
    if (r->kind == BRAIN_KIND) KINDS(float_of((uint32_t)((const uint16_t *)r->x)[at + i] << 16), to_brain)
    KINDS(float_of(((const uint32_t *)r->x)[at + i]), )
#undef KINDS
#undef EACH
}

TARGET static void NAMED(stage_double)(const request_t *r, size_t at, size_t n, double *to) {
    const double *by = r->operand + (r->columns ? at : 0), one = by[0];
    float narrow[BLOCK];
    size_t i;
    if (r->kind != DOUBLE_KIND && r->working) {
        NAMED(stage_single)(r, at, n, narrow);
        for (i = 0; i < n; i++) to[i] = narrow[i];
        return;
    }
    if (r->kind == HALF_KIND) for (i = 0; i < n; i++) to[i] = from_half(((const uint16_t *)r->x)[at + i]);
    else if (r->kind == BRAIN_KIND)
        for (i = 0; i < n; i++) to[i] = float_of((uint32_t)((const uint16_t *)r->x)[at + i] << 16);
    else if (r->kind == SINGLE_KIND) for (i = 0; i < n; i++) to[i] = float_of(((const uint32_t *)r->x)[at + i]);
    else memcpy(to, (const double *)r->x + at, n * sizeof(double));
    if (r->working && r->columns) for (i = 0; i < n; i++) to[i] /= by[i]; /* NGQ-F1 */
    else if (r->working) for (i = 0; i < n; i++) to[i] /= one;
    else if (r->columns) for (i = 0; i < n; i++) to[i] *= by[i];
    else if (one != 1.0) for (i = 0; i < n; i++) to[i] *= one;
}

TARGET static void NAMED(row)(const request_t *r, int *wary) {
    float singles[BLOCK];
    double doubles[BLOCK];
    size_t at, n;
    if (r->direct && !r->wide) {
        NAMED(narrow)((const float *)r->x, 0, &r->single, layout_of(r), r->mode, r->out, r->width, r->n, wary);
        return;
    }
    if (r->direct) {
        NAMED(wide)(NULL, (const float *)r->x, &r->twice, r->columns, r->mode, r->out, r->width, r->n, 1);
        return;
    }
    for (at = 0; at < r->n; at += n) {
        void *out = (char *)r->out + at * r->width;
        const size_t from = r->columns ? at : 0;
        n = r->n - at < BLOCK ? r->n - at : BLOCK;
        if (r->wide) {
            const double_plan own = double_from(&r->twice, from);
            NAMED(stage_double)(r, at, n, doubles);
            NAMED(wide)(doubles, NULL, &own, r->columns, r->mode, out, r->width, n, r->brief);
        } else {
            const single_plan own = single_from(&r->single, from);
            NAMED(stage_single)(r, at, n, singles);
            NAMED(narrow)(singles, 0, &own, r->columns, r->mode, out, r->width, n, wary);
        }
    }
}

/* What `row` gives for consecutive float patterns; `r` is direct and not wide, with one scale. */
TARGET static void NAMED(row_from)(const request_t *r, uint32_t first, int *wary) {
    NAMED(narrow)(NULL, first, &r->single, layout_of(r), r->mode, r->out, r->width, r->n, wary);
}

#include "quotient_count.h"
#undef NAMED
#undef NEIGHBOURS
#undef CHOOSE_SINGLE
#undef REST_SINGLE
#undef CHOOSE_DOUBLE
