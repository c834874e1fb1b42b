#include "infer/mechanism/law.h"

#include <math.h>

lscm_status mechanisms_check(const mechanisms *m, lscm_error *why)
{
    for (size_t i = 0; i < m->d; i++) {
        if (m->family[i].count > FAMILY_MOST) {
            return fail(why, LSCM_VALUE,
                        "node %zu has %zu candidate parents; at most %d can be weighed against "
                        "each other",
                        i, m->family[i].count, FAMILY_MOST);
        }
        if (!m->law->sound(&m->family[i])) {
            return fail(why, LSCM_VALUE,
                        "the moments of node %zu are not finite numbers; look for values that "
                        "are out of all proportion",
                        i);
        }
    }
    return LSCM_OK;
}

static bool sound(const family *f)
{
    size_t side = f->count + 1;
    for (size_t k = 0; k < side * side + side; k++) {
        double x = k < side * side ? f->scatter[k] : f->mean[k - side * side];
        if (!isfinite(x)) {
            return false;
        }
    }
    return true;
}

static void narrow(family_room *out, const family *f, uint32_t among)
{
    size_t place[FAMILY_MOST + 1]; /* in f, the node last */
    size_t count = 0;
    uint32_t required = 0;
    for (size_t c = 0; c < f->count; c++) {
        if ((among >> c & 1) != 0) {
            required |= (f->required >> c & 1) << count;
            out->candidate[count] = f->candidate[c];
            place[count++] = c;
        }
    }
    place[count] = f->count;
    for (size_t a = 0; a <= count; a++) {
        for (size_t b = 0; b <= count; b++) {
            out->scatter[a * (count + 1) + b] = f->scatter[place[a] * (f->count + 1) + place[b]];
        }
        out->mean[a] = f->mean[place[a]];
    }
    out->f = (family){.node = f->node,
                      .count = count,
                      .candidate = out->candidate,
                      .required = required,
                      .rows = f->rows,
                      .scatter = out->scatter,
                      .mean = out->mean};
}

static void score_all(const family *f, const dag_prior *prior, double *score, double *work,
                      double *more)
{
    family_table table = {.rest = work, .log_det = more};
    family_regress(f, prior, &table);
    family_scores(f, prior, &table, score);
}

/* The residuals of all mechanisms and the pull of the ridge on the weights are a sample of the
 * variance. */
static double pool(const mechanisms *all, const uint32_t *parents, const double *weights,
                   double *dof)
{
    const dag_prior *prior = &all->prior;
    double sum = prior->ridge * dag_mean_unit(prior, all->d);
    *dof = prior->dof;
    for (size_t i = 0; i < all->d; i++) {
        const family *f = &all->family[i];
        size_t m = f->count + 1;
        double w[FAMILY_MOST + 1] = {0};
        w[f->count] = -1;
        for (size_t k = 0; k < f->count; k++) {
            if ((parents[i] >> k & 1) != 0) {
                double unit = prior->unit[f->candidate[k]];
                w[k] = weights[f->candidate[k] * all->d + i];
                sum += prior->ridge * unit * unit * w[k] * w[k];
                *dof += 1;
            }
        }
        for (size_t a = 0; a < m; a++) {
            for (size_t b = 0; b < m && w[a] != 0; b++) {
                sum += w[a] * f->scatter[a * m + b] * w[b];
            }
        }
        *dof += fmax(f->rows - 1, 0);
    }
    return sum;
}

const mechanism_law linear_gaussian = {.gather = families_of,
                                       .update = families_update,
                                       .correct = families_correct,
                                       .weigh = families_weigh,
                                       .sound = sound,
                                       .narrow = narrow,
                                       .score = family_score,
                                       .score_all = score_all,
                                       .draw = family_draw,
                                       .pool = pool};
