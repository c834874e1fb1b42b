/* The start of EM from an anchor, z_J = a_J + y B_J for the anchored nodes J. If y = z A + b then
 * A_J B_J = I and A_u B_J = 0 for the others: A_J is the pseudo-inverse of B_J, and A_u lies
 * outside the columns of B_J, where it starts at the principal directions of y.
 */
#include "infer/marginal/collapse_state.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct start_work {
    double *slope;    /* (r, k): B_J, by columns; then its left vectors (r, min) */
    double *value;    /* (max(r, d)): singular values, or eigenvalues */
    double *left;     /* (r, r) by columns: left vectors */
    double *right;    /* (d, d) by columns: right vectors, turned */
    double *spread;   /* (r, r): of y, then its eigenvectors by rows */
    double *all;      /* (r, r): the same for all of y */
    double *encoder;  /* (r, d): z = a + y encoder, also for nodes without an anchor */
    double *z, *mean; /* (d): of a row; of the free rows */
} start_work;

static void lay_out(start_work *w, arena *a, size_t d, size_t r)
{
    w->slope = arena_take(a, r * d, sizeof(double));
    w->value = arena_take(a, r > d ? r : d, sizeof(double));
    w->left = arena_take(a, r * r, sizeof(double));
    w->right = arena_take(a, d * d, sizeof(double));
    w->spread = arena_take(a, r * r, sizeof(double));
    w->all = arena_take(a, r * r, sizeof(double));
    w->encoder = arena_take(a, r * d, sizeof(double));
    w->z = arena_take(a, d, sizeof(double));
    w->mean = arena_take(a, d, sizeof(double));
}

/* A_J = B_J^+; w->left keeps the directions that B_J has, *rank of them. */
static lscm_status invert_slope(const anchor *from, const start_work *w, collapse_parameters *p,
                                size_t *rank, lscm_error *why)
{
    size_t r = p->rank;
    size_t k = 0;
    for (size_t j = 0; j < p->d; j++) {
        for (size_t i = 0; i < r && from->kind[j] != ANCHOR_NONE; i++) {
            w->slope[k * r + i] = from->slope[i * p->d + j];
        }
        k += from->kind[j] != ANCHOR_NONE ? 1 : 0;
    }
    *rank = 0;
    if (k == 0 || r == 0) {
        return LSCM_OK;
    }
    if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', (int)r, (int)k, w->slope, (int)r, w->value, w->left,
                       (int)r, w->right, (int)k) != 0) {
        return fail(why, LSCM_VALUE,
                    "the anchored directions of x could not be inverted; are all "
                    "values of x and of do() finite and in sensible units?");
    }
    size_t most = k < r ? k : r;
    while (*rank < most && w->value[*rank] > 1e-12 * w->value[0]) {
        ++*rank;
    }
    for (size_t j = 0, row = 0; j < p->d; j++) {
        if (from->kind[j] == ANCHOR_NONE) {
            continue;
        }
        for (size_t m = 0; m < *rank; m++) {
            for (size_t i = 0; i < r; i++) {
                p->a[j * r + i] += w->right[row * k + m] * w->left[m * r + i] / w->value[m];
            }
        }
        row++;
    }
    return LSCM_OK;
}

/* Eigenvectors of the mean of y'y, largest last, as rows of `out`; without the first `rank`
 * directions of w->left. Eigenvalues in w->value. */
static lscm_status directions(const collapse *c, const start_work *w, size_t rank, double *out,
                              lscm_error *why)
{
    size_t r = c->rank;
    double share = 1 / (double)c->rows;
    size_t rows = c->first[c->design->sets];
    product(share, turned(c->y, rows, r), plain(c->y, rows, r), 0, out, r);
    for (size_t m = 0; m < rank; m++) { /* P S P, one direction at a time from both sides */
        const double *q = w->left + m * r;
        for (size_t side = 0; side < 2; side++) {
            for (size_t i = 0; i < r; i++) {
                size_t at = side == 0 ? i * r : i;
                size_t stride = side == 0 ? 1 : r;
                double along = cblas_ddot((int)r, q, 1, out + at, (int)stride);
                cblas_daxpy((int)r, -along, q, 1, out + at, (int)stride);
            }
        }
    }
    if (r > 0 && LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)r, out, (int)r, w->value) != 0) {
        return fail(why, LSCM_VALUE,
                    "the directions of x have no eigenvalues; are all of x finite "
                    "and in sensible units?");
    }
    return LSCM_OK;
}

/* Rows of A and columns of the encoder for the nodes without an anchor. */
static lscm_status add_unanchored(const collapse *c, const anchor *from, const start_work *w,
                                  size_t rank, collapse_parameters *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t r = c->rank;
    size_t used = 0;
    double most = 0;
    TRY(directions(c, w, 0, w->all, why));
    most = r > 0 ? w->value[r - 1] : 0;
    TRY(directions(c, w, rank, w->spread, why));
    for (size_t j = 0; j < c->d && r > 0; j++) {
        if (from->kind[j] != ANCHOR_NONE) {
            continue;
        }
        bool left = used < r - rank && w->value[r - 1 - used] > 1e-12 * most;
        size_t k = r - 1 - used % r;
        const double *q = (left ? w->spread : w->all) + k * r;
        double scale = left ? sqrt(w->value[k]) : 1e-2 * sqrt(most);
        for (size_t i = 0; i < r; i++) {
            p->a[j * r + i] = scale * q[i];
            w->encoder[i * c->d + j] = left ? q[i] / scale : 0;
        }
        used++;
    }
done:
    return status;
}

/* c and s: mean and sd of z over the rows in which the node is free. */
static void measure_nodes(const collapse *c, const anchor *from, const start_work *w,
                          collapse_parameters *p)
{
    size_t d = c->d;
    double *square = p->sigma;
    memset(square, 0, d * sizeof(double));
    for (size_t t = 0; t < c->design->sets; t++) {
        const uint8_t *target = c->design->target + t * d;
        for (size_t k = c->first[t]; k < c->first[t + 1]; k++) {
            product(1, plain(c->y + k * c->rank, 1, c->rank), plain(w->encoder, c->rank, d), 0,
                    w->z, d);
            for (size_t i = 0; i < d; i++) {
                double a = from->kind[i] != ANCHOR_NONE ? from->intercept[i] : 0;
                double z = target[i] != 0 ? 0 : w->z[i] + c->one[k] * a;
                w->mean[i] += c->one[k] * z;
                square[i] += z * z;
            }
        }
    }
    for (size_t i = 0; i < d; i++) {
        double rows = (double)(c->rows - c->targeted[i]);
        double mean = rows > 0 ? w->mean[i] / rows : 0;
        double variance = rows > 0 ? square[i] / rows - mean * mean : 0;
        p->c[i] = mean;
        p->sigma[i] = variance > 1e-12 * mean * mean ? sqrt(variance) : 1;
    }
}

lscm_status collapse_start(collapse *c, const anchor *from, bool equal, collapse_parameters *p,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    start_work w;
    size_t d = c->d;
    size_t r = c->rank;
    size_t rank = 0;
    double square = 0;
    lay_out(&w, &memory, d, r);
    TRY(arena_open(&memory, why));
    lay_out(&w, &memory, d, r);
    memset(p->a, 0, d * r * sizeof(double));
    memset(p->b, 0, r * sizeof(double));
    memset(p->w, 0, d * d * sizeof(double));
    memcpy(w.encoder, from->slope, r * d * sizeof(double));
    TRY(invert_slope(from, &w, p, &rank, why));
    TRY(add_unanchored(c, from, &w, rank, p, why));
    for (size_t j = 0; j < d; j++) {
        double a = from->kind[j] != ANCHOR_NONE ? from->intercept[j] : 0;
        cblas_daxpy((int)r, -a, p->a + j * r, 1, p->b, 1);
    }
    measure_nodes(c, from, &w, p);
    for (size_t i = 0; i < d; i++) {
        square += p->sigma[i] * p->sigma[i] / (double)d;
    }
    for (size_t i = 0; equal && i < d; i++) {
        p->sigma[i] = sqrt(square);
    }
    p->actuator_noise = from->actuator_noise;
    p->x_noise = fmax(c->s->x_noise, c->floor);
done:
    arena_close(&memory);
    return status;
}
