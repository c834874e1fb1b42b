/* The rows that a solution is made of: all that label a node, or as many as there is time for. */
#include "base/streams.h"
#include "infer/kernel/kernel_parts.h"

#include <omp.h>
#include <string.h>

enum { MOST_ROWS = 12000 }; /* a minute on two cores, 0.9 GB */

static void lay_out_inputs(kernel_inputs *in, arena *a)
{
    in->row = arena_take(a, in->m, sizeof *in->row);
    in->points.unit = arena_take(a, in->m * in->points.k, sizeof(double));
    in->points.radius = arena_take(a, in->m, sizeof(double));
    in->cosine = arena_take(a, in->threads * KERNEL_ROWS * KERNEL_COLUMNS, sizeof(double));
}

lscm_status kernel_inputs_of(kernel_inputs *out, const kernel_space *s, const float *f,
                             const uint32_t *rows, size_t m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_inputs in = {.m = m, .threads = (size_t)omp_get_max_threads()};
    in.points.n = m;
    in.points.k = kernel_width(s);
    lay_out_inputs(&in, &in.memory);
    TRY(arena_open(&in.memory, why));
    lay_out_inputs(&in, &in.memory);
    for (size_t i = 0; i < m; i++) {
        in.row[i] = rows != NULL ? rows[i] : (uint32_t)i;
    }
    kernel_points_of(s, f, in.row, &in.points);
    *out = in;
done:
    return status;
}

void kernel_inputs_close(kernel_inputs *in)
{
    arena_close(&in->memory);
}

/* A random order of rows (n). */
static void shuffle(uint32_t *rows, size_t n, rng r)
{
    for (size_t k = 0; k + 1 < n; k++) {
        size_t other = k + (size_t)rng_below(r, k, n - k);
        uint32_t row = rows[k];
        rows[k] = rows[other];
        rows[other] = row;
    }
}

/* The first of `order` (n) that label node j, as many as `share`, move to its front, behind the
 * `taken` that are there already; returns how many are there then. */
static size_t take_share(const kernel_labels *l, size_t j, size_t share, size_t taken, size_t n,
                         uint32_t *order)
{
    size_t own = 0;
    for (size_t k = 0; k < n && own < share; k++) {
        if (l->role[order[k] * l->f->d + j] == 0) {
            continue;
        }
        own++;
        if (k >= taken) {
            uint32_t row = order[k];
            order[k] = order[taken];
            order[taken++] = row;
        }
    }
    return taken;
}

size_t kernel_inputs_choose(kernel_labels *l, const kernel_settings *s, uint32_t *rows,
                            uint32_t *scratch)
{
    size_t d = l->f->d;
    size_t n = 0;
    size_t taken = 0;
    for (size_t row = 0; row < l->f->rows; row++) {
        const uint8_t *role = l->role + row * d;
        if (memchr(role, KERNEL_TRAIN, d) != NULL || memchr(role, KERNEL_HELD, d) != NULL) {
            rows[n++] = (uint32_t)row;
        }
    }
    size_t most = s->rows > 0 ? s->rows : MOST_ROWS;
    if (n <= most) {
        return n;
    }
    memcpy(scratch, rows, n * sizeof *rows);
    shuffle(scratch, n, stream_of(s->seed, STREAM_KERNEL_INPUTS));
    for (size_t j = 0; j < d; j++) {
        taken = take_share(l, j, most / (2 * d), taken, n, scratch);
    }
    memcpy(rows, scratch, most * sizeof *rows); /* beyond those taken, any */
    kernel_sort(rows, most);
    kernel_labels_only(l, rows, most);
    return most;
}
