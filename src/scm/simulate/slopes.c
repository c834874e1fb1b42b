#include "scm/simulate/slopes.h"

#include <math.h>
#include <omp.h>

enum { MOST_TILES = 128 };

static const double LEAST = 1e-9;

/* What one thread needs, and its share of a round. */
typedef struct slopes_work {
    latent_scratch latent;
    latent_rows rows;
    double *sum; /* (edges) */
} slopes_work;

static void lay_out(slopes_work **work, double **mean, const scm_model *m, int threads, arena *a)
{
    size_t edges = m->parent_start[m->d];
    slopes_work *all = arena_take(a, (size_t)threads, sizeof *all);
    *mean = arena_take(a, edges, sizeof **mean);
    for (int k = 0; k < threads; k++) {
        slopes_work one = {
            .latent = latent_scratch_take(a, m->d),
            .rows = {.mask = arena_take(a, TILE * m->d, 1),
                     .values = arena_take(a, TILE * m->d, sizeof(double)),
                     .z = arena_take(a, TILE * m->d, sizeof(double))},
            .sum = arena_take(a, edges, sizeof(double)),
        };
        if (all != NULL) {
            all[k] = one;
        }
    }
    *work = all;
}

/* The sums of a tile, of which `count` rows belong to the data. */
static void sum_tile(const scm_model *m, const lscm_simulation *s, size_t first, size_t count,
                     slopes_work *work)
{
    latents_make(s, m, NULL, first, LATENT_Z, &work->latent, work->rows);
    for (size_t e = 0; e < m->parent_start[m->d]; e++) {
        work->sum[e] = 0;
    }
    for (size_t i = 0; i < m->d; i++) {
        scm_bends_slopes(&m->f, i, TILE, count, work->latent.z_t, work->sum);
    }
}

static void keep(scm_model *m, const double *mean)
{
    for (size_t i = 0; i < m->d; i++) {
        for (size_t e = m->parent_start[i]; e < m->parent_start[i + 1]; e++) {
            double size = fabs(mean[e]) > LEAST ? fabs(mean[e]) : LEAST;
            m->w[m->parents[e] * m->d + i] = copysign(size, mean[e]);
        }
    }
}

lscm_status slopes_average(scm_model *model, const lscm_simulation *settings, size_t rows,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    slopes_work *work = NULL;
    double *mean = NULL;
    size_t edges = model->parent_start[model->d];
    size_t tiles = (rows + TILE - 1) / TILE;
    size_t taken = tiles < MOST_TILES ? tiles : MOST_TILES;
    size_t used = 0;
    int threads = omp_get_max_threads();
    lay_out(&work, &mean, model, threads, &memory);
    TRY(arena_open(&memory, why));
    lay_out(&work, &mean, model, threads, &memory);
    for (size_t begin = 0; begin < taken; begin += (size_t)threads) {
        size_t stop = begin + (size_t)threads < taken ? begin + (size_t)threads : taken;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (ptrdiff_t k = (ptrdiff_t)begin; k < (ptrdiff_t)stop; k++) {
            size_t first = (size_t)k * tiles / taken * TILE;
            size_t count = rows - first < TILE ? rows - first : TILE;
            sum_tile(model, settings, first, count, &work[(size_t)k - begin]);
        }
        for (size_t k = begin; k < stop; k++) { /* in the order of the rows */
            for (size_t e = 0; e < edges; e++) {
                mean[e] += work[k - begin].sum[e];
            }
            size_t first = k * tiles / taken * TILE;
            used += rows - first < TILE ? rows - first : TILE;
        }
    }
    for (size_t e = 0; e < edges; e++) {
        mean[e] /= (double)used;
    }
    keep(model, mean);
done:
    arena_close(&memory);
    return status;
}
