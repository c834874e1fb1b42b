/* One parent set at a time: A = S_pp + t U_p^2 = L L' in units of the nodes, h = L^-1 S_pi,
 *
 *     S_ii - S_ip A^-1 S_pi = S_ii - h'h,   log |A| - log |t U_p^2| = sum_k log(L_kk^2 / t),
 *     s^2 | data ~ q / chi2(nu + n - 1),    w | s, data ~ L'^-1 (h + s N(0, I)),
 *     c | w, s, data ~ N(mean_i - mean_p w, s^2 / n).
 */
#include "infer/mechanism/family_hole.h"
#include "infer/mechanism/family_ridges.h"

#include <math.h>
#include <string.h>

static const double LOG_PI = 1.1447298858494001741;

typedef struct regression {
    size_t size;                              /* parents */
    size_t column[FAMILY_MOST];               /* (size): their places among the candidates */
    double unit[FAMILY_MOST];                 /* (size) */
    double scatter[FAMILY_MOST][FAMILY_MOST]; /* (size, size), the lower half: S_pp in units */
    double with[FAMILY_MOST];                 /* (size): S_pi */
    double own;                               /* S_ii */
    double factor[FAMILY_MOST][FAMILY_MOST];  /* (size, size): L */
    double half[FAMILY_MOST];                 /* (size): h */
    bool tells[FAMILY_MOST]; /* (size): not a combination of those before, up to rounding */
    double rest;             /* in units of the node */
    double log_det;
} regression;

/* Rows that count: the first one is spent on the intercept. */
static double effective_rows(const family *f)
{
    return f->rows > 1 ? f->rows : 1;
}

/* Row (k) of L such that its square is at most what S has there. */
static void shorten(double *row, size_t k, double square)
{
    double sum = 0;
    for (size_t a = 0; a < k; a++) {
        sum += row[a] * row[a];
    }
    if (sum > square) {
        double factor = square > 0 ? sqrt(square / sum) : 0;
        for (size_t a = 0; a < k; a++) {
            row[a] *= factor;
        }
    }
}

/* What does not depend on t. */
static void gather(regression *out, const family *f, const dag_prior *prior, size_t level,
                   uint32_t parents)
{
    size_t side = f->count + 1;
    const double *scatter = f->scatter + level * side * side;
    double own = 1 / prior->unit[f->node];
    double inverse[FAMILY_MOST];
    size_t k = 0;
    out->own = scatter[f->count * side + f->count] * own * own;
    for (uint32_t left = parents; left != 0; left &= left - 1, k++) {
        size_t c = (size_t)__builtin_ctz(left);
        const double *row = scatter + c * side;
        out->column[k] = c;
        out->unit[k] = prior->unit[f->candidate[c]];
        inverse[k] = 1 / out->unit[k];
        for (size_t a = 0; a <= k; a++) {
            out->scatter[k][a] = row[out->column[a]] * inverse[k] * inverse[a];
        }
        out->with[k] = row[f->count] * inverse[k] * own;
    }
    out->size = k;
}

static void factorise(regression *out, double ridge)
{
    double product = 1; /* of pivots over t, none below 1; a logarithm costs as much as a row */
    out->log_det = 0;
    out->rest = out->own;
    for (size_t k = 0; k < out->size; k++) {
        double *l = out->factor[k];
        double pivot = out->scatter[k][k] + ridge;
        double half = out->with[k];
        for (size_t a = 0; a < k; a++) {
            double entry = out->scatter[k][a];
            for (size_t b = 0; b < a; b++) {
                entry -= l[b] * out->factor[a][b];
            }
            l[a] = out->tells[a] ? entry / out->factor[a][a] : 0;
            pivot -= l[a] * l[a];
            half -= l[a] * out->half[a];
        }
        out->tells[k] = pivot > ridge;
        if (!out->tells[k]) {
            shorten(l, k, out->scatter[k][k]);
            pivot = ridge;
            half = 0;
        }
        l[k] = sqrt(pivot);
        out->half[k] = half / l[k];
        out->rest -= out->half[k] * out->half[k];
        product *= pivot / ridge;
        if (product > 1e150) {
            out->log_det += log(product);
            product = 1;
        }
    }
    out->log_det += log(product);
    out->rest = out->rest > 0 ? out->rest : 0;
}

/* w^ (size) in units, from L' w^ = h. */
static void solve(const regression *g, const double *half, double *w)
{
    for (size_t k = g->size; k-- > 0;) {
        double sum = half[k];
        for (size_t a = k + 1; a < g->size; a++) {
            sum -= g->factor[a][k] * w[a];
        }
        w[k] = sum / g->factor[k][k];
    }
}

/* Slopes and the diagonal of A^-1, those that tell nothing apart: sums over the columns of L^-1. */
static void posterior_of(const regression *g, double *slope, double *variance)
{
    double column[FAMILY_MOST];
    for (size_t k = 0; k < g->size; k++) {
        slope[k] = 0;
        variance[k] = 0;
        for (size_t a = k; a < g->size; a++) {
            double sum = a == k ? 1 : 0;
            for (size_t b = k; b < a && g->tells[a]; b++) {
                sum -= g->factor[a][b] * column[b];
            }
            column[a] = sum / g->factor[a][a];
            slope[k] += column[a] * g->half[a];
            variance[k] += column[a] * column[a];
        }
    }
}

/* The logarithm of a product of n factors, each kept within HOLE_LEAST and HOLE_MOST. */
static double log_product(const double *factor, size_t n)
{
    double sum = 0;
    double product = 1;
    for (size_t k = 0; k < n; k++) {
        double within = factor[k] > HOLE_LEAST ? factor[k] : HOLE_LEAST;
        product *= within < HOLE_MOST ? within : HOLE_MOST;
        if (k % HOLE_TOGETHER + 1 == HOLE_TOGETHER || k + 1 == n) {
            sum += log(product);
            product = 1;
        }
    }
    return sum;
}

/* The logarithm of what a hole adds. */
static double hole_of(const family *f, const dag_prior *prior, const regression *g)
{
    double slope[FAMILY_MOST];
    double variance[FAMILY_MOST];
    double x[HOLE_POINTS];
    double share[HOLE_POINTS];
    double sum[HOLE_POINTS];
    double factor[FAMILY_MOST];
    double own = prior->unit[f->node];
    posterior_of(g, slope, variance);
    hole_points(hole_shape(f, prior, g->size), x, share);
    for (size_t k = 0; k < HOLE_POINTS; k++) {
        double at =
            prior->variance > 0 ? own * own / prior->variance : 2 * x[k] / (prior->ridge + g->rest);
        for (size_t j = 0; j < g->size; j++) {
            factor[j] = prior->ridge * (slope[j] * slope[j] * at + variance[j]);
        }
        sum[k] = log_product(factor, g->size);
    }
    double top = fmax(sum[0], sum[1]);
    return top + log(share[0] * exp(sum[0] - top) + share[1] * exp(sum[1] - top));
}

/* What the score of a set of so many parents has whatever t and tau are. */
static double score_of_size(const family *f, const dag_prior *prior, size_t size)
{
    double n = effective_rows(f);
    double nu = prior->dof + (double)size;
    double shared = (double)size * prior->log_odds - (n - 1) / 2 * LOG_PI;
    return prior->variance > 0 ? shared - (n - 1) / 2 * log(2 * prior->variance)
                               : shared + lgamma((nu + n - 1) / 2) - lgamma(nu / 2);
}

/* .. what it has of tau alone, and of both. */
static double score_of_level(const family *f, size_t level)
{
    return f->level[level].log_prior -
           0.5 * (log(family_heft(f, level)) + f->level[level].log_spread);
}

static double score_of_term(const family *f, const dag_prior *prior, regression *g)
{
    double own = prior->unit[f->node];
    factorise(g, prior->ridge);
    double shared = -0.5 * g->log_det + (prior->hole && g->size > 0 ? hole_of(f, prior, g) : 0);
    if (prior->variance > 0) {
        return shared - g->rest * own * own / (2 * prior->variance);
    }
    double nu = prior->dof + (double)g->size;
    double n = effective_rows(f);
    double scale = prior->ridge * own * own;
    return shared + nu / 2 * log(scale) - (nu + n - 1) / 2 * log(scale + g->rest * own * own);
}

/* The ridges of a node over that of all, and the logarithms of their probabilities, .6 and .2. */
static void own_ridges(const dag_prior *prior, double factor[FAMILY_RIDGES])
{
    factor[0] = 1;
    factor[1] = 1 / prior->spread;
    factor[2] = prior->spread;
}
static const double LOG_SHARE[FAMILY_RIDGES] = {-0.5108256237659907, -1.6094379124341003,
                                                -1.6094379124341003};

family_term family_term_of(const family *f, const dag_prior *prior, size_t k)
{
    family_term out = {.level = k % f->levels, .prior = *prior};
    if (prior->spread > 0) {
        double factor[FAMILY_RIDGES];
        own_ridges(prior, factor);
        out.log_share = LOG_SHARE[k / f->levels];
        out.prior.ridge *= factor[k / f->levels];
    }
    return out;
}

/* What depends on t, at all ridges of the node. */
static void score_ridges(const family *f, const dag_prior *prior, regression *g,
                         double score[FAMILY_RIDGES])
{
    double factor[FAMILY_RIDGES];
    const family_sums_of sums = {g->size, (const double(*)[FAMILY_MOST])g->scatter, g->with, g->own,
                                 effective_rows(f)};
    if (prior->spread <= 0) {
        score[0] = score_of_term(f, prior, g);
        return;
    }
    own_ridges(prior, factor);
    if (!family_ridges(&sums, f, prior, factor, FAMILY_RIDGES, score)) {
        for (size_t own = 0; own < FAMILY_RIDGES; own++) {
            dag_prior at = *prior;
            at.ridge *= factor[own];
            score[own] = score_of_term(f, &at, g);
        }
    }
    for (size_t own = 0; own < FAMILY_RIDGES; own++) {
        score[own] += LOG_SHARE[own];
    }
}

/* Scores of all terms in score; returns their sum, in logarithms. */
static double score_terms_of(const family *f, const dag_prior *prior, uint32_t parents,
                             double score[FAMILY_TERMS])
{
    size_t terms = family_terms(f, prior);
    double shared = score_of_size(f, prior, (size_t)__builtin_popcount(parents));
    double top = -INFINITY;
    double sum = 0;
    for (size_t level = 0; level < f->levels; level++) {
        regression g;
        double own[FAMILY_RIDGES];
        double here = shared + score_of_level(f, level) + family_gain(f, level, parents);
        gather(&g, f, prior, level, parents);
        score_ridges(f, prior, &g, own);
        for (size_t k = level; k < terms; k += f->levels) {
            score[k] = here + own[k / f->levels];
            top = score[k] > top ? score[k] : top;
        }
    }
    for (size_t k = 0; k < terms; k++) {
        sum += exp(score[k] - top);
    }
    return terms > 1 ? top + log(sum) : top;
}

double family_score(const family *f, const dag_prior *prior, uint32_t parents)
{
    double score[FAMILY_TERMS];
    return score_terms_of(f, prior, parents, score);
}

double family_centre(const family *f, const double *w, size_t d)
{
    double centre = f->mean[f->count];
    for (size_t k = 0; k < f->count; k++) {
        centre -= f->mean[k] * w[f->candidate[k] * d];
    }
    return centre;
}

/* One of the terms, given the parents, by a uniform number. */
static family_term draw_term(const family *f, const dag_prior *prior, uint32_t parents, double u)
{
    double score[FAMILY_TERMS] = {0};
    double total = score_terms_of(f, prior, parents, score);
    size_t k = 0;
    for (double sum = exp(score[0] - total); k + 1 < family_terms(f, prior) && u > sum;) {
        sum += exp(score[++k] - total);
    }
    return family_term_of(f, prior, k);
}

enum { INTERCEPT = FAMILY_MOST, TERM, CHOICE, GAMMA = 32 };
_Static_assert((int)CHOICE < (int)GAMMA && GAMMA + RNG_GAMMA <= FAMILY_TRY,
               "a draw has numbers enough");

size_t family_drawn_level(const family *f, const dag_prior *prior, uint32_t parents, rng r,
                          uint64_t index)
{
    double u = rng_uniform(r, index * FAMILY_NUMBERS + TERM);
    return family_terms(f, prior) > 1 ? draw_term(f, prior, parents, u).level : 0;
}

size_t family_draw_level(const family *f, const dag_prior *prior, uint32_t parents, double u)
{
    return f->levels > 1 ? draw_term(f, prior, parents, u).level : 0;
}

/* s and w (size) in units, without a hole; returns what one makes of their density, in logarithms.
 */
static double try_draw(const family *f, const dag_prior *prior, const regression *g, rng r,
                       uint64_t first, double *s, double *w)
{
    double half[FAMILY_MOST];
    double size = (double)g->size;
    if (prior->variance > 0) {
        *s = sqrt(prior->variance) / prior->unit[f->node];
    } else {
        double nu = prior->dof + size + effective_rows(f) - 1;
        *s = sqrt((prior->ridge + g->rest) / (2 * rng_gamma(r, first + GAMMA, nu / 2)));
    }
    for (size_t k = 0; k < g->size; k++) {
        half[k] = g->half[k] + *s * rng_normal(r, first + k);
    }
    solve(g, half, w);
    for (size_t k = 0; k < g->size && prior->hole; k++) {
        half[k] = w[k] * w[k] / (*s * *s);
    }
    return prior->hole ? log_product(half, g->size) : 0;
}

/* One of the tries, each taken in the place of those before it with its share of all so far. */
static void draw_weights(const family *f, const dag_prior *prior, const regression *g, rng r,
                         uint64_t first, double *s, double *w)
{
    double total = try_draw(f, prior, g, r, first, s, w);
    size_t tries = prior->hole && g->size > 0 ? FAMILY_TRIES : 1;
    for (size_t k = 1; k < tries; k++) {
        double other[FAMILY_MOST];
        double other_s = 0;
        double at = try_draw(f, prior, g, r, first + k * FAMILY_TRY, &other_s, other);
        double top = fmax(total, at);
        total = top > -INFINITY ? top + log(exp(total - top) + exp(at - top)) : top;
        if (log(rng_uniform(r, first + k * FAMILY_TRY + CHOICE)) < at - total) {
            *s = other_s;
            memcpy(w, other, g->size * sizeof *w);
        }
    }
}

mechanism family_draw(const family *f, const dag_prior *prior, uint32_t parents, rng r,
                      uint64_t index, double *w, size_t d)
{
    const uint64_t first = index * FAMILY_NUMBERS;
    family_term at = family_terms(f, prior) > 1
                         ? draw_term(f, prior, parents, rng_uniform(r, first + TERM))
                         : family_term_of(f, prior, 0);
    size_t level = at.level;
    const double *mean = f->mean + level * (f->count + 1);
    regression g;
    gather(&g, f, prior, level, parents);
    factorise(&g, at.prior.ridge);
    double own = prior->unit[f->node];
    double s = 0; /* in units of the node */
    double solved[FAMILY_MOST];
    draw_weights(f, &at.prior, &g, r, first, &s, solved);
    for (size_t c = 0; c < f->count; c++) {
        w[f->candidate[c] * d] = 0;
    }
    double centre = mean[f->count];
    for (size_t k = 0; k < g.size; k++) {
        double weight = solved[k] * own / g.unit[k];
        w[f->candidate[g.column[k]] * d] = weight;
        centre -= mean[g.column[k]] * weight;
    }
    mechanism out = {.intercept = 0, .sigma = s * own, .effect = f->level[level].tau * s * own};
    if (f->rows > 0) {
        double sd = out.sigma / sqrt(family_heft(f, level));
        out.intercept = centre + sd * rng_normal(r, first + INTERCEPT);
    }
    return out;
}
