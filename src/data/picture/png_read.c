/* Reading one PNG picture: see png_picture.h. Everything libpng does stands in two functions, each
 * with its own return by longjmp, which touch no local variable after setjmp.
 */
#include "data/picture/picture_file.h"
#include "data/picture/png_picture.h"
#include "data/picture/png_stream.h"

#include <setjmp.h>
#include <stdio.h>

enum {
    SIGNATURE = 8,
    MOST_PIXEL_BYTES = 8 /* red, green, blue, alpha of 16 bits */
};

typedef struct reader {
    const char *path;
    png_stream in;
    png_size size;
    size_t stored; /* channels as decoded, alpha included */
    bool wide;     /* samples of 16 bits */
    int passes;    /* over an interlaced picture */
    /* of a picture with a palette: samples are indices into it */
    png_colorp palette;
    png_bytep alpha;     /* of its first colours, or NULL */
    int colours, alphas; /* colours: 0 without a palette */
} reader;

const char *png_size_text(png_size size, char *out)
{
    (void)snprintf(out, PNG_SIZE_TEXT, "%zu x %zu pixels, %s", size.height, size.width,
                   size.channels == 1 ? "grey" : "in colour");
    return out;
}

lscm_status png_size_same(const char *path, png_size is, png_size before, lscm_error *why)
{
    char text[2][PNG_SIZE_TEXT];
    if (is.height == before.height && is.width == before.width && is.channels == before.channels) {
        return LSCM_OK;
    }
    return fail(why, LSCM_SHAPE, "%s: the picture is of %s, but those before it are of %s", path,
                png_size_text(is, text[0]), png_size_text(before, text[1]));
}

static lscm_status fail_damaged(const reader *r, lscm_error *why)
{
    return fail(why, LSCM_FORMAT, "%s: the picture is damaged (%s); save or copy it again", r->path,
                r->in.complaint);
}

static lscm_status begin(reader *r, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint64_t bytes = 0;
    png_byte signature[SIGNATURE];
    *r = (reader){.path = path};
    TRY(picture_file_open(&r->in.file, path, &bytes, why));
    if (fread(signature, 1, SIGNATURE, r->in.file) != SIGNATURE ||
        png_sig_cmp(signature, 0, SIGNATURE) != 0) {
        TRY(fail(why, LSCM_FORMAT, "%s: %s; give pictures as PNG or JPEG", path,
                 bytes == 0 ? "the file is empty" : "this is not a PNG or JPEG picture"));
    }
    if (!png_stream_read_from(&r->in)) {
        status = fail_memory(why, sizeof *r);
    }
done:
    return status;
}

static void end(reader *r)
{
    png_stream_close_read(&r->in);
    if (r->in.file != NULL) {
        (void)fclose(r->in.file);
    }
}

static lscm_status read_header(reader *r, lscm_error *why)
{
    if (setjmp(png_jmpbuf(r->in.png)) != 0) {
        return fail_damaged(r, why);
    }
    png_set_sig_bytes(r->in.png, SIGNATURE);
    png_read_info(r->in.png, r->in.info);
    if (png_get_color_type(r->in.png, r->in.info) == PNG_COLOR_TYPE_PALETTE) {
        /* not expanded: libpng takes an index beyond the palette for black */
        png_set_packing(r->in.png);
        (void)png_get_PLTE(r->in.png, r->in.info, &r->palette, &r->colours);
        (void)png_get_tRNS(r->in.png, r->in.info, &r->alpha, &r->alphas, NULL);
    } else {
        /* samples of 8 or 16 bits, grey or colours, and alpha where anything may be transparent */
        png_set_expand(r->in.png);
    }
    r->passes = png_set_interlace_handling(r->in.png);
    png_read_update_info(r->in.png, r->in.info);
    r->size.height = png_get_image_height(r->in.png, r->in.info);
    r->size.width = png_get_image_width(r->in.png, r->in.info);
    r->size.channels =
        (png_get_color_type(r->in.png, r->in.info) & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
    r->stored = png_get_channels(r->in.png, r->in.info);
    r->wide = png_get_bit_depth(r->in.png, r->in.info) == 16;
    return picture_size_allow(r->size, r->path, why);
}

static lscm_status read_samples(reader *r, png_bytep samples, lscm_error *why)
{
    size_t row = r->size.width * r->stored * (r->wide ? 2 : 1);
    if (setjmp(png_jmpbuf(r->in.png)) != 0) {
        return fail_damaged(r, why);
    }
    for (int pass = 0; pass < r->passes; pass++) {
        for (size_t y = 0; y < r->size.height; y++) {
            png_read_row(r->in.png, samples + y * row, NULL);
        }
    }
    png_read_end(r->in.png, NULL);
    return LSCM_OK;
}

static lscm_status fail_transparent(const reader *r, lscm_error *why)
{
    return fail(why, LSCM_VALUE,
                "%s: the picture is transparent in places; save it without transparency", r->path);
}

/* Indices of 8 bits to shares. */
static lscm_status from_palette(const reader *r, const uint8_t *indices, float *out,
                                lscm_error *why)
{
    for (size_t p = 0; p < r->size.height * r->size.width; p++) {
        int index = indices[p];
        if (index >= r->colours) {
            return fail(why, LSCM_FORMAT,
                        "%s: the picture is damaged (pixel (%zu, %zu), counted from 0, has colour "
                        "%d of a palette of %d); save or copy it again",
                        r->path, p / r->size.width, p % r->size.width, index, r->colours);
        }
        if (index < r->alphas && r->alpha[index] != 255) {
            return fail_transparent(r, why);
        }
        out[3 * p] = (float)r->palette[index].red / 255.0F;
        out[3 * p + 1] = (float)r->palette[index].green / 255.0F;
        out[3 * p + 2] = (float)r->palette[index].blue / 255.0F;
    }
    return LSCM_OK;
}

/* Samples of 8 bits, or of 16 with the high byte first, to shares; false when one is transparent.
 */
static bool to_shares(const reader *r, const uint8_t *samples, float *out)
{
    size_t pixels = r->size.height * r->size.width;
    size_t kept = r->size.channels;
    bool opaque = true;
    for (size_t p = 0; p < pixels; p++) {
        for (size_t c = 0; c < r->stored; c++) {
            size_t at = p * r->stored + c;
            unsigned sample =
                r->wide ? (unsigned)samples[2 * at] << 8 | samples[2 * at + 1] : samples[at];
            if (c < kept) {
                out[p * kept + c] = (float)sample / (r->wide ? 65535.0F : 255.0F);
            } else {
                opaque = opaque && sample == (r->wide ? 65535U : 255U);
            }
        }
    }
    return opaque;
}

lscm_status png_picture_size(const char *path, png_size *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reader r;
    TRY(begin(&r, path, why));
    TRY(read_header(&r, why));
    *out = r.size;
done:
    end(&r);
    return status;
}

size_t png_picture_scratch(png_size size)
{
    return size.height * size.width * MOST_PIXEL_BYTES;
}

lscm_status png_picture_read(const char *path, png_size size, void *scratch, float *out,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reader r;
    TRY(begin(&r, path, why));
    TRY(read_header(&r, why));
    TRY(png_size_same(path, r.size, size, why));
    TRY(read_samples(&r, scratch, why));
    if (r.colours > 0) {
        TRY(from_palette(&r, scratch, out, why));
    } else if (!to_shares(&r, scratch, out)) {
        TRY(fail_transparent(&r, why));
    }
done:
    end(&r);
    return status;
}
