#include "infer/sight/sight_reader.h"

#include "base/tuned.h"

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

void sight_put_right(const sight_reader *r, size_t node, double *z, double *sd)
{
    double variance = *sd * *sd;
    stretch_apply(r->stretch + node * STRETCH_SIDES * STRETCH_NUMBERS, z, &variance);
    *sd = sqrt(variance);
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
    for (size_t k = 0; k < entries && sd != NULL; k++) {
        sight_put_right(r, k % r->d, &z[k], &sd[k]);
    }
done:
    on->release(on, &t.memory);
    return status;
}

bool sight_unseen(const sight_reader *r, size_t node, double sd)
{
    double most = tuned_sight_unseen();
    return sd * sd > most * most * r->error[node];
}

/* z by every member, of whom it is asked. */
typedef struct members {
    const sight_reader *r;
    const design *by;
    const double *each;
} members;

static double disagreement_at(const members *m, size_t row, size_t j)
{
    double mean = 0;
    return disagreement(m->r->members, m->by->rows * m->r->d, row * m->r->d + j, m->each, &mean);
}

/* The middle D of rows in which node j is free. */
static double middle_of(const members *m, size_t j)
{
    double low = 0;
    double high = 0;
    size_t count = 0;
    for (size_t row = 0; row < m->by->rows; row++) {
        if (!design_is_set(m->by, row, j)) {
            high = fmax(high, disagreement_at(m, row, j));
            count++;
        }
    }
    for (int pass = 0; pass < 40 && count > 0; pass++) {
        double middle = pass < 20 ? sqrt(fmax(low, 1e-12 * high) * high) : (low + high) / 2;
        size_t below = 0;
        for (size_t row = 0; row < m->by->rows; row++) {
            bool is_free = !design_is_set(m->by, row, j);
            below += is_free && disagreement_at(m, row, j) <= middle ? 1 : 0;
        }
        *(2 * below < count ? &low : &high) = middle;
    }
    return high;
}

/* D from which members have nothing to go by, at first: what is twice most^2 as much as the middle
 * one is where D is chi2 (Wilson and Hilferty 1931); sd^2 is then about most^2 V. */
static double unseen_from(const members *m, size_t j)
{
    double k = (double)m->r->members - 1;
    double share = 1 - 2 / (9 * k);
    double most = tuned_sight_unseen();
    return 2 * most * most * middle_of(m, j) / (share * share * share);
}

/* T and r2 of node j. */
static double missed(const members *m, const uint8_t *held, size_t j, double most, double *r2)
{
    const sight_reader *r = m->r;
    double squares = 0;
    double seen = 0;
    double count = 0;
    size_t entries = m->by->rows * r->d;
    column_spread labels = {0};
    for (size_t k = 0; k < r->members; k++) {
        for (size_t row = 0; row < m->by->rows; row++) {
            size_t at = row * r->d + j;
            if (held[k * entries + at] != 0) {
                double off = m->each[k * entries + at] - design_value(m->by, row, j);
                bool counts = disagreement_at(m, row, j) <= most || !(most > 0);
                squares += off * off;
                seen += counts ? off * off : 0;
                count += counts ? 1 : 0;
                spread_add(&labels, design_value(m->by, row, j));
            }
        }
    }
    *r2 = labels.squares > 0 ? 1 - squares / labels.squares : (double)NAN;
    return count > 0 ? seen / count : (double)NAN;
}

void sight_errors(sight_reader *r, const design *by, const uint8_t *held, const double *each,
                  double *r2)
{
    const members m = {r, by, each};
    double M = (double)r->members;
    for (size_t j = 0; j < r->d; j++) {
        column_spread all = {0};
        column_spread D = {0};
        double most = unseen_from(&m, j);
        for (size_t row = 0; row < by->rows; row++) {
            if (!design_is_set(by, row, j)) {
                double own = disagreement_at(&m, row, j);
                spread_add(&all, own);
                if (own <= most) {
                    spread_add(&D, own);
                }
            }
        }
        double T = missed(&m, held, j, most, &r2[j]);
        double I = D.mean;
        double seen = I > 0 && all.n > 1 ? all.squares / all.n / (I * I) : 0; /* of D/I over rows */
        double chance = 2 / (M - 1);
        /* seen = t^2 + chance (1 + t^2) */
        double t2 = fmax(0, (seen - chance) / (1 + chance));
        r->error[j] = isnan(T) ? I : fmax(T - I * (1 - 1 / M), I / M);
        r->error[r->d + j] = I;
        r->error[2 * r->d + j] = t2 / (t2 + chance * (1 + t2));
    }
}
