#include "infer/mechanism/family_sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    PARTS = 16, /* shares of the rows; fixed, so that sums do not depend on threads */
    TILE = 32   /* columns transposed together */
};

/* Sums of one part, and where they are made. */
static size_t sums_size(size_t d, size_t width)
{
    return d * width * width + d * width + 2 * d;
}

static size_t part_size(size_t d, size_t width)
{
    return sums_size(d, width) + width * width + width + GRAM_CHUNK * width;
}

size_t gram_work(size_t d, size_t width)
{
    return PARTS * part_size(d, width);
}

static size_t part_start(const gram_rows *r, size_t part)
{
    return r->used / PARTS * part + (part < r->used % PARTS ? part : r->used % PARTS);
}

static gram_sums sums_at(const gram_rows *r, double *at)
{
    size_t d = r->design->d;
    double *sum = at + d * r->width * r->width;
    return (gram_sums){at, sum, sum + d * r->width, sum + d * r->width + d};
}

void gram_centre(const gram_rows *r, double *work)
{
    size_t width = r->width;
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < PARTS; p++) {
        double *sum = work + p * width;
        memset(sum, 0, width * sizeof *sum);
        for (size_t k = part_start(r, p); k < part_start(r, p + 1); k++) {
            const double *x = r->x + r->row[k] * width;
            for (size_t i = 0; i < width; i++) {
                sum[i] += x[i];
            }
        }
    }
    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (size_t p = 0; p < PARTS; p++) {
            sum += work[p * width + i];
        }
        r->centre[i] = r->used > 0 ? sum / (double)r->used : 0;
    }
}

static double weight_of(const double *weight, size_t row)
{
    return weight != NULL ? weight[row] : 1;
}

/* Gram (upper) and sum of rows from .. to - 1, which are of one set, about the centre; returns the
 * sum of their weights. chunk (GRAM_CHUNK, width) is scratch. */
static double run_sums(const gram_rows *r, size_t from, size_t to, double *gram, double *sum,
                       double *chunk)
{
    size_t width = r->width;
    double heft = 0;
    memset(sum, 0, width * sizeof *sum);
    for (size_t first = from; first < to; first += GRAM_CHUNK) {
        size_t n = to - first < GRAM_CHUNK ? to - first : GRAM_CHUNK;
        for (size_t k = 0; k < n; k++) {
            const double *x = r->x + r->row[first + k] * width;
            double weight = weight_of(r->weight, r->row[first + k]);
            double root = sqrt(weight);
            heft += weight;
            for (size_t i = 0; i < width; i++) {
                chunk[k * width + i] = root * (x[i] - r->centre[i]);
                sum[i] += root * chunk[k * width + i];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)width, (int)n, 1, chunk, (int)width,
                    first == from ? 0 : 1, gram, (int)width);
    }
    return heft;
}

static void sum_part(const gram_rows *r, size_t part, double *work)
{
    size_t d = r->design->d;
    size_t width = r->width;
    size_t end = part_start(r, part + 1);
    size_t to = 0;
    double *at = work + part * part_size(d, width);
    double *gram = at + sums_size(d, width);
    double *sum = gram + width * width;
    gram_sums out = sums_at(r, at);
    memset(at, 0, (sums_size(d, width) + width * width) * sizeof *at);
    for (size_t from = part_start(r, part); from < end; from = to) {
        const uint8_t *target = design_targets(r->design, r->row[from]);
        for (to = from + 1; to < end && design_targets(r->design, r->row[to]) == target;) {
            to++;
        }
        double heft = run_sums(r, from, to, gram, sum, sum + width);
        for (size_t i = 0; i < d; i++) {
            if (target[i] != 0) {
                continue;
            }
            double *total = out.gram + i * width * width;
            for (size_t k = 0; k < width * width; k++) {
                total[k] += gram[k];
            }
            for (size_t k = 0; k < width; k++) {
                out.sum[i * width + k] += sum[k];
            }
            out.count[i] += (double)(to - from);
            out.heft[i] += heft;
        }
    }
}

gram_sums gram_by_set(const gram_rows *r, double *work)
{
    size_t size = sums_size(r->design->d, r->width);
    size_t step = part_size(r->design->d, r->width);
#pragma omp parallel for schedule(dynamic)
    for (size_t p = 0; p < PARTS; p++) {
        sum_part(r, p, work);
    }
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < size; k++) {
        for (size_t p = 1; p < PARTS; p++) {
            work[k] += work[p * step + k];
        }
    }
    return sums_at(r, work);
}

/* ---- Families ---- */

static gram_rows rows_of(const families *f, const double *z)
{
    return (gram_rows){f->design, f->used, f->d, f->row, z, f->weight, f->centre};
}

size_t family_work(size_t d)
{
    size_t by_chunk = PARTS * d + (size_t)2 * GRAM_CHUNK * d;
    size_t by_set = d <= GRAM_DENSE ? gram_work(d, d) : 0;
    return by_set > by_chunk ? by_set : by_chunk;
}

/* The candidates' entries of node i. */
static void collect(families *f, size_t i, const gram_sums *all)
{
    family *fam = &f->list[i];
    size_t d = f->d;
    size_t m = fam->count + 1;
    const double *gram = all->gram + i * d * d;
    double *scatter = family_scatter_of(f, i);
    double *mean = family_mean_of(f, i);
    fam->rows = all->count[i];
    f->heft[i] = all->heft[i];
    for (size_t a = 0; a < m; a++) {
        size_t row = a + 1 < m ? fam->candidate[a] : i;
        mean[a] = all->sum[i * d + row];
        for (size_t b = a; b < m; b++) {
            size_t col = b + 1 < m ? fam->candidate[b] : i;
            scatter[a * m + b] = row <= col ? gram[row * d + col] : gram[col * d + row];
        }
    }
}

/* Columns first .. of a chunk of n rows: centred z, and the root of the weight where free, both
 * (d, GRAM_CHUNK). */
static void transpose(const families *f, const double *z, size_t start, size_t n, size_t first,
                      double *z_t, double *free_t)
{
    size_t d = f->d;
    size_t last = first + TILE < d ? first + TILE : d;
    for (size_t r = 0; r < n; r++) {
        size_t row = f->row[start + r];
        const uint8_t *target = design_targets(f->design, row);
        double root = sqrt(weight_of(f->weight, row));
        for (size_t i = first; i < last; i++) {
            z_t[i * GRAM_CHUNK + r] = z[row * d + i] - f->centre[i];
            free_t[i * GRAM_CHUNK + r] = target[i] != 0 ? 0 : root;
        }
        for (size_t i = first; f->node_weight != NULL && i < last; i++) {
            free_t[i * GRAM_CHUNK + r] *= sqrt(f->node_weight[i * f->design->rows + row]);
        }
    }
}

void gram_walk(families *f, const double *z, gram_visit visit, void *self)
{
    size_t d = f->d;
    double *z_t = f->work;
    double *free_t = f->work + d * GRAM_CHUNK;
#pragma omp parallel
    for (size_t start = 0; start < f->used; start += GRAM_CHUNK) {
        size_t n = f->used - start < GRAM_CHUNK ? f->used - start : GRAM_CHUNK;
#pragma omp for schedule(static)
        for (size_t first = 0; first < d; first += TILE) {
            transpose(f, z, start, n, first, z_t, free_t);
        }
#pragma omp for schedule(static)
        for (size_t i = 0; i < d; i++) {
            visit(self, f, i, &(gram_chunk){n, z_t, free_t});
        }
    }
}

/* Adds the chunk to the sums of node i. */
static void add_chunk(void *self, families *f, size_t i, const gram_chunk *chunk)
{
    (void)self;
    double column[(GRAM_WIDEST + 1) * GRAM_CHUNK]; /* (m, GRAM_CHUNK), 0 where i is not free */
    family *fam = &f->list[i];
    size_t m = fam->count + 1;
    const double *is_free = chunk->free_t + i * GRAM_CHUNK;
    double *mean = family_mean_of(f, i);
    for (size_t r = 0; r < chunk->rows; r++) {
        fam->rows += is_free[r] > 0 ? 1 : 0;
        f->heft[i] += is_free[r] * is_free[r];
    }
    for (size_t a = 0; a < m; a++) {
        const double *from = chunk->z_t + (a + 1 < m ? fam->candidate[a] : i) * GRAM_CHUNK;
        double sum = 0;
        for (size_t r = 0; r < chunk->rows; r++) {
            column[a * GRAM_CHUNK + r] = is_free[r] * from[r];
            sum += is_free[r] * column[a * GRAM_CHUNK + r];
        }
        mean[a] += sum;
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (int)m, (int)chunk->rows, 1, column,
                GRAM_CHUNK, 1, family_scatter_of(f, i), (int)m);
}

static void sum_sparse(families *f, const double *z)
{
    for (size_t i = 0; i < f->d; i++) {
        size_t m = f->list[i].count + 1;
        memset(family_scatter_of(f, i), 0, m * m * sizeof(double));
        memset(family_mean_of(f, i), 0, m * sizeof(double));
        f->list[i].rows = 0;
        f->heft[i] = 0;
    }
    gram_walk(f, z, add_chunk, NULL);
}

void family_sums(families *f, const double *z)
{
    gram_rows rows = rows_of(f, z);
    gram_centre(&rows, f->work);
    if (f->d > GRAM_DENSE || f->node_weight != NULL) {
        sum_sparse(f, z);
        return;
    }
    gram_sums all = gram_by_set(&rows, f->work);
    for (size_t i = 0; i < f->d; i++) {
        collect(f, i, &all);
    }
}
