/* Rounds what comes on standard input with the kernel's loops for this processor; test_kernel_aarch64.py runs it.
 *
 * A request: six 32-bit integers (mode, width, columns, wide, number of scales, number of elements), two 64-bit ones
 * (lowest, highest), then scales (double), zero points (64-bit) and x (float). The answer: integers of `width` bytes. */

#include <stdio.h>
#include <stdlib.h>

#include "kernels/quotient.h"

static void *taken(size_t size, size_t count) {
    void *memory = malloc(size * count + 1);
    if (!memory || fread(memory, size, count, stdin) != count) exit(1);
    return memory;
}

static void plan(request_t *r, const double *scale, const int64_t *zero_point, size_t count, const int64_t *ends) {
    float *floats = malloc(7 * count * sizeof(float));
    double *doubles = malloc(5 * count * sizeof(double));
    size_t i;
    plan_single(&r->single, floats, count);
    plan_double(&r->twice, doubles, count);
    for (i = 0; i < count; i++)
        if (r->wide) prepare_double(&r->twice, doubles, count, i, scale[i], zero_point[i], ends[0], ends[1]);
        else prepare_single(&r->single, floats, count, i, (float)scale[i], zero_point[i], ends[0], ends[1], r->mode);
}

int main(void) {
    int32_t head[6];
    while (fread(head, sizeof(head), 1, stdin) == 1) {
        const size_t count = (size_t)head[4], n = (size_t)head[5];
        const int64_t *ends = taken(8, 2);
        const double *scale = taken(8, count);
        const int64_t *zero_point = taken(8, count);
        int wary = 0;
        request_t r = {.kind = SINGLE_KIND, .mode = head[0], .width = head[1], .columns = head[2], .wide = head[3],
                       .direct = 1, .brief = 1, .n = n};
        plan(&r, scale, zero_point, count, ends);
        r.x = taken(4, n), r.out = malloc(n * (size_t)r.width);
        run_row(&r, &wary, 0);
        if (fwrite(r.out, (size_t)r.width, n, stdout) != n) return 1;
    }
    return 0;
}
