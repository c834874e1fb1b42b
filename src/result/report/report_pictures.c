/* For pictures, what would be seen under do(): the mean picture over draws and noise for each node
 * set to five values, evenly from the 5% to the 95% quantile of its z, and how it differs from the
 * mean picture without intervention. Large pictures are made smaller by averaging; a decoder of
 * positions, which takes its time for every pixel, makes small ones, and no more than PIXELS
 * allows.
 */
#include "base/quantile.h"
#include "data/picture/picture.h"
#include "result/report/report_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 5, MOST_NODES = 12, SAMPLES = 128, MOST_SIDE = 96 };
enum { LEAST_SAMPLES = 8, PLACED_SIDE = 64, PIXELS = 1 << 21 }; /* of positions, in all pictures */

typedef struct album {
    size_t height, width, channels, pixels; /* of what is shown; pixels = height * width */
    size_t factor;                          /* by which pictures are made smaller */
    size_t high, wide;                      /* of those that are sampled */
    bool sized;                             /* which is another size than the run's */
    size_t rows;                            /* that a mean is of */
    size_t nodes;
    double *x;         /* (rows, high, wide, channels) */
    double *none;      /* (pixels, channels): without intervention */
    double *shown;     /* (nodes, VALUES, pixels, channels) */
    double *value;     /* (nodes, VALUES): what do() sets */
    double *z;         /* (rows) */
    uint16_t *samples; /* (pixels, 3) */
    double low, most;  /* black and white */
    double change;     /* full colour */
    arena memory;
} album;

bool has_pictures(const report *r)
{
    const lscm_posterior *p = r->p;
    return (p->x_ndim == 3 || (p->x_ndim == 4 && (p->x_dims[2] == 1 || p->x_dims[2] == 3))) &&
           p->rows > 0;
}

static void lay_out(album *a, const report *r)
{
    size_t size = a->pixels * a->channels;
    a->x = arena_take(&a->memory, a->rows, a->high * a->wide * a->channels * sizeof *a->x);
    a->none = arena_take(&a->memory, size, sizeof *a->none);
    a->shown = arena_take(&a->memory, a->nodes * VALUES, size * sizeof *a->shown);
    a->value = arena_take(&a->memory, a->nodes * VALUES, sizeof *a->value);
    a->z = arena_take(&a->memory, r->p->rows, sizeof *a->z);
    a->samples = arena_take(&a->memory, a->pixels * 3, sizeof *a->samples);
}

/* A side of a small picture of positions. */
static size_t smaller(size_t side, size_t longest)
{
    size_t small = side * PLACED_SIDE / longest;
    return small < LSCM_LEAST_SIDE ? LSCM_LEAST_SIDE : small;
}

static void measure(album *a, const report *r)
{
    bool placed = r->p->decode.kind == DECODER_POSITIONS;
    a->high = r->p->x_dims[0];
    a->wide = r->p->x_dims[1];
    size_t side = a->high > a->wide ? a->high : a->wide;
    if (placed && side > PLACED_SIDE) {
        a->sized = true;
        a->high = smaller(a->high, side);
        a->wide = smaller(a->wide, side);
        side = PLACED_SIDE;
    }
    a->factor = (side + MOST_SIDE - 1) / MOST_SIDE;
    a->channels = r->p->x_ndim == 4 ? r->p->x_dims[2] : 1;
    a->height = (a->high + a->factor - 1) / a->factor;
    a->width = (a->wide + a->factor - 1) / a->factor;
    a->pixels = a->height * a->width;
    a->nodes = r->d < MOST_NODES ? r->d : MOST_NODES;
    size_t rows = PIXELS / (a->pixels * (a->nodes * VALUES + 1));
    rows = rows < LEAST_SAMPLES ? LEAST_SAMPLES : rows;
    a->rows = placed && rows < SAMPLES ? rows : SAMPLES;
}

/* The mean of the pictures in album.x, made smaller. */
static void average(const album *a, double *out)
{
    size_t line = a->wide * a->channels;
    size_t D = a->high * line;
    double *mean = a->x; /* the first picture becomes their sum */
    for (size_t k = 1; k < a->rows; k++) {
        for (size_t i = 0; i < D; i++) {
            mean[i] += a->x[k * D + i];
        }
    }
    for (size_t k = 0; k < a->pixels * a->channels; k++) {
        size_t top = k / a->channels / a->width * a->factor;
        size_t left = k / a->channels % a->width * a->factor;
        size_t count = 0;
        double sum = 0;
        for (size_t y = top; y < top + a->factor && y < a->high; y++) {
            for (size_t x = left; x < left + a->factor && x < a->wide; x++) {
                sum += mean[y * line + x * a->channels + k % a->channels];
                count++;
            }
        }
        out[k] = sum / (double)(count * a->rows);
    }
}

/* `node` SIZE_MAX: no intervention. */
static lscm_status imagine(const album *a, const report *r, size_t node, double value, double *out,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *seen = NULL;
    uint8_t *targets = calloc(r->d, sizeof *targets);
    double *values = calloc(r->d, sizeof *values);
    if (targets == NULL || values == NULL) {
        status = fail_memory(why, r->d * (sizeof *targets + sizeof *values));
        goto done;
    }
    if (node < r->d) {
        targets[node] = 1;
        values[node] = value;
    }
    if (a->sized) {
        TRY(lscm_posterior_sample_sized(&seen, r->p, targets, values, a->rows, a->high, a->wide, 0,
                                        why));
    } else {
        TRY(lscm_posterior_sample(&seen, r->p, targets, values, a->rows, 0, why));
    }
    TRY(lscm_dataset_read(seen, LSCM_X, 0, a->rows, a->x, why));
    average(a, out);
done:
    lscm_dataset_free(seen);
    free(targets);
    free(values);
    return status;
}

/* Rounded to two digits of the range, so that captions are short. */
static void choose_values(const album *a, const report *r, size_t k)
{
    size_t node = r->order[k];
    for (size_t row = 0; row < r->p->rows; row++) {
        a->z[row] = r->p->z[row * r->d + node];
    }
    qsort(a->z, r->p->rows, sizeof *a->z, quantile_compare);
    double low = quantile_of_sorted(a->z, r->p->rows, 0.05);
    double high = quantile_of_sorted(a->z, r->p->rows, 0.95);
    double unit = high > low ? pow(10, floor(log10(high - low)) - 1) : 1;
    for (size_t i = 0; i < VALUES; i++) {
        double value = low + (high - low) * (double)i / (VALUES - 1);
        a->value[k * VALUES + i] = unit * round(value / unit);
    }
}

/* Light in [0, 1] is shown as it is, up to what decoders overshoot by; else from least to most. */
static void find_range(album *a)
{
    size_t size = a->pixels * a->channels;
    a->low = INFINITY;
    a->most = -INFINITY;
    for (size_t k = 0; k < size * a->nodes * VALUES; k++) {
        a->low = fmin(a->low, a->shown[k]);
        a->most = fmax(a->most, a->shown[k]);
        a->change = fmax(a->change, fabs(a->shown[k] - a->none[k % size]));
    }
    if (a->low > -DECODED_BEYOND && a->most < 1 + DECODED_BEYOND) {
        a->low = 0;
        a->most = 1;
    }
    a->most = a->most > a->low ? a->most : a->low + 1;
}

/* ---- As HTML ---- */

static uint16_t sample_of(double share)
{
    double bounded = share > 0 ? fmin(share, 1) : 0;
    return (uint16_t)(257 * lround(255 * bounded));
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < count; k += 3) {
        uint32_t three = (uint32_t)bytes[k] << 16 |
                         (k + 1 < count ? (uint32_t)bytes[k + 1] : 0) << 8 |
                         (k + 2 < count ? (uint32_t)bytes[k + 2] : 0);
        (void)fputc(digits[three >> 18], out);
        (void)fputc(digits[three >> 12 & 63], out);
        (void)fputc(k + 1 < count ? digits[three >> 6 & 63] : '=', out);
        (void)fputc(k + 2 < count ? digits[three & 63] : '=', out);
    }
}

/* album.samples as an image; the caller writes its alternative text and the end of the tag. */
static lscm_status put_image(const report *r, const album *a, size_t channels, const char *class,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    if (file == NULL) {
        return fail_memory(why, a->pixels);
    }
    status = png_picture_put(file, "drawing the pictures of the report",
                             (png_size){a->height, a->width, channels}, a->samples, why);
    if (fclose(file) != 0 && status == LSCM_OK) {
        status = fail_memory(why, size);
    }
    if (status == LSCM_OK) {
        (void)fprintf(r->out,
                      "<img class=\"%s\" width=\"%zu\" height=\"%zu\" "
                      "src=\"data:image/png;base64,",
                      class, a->width, a->height);
        put_base64(r->out, (const unsigned char *)bytes, size);
        (void)fputs("\" alt=\"", r->out);
    }
    free(bytes);
    return status;
}

static lscm_status put_seen(const report *r, const album *a, const double *picture, lscm_error *why)
{
    for (size_t k = 0; k < a->pixels * a->channels; k++) {
        a->samples[k] = sample_of((picture[k] - a->low) / (a->most - a->low));
    }
    return put_image(r, a, a->channels, "seen", why);
}

/* Blue where there is more, orange where there is less, white where nothing changes. */
static lscm_status put_change(const report *r, const album *a, const double *picture,
                              lscm_error *why)
{
    static const double more[3] = {0, 105.0 / 255, 166.0 / 255};
    static const double less[3] = {176.0 / 255, 74.0 / 255, 0};
    for (size_t k = 0; k < a->pixels; k++) {
        double change = 0;
        for (size_t i = 0; i < a->channels; i++) {
            size_t at_sample = k * a->channels + i;
            change += (picture[at_sample] - a->none[at_sample]) / (double)a->channels;
        }
        double share = a->change > 0 ? fabs(change) / a->change : 0;
        for (size_t i = 0; i < 3; i++) {
            a->samples[3 * k + i] = sample_of(1 - share * (1 - (change > 0 ? more[i] : less[i])));
        }
    }
    return put_image(r, a, 3, "change", why);
}

static void put_do(const report *r, size_t node, double value)
{
    put_node(r, node);
    (void)fprintf(r->out, " = %s", round_number(value).text);
}

static lscm_status put_node_strip(const report *r, const album *a, size_t k, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t node = r->order[k];
    (void)fputs("<div>\n<h3>do(", r->out);
    put_node(r, node);
    (void)fputs(" = \xe2\x80\xa6)</h3>\n<div class=\"strip\">\n", r->out);
    for (size_t i = 0; i < VALUES; i++) {
        size_t which = k * VALUES + i;
        const double *picture = a->shown + which * a->pixels * a->channels;
        (void)fputs("<figure>", r->out);
        TRY(put_seen(r, a, picture, why));
        (void)fputs("mean picture with ", r->out);
        put_do(r, node, a->value[which]);
        (void)fputs("\" />", r->out);
        TRY(put_change(r, a, picture, why));
        (void)fprintf(r->out, "what that changes\" /><figcaption>%s</figcaption></figure>\n",
                      round_number(a->value[which]).text);
    }
    (void)fputs("</div>\n</div>\n", r->out);
done:
    return status;
}

static lscm_status put_section(const report *r, const album *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    section_open(r->out, "pictures", "What would be seen");
    (void)fprintf(r->out,
                  "<p>The mean picture when one variable is set, from low to high, and everything "
                  "it causes follows. Below each, the change against no intervention: blue is "
                  "brighter, orange darker, plain the same.</p>\n");
    if (a->nodes < r->d) {
        (void)fprintf(r->out,
                      "<p class=\"soft\">Shown are the first %zu of %zu variables in the "
                      "causal order; <code>lscm sample RUN --do</code> makes any other."
                      "</p>\n",
                      a->nodes, r->d);
    }
    (void)fputs("<div class=\"strip\">\n<figure style=\"min-width:6.6rem\">", r->out);
    TRY(put_seen(r, a, a->none, why));
    (void)fputs("mean picture without intervention\" /><figcaption>no "
                "intervention</figcaption></figure>\n</div>\n",
                r->out);
    (void)fputs("<div class=\"shots\">\n", r->out);
    for (size_t k = 0; k < a->nodes; k++) {
        TRY(put_node_strip(r, a, k, why));
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
done:
    return status;
}

lscm_status report_pictures(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    album a = {0};
    if (!has_pictures(r)) {
        return LSCM_OK;
    }
    measure(&a, r);
    lay_out(&a, r);
    TRY(arena_open(&a.memory, why));
    lay_out(&a, r);
    TRY(imagine(&a, r, SIZE_MAX, 0, a.none, why));
    for (size_t k = 0; k < a.nodes; k++) {
        choose_values(&a, r, k);
        for (size_t i = 0; i < VALUES; i++) {
            size_t which = k * VALUES + i;
            TRY(imagine(&a, r, r->order[k], a.value[which], a.shown + which * a.pixels * a.channels,
                        why));
        }
    }
    find_range(&a);
    TRY(put_section(r, &a, why));
done:
    arena_close(&a.memory);
    return status;
}
