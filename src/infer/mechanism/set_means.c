#include "infer/mechanism/set_means.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* In units of the noise: none, as likely as all others together, to far beyond it. */
static const double TAU[FAMILY_LEVELS] = {0, 0.1, 0.3, 1, 3, 10};

void set_means_lay_out(set_means *s, arena *a, size_t widest)
{
    s->heft = arena_take(a, design_batches(s->design), sizeof(double));
    s->mean = arena_take(a, design_batches(s->design) * s->width, sizeof(double));
    s->work = arena_take(a, design_batches(s->design) * widest, sizeof(double));
}

void set_means_sum(set_means *s, const set_rows *rows)
{
    size_t width = s->width;
    memset(s->heft, 0, design_batches(s->design) * sizeof(double));
    memset(s->mean, 0, design_batches(s->design) * width * sizeof(double));
    for (size_t k = 0; k < rows->used; k++) {
        size_t row = rows->row[k];
        size_t set = design_batch(s->design, row);
        double weight = rows->weight != NULL ? rows->weight[row] : 1;
        s->heft[set] += weight;
        for (size_t i = 0; i < width; i++) {
            s->mean[set * width + i] += weight * (rows->x[row * width + i] - s->centre[i]);
        }
    }
    for (size_t set = 0; set < design_batches(s->design); set++) {
        double heft = s->heft[set];
        for (size_t i = 0; i < width; i++) {
            s->mean[set * width + i] /= heft > 0 ? heft : 1;
        }
    }
}

static bool counts(const set_means *s, size_t set, size_t node)
{
    return s->heft[set] > 0 && design_batch_targets(s->design, set)[node] == 0;
}

size_t set_means_levels(const set_means *s, size_t node)
{
    size_t sets = 0;
    for (size_t set = 0; set < design_batches(s->design); set++) {
        sets += counts(s, set, node) ? 1 : 0;
    }
    return sets > 1 ? FAMILY_LEVELS : 1;
}

family_level set_means_none(size_t levels)
{
    return (family_level){.log_prior = levels > 1 ? log(0.5) : 0};
}

family_level set_means_level(const set_means *s, const level_sums *sums, size_t l)
{
    size_t m = sums->count;
    double *scatter = sums->scatter + l * m * m;
    double *mean = sums->mean + l * m;
    double *away = s->work; /* (sets, m) */
    size_t sets = 0;
    double means = 0;   /* sum_k h_k / n_k: noise that is in the means of sets */
    double squares = 0; /* sum_k h_k^2 / n_k: in m */
    family_level level = {.place = l, .tau = TAU[l], .log_prior = log(0.5 / (FAMILY_LEVELS - 1))};
    memcpy(scatter, sums->scatter, m * m * sizeof *scatter);
    memset(mean, 0, m * sizeof *mean);
    for (size_t set = 0; set < design_batches(s->design); set++) {
        if (!counts(s, set, sums->node)) {
            continue;
        }
        double n = s->heft[set];
        double h = n / (1 + n * TAU[l] * TAU[l]);
        double root = sqrt(n - h);
        for (size_t a = 0; a < m; a++) {
            size_t column = sums->column != NULL ? sums->column[a] : a;
            double off = s->mean[set * s->width + column] + s->centre[column] - sums->mean[a];
            mean[a] += h * off;
            away[sets * m + a] = root * off;
        }
        level.heft += h;
        means += h / n;
        squares += h * h / n;
        level.log_spread += log1p(n * TAU[l] * TAU[l]);
        sets++;
    }
    double within = sums->heft - (double)sets;
    level.blurred = fmax(within + means - squares / level.heft, 0) / fmax(sums->heft - 1, 1);
    cblas_dscal((int)m, 1 / level.heft, mean, 1);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)m, (int)sets, -1, away, (int)m, 1,
                scatter, (int)m);
    cblas_dsyr(CblasRowMajor, CblasUpper, (int)m, -level.heft, mean, 1, scatter, (int)m);
    for (size_t a = 0; a < m; a++) {
        scatter[a * m + a] = fmax(scatter[a * m + a], 0);
        mean[a] += sums->mean[a];
        for (size_t b = 0; b < a; b++) {
            scatter[a * m + b] = scatter[b * m + a];
        }
    }
    return level;
}

/* Rows of a set count `weight` times what they do (families_weigh), and so do their residuals. */
void set_means_draw(const set_means *s, const set_residuals *by, rng r, uint64_t index, double *own)
{
    size_t d = s->design->d;
    size_t sets = design_batches(s->design);
    for (size_t set = 0; set < sets; set++) {
        const double *mean = s->mean + set * s->width;
        for (size_t i = 0; i < d; i++) {
            double tau = by->family[i].level[0].tau;
            double left = -by->intercept[i];
            own[set * d + i] = 0;
            if (!(tau > 0) || !counts(s, set, i)) {
                continue;
            }
            for (size_t k = 0; k < s->width; k++) {
                left += (mean[k] + s->centre[k]) * by->q[k * d + i];
            }
            double one = 1 + s->heft[set] * tau * tau;
            double sd = tau * by->sigma[i] / sqrt(one);
            own[set * d + i] =
                (one - 1) / one * left + sd * rng_normal(r, index * sets * d + set * d + i);
        }
    }
}
