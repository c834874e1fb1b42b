/* alpha_j = (K_LL + ridge I)^-1 y_j: K of all labelled rows once, and per node the rows and columns
 * that label it, a Cholesky factor, two triangular solves. */
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <math.h>

static void lay_out(kernel_exact *w, arena *a, size_t most)
{
    w->k = arena_take(a, w->in->m * (w->in->m + 1) / 2, sizeof(float));
    w->a = arena_take(a, most * most, sizeof(float));
    w->y = arena_take(a, most, sizeof(float));
    w->label = arena_take(a, most, sizeof *w->label);
}

lscm_status kernel_exact_open(kernel_exact *w, const kernel_inputs *in, size_t most,
                              const device *on, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *w = (kernel_exact){.in = in, .on = on};
    lay_out(w, &w->memory, most);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory, most);
    kernel_triangle(&in->points, in->cosine, w->k, 0);
done:
    return status;
}

void kernel_exact_close(kernel_exact *w)
{
    arena_close(&w->memory);
}

/* a = K_LL + ridge I, lower triangle */
static void gather(kernel_exact *w, size_t n, double ridge)
{
#pragma omp parallel for schedule(dynamic, 16) if (n > 512)
    for (size_t i = 0; i < n; i++) {
        size_t row = w->label[i];
        const float *from = w->k + row * (row + 1) / 2;
        float *to = w->a + i * n;
        for (size_t j = 0; j <= i; j++) {
            to[j] = from[w->label[j]];
        }
        to[i] = (float)(1 + ridge);
    }
}

/* With this ridge, or tenfold of it as often as it takes; *solved is false where none will do. */
static lscm_status factor(kernel_exact *w, size_t n, double *ridge, bool *solved, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    gather(w, n, *ridge);
    TRY(kernel_cholesky_on(w->on, w->a, n, solved, why));
    while (!*solved && *ridge < 1) {
        *ridge *= 10;
        gather(w, n, *ridge);
        TRY(kernel_cholesky_on(w->on, w->a, n, solved, why));
    }
done:
    return status;
}

static lscm_status fit_node(kernel_exact *w, kernel_encoder *e, const kernel_labels *l, size_t j,
                            unsigned roles, double ridge, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool solved = false;
    const features *f = l->f;
    const kernel_inputs *in = w->in;
    size_t n = 0;
    e->shift[j] = kernel_shift(l, e->space.family, j);
    e->unit[j] = 0;
    for (size_t i = 0; i < in->m; i++) {
        size_t at = (size_t)in->row[i] * f->d + j;
        e->alpha[i * e->d + j] = 0;
        if ((l->role[at] & roles) != 0) {
            double v = design_value(&f->design, in->row[i], j);
            w->y[n] = (float)((v - e->shift[j]) / in->points.radius[i]);
            w->label[n++] = (uint32_t)i;
        }
    }
    e->ridge[j] = ridge;
    TRY(factor(w, n, &e->ridge[j], &solved, why));
    if (!solved) {
        return LSCM_OK;
    }
    double product = 0;
    kernel_cholesky_solve(w->a, n, w->y);
    for (size_t i = 0; i < n; i++) {
        double v = design_value(&f->design, in->row[w->label[i]], j);
        double y = (v - e->shift[j]) / in->points.radius[w->label[i]];
        product += y * (double)w->y[i];
        e->alpha[w->label[i] * e->d + j] = w->y[i];
    }
    e->unit[j] = sqrt(fmax(product, 0) / fmax((double)n, 1));
done:
    return status;
}

lscm_status kernel_exact_fit(kernel_exact *w, kernel_encoder *e, const kernel_labels *l,
                             unsigned roles, double ridge, const lscm_progress *progress,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t j = 0; j < e->d; j++) {
        TRY(kernel_told(progress, "encoding", j, e->d, why));
        if (l->usable[j]) {
            TRY(fit_node(w, e, l, j, roles, ridge, why));
        }
    }
done:
    return status;
}
