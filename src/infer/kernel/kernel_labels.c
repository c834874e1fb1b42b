/* Which rows label which node, and which of them are held out (hold_out_labels). */
#include "base/tuned.h"
#include "infer/kernel/kernel_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL = 1e-12; /* variance of labels, of their mean square: they are constant */

static void lay_out(kernel_labels *l, arena *a)
{
    size_t d = l->f->d;
    l->role = arena_take(a, l->f->rows * d, 1);
    l->usable = arena_take(a, d, sizeof *l->usable);
    l->count = arena_take(a, d, sizeof *l->count);
    l->held = arena_take(a, d, sizeof *l->held);
    l->mean = arena_take(a, d, sizeof *l->mean);
    l->variance = arena_take(a, d, sizeof *l->variance);
}

/* count, held, mean, variance and usable of all nodes from their roles; nodes that cannot be used
 * lose theirs. */
static void count_all(kernel_labels *l)
{
    const features *f = l->f;
    for (size_t j = 0; j < f->d; j++) {
        double first = 0;
        double sum = 0;
        double squares = 0;
        l->count[j] = 0;
        l->held[j] = 0;
        for (size_t row = 0; row < f->rows; row++) {
            uint8_t role = l->role[row * f->d + j];
            double v = design_value(&f->design, row, j);
            if (role == 0) {
                continue;
            }
            first = l->count[j] == 0 ? v : first;
            l->count[j]++;
            l->held[j] += role == KERNEL_HELD ? 1 : 0;
            sum += v - first; /* about one of them: offsets do not cancel */
            squares += (v - first) * (v - first);
        }
        double n = fmax((double)l->count[j], 1);
        l->mean[j] = first + sum / n;
        l->variance[j] = fmax(squares / n - sum / n * (sum / n), 0);
        double size = l->mean[j] * l->mean[j] + l->variance[j];
        l->usable[j] = l->count[j] >= tuned_kernel_least_labels() && l->variance[j] > SMALL * size;
        for (size_t row = 0; row < f->rows && !l->usable[j]; row++) {
            l->role[row * f->d + j] = 0;
        }
    }
}

lscm_status kernel_labels_of(kernel_labels *out, const features *f, uint64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_labels l = {.f = f};
    lay_out(&l, &l.memory);
    TRY(arena_open(&l.memory, why));
    lay_out(&l, &l.memory);
    TRY(hold_out_labels(&f->design, seed, l.role, why));
    for (size_t row = 0; row < f->rows; row++) {
        for (size_t j = 0; j < f->d; j++) {
            uint8_t *role = l.role + row * f->d + j;
            uint8_t label = *role != 0 ? KERNEL_HELD : KERNEL_TRAIN;
            *role = design_is_set(&f->design, row, j) ? label : 0;
        }
    }
    count_all(&l);
    *out = l;
    l.memory = (arena){0};
done:
    arena_close(&l.memory);
    return status;
}

void kernel_labels_close(kernel_labels *l)
{
    arena_close(&l->memory);
}

void kernel_labels_lit(kernel_labels *l, const kernel_space *s, const double *radius)
{
    for (size_t row = 0; row < l->f->rows; row++) {
        if (!kernel_lit(s, radius[row])) {
            memset(l->role + row * l->f->d, 0, l->f->d);
        }
    }
    count_all(l);
}

void kernel_labels_only(kernel_labels *l, const uint32_t *rows, size_t n)
{
    for (size_t row = 0, k = 0; row < l->f->rows; row++) {
        if (k < n && rows[k] == row) {
            k++;
        } else {
            memset(l->role + row * l->f->d, 0, l->f->d);
        }
    }
    count_all(l);
}

size_t kernel_labels_rows(const kernel_labels *l, size_t j, unsigned roles, uint32_t *rows)
{
    size_t n = 0;
    for (size_t row = 0; row < l->f->rows; row++) {
        if ((l->role[row * l->f->d + j] & roles) != 0) {
            rows[n++] = (uint32_t)row;
        }
    }
    return n;
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

void kernel_sort(uint32_t *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, ascending);
}

size_t kernel_some(uint32_t *rows, size_t n, size_t most, rng r, uint64_t first)
{
    if (n <= most) {
        return n;
    }
    for (size_t k = 0; k < most; k++) {
        size_t other = k + (size_t)rng_below(r, first + k, n - k);
        uint32_t kept = rows[k];
        rows[k] = rows[other];
        rows[other] = kept;
    }
    kernel_sort(rows, most);
    return most;
}

double kernel_shift(const kernel_labels *l, kernel_family family, size_t j)
{
    return family == KERNEL_HOMOGENEOUS ? 0 : l->mean[j];
}
