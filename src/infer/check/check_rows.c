#include "infer/check/check_rows.h"

#include "base/tuned.h"

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
    arena memory;
} model;

static size_t draws_looked_at(const anchored *a)
{
    return a->draws < tuned_check_draws() ? a->draws : tuned_check_draws();
}

static void lay_out(check_rows *t)
{
    size_t d = t->d;
    bool read_off = t->in->blur != NULL;
    arena *m = &t->memory;
    t->first = arena_take(m, t->sets + 1, sizeof *t->first);
    t->centre = arena_take(m, d, sizeof(double));
    t->unit = arena_take(m, d, sizeof(double));
    t->z = arena_take(m, t->n * d, sizeof(double));
    t->tau = arena_take(m, d, sizeof(double));
    t->shared = arena_take(m, d, sizeof(double));
    t->unsure = arena_take(m, d, sizeof(double));
    t->noise = arena_take(m, d, sizeof(double));
    t->graphs.draw = arena_take(m, draws_looked_at(t->in->a), sizeof *t->graphs.draw);
    t->graphs.share = arena_take(m, draws_looked_at(t->in->a), sizeof(double));
    if (read_off) {
        t->told = arena_take(m, t->n * d, sizeof(double));
        t->about = arena_take(m, t->n * d, sizeof(double));
        t->law = arena_take(m, t->sets * d * d, sizeof(double));
        t->doubt = arena_take(m, t->sets * d * d, sizeof(double));
        t->error = arena_take(m, d * d, sizeof(double));
    } else {
        t->told = t->z;
    }
}

/* Every so many rows of each set, all of small data. */
static size_t stride_of(const design *by)
{
    return 1 + (by->rows - 1) / tuned_check_rows();
}

/* The end of the batch that begins at place `from` of the rows set by set. */
static size_t batch_end(const design *by, size_t from)
{
    size_t to = from;
    while (to < by->rows && design_batch(by, by->row[to]) == design_batch(by, by->row[from])) {
        to++;
    }
    return to;
}

static size_t count_rows(const design *by)
{
    size_t stride = stride_of(by);
    size_t n = 0;
    size_t to = 0;
    for (size_t from = 0; from < by->rows; from = to) {
        to = batch_end(by, from);
        n += (to - from + stride - 1) / stride;
    }
    return n;
}

static void take_rows(check_rows *t)
{
    const design *by = &t->in->view->design;
    size_t d = t->d;
    size_t stride = stride_of(by);
    size_t at = 0;
    size_t to = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t from = to;
        bool any = from < by->rows && design_batch(by, by->row[from]) == set;
        to = any ? batch_end(by, from) : from;
        t->first[set] = at;
        for (size_t k = from; k < to; k += stride, at++) {
            memcpy(t->z + at * d, t->in->z + by->row[k] * d, d * sizeof(double));
            for (size_t i = 0; i < d && t->in->amiss != NULL; i++) {
                if (check_is_set(t, set, i)) {
                    t->z[at * d + i] = design_value(by, by->row[k], i);
                }
            }
        }
    }
    t->first[t->sets] = at;
    for (size_t i = 0; i < d; i++) {
        column_spread s = {0};
        for (size_t k = 0; k < t->n; k++) {
            spread_add(&s, t->z[k * d + i]);
        }
        t->centre[i] = s.mean;
        t->unit[i] = sqrt(s.squares / s.n);
        bool still = !(t->unit[i] > 1e-12 * fabs(s.mean)); /* rounding */
        t->unit[i] = still ? 0 : t->unit[i];
        for (size_t k = 0; k < t->n; k++) {
            t->z[k * d + i] = still ? 0 : (t->z[k * d + i] - s.mean) / t->unit[i];
        }
    }
}

static bool same_graph(const anchored *a, size_t one, size_t other)
{
    size_t n = a->d * a->d;
    for (size_t k = 0; k < n; k++) {
        if ((a->w[one * n + k] != 0) != (a->w[other * n + k] != 0)) {
            return false;
        }
    }
    return true;
}

static void take_graphs(check_rows *t)
{
    const anchored *a = t->in->a;
    check_graphs *g = &t->graphs;
    size_t looked = draws_looked_at(a);
    for (size_t k = 0; k < looked; k++) {
        size_t draw = k * a->draws / looked;
        size_t at = 0;
        while (at < g->count && !same_graph(a, g->draw[at], draw)) {
            at++;
        }
        if (at == g->count) {
            g->draw[g->count++] = draw;
        }
        g->share[at] += 1 / (double)looked;
    }
    for (size_t k = 1; k < g->count; k++) {
        if (g->share[k] > g->share[0]) {
            double share = g->share[0];
            size_t draw = g->draw[0];
            g->share[0] = g->share[k];
            g->draw[0] = g->draw[k];
            g->share[k] = share;
            g->draw[k] = draw;
        }
    }
}

/* Sets have intercepts of their own in more than half of the draws: their sd over the noise. */
static void take_noise(check_rows *t)
{
    const anchored *a = t->in->a;
    for (size_t i = 0; i < t->d; i++) {
        double own = 0;
        double sigma = 0;
        size_t with = 0;
        for (size_t k = 0; k < a->draws; k++) {
            double effect = a->effect[k * t->d + i];
            double s = a->sigma[k * t->d + i];
            own += effect / (double)a->draws;
            sigma += s / (double)a->draws;
            with += effect > 0 ? 1 : 0;
            t->noise[i] +=
                t->unit[i] > 0 ? s * s / (t->unit[i] * t->unit[i] * (double)a->draws) : 0;
        }
        t->tau[i] = 2 * with > a->draws && sigma > 0 ? own / sigma : 0;
    }
}

static void lay_out_model(model *m, size_t d)
{
    double **squares[] = {&m->w, &m->reach, &m->joint, &m->solved};
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; k++) {
        *squares[k] = arena_take(&m->memory, d * d, sizeof(double));
    }
    m->c = arena_take(&m->memory, d, sizeof(double));
    m->s2 = arena_take(&m->memory, d, sizeof(double));
    m->node = arena_take(&m->memory, d, sizeof *m->node);
}

static void mean_model(const check_rows *t, model *m)
{
    const anchored *a = t->in->a;
    size_t d = t->d;
    size_t draw = t->graphs.draw[0];
    double count = 0;
    m->order = a->order + draw * d;
    for (size_t k = 0; k < a->draws; k++) {
        if (!same_graph(a, draw, k)) {
            continue;
        }
        count++;
        cblas_daxpy((int)(d * d), 1, a->w + k * d * d, 1, m->w, 1);
        cblas_daxpy((int)d, 1, a->intercept + k * d, 1, m->c, 1);
        for (size_t i = 0; i < d; i++) {
            m->s2[i] += a->sigma[k * d + i] * a->sigma[k * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        double u = t->unit[i] > 0 ? t->unit[i] : 1;
        double c = m->c[i] / count - t->centre[i];
        m->s2[i] /= count * u * u;
        for (size_t j = 0; j < d; j++) {
            double w = m->w[j * d + i] / count;
            c += w * t->centre[j];
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
            double mean = m->c[i] + cblas_ddot((int)d, m->w + i, (int)d, t->about + r * d, 1);
            t->about[r * d + i] = is_set ? t->z[r * d + i] : mean;
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

static lscm_status tell(check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = t->d;
    model m = {0};
    lay_out_model(&m, d);
    TRY(arena_open(&m.memory, why));
    lay_out_model(&m, d);
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

lscm_status check_rows_of(check_rows *out, const check_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *by = &in->view->design;
    check_rows t = {.in = in,
                    .n = count_rows(by),
                    .d = in->a->d,
                    .sets = design_batches(by),
                    .target = design_batch_targets(by, 0)};
    lay_out(&t);
    TRY(arena_open(&t.memory, why));
    lay_out(&t);
    take_rows(&t);
    take_graphs(&t);
    take_noise(&t);
    if (in->blur != NULL) {
        TRY(tell(&t, why));
    }
    *out = t;
    t.memory = (arena){0};
done:
    arena_close(&t.memory);
    return status;
}

void check_rows_close(check_rows *t)
{
    arena_close(&t->memory);
}
