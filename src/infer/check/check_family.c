#include "infer/check/check_family.h"

#include "infer/check/chance.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Columns of a family's rows, `count` parents: 1, then for each parent x, x^2, whether do() set it,
 * x where it did, x where it did not, and at the end y. */
enum { BLOCK_X, BLOCK_SQUARE, BLOCK_IS_SET, BLOCK_SET, BLOCK_FREE, BLOCKS };

static size_t column_of(size_t block, size_t parent)
{
    return 1 + BLOCKS * parent + block;
}

static size_t most_parents(const check_rows *t)
{
    size_t most = 0;
    for (size_t g = 0; g < t->graphs.count; g++) {
        for (size_t i = 0; i < t->d; i++) {
            size_t count = 0;
            for (size_t j = 0; j < t->d; j++) {
                count += check_has(t, g, j, i) ? 1 : 0;
            }
            most = count > most ? count : most;
        }
    }
    return most;
}

static void lay_out(family_work *q, const check_rows *t)
{
    arena *m = &q->memory;
    q->x = arena_take(m, t->n * q->wide, sizeof(double));
    q->gram = arena_take(m, q->wide * q->wide, sizeof(double));
    q->factor = arena_take(m, q->wide * q->wide, sizeof(double));
    q->rest = arena_take(m, t->n, sizeof(double));
    q->joint = arena_take(m, t->d * (2 * t->d + 1), sizeof(double));
    q->turn = arena_take(m, t->d * t->d, sizeof(double));
    q->take = arena_take(m, t->d, sizeof(double));
    q->doubt = arena_take(m, t->d, sizeof(double));
    q->share = arena_take(m, t->sets, sizeof(double));
    q->solution = arena_take(m, q->wide, sizeof(double));
    q->parent = arena_take(m, t->d, sizeof *q->parent);
    q->column = arena_take(m, q->wide, sizeof *q->column);
}

lscm_status family_work_open(family_work *out, const check_rows *t, lscm_error *why)
{
    family_work q = {.wide = 2 + BLOCKS * most_parents(t)};
    lay_out(&q, t);
    lscm_status status = arena_open(&q.memory, why);
    if (status == LSCM_OK) {
        lay_out(&q, t);
        *out = q;
    }
    return status;
}

void family_work_close(family_work *q)
{
    arena_close(&q->memory);
}

/* How a set reads its rows: which parents are free, turn and take among these, and the variance
 * that is left of y. */
typedef struct set_reading {
    size_t free; /* how many of them; 0: nothing to put back */
    double variance;
} set_reading;

static set_reading read_set(const check_rows *t, const family_work *q, size_t i, size_t count,
                            size_t set)
{
    size_t d = t->d;
    size_t n = 0;
    size_t at[64]; /* no family is that large: beyond, z is taken as it is */
    set_reading r = {.variance = 1};
    if (t->error == NULL) {
        return r;
    }
    const double *law = t->law + set * d * d;
    double total = law[i * d + i] + t->error[i * d + i];
    for (size_t p = 0; p < count && n < 64; p++) {
        if (!check_is_set(t, set, q->parent[p])) {
            at[n++] = q->parent[p];
        }
    }
    r.variance = total;
    size_t sides = n + 1; /* S_PP, then O_Pi; at last (S + O)_Pi */
    double *right = q->factor;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            q->joint[a * n + b] = law[at[a] * d + at[b]] + t->error[at[a] * d + at[b]];
            right[a * (sides + 1) + b] = law[at[a] * d + at[b]];
        }
        right[a * (sides + 1) + n] = t->error[at[a] * d + i];
        right[a * (sides + 1) + n + 1] = law[at[a] * d + i] + t->error[at[a] * d + i];
    }
    if (n == 0 || LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)n, (int)(sides + 1), q->joint, (int)n,
                                right, (int)(sides + 1)) != 0) {
        return r;
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            q->turn[a * n + b] = right[a * (sides + 1) + b];
        }
        q->take[a] = right[a * (sides + 1) + n];
        q->doubt[a] = law[at[a] * d + at[a]];
        for (size_t b = 0; b < n; b++) {
            q->doubt[a] -= law[at[a] * d + at[b]] * right[b * (sides + 1) + a];
        }
        r.variance -=
            (law[at[a] * d + i] + t->error[at[a] * d + i]) * right[a * (sides + 1) + n + 1];
    }
    r.free = n;
    return r;
}

/* One row: parents and y with what errors took put back. */
static void fill_row(const check_rows *t, const family_work *q, size_t i, size_t count, size_t set,
                     size_t row, const set_reading *r, double *x)
{
    size_t d = t->d;
    const double *z = t->z + row * d;
    const double *about = t->about != NULL ? t->about + row * d : NULL;
    size_t wide = 2 + BLOCKS * count;
    double y = z[i];
    size_t free = 0;
    x[0] = 1;
    for (size_t p = 0; p < count; p++) {
        size_t j = q->parent[p];
        bool is_set = check_is_set(t, set, j);
        double value = z[j];
        double doubt = 0;
        if (!is_set && r->free > 0) {
            size_t b = 0;
            value = about[j];
            for (size_t c = 0; c < count; c++) {
                if (!check_is_set(t, set, q->parent[c])) {
                    value +=
                        (z[q->parent[c]] - about[q->parent[c]]) * q->turn[b++ * r->free + free];
                }
            }
            y -= (z[j] - about[j]) * q->take[free];
            doubt = q->doubt[free++];
        }
        x[column_of(BLOCK_X, p)] = value;
        x[column_of(BLOCK_SQUARE, p)] = value * value + doubt;
        x[column_of(BLOCK_IS_SET, p)] = is_set ? 1 : 0;
        x[column_of(BLOCK_SET, p)] = is_set ? value : 0;
        x[column_of(BLOCK_FREE, p)] = is_set ? 0 : value;
    }
    x[wide - 1] = y;
}

/* Takes `part` of the mean off each column of rows first .. last - 1, then multiplies by `times`.
 */
static void centre_rows(double *x, size_t wide, size_t first, size_t last, double part,
                        double times)
{
    for (size_t c = 0; c < wide; c++) {
        double mean = 0;
        for (size_t k = first; k < last; k++) {
            mean += x[k * wide + c] / (double)(last - first);
        }
        for (size_t k = first; k < last; k++) {
            x[k * wide + c] = times * (x[k * wide + c] - part * mean);
        }
    }
}

/* Rows in which i is free; returns the degrees of freedom, less what the sets' intercepts take. */
static double gather(const check_rows *t, const family_work *q, size_t i, size_t count,
                     size_t *rows)
{
    size_t wide = 2 + BLOCKS * count;
    double freedom = 0;
    *rows = 0;
    for (size_t set = 0; set < t->sets; set++) {
        if (check_is_set(t, set, i)) {
            continue;
        }
        size_t begin = *rows;
        set_reading r = read_set(t, q, i, count, set);
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            fill_row(t, q, i, count, set, k, &r, q->x + (*rows)++ * wide);
        }
        double n = (double)(*rows - begin);
        double share = t->error != NULL && r.variance > 0 ? t->noise[i] / r.variance : 1;
        double own = 1 - 1 / sqrt(1 + n * t->tau[i] * t->tau[i] * share);
        q->share[set] = share;
        freedom += n - own;
        centre_rows(q->x, wide, begin, *rows, own, sqrt(share));
    }
    return freedom;
}

/* Products of all columns, whole. */
static void sum_products(const family_work *q, size_t wide, size_t rows)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)wide, (int)rows, 1, q->x, (int)wide, 0,
                q->gram, (int)wide);
    for (size_t r = 0; r < wide; r++) {
        for (size_t c = 0; c < r; c++) {
            q->gram[c * wide + r] = q->gram[r * wide + c];
        }
    }
}

/* What columns column[0 .. base - 1], and these with column[base .. all - 1], leave of y; columns
 * that add nothing new are left out. Cholesky of their Gram matrix with y at its end. */
typedef struct regression {
    double rest[2];
    size_t rank[2];
} regression;

static regression regress(const family_work *q, size_t wide, size_t base, size_t all)
{
    size_t n = all + 1;
    double *l = q->factor;
    regression out = {.rest = {0}};
    size_t rank = 0;
    q->column[all] = wide - 1;
    double rest = q->gram[wide * wide - 1];
    if (base == 0) {
        out.rest[0] = rest;
    }
    for (size_t c = 0; c < all; c++) {
        double own = q->gram[q->column[c] * wide + q->column[c]];
        double pivot = own;
        for (size_t k = 0; k < c; k++) {
            pivot -= l[c * n + k] * l[c * n + k];
        }
        bool adds = pivot > 1e-9 * own && own > 0;
        for (size_t r = c + 1; r < n; r++) {
            double sum = q->gram[q->column[r] * wide + q->column[c]];
            for (size_t k = 0; k < c; k++) {
                sum -= l[r * n + k] * l[c * n + k];
            }
            l[r * n + c] = adds ? sum / sqrt(pivot) : 0;
        }
        l[c * n + c] = adds ? sqrt(pivot) : 0;
        rest -= l[all * n + c] * l[all * n + c];
        rank += adds ? 1 : 0;
        if (c + 1 == base) {
            out.rest[0] = rest;
            out.rank[0] = rank;
        }
    }
    out.rest[1] = rest;
    out.rank[1] = rank;
    return out;
}

/* `shared`: variance of an error of y that all rows share, per direction; as many rows as weigh
 * less than it are not heard. */
static double test(const family_work *q, size_t wide, size_t base, size_t all, double freedom,
                   double shared)
{
    regression r = regress(q, wide, base, all);
    double more = (double)(r.rank[1] - r.rank[0]);
    double left = freedom - (double)r.rank[1];
    if (!(more > 0) || !(left > 4) || !(r.rest[1] > 0)) {
        return 1;
    }
    double f = (r.rest[0] - r.rest[1]) / more / (r.rest[1] / left + freedom * shared);
    return chance_of_f(f, more, left);
}

/* 1 and x of all parents but `without`. */
static size_t plain_columns(const family_work *q, size_t count, size_t without)
{
    size_t n = 0;
    q->column[n++] = 0;
    for (size_t p = 0; p < count; p++) {
        if (p != without) {
            q->column[n++] = column_of(BLOCK_X, p);
        }
    }
    return n;
}

static size_t add_block(const family_work *q, size_t block, size_t count, size_t at)
{
    for (size_t p = 0; p < count; p++) {
        q->column[at++] = column_of(block, p);
    }
    return at;
}

/* Parents' weights and what they leave, from the factor of the last regression, of n columns. */
static void solve(const family_work *q, size_t n, double *b)
{
    const double *l = q->factor;
    for (size_t c = n; c-- > 0;) {
        double sum = l[n * (n + 1) + c];
        for (size_t k = c + 1; k < n; k++) {
            sum -= l[k * (n + 1) + c] * b[k];
        }
        b[c] = l[c * (n + 1) + c] > 0 ? sum / l[c * (n + 1) + c] : 0;
    }
}

/* Levene's test of |rest| in the sets with five rows or more; the rest of n rows is made normal in
 * its first two moments: a set's mean was taken off. */
static double test_noise(const check_rows *t, size_t i, double *rest)
{
    double groups = 0;
    double n = 0;
    double sum = 0;
    double between = 0;
    double total = 0;
    size_t at = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t rows = t->first[set + 1] - t->first[set];
        if (check_is_set(t, set, i)) {
            continue;
        }
        double mean = 0;
        double size = rows > 1 ? 1 / sqrt(1 - 1 / (double)rows) : 0;
        for (size_t k = at; k < at + rows; k++) {
            rest[k] *= size;
            mean += fabs(rest[k]) / (double)rows;
        }
        for (size_t k = at; k < at + rows && rows >= 5; k++) {
            total += rest[k] * rest[k];
        }
        at += rows;
        if (rows >= 5) {
            groups++;
            n += (double)rows;
            sum += (double)rows * mean;
            between += (double)rows * mean * mean;
        }
    }
    double within = total - between;
    double f = (between - sum * sum / n) / (groups - 1) / (within / (n - groups));
    return groups > 1 && within > 0 ? chance_of_f(f, groups - 1, n - groups) : 1;
}

static void test_rest(const check_rows *t, const family_work *q, size_t i, size_t count,
                      size_t rows, check_family *out)
{
    size_t wide = 2 + BLOCKS * count;
    size_t n = plain_columns(q, count, SIZE_MAX);
    size_t at = 0;
    size_t kept = 0;
    (void)regress(q, wide, n, n);
    solve(q, n, q->solution);
    for (size_t p = 0; p < count; p++) {
        out->weight[q->parent[p]] = q->solution[1 + p];
    }
    for (size_t set = 0; set < t->sets; set++) {
        size_t size = t->first[set + 1] - t->first[set];
        if (check_is_set(t, set, i)) {
            continue;
        }
        centre_rows(q->x, wide, at, at + size, 1, 1);
        for (size_t k = at; k < at + size; k++) {
            const double *x = q->x + k * wide;
            q->rest[k] = x[wide - 1];
            for (size_t c = 0; c < n; c++) {
                q->rest[k] -= q->solution[c] * x[q->column[c]];
            }
            out->left += q->rest[k] * q->rest[k] / q->share[set] / (double)rows;
        }
        at += size;
    }
    out->chance[TEST_NOISE] = test_noise(t, i, q->rest);
    for (size_t k = 0; k < rows; k++) { /* rows that are a set of their own say nothing */
        if (q->rest[k] != 0) {
            q->rest[kept++] = q->rest[k];
        }
    }
    out->chance[TEST_TAILS] = chance_of_tails(q->rest, kept);
}

/* Observed i where do() set it, to values that differ within a set: parents that were free there.
 */
static double test_kept(const check_rows *t, const family_work *q, size_t i, size_t count)
{
    size_t wide = 2 + BLOCKS * count;
    const set_reading plain = {.variance = 1};
    size_t rows = 0;
    double freedom = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t begin = rows;
        double size = 0;
        if (!check_is_set(t, set, i)) {
            continue;
        }
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            fill_row(t, q, i, count, set, k, &plain, q->x + rows++ * wide);
        }
        centre_rows(q->x, wide, begin, rows, 1, 1);
        for (size_t k = begin; k < rows; k++) {
            size = fmax(size, fabs(q->x[k * wide + wide - 1]));
        }
        rows = size > 1e-9 ? rows : begin;
        freedom += size > 1e-9 ? (double)(rows - begin) - 1 : 0;
    }
    if (rows == 0) {
        return 1;
    }
    sum_products(q, wide, rows);
    return test(q, wide, 0, add_block(q, BLOCK_FREE, count, 0), freedom, 0);
}

/* Whether z of i, and its parents' through their weights, is read off with an error of less than
 * half of the noise of i in sd, and by a line: to first order the errors are accounted for, not
 * beyond. */
static bool is_read_well(const check_rows *t, const check_family *f, size_t i)
{
    double error = t->error != NULL ? t->error[i * t->d + i] : 0;
    for (size_t j = 0; j < t->d && t->error != NULL; j++) {
        error = fmax(error, f->weight[j] * f->weight[j] * t->error[j * t->d + j]);
    }
    return t->in->view->kind != VIEW_READ_OFF && error < t->noise[i] / 4;
}

static void test_free(check_family *out, const check_rows *t, size_t i, size_t count,
                      family_work *q)
{
    size_t wide = 2 + BLOCKS * count;
    size_t rows = 0;
    double freedom = gather(t, q, i, count, &rows);
    out->count = (double)rows;
    if (!(freedom > 3 * (double)count + 8)) {
        return;
    }
    sum_products(q, wide, rows);
    size_t base = plain_columns(q, count, SIZE_MAX);
    out->chance[TEST_BENT] =
        test(q, wide, base, add_block(q, BLOCK_SQUARE, count, base), freedom, 0);
    size_t set = add_block(q, BLOCK_IS_SET, count, base);
    size_t all = add_block(q, BLOCK_SET, count, set);
    out->chance[TEST_SLOPES] =
        test(q, wide, t->tau[i] > 0 ? set : base, all, freedom, t->shared[i]);
    for (size_t p = 0; p < count; p++) {
        base = plain_columns(q, count, p);
        q->column[base] = column_of(BLOCK_FREE, p);
        q->column[base + 1] = column_of(BLOCK_SET, p);
        out->support[q->parent[p]] = test(q, wide, base + 1, base + 2, freedom, t->shared[i]);
    }
    test_rest(t, q, i, count, rows, out);
}

void check_family_of(check_family *out, const check_rows *t, size_t g, size_t i, family_work *q)
{
    size_t count = 0;
    for (size_t j = 0; j < t->d; j++) {
        out->support[j] = 1;
        out->weight[j] = 0;
        if (check_has(t, g, j, i) && t->unit[j] > 0) {
            q->parent[count++] = j;
        }
    }
    out->left = out->count = 0;
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        out->chance[k] = 1;
    }
    if (t->unit[i] > 0) {
        test_free(out, t, i, count, q);
    }
    out->read_well = t->unit[i] > 0 && is_read_well(t, out, i);
    for (size_t k = 0; k < FAMILY_TESTS && !out->read_well; k++) {
        out->chance[k] = 1;
    }
    if (t->in->amiss == NULL && count > 0 && t->unit[i] > 0) {
        out->chance[TEST_KEPT] = test_kept(t, q, i, count);
    }
}
