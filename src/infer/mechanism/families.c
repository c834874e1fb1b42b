#include "infer/mechanism/families.h"

#include "base/threads.h"
#include "base/tuned.h"
#include "infer/mechanism/family_sums.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static lscm_status check(size_t d, const size_t *count, const size_t *candidate, size_t most,
                         const uint8_t *required, lscm_error *why)
{
    for (size_t i = 0; i < d; i++) {
        size_t found = 0;
        for (size_t k = 0; k < count[i]; k++) {
            found += required != NULL && required[candidate[i * most + k] * d + i] != 0 ? 1 : 0;
        }
        for (size_t j = 0; required != NULL && j < d; j++) {
            found -= required[j * d + i] != 0 ? 1 : 0;
        }
        if (found != 0) {
            return fail(why, LSCM_VALUE,
                        "node %zu: a required parent is not among its candidates; allow more "
                        "candidates or require fewer edges",
                        i);
        }
        if (count[i] > FAMILY_MOST) {
            return fail(why, LSCM_VALUE, "node %zu has %zu candidate parents; at most %d can be", i,
                        count[i], FAMILY_MOST);
        }
    }
    return LSCM_OK;
}

static void lay_out(families *f, arena *a, size_t rows, size_t candidates, size_t squares)
{
    size_t d = f->d;
    f->list = arena_take(a, d, sizeof *f->list);
    f->kept = arena_take(a, d, sizeof(double));
    f->heft = arena_take(a, d, sizeof(double));
    f->candidate = arena_take(a, candidates, sizeof *f->candidate);
    f->scatter = arena_take(a, squares, sizeof(double));
    f->mean = arena_take(a, candidates + d, sizeof(double));
    f->row = arena_take(a, rows, sizeof *f->row);
    f->key = arena_take(a, d <= GRAM_DENSE ? rows : 0, sizeof *f->key);
    f->centre = arena_take(a, d, sizeof(double));
    f->work = arena_take(a, gram_work(d), sizeof(double));
}

/* Candidate lists and where each family's numbers are. */
static void list_families(families *f, const size_t *count, const size_t *candidate, size_t most,
                          const uint8_t *required)
{
    size_t *names = f->candidate;
    double *scatter = f->scatter;
    double *mean = f->mean;
    for (size_t i = 0; i < f->d; i++) {
        size_t n = count[i];
        uint32_t must = 0;
        for (size_t k = 0; k < n; k++) {
            names[k] = candidate[i * most + k];
            must |= required != NULL && required[names[k] * f->d + i] != 0 ? 1U << k : 0;
        }
        f->list[i] = (family){.node = i,
                              .count = n,
                              .candidate = names,
                              .required = must,
                              .scatter = scatter,
                              .mean = mean};
        names += n;
        scatter += (n + 1) * (n + 1);
        mean += n + 1;
    }
}

/* One pass of a radix sort by bits shift .. shift + 7, keeping the order of equals. */
static void sort_pass(size_t n, const uint32_t *row, const uint32_t *key, uint32_t *row_out,
                      uint32_t *key_out, unsigned shift)
{
    size_t start[257] = {0};
    for (size_t r = 0; r < n; r++) {
        start[(key[r] >> shift & 255) + 1]++;
    }
    for (size_t b = 0; b < 256; b++) {
        start[b + 1] += start[b];
    }
    for (size_t r = 0; r < n; r++) {
        size_t to = start[key[r] >> shift & 255]++;
        row_out[to] = row[r];
        key_out[to] = key[r];
    }
}

static lscm_status list_rows(families *f, const uint8_t *keep, size_t rows, lscm_error *why)
{
    for (size_t r = 0; r < rows; r++) {
        if (keep == NULL || keep[r] != 0) {
            f->row[f->used++] = (uint32_t)r;
        }
    }
    if (f->d > GRAM_DENSE || f->used == 0) {
        return LSCM_OK;
    }
    uint32_t *other = malloc(2 * f->used * sizeof *other);
    if (other == NULL) {
        return fail_memory(why, 2 * f->used * sizeof *other);
    }
    for (size_t r = 0; r < f->used; r++) {
        const uint8_t *mask = f->mask + f->row[r] * f->d;
        uint32_t key = 0;
        for (size_t i = 0; i < f->d; i++) {
            key |= (mask[i] != 0 ? 1U : 0U) << i;
        }
        f->key[r] = key;
    }
    /* three passes of eight bits; the last from the copy back would be a fourth */
    sort_pass(f->used, f->row, f->key, other, other + f->used, 0);
    sort_pass(f->used, other, other + f->used, f->row, f->key, 8);
    sort_pass(f->used, f->row, f->key, other, other + f->used, 16);
    memcpy(f->row, other, f->used * sizeof *other);
    memcpy(f->key, other + f->used, f->used * sizeof *other);
    free(other);
    return LSCM_OK;
}

static lscm_status open_families(families *out, const double *z, const uint8_t *mask,
                                 const uint8_t *keep, size_t rows, size_t d, const size_t *count,
                                 const size_t *candidate, size_t most, const uint8_t *required,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    families f = {.d = d, .mask = mask};
    size_t candidates = 0;
    size_t squares = 0;
    if (rows > UINT32_MAX) {
        return fail(why, LSCM_VALUE, "%zu rows are too many; use at most %u", rows,
                    (unsigned)UINT32_MAX);
    }
    for (size_t i = 0; i < d; i++) {
        candidates += count[i];
        squares += (count[i] + 1) * (count[i] + 1);
    }
    lay_out(&f, &f.memory, rows, candidates, squares);
    TRY(arena_open(&f.memory, why));
    lay_out(&f, &f.memory, rows, candidates, squares);
    list_families(&f, count, candidate, most, required);
    TRY(list_rows(&f, keep, rows, why));
    TRY(families_update(&f, z, why));
    *out = f;
    f = (families){0};
done:
    families_close(&f);
    return status;
}

lscm_status families_of(families *out, const double *z, const uint8_t *mask, const uint8_t *keep,
                        size_t rows, size_t d, const size_t *count, const size_t *candidate,
                        size_t most, const uint8_t *required, lscm_error *why)
{
    lscm_status status = check(d, count, candidate, most, required, why);
    return status == LSCM_OK
               ? open_families(out, z, mask, keep, rows, d, count, candidate, most, required, why)
               : status;
}

lscm_status families_wide(families *out, const double *z, const uint8_t *mask, size_t rows,
                          size_t d, const size_t *count, const size_t *candidate, size_t most,
                          lscm_error *why)
{
    return open_families(out, z, mask, NULL, rows, d, count, candidate, most, NULL, why);
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
    threads_blas_single();
    gram_centre(f, z);
    if (f->d <= GRAM_DENSE) {
        gram_dense(f, z);
    } else {
        gram_sparse(f, z);
    }
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
                        "node %zu or a candidate parent of it is not finite, or too large to "
                        "square; rescale the data",
                        i);
        }
    }
    return LSCM_OK;
}

/* True when the symmetric `a` (m, m) has no negative eigenvalue beyond rounding: Cholesky in place
 * in which pivots of no size are passed over. */
static bool semidefinite(double *a, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        double *row = a + k * m;
        double size = row[k];
        for (size_t j = 0; j < k; j++) {
            row[k] -= row[j] * row[j];
        }
        double pivot = row[k];
        if (!(size >= 0) || !(pivot >= -1e-10 * size)) {
            return false;
        }
        double scale = pivot > 1e-10 * size ? 1 / sqrt(pivot) : 0;
        for (size_t i = k + 1; i < m; i++) {
            double *below = a + i * m;
            for (size_t j = 0; j < k; j++) {
                below[k] -= below[j] * row[j];
            }
            below[k] *= scale;
        }
    }
    return true;
}

static void correct_family(families *f, size_t i, const double *psi, double share)
{
    const family *fam = &f->list[i];
    double *scatter = family_scatter_of(f, i);
    double noise[(FAMILY_MOST + 1) * (FAMILY_MOST + 1)];
    double trial[(FAMILY_MOST + 1) * (FAMILY_MOST + 1)];
    size_t m = fam->count + 1;
    double n = share * (fam->rows > 1 ? fam->rows - 1 : 0);
    for (size_t a = 0; a < m; a++) {
        size_t from = a + 1 < m ? fam->candidate[a] : i;
        for (size_t b = 0; b < m; b++) {
            noise[a * m + b] = n * psi[from * f->d + (b + 1 < m ? fam->candidate[b] : i)];
        }
    }
    double kept = 1;
    for (size_t t = 0; t < tuned_noise_tries(); t++) {
        for (size_t k = 0; k < m * m; k++) {
            trial[k] = (1 - tuned_noise_remains()) * scatter[k] - kept * noise[k];
        }
        if (semidefinite(trial, m)) {
            for (size_t k = 0; k < m * m; k++) {
                scatter[k] -= kept * noise[k];
            }
            f->kept[i] = kept;
            return;
        }
        kept *= tuned_noise_step();
    }
    f->kept[i] = 0;
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
    for (size_t i = 0; i < f->d; i++) {
        size_t m = f->list[i].count + 1;
        f->list[i].rows *= weight;
        cblas_dscal((int)(m * m), weight, family_scatter_of(f, i), 1);
    }
}
