/* Intercepts that sets have of their own: a family's scatter at every tau, from that without and
 * the means of the sets (families.h). */
#include "infer/mechanism/family_sums.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

void family_effects(families *f, const double *z)
{
    set_rows rows = {f->used, f->row, z, f->weight};
    set_means_sum(&f->sets, &rows);
    threads_blas_single();
    for (size_t i = 0; i < f->d; i++) {
        if (f->node_weight != NULL) {
            rows.weight = f->node_weight + i * f->design->rows;
            set_means_sum(&f->sets, &rows);
        }
        family *fam = &f->list[i];
        size_t column[GRAM_WIDEST + 1];
        memcpy(column, fam->candidate, fam->count * sizeof *column);
        column[fam->count] = i;
        level_sums sums = {i,          fam->count + 1,          column,
                           f->heft[i], family_scatter_of(f, i), family_mean_of(f, i)};
        fam->levels = set_means_levels(&f->sets, i);
        fam->level[0] = set_means_none(fam->levels);
        for (size_t l = 1; l < fam->levels; l++) {
            fam->level[l] = set_means_level(&f->sets, &sums, l);
        }
    }
    threads_blas_restore();
}

family family_of_level(const family *f, size_t l)
{
    family out = *f;
    out.levels = 1;
    out.level[0] = f->level[l];
    out.scatter += l * (f->count + 1) * (f->count + 1);
    out.mean += l * (f->count + 1);
    return out;
}

void families_keep_levels(families *f, size_t i, const bool *keep)
{
    family *fam = &f->list[i];
    size_t m = fam->count + 1;
    double *scatter = family_scatter_of(f, i);
    double *mean = family_mean_of(f, i);
    size_t kept = 1;
    for (size_t l = 1; l < fam->levels; l++) {
        if (keep[l]) {
            fam->level[kept] = fam->level[l];
            memmove(scatter + kept * m * m, scatter + l * m * m, m * m * sizeof *scatter);
            memmove(mean + kept * m, mean + l * m, m * sizeof *mean);
            kept++;
        }
    }
    fam->levels = kept;
}

void families_leave_out(families *f, size_t i, const dag_prior *prior, uint32_t parents,
                        double least)
{
    const family *fam = &f->list[i];
    double all = family_score(fam, prior, parents);
    bool keep[FAMILY_LEVELS] = {true};
    for (size_t l = 1; l < fam->levels; l++) {
        family own = family_of_level(fam, l);
        keep[l] = family_score(&own, prior, parents) - all >= log(least);
    }
    families_keep_levels(f, i, keep);
}
