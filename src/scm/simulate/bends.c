#include "scm/simulate/bends.h"

#include "base/rng.h"
#include "base/streams.h"

#include <math.h>
#include <string.h>

typedef enum shape { TANH, SINE, VALLEY, BUMP } shape;

enum {
    SHAPES = BUMP + 1,
    NETWORK_UNITS = 8,
    PROCESS_UNITS = 128,
    CURVE_NUMBERS = 5, /* random numbers of a curve */
    CHUNK = 128,       /* rows at a time */
    REFERENCE = 512    /* rows over which mean and sd are made */
};

static const double PI = 3.14159265358979323846;
/* Length scale of a process in units u: 1.3 times the rms of the values. */
static const double LENGTH = 2.6;
/* Of curves, in units u: how steep they are at their place, and how far from 0 that is. */
static const double RATES[SHAPES][2] = {{0.8, 1.6}, {0.8, 1.6}, {0.4, 0.8}, {0.8, 1.6}};
static const double PLACE = 1.5;

/* The parents that a unit of node i is of: their number, and at which of the node's it begins. */
static size_t reads(const scm_bends *b, size_t i)
{
    return b->apart ? 1 : b->start[i + 1] - b->start[i];
}

static size_t reads_from(const scm_bends *b, size_t i, size_t unit)
{
    return b->start[i] + (b->apart ? unit : 0);
}

/* f (n) += out phi(a), a (n) */
static void add_shape(shape phi, size_t n, double out, const double *restrict a, double *restrict f)
{
    switch (phi) {
    case TANH:
        for (size_t r = 0; r < n; r++) {
            f[r] += out * tanh(a[r]);
        }
        break;
    case SINE:
        for (size_t r = 0; r < n; r++) {
            f[r] += out * sin(a[r]);
        }
        break;
    case VALLEY:
        for (size_t r = 0; r < n; r++) {
            f[r] += out * (sqrt(1 + a[r] * a[r]) - 1);
        }
        break;
    case BUMP:
        for (size_t r = 0; r < n; r++) {
            f[r] += out * exp(-a[r] * a[r] / 2);
        }
        break;
    }
}

/* sum over n of phi'(a) */
static double sum_slopes(shape phi, size_t n, const double *a)
{
    double sum = 0;
    switch (phi) {
    case TANH:
        for (size_t r = 0; r < n; r++) {
            double t = tanh(a[r]);
            sum += 1 - t * t;
        }
        break;
    case SINE:
        for (size_t r = 0; r < n; r++) {
            sum += cos(a[r]);
        }
        break;
    case VALLEY:
        for (size_t r = 0; r < n; r++) {
            sum += a[r] / sqrt(1 + a[r] * a[r]);
        }
        break;
    case BUMP:
        for (size_t r = 0; r < n; r++) {
            sum -= a[r] * exp(-a[r] * a[r] / 2);
        }
        break;
    }
    return sum;
}

/* a (count) = bias + sum_j in_j z_j of one unit; parent t has the rows z + column[t] * n. */
static void enter(const scm_bends *b, size_t i, size_t unit, const size_t *column, size_t n,
                  size_t count, const double *z, double *restrict a)
{
    size_t width = reads(b, i);
    const double *in = b->in + b->weights[i] + unit * width;
    for (size_t r = 0; r < count; r++) {
        a[r] = b->bias[b->units[i] + unit];
    }
    for (size_t t = 0; t < width; t++) {
        const double *restrict zj = z + column[t] * n;
        for (size_t r = 0; r < count; r++) {
            a[r] += in[t] * zj[r];
        }
    }
}

void scm_bends_add(const scm_bends *b, size_t i, size_t n, double *z)
{
    double a[CHUNK];
    size_t units = b->units[i + 1] - b->units[i];
    for (size_t first = 0; first < n; first += CHUNK) {
        size_t count = n - first < CHUNK ? n - first : CHUNK;
        double *f = z + i * n + first;
        for (size_t r = 0; r < count; r++) {
            f[r] += b->base[i];
        }
        for (size_t k = 0; k < units; k++) {
            enter(b, i, k, b->parents + reads_from(b, i, k), n, count, z + first, a);
            add_shape((shape)b->shape[b->units[i] + k], count, b->out[b->units[i] + k], a, f);
        }
    }
}

void scm_bends_slopes(const scm_bends *b, size_t i, size_t n, size_t rows, const double *z,
                      double *sum)
{
    double a[CHUNK];
    size_t width = reads(b, i);
    size_t units = b->units[i + 1] - b->units[i];
    for (size_t first = 0; first < rows; first += CHUNK) {
        size_t count = rows - first < CHUNK ? rows - first : CHUNK;
        for (size_t k = 0; k < units; k++) {
            size_t unit = b->units[i] + k;
            size_t from = reads_from(b, i, k);
            const double *in = b->in + b->weights[i] + k * width;
            enter(b, i, k, b->parents + from, n, count, z + first, a);
            double slope = b->out[unit] * sum_slopes((shape)b->shape[unit], count, a);
            for (size_t t = 0; t < width; t++) {
                sum[from + t] += in[t] * slope;
            }
        }
    }
}

/* ---- Drawing them -------------------------------------------------------------------------- */

static void draw_curve(scm_bends *b, size_t i, size_t k, double unit, rng r)
{
    uint64_t index = CURVE_NUMBERS * k;
    size_t at = b->units[i] + k;
    shape phi = (shape)rng_below(r, index, SHAPES);
    double rate = RATES[phi][0] + (RATES[phi][1] - RATES[phi][0]) * rng_uniform(r, index + 1);
    double place = PLACE * (2 * rng_uniform(r, index + 2) - 1);
    double size = 0.5 + 0.5 * rng_uniform(r, index + 3);
    b->shape[at] = (uint8_t)phi;
    b->bias[at] = -rate * place;
    b->out[at] = rng_below(r, index + 4, 2) == 0 ? size : -size;
    b->in[b->weights[i] + k] = rate / unit;
}

/* What enters a unit has the same spread however many parents there are, beyond two. */
static void draw_unit(scm_bends *b, size_t i, size_t k, double unit, bool process, rng r)
{
    size_t width = reads(b, i);
    uint64_t index = k * (width + 2);
    size_t at = b->units[i] + k;
    double spread = sqrt((process ? 2 / (LENGTH * LENGTH) : 1) / (width > 2 ? (double)width : 2));
    b->shape[at] = process ? SINE : TANH;
    b->bias[at] = process ? 2 * PI * rng_uniform(r, index) : rng_normal(r, index);
    b->out[at] = rng_normal(r, index + 1);
    for (size_t t = 0; t < width; t++) {
        b->in[b->weights[i] + k * width + t] = spread / unit * rng_normal(r, index + 2 + t);
    }
}

/* Of f (n): its mean; sd, over the count. */
static double mean_and_sd(size_t n, const double *f, double *sd)
{
    double mean = 0;
    double squares = 0;
    for (size_t r = 0; r < n; r++) {
        mean += f[r] / (double)n;
    }
    for (size_t r = 0; r < n; r++) {
        squares += (f[r] - mean) * (f[r] - mean) / (double)n;
    }
    *sd = sqrt(squares);
    return mean;
}

/* Scratch for the reference: parents uniform with an rms of 2u. */
typedef struct reference {
    double *z;      /* (most parents, REFERENCE) */
    size_t *column; /* (most parents): 0, 1, .. */
    double *f, *a;  /* (REFERENCE) */
} reference;

/* Units k .. stop - 1 of node i over the reference, into ref->f. */
static void apply_to_reference(const scm_bends *b, size_t i, size_t k, size_t stop,
                               const reference *ref)
{
    memset(ref->f, 0, REFERENCE * sizeof *ref->f);
    for (; k < stop; k++) {
        size_t at = b->units[i] + k;
        const size_t *column = ref->column + reads_from(b, i, k) - b->start[i];
        enter(b, i, k, column, REFERENCE, REFERENCE, ref->z, ref->a);
        add_shape((shape)b->shape[at], REFERENCE, b->out[at], ref->a, ref->f);
    }
}

/* Curves of one node first have the sd that was drawn for each, then all of it that of the node. */
static void standardise(scm_bends *b, size_t i, double sd, const reference *ref)
{
    double had = 0;
    double *out = b->out + b->units[i];
    size_t units = b->units[i + 1] - b->units[i];
    for (size_t k = 0; k < units && b->apart; k++) {
        double size = fabs(out[k]);
        apply_to_reference(b, i, k, k + 1, ref);
        (void)mean_and_sd(REFERENCE, ref->f, &had);
        out[k] *= size / had;
    }
    apply_to_reference(b, i, 0, units, ref);
    double mean = mean_and_sd(REFERENCE, ref->f, &had);
    for (size_t k = 0; k < units; k++) {
        out[k] *= sd / had;
    }
    b->base[i] = units > 0 ? -mean * sd / had : 0;
}

static size_t units_of(lscm_mechanism_law law, size_t parents)
{
    return parents == 0                         ? 0
           : law == LSCM_MECHANISM_LAW_ADDITIVE ? parents
           : law == LSCM_MECHANISM_LAW_NETWORK  ? NETWORK_UNITS
                                                : PROCESS_UNITS;
}

static size_t most_parents(const scm_bends *b, size_t d)
{
    size_t most = 0;
    for (size_t i = 0; i < d; i++) {
        most = b->start[i + 1] - b->start[i] > most ? b->start[i + 1] - b->start[i] : most;
    }
    return most;
}

static void lay_out(scm_bends *b, lscm_mechanism_law law, size_t d, reference *ref)
{
    arena *a = &b->memory;
    size_t units = 0;
    size_t weights = 0;
    size_t most = most_parents(b, d);
    b->base = arena_take(a, d, sizeof *b->base);
    b->units = arena_take(a, d + 1, sizeof *b->units);
    b->weights = arena_take(a, d + 1, sizeof *b->weights);
    for (size_t i = 0; i < d; i++) {
        size_t own = b->start[i + 1] - b->start[i];
        units += units_of(law, own);
        weights += units_of(law, own) * (b->apart ? 1 : own);
        if (b->units != NULL) {
            b->units[i + 1] = units;
            b->weights[i + 1] = weights;
        }
    }
    b->shape = arena_take(a, units, sizeof *b->shape);
    b->bias = arena_take(a, units, sizeof *b->bias);
    b->out = arena_take(a, units, sizeof *b->out);
    b->in = arena_take(a, weights, sizeof *b->in);
    ref->z = arena_take(a, most * REFERENCE, sizeof *ref->z);
    ref->column = arena_take(a, most, sizeof *ref->column);
    ref->f = arena_take(a, REFERENCE, sizeof *ref->f);
    ref->a = arena_take(a, REFERENCE, sizeof *ref->a);
    for (size_t t = 0; t < most && ref->column != NULL; t++) {
        ref->column[t] = t;
    }
}

lscm_status scm_bends_random(scm_bends *out, const lscm_simulation *settings, double unit, size_t d,
                             const size_t *start, const size_t *parents, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_mechanism_law law = settings->mechanism;
    uint64_t seed = (uint64_t)settings->seed;
    rng size = stream_of(seed, STREAM_MECHANISM_SIZE);
    reference ref;
    scm_bends b = {.apart = law == LSCM_MECHANISM_LAW_ADDITIVE, .start = start, .parents = parents};
    lay_out(&b, law, d, &ref);
    TRY(arena_open(&b.memory, why));
    lay_out(&b, law, d, &ref);
    size_t numbers = most_parents(&b, d) * REFERENCE;
    rng_uniforms(stream_of(seed, STREAM_REFERENCE), 0, numbers, ref.z);
    for (size_t k = 0; k < numbers; k++) {
        ref.z[k] = sqrt(12) * unit * (2 * ref.z[k] - 1);
    }
    for (size_t i = 0; i < d; i++) {
        rng r = stream_part(stream_of(seed, STREAM_MECHANISM), i);
        for (size_t k = 0; k < b.units[i + 1] - b.units[i]; k++) {
            if (b.apart) {
                draw_curve(&b, i, k, unit, r);
            } else {
                draw_unit(&b, i, k, unit, law == LSCM_MECHANISM_LAW_PROCESS, r);
            }
        }
        standardise(&b, i, unit * (1 + rng_uniform(size, i)), &ref);
    }
    *out = b;
done:
    return status;
}

void scm_bends_close(scm_bends *b)
{
    arena_close(&b->memory);
}
