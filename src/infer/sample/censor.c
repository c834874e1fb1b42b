#include "infer/sample/censor.h"

#include "base/node_name.h"
#include "base/truncated_normal.h"

#include <math.h>
#include <omp.h>

static void lay_out(censored *c, arena *a)
{
    size_t d = c->design->d;
    c->row = arena_take(a, c->hit, sizeof(size_t));
    c->first = arena_take(a, c->hit + 1, sizeof(size_t));
    c->node = arena_take(a, c->count, sizeof(size_t));
    c->high = arena_take(a, c->count, 1);
    c->bound = arena_take(a, d, sizeof(double));
    c->share = arena_take(a, 2 * d, sizeof(double));
    c->excess = arena_take(a, 2 * d, sizeof(double));
    c->residual = arena_take(a, (size_t)c->threads * d, sizeof(double));
}

static bool is_censored(double z, uint8_t target, double bound)
{
    return target == 0 && fabs(z) >= bound;
}

static bool is_unknown(const uint8_t *unknown, uint8_t target, size_t at)
{
    return target == 0 && unknown != NULL && unknown[at] != 0;
}

static void count(censored *c, const double *z, double clip, const double *tolerance,
                  const uint8_t *unknown)
{
    size_t d = c->design->d;
    for (size_t row = 0; row < c->design->rows; row++) {
        const uint8_t *target = design_targets(c->design, row);
        size_t before = c->count;
        for (size_t j = 0; j < d; j++) {
            size_t at = row * d + j;
            bool hidden = is_unknown(unknown, target[j], at) ||
                          is_censored(z[at], target[j], clip - tolerance[j]);
            c->count += hidden ? 1 : 0;
        }
        c->hit += c->count > before ? 1 : 0;
    }
}

/* The entries; share[] becomes how many there are, excess[] in how many rows each node is free. */
static void list(const censored *c, const double *z, const uint8_t *unknown)
{
    size_t d = c->design->d;
    size_t hit = 0;
    size_t n = 0;
    for (size_t row = 0; row < c->design->rows; row++) {
        const uint8_t *target = design_targets(c->design, row);
        size_t before = n;
        for (size_t j = 0; j < d; j++) {
            size_t at = row * d + j;
            if (is_unknown(unknown, target[j], at)) {
                c->node[n] = j;
                c->high[n++] = CENSOR_NEITHER;
                continue;
            }
            c->excess[j] += target[j] == 0 ? 1 : 0;
            if (is_censored(z[at], target[j], c->bound[j])) {
                c->node[n] = j;
                c->high[n] = z[at] > 0 ? 1 : 0;
                c->share[c->high[n] * d + j]++;
                n++;
            }
        }
        if (n > before) {
            c->row[hit] = row;
            c->first[++hit] = n;
        }
    }
}

/* P(normal > a) */
static double tail(double a)
{
    return 0.5 * erfc(a * sqrt(0.5));
}

static double tail_inverse(double p)
{
    double low = -38;
    double high = 38;
    for (int k = 0; k < 64; k++) {
        double middle = (low + high) / 2;
        *(tail(middle) > p ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* The mean beyond the bound of a normal variable with (bound - mean)/sd = a on this side and
 * (bound + mean)/sd = other on the other. */
static double mean_excess(double bound, double a, double other)
{
    /* their sum is 0 when everything is censored: then nothing says how far out it is */
    double sd = 2 * bound / fmax(a + other, 0.25);
    double hazard = exp(-a * a / 2) / sqrt(2 * acos(-1)) / tail(a);
    return fmin(sd * (hazard - a), 4 * bound);
}

static void find_excess(const censored *c)
{
    size_t d = c->design->d;
    for (size_t j = 0; j < d; j++) {
        double free_rows = c->excess[j];
        double a[2];
        for (size_t side = 0; side < 2; side++) {
            /* half a row more, so that none and all have a quantile too */
            a[side] = tail_inverse((c->share[side * d + j] + 0.5) / (free_rows + 1));
            c->share[side * d + j] /= fmax(free_rows, 1);
        }
        c->excess[j] = mean_excess(c->bound[j], a[0], a[1]);
        c->excess[d + j] = mean_excess(c->bound[j], a[1], a[0]);
    }
}

lscm_status censor_find(censored *out, const design *s, const double *z, double clip,
                        const double *tolerance, const uint8_t *unknown, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = s->d;
    char room[NODE_NAME_ROOM];
    *out = (censored){.design = s, .threads = omp_get_max_threads()};
    if (!(clip > 0 && clip <= 1e300)) {
        return fail(why, LSCM_USAGE, "clip: %g is not allowed; it must be a positive number", clip);
    }
    for (size_t j = 0; j < d; j++) {
        if (!(tolerance[j] >= 0 && tolerance[j] < clip)) {
            return fail(why, LSCM_VALUE,
                        "node %s: its causal variable is known to +-%g only, no better than the "
                        "clip at %g; fit without the clip",
                        name_of(s->names, j, room, sizeof room), tolerance[j], clip);
        }
    }
    count(out, z, clip, tolerance, unknown);
    lay_out(out, &out->memory);
    TRY(arena_open(&out->memory, why));
    lay_out(out, &out->memory);
    for (size_t j = 0; j < d; j++) {
        out->bound[j] = clip - tolerance[j];
    }
    list(out, z, unknown);
    find_excess(out);
done:
    if (status != LSCM_OK) {
        censor_close(out);
    }
    return status;
}

void censor_close(censored *c)
{
    arena_close(&c->memory);
    *c = (censored){0};
}

void censor_start(const censored *c, double *z)
{
    size_t d = c->design->d;
    for (size_t h = 0; h < c->hit; h++) {
        for (size_t n = c->first[h]; n < c->first[h + 1]; n++) {
            size_t j = c->node[n];
            double *at = &z[c->row[h] * d + j];
            if (c->high[n] == CENSOR_NEITHER) {
                *at = 0;
                continue;
            }
            double size = c->bound[j] + c->excess[c->high[n] * d + j];
            *at = c->high[n] != 0 ? size : -size;
        }
    }
}

/* What causes and set leave of the row z (d), of targets too. */
static void residuals(const censored *c, const mechanism_model *model, size_t row, const double *z,
                      double *e)
{
    size_t d = c->design->d;
    mechanism_residuals(model, z, e);
    for (size_t j = 0; j < d && c->own != NULL; j++) {
        e[j] -= c->own[design_batch(c->design, row) * d + j];
    }
}

/* Draws entry n, of the row z (d) with its targets and residuals e. */
static void draw_entry(const censored *c, const mechanism_model *model, const uint8_t *target,
                       size_t n, rng r, uint64_t index, double *z, double *e)
{
    size_t d = c->design->d;
    size_t j = c->node[n];
    const double *w = model->w + j * d;
    double precision = 1 / (model->sigma[j] * model->sigma[j]);
    double pull = -e[j] * precision;
    for (size_t k = 0; k < d; k++) {
        if (w[k] != 0 && target[k] == 0) {
            double ratio = w[k] / (model->sigma[k] * model->sigma[k]);
            precision += w[k] * ratio;
            pull += e[k] * ratio;
        }
    }
    double mean = z[j] + pull / precision;
    double sd = 1 / sqrt(precision);
    double next = c->high[n] == CENSOR_NEITHER ? mean + sd * rng_normal(r, index)
                  : c->high[n] != 0 ? truncated_normal_above(mean, sd, c->bound[j], r, index)
                                    : truncated_normal_below(mean, sd, -c->bound[j], r, index);
    double step = next - z[j];
    z[j] = next;
    e[j] += step;
    for (size_t k = 0; k < d; k++) {
        e[k] -= w[k] * step;
    }
}

void censor_draw(const censored *c, const mechanism_model *model, size_t sweeps, rng r,
                 uint64_t sweep, double *z)
{
    size_t d = c->design->d;
#pragma omp parallel num_threads(c->threads)
    {
        double *e = c->residual + (size_t)omp_get_thread_num() * d;
#pragma omp for schedule(static)
        for (size_t h = 0; h < c->hit; h++) {
            size_t at = c->row[h] * d;
            const uint8_t *target = design_targets(c->design, c->row[h]);
            residuals(c, model, c->row[h], z + at, e); /* those of targets are never used */
            for (size_t s = 0; s < sweeps; s++) {
                for (size_t n = c->first[h]; n < c->first[h + 1]; n++) {
                    uint64_t index = (sweep + s) * c->count + n;
                    draw_entry(c, model, target, n, r, index, z + at, e);
                }
            }
        }
    }
}

static const double HALF_LOG_2PI = 0.9189385332046727;

/* log of the share of a standard normal beyond x; far out by the first term of its tail. */
static double log_beyond(double x)
{
    const double FAR = 30;
    return x < FAR ? log(erfc(x * sqrt(0.5)) / 2) : -x * x / 2 - log(x) - HALF_LOG_2PI;
}

/* Of row z (d) with its residuals e; n: its first censored entry, advanced past its last. */
static double fit_of_row(const censored *c, const mechanism_model *model, const uint8_t *target,
                         const double *z, const double *e, size_t *n, size_t end)
{
    double total = 0;
    for (size_t j = 0; j < c->design->d; j++) {
        bool hidden = *n < end && c->node[*n] == j;
        double sd = model->sigma[j];
        if (hidden) {
            double mean = z[j] - e[j];
            double side = c->high[*n] != 0 ? 1 : -1;
            bool nothing = c->high[*n] == CENSOR_NEITHER;
            total += nothing ? 0 : log_beyond((c->bound[j] - side * mean) / sd);
            (*n)++;
        } else if (target[j] == 0) {
            total -= e[j] * e[j] / (2 * sd * sd) + log(sd) + HALF_LOG_2PI;
        }
    }
    return total;
}

double censor_fit(const censored *c, const mechanism_model *model, const double *z)
{
    size_t d = c->design->d;
    size_t n = 0;
    double total = 0;
    for (size_t row = 0, h = 0; row < c->design->rows; row++) {
        size_t end = h < c->hit && c->row[h] == row ? c->first[++h] : n;
        residuals(c, model, row, z + row * d, c->residual);
        total +=
            fit_of_row(c, model, design_targets(c->design, row), z + row * d, c->residual, &n, end);
    }
    return total;
}
