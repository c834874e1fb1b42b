/* With M the largest |z_ij| that is free and h a width that covers the error of z, the band
 * [M - h, M] of a smooth law holds fewer than the next one of that width, a few times wider; of a
 * clipped one it holds the pile. Values of do() that stand still in a batch of rows carry its z far
 * from all others, and there it is as smooth as anywhere: most rows of one batch, and none of
 * another, are no pile. */
#include "infer/sample/clip.h"

#include "base/quantile.h"
#include "base/tuned.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Nodes that are known well enough to look at: errors much smaller than what they vary by. */
static void find_sharp(const latent_rows *z, const double *noise, bool *sharp)
{
#pragma omp parallel for schedule(static) if (spread_shared(z))
    for (size_t first = 0; first < z->design->d; first += SPREAD_BLOCK) {
        column_spread own[SPREAD_BLOCK];
        spread_columns(z, first, SPREAD_FREE, own);
        for (size_t j = first; j < z->design->d && j < first + SPREAD_BLOCK; j++) {
            const column_spread *s = &own[j - first];
            sharp[j] = tuned_clip_sharp() * noise[j] * noise[j] * s->n < s->squares;
        }
    }
}

/* |z| of row k at j, or -1 where it is not looked at. */
static inline double size_at(const latent_rows *z, const bool *sharp, size_t k, size_t j)
{
    const design *s = z->design;
    bool seen = sharp[j] && !design_is_set(s, k, j) && row_counts(z->keep, k);
    return seen ? fabs(z->z[k * s->d + j]) : -1;
}

/* Of the sizes seen: how many, the largest. */
static size_t find_most(const latent_rows *z, const bool *sharp, double *most)
{
    size_t count = 0;
    double largest = 0;
#pragma omp parallel for schedule(static) if (spread_shared(z)) reduction(+ : count) reduction(max : largest)
    for (size_t k = 0; k < z->design->rows; k++) {
        for (size_t j = 0; j < z->design->d; j++) {
            double size = size_at(z, sharp, k, j);
            count += size >= 0 ? 1 : 0;
            largest = size > largest ? size : largest;
        }
    }
    *most = largest;
    return count;
}

/* Sizes seen: in [high, most], between low and high, and below low. */
typedef struct bands {
    size_t pile, next, below;
} bands;

static bands count_bands(const latent_rows *z, const bool *sharp, double low, double high)
{
    size_t pile = 0;
    size_t next = 0;
    size_t below = 0;
#pragma omp parallel for schedule(static) if (spread_shared(z)) reduction(+ : pile, next, below)
    for (size_t k = 0; k < z->design->rows; k++) {
        for (size_t j = 0; j < z->design->d; j++) {
            double size = size_at(z, sharp, k, j);
            bool seen = size >= 0;
            pile += seen && size >= high ? 1 : 0;
            next += seen && size > low && size < high ? 1 : 0;
            below += seen && size < low ? 1 : 0;
        }
    }
    return (bands){pile, next, below};
}

/* Whether the sizes that are at least `from` are of one batch, and in most of its rows. */
static bool is_one_batch(const latent_rows *z, const bool *sharp, double from)
{
    const design *s = z->design;
    size_t batch = SIZE_MAX;
    size_t far = 0;
    size_t rows = 0;
    for (size_t k = 0; k < s->rows; k++) {
        bool here = false;
        for (size_t j = 0; j < s->d && !here; j++) {
            here = size_at(z, sharp, k, j) >= from;
        }
        if (here && batch != SIZE_MAX && batch != design_batch(s, k)) {
            return false;
        }
        batch = here ? design_batch(s, k) : batch;
        far += here ? 1 : 0;
    }
    for (size_t k = 0; k < s->rows; k++) {
        rows += design_batch(s, k) == batch && row_counts(z->keep, k) ? 1 : 0;
    }
    return 2 * far > rows;
}

/* The middle of the `pile` sizes that are at least `from`. */
static lscm_status middle_of_pile(const latent_rows *z, const bool *sharp, double from, size_t pile,
                                  double *out, lscm_error *why)
{
    size_t found = 0;
    double *size = malloc(pile * sizeof *size);
    if (size == NULL) {
        return fail_memory(why, pile * sizeof *size);
    }
    for (size_t k = 0; k < z->design->rows; k++) {
        for (size_t j = 0; j < z->design->d && found < pile; j++) {
            double own = size_at(z, sharp, k, j);
            if (own >= from) {
                size[found++] = own;
            }
        }
    }
    qsort(size, pile, sizeof *size, quantile_compare);
    *out = size[pile - 1 - pile / 2];
    free(size);
    return LSCM_OK;
}

lscm_status clip_find(double *out, const latent_rows *z, const double *noise, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = z->design->d;
    double most = 0;
    double worst = 0;
    bool *sharp = calloc(d, sizeof *sharp);
    *out = 0;
    if (sharp == NULL) {
        return fail_memory(why, d * sizeof *sharp);
    }
    find_sharp(z, noise, sharp);
    for (size_t j = 0; j < d; j++) {
        worst = sharp[j] && noise[j] > worst ? noise[j] : worst;
    }
    size_t count = find_most(z, sharp, &most);
    if (count > tuned_clip_least()) {
        double width = fmax(tuned_clip_width() * most, tuned_clip_width_errors() * worst);
        double high = most - width;
        bands n = count_bands(z, sharp, most - (double)(tuned_clip_times() + 1) * width, high);
        bool piled = n.pile >= tuned_clip_least() &&
                     (double)n.pile > tuned_clip_share() * (double)count &&
                     n.pile > tuned_clip_times() * n.next;
        bool wide = n.below > count / 4; /* errors do not explain it all */
        if (piled && wide && !is_one_batch(z, sharp, high)) {
            TRY(middle_of_pile(z, sharp, high, n.pile, out, why));
        }
    }
done:
    free(sharp);
    return status;
}

void clip_bounds(double clip, const double *reach, const anchor *a, double *bound)
{
    for (size_t j = 0; j < a->d; j++) {
        if (reach != NULL) {
            bound[j] = reach[j];
        } else {
            double error = hypot(a->noise[j], a->standard_error[j]);
            bound[j] = clip - fmin(tuned_clip_bound_errors() * error + tuned_clip_bound() * clip,
                                   clip / 2);
        }
    }
}
