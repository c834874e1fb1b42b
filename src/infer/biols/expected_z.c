#include "infer/biols/expected_z.h"

#include "base/arena.h"
#include "scm/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 }; /* rows */

/* c = d + 1 causes: the nodes and the constant. */
typedef struct z_work {
    double *reach;           /* (c, d): R of one draw */
    double *mean;            /* (c, d): E R */
    double *second;          /* (d, c, c): [i] is E R[:, i] R[:, i]' */
    double *spread;          /* (d): the part of the variance that is noise */
    double *target, *values; /* (BLOCK, d) */
    double *set;             /* (c): values of a row, and 1 */
    uint8_t *mask;           /* (c): what the above are for, and 1 */
} z_work;

static void lay_out(z_work *w, arena *a, size_t d)
{
    size_t c = d + 1;
    w->reach = arena_take(a, c * d, sizeof(double));
    w->mean = arena_take(a, c * d, sizeof(double));
    w->second = arena_take(a, c * c * d, sizeof(double));
    w->spread = arena_take(a, d, sizeof(double));
    w->target = arena_take(a, BLOCK * d, sizeof(double));
    w->values = arena_take(a, BLOCK * d, sizeof(double));
    w->set = arena_take(a, c, sizeof(double));
    w->mask = arena_take(a, c, 1);
}

/* R[:, i] = e_i + m_i (c_i e_d + sum_j W[j][i] R[:, j]) */
static void find_reach(const lscm_posterior *p, size_t draw, const uint8_t *mask, double *reach)
{
    size_t d = p->d;
    mechanism_model m = {.d = d,
                         .w = p->w + draw * d * d,
                         .intercept = p->intercept + draw * d,
                         .sigma = p->sigma + draw * d};
    memset(reach, 0, (d + 1) * d * sizeof *reach);
    for (size_t i = 0; i < d; i++) {
        reach[i * d + i] = 1;
        reach[d * d + i] = mask[i] == 0 ? m.intercept[i] : 0;
    }
    mechanism_reach(&m, p->order + draw * d, mask, d + 1, reach);
}

/* Averages over the draws for the mask in w->mask. */
static void average(const lscm_posterior *p, const z_work *w)
{
    size_t d = p->d;
    size_t causes = d + 1;
    double share = 1 / (double)p->draws;
    memset(w->mean, 0, causes * d * sizeof(double));
    memset(w->second, 0, causes * causes * d * sizeof(double));
    memset(w->spread, 0, d * sizeof(double));
    for (size_t draw = 0; draw < p->draws; draw++) {
        const double *sigma = p->sigma + draw * d;
        find_reach(p, draw, w->mask, w->reach);
        for (size_t j = 0; j < causes; j++) {
            for (size_t i = 0; i < d; i++) {
                double r = w->reach[j * d + i];
                w->mean[j * d + i] += share * r;
                w->spread[i] += w->mask[j] != 0 ? 0 : share * r * r * sigma[j] * sigma[j];
                /* only rows of targets meet a value */
                for (size_t c = 0; c <= j && w->mask[j] != 0; c++) {
                    w->second[(i * causes + j) * causes + c] += share * r * w->reach[c * d + i];
                }
            }
        }
    }
}

static void put_row(const lscm_posterior *p, const z_work *w, double *z, double *sd)
{
    const double *v = w->set;
    size_t d = p->d;
    size_t causes = d + 1;
    for (size_t i = 0; i < d; i++) {
        double mean = 0;
        double square = 0;
        for (size_t j = 0; j < causes; j++) {
            if (w->mask[j] == 0) {
                continue;
            }
            mean += v[j] * w->mean[j * d + i];
            for (size_t c = 0; c <= j; c++) {
                if (w->mask[c] != 0) { /* off target a value may be anything */
                    square +=
                        (c < j ? 2 : 1) * v[j] * v[c] * w->second[(i * causes + j) * causes + c];
                }
            }
        }
        double variance = square - mean * mean;
        z[i] = mean;
        sd[i] = sqrt((variance > 0 ? variance : 0) + w->spread[i]);
    }
}

lscm_status expected_z(lscm_posterior *p, const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    z_work w;
    size_t d = p->d;
    bool begun = false;
    lay_out(&w, &memory, d);
    TRY(arena_open(&memory, why));
    lay_out(&w, &memory, d);
    w.set[d] = 1;
    w.mask[d] = 1;
    for (size_t first = 0; first < data->rows; first += BLOCK) {
        size_t n = data->rows - first < BLOCK ? data->rows - first : BLOCK;
        TRY(lscm_dataset_read(data, LSCM_TARGETS, first, n, w.target, why));
        TRY(lscm_dataset_read(data, LSCM_VALUES, first, n, w.values, why));
        for (size_t r = 0; r < n; r++) {
            bool same = begun;
            for (size_t i = 0; i < d; i++) {
                uint8_t bit = w.target[r * d + i] != 0 ? 1 : 0;
                same = same && bit == w.mask[i];
                w.mask[i] = bit;
            }
            if (!same) {
                average(p, &w);
                begun = true;
            }
            memcpy(w.set, w.values + r * d, d * sizeof *w.set);
            put_row(p, &w, p->z + (first + r) * d, p->z_sd + (first + r) * d);
        }
    }
done:
    arena_close(&memory);
    return status;
}
