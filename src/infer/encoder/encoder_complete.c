/* Directions for nodes that no values of do() label. Their noise e_u = y q_u is N(c, 1) in every
 * row, whoever was set to what: so q_u is where neither the sets nor the values in them show. With
 * T the scatter of y (r, r), m_e its mean and C_e, V_e its scatter with the values v of set e,
 *
 *     M = sum_e n_e (m_e - m)(m_e - m)' + C_e' V_e^-1 C_e      what sets and values explain,
 *
 * the directions of least M q = l T q, as many as there are nodes without anchors, with sd 1. Which
 * of their rotations, and what of other nodes belongs to z_u, is for mechanisms to say. */
#include "infer/encoder/linear_encoder.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct explained {
    size_t d, r;
    double rows;
    double *total, *by_sets; /* (r, r): T, M; upper triangles */
    double *mean;            /* (r): of all rows */
    double *set_mean, *left; /* (r) */
    double *value_mean;      /* (d) */
    double *values;          /* (d, d): V_e of its targets, then its factor */
    double *cross;           /* (d, r): C_e */
    size_t *target;          /* (d): of the set at hand */
    double *share;           /* (r): l */
    arena memory;
} explained;

static void lay_out(explained *t)
{
    arena *a = &t->memory;
    double **signals[] = {&t->mean, &t->set_mean, &t->left, &t->share};
    for (size_t k = 0; k < sizeof signals / sizeof signals[0]; k++) {
        *signals[k] = arena_take(a, t->r, sizeof(double));
    }
    t->total = arena_take(a, t->r * t->r, sizeof(double));
    t->by_sets = arena_take(a, t->r * t->r, sizeof(double));
    t->value_mean = arena_take(a, t->d, sizeof(double));
    t->values = arena_take(a, t->d * t->d, sizeof(double));
    t->cross = arena_take(a, t->d * t->r, sizeof(double));
    t->target = arena_take(a, t->d, sizeof *t->target);
}

/* M += x' x / weight */
static void add_share(explained *t, const double *x, double weight)
{
    int r = (int)t->r;
    cblas_dsyr(CblasRowMajor, CblasUpper, r, 1 / weight, x, 1, t->by_sets, r);
}

/* Sums of the set about its means; returns its rows. */
static double sum_set(explained *t, const linear_view *s, const uint8_t *keep, size_t set,
                      size_t targets)
{
    int r = (int)t->r;
    double n = 0;
    memset(t->set_mean, 0, t->r * sizeof(double));
    memset(t->value_mean, 0, t->d * sizeof(double));
    memset(t->values, 0, t->d * t->d * sizeof(double));
    memset(t->cross, 0, t->d * t->r * sizeof(double));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = s->design.first[set]; k < s->design.first[set + 1]; k++) {
            size_t row = s->design.row[k];
            const double *y = s->y + row * t->r;
            const double *v = design_values(&s->design, row);
            if (!row_counts(keep, row)) {
                continue;
            }
            if (pass == 0) {
                n += 1;
                cblas_daxpy(r, 1, y, 1, t->set_mean, 1);
            }
            for (size_t a = 0; a < targets; a++) {
                double off = v[t->target[a]] - t->value_mean[a];
                if (pass == 0) {
                    t->value_mean[a] += v[t->target[a]];
                    continue;
                }
                cblas_daxpy(r, off, y, 1, t->cross + a * t->r, 1);
                for (size_t b = 0; b <= a; b++) {
                    t->values[a * t->d + b] += off * (v[t->target[b]] - t->value_mean[b]);
                }
            }
        }
        if (pass == 0 && n > 0) {
            cblas_dscal(r, 1 / n, t->set_mean, 1);
            cblas_dscal((int)t->d, 1 / n, t->value_mean, 1);
        }
    }
    return n;
}

/* C' V^-1 C by the rows of L^-1 C, V = L L'; values that follow from those before add nothing. */
static void explain_by_values(explained *t, size_t targets)
{
    const double rounding = 1e-9;
    int r = (int)t->r;
    for (size_t a = 0; a < targets; a++) {
        double *l = t->values + a * t->d;
        double *row = t->cross + a * t->r;
        double least = rounding * l[a];
        for (size_t b = 0; b < a; b++) {
            const double *other = t->values + b * t->d;
            for (size_t c = 0; c < b; c++) {
                l[b] -= l[c] * other[c];
            }
            l[b] = other[b] > 0 ? l[b] / other[b] : 0;
            l[a] -= l[b] * l[b];
            cblas_daxpy(r, -l[b], t->cross + b * t->r, 1, row, 1);
        }
        l[a] = l[a] > least ? sqrt(l[a]) : 0;
        cblas_dscal(r, l[a] > 0 ? 1 / l[a] : 0, row, 1);
        add_share(t, row, 1);
    }
}

static void sum_all(explained *t, const linear_view *s, const uint8_t *keep)
{
    int r = (int)t->r;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < s->rows; row++) {
            const double *y = s->y + row * t->r;
            if (!row_counts(keep, row)) {
                continue;
            }
            if (pass == 0) {
                t->rows += 1;
                cblas_daxpy(r, 1, y, 1, t->mean, 1);
                continue;
            }
            for (size_t k = 0; k < t->r; k++) {
                t->left[k] = y[k] - t->mean[k];
            }
            cblas_dsyr(CblasRowMajor, CblasUpper, r, 1, t->left, 1, t->total, r);
        }
        cblas_dscal(r, pass == 0 && t->rows > 0 ? 1 / t->rows : 1, t->mean, 1);
    }
    for (size_t set = 0; set < s->design.sets; set++) {
        size_t targets = 0;
        for (size_t j = 0; j < t->d; j++) {
            if (s->design.target[set * t->d + j] != 0) {
                t->target[targets++] = j;
            }
        }
        double n = sum_set(t, s, keep, set, targets);
        explain_by_values(t, targets);
        for (size_t k = 0; k < t->r; k++) {
            t->left[k] = t->set_mean[k] - t->mean[k];
        }
        if (n > 0) {
            add_share(t, t->left, 1 / n);
        }
    }
}

lscm_status encoder_complete(const linear_view *s, const uint8_t *keep, const anchor *a,
                             double *slope, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = s->d;
    size_t r = s->rank;
    size_t next = 0;
    size_t open = 0;
    explained t = {.d = d, .r = r};
    memcpy(slope, a->slope, r * d * sizeof *slope);
    for (size_t j = 0; j < d; j++) {
        open += a->kind[j] == ANCHOR_NONE ? 1 : 0;
    }
    if (open == 0 || r == 0) {
        return LSCM_OK;
    }
    lay_out(&t);
    TRY(arena_open(&t.memory, why));
    lay_out(&t);
    sum_all(&t, s, keep);
    /* eigenvectors in the columns, least first, q' T q = 1 */
    if (LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'V', 'U', (int)r, t.by_sets, (int)r, t.total, (int)r,
                      t.share) != 0) {
        status = fail(why, LSCM_VALUE, "the directions of the causal variables are not finite");
        goto done;
    }
    for (size_t j = 0; j < d && next < r; j++) {
        if (a->kind[j] == ANCHOR_NONE) {
            cblas_dcopy((int)r, t.by_sets + next++, (int)r, slope + j, (int)d);
            cblas_dscal((int)r, sqrt(t.rows), slope + j, (int)d);
        }
    }
done:
    arena_close(&t.memory);
    return status;
}
