#include "infer/mechanism/family_sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    PARTS = 16, /* shares of the rows; fixed, so that sums do not depend on threads */
    TILE = 32   /* columns transposed together */
};

/* Sums of one part, d <= GRAM_DENSE. */
typedef struct part_sums {
    double *gram;  /* (d, d, d): of each node, upper triangles */
    double *sum;   /* (d, d) */
    double *count; /* (d) */
    double *heft;  /* (d): sum of weights */
} part_sums;

static size_t part_size(size_t d)
{
    return d * d * d + d * d + 2 * d;
}

size_t gram_work(size_t d)
{
    size_t by_chunk = PARTS * d + (size_t)2 * GRAM_CHUNK * d;
    size_t by_set = d <= GRAM_DENSE ? PARTS * part_size(d) : 0;
    return by_set > by_chunk ? by_set : by_chunk;
}

static size_t part_start(const families *f, size_t part)
{
    return f->used / PARTS * part + (part < f->used % PARTS ? part : f->used % PARTS);
}

void gram_centre(families *f, const double *z)
{
    size_t d = f->d;
    double *sums = f->work; /* (PARTS, d) */
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < PARTS; p++) {
        double *sum = sums + p * d;
        memset(sum, 0, d * sizeof *sum);
        for (size_t r = part_start(f, p); r < part_start(f, p + 1); r++) {
            const double *row = z + f->row[r] * d;
            for (size_t i = 0; i < d; i++) {
                sum[i] += row[i];
            }
        }
    }
    for (size_t i = 0; i < d; i++) {
        double sum = 0;
        for (size_t p = 0; p < PARTS; p++) {
            sum += sums[p * d + i];
        }
        f->centre[i] = f->used > 0 ? sum / (double)f->used : 0;
    }
}

static double weight_of(const families *f, size_t row)
{
    return f->weight != NULL ? f->weight[row] : 1;
}

/* Gram (upper) and sum of rows from .. to - 1, which are of one set, about the centre; returns the
 * sum of their weights. */
static double run_sums(const families *f, const double *z, size_t from, size_t to, double *gram,
                       double *sum)
{
    double rows[GRAM_CHUNK * GRAM_DENSE];
    size_t d = f->d;
    double heft = 0;
    memset(sum, 0, d * sizeof *sum);
    for (size_t first = from; first < to; first += GRAM_CHUNK) {
        size_t n = to - first < GRAM_CHUNK ? to - first : GRAM_CHUNK;
        for (size_t r = 0; r < n; r++) {
            const double *row = z + f->row[first + r] * d;
            double weight = weight_of(f, f->row[first + r]);
            double root = sqrt(weight);
            heft += weight;
            for (size_t i = 0; i < d; i++) {
                rows[r * d + i] = root * (row[i] - f->centre[i]);
                sum[i] += root * rows[r * d + i];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)n, 1, rows, (int)d,
                    first == from ? 0 : 1, gram, (int)d);
    }
    return heft;
}

static void part_of_rows(const families *f, const double *z, size_t part, const part_sums *out)
{
    double gram[GRAM_DENSE * GRAM_DENSE] = {0};
    double sum[GRAM_DENSE];
    size_t d = f->d;
    size_t end = part_start(f, part + 1);
    size_t to = 0;
    memset(out->gram, 0, part_size(d) * sizeof(double));
    for (size_t from = part_start(f, part); from < end; from = to) {
        const uint8_t *target = design_targets(f->design, f->row[from]);
        for (to = from + 1; to < end && design_targets(f->design, f->row[to]) == target;) {
            to++;
        }
        double heft = run_sums(f, z, from, to, gram, sum);
        for (size_t i = 0; i < d; i++) {
            if (target[i] != 0) {
                continue;
            }
            double *total = out->gram + i * d * d;
            for (size_t k = 0; k < d * d; k++) {
                total[k] += gram[k];
            }
            for (size_t k = 0; k < d; k++) {
                out->sum[i * d + k] += sum[k];
            }
            out->count[i] += (double)(to - from);
            out->heft[i] += heft;
        }
    }
}

static part_sums part_at(const families *f, size_t part)
{
    size_t d = f->d;
    double *at = f->work + part * part_size(d);
    double *nodes = at + d * d * d + d * d;
    return (part_sums){at, at + d * d * d, nodes, nodes + d};
}

/* The candidates' entries of node i, summed over parts in their order. */
static void collect(families *f, size_t i)
{
    family *fam = &f->list[i];
    size_t d = f->d;
    size_t m = fam->count + 1;
    double *scatter = family_scatter_of(f, i);
    double *mean = family_mean_of(f, i);
    memset(scatter, 0, m * m * sizeof *scatter);
    memset(mean, 0, m * sizeof *mean);
    fam->rows = 0;
    f->heft[i] = 0;
    for (size_t p = 0; p < PARTS; p++) {
        part_sums part = part_at(f, p);
        const double *gram = part.gram + i * d * d;
        fam->rows += part.count[i];
        f->heft[i] += part.heft[i];
        for (size_t a = 0; a < m; a++) {
            size_t row = a + 1 < m ? fam->candidate[a] : i;
            mean[a] += part.sum[i * d + row];
            for (size_t b = a; b < m; b++) {
                size_t col = b + 1 < m ? fam->candidate[b] : i;
                scatter[a * m + b] += row <= col ? gram[row * d + col] : gram[col * d + row];
            }
        }
    }
}

void gram_dense(families *f, const double *z)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t p = 0; p < PARTS; p++) {
        part_sums out = part_at(f, p);
        part_of_rows(f, z, p, &out);
    }
    for (size_t i = 0; i < f->d; i++) {
        collect(f, i);
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
        double root = sqrt(weight_of(f, row));
        for (size_t i = first; i < last; i++) {
            z_t[i * GRAM_CHUNK + r] = z[row * d + i] - f->centre[i];
            free_t[i * GRAM_CHUNK + r] = target[i] != 0 ? 0 : root;
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

void gram_sparse(families *f, const double *z)
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
