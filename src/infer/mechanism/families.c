#include "infer/mechanism/families.h"

#include "base/node_name.h"
#include "base/threads.h"
#include "infer/mechanism/family_sums.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_required(const candidate_lists *lists, size_t d, size_t j, size_t i)
{
    return lists->required != NULL && lists->required[j * d + i] != 0;
}

static lscm_status check(const design *s, const candidate_lists *lists, lscm_error *why)
{
    size_t d = s->d;
    char room[NODE_NAME_ROOM];
    for (size_t i = 0; i < d; i++) {
        size_t found = 0;
        for (size_t k = 0; k < lists->count[i]; k++) {
            found += is_required(lists, d, lists->candidate[i * lists->most + k], i) ? 1 : 0;
        }
        for (size_t j = 0; j < d; j++) {
            found -= is_required(lists, d, j, i) ? 1 : 0;
        }
        if (found != 0) {
            return fail(why, LSCM_VALUE,
                        "node %s: a required parent is not among its candidates; allow more "
                        "candidates or require fewer edges",
                        name_of(s->names, i, room, sizeof room));
        }
        if (lists->count[i] > FAMILY_MOST) {
            return fail(why, LSCM_VALUE, "node %s has %zu candidate parents; at most %d can be",
                        name_of(s->names, i, room, sizeof room), lists->count[i], FAMILY_MOST);
        }
    }
    return LSCM_OK;
}

void candidate_lists_all(const candidate_lists *lists, size_t d, const uint8_t *forbidden)
{
    for (size_t i = 0; i < d; i++) {
        lists->count[i] = 0;
        for (size_t j = 0; j < d; j++) {
            if (j != i && (forbidden == NULL || forbidden[j * d + i] == 0)) {
                lists->candidate[i * lists->most + lists->count[i]++] = j;
            }
        }
    }
}

static void lay_out(families *f, arena *a, const candidate_lists *lists)
{
    size_t d = f->d;
    size_t candidates = 0;
    size_t squares = 0;
    size_t widest = 0;
    for (size_t i = 0; i < d; i++) {
        size_t m = lists->count[i] + 1;
        candidates += lists->count[i];
        squares += f->levels * m * m;
        widest = m > widest ? m : widest;
    }
    f->list = arena_take(a, d, sizeof *f->list);
    f->kept = arena_take(a, d, sizeof(double));
    f->heft = arena_take(a, d, sizeof(double));
    f->candidate = arena_take(a, candidates, sizeof *f->candidate);
    f->scatter = arena_take(a, squares, sizeof(double));
    f->mean = arena_take(a, f->levels * (candidates + d), sizeof(double));
    f->row = arena_take(a, f->design->rows, sizeof *f->row);
    f->centre = arena_take(a, d, sizeof(double));
    f->work = arena_take(a, family_work(d), sizeof(double));
    if (f->levels > 1) {
        f->sets = (set_means){.design = f->design, .width = d, .centre = f->centre};
        set_means_lay_out(&f->sets, a, widest);
    }
}

/* Candidate lists and where each family's numbers are. */
static void list_families(families *f, const candidate_lists *lists)
{
    size_t *names = f->candidate;
    double *scatter = f->scatter;
    double *mean = f->mean;
    for (size_t i = 0; i < f->d; i++) {
        size_t n = lists->count[i];
        uint32_t must = 0;
        for (size_t k = 0; k < n; k++) {
            names[k] = lists->candidate[i * lists->most + k];
            must |= is_required(lists, f->d, names[k], i) ? 1U << k : 0;
        }
        f->list[i] = (family){.node = i,
                              .count = n,
                              .candidate = names,
                              .required = must,
                              .levels = 1,
                              .scatter = scatter,
                              .mean = mean,
                              .names = f->design->names};
        names += n;
        scatter += f->levels * (n + 1) * (n + 1);
        mean += f->levels * (n + 1);
    }
}

lscm_status families_wide(families *out, const latent_rows *rows, const candidate_lists *lists,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    families f = {.d = rows->design->d,
                  .design = rows->design,
                  .levels = rows->effects ? FAMILY_LEVELS : 1,
                  .worth = 1};
    lay_out(&f, &f.memory, lists);
    TRY(arena_open(&f.memory, why));
    lay_out(&f, &f.memory, lists);
    list_families(&f, lists);
    f.used = design_list(f.design, rows->keep, f.d <= GRAM_DENSE, f.row);
    TRY(families_update(&f, rows->z, why));
    *out = f;
    f = (families){0};
done:
    families_close(&f);
    return status;
}

lscm_status families_of(families *out, const latent_rows *rows, const candidate_lists *lists,
                        lscm_error *why)
{
    lscm_status status = check(rows->design, lists, why);
    return status == LSCM_OK ? families_wide(out, rows, lists, why) : status;
}

void families_close(families *f)
{
    arena_close(&f->memory);
    *f = (families){0};
}

/* From sums about the centre to mean and centred scatter, both triangles. */
static void centre_family(families *f, size_t i)
{
    family *fam = &f->list[i];
    double *scatter = family_scatter_of(f, i);
    double *mean = family_mean_of(f, i);
    size_t m = fam->count + 1;
    double n = f->heft[i];
    for (size_t a = 0; a < m; a++) {
        mean[a] = n > 0 ? mean[a] / n : 0;
    }
    for (size_t a = 0; a < m; a++) {
        for (size_t b = a; b < m; b++) {
            double s = scatter[a * m + b] - n * mean[a] * mean[b];
            s = a == b && s < 0 ? 0 : s;
            scatter[a * m + b] = s;
            scatter[b * m + a] = s;
        }
    }
    for (size_t a = 0; a < m; a++) {
        mean[a] += f->centre[a + 1 < m ? fam->candidate[a] : i];
    }
    f->kept[i] = 0;
}

lscm_status families_update(families *f, const double *z, lscm_error *why)
{
    char room[NODE_NAME_ROOM];
    threads_blas_single();
    family_sums(f, z);
    threads_blas_restore();
    for (size_t i = 0; i < f->d; i++) {
        centre_family(f, i);
        size_t m = f->list[i].count + 1;
        double total = 0;
        for (size_t k = 0; k < m; k++) {
            total += f->list[i].mean[k] + f->list[i].scatter[k * m + k];
        }
        if (!isfinite(total)) {
            return fail(why, LSCM_VALUE,
                        "node %s or a candidate parent of it is not finite, or too large to "
                        "square; rescale the data",
                        name_of(f->design->names, i, room, sizeof room));
        }
    }
    if (f->levels > 1) {
        family_effects(f, z);
    }
    for (size_t i = 0; i < f->d; i++) {
        f->list[i].level[0].heft = f->node_weight != NULL ? f->heft[i] : 0;
    }
    return LSCM_OK;
}

/* The largest share of `noise` (m, m) that leaves a thousandth of every direction of `scatter`,
 * at most 1: what solves noise x = l scatter x has no larger l. Both are lost. */
static double share_left(double *noise, double *scatter, size_t m)
{
    const double remains = 1e-3;
    const double rounding = 1e-10; /* where nodes are combinations of others */
    double value[FAMILY_MOST + 1];
    double work[2 * FAMILY_MOST + 3];
    int integer = 0;
    for (size_t k = 0; k < m; k++) {
        double *own = scatter + k * m + k;
        *own = *own > 0 ? *own * (1 + rounding) : 1;
    }
    if (LAPACKE_dsygvd_work(LAPACK_COL_MAJOR, 1, 'N', 'L', (int)m, noise, (int)m, scatter, (int)m,
                            value, work, (int)(2 * m + 1), &integer, 1) != 0) {
        return 0;
    }
    return value[m - 1] > 1 - remains ? (1 - remains) / value[m - 1] : 1;
}

/* Level l of family i without the noise (m, m) of its rows. */
static double correct_level(families *f, size_t i, size_t l, const double *noise)
{
    const family *fam = &f->list[i];
    double pair[2][(FAMILY_MOST + 1) * (FAMILY_MOST + 1)];
    size_t m = fam->count + 1;
    double *scatter = family_scatter_of(f, i) + l * m * m;
    memcpy(pair[0], noise, m * m * sizeof *noise);
    memcpy(pair[1], scatter, m * m * sizeof *noise);
    double blurred = fam->level[l].tau > 0 ? fam->level[l].blurred : 1;
    double share = fmin(blurred, share_left(pair[0], pair[1], m));
    cblas_daxpy((int)(m * m), -share, noise, 1, scatter, 1);
    return share;
}

static void correct_family(families *f, size_t i, const double *psi, double share)
{
    const family *fam = &f->list[i];
    double noise[(FAMILY_MOST + 1) * (FAMILY_MOST + 1)];
    size_t m = fam->count + 1;
    double n = share * fmax(family_heft(fam, 0) - 1, 0);
    for (size_t a = 0; a < m; a++) {
        size_t from = a + 1 < m ? fam->candidate[a] : i;
        for (size_t b = 0; b < m; b++) {
            noise[a * m + b] = n * psi[from * f->d + (b + 1 < m ? fam->candidate[b] : i)];
        }
    }
    f->kept[i] = correct_level(f, i, 0, noise);
    for (size_t l = 1; l < fam->levels; l++) {
        (void)correct_level(f, i, l, noise);
    }
}

void families_correct(families *f, const double *psi, size_t step, double share)
{
#pragma omp parallel for schedule(static) if (f->d > GRAM_DENSE)
    for (size_t i = 0; i < f->d; i++) {
        correct_family(f, i, psi + i * step, share);
    }
}

void families_weigh(families *f, double weight)
{
    f->worth *= weight;
    for (size_t i = 0; i < f->d; i++) {
        family *fam = &f->list[i];
        size_t m = fam->count + 1;
        fam->rows *= weight;
        cblas_dscal((int)(fam->levels * m * m), weight, family_scatter_of(f, i), 1);
        for (size_t l = 0; l < fam->levels; l++) { /* n_k tau^2 stays what it is */
            fam->level[l].heft *= weight;
            fam->level[l].tau /= sqrt(weight);
        }
    }
    for (size_t set = 0; f->levels > 1 && set < design_batches(f->design); set++) {
        f->sets.heft[set] *= weight;
    }
}
