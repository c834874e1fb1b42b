#include "infer/check/check_scan.h"

#include "infer/check/chance.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Up to so many nodes all that do not follow are looked at; numbers of all pairs of these that a
 * node's scan may take, else parents alone. */
enum { FEW = 20, PAIRS = 2000000 };
static const double FAR = 4;

/* ---- Room ---- */

static size_t most_others(const check_rows *t)
{
    size_t most = t->d <= FEW ? t->d : 0;
    for (size_t k = 0; k < t->graphs.count * t->d && t->d > FEW; k++) {
        size_t parents = 0;
        for (size_t j = 0; j < t->d; j++) {
            parents += check_has(t, k / t->d, j, k % t->d) ? 1 : 0;
        }
        most = parents > most ? parents : most;
    }
    return most;
}

static void lay_out(check_scan *s, const check_rows *t, size_t most)
{
    arena *m = &s->memory;
    s->other = arena_take(m, most, sizeof *s->other);
    s->parent = arena_take(m, most, 1);
    s->follows = arena_take(m, t->d, 1);
    s->first = arena_take(m, t->sets + 1, sizeof *s->first);
    s->inside = arena_take(m, t->n, 1);
    s->part = arena_take(m, t->sets, sizeof(double));
    s->times = arena_take(m, t->sets, sizeof(double));
    s->plain = arena_take(m, most * 2, t->n * sizeof(double));
    s->curve = arena_take(m, most * SCAN_CURVES, t->n * sizeof(double));
    s->column = arena_take(m, 3, t->n * sizeof(double));
}

lscm_status check_scan_open(check_scan *out, const check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_scan s = {.n = 0};
    size_t most = most_others(t);
    lay_out(&s, t, most);
    TRY(arena_open(&s.memory, why));
    lay_out(&s, t, most);
    *out = s;
done:
    return status;
}

void check_scan_close(check_scan *s)
{
    arena_close(&s->memory);
}

/* ---- Columns ---- */

void check_scan_others(check_scan *s, const check_rows *t, size_t g, size_t i)
{
    const size_t *order = t->in->a->order + t->graphs.draw[g] * t->d;
    memset(s->follows, 0, t->d);
    s->follows[i] = 1;
    for (size_t at = 0; at < t->d; at++) {
        for (size_t before = 0; before < at; before++) {
            if (s->follows[order[before]] != 0 && check_has(t, g, order[before], order[at])) {
                s->follows[order[at]] = 1;
            }
        }
    }
    s->others = 0;
    for (size_t j = 0; j < t->d; j++) {
        bool parent = check_has(t, g, j, i);
        if (s->follows[j] == 0 && t->basis[j].knots > 1 && (parent || t->d <= FEW)) {
            s->parent[s->others] = parent ? 1 : 0;
            s->other[s->others++] = j;
        }
    }
}

static void centre(const check_scan *s, double *x)
{
    for (size_t set = 0; set < s->sets; set++) {
        double mean = 0;
        double rows = (double)(s->first[set + 1] - s->first[set]);
        for (size_t r = s->first[set]; r < s->first[set + 1]; r++) {
            mean += x[r] / rows;
        }
        for (size_t r = s->first[set]; r < s->first[set + 1]; r++) {
            x[r] = s->times[set] * (x[r] - s->part[set] * mean);
        }
    }
}

static double dot(const check_scan *s, const double *x, const double *y)
{
    return cblas_ddot((int)s->n, x, 1, y, 1);
}

/* x less what y tells of it. */
static void take_off(const check_scan *s, double *x, const double *y)
{
    double square = dot(s, y, y);
    if (square > 0) {
        cblas_daxpy((int)s->n, -dot(s, x, y) / square, y, 1, x, 1);
    }
}

/* Nothing where only rounding is left. */
static void clean(const check_scan *s, double *x, double before)
{
    if (!(dot(s, x, x) > 1e-9 * before)) {
        memset(x, 0, s->n * sizeof *x);
    }
}

static double *plain_of(const check_scan *s, size_t o, size_t k)
{
    return s->plain + (o * 2 + k) * s->n;
}

static double *curve_of(const check_scan *s, size_t o, size_t k)
{
    return s->curve + (o * SCAN_CURVES + k) * s->n;
}

static void take_sets(check_scan *s, const check_rows *t, size_t i, const double *part,
                      const double *share)
{
    s->n = s->sets = 0;
    for (size_t set = 0; set < t->sets; set++) {
        if (!check_is_set(t, set, i)) {
            s->first[s->sets] = s->n;
            s->part[s->sets] = part[set];
            s->times[s->sets++] = sqrt(share[set]);
            s->n += t->first[set + 1] - t->first[set];
        }
    }
    s->first[s->sets] = s->n;
}

/* phi_0 .. of one node over the rows in which i is free. */
static void take_values(const check_scan *s, const check_rows *t, size_t i, size_t o)
{
    size_t j = s->other[o];
    size_t r = 0;
    for (size_t set = 0; set < t->sets; set++) {
        for (size_t k = t->first[set]; k < t->first[set + 1] && !check_is_set(t, set, i); k++) {
            double own[CURVE_WIDTH];
            curve_values(&t->basis[j], t->told[k * t->d + j], own);
            for (size_t c = 0; c < SCAN_CURVES; c++) {
                curve_of(s, o, c)[r] = fmin(fmax(own[c], -FAR), FAR);
            }
            r++;
        }
    }
    memcpy(plain_of(s, o, 0), curve_of(s, o, 0), 2 * s->n * sizeof(double));
}

static void find_inside(const check_scan *s, const check_rows *t, size_t i, bool bent)
{
    size_t r = 0;
    for (size_t set = 0; set < t->sets; set++) {
        for (size_t k = t->first[set]; k < t->first[set + 1] && !check_is_set(t, set, i); k++) {
            s->inside[r] = 1;
            for (size_t o = 0; o < s->others && bent; o++) {
                const curve_basis *b = &t->basis[s->other[o]];
                double z = t->told[k * t->d + s->other[o]];
                bool in = b->knots < 4 || (z >= b->knot[1] && z <= b->knot[b->knots - 2]);
                s->inside[r] = s->parent[o] != 0 && !in ? 0 : s->inside[r];
            }
            r++;
        }
    }
}

void check_scan_take(check_scan *s, const check_rows *t, size_t i, bool bent, const double *part,
                     const double *share)
{
    take_sets(s, t, i, part, share);
    find_inside(s, t, i, bent);
    for (size_t o = 0; o < s->others; o++) {
        take_values(s, t, i, o);
        for (size_t c = 0; c < SCAN_CURVES; c++) {
            double *x = curve_of(s, o, c);
            centre(s, x);
            double square = dot(s, x, x);
            for (size_t before = 0; before < c; before++) {
                take_off(s, x, curve_of(s, o, before));
            }
            clean(s, x, square);
        }
    }
}

/* ---- Tests ---- */

/* How much of r columns tell that are orthogonal to each other. */
typedef struct told {
    double sum, count;
} told;

static void tell(told *to, const check_scan *s, const double *x, const double *rest)
{
    double square = dot(s, x, x);
    double with = dot(s, x, rest);
    to->sum += square > 0 ? with * with / square : 0;
    to->count += square > 0 ? 1 : 0;
}

/* The least chance so far, and whose. */
typedef struct least {
    double chance;
    size_t tried;
} least;

static void weigh(least *to, const told *of, double total, double freedom, check_by by,
                  check_by *best)
{
    double left = freedom - of->count;
    double rest = total - of->sum;
    if (!(of->count > 0) || !(left > 4) || !(rest > 0)) {
        return;
    }
    double chance = chance_of_f(of->sum / of->count / (rest / left), of->count, left);
    to->tried++;
    if (to->tried == 1 || chance < to->chance) {
        to->chance = chance;
        by.share = of->sum / total;
        *best = by;
    }
}

static double chance_of(const least *of)
{
    return of->tried > 0 ? fmin(1, of->chance * (double)of->tried) : 1;
}

double check_scan_bent(const check_scan *s, const double *rest, double freedom, check_by *by)
{
    least l = {1, 0};
    double total = dot(s, rest, rest);
    for (size_t o = 0; o < s->others; o++) {
        told of = {0, 0};
        for (size_t c = 1; c < SCAN_CURVES; c++) {
            tell(&of, s, curve_of(s, o, c), rest);
        }
        weigh(&l, &of, total, freedom, (check_by){1, {s->other[o], s->other[o]}, 0, false}, by);
    }
    return chance_of(&l);
}

/* phi_0 of both; taken off twice, for columns of the two are not orthogonal. */
static void take_product(const check_scan *s, size_t one, size_t two, double *x)
{
    for (size_t r = 0; r < s->n; r++) {
        x[r] = plain_of(s, one, 0)[r] * plain_of(s, two, 0)[r];
    }
    centre(s, x);
    double square = dot(s, x, x);
    for (size_t k = 0; k < 8; k++) {
        take_off(s, x, curve_of(s, k % 2 == 0 ? one : two, k / 2 % 2));
    }
    clean(s, x, square);
}

double check_scan_joint(const check_scan *s, const double *rest, double freedom, check_by *by)
{
    least l = {1, 0};
    double total = dot(s, rest, rest);
    bool all = s->n * s->others * (s->others + 1) / 2 <= PAIRS;
    for (size_t one = 0; one < s->others; one++) {
        for (size_t two = 0; two < one; two++) {
            told of = {0, 0};
            if (all || (s->parent[one] != 0 && s->parent[two] != 0)) {
                take_product(s, one, two, s->column);
                tell(&of, s, s->column, rest);
                weigh(&l, &of, total, freedom,
                      (check_by){2, {s->other[two], s->other[one]}, 0, false}, by);
            }
        }
    }
    return chance_of(&l);
}

/* Centred in every set, and 0 where rows do not count. */
static void centre_inside(const check_scan *s, double *x)
{
    for (size_t set = 0; set < s->sets; set++) {
        double mean = 0;
        double rows = 0;
        for (size_t r = s->first[set]; r < s->first[set + 1]; r++) {
            mean += s->inside[r] * x[r];
            rows += s->inside[r];
        }
        for (size_t r = s->first[set]; r < s->first[set + 1]; r++) {
            x[r] = s->inside[r] != 0 ? x[r] - mean / rows : 0;
        }
    }
}

double check_scan_spread(const check_scan *s, const double *rest, check_by *by)
{
    least l = {1, 0};
    double *size = s->column;
    double freedom = -(double)s->sets;
    for (size_t r = 0; r < s->n; r++) {
        size[r] = fabs(rest[r]);
        freedom += s->inside[r];
    }
    centre_inside(s, size);
    double total = dot(s, size, size);
    for (size_t o = 0; o < s->others; o++) {
        told of = {0, 0};
        double *x = s->column + s->n;
        double *y = x + s->n;
        memcpy(x, plain_of(s, o, 0), 2 * s->n * sizeof *x);
        centre_inside(s, x);
        centre_inside(s, y);
        double square = dot(s, y, y);
        take_off(s, y, x);
        clean(s, y, square);
        tell(&of, s, x, size);
        tell(&of, s, y, size);
        weigh(&l, &of, total, freedom, (check_by){1, {s->other[o], s->other[o]}, 0, true}, by);
    }
    return chance_of(&l);
}
