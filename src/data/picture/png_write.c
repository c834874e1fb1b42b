/* A sheet of pictures: up to 64 rows of x, spread evenly from the first to the last, in 8 columns
 * with 8 white pixels between them; each pixel of a picture becomes scale x scale, so that a
 * picture is about 80 pixels wide.
 *
 *     uint8: as it is;  else round(255 v) if all v shown lie in [0, 1];  else
 *     round(255 (v - min) / (max - min)) over all pictures shown
 *
 * where pictures of a decoder that are a little beyond [0, 1] count as in it.
 *
 * Under each picture stands which row it is and what was set there (caption.h), where the data say
 * what was set and the pictures are wide enough for it.
 *
 * Memory: the 8 pictures of one line of the sheet, as bytes.
 */
#include "data/picture/caption.h"
#include "data/picture/picture.h"
#include "data/picture/png_stream.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PICTURES = 64,
    ACROSS = 8,
    GAP = 8,
    WHITE = 255,
    WISHED_WIDTH = 80,
    MOST_NUMBERS = 1 << 23, /* in a picture */
    MOST_PIXELS = 1000000,  /* libpng's own limit for a side */
    LEAST_LETTERS = 10,     /* in a line of a caption */
    CAPTION_GAP = 3,        /* between a picture and its caption */
    INK = 60,
};

typedef struct sheet {
    const lscm_dataset *data;
    meter *m;
    dtype type;
    size_t height, width, channels; /* of a picture */
    size_t numbers;                 /* height * width * channels */
    size_t pictures, across, down;
    size_t scale;
    size_t caption_high;             /* pixels under each picture; 0: without captions */
    size_t pixels_wide, pixels_high; /* of the sheet */
    double least, most;              /* shown as black and as white */
    void *raw;                       /* (numbers) as stored */
    double *values;                  /* (width * channels) */
    uint8_t *bytes;                  /* (across, numbers) */
    uint8_t *line;                   /* (pixels_wide * channels) */
    caption *captions;               /* (pictures) */
    png_stream out;
} sheet;

/* The row of the data that is picture i of the sheet. */
static size_t row_of(const sheet *s, size_t i)
{
    size_t last = s->data->shape[LSCM_X].dims[0] - 1;
    return s->pictures > 1 ? i * last / (s->pictures - 1) : 0;
}

/* All captions have the lines of the longest. */
static lscm_status write_captions(sheet *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t letters = (s->width * s->scale + 1) / CAPTION_LETTER;
    size_t lines = 0;
    if (!s->data->shape[LSCM_TARGETS].present || letters < LEAST_LETTERS) {
        return LSCM_OK;
    }
    s->captions = calloc(s->pictures, sizeof *s->captions);
    if (s->captions == NULL) {
        return fail_memory(why, s->pictures * sizeof *s->captions);
    }
    for (size_t i = 0; i < s->pictures; i++) {
        TRY(caption_of(s->data, row_of(s, i), letters, &s->captions[i], why));
        lines = s->captions[i].lines > lines ? s->captions[i].lines : lines;
    }
    s->caption_high = lines > 0 ? CAPTION_GAP + lines * CAPTION_LINE : 0;
done:
    return status;
}

static lscm_status lay_out(sheet *s, lscm_error *why)
{
    const array_shape *x = &s->data->shape[LSCM_X];
    if (!x->present || x->ndim < 3) {
        return fail(why, LSCM_SHAPE,
                    "%s: x of %s holds no pictures; a PNG needs x of N x H x W or N x H x W x 3",
                    s->m->what, s->data->path);
    }
    s->type = x->type;
    s->height = x->dims[1];
    s->width = x->dims[2];
    s->channels = x->ndim == 4 ? x->dims[3] : 1;
    if (s->channels != 1 && s->channels != 3) {
        return fail(why, LSCM_SHAPE,
                    "%s: pictures have %zu channels; a PNG can show 1 (grey) or 3 (red, green, "
                    "blue)",
                    s->m->what, s->channels);
    }
    s->numbers = shape_row_bytes(x) / dtype_size(x->type);
    s->scale = (WISHED_WIDTH + s->width / 2) / s->width;
    s->scale = s->scale > 0 ? s->scale : 1;
    s->pictures = x->dims[0] < MOST_PICTURES ? x->dims[0] : MOST_PICTURES;
    s->across = s->pictures < ACROSS ? s->pictures : ACROSS;
    s->down = (s->pictures + s->across - 1) / s->across;
    if (s->numbers > MOST_NUMBERS || s->height * s->scale > MOST_PIXELS / ACROSS - GAP ||
        s->width * s->scale > MOST_PIXELS / ACROSS - GAP) {
        return fail(why, LSCM_SHAPE, "%s: pictures of %zu x %zu pixels are too large for a sheet",
                    s->m->what, s->height, s->width);
    }
    lscm_status status = write_captions(s, why);
    if (status != LSCM_OK) {
        return status;
    }
    s->pixels_wide = s->across * (s->width * s->scale + GAP) - GAP;
    s->pixels_high = s->down * (s->height * s->scale + s->caption_high + GAP) - GAP;
    s->raw = malloc(s->numbers * dtype_size(s->type));
    s->values = malloc(s->width * s->channels * sizeof *s->values);
    s->bytes = malloc(s->across * s->numbers);
    s->line = malloc(s->pixels_wide * s->channels);
    if (s->raw == NULL || s->values == NULL || s->bytes == NULL || s->line == NULL) {
        return fail_memory(why, (s->across + 8) * s->numbers);
    }
    return LSCM_OK;
}

/* Picture i of the sheet into `raw`, checked. */
static lscm_status read_picture(sheet *s, size_t i, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t row = row_of(s, i);
    TRY(dataset_read_raw(s->data, LSCM_X, row, 1, s->raw, why));
    TRY(dataset_check_rows(s->data, LSCM_X, row, 1, s->raw, false, why));
    TRY(meter_add(s->m, s->numbers * dtype_size(s->type), why));
done:
    return status;
}

/* Line y of the picture in `raw` as doubles in `values`. */
static void line_values(sheet *s, size_t y)
{
    size_t count = s->width * s->channels;
    const char *from = (const char *)s->raw + y * count * dtype_size(s->type);
    dtype_to_double(s->type, from, count, s->values);
}

static lscm_status find_range(sheet *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < s->pictures; i++) {
        TRY(read_picture(s, i, why));
        for (size_t y = 0; y < s->height; y++) {
            line_values(s, y);
            for (size_t k = 0; k < s->width * s->channels; k++) {
                least = fmin(least, s->values[k]);
                most = fmax(most, s->values[k]);
            }
        }
    }
    double beyond = s->data->decoded ? DECODED_BEYOND : 0;
    bool shares = least >= -beyond && most <= 1 + beyond;
    s->least = shares ? 0 : least;
    s->most = shares ? 1 : most;
done:
    return status;
}

/* The picture in `raw` as bytes; halves, because most - least may overflow. */
static void to_bytes(sheet *s, uint8_t *out)
{
    size_t count = s->width * s->channels;
    double range = s->most / 2 - s->least / 2;
    if (s->type == DTYPE_UINT8) {
        memcpy(out, s->raw, s->numbers);
        return;
    }
    for (size_t y = 0; y < s->height; y++) {
        line_values(s, y);
        for (size_t k = 0; k < count; k++) {
            double share = range > 0 ? (s->values[k] / 2 - s->least / 2) / range : 0.5;
            out[y * count + k] = (uint8_t)(255 * fmin(fmax(share, 0), 1) + 0.5);
        }
    }
}

/* One line of pixels: line y of each of `count` pictures, each pixel `scale` times. */
static void draw_line(sheet *s, size_t count, size_t y)
{
    size_t c = s->channels;
    memset(s->line, WHITE, s->pixels_wide * c);
    for (size_t k = 0; k < count; k++) {
        const uint8_t *from = s->bytes + k * s->numbers + y * s->width * c;
        uint8_t *to = s->line + k * (s->width * s->scale + GAP) * c;
        for (size_t pixel = 0; pixel < s->width * s->scale; pixel++) {
            memcpy(to + pixel * c, from + pixel / s->scale * c, c);
        }
    }
}

/* Line y of the captions of pictures [first, first + count). */
static void draw_captions(sheet *s, size_t first, size_t count, size_t y)
{
    size_t wide = s->width * s->scale;
    memset(s->line, WHITE, s->pixels_wide * s->channels);
    for (size_t k = 0; k < count && y >= CAPTION_GAP; k++) {
        for (size_t x = 0; x < wide; x++) {
            if (caption_ink(&s->captions[first + k], x, y - CAPTION_GAP)) {
                memset(s->line + (k * (wide + GAP) + x) * s->channels, INK, s->channels);
            }
        }
    }
}

/* ---- libpng: each function below that calls it has its own return by longjmp. */

static lscm_status fail_png(const sheet *s, lscm_error *why)
{
    return fail(why, LSCM_WRITE, "%s: %s", s->m->what, s->out.complaint);
}

static lscm_status begin(sheet *s, const char *to, lscm_error *why)
{
    s->out.file = fopen(to, "wb");
    if (s->out.file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", s->m->what, strerror(errno));
    }
    if (!png_stream_write_to(&s->out)) {
        return fail_memory(why, sizeof *s);
    }
    if (setjmp(png_jmpbuf(s->out.png)) != 0) {
        return fail_png(s, why);
    }
    png_stream_header(&s->out, s->pixels_wide, s->pixels_high, 8, s->channels);
    return LSCM_OK;
}

static lscm_status put_line(sheet *s, size_t times, lscm_error *why)
{
    if (setjmp(png_jmpbuf(s->out.png)) != 0) {
        return fail_png(s, why);
    }
    for (size_t i = 0; i < times; i++) {
        png_write_row(s->out.png, s->line);
    }
    return LSCM_OK;
}

static lscm_status finish(sheet *s, lscm_error *why)
{
    if (setjmp(png_jmpbuf(s->out.png)) != 0) {
        return fail_png(s, why);
    }
    png_write_end(s->out.png, NULL);
    return LSCM_OK;
}

/* Line k of the sheet: up to 8 pictures side by side. */
static lscm_status put_pictures(sheet *s, size_t k, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t first = k * s->across;
    size_t count = s->pictures - first < s->across ? s->pictures - first : s->across;
    for (size_t i = 0; i < count; i++) {
        TRY(read_picture(s, first + i, why));
        to_bytes(s, s->bytes + i * s->numbers);
    }
    if (k > 0) {
        draw_line(s, 0, 0);
        TRY(put_line(s, GAP, why));
    }
    for (size_t y = 0; y < s->height; y++) {
        draw_line(s, count, y);
        TRY(put_line(s, s->scale, why));
    }
    for (size_t y = 0; y < s->caption_high; y++) {
        draw_captions(s, first, count, y);
        TRY(put_line(s, 1, why));
    }
done:
    return status;
}

lscm_status png_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sheet s = {.data = data, .m = m};
    TRY(lay_out(&s, why));
    bool scaled = s.type != DTYPE_UINT8;
    m->total = s.pictures * s.numbers * dtype_size(s.type) * (scaled ? 2 : 1);
    if (scaled) {
        TRY(find_range(&s, why));
    }
    TRY(begin(&s, to, why));
    for (size_t k = 0; k < s.down; k++) {
        TRY(put_pictures(&s, k, why));
    }
    TRY(finish(&s, why));
done:
    png_stream_close_write(&s.out);
    if (s.out.file != NULL && fclose(s.out.file) != 0 && status == LSCM_OK) {
        status = fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno));
    }
    free(s.raw);
    free(s.values);
    free(s.bytes);
    free(s.line);
    free(s.captions);
    return status;
}
