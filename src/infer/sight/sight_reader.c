#include "infer/sight/sight_reader.h"

#include <math.h>

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

static void lay_out(reading *t, size_t workers, bool whole)
{
    size_t d = t->r->d;
    t->each =
        whole ? arena_take(&t->memory, t->r->members * t->count * d, sizeof(double)) : t->each;
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

void sight_put_right(const sight_reader *r, size_t entries, double *z, double *sd)
{
    for (size_t k = 0; k < entries; k++) {
        double variance = sd[k] * sd[k];
        stretch_apply(r->stretch + k % r->d * STRETCH_SIDES * STRETCH_NUMBERS, &z[k], &variance);
        sd[k] = sqrt(variance);
    }
}

lscm_status sight_read(const sight_reader *r, const device *on, size_t count, const float *x,
                       double *z, double *sd, double *each, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t workers = on->workers(on);
    size_t entries = count * r->d;
    reading t = {.r = r, .on = on, .count = count, .x = x, .each = each};
    lay_out(&t, workers, each == NULL);
    TRY(on->claim(on, &t.memory, why));
    lay_out(&t, workers, each == NULL);
    for (size_t w = 0; w < workers; w++) {
        picture_f32_ready(&r->eye, &t.desk[w]);
    }
    for (t.member = 0; t.member < r->members; t.member++) {
        on->each(on, workers, (count + TOGETHER - 1) / TOGETHER, read_some, &t);
    }
    if (z != NULL) {
        sight_settle(r, entries, t.each, z, sd);
    }
    if (sd != NULL) {
        sight_put_right(r, entries, z, sd);
    }
done:
    on->release(on, &t.memory);
    return status;
}

/* T and r2 of node j. */
static double missed(const sight_reader *r, const design *by, const uint8_t *held,
                     const double *each, size_t j, double *r2)
{
    double squares = 0;
    size_t entries = by->rows * r->d;
    column_spread labels = {0};
    for (size_t m = 0; m < r->members; m++) {
        for (size_t row = 0; row < by->rows; row++) {
            size_t k = row * r->d + j;
            if (held[m * entries + k] != 0) {
                double off = each[m * entries + k] - design_value(by, row, j);
                squares += off * off;
                spread_add(&labels, design_value(by, row, j));
            }
        }
    }
    *r2 = labels.squares > 0 ? 1 - squares / labels.squares : (double)NAN;
    return labels.n > 0 ? squares / labels.n : (double)NAN;
}

void sight_errors(sight_reader *r, const design *by, const uint8_t *held, const double *each,
                  double *r2)
{
    size_t entries = by->rows * r->d;
    double M = (double)r->members;
    for (size_t j = 0; j < r->d; j++) {
        column_spread D = {0};
        for (size_t row = 0; row < by->rows; row++) {
            double mean = 0;
            if (!design_is_set(by, row, j)) {
                spread_add(&D, disagreement(r->members, entries, row * r->d + j, each, &mean));
            }
        }
        double T = missed(r, by, held, each, j, &r2[j]);
        double I = D.mean;
        double seen = I > 0 && D.n > 1 ? D.squares / D.n / (I * I) : 0; /* of D/I over rows */
        double chance = 2 / (M - 1);
        /* seen = t^2 + chance (1 + t^2) */
        double t2 = fmax(0, (seen - chance) / (1 + chance));
        r->error[j] = fmax(isnan(T) ? I : T - I * (1 - 1 / M), I / M);
        r->error[r->d + j] = I;
        r->error[2 * r->d + j] = t2 / (t2 + chance * (1 + t2));
    }
}
