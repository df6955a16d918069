/* Results for consecutive patterns held to all nine modes, for one instruction set; see quotient.h. No guard.
 *
 * A quotient, and its rounding to working precision, grows with x. What the nine modes give depends only on its place:
 * on an integer, below the middle, on it or above it. So a part whose first and last x have one place has nine answers
 * altogether. If all that came for it is the same too, one element stands for all. */

#define OF_KIND(name) PASTE_THREE(name, KIND, SUFFIX)
#define PART 512 /* elements looked at one by one if they have several places */

#define KIND _single
#define PLAN single_plan
#define PLAN_OF(r) (&(r)->single)
#define REAL float
#define INT int32_t
#define MAGIC MAGIC_SINGLE
#define BITS(v) ((int32_t)bits_of_float(v))
#define CLAMPS_FIRST 1
#define CHOOSE(a, b, c) CHOOSE_SINGLE(a, b, c)
#define REST(t, scale, v) REST_SINGLE(-(t), scale, v)
#define STAGE NAMED(stage_single)
#include "quotient_modes.h"
#undef KIND
#undef PLAN
#undef PLAN_OF
#undef REAL
#undef INT
#undef MAGIC
#undef BITS
#undef CLAMPS_FIRST
#undef CHOOSE
#undef REST
#undef STAGE

#define KIND _double
#define PLAN double_plan
#define PLAN_OF(r) (&(r)->twice)
#define REAL double
#define INT int64_t
#define MAGIC MAGIC_DOUBLE
#define BITS(v) bits_of_double(v)
#define CLAMPS_FIRST 0
#define CHOOSE(a, b, c) CHOOSE_DOUBLE(a, b, c)
#define REST(t, scale, v) NAMED(rest_double)(t, scale, v, 1)
#define STAGE NAMED(stage_double)
#include "quotient_modes.h"
#undef KIND
#undef PLAN
#undef PLAN_OF
#undef REAL
#undef INT
#undef MAGIC
#undef BITS
#undef CLAMPS_FIRST
#undef CHOOSE
#undef REST
#undef STAGE

TARGET static void NAMED(count_part)(const request_t *exact, const request_t *working, uint32_t first,
                                     const count_t *what, size_t at, size_t n, int64_t *differ) {
    if (exact->wide) NAMED(count_each_double)(exact, working, first, what, at, n, differ);
    else NAMED(count_each_single)(exact, working, first, what, at, n, differ);
}

/* Counts a part by one of its elements; returns whether that could be done. */
TARGET static int NAMED(count_by_one)(const request_t *exact, const request_t *working, uint32_t first,
                                      const count_t *what, size_t at, size_t n, int64_t *differ) {
    const uint32_t begin = first + (uint32_t)at, end = begin + (uint32_t)n - 1;
    const uint32_t sign = exact->kind == SINGLE_KIND ? 0x80000000u : 0x8000u;
    const char *got = (const char *)what->got + at * what->width;
    int64_t alone[MODES] = {0};
    int mode;
    if ((begin ^ end) & sign || memcmp(got, got + what->width, (n - 1) * what->width)) return 0;
    if (exact->wide ? !NAMED(at_one_place_double)(exact, working, begin, end, what)
                    : !NAMED(at_one_place_single)(exact, working, begin, end, what)) return 0;
    NAMED(count_part)(exact, working, first, what, at, 1, alone);
    for (mode = 0; mode < MODES; mode++) differ[mode] += alone[mode] * (int64_t)n;
    return 1;
}

/* Adds to `differ`, for each mode, how many elements have neither of its two results. Every x is finite. `exact` and
 * `working` are requests for the two forms with bounds two beyond the range, alike wide. */
TARGET static void NAMED(count_patterns)(const request_t *exact, const request_t *working, uint32_t first,
                                         const count_t *what, int64_t *differ) {
    size_t at, from, n, m;
    for (at = 0; at < what->n; at += n) {
        n = what->n - at < 16 * PART ? what->n - at : 16 * PART;
        if (NAMED(count_by_one)(exact, working, first, what, at, n, differ)) continue;
        for (from = at; from < at + n; from += m) {
            m = at + n - from < PART ? at + n - from : PART;
            if (NAMED(count_by_one)(exact, working, first, what, from, m, differ)) continue;
            NAMED(count_part)(exact, working, first, what, from, m, differ);
        }
    }
}
#undef OF_KIND
#undef PART
