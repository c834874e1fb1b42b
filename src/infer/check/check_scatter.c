#include "infer/check/check_scatter.h"

#include <cblas.h>
#include <string.h>

void check_scatter_lay_out(check_scatter *q, arena *m, const check_rows *t)
{
    q->both = t->in->a->bends ? 2 * t->d : t->d;
    q->row = arena_take(m, q->both, sizeof(double));
    q->mean = arena_take(m, t->sets * q->both, sizeof(double));
    q->scatter = arena_take(m, t->sets * q->both * q->both, sizeof(double));
    q->with = arena_take(m, t->sets * q->both, sizeof(double));
    q->own = arena_take(m, t->sets, sizeof(double));
}

static void take_row(const check_scatter *q, const check_rows *t, const check_family *all,
                     size_t row)
{
    size_t d = t->d;
    const double *z = t->told + row * d;
    memcpy(q->row, z, d * sizeof *z);
    for (size_t i = 0; i < d && q->both > d; i++) {
        const check_family *f = &all[i];
        double straight = f->f.bent ? cblas_ddot((int)d, f->weight, 1, z, 1) : 0;
        double whole = f->f.bent ? check_functions_sum(&f->f, t, f->coef, z) : 0;
        q->row[d + i] = z[i] - whole + straight;
    }
}

/* What is not told of nodes, and of them as their causes see them, to first order. */
static void add_doubt(const check_scatter *q, const check_rows *t, size_t set)
{
    size_t d = t->d;
    double *scatter = q->scatter + set * q->both * q->both;
    for (size_t row = 0; row < q->both && t->doubt != NULL; row++) {
        const double *doubt = t->doubt + (set * d + (row < d ? row : row - d)) * d;
        for (size_t from = 0; from < q->both; from += d) {
            cblas_daxpy((int)d, check_rows_in(t, set), doubt, 1, scatter + row * q->both + from, 1);
        }
    }
}

void check_scatter_take(check_scatter *q, const check_rows *t, const check_family *all)
{
    size_t both = q->both;
    memset(q->mean, 0, t->sets * both * sizeof(double));
    memset(q->scatter, 0, t->sets * both * both * sizeof(double));
    for (size_t set = 0; set < t->sets; set++) {
        double *mean = q->mean + set * both;
        double *scatter = q->scatter + set * both * both;
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            take_row(q, t, all, k);
            cblas_daxpy((int)both, 1 / check_rows_in(t, set), q->row, 1, mean, 1);
        }
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            take_row(q, t, all, k);
            for (size_t i = 0; i < both; i++) {
                cblas_daxpy((int)both, q->row[i] - mean[i], q->row, 1, scatter + i * both, 1);
            }
        } /* the mean of z - mean is 0: scatter with z is that with z - mean */
        add_doubt(q, t, set);
    }
}

void check_scatter_rest(check_scatter *q, const check_rows *t, const check_family *f, size_t a)
{
    size_t both = q->both;
    for (size_t set = 0; set < t->sets; set++) {
        const double *scatter = q->scatter + set * both * both;
        double *with = q->with + set * both;
        memcpy(with, scatter + check_caused(q, t, a) * both, both * sizeof *with);
        for (size_t p = 0; p < t->d; p++) {
            if (f->weight[p] != 0) {
                cblas_daxpy((int)both, -f->weight[p], scatter + p * both, 1, with, 1);
            }
        }
        q->own[set] = with[check_caused(q, t, a)];
        for (size_t p = 0; p < t->d; p++) {
            q->own[set] -= f->weight[p] * with[p];
        }
    }
}
