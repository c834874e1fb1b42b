/* What the model makes of z that was read off with errors. Where the graph most often drawn bends,
 * means are those of its curves, covariances of its average slopes. */
#include "infer/check/check_told.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct model {
    double *w;              /* (d, d): mean weights of the first graph's draws, in units */
    double *c, *s2;         /* (d): intercepts, variances of noise */
    double *reach;          /* (d, d): dz_i / de_j under do() */
    double *joint, *solved; /* (d, d) each */
    size_t *node;           /* (d): free nodes */
    const size_t *order;    /* (d) */
    bent_mechanisms bent;   /* mean of those draws: one draw, in z's own units */
    uint64_t *first;        /* (d + 1): of it */
    double *coef;           /* of it */
    double *row;            /* (d): z in its own units */
    arena memory;
} model;

/* Terms of the first graph's draws: as many in each. */
static size_t terms_of(const check_rows *t)
{
    const bent_mechanisms *b = &t->in->a->bent;
    size_t at = t->graphs.draw[0] * t->d;
    return t->in->a->bends ? b->first[at + t->d] - b->first[at] : 0;
}

static void lay_out_model(model *m, const check_rows *t)
{
    size_t d = t->d;
    double **squares[] = {&m->w, &m->reach, &m->joint, &m->solved};
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; k++) {
        *squares[k] = arena_take(&m->memory, d * d, sizeof(double));
    }
    m->c = arena_take(&m->memory, d, sizeof(double));
    m->s2 = arena_take(&m->memory, d, sizeof(double));
    m->node = arena_take(&m->memory, d, sizeof *m->node);
    m->row = arena_take(&m->memory, d, sizeof(double));
    m->first = arena_take(&m->memory, d + 1, sizeof *m->first);
    m->coef = arena_take(&m->memory, terms_of(t), CURVE_WIDTH * sizeof(double));
}

static void mean_bends(const check_rows *t, model *m)
{
    const bent_mechanisms *b = &t->in->a->bent;
    size_t d = t->d;
    size_t draw = t->graphs.draw[0];
    size_t terms = terms_of(t);
    double count = 0;
    for (size_t k = 0; k < b->draws && terms > 0; k++) {
        count += check_same_draw(t->in->a, draw, k) ? 1 : 0;
    }
    for (size_t k = 0; k < b->draws && terms > 0; k++) {
        if (check_same_draw(t->in->a, draw, k)) {
            cblas_daxpy((int)(terms * CURVE_WIDTH), 1 / count,
                        b->coef + b->first[k * d] * CURVE_WIDTH, 1, m->coef, 1);
        }
    }
    for (size_t i = 0; i <= d && terms > 0; i++) {
        m->first[i] = b->first[draw * d + i] - b->first[draw * d];
    }
    m->bent = (bent_mechanisms){.draws = 1,
                                .d = d,
                                .terms = terms,
                                .basis = b->basis,
                                .first = m->first,
                                .parent = terms > 0 ? b->parent + 2 * b->first[draw * d] : NULL,
                                .coef = m->coef};
}

static void mean_model(const check_rows *t, model *m)
{
    const anchored *a = t->in->a;
    size_t d = t->d;
    size_t draw = t->graphs.draw[0];
    double count = 0;
    m->order = a->order + draw * d;
    for (size_t k = 0; k < a->draws; k++) {
        if (!check_same_draw(a, draw, k)) {
            continue;
        }
        count++;
        cblas_daxpy((int)(d * d), 1, a->w + k * d * d, 1, m->w, 1);
        cblas_daxpy((int)d, 1, a->intercept + k * d, 1, m->c, 1);
        for (size_t i = 0; i < d; i++) {
            m->s2[i] += a->sigma[k * d + i] * a->sigma[k * d + i];
        }
    }
    mean_bends(t, m);
    for (size_t i = 0; i < d; i++) {
        double u = t->unit[i] > 0 ? t->unit[i] : 1;
        double c = m->c[i] / count - t->centre[i];
        m->s2[i] /= count * u * u;
        for (size_t j = 0; j < d; j++) {
            double w = m->w[j * d + i] / count;
            c += bent_bends(&m->bent, 0, i) ? 0 : w * t->centre[j];
            m->w[j * d + i] = w * t->unit[j] / u;
        }
        m->c[i] = c / u;
    }
}

/* S_t of a set, 0 at targets. */
static void law_of_set(const check_rows *t, const model *m, size_t set)
{
    size_t d = t->d;
    double *law = t->law + set * d * d;
    memset(m->reach, 0, d * d * sizeof(double));
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        if (check_is_set(t, set, i)) {
            continue;
        }
        for (size_t j = 0; j < d; j++) {
            cblas_daxpy((int)d, m->w[j * d + i], m->reach + j * d, 1, m->reach + i * d, 1);
        }
        m->reach[i * d + i] = sqrt(m->s2[i]);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)d, 1, m->reach,
                (int)d, m->reach, (int)d, 0, law, (int)d);
}

/* E[z_i] of a row of which all causes are known, in units. */
static double mean_of(const check_rows *t, const model *m, size_t i, const double *about)
{
    size_t d = t->d;
    if (!bent_bends(&m->bent, 0, i)) {
        return m->c[i] + cblas_ddot((int)d, m->w + i, (int)d, about, 1);
    }
    for (size_t j = 0; j < d; j++) {
        m->row[j] = t->centre[j] + t->unit[j] * about[j];
    }
    double u = t->unit[i] > 0 ? t->unit[i] : 1;
    return m->c[i] + bent_effect(&m->bent, 0, i, m->row) / u;
}

/* m of its rows, and the set's own mean of z - m. */
static void about_set(const check_rows *t, const model *m, size_t set)
{
    size_t d = t->d;
    size_t first = t->first[set];
    size_t count = t->first[set + 1] - first;
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        double own = 0;
        bool is_set = check_is_set(t, set, i);
        for (size_t r = first; r < first + count; r++) {
            double *about = t->about + r * d;
            about[i] = is_set ? t->z[r * d + i] : mean_of(t, m, i, about);
        }
        for (size_t r = first; r < first + count && !is_set; r++) {
            own += (t->z[r * d + i] - t->about[r * d + i]) / (double)count;
        }
        for (size_t r = first; r < first + count; r++) {
            t->about[r * d + i] += own;
        }
    }
}

/* E[zeta | z] and its covariance; where S + O cannot be inverted z is taken as it is. */
static void tell_set(const check_rows *t, const model *m, size_t set)
{
    size_t d = t->d;
    size_t n = 0;
    const double *law = t->law + set * d * d;
    double *doubt = t->doubt + set * d * d;
    for (size_t i = 0; i < d; i++) {
        if (!check_is_set(t, set, i) && t->unit[i] > 0) {
            m->node[n++] = i;
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            size_t at = m->node[a] * d + m->node[b];
            m->joint[a * n + b] = law[at] + t->error[at];
            m->solved[a * n + b] = law[at];
        }
    }
    bool well = n > 0 && LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)n, (int)n, m->joint, (int)n,
                                       m->solved, (int)n) == 0;
    for (size_t a = 0; a < n && well; a++) {
        for (size_t b = 0; b < n; b++) { /* solved: (S + O)^-1 S */
            double sum = law[m->node[a] * d + m->node[b]];
            for (size_t c = 0; c < n; c++) {
                sum -= law[m->node[a] * d + m->node[c]] * m->solved[c * n + b];
            }
            doubt[m->node[a] * d + m->node[b]] = sum;
        }
    }
    for (size_t r = t->first[set]; r < t->first[set + 1]; r++) {
        const double *z = t->z + r * d;
        const double *about = t->about + r * d;
        double *told = t->told + r * d;
        memcpy(told, z, d * sizeof(double));
        for (size_t b = 0; b < n && well; b++) {
            double sum = about[m->node[b]];
            for (size_t a = 0; a < n; a++) {
                sum += (z[m->node[a]] - about[m->node[a]]) * m->solved[a * n + b];
            }
            told[m->node[b]] = sum;
        }
    }
}

lscm_status check_told_of(check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = t->d;
    model m = {0};
    lay_out_model(&m, t);
    TRY(arena_open(&m.memory, why));
    lay_out_model(&m, t);
    mean_model(t, &m);
    for (size_t i = 0; i < d && t->in->unsure != NULL; i++) {
        t->unsure[i] = t->unit[i] > 0 ? t->in->unsure[i] / (t->unit[i] * t->unit[i]) : 0;
        t->shared[i] = t->unsure[i] / (double)(t->in->a->rank + 1);
    }
    for (size_t k = 0; k < d * d; k++) {
        double units = t->unit[k / d] * t->unit[k % d];
        t->error[k] = units > 0 ? t->in->blur[k] / units : 0;
    }
    for (size_t set = 0; set < t->sets; set++) {
        law_of_set(t, &m, set);
        about_set(t, &m, set);
        tell_set(t, &m, set);
    }
done:
    arena_close(&m.memory);
    return status;
}
