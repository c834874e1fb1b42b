#include "infer/check/check_family.h"

#include "infer/check/chance.h"
#include "infer/check/check_drift.h"
#include "infer/check/check_response.h"

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

static void lay_out(check_work *q, const check_rows *t)
{
    arena *m = &q->memory;
    q->r.x = arena_take(m, t->n * q->most, sizeof(double));
    q->r.gram = arena_take(m, q->most * q->most, sizeof(double));
    q->r.factor = arena_take(m, q->most * q->most, sizeof(double));
    q->rest = arena_take(m, t->n, sizeof(double));
    q->joint = arena_take(m, t->d * (2 * t->d + 1), sizeof(double));
    q->turn = arena_take(m, t->d * t->d, sizeof(double));
    q->take = arena_take(m, t->d, sizeof(double));
    q->doubt = arena_take(m, t->d, sizeof(double));
    q->share = arena_take(m, t->sets, sizeof(double));
    q->solution = arena_take(m, q->most, sizeof(double));
    q->parent = arena_take(m, t->d, sizeof *q->parent);
    q->r.column = arena_take(m, q->most, sizeof *q->r.column);
}

lscm_status check_work_open(check_work *out, const check_rows *t, lscm_error *why)
{
    check_work q = {.most = 2 + BLOCKS * most_parents(t)};
    lay_out(&q, t);
    lscm_status status = arena_open(&q.memory, why);
    if (status == LSCM_OK) {
        lay_out(&q, t);
        *out = q;
    }
    return status;
}

void check_work_close(check_work *q)
{
    arena_close(&q->memory);
}

/* How a set reads its rows: which parents are free, turn and take among these, and the variance
 * that is left of y. */
typedef struct set_reading {
    size_t free; /* how many of them; 0: nothing to put back */
    double variance;
} set_reading;

static set_reading read_set(const check_rows *t, const check_work *q, size_t i, size_t count,
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
    double *right = q->r.factor;
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
static void fill_row(const check_rows *t, const check_work *q, size_t i, size_t count, size_t set,
                     size_t row, const set_reading *r, double *x)
{
    size_t d = t->d;
    const double *z = t->z + row * d;
    const double *about = t->about != NULL ? t->about + row * d : NULL;
    size_t wide = q->r.wide;
    double y = z[i];
    size_t free = 0;
    x[0] = 1;
    for (size_t p = 0; p < count; p++) {
        size_t j = q->parent[p];
        bool is_set = check_is_set(t, set, j);
        double value = z[j];
        double doubt = 0;
        if (!is_set && r->free > 0 && about != NULL) {
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
static double gather(const check_rows *t, const check_work *q, size_t i, size_t count, size_t *rows)
{
    size_t wide = q->r.wide;
    double freedom = 0;
    *rows = 0;
    for (size_t set = 0; set < t->sets; set++) {
        if (check_is_set(t, set, i)) {
            continue;
        }
        size_t begin = *rows;
        set_reading r = read_set(t, q, i, count, set);
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            fill_row(t, q, i, count, set, k, &r, q->r.x + (*rows)++ * wide);
        }
        double n = (double)(*rows - begin);
        double share = t->error != NULL && r.variance > 0 ? t->noise[i] / r.variance : 1;
        double own = 1 - 1 / sqrt(1 + n * t->tau[i] * t->tau[i] * share);
        q->share[set] = share;
        freedom += n - own;
        centre_rows(q->r.x, wide, begin, *rows, own, sqrt(share));
    }
    return freedom;
}

/* 1 and x of all parents but `without`. */
static size_t plain_columns(const check_work *q, size_t count, size_t without)
{
    size_t n = 0;
    q->r.column[n++] = 0;
    for (size_t p = 0; p < count; p++) {
        if (p != without) {
            q->r.column[n++] = column_of(BLOCK_X, p);
        }
    }
    return n;
}

static size_t add_block(const check_work *q, size_t block, size_t count, size_t at)
{
    for (size_t p = 0; p < count; p++) {
        q->r.column[at++] = column_of(block, p);
    }
    return at;
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

static void test_rest(const check_rows *t, const check_work *q, size_t i, size_t count, size_t rows,
                      check_family *out)
{
    size_t wide = q->r.wide;
    size_t n = plain_columns(q, count, SIZE_MAX);
    size_t at = 0;
    size_t kept = 0;
    regression_solve(&q->r, n, q->solution);
    for (size_t p = 0; p < count; p++) {
        out->weight[q->parent[p]] = q->solution[1 + p];
    }
    for (size_t set = 0; set < t->sets; set++) {
        size_t size = t->first[set + 1] - t->first[set];
        if (check_is_set(t, set, i)) {
            continue;
        }
        centre_rows(q->r.x, wide, at, at + size, 1, 1);
        for (size_t k = at; k < at + size; k++) {
            const double *x = q->r.x + k * wide;
            q->rest[k] = x[wide - 1];
            for (size_t c = 0; c < n; c++) {
                q->rest[k] -= q->solution[c] * x[q->r.column[c]];
            }
            out->left += q->rest[k] * q->rest[k] / q->share[set] / (double)rows;
        }
        at += size;
    }
    out->chance[TEST_NOISE] = test_noise(t, i, q->rest);
    out->chance[TEST_DRIFT] = chance_of_drift(q->rest, t->first, t->target + i, t->d, t->sets);
    for (size_t k = 0; k < rows; k++) { /* rows that are a set of their own say nothing */
        if (q->rest[k] != 0) {
            q->rest[kept++] = q->rest[k];
        }
    }
    out->chance[TEST_TAILS] = chance_of_tails(q->rest, kept);
}

/* Observed i where do() set it, to values that differ within a set: parents that were free there.
 */
static double test_kept(const check_rows *t, const check_work *q, size_t i, size_t count)
{
    size_t wide = q->r.wide;
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
            fill_row(t, q, i, count, set, k, &plain, q->r.x + rows++ * wide);
        }
        centre_rows(q->r.x, wide, begin, rows, 1, 1);
        for (size_t k = begin; k < rows; k++) {
            size = fmax(size, fabs(q->r.x[k * wide + wide - 1]));
        }
        rows = size > 1e-9 ? rows : begin;
        freedom += size > 1e-9 ? (double)(rows - begin) - 1 : 0;
    }
    if (rows == 0) {
        return 1;
    }
    regression_sum(&q->r, rows);
    return regression_test(&q->r, 0, add_block(q, BLOCK_FREE, count, 0), freedom, 0);
}

/* Whether z of i, and its parents' through their weights, is read off with an error, that of its
 * encoder included, of less than half of the noise of i in sd, and by a line: to first order the
 * errors are accounted for, not beyond. */
static bool is_read_well(const check_rows *t, const check_family *f, size_t i)
{
    double error = t->error != NULL ? t->error[i * t->d + i] + t->unsure[i] : 0;
    for (size_t j = 0; j < t->d && t->error != NULL; j++) {
        double own = t->error[j * t->d + j] + t->unsure[j];
        error = fmax(error, f->weight[j] * f->weight[j] * own);
    }
    return t->in->view->kind != VIEW_READ_OFF && error < t->noise[i] / 4;
}

static void test_free(check_family *out, const check_rows *t, size_t i, size_t count, check_work *q)
{
    size_t rows = 0;
    double freedom = gather(t, q, i, count, &rows);
    out->count = (double)rows;
    if (!(freedom > 3 * (double)count + 8)) {
        return;
    }
    regression_sum(&q->r, rows);
    size_t base = plain_columns(q, count, SIZE_MAX);
    out->chance[TEST_BENT] =
        regression_test(&q->r, base, add_block(q, BLOCK_SQUARE, count, base), freedom, 0);
    size_t set = add_block(q, BLOCK_IS_SET, count, base);
    size_t all = add_block(q, BLOCK_SET, count, set);
    out->chance[TEST_SLOPES] =
        regression_test(&q->r, t->tau[i] > 0 ? set : base, all, freedom, t->shared[i]);
    for (size_t p = 0; p < count; p++) {
        base = plain_columns(q, count, p);
        q->r.column[base] = column_of(BLOCK_FREE, p);
        q->r.column[base + 1] = column_of(BLOCK_SET, p);
        out->support[q->parent[p]] =
            regression_test(&q->r, base + 1, base + 2, freedom, t->shared[i]);
    }
    test_rest(t, q, i, count, rows, out);
    out->chance[TEST_RESPONSE] = check_response(t, i, out->weight, out->left);
}

void check_family_of(check_family *out, const check_rows *t, size_t g, size_t i, check_work *q)
{
    size_t count = 0;
    for (size_t j = 0; j < t->d; j++) {
        out->support[j] = 1;
        out->weight[j] = 0;
        if (check_has(t, g, j, i) && t->unit[j] > 0) {
            q->parent[count++] = j;
        }
    }
    q->r.wide = 2 + BLOCKS * count;
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
