#include "infer/sight/sight_reader.h"

#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>

enum { TOGETHER = 16 };

typedef struct reading {
    const sight_reader *r;
    const device *on;
    size_t count, member;
    const float *x;
    double *each;           /* (members, count, d) */
    picture_work_f32 *desk; /* (workers) */
    arena memory;
} reading;

static void lay_out(reading *t, size_t workers)
{
    t->desk = arena_take(&t->memory, workers, sizeof *t->desk);
    for (size_t w = 0; w < workers; w++) {
        picture_work_f32 nowhere;
        picture_f32_lay_out(t->desk != NULL ? &t->desk[w] : &nowhere, &t->memory, &t->r->eye);
    }
}

static void read_some(void *self, size_t job, size_t worker)
{
    const reading *t = self;
    const sight_reader *r = t->r;
    const picture_work_f32 *at = &t->desk[worker];
    size_t end = (job + 1) * TOGETHER < t->count ? (job + 1) * TOGETHER : t->count;
    const float *parameters = r->parameters + t->member * picture_count(&r->eye);
    for (size_t k = job * TOGETHER; k < end; k++) {
        double *z = t->each + (t->member * t->count + k) * r->d;
        picture_f32_show(&r->eye, at, t->x + k * sight_pixels(r));
        picture_f32_forward(&r->eye, t->on, parameters, at);
        for (size_t j = 0; j < r->d; j++) {
            size_t unit = t->member * r->d + j;
            z[j] = r->offset[unit] + r->spread[unit] * (double)at->z[j];
        }
    }
}

/* Variance among members of entry k, and their mean. */
static double disagreement(size_t members, size_t entries, size_t k, const double *each,
                           double *mean)
{
    double sum = 0;
    double squares = 0;
    for (size_t m = 0; m < members; m++) {
        sum += each[m * entries + k] / (double)members;
    }
    for (size_t m = 0; m < members; m++) {
        double off = each[m * entries + k] - sum;
        squares += off * off;
    }
    *mean = sum;
    return squares / (double)(members - 1);
}

void sight_settle(const sight_reader *r, size_t entries, const double *each, double *z, double *sd)
{
    for (size_t k = 0; k < entries; k++) {
        double D = disagreement(r->members, entries, k, each, &z[k]);
        if (sd != NULL) {
            const double *V = r->error + k % r->d;
            double own = V[2 * r->d] * (D / V[r->d] - 1);
            sd[k] = sqrt(V[0] * (1 + (V[r->d] > 0 ? own : 0)));
        }
    }
}

void sight_put_right(const sight_reader *r, size_t node, double *z, double *sd)
{
    double variance = *sd * *sd;
    stretch_apply(r->stretch + node * STRETCH_SIDES * STRETCH_NUMBERS, z, &variance);
    *sd = sqrt(variance);
}

/* All of them, here. */
static lscm_status read_here(reading *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const device *on = t->on;
    size_t workers = on->workers(on);
    lay_out(t, workers);
    TRY(on->claim(on, &t->memory, why));
    lay_out(t, workers);
    for (size_t w = 0; w < workers; w++) {
        picture_f32_ready(&t->r->eye, &t->desk[w]);
    }
    for (t->member = 0; t->member < t->r->members; t->member++) {
        on->each(on, workers, (t->count + TOGETHER - 1) / TOGETHER, read_some, t);
    }
done:
    on->release(on, &t->memory);
    return status;
}

/* By a device that takes pictures. */
static lscm_status read_there(const reading *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const sight_reader *r = t->r;
    const picture_machine *m = t->on->pictures;
    size_t entries = t->count * r->d;
    picture_eyes *eyes = NULL;
    float *u = malloc(r->members * entries * sizeof *u);
    if (u == NULL) {
        return fail_memory(why, r->members * entries * sizeof *u);
    }
    TRY(m->look(&eyes, t->on, &r->eye, r->members, r->parameters, why));
    TRY(m->read(eyes, t->count, t->x, u, why));
    for (size_t k = 0; k < r->members * entries; k++) {
        size_t unit = k / entries * r->d + k % r->d;
        t->each[k] = r->offset[unit] + r->spread[unit] * (double)u[k];
    }
done:
    m->rest(eyes);
    free(u);
    return status;
}

lscm_status sight_read(const sight_reader *r, const device *on, size_t count, const float *x,
                       double *z, double *sd, double *each, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t entries = count * r->d;
    double *own = each == NULL ? malloc(r->members * entries * sizeof *own + 1) : NULL;
    reading t = {.r = r, .on = on, .count = count, .x = x};
    t.each = each != NULL ? each : own;
    if (t.each == NULL) {
        return fail_memory(why, r->members * entries * sizeof *own);
    }
    TRY(on->pictures != NULL ? read_there(&t, why) : read_here(&t, why));
    if (z != NULL) {
        sight_settle(r, entries, t.each, z, sd);
    }
    for (size_t k = 0; k < entries && sd != NULL; k++) {
        sight_put_right(r, k % r->d, &z[k], &sd[k]);
    }
done:
    free(own);
    return status;
}

bool sight_unseen(const sight_reader *r, size_t node, double sd)
{
    double most = tuned_sight_unseen();
    return sd * sd > most * most * r->error[node];
}

/* Squares of one node that are asked for again and again: D where it is free; or errors of labels
 * held out. */
typedef struct squares {
    const sight_reader *r;
    const design *by;
    const double *each;  /* (members, rows, d) */
    const uint8_t *held; /* (members, rows, d); NULL: D */
    size_t node;
} squares;

static size_t squares_count(const squares *q)
{
    return q->held != NULL ? q->r->members * q->by->rows : q->by->rows;
}

/* Number k, or a negative one where it does not count. */
static double square_at(const squares *q, size_t k)
{
    size_t row = k % q->by->rows;
    size_t entries = q->by->rows * q->r->d;
    size_t at = row * q->r->d + q->node;
    double mean = 0;
    if (q->held == NULL) {
        bool is_free = !design_is_set(q->by, row, q->node);
        return is_free ? disagreement(q->r->members, entries, at, q->each, &mean) : -1;
    }
    at += k / q->by->rows * entries;
    double off = q->each[at] - design_value(q->by, row, q->node);
    return q->held[at] != 0 ? off * off : -1;
}

/* The middle one. */
static double middle_of(const squares *q)
{
    enum { PASSES = 40 };
    double low = 0;
    double high = 0;
    size_t count = 0;
    for (size_t k = 0; k < squares_count(q); k++) {
        double square = square_at(q, k);
        high = fmax(high, square);
        count += square >= 0 ? 1 : 0;
    }
    for (size_t pass = 0; pass < PASSES && count > 0; pass++) {
        double middle = pass < PASSES / 2 ? sqrt(fmax(low, 1e-12 * high) * high) : (low + high) / 2;
        size_t below = 0;
        for (size_t k = 0; k < squares_count(q); k++) {
            double square = square_at(q, k);
            below += square >= 0 && square <= middle ? 1 : 0;
        }
        *(2 * below < count ? &low : &high) = middle;
    }
    return high;
}

/* The mean of those that members have something to go by for: what is no more than 2 most^2 times
 * it, which makes an sd of most sqrt(V), as D is believed to about a half. From the middle one on:
 * that of chi2 with `freedom` degrees is at freedom (1 - 2/(9 freedom))^3 (Wilson and Hilferty
 * 1931). NAN without any. */
static double usual_of(const squares *q, double freedom)
{
    enum { PASSES = 20 };
    double share = 1 - 2 / (9 * freedom);
    double most = tuned_sight_unseen();
    double mean = middle_of(q) / (share * share * share);
    for (size_t pass = 0; pass < PASSES; pass++) {
        column_spread usual = {0};
        for (size_t k = 0; k < squares_count(q); k++) {
            double square = square_at(q, k);
            if (square >= 0 && square <= 2 * most * most * mean) {
                spread_add(&usual, square);
            }
        }
        if (usual.n == 0 || !(usual.mean > mean)) {
            return usual.n > 0 ? usual.mean : (double)NAN;
        }
        mean = usual.mean;
    }
    return mean;
}

static double r2_of(const squares *q)
{
    double missed = 0;
    column_spread labels = {0};
    for (size_t k = 0; k < squares_count(q); k++) {
        double square = square_at(q, k);
        if (square >= 0) {
            missed += square;
            spread_add(&labels, design_value(q->by, k % q->by->rows, q->node));
        }
    }
    return labels.squares > 0 ? 1 - missed / labels.squares : (double)NAN;
}

void sight_errors(sight_reader *r, const design *by, const uint8_t *held, const double *each,
                  double *r2)
{
    double M = (double)r->members;
    for (size_t j = 0; j < r->d; j++) {
        const squares among = {r, by, each, NULL, j};
        const squares labels = {r, by, each, held, j};
        column_spread all = {0};
        double T = usual_of(&labels, 1);
        double I = usual_of(&among, M - 1);
        for (size_t row = 0; row < by->rows; row++) {
            double D = square_at(&among, row);
            if (D >= 0) {
                spread_add(&all, D);
            }
        }
        double seen = I > 0 && all.n > 1 ? all.squares / all.n / (I * I) : 0; /* of D/I over rows */
        double chance = 2 / (M - 1);
        /* seen = t^2 + chance (1 + t^2) */
        double t2 = fmax(0, (seen - chance) / (1 + chance));
        I = isnan(I) ? 0 : I;
        r->error[j] = isnan(T) ? I : fmax(T - I * (1 - 1 / M), I / M);
        r->error[r->d + j] = I;
        r->error[2 * r->d + j] = t2 / (t2 + chance * (1 + t2));
        r2[j] = r2_of(&labels);
    }
}
