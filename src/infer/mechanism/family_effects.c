/* Intercepts that sets have of their own: a family's scatter at every tau, from that without and
 * the means of the sets (families.h). */
#include "infer/mechanism/family_sums.h"

#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* In units of the noise: none, as likely as all others together, to far beyond it. */
static const double TAU[FAMILY_LEVELS] = {0, 0.1, 0.3, 1, 3, 10};

static void sum_sets(families *f, const double *z)
{
    size_t d = f->d;
    memset(f->set_heft, 0, f->design->sets * sizeof(double));
    memset(f->set_mean, 0, f->design->sets * d * sizeof(double));
    for (size_t k = 0; k < f->used; k++) {
        size_t row = f->row[k];
        size_t set = f->design->set[row];
        double weight = f->weight != NULL ? f->weight[row] : 1;
        f->set_heft[set] += weight;
        for (size_t i = 0; i < d; i++) {
            f->set_mean[set * d + i] += weight * (z[row * d + i] - f->centre[i]);
        }
    }
    for (size_t set = 0; set < f->design->sets; set++) {
        double heft = f->set_heft[set];
        for (size_t i = 0; i < d; i++) {
            f->set_mean[set * d + i] /= heft > 0 ? heft : 1;
        }
    }
}

static bool set_counts(const families *f, size_t set, size_t i)
{
    return f->set_heft[set] > 0 && f->design->target[set * f->d + i] == 0;
}

/* Level l of node i, both triangles. */
static void fill_level(families *f, size_t i, size_t l)
{
    family *fam = &f->list[i];
    size_t m = fam->count + 1;
    double *scatter = family_scatter_of(f, i) + l * m * m;
    double *mean = family_mean_of(f, i) + l * m;
    family_level *level = &fam->level[l];
    double *away = f->set_work; /* (sets, m) */
    size_t sets = 0;
    double means = 0;   /* sum_k h_k / n_k: noise that is in the means of sets */
    double squares = 0; /* sum_k h_k^2 / n_k: in m */
    *level = (family_level){.tau = TAU[l], .log_prior = log(0.5 / (FAMILY_LEVELS - 1))};
    memcpy(scatter, fam->scatter, m * m * sizeof *scatter);
    memset(mean, 0, m * sizeof *mean);
    for (size_t set = 0; set < f->design->sets; set++) {
        if (!set_counts(f, set, i)) {
            continue;
        }
        double n = f->set_heft[set];
        double h = n / (1 + n * TAU[l] * TAU[l]);
        double root = sqrt(n - h);
        for (size_t a = 0; a < m; a++) {
            size_t node = a + 1 < m ? fam->candidate[a] : i;
            double off = f->set_mean[set * f->d + node] + f->centre[node] - fam->mean[a];
            mean[a] += h * off;
            away[sets * m + a] = root * off;
        }
        level->heft += h;
        means += h / n;
        squares += h * h / n;
        level->log_spread += log1p(n * TAU[l] * TAU[l]);
        sets++;
    }
    double within = f->heft[i] - (double)sets;
    level->blurred = fmax(within + means - squares / level->heft, 0) / fmax(f->heft[i] - 1, 1);
    cblas_dscal((int)m, 1 / level->heft, mean, 1);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)m, (int)sets, -1, away, (int)m, 1,
                scatter, (int)m);
    cblas_dsyr(CblasRowMajor, CblasUpper, (int)m, -level->heft, mean, 1, scatter, (int)m);
    for (size_t a = 0; a < m; a++) {
        scatter[a * m + a] = fmax(scatter[a * m + a], 0);
        mean[a] += fam->mean[a];
        for (size_t b = 0; b < a; b++) {
            scatter[a * m + b] = scatter[b * m + a];
        }
    }
}

void family_effects(families *f, const double *z)
{
    sum_sets(f, z);
    threads_blas_single();
    for (size_t i = 0; i < f->d; i++) {
        size_t sets = 0;
        for (size_t set = 0; set < f->design->sets; set++) {
            sets += set_counts(f, set, i) ? 1 : 0;
        }
        /* of one set nothing tells its own intercept from that of all */
        f->list[i].levels = sets > 1 ? FAMILY_LEVELS : 1;
        f->list[i].level[0] = (family_level){.log_prior = sets > 1 ? log(0.5) : 0};
        for (size_t l = 1; l < f->list[i].levels; l++) {
            fill_level(f, i, l);
        }
    }
    threads_blas_restore();
}

/* Level l as a family of its own. */
static family only_level(const family *f, size_t l)
{
    family out = *f;
    out.levels = 1;
    out.level[0] = f->level[l];
    out.scatter += l * (f->count + 1) * (f->count + 1);
    out.mean += l * (f->count + 1);
    return out;
}

void families_leave_out(families *f, size_t i, const dag_prior *prior, uint32_t parents,
                        double least)
{
    family *fam = &f->list[i];
    size_t m = fam->count + 1;
    double *scatter = family_scatter_of(f, i);
    double *mean = family_mean_of(f, i);
    double all = family_score(fam, prior, parents);
    size_t kept = 1;
    for (size_t l = 1; l < fam->levels; l++) {
        family own = only_level(fam, l);
        if (family_score(&own, prior, parents) - all < log(least)) {
            continue;
        }
        fam->level[kept] = fam->level[l];
        memmove(scatter + kept * m * m, own.scatter, m * m * sizeof *scatter);
        memmove(mean + kept * m, own.mean, m * sizeof *mean);
        kept++;
    }
    fam->levels = kept;
}
