#include "infer/mechanism/law.h"

#include "base/node_name.h"

#include <math.h>

lscm_status mechanisms_check(const mechanisms *m, lscm_error *why)
{
    char room[NODE_NAME_ROOM];
    for (size_t i = 0; i < m->d; i++) {
        const char *name = name_of(m->family[i].names, i, room, sizeof room);
        if (m->family[i].count > FAMILY_MOST) {
            return fail(why, LSCM_VALUE,
                        "node %s has %zu candidate parents; at most %d can be weighed against "
                        "each other",
                        name, m->family[i].count, FAMILY_MOST);
        }
        if (!m->law->sound(&m->family[i])) {
            return fail(why, LSCM_VALUE,
                        "the moments of node %s are not finite numbers; look for values that "
                        "are out of all proportion",
                        name);
        }
    }
    return LSCM_OK;
}

static bool sound(const family *f)
{
    size_t side = f->count + 1;
    bool finite = true;
    for (size_t k = 0; k < f->levels * side * side; k++) {
        finite = finite && isfinite(f->scatter[k]);
    }
    for (size_t k = 0; k < f->levels * side; k++) {
        finite = finite && isfinite(f->mean[k]);
    }
    return finite;
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
    for (size_t l = 0; l < f->levels; l++) {
        const double *scatter = f->scatter + l * (f->count + 1) * (f->count + 1);
        double *to = out->scatter + l * (count + 1) * (count + 1);
        for (size_t a = 0; a <= count; a++) {
            for (size_t b = 0; b <= count; b++) {
                to[a * (count + 1) + b] = scatter[place[a] * (f->count + 1) + place[b]];
            }
            out->mean[l * (count + 1) + a] = f->mean[l * (f->count + 1) + place[a]];
        }
    }
    out->f = *f;
    out->f.count = count;
    out->f.candidate = out->candidate;
    out->f.required = required;
    out->f.gain_of = spread_bits(among, f->gain_of);
    out->f.scatter = out->scatter;
    out->f.mean = out->mean;
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
                *dof += prior->hole ? 3 : 1; /* w^2/s^2 is two more */
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
                                       .score_all = family_scores_all,
                                       .level = family_draw_level,
                                       .draw = family_draw,
                                       .pool = pool};
