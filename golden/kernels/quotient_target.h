/* Everything for one instruction set: TARGET (an attribute), NAMED (the names' suffix), FMAF, FMA_OR_NOT. No guard. */

#define PLAN single_plan
#define REAL float
#define INT int32_t
#define WIDEST 4
#define MAGIC 12582912.0f
#define MAGNITUDE INT32_MAX
#define BITS(v) ((int32_t)bits_of_float(v))
#define FROM_BITS(b) float_of((uint32_t)(b))
#define PATTERN(b) float_of(b)
#define FMA(a, b, c) CHOOSE_SINGLE(a, b, c)
#define FMA_EXACT(a, b, c) REST_SINGLE(a, b, c)
#define NAMED(name) PASTE(name##_single, SUFFIX)
#include "quotient_real.h"
#undef PLAN
#undef REAL
#undef INT
#undef WIDEST
#undef MAGIC
#undef MAGNITUDE
#undef BITS
#undef FROM_BITS
#undef PATTERN
#undef FMA
#undef FMA_EXACT
#undef NAMED

#define PLAN double_plan
#define REAL double
#define INT int64_t
#define WIDEST 8
#define MAGIC 6755399441055744.0
#define MAGNITUDE INT64_MAX
#define BITS(v) bits_of_double(v)
#define FROM_BITS(b) double_of(b)
#define PATTERN(b) 0.0 /* there are too many */
#define FMA(a, b, c) CHOOSE_DOUBLE(a, b, c)
#define FMA_EXACT(a, b, c) fma(a, b, c)
#define NAMED(name) PASTE(name##_double, SUFFIX)
#include "quotient_real.h"
#undef PLAN
#undef REAL
#undef INT
#undef WIDEST
#undef MAGIC
#undef MAGNITUDE
#undef BITS
#undef FROM_BITS
#undef PATTERN
#undef FMA
#undef FMA_EXACT
#undef NAMED

#define NAMED(name) PASTE(name, SUFFIX)

/* Floats from bits, times a factor that is exact, or divided in their own type. */
TARGET static void NAMED(stage_single)(const request_t *r, size_t at, size_t n, float *to) {
    const double *by = r->operand + (r->columns ? at : 0);
    const size_t step = r->columns;
    size_t i;
#define EACH(value, result)                                                                \
    for (i = 0; i < n; i++) {                                                              \
        const float v = value, s = (float)by[step * i];                                    \
        to[i] = result;                                                                    \
    }                                                                                      \
    return;
#define KINDS(load, narrow)                                                                \
    if (r->working && step) { EACH(load, narrow(v / s)) } /* NGQ-F1, ONQ-F1, ONQ-P1 */     \
    if (r->working) {                                                                      \
        const float s0 = (float)by[0];                                                     \
        for (i = 0; i < n; i++) { const float v = load; to[i] = narrow(v / s0); }          \
        return;                                                                            \
    }                                                                                      \
    EACH(load, v * s)
    if (r->kind == HALF_KIND) { KINDS(from_half(((const uint16_t *)r->x)[at + i]), to_half) }
    if (r->kind == BRAIN_KIND) { KINDS(float_of((uint32_t)((const uint16_t *)r->x)[at + i] << 16), to_brain) }
    KINDS(((const float *)r->x)[at + i], )
#undef KINDS
#undef EACH
}

TARGET static void NAMED(stage_double)(const request_t *r, size_t at, size_t n, double *to) {
    const double *by = r->operand + (r->columns ? at : 0);
    const size_t step = r->columns;
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
    else if (r->kind == SINGLE_KIND) for (i = 0; i < n; i++) to[i] = ((const float *)r->x)[at + i];
    else memcpy(to, (const double *)r->x + at, n * sizeof(double));
    if (r->working) for (i = 0; i < n; i++) to[i] /= by[step * i]; /* NGQ-F1 */
    else for (i = 0; i < n; i++) to[i] *= by[step * i];
}

TARGET static void NAMED(row)(const request_t *r) {
    float singles[BLOCK];
    double doubles[BLOCK];
    size_t at, n;
    int ties = 0;
    if (!r->wide && r->direct) {
        NAMED(blocks_single)((const float *)r->x, r->single, r->columns, r->mode, r->out, r->width, r->n, &ties);
        return;
    }
    for (at = 0; at < r->n; at += n) {
        void *out = (char *)r->out + at * r->width;
        n = r->n - at < BLOCK ? r->n - at : BLOCK;
        if (r->wide) {
            NAMED(stage_double)(r, at, n, doubles);
            NAMED(blocks_double)(doubles, r->twice + (r->columns ? at : 0), r->columns, r->mode, out, r->width, n,
                                  &ties);
        } else {
            NAMED(stage_single)(r, at, n, singles);
            NAMED(blocks_single)(singles, r->single + (r->columns ? at : 0), r->columns, r->mode, out, r->width, n,
                                  &ties);
        }
    }
}

/* Counted in the patterns' own 32 bits: with a wider counter each vector would have to be narrowed. */
TARGET static void NAMED(fill)(void *out, int width, uint32_t first, size_t n) {
    uint32_t *words = (uint32_t *)out, i, size = (uint32_t)n;
    uint16_t *halves = (uint16_t *)out;
    if (width == 4) for (i = 0; i < size; i++) words[i] = first + i;
    else for (i = 0; i < size; i++) halves[i] = (uint16_t)(first + i);
}

/* What `row` gives for consecutive float patterns; `r` is direct, with one scale. */
TARGET static void NAMED(row_from)(const request_t *r, uint32_t first) {
    float singles[BLOCK];
    size_t at, n;
    int ties = 0;
    for (at = 0; at < r->n; at += n) {
        void *out = (char *)r->out + at * r->width;
        n = r->n - at < BLOCK ? r->n - at : BLOCK;
        if (r->mode < AWAY && !ties) {
            const uint32_t from = first + (uint32_t)at;
            if (r->width == 1) ties = NAMED(nearest_single)(NULL, from, r->single, 0, out, 1, n);
            else if (r->width == 2) ties = NAMED(nearest_single)(NULL, from, r->single, 0, out, 2, n);
            else ties = NAMED(nearest_single)(NULL, from, r->single, 0, out, 4, n);
            if (!ties) continue;
        }
        NAMED(fill)(singles, 4, first + (uint32_t)at, n);
        NAMED(blocks_single)(singles, r->single, 0, r->mode, out, r->width, n, &ties);
    }
}

/* One scale for all of a row, see count: `exact` and `working` are requests on the same x. */
TARGET static void NAMED(count_row)(const request_t *exact, const request_t *working, const void *got,
                                    int64_t zero_point, int64_t lowest, int64_t highest, int leaves, int64_t *differ) {
    size_t at, n;
    for (at = 0; at < exact->n; at += n) {
        n = exact->n - at < BLOCK ? exact->n - at : BLOCK;
        if (exact->wide) {
            double x[BLOCK], quotients[BLOCK];
            NAMED(stage_double)(exact, at, n, x);
            NAMED(stage_double)(working, at, n, quotients);
            NAMED(counted_double)(x, quotients, exact->twice, working->twice, (const int64_t *)got + at, zero_point,
                                lowest, highest, leaves, n, differ);
        } else {
            float x[BLOCK], quotients[BLOCK];
            NAMED(stage_single)(exact, at, n, x);
            NAMED(stage_single)(working, at, n, quotients);
            NAMED(counted_single)(x, quotients, exact->single, working->single, (const int32_t *)got + at,
                                (int32_t)zero_point, (int32_t)lowest, (int32_t)highest, leaves, n, differ);
        }
    }
}
#undef NAMED
