/* One set: R by the causal order, then z given y as in collapse.h. h solves
 * H h' = G delta'/s_x^2, once more on what the first solution leaves: when s_x is small, H has the
 * squared condition of G, and the second solve gives the digits back. */
#include "infer/marginal/collapse_state.h"

#include "scm/mechanism/mechanism.h"

#include <lapacke.h>
#include <string.h>

/* Row k of R is what one unit of noise of node k does to all nodes. */
static void find_reach(const collapse_parameters *p, const uint8_t *target, double *reach)
{
    size_t d = p->d;
    mechanism_model m = {.d = d, .w = p->w, .intercept = p->c, .sigma = p->sigma};
    memset(reach, 0, d * d * sizeof *reach);
    for (size_t k = 0; k < d; k++) {
        reach[k * d + k] = 1;
    }
    mechanism_reach(&m, p->order, target, d, reach);
}

/* C' in the upper triangle of h. H is at least I, and s_x large enough that rounding cannot hide
 * it: what is not finite shows in z. */
static void factor_noise(const set_law *law, size_t r, double precision)
{
    size_t u = law->u;
    product(precision, plain(law->g, u, r), turned(law->g, u, r), 0, law->h, u);
    for (size_t k = 0; k < u; k++) {
        law->h[k * u + k] += 1;
    }
    /* upper by rows is lower by columns */
    (void)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)u, law->h, (int)u);
}

void collapse_law(const collapse *c, const collapse_parameters *p, size_t set, collapse_slot *slot)
{
    set_law *law = &slot->law;
    size_t d = c->d;
    size_t r = c->rank;
    double s_x = collapse_x_noise(c, p);
    const uint8_t *target = c->s->design.target + set * d;
    law->target = target;
    law->u = 0;
    find_reach(p, target, law->reach);
    product(1, plain(law->reach, d, d), plain(p->a, d, r), 0, law->effect, r);
    for (size_t i = 0; i < d; i++) {
        double scale = target[i] != 0 ? p->actuator_noise : p->sigma[i];
        if (scale == 0) {
            continue;
        }
        for (size_t k = 0; k < r; k++) {
            law->g[law->u * r + k] = scale * law->effect[i * r + k];
        }
        for (size_t k = 0; k < d; k++) {
            law->x[law->u * d + k] = scale * law->reach[i * d + k];
        }
        law->active[law->u] = i;
        law->scale[law->u++] = scale;
    }
    if (law->u > 0) {
        factor_noise(law, r, 1 / (s_x * s_x));
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)law->u,
                    (int)d, 1, law->h, (int)law->u, law->x, (int)d);
    }
}

/* h += (rest G'/s_x^2 - h) H^-1, rest follows. */
static void refine(const set_law *law, size_t n, size_t r, double precision, bool begun,
                   collapse_slot *slot)
{
    size_t u = law->u;
    if (begun) {
        memcpy(slot->up, slot->h, n * u * sizeof(double));
    }
    product(precision, plain(slot->rest, n, r), turned(law->g, u, r), begun ? -1 : 0, slot->up, u);
    (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)u, (int)n, law->h, (int)u, slot->up,
                              (int)u);
    product(-1, plain(slot->up, n, u), plain(law->g, u, r), 1, slot->rest, r);
    for (size_t k = 0; k < n * u; k++) {
        slot->h[k] = slot->up[k] + (begun ? slot->h[k] : 0);
    }
}

void collapse_condition(const collapse *c, const collapse_parameters *p, size_t n,
                        collapse_slot *slot)
{
    const set_law *law = &slot->law;
    size_t d = c->d;
    size_t r = c->rank;
    double s_x = collapse_x_noise(c, p);
    for (size_t row = 0; row < n; row++) {
        for (size_t i = 0; i < d; i++) {
            slot->m[row * d + i] = slot->v[row * d + i] + (law->target[i] != 0 ? 0 : p->c[i]);
        }
        for (size_t k = 0; k < r; k++) {
            slot->rest[row * r + k] = slot->y[row * r + k] - p->b[k];
        }
        slot->z[row * (d + 1)] = 1;
    }
    product(-1, plain(slot->m, n, d), plain(law->effect, d, r), 1, slot->rest, r);
    if (law->u > 0) {
        refine(law, n, r, 1 / (s_x * s_x), false, slot);
        refine(law, n, r, 1 / (s_x * s_x), true, slot);
    }
    for (size_t row = 0; row < n; row++) {
        for (size_t k = 0; k < law->u; k++) {
            slot->m[row * d + law->active[k]] += law->scale[k] * slot->h[row * law->u + k];
        }
    }
    product(1, plain(slot->m, n, d), plain(law->reach, d, d), 0, slot->z + 1, d + 1);
}
