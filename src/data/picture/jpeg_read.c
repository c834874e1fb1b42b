/* Reading one JPEG picture: see jpeg_picture.h. Everything libjpeg does stands in two functions,
 * each with its own return by longjmp, which touch no local variable after setjmp.
 */
#include "data/picture/jpeg_picture.h"
#include "data/picture/picture_file.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h> /* needs stdio.h */

#include <jerror.h>

enum { SIGNATURE = 3 };

typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf back;
    char complaint[JMSG_LENGTH_MAX];
    const char *path;
    FILE *file;
    png_size size;
} reader;

static void complain(j_common_ptr jpeg)
{
    reader *r = jpeg->client_data;
    jpeg->err->format_message(jpeg, r->complaint);
    longjmp(r->back, 1);
}

/* What libjpeg only warns of is damage, too, but for bytes that it skips between markers. */
static void on_message(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) {
        complain(jpeg);
    }
}

static bool is_signature(FILE *file)
{
    unsigned char first[SIGNATURE] = {0};
    return fread(first, 1, SIGNATURE, file) == SIGNATURE && first[0] == 0xFF && first[1] == 0xD8 &&
           first[2] == 0xFF;
}

bool jpeg_picture_is(const char *path)
{
    uint64_t bytes = 0;
    FILE *file = NULL;
    if (picture_file_open(&file, path, &bytes, NULL) != LSCM_OK) {
        return false;
    }
    bool is = is_signature(file);
    (void)fclose(file);
    return is;
}

static lscm_status fail_damaged(const reader *r, lscm_error *why)
{
    return fail(why, LSCM_FORMAT, "%s: the picture is damaged (%s); save or copy it again", r->path,
                r->complaint);
}

static lscm_status begin(reader *r, const char *path, lscm_error *why)
{
    uint64_t bytes = 0;
    *r = (reader){.path = path};
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = complain;
    r->errors.emit_message = on_message;
    r->jpeg.client_data = r;
    return picture_file_open(&r->file, path, &bytes, why);
}

static void end(reader *r)
{
    jpeg_destroy_decompress(&r->jpeg); /* safe before it was created, too */
    if (r->file != NULL) {
        (void)fclose(r->file);
    }
}

static lscm_status read_header(reader *r, lscm_error *why)
{
    if (setjmp(r->back) != 0) {
        return fail_damaged(r, why);
    }
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.client_data = r;
    jpeg_stdio_src(&r->jpeg, r->file);
    (void)jpeg_read_header(&r->jpeg, TRUE);
    if (r->jpeg.jpeg_color_space == JCS_CMYK || r->jpeg.jpeg_color_space == JCS_YCCK) {
        return fail(why, LSCM_FORMAT,
                    "%s: the picture is in CMYK, for printing; save it in red, green and blue",
                    r->path);
    }
    bool grey = r->jpeg.jpeg_color_space == JCS_GRAYSCALE;
    r->jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    r->size = (png_size){r->jpeg.image_height, r->jpeg.image_width, grey ? 1 : 3};
    return picture_size_allow(r->size, r->path, why);
}

static lscm_status read_samples(reader *r, JSAMPLE *samples, lscm_error *why)
{
    size_t row = r->size.width * r->size.channels;
    if (setjmp(r->back) != 0) {
        return fail_damaged(r, why);
    }
    (void)jpeg_start_decompress(&r->jpeg);
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        JSAMPROW at = samples + (size_t)r->jpeg.output_scanline * row;
        (void)jpeg_read_scanlines(&r->jpeg, &at, 1);
    }
    (void)jpeg_finish_decompress(&r->jpeg);
    return LSCM_OK;
}

lscm_status jpeg_picture_size(const char *path, png_size *out, lscm_error *why)
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

lscm_status jpeg_picture_read(const char *path, png_size size, void *scratch, float *out,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const JSAMPLE *samples = scratch;
    reader r;
    TRY(begin(&r, path, why));
    TRY(read_header(&r, why));
    TRY(png_size_same(path, r.size, size, why));
    TRY(read_samples(&r, scratch, why));
    for (size_t i = 0; i < size.height * size.width * size.channels; i++) {
        out[i] = (float)samples[i] / 255.0F;
    }
done:
    end(&r);
    return status;
}
