#include "infer/anchored/assumptions.h"

#include "infer/graph/graph.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double CHANCE = 1e-3;

typedef struct scratch {
    double *w, *intercept; /* (d, d), (d): mean over draws; 0 */
    double *centre;        /* (d): mean of each variable */
    double *rest;          /* (rows, d): e, 0 where set */
    double *mean, *count;  /* (d, sets): of e */
    double *x;             /* (rows, 2 d + 1): likely parents, their squares, e */
    double *gram, *solved; /* (2 d + 1)^2 each */
    size_t *parent;        /* (d) */
    arena memory;
} scratch;

static void lay_out(assumptions *t, scratch *q, const linear_view *s)
{
    size_t d = t->d;
    size_t wide = 2 * d + 1;
    arena *a = &q->memory;
    t->bent = arena_take(&t->memory, d, 1);
    t->hidden = arena_take(&t->memory, d * d, 1);
    q->w = arena_take(a, d * d, sizeof(double));
    q->intercept = arena_take(a, d, sizeof(double));
    q->centre = arena_take(a, d, sizeof(double));
    q->rest = arena_take(a, s->rows * d, sizeof(double));
    q->mean = arena_take(a, d * s->design.sets, sizeof(double));
    q->count = arena_take(a, d * s->design.sets, sizeof(double));
    q->x = arena_take(a, s->rows * wide, sizeof(double));
    q->gram = arena_take(a, wide * wide, sizeof(double));
    q->solved = arena_take(a, wide * wide, sizeof(double));
    q->parent = arena_take(a, d, sizeof *q->parent);
}

static void find_rest(const linear_view *s, const anchored *a, scratch *q)
{
    size_t d = a->d;
    const design *by = &s->design;
    const mechanism_model model = {d, q->w, q->intercept, NULL};
    for (size_t k = 0; k < a->draws; k++) {
        cblas_daxpy((int)(d * d), 1 / (double)a->draws, a->w + k * d * d, 1, q->w, 1);
    }
    for (size_t k = 0; k < s->rows * d; k++) {
        size_t at = k % d * by->sets + by->set[k / d];
        bool set = design_is_set(by, k / d, k % d);
        q->centre[k % d] += s->y[k] / (double)s->rows;
        q->rest[k] = set ? 0 : mechanism_residual(&model, k % d, s->y + k / d * d);
        q->mean[at] += q->rest[k];
        q->count[at] += set ? 0 : 1;
    }
    for (size_t k = 0; k < s->rows * d; k++) {
        size_t at = k % d * by->sets + by->set[k / d];
        q->rest[k] -= q->count[at] > 0 ? q->mean[at] / q->count[at] : 0;
    }
}

/* Rows of node i where free: `count` parents, their squares, e; each less its mean in the set.
 * Returns the degrees of freedom that are left. */
static double gather(const linear_view *s, const scratch *q, size_t i, size_t count, size_t *rows)
{
    const design *by = &s->design;
    size_t wide = 2 * count + 1;
    double left = 0;
    *rows = 0;
    for (size_t set = 0; set < by->sets; set++) {
        size_t first = *rows;
        if (by->target[set * by->d + i] != 0) {
            continue;
        }
        for (size_t k = by->first[set]; k < by->first[set + 1]; k++) {
            size_t row = by->row[k];
            double *x = q->x + (*rows)++ * wide;
            for (size_t p = 0; p < count; p++) {
                size_t j = q->parent[p];
                x[p] = (s->y[row * s->d + j] - q->centre[j]) / sqrt(s->spectrum[j]);
                x[count + p] = x[p] * x[p];
            }
            x[2 * count] = q->rest[row * s->d + i];
        }
        left += (double)(*rows - first) - 1;
        for (size_t c = 0; c < wide; c++) {
            double sum = 0;
            for (size_t k = first; k < *rows; k++) {
                sum += q->x[k * wide + c] / (double)(*rows - first);
            }
            for (size_t k = first; k < *rows; k++) {
                q->x[k * wide + c] -= sum;
            }
        }
    }
    return left - 2 * (double)count;
}

/* What the first `terms` columns leave of the last, from their Gram matrix; NaN where they do not
 * tell. */
static double left_by(const scratch *q, size_t wide, size_t terms)
{
    double *a = q->solved;
    double *b = q->solved + terms * terms;
    double rest = q->gram[wide * wide - 1];
    for (size_t c = 0; c < terms; c++) {
        for (size_t e = 0; e < terms; e++) {
            a[c * terms + e] = q->gram[(c < e ? c : e) * wide + (c < e ? e : c)];
        }
        a[c * terms + c] *= 1 + 1e-9;
        b[c] = q->gram[c * wide + wide - 1];
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)terms, 1, a, (int)terms, b, 1) != 0) {
        return (double)NAN;
    }
    for (size_t c = 0; c < terms; c++) {
        rest -= b[c] * q->gram[c * wide + wide - 1];
    }
    return rest;
}

/* P(chi2 of k degrees of freedom > k f), by Wilson and Hilferty. */
static double chance_of(double f, double k)
{
    double u = (cbrt(f) - (1 - 2 / (9 * k))) / sqrt(2 / (9 * k));
    return erfc(u / sqrt(2)) / 2;
}

static bool is_bent(const linear_view *s, const anchored *a, const scratch *q, size_t i)
{
    size_t count = 0;
    size_t rows = 0;
    for (size_t j = 0; j < a->d; j++) {
        if (a->edge_prob[j * a->d + i] > 0.5 && s->spectrum[j] > 0) {
            q->parent[count++] = j;
        }
    }
    size_t wide = 2 * count + 1;
    double left = count > 0 ? gather(s, q, i, count, &rows) : 0;
    if (!(left > 2 * (double)count)) {
        return false;
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)wide, (int)rows, 1, q->x, (int)wide, 0,
                q->gram, (int)wide);
    double straight = left_by(q, wide, count);
    double bent = left_by(q, wide, 2 * count);
    double f = (straight - bent) / (double)count / (bent / left);
    return f > 0 && chance_of(f, (double)count) < CHANCE / (double)a->d;
}

/* Over the rows in which both are free. */
static bool go_together(const linear_view *s, const scratch *q, size_t i, size_t j)
{
    const design *by = &s->design;
    double n = -3;
    double ii = 0;
    double jj = 0;
    double ij = 0;
    for (size_t set = 0; set < by->sets; set++) {
        const uint8_t *target = by->target + set * by->d;
        if (target[i] != 0 || target[j] != 0) {
            continue;
        }
        n += (double)design_set_rows(by, set) - 1;
        for (size_t k = by->first[set]; k < by->first[set + 1]; k++) {
            const double *e = q->rest + by->row[k] * by->d;
            ii += e[i] * e[i];
            jj += e[j] * e[j];
            ij += e[i] * e[j];
        }
    }
    double u = ii > 0 && jj > 0 && n > 10 ? atanh(ij / sqrt(ii * jj)) * sqrt(n) : 0;
    double pairs = (double)by->d * (double)(by->d - 1) / 2;
    return erfc(fabs(u) / sqrt(2)) < CHANCE / pairs;
}

lscm_status assumptions_test(assumptions *out, const linear_view *s, const anchored *a,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    assumptions t = {.d = a->d};
    scratch q = {0};
    lay_out(&t, &q, s);
    TRY(arena_open(&t.memory, why));
    TRY(arena_open(&q.memory, why));
    lay_out(&t, &q, s);
    find_rest(s, a, &q);
    for (size_t i = 0; i < a->d; i++) {
        t.bent[i] = is_bent(s, a, &q, i) ? 1 : 0;
        for (size_t j = i + 1; j < a->d; j++) {
            t.hidden[i * a->d + j] = go_together(s, &q, i, j) ? 1 : 0;
        }
    }
    *out = t;
    t.memory = (arena){0};
done:
    arena_close(&q.memory);
    arena_close(&t.memory);
    return status;
}

void assumptions_close(assumptions *t)
{
    arena_close(&t->memory);
}
