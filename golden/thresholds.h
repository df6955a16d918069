/* The inputs next to the thresholds of one scale, and the grades of a backend's answers to them.
 *
 * thresholds.py explains places, steps and the three inputs of a step, and does the same with NumPy. Here a row holds
 * the inputs of one scale: the lower inputs of all steps, then those between, then the upper ones, then the finite ends
 * and zero. So each loop reads and writes whole vectors.
 *
 * A scale is *plain* if all its thresholds are finite. Then the place of a normal threshold is the upper part of the
 * bits of a double product, moved by a constant: no loop branches. Subnormal thresholds, which are few, are done anew.
 * Other scales go the long way, threshold by threshold.
 */

#ifndef TIEBREAK_THRESHOLDS_H
#define TIEBREAK_THRESHOLDS_H

#include "clones.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

#define LARGEST 0x7f7fffff /* the place of the greatest finite float32 */
#define INFINITE 0x7f800000
#define NEGATIVE 0x80000000u
#define DROPPED 0x1fffffff /* the bits of a double that a float32 lacks */
#define EXTRA 3            /* inputs of a row that belong to no step */

typedef struct {
    double significand;
    uint32_t offset; /* moves the bits of a double product to a place */
    int plain;
} scale_parts;

static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline scale_parts parts_of(uint32_t scale, int32_t most) {
    uint32_t exponent = scale >> 23, significand = scale & 0x7fffff;
    scale_parts parts;
    int beyond = exponent ? (int)exponent : 1;
    parts.significand = exponent ? significand | 0x800000 : significand;
    parts.offset = (uint32_t)(beyond + 126 - 150 - 1023) << 23;
    /* the greatest product has as many bits more as `most` has */
    for (parts.plain = 1; parts.plain && most; most >>= 1)
        parts.plain = ++beyond < 254;
    return parts;
}

/* The place of the threshold from a step to the next; a scale need not be plain. */
static inline int64_t threshold(uint32_t scale, int64_t step) {
    uint32_t exponent = scale >> 23;
    int64_t significand = scale & 0x7fffff, odd = 2 * step + 1, product, place, sticky, even = ~step & 1;
    uint64_t bits;
    if (exponent)
        significand |= 0x800000;
    else
        exponent = 1;
    product = significand * (odd > 0 ? odd : -odd); /* below 2^41: a double holds it */
    bits = bits_of((double)product);
    place = (int64_t)(bits >> 29) + ((int64_t)exponent + 126 - 150 - 1023) * 0x800000;
    sticky = (bits & DROPPED) != 0;
    if (place < 0x800000) { /* subnormal: a unit is 2^-149, the product counts halves of it */
        place = product >> 1;
        sticky = product & 1;
    }
    if (place > LARGEST)
        return odd > 0 ? INFINITE : -(int64_t)INFINITE;
    return odd > 0 ? place + (sticky | even) : -place + ((sticky ^ 1) & even);
}

static inline uint32_t pattern(int64_t place) {
    if (place > LARGEST)
        place = LARGEST;
    if (place < -LARGEST)
        place = -LARGEST;
    return place >= 0 ? (uint32_t)place : NEGATIVE | (uint32_t)-place;
}

/* The patterns between the lower and the upper inputs of the steps from `first` on, for a plain scale. */
CLONES static void fill_plain(scale_parts parts, int32_t first, int32_t count, uint32_t *RESTRICT middle) {
    int32_t negative = first >= 0 ? 0 : -first < count ? -first : count;
    for (int32_t i = 0; i < negative; i++) {
        uint32_t odd = -(2 * (uint32_t)(first + i) + 1), parity = (uint32_t)(first + i) & 1;
        uint64_t bits = bits_of(parts.significand * (double)(int32_t)odd);
        uint32_t exact = ((uint32_t)bits & DROPPED) == 0;
        middle[i] = (NEGATIVE | ((uint32_t)(bits >> 29) + parts.offset)) - (exact & ~parity) + parity;
    }
    for (int32_t i = negative; i < count; i++) {
        uint32_t odd = 2 * (uint32_t)(first + i) + 1, parity = (uint32_t)(first + i) & 1;
        uint64_t bits = bits_of(parts.significand * (double)(int32_t)odd);
        uint32_t sticky = ((uint32_t)bits & DROPPED) != 0;
        middle[i] = (uint32_t)(bits >> 29) + parts.offset + (sticky | (parity ^ 1)) - parity;
    }
}

typedef struct {
    int32_t begin, end;
} some_steps;

/* The steps, numbered from `first`, whose thresholds fill_plain does not know: subnormal ones, or all. */
static inline some_steps others(uint32_t scale, scale_parts parts, int32_t first, int32_t count) {
    some_steps steps = {0, parts.plain ? 0 : count};
    if (parts.plain && scale < 0x1000000) {
        int64_t odd = 0xffffff / (int64_t)parts.significand, last = (odd - 1) / 2;
        int64_t begin = -last - 1 - first, end = last + 1 - first;
        steps.begin = (int32_t)(begin < 0 ? 0 : begin > count ? count : begin);
        steps.end = (int32_t)(end < 0 ? 0 : end > count ? count : end);
    }
    return steps;
}

static void fill_middle(uint32_t scale, scale_parts parts, int32_t first, int32_t count, uint32_t *middle) {
    some_steps steps = others(scale, parts, first, count);
    if (parts.plain)
        fill_plain(parts, first, count, middle);
    for (int32_t i = steps.begin; i < steps.end; i++)
        middle[i] = pattern(threshold(scale, first + i) - ((first + i) & 1));
}

/* A place one lower has a pattern one higher if it is negative. */
CLONES static void fill_neighbours(int32_t count, const uint32_t *RESTRICT middle,
                                   uint32_t *RESTRICT below, uint32_t *RESTRICT above) {
    for (int32_t i = 0; i < count; i++) {
        uint32_t down = 1 - 2 * (middle[i] >> 31);
        below[i] = middle[i] - down;
        above[i] = middle[i] + down;
    }
}

static void fill_row(uint32_t scale, int32_t first, int32_t count, uint32_t *row) {
    scale_parts parts = parts_of(scale, first < 0 && -first > first + count ? -first : first + count);
    uint32_t *below = row, *middle = row + count, *above = row + 2 * count;
    some_steps steps = others(scale, parts, first, count);
    if (parts.plain) {
        fill_plain(parts, first, count, middle);
        fill_neighbours(count, middle, below, above);
    }
    for (int32_t i = steps.begin; i < steps.end; i++) {
        int64_t step = first + i, place = threshold(scale, step) - (step & 1);
        below[i] = pattern(place - 1);
        middle[i] = pattern(place);
        above[i] = pattern(place + 1);
    }
    row[3 * count] = NEGATIVE | LARGEST;
    row[3 * count + 1] = 0;
    row[3 * count + 2] = LARGEST;
}

/* Whether each middle input rounds up in working precision: by x / scale in float32, which must reach `least`. */
CLONES static void divide(float scale, int32_t count, const float *RESTRICT least, const uint32_t *RESTRICT middle,
                          uint8_t *RESTRICT up) {
    for (int32_t i = 0; i < count; i++) {
        union {
            uint32_t bits;
            float value;
        } x = {middle[i]};
        up[i] = x.value / scale >= least[i];
    }
}

/* The least quotients that round to the step after each: a step and a half itself if that tie rounds up. */
static void fill_least(int32_t first, int32_t count, float *least) {
    for (int32_t i = 0; i < count; i++) {
        float half = (float)(first + i) + 0.5f;
        least[i] = (first + i) & 1 ? half : nextafterf(half, INFINITY);
    }
}

/* The number of working-precision answers of a row; `wrong` gets the number of answers that are neither form's.
 *
 * Codes only need to be told apart, so signed ones are read as unsigned. `low` has all in order, count + 1 of them.
 * `least` is of fill_least; `middle` and `up` are memory for `count` elements.
 */
#define GRADE_ROW(NAME, CODE)                                                                                          \
    CLONES static uint32_t NAME##_differing(int32_t count, const CODE *codes, const CODE *wanted) {                    \
        uint32_t differ = 0;                                                                                           \
        if (memcmp(codes, wanted, count * sizeof(CODE)) == 0)                                                          \
            return 0;                                                                                                  \
        for (int32_t i = 0; i < count; i++)                                                                            \
            differ += codes[i] != wanted[i];                                                                           \
        return differ;                                                                                                 \
    }                                                                                                                  \
    CLONES static uint32_t NAME##_between(int32_t count, const CODE *RESTRICT middle, const CODE *RESTRICT low,        \
                                          int32_t first, const uint8_t *RESTRICT up, uint32_t *wrong) {                     \
        uint32_t working = 0, differ = 0;                                                                              \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            CODE found = (CODE)(middle[i] - low[i]), exact = (CODE)(~(first + i) & 1);                                 \
            uint8_t inexact = found != exact, other = found != up[i];                                                  \
            working += (uint8_t)(inexact & (other ^ 1));                                                               \
            differ += (uint8_t)(inexact & other);                                                                      \
        }                                                                                                              \
        *wrong += differ;                                                                                              \
        return working;                                                                                                \
    }                                                                                                                  \
    static uint32_t NAME(uint32_t scale, int32_t first, int32_t count, const CODE *codes, const CODE *low,             \
                         const float *least, uint32_t *middle, uint8_t *up, uint32_t *wrong) {                         \
        int32_t most = first < 0 && -first > first + count ? -first : first + count;                                   \
        int32_t zero = first > 0 ? 0 : -first > count ? count : -first;                                                \
        scale_parts parts = parts_of(scale, most);                                                                     \
        const CODE *last = codes + 3 * (size_t)count;                                                                  \
        float divisor;                                                                                                 \
        memcpy(&divisor, &scale, sizeof divisor);                                                                      \
        *wrong = NAME##_differing(count, codes, low) + NAME##_differing(count, codes + 2 * (size_t)count, low + 1) +   \
                 (last[0] != low[0]) + (last[1] != low[zero]) + (last[2] != low[count]);                               \
        fill_middle(scale, parts, first, count, middle);                                                               \
        divide(divisor, count, least, middle, up);                                                                     \
        return NAME##_between(count, codes + count, low, first, up, wrong);                                            \
    }

/* Writes the steps of a plain scale's row with a wrong answer, numbered from `first`; their number. */
#define WRONG_STEPS(NAME, CODE)                                                                                        \
    static int32_t NAME(uint32_t scale, int32_t first, int32_t count, const CODE *codes, const CODE *low,              \
                        const float *least, uint32_t *middle, uint8_t *up, int32_t *found) {                           \
        int32_t number = 0, most = first < 0 && -first > first + count ? -first : first + count;                       \
        const CODE *between = codes + count, *above = codes + 2 * (size_t)count;                                       \
        float divisor;                                                                                                 \
        memcpy(&divisor, &scale, sizeof divisor);                                                                      \
        fill_middle(scale, parts_of(scale, most), first, count, middle);                                               \
        divide(divisor, count, least, middle, up);                                                                     \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            int found_up = (CODE)(between[i] - low[i]), exact = ~(first + i) & 1;                                      \
            found[number] = i;                                                                                         \
            number += codes[i] != low[i] || above[i] != low[i + 1] || (found_up != exact && found_up != up[i]);        \
        }                                                                                                              \
        return number;                                                                                                 \
    }

GRADE_ROW(grade_u8, uint8_t)
GRADE_ROW(grade_u16, uint16_t)

WRONG_STEPS(wrong_u8, uint8_t)
WRONG_STEPS(wrong_u16, uint16_t)

#endif
