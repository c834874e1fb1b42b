/* Sums for bends: the functions of a family over the rows in which its node is free, a tile of rows
 * at a time, in one pass for each node; nodes in parallel. */
#include "infer/mechanism/bend_basis.h"
#include "infer/mechanism/bend_parts.h"

#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { TILE = 128, SAMPLE = 16384 };

/* ---- Curves ---- */

/* Mean slopes of products over the rows that count: of p and q, phi'_pa phi_qb. */
static void average_products(bends *b, const latent_rows *rows)
{
    size_t d = b->d;
    size_t used = 0;
    for (size_t r = 0; r < rows->design->rows; r++) {
        used += row_counts(rows->keep, r) ? 1 : 0;
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t p = 0; p < d; p++) {
        for (size_t r = 0; r < rows->design->rows; r++) {
            double own[CURVE_WIDTH];
            if (!row_counts(rows->keep, r)) {
                continue;
            }
            curve_slopes(&b->basis[p], rows->z[r * d + p], own);
            for (size_t q = 0; q < d; q++) {
                double other[CURVE_WIDTH];
                double product[CURVE_PAIRS];
                curve_values(&b->basis[q], rows->z[r * d + q], other);
                curve_products(own, other, product);
                cblas_daxpy(CURVE_PAIRS, 1 / (double)used, product, 1,
                            b->product + (p * d + q) * CURVE_PAIRS, 1);
            }
        }
    }
}

lscm_status bend_curves(bends *b, const latent_rows *rows, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *s = rows->design;
    size_t step = s->rows / SAMPLE + 1;
    double *values = NULL;
    arena memory = {0};
    for (int pass = 0; pass < 2; pass++) {
        values = arena_take(&memory, b->d * (s->rows / step + 1), sizeof *values);
        if (pass == 0) {
            TRY(arena_open(&memory, why));
        }
    }
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t j = 0; j < b->d; j++) {
        double *own = values + j * (s->rows / step + 1);
        size_t n = 0;
        for (size_t r = 0; r < s->rows; r += step) {
            if (row_counts(rows->keep, r)) {
                own[n++] = rows->z[r * b->d + j];
            }
        }
        bend_basis_of(&b->basis[j], own, n, b->rough + j * CURVE_WIDTH, b->slope + j * CURVE_WIDTH);
    }
    if (b->reach == BEND_JOINT) {
        average_products(b, rows);
    }
    threads_blas_restore();
done:
    arena_close(&memory);
    return status;
}

/* ---- Functions of a row ---- */

/* out (width): all functions of the candidates, then z_i. */
static void functions_of(const bends *b, const bend_family *f, const double *z, double *out)
{
    double *next = out;
    for (size_t c = 0; c < f->count; c++, next += f->curves) {
        double all[CURVE_WIDTH];
        curve_values(&b->basis[f->candidate[c]], z[f->candidate[c]], all);
        memcpy(next, all, f->curves * sizeof *next);
    }
    for (size_t p = 0; p < f->count; p++) {
        for (size_t q = p + 1; q < f->count; q++) {
            if ((f->together >> p & f->together >> q & 1) != 0) {
                curve_products(out + p * f->curves, out + q * f->curves, next);
                next += CURVE_PAIRS;
            }
        }
    }
    *next = z[f->node] - f->middle;
}

/* r of all functions; of the straight ones what the linear law has, at BEND_RIDGE. */
static void precisions_of(const bends *b, bend_family *f, const dag_prior *prior)
{
    double *next = f->precision;
    double rough[FAMILY_MOST][CURVE_WIDTH];
    for (size_t c = 0; c < f->count; c++) {
        size_t p = f->candidate[c];
        double per_sd = b->slope[p * CURVE_WIDTH];
        double unit = prior->unit[p] * (per_sd > 0 ? per_sd : 1);
        memcpy(rough[c], b->rough + p * CURVE_WIDTH, sizeof rough[c]);
        rough[c][0] = 1;
        memcpy(next, rough[c], f->curves * sizeof *next);
        next[0] = BEND_RIDGE * unit * unit;
        next += f->curves;
    }
    for (size_t p = 0; p < f->count; p++) {
        for (size_t q = p + 1; q < f->count; q++) {
            if ((f->together >> p & f->together >> q & 1) != 0) {
                curve_products(rough[p], rough[q], next);
                next += CURVE_PAIRS;
            }
        }
    }
}

/* ---- Sums ---- */

typedef struct bend_work {
    double *tile;  /* (TILE, most) */
    double *heft;  /* (batches) */
    double *means; /* (batches, most) */
    double *away;  /* (batches, most) */
    double *zero;  /* (most) */
} bend_work;

static void lay_out_work(bend_work *w, arena *a, size_t most, size_t batches)
{
    w->tile = arena_take(a, TILE * most, sizeof(double));
    w->heft = arena_take(a, batches, sizeof(double));
    w->means = arena_take(a, batches * most, sizeof(double));
    w->away = arena_take(a, batches * most, sizeof(double));
    w->zero = arena_take(a, most, sizeof(double));
}

static void add_tile(bend_family *f, const bend_work *w, size_t rows)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)f->width, (int)rows, 1, w->tile,
                (int)f->width, 1, f->scatter, (int)f->width);
}

static double weight_of(const bends *b, size_t node, size_t row, size_t rows)
{
    return b->weight != NULL       ? b->weight[node * rows + row]
           : b->row_weight != NULL ? b->row_weight[row]
                                   : 1;
}

/* Products and sums of the first level, and of batches, about the middles of curves. */
static void sum_rows(const bends *b, bend_family *f, const latent_rows *rows, const bend_work *w)
{
    const design *s = rows->design;
    const curve_basis *own = &b->basis[f->node];
    size_t filled = 0;
    f->middle = own->knots > 0 ? own->knot[own->knots / 2] : 0;
    f->rows = 0;
    memset(w->heft, 0, design_batches(s) * sizeof(double));
    memset(w->means, 0, design_batches(s) * f->width * sizeof(double));
    for (size_t r = 0; r < s->rows; r++) {
        double *out = w->tile + filled * f->width;
        size_t batch = design_batch(s, r);
        if (!row_counts(rows->keep, r) || design_is_set(s, r, f->node)) {
            continue;
        }
        double weight = weight_of(b, f->node, r, s->rows);
        functions_of(b, f, rows->z + r * b->d, out);
        f->rows += 1;
        w->heft[batch] += weight;
        cblas_daxpy((int)f->width, weight, out, 1, w->means + batch * f->width, 1);
        if (b->weight != NULL || b->row_weight != NULL) {
            cblas_dscal((int)f->width, sqrt(weight), out, 1);
        }
        if (++filled == TILE) {
            add_tile(f, w, filled);
            filled = 0;
        }
    }
    add_tile(f, w, filled);
}

/* From sums to mean and centred scatter, both triangles, and means of batches. */
static void centre(bend_family *f, const bend_work *w, size_t batches)
{
    size_t m = f->width;
    double heft = 0;
    for (size_t k = 0; k < batches; k++) {
        heft += w->heft[k];
        cblas_daxpy((int)m, 1, w->means + k * m, 1, f->mean, 1);
        cblas_dscal((int)m, w->heft[k] > 0 ? 1 / w->heft[k] : 0, w->means + k * m, 1);
    }
    cblas_dscal((int)m, heft > 0 ? 1 / heft : 0, f->mean, 1);
    cblas_dsyr(CblasRowMajor, CblasLower, (int)m, -heft, f->mean, 1, f->scatter, (int)m);
    for (size_t a = 0; a < m; a++) {
        f->scatter[a * m + a] = fmax(f->scatter[a * m + a], 0);
        for (size_t c = 0; c < a; c++) {
            f->scatter[c * m + a] = f->scatter[a * m + c];
        }
    }
    f->heft[0] = heft > 0 ? heft : 1;
}

/* As families_weigh has it. */
static void weigh_family(bend_family *f, double worth)
{
    cblas_dscal((int)(f->levels * f->width * f->width), worth, f->scatter, 1);
    f->rows *= worth;
    for (size_t l = 0; l < f->levels; l++) {
        f->heft[l] *= worth;
    }
}

static void sum_family(const bends *b, bend_family *f, const latent_rows *rows, bend_work *w)
{
    size_t m = f->width;
    set_means sets = {.design = rows->design,
                      .width = m,
                      .heft = w->heft,
                      .mean = w->means,
                      .centre = w->zero,
                      .work = w->away};
    level_sums sums = {f->node, m, NULL, 0, f->scatter, f->mean};
    sum_rows(b, f, rows, w);
    centre(f, w, design_batches(rows->design));
    sums.heft = f->heft[0];
    for (size_t l = 1; l < f->levels; l++) {
        f->heft[l] = set_means_level(&sets, &sums, l).heft;
    }
    weigh_family(f, b->worth);
}

static void lay_out(bends *b, arena *a)
{
    for (size_t i = 0; i < b->d; i++) {
        bend_family *f = &b->list[i];
        f->precision = arena_take(a, f->width, sizeof(double));
        f->scatter = arena_take(a, f->levels * f->width, f->width * sizeof(double));
        f->mean = arena_take(a, f->levels * f->width, sizeof(double));
    }
}

lscm_status bend_sums(bends *b, const latent_rows *rows, const dag_prior *prior, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t batches = design_batches(rows->design);
    bool failed = false;
    arena_close(&b->sums);
    lay_out(b, &b->sums);
    TRY(arena_open(&b->sums, why));
    lay_out(b, &b->sums);
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < b->d; i++) {
        bend_work w;
        arena memory = {0};
        lay_out_work(&w, &memory, b->most, batches);
        if (arena_open(&memory, NULL) != LSCM_OK) {
#pragma omp atomic write
            failed = true;
            continue;
        }
        lay_out_work(&w, &memory, b->most, batches);
        precisions_of(b, &b->list[i], prior);
        sum_family(b, &b->list[i], rows, &w);
        arena_close(&memory);
    }
    threads_blas_restore();
    if (failed) {
        status = fail_memory(why, (TILE + 2 * batches) * b->most * sizeof(double));
    }
done:
    return status;
}
