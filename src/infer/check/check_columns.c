#include "infer/check/check_columns.h"

#include "base/quantile.h"
#include "base/streams.h"
#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>

typedef struct place {
    double at; /* of the projection */
    size_t column;
} place;

typedef struct scratch {
    double *mean;   /* (count) */
    double *sorted; /* (rows) */
    double *along;  /* (rows): the random vector */
    place *place;   /* (count) */
    arena memory;
} scratch;

static void lay_out(check_columns *c, scratch *q, size_t rows)
{
    c->sd = arena_take(&c->memory, c->count, sizeof *c->sd);
    c->coarse = arena_take(&c->memory, c->count, sizeof *c->coarse);
    c->copied = arena_take(&c->memory, c->count, sizeof *c->copied);
    q->mean = arena_take(&q->memory, c->count, sizeof *q->mean);
    q->sorted = arena_take(&q->memory, rows, sizeof *q->sorted);
    q->along = arena_take(&q->memory, rows, sizeof *q->along);
    q->place = arena_take(&q->memory, c->count, sizeof *q->place);
}

static void take_spread(check_columns *c, const scratch *q, const double *x, size_t rows)
{
    double low = INFINITY;
    double high = 0;
    for (size_t i = 0; i < c->count; i++) {
        column_spread s = {0};
        for (size_t r = 0; r < rows; r++) {
            spread_add(&s, x[r * c->count + i]);
        }
        double sd = sqrt(s.squares / s.n);
        bool still = !(sd > 1e-12 * fabs(s.mean)); /* rounding */
        q->mean[i] = s.mean;
        c->sd[i] = still ? 0 : sd;
        low = still ? low : fmin(low, sd);
        high = still ? high : fmax(high, sd);
    }
    c->decades = high > 0 ? log10(high / low) : 0;
}

/* The least step between numbers of a column; sums of the same steps differ in their last digits.
 */
static double step_of(const scratch *q, size_t n)
{
    double least = INFINITY;
    qsort(q->sorted, n, sizeof *q->sorted, quantile_compare);
    double range = n > 0 ? q->sorted[n - 1] - q->sorted[0] : 0;
    for (size_t k = 1; k < n; k++) {
        double step = q->sorted[k] - q->sorted[k - 1];
        least = step > 1e-9 * range ? fmin(least, step) : least;
    }
    return isfinite(least) ? least : 0;
}

static void take_coarse(check_columns *c, const scratch *q, const double *x, size_t rows,
                        const design *free)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t n = 0;
        for (size_t r = 0; r < rows; r++) {
            if (free == NULL || !design_is_set(free, r, i)) {
                q->sorted[n++] = x[r * c->count + i];
            }
        }
        double step = step_of(q, n);
        c->coarse[i] = step * step / 12;
    }
}

static int compare_places(const void *a, const void *b)
{
    const place *one = a;
    const place *other = b;
    int by_place = (one->at > other->at) - (one->at < other->at);
    return by_place != 0 ? by_place : (one->column > other->column) - (one->column < other->column);
}

/* What a column does not share with another, as a part of its variance. */
static double apart(const check_columns *c, const scratch *q, const double *x, size_t rows,
                    size_t i, size_t j)
{
    double products = 0;
    for (size_t r = 0; r < rows; r++) {
        products += (x[r * c->count + i] - q->mean[i]) * (x[r * c->count + j] - q->mean[j]);
    }
    double r = products / ((double)rows * c->sd[i] * c->sd[j]);
    return 1 - r * r;
}

static void take_copies(const check_columns *c, const scratch *q, const double *x, size_t rows)
{
    size_t n = 0;
    const double limit = tuned_check_copy();
    rng_normals(stream_of(1, STREAM_COLUMNS), 0, rows, q->along);
    for (size_t i = 0; i < c->count; i++) {
        double sum = 0;
        c->copied[i] = i;
        for (size_t r = 0; r < rows && c->sd[i] > 0; r++) {
            sum += q->along[r] * (x[r * c->count + i] - q->mean[i]) / c->sd[i];
        }
        if (c->sd[i] > 0) {
            q->place[n++] = (place){fabs(sum), i};
        }
    }
    qsort(q->place, n, sizeof *q->place, compare_places);
    double near = 6 * sqrt((double)rows * limit); /* sds of how far copies can be apart */
    for (size_t k = 0; k < n; k++) {
        for (size_t l = k + 1; l < n && q->place[l].at - q->place[k].at <= near; l++) {
            size_t i = q->place[k].column;
            size_t j = q->place[l].column;
            size_t later = i > j ? i : j;
            size_t first = i > j ? j : i;
            if (c->copied[later] == later && apart(c, q, x, rows, i, j) < limit) {
                c->copied[later] = first;
            }
        }
    }
}

lscm_status check_columns_of(check_columns *out, const double *x, size_t rows, size_t count,
                             const design *free, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_columns c = {.count = count};
    scratch q = {.mean = NULL};
    lay_out(&c, &q, rows);
    TRY(arena_open(&c.memory, why));
    TRY(arena_open(&q.memory, why));
    lay_out(&c, &q, rows);
    take_spread(&c, &q, x, rows);
    take_coarse(&c, &q, x, rows, free);
    take_copies(&c, &q, x, rows);
    *out = c;
    c.memory = (arena){0};
done:
    arena_close(&q.memory);
    arena_close(&c.memory);
    return status;
}

void check_columns_close(check_columns *c)
{
    arena_close(&c->memory);
}
