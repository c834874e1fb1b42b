/* Forward selection for all nodes side by side. For node i and the rows F_i in which it is free,
 * let c_k = <z_k, e_i> and v_k = |residual of z_k|^2 given the nodes chosen so far, e_i the
 * residual of z_i. Each round takes the k with the largest c_k^2 / v_k and needs one column of the
 * scatter over F_i; for all nodes together these are one product, Z' M with M[r][i] = [r in F_i]
 * z_{r, k(i)}.
 */
#include "base/threads.h"
#include "base/tuned.h"
#include "infer/screen/screen_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256, PARTS = 8 }; /* rows at a time; shares of them, summed in their order */

typedef struct selection {
    const screen_data *s;
    double *centre;       /* (d) */
    double *z, *m;        /* (PARTS, ROWS, d): rows about the centre; the other factor */
    double *product;      /* (PARTS, d, d): row a is of node list[a] */
    double *mean;         /* (d, d): sum over F_i of z_k */
    double *cross, *left; /* (d, d): c, v */
    double *whole;        /* (d, d): v before anything was chosen */
    double *chosen;       /* (d, near_most, d): residual columns q, scaled so that v_k -= q_k^2 */
    double *rss;          /* (d) */
    size_t *pick;         /* (d): k(i) */
    uint8_t *active;      /* (d) */
    size_t *list;         /* (actives): the active nodes */
    size_t actives;
} selection;

static void lay_out(selection *w, arena *a)
{
    size_t d = w->s->d;
    w->centre = arena_take(a, d, sizeof(double));
    w->z = arena_take(a, (size_t)PARTS * ROWS * d, sizeof(double));
    w->m = arena_take(a, (size_t)PARTS * ROWS * d, sizeof(double));
    w->product = arena_take(a, PARTS * d * d, sizeof(double));
    double **square[] = {&w->mean, &w->cross, &w->left, &w->whole};
    for (size_t k = 0; k < sizeof square / sizeof square[0]; k++) {
        *square[k] = arena_take(a, d * d, sizeof(double));
    }
    w->chosen = arena_take(a, d * w->s->near_most * d, sizeof(double));
    w->rss = arena_take(a, d, sizeof(double));
    w->pick = arena_take(a, d, sizeof *w->pick);
    w->active = arena_take(a, d, 1);
    w->list = arena_take(a, d, sizeof *w->list);
}

typedef enum factor { FACTOR_FREE, FACTOR_PICK } factor;

/* product[a][k] = sum over the rows of a part of M[r][list[a]] Z[r][k], Z squared when asked for.
 */
static void multiply_part(const selection *w, size_t part, factor kind, bool squared)
{
    const screen_data *s = w->s;
    size_t d = s->d;
    size_t width = w->actives;
    double *about = w->z + part * ROWS * d;
    double *m = w->m + part * ROWS * d;
    double *product = w->product + part * d * d;
    size_t last = s->rows * (part + 1) / PARTS;
    memset(product, 0, width * d * sizeof(double));
    for (size_t start = s->rows * part / PARTS; start < last; start += ROWS) {
        size_t n = last - start < ROWS ? last - start : ROWS;
        for (size_t r = 0; r < n; r++) {
            const double *z = s->z + s->row[start + r] * d;
            const uint8_t *target = design_targets(s->design, s->row[start + r]);
            for (size_t i = 0; i < d; i++) {
                double centred = z[i] - w->centre[i];
                about[r * d + i] = squared ? centred * centred : centred;
            }
            for (size_t a = 0; a < width; a++) {
                size_t k = w->pick[w->list[a]];
                double value = kind == FACTOR_FREE ? 1 : z[k] - w->centre[k];
                m[r * width + a] = target[w->list[a]] != 0 ? 0 : value;
            }
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)width, (int)d, (int)n, 1, m,
                    (int)width, about, (int)d, 1, product, (int)d);
    }
}

static void multiply(selection *w, factor kind, bool squared)
{
    size_t d = w->s->d;
#pragma omp parallel for schedule(dynamic)
    for (size_t part = 0; part < PARTS; part++) {
        multiply_part(w, part, kind, squared);
    }
    for (size_t part = 1; part < PARTS; part++) {
        const double *product = w->product + part * d * d;
        for (size_t k = 0; k < w->actives * d; k++) {
            w->product[k] += product[k];
        }
    }
}

static void list_actives(selection *w)
{
    w->actives = 0;
    for (size_t i = 0; i < w->s->d; i++) {
        if (w->active[i] != 0) {
            w->list[w->actives++] = i;
        }
    }
}

/* Rows of the product to the rows of their nodes. */
static void spread(const selection *w, double *out)
{
    for (size_t a = 0; a < w->actives; a++) {
        memcpy(out + w->list[a] * w->s->d, w->product + a * w->s->d, w->s->d * sizeof *out);
    }
}

/* Sums, squares and products with the node itself, over the rows in which it is free. */
static void begin(selection *w)
{
    const screen_data *s = w->s;
    size_t d = s->d;
    memset(w->centre, 0, d * sizeof(double));
    for (size_t r = 0; r < s->rows; r++) {
        for (size_t i = 0; i < d; i++) {
            w->centre[i] += s->z[s->row[r] * d + i] / (double)s->rows;
        }
    }
    for (size_t i = 0; i < d; i++) {
        s->count[i] = 0;
        w->active[i] = s->free[i] > 2 ? 1 : 0;
        w->pick[i] = i;
    }
    list_actives(w);
    multiply(w, FACTOR_FREE, false);
    spread(w, w->mean);
    multiply(w, FACTOR_FREE, true);
    spread(w, w->left);
    multiply(w, FACTOR_PICK, false);
    spread(w, w->cross);
    for (size_t i = 0; i < d; i++) {
        double n = s->free[i] > 0 ? s->free[i] : 1;
        for (size_t k = 0; k < d; k++) {
            const double *mean = w->mean + i * d;
            double square = w->left[i * d + k] - mean[k] * mean[k] / n;
            w->left[i * d + k] = square > 0 ? square : 0;
            w->cross[i * d + k] -= mean[k] * mean[i] / n;
        }
        w->rss[i] = w->left[i * d + i];
    }
    memcpy(w->whole, w->left, d * d * sizeof(double));
}

/* The best next node for i, or none: what it explains must stand out among d of no use. */
static void choose(selection *w, size_t i)
{
    const double collinear = 1e-12;
    const screen_data *s = w->s;
    size_t d = s->d;
    double best = 0;
    size_t told = (size_t)(s->free[i] / (double)tuned_screen_rows());
    size_t limit = s->near_most < told ? s->near_most : told;
    for (size_t k = 0; k < d; k++) {
        double v = w->left[i * d + k];
        double c = w->cross[i * d + k];
        bool may = k != i && v > collinear * w->whole[i * d + k] &&
                   (s->forbidden == NULL || s->forbidden[k * d + i] == 0);
        if (may && c * c > best * v) {
            best = c * c / v;
            w->pick[i] = k;
        }
    }
    double share = best > 0 && w->rss[i] > 0 ? fmin(best / w->rss[i], 1 - 1e-12) : 0;
    double gain = -0.5 * s->free[i] * log1p(-share);
    w->active[i] = s->count[i] < limit && gain > 2 + log((double)d) ? 1 : 0;
}

/* Takes the picked node of i in, its column being given. */
static void take(selection *w, size_t i, const double *column)
{
    const screen_data *s = w->s;
    size_t d = s->d;
    size_t k = w->pick[i];
    size_t number = s->count[i]++;
    double *all = w->chosen + i * s->near_most * d;
    double *q = all + number * d;
    const double *mean = w->mean + i * d;
    s->near[i * s->near_most + number] = k;
    for (size_t j = 0; j < d; j++) {
        q[j] = column[j] - mean[j] * mean[k] / s->free[i];
    }
    for (size_t b = 0; b < number; b++) {
        cblas_daxpy((int)d, -all[b * d + k], all + b * d, 1, q, 1);
    }
    double pivot = w->left[i * d + k];
    double scale = 1 / sqrt(pivot);
    double by = w->cross[i * d + k] * scale;
    for (size_t j = 0; j < d; j++) {
        q[j] *= scale;
        w->cross[i * d + j] -= by * q[j];
        double left = w->left[i * d + j] - q[j] * q[j];
        w->left[i * d + j] = left > 0 ? left : 0;
    }
    w->left[i * d + k] = 0;
    w->rss[i] = fmax(w->rss[i] - by * by, 1e-12 * w->whole[i * d + i]);
}

void screen_sort(size_t *list, size_t count)
{
    for (size_t a = 1; a < count; a++) {
        size_t item = list[a];
        size_t b = a;
        for (; b > 0 && list[b - 1] > item; b--) {
            list[b] = list[b - 1];
        }
        list[b] = item;
    }
}

/* What is near is so both ways, as far as there is room: an order can only be judged by an edge
 * that may point either way. */
static void close_lists(const screen_data *s)
{
    size_t d = s->d;
    for (size_t i = 0; i < d; i++) {
        size_t chosen = s->count[i];
        for (size_t k = 0; k < chosen; k++) {
            size_t j = s->near[i * s->near_most + k];
            size_t *its = s->near + j * s->near_most;
            bool may = s->count[j] < s->near_most &&
                       (double)tuned_screen_rows() * (double)s->count[j] < s->free[j] &&
                       (s->forbidden == NULL || s->forbidden[i * d + j] == 0);
            for (size_t b = 0; b < s->count[j]; b++) {
                may = may && its[b] != i;
            }
            if (may) {
                its[s->count[j]++] = i;
            }
        }
    }
}

static lscm_status select_near(selection *w, const lscm_progress *progress, lscm_error *why)
{
    const screen_data *s = w->s;
    size_t d = s->d;
    begin(w);
    for (size_t round = 0; round < s->near_most; round++) {
#pragma omp parallel for schedule(static)
        for (size_t a = 0; a < w->actives; a++) {
            choose(w, w->list[a]);
        }
        list_actives(w);
        if (w->actives == 0) {
            break;
        }
        if (progress != NULL && progress->report != NULL &&
            !progress->report(progress->self, "candidate parents", round, s->near_most)) {
            return fail(why, LSCM_STOPPED, "candidate parents: stopped on request");
        }
        multiply(w, FACTOR_PICK, false);
#pragma omp parallel for schedule(static)
        for (size_t a = 0; a < w->actives; a++) {
            take(w, w->list[a], w->product + a * d);
        }
    }
    close_lists(s);
    for (size_t i = 0; i < d; i++) {
        screen_sort(s->near + i * s->near_most, s->count[i]);
    }
    return LSCM_OK;
}

lscm_status screen_near(const screen_data *s, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    selection w = {.s = s};
    arena memory = {0};
    double fewest = INFINITY;
    for (size_t i = 0; i < s->d; i++) {
        fewest = s->free[i] > 2 ? fmin(fewest, s->free[i]) : fewest;
    }
    /* a regression on all others needs rows to spare */
    if (s->d <= SCREEN_ALL && fewest >= (double)tuned_screen_rows() * (double)s->d) {
        candidate_lists_all(&(candidate_lists){s->near_most, s->count, s->near, NULL}, s->d,
                            s->forbidden);
        return LSCM_OK;
    }
    threads_blas_single();
    lay_out(&w, &memory);
    TRY(arena_open(&memory, why));
    lay_out(&w, &memory);
    TRY(select_near(&w, progress, why));
done:
    threads_blas_restore();
    arena_close(&memory);
    return status;
}
