#include "infer/check/check_family.h"

#include "base/tuned.h"
#include "infer/check/chance.h"
#include "infer/check/check_drift.h"
#include "infer/check/check_gather.h"
#include "infer/check/check_response.h"

#include <math.h>
#include <string.h>

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

/* q->rest: what columns (n) with the solution leave of y, of rows that are centred. */
static void take_rest(const check_work *q, size_t n, size_t first, size_t last)
{
    size_t wide = q->r.wide;
    for (size_t k = first; k < last; k++) {
        const double *x = q->r.x + k * wide;
        q->rest[k] = x[wide - 1];
        for (size_t c = 0; c < n; c++) {
            q->rest[k] -= q->solution[c] * x[q->r.column[c]];
        }
    }
}

/* Its own mean is taken off each set. */
static void test_rest(check_family *out, const check_rows *t, check_work *q, const check_scan *scan,
                      size_t i, size_t rows)
{
    size_t n = check_plain(q, SIZE_MAX);
    size_t at = 0;
    size_t kept = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t size = t->first[set + 1] - t->first[set];
        if (check_is_set(t, set, i)) {
            continue;
        }
        check_centre(q->r.x, q->r.wide, at, at + size, 1, 1);
        take_rest(q, n, at, at + size);
        for (size_t k = at; k < at + size; k++) {
            out->left += q->rest[k] * q->rest[k] / q->share[set] / (double)rows;
        }
        at += size;
    }
    out->chance[TEST_NOISE] = test_noise(t, i, q->rest);
    out->chance[TEST_DRIFT] = chance_of_drift(q->rest, t->first, t->target + i, t->d, t->sets);
    if (scan != NULL && !(fmin(out->chance[TEST_BENT], out->chance[TEST_JOINT]) <
                          tuned_check_chance())) { /* else its mean is wrong, not its noise */
        out->chance[TEST_SPREAD] = check_scan_spread(scan, q->rest, &out->by[TEST_SPREAD]);
    }
    for (size_t k = 0; k < rows; k++) { /* rows that are a set of their own say nothing */
        if (q->rest[k] != 0 && (scan == NULL || scan->inside[k] != 0)) {
            q->rest[kept++] = q->rest[k];
        }
    }
    out->chance[TEST_TAILS] = chance_of_tails(q->rest, kept);
}

/* Observed i where do() set it, to values that differ within a set: parents that were free there.
 */
static double test_kept(const check_rows *t, check_work *q, size_t i)
{
    size_t rows = 0;
    double freedom = check_gather_set(t, q, i, &rows);
    if (rows == 0) {
        return 1;
    }
    regression_sum(&q->r, rows);
    return regression_test(&q->r, 0, check_add_where(q, false, CHECK_ALL, SIZE_MAX, 0), freedom, 0);
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

/* Whether there is more to it than the functions, by a scan of what they leave. */
static void test_more(check_family *out, const check_rows *t, check_work *q, check_scan *scan,
                      size_t i, size_t rows, double freedom)
{
    size_t n = check_plain(q, SIZE_MAX);
    take_rest(q, n, 0, rows);
    check_scan_take(scan, t, i, out->f.bent, q->part, q->share);
    freedom -= (double)n;
    out->chance[TEST_BENT] = check_scan_bent(scan, q->rest, freedom, &out->by[TEST_BENT]);
    out->chance[TEST_JOINT] = check_scan_joint(scan, q->rest, freedom, &out->by[TEST_JOINT]);
}

/* Slopes, and whether parents matter, where do() set them: of curves those that are least rough. */
static void test_set(check_family *out, const check_rows *t, check_work *q, size_t i,
                     double freedom)
{
    enum { SLOPES = 2, SUPPORT = 3 };
    size_t base = check_plain(q, SIZE_MAX);
    size_t set = check_add_is_set(q, base);
    size_t all = check_add_where(q, true, CHECK_ALL, SLOPES, set);
    out->chance[TEST_SLOPES] =
        regression_test(&q->r, t->tau[i] > 0 ? set : base, all, freedom, t->shared[i]);
    for (size_t p = 0; p < q->parents; p++) {
        size_t own = q->parent[p];
        base = check_add_where(q, false, (long)own, SIZE_MAX, check_plain(q, own));
        all = check_add_where(q, true, (long)own, SUPPORT, base);
        out->support[own] = regression_test(&q->r, base, all, freedom, t->shared[i]);
    }
}

/* Weights of parents, where the node bends average slopes. */
static void take_weights(check_family *out, const check_rows *t, const check_work *q, size_t g,
                         size_t i)
{
    const double *w = t->in->a->w + t->graphs.draw[g] * t->d * t->d;
    memcpy(out->coef, q->solution + 1, out->f.count * sizeof *out->coef);
    for (size_t p = 0; p < q->parents; p++) {
        size_t j = q->parent[p];
        out->weight[j] =
            out->f.bent ? w[j * t->d + i] * t->unit[j] / t->unit[i] : q->solution[1 + p];
    }
}

static void test_free(check_family *out, const check_rows *t, size_t g, size_t i, check_work *q,
                      check_scan *scan)
{
    size_t rows = 0;
    double freedom = check_gather(t, q, i, &rows);
    out->count = (double)rows;
    if (!(freedom > 3 * (double)out->f.count + 8)) {
        return;
    }
    regression_sum(&q->r, rows);
    test_set(out, t, q, i, freedom);
    regression_solve(&q->r, check_plain(q, SIZE_MAX), q->solution);
    take_weights(out, t, q, g, i);
    out->read_well = is_read_well(t, out, i);
    if (out->read_well) {
        check_scan_others(scan, t, g, i);
        test_more(out, t, q, scan, i, rows, freedom);
    }
    test_rest(out, t, q, out->read_well ? scan : NULL, i, rows);
    out->chance[TEST_RESPONSE] = check_response(t, i, out);
}

void check_family_of(check_family *out, const check_rows *t, size_t g, size_t i, check_work *q,
                     check_scan *scan)
{
    out->f = check_functions_of(t, g, i, out->f.term);
    out->left = out->count = 0;
    out->read_well = false;
    memset(out->coef, 0, out->f.count * sizeof *out->coef);
    for (size_t j = 0; j < t->d; j++) {
        out->support[j] = 1;
        out->weight[j] = 0;
    }
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        out->chance[k] = 1;
        out->by[k] = (check_by){0};
    }
    check_work_take(q, t, g, i, &out->f);
    if (t->unit[i] > 0) {
        test_free(out, t, g, i, q, scan);
    }
    for (size_t k = 0; k < FAMILY_TESTS && !out->read_well; k++) {
        out->chance[k] = 1;
    }
    if (t->in->amiss == NULL && q->parents > 0 && t->unit[i] > 0) {
        out->chance[TEST_KEPT] = test_kept(t, q, i);
    }
}
