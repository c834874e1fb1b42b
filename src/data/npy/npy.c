#include "data/npy/npy_header.h"

#include <stdio.h>
#include <string.h>

#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

static const unsigned char MAGIC[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

lscm_status npy_header_size(const unsigned char *prefix, uint64_t there, const char *where,
                            size_t *size, lscm_error *why)
{
    if (there == 0) {
        return fail(why, LSCM_FORMAT, "%s is empty; it should hold an NPY array", where);
    }
    if (memcmp(prefix, MAGIC, there < sizeof MAGIC ? (size_t)there : sizeof MAGIC) != 0) {
        return fail(why, LSCM_FORMAT, "%s is not an NPY array: it does not begin with \\x93NUMPY",
                    where);
    }
    if (there < (uint64_t)NPY_PREFIX) {
        return fail(why, LSCM_FORMAT, "%s is truncated inside its NPY header", where);
    }
    size_t length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    *size = 10 + length;
    if (prefix[6] == 2 || prefix[6] == 3) {
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
        *size = 12 + length;
    } else if (prefix[6] != 1) {
        return fail(why, LSCM_FORMAT, "%s is NPY version %d.%d; versions 1 to 3 can be read", where,
                    prefix[6], prefix[7]);
    }
    if (length > (size_t)NPY_HEADER_MOST) {
        return fail(why, LSCM_FORMAT,
                    "%s says its NPY header has %zu bytes, which no array of numbers needs", where,
                    length);
    }
    if (*size > there) {
        return fail(why, LSCM_FORMAT, "%s is truncated inside its NPY header", where);
    }
    return LSCM_OK;
}

/* ---- The dictionary, a Python literal ---- */

typedef struct cursor {
    const char *at, *end;
    const char *where;
} cursor;

static lscm_status fail_syntax(const cursor *c, lscm_error *why)
{
    return fail(why, LSCM_FORMAT,
                "%s has a damaged NPY header; it should be a dictionary of 'descr', "
                "'fortran_order' and 'shape'",
                c->where);
}

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) {
        c->at++;
    }
}

static bool take(cursor *c, const char *word)
{
    skip_spaces(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) {
        return false;
    }
    c->at += length;
    return true;
}

/* A quoted text of printable characters without escapes, at most size - 1 characters. */
static bool take_text(cursor *c, char *out, size_t size)
{
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
        return false;
    }
    char quote = *c->at++;
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at == '\\' || *c->at < ' ' || *c->at > '~' || length + 1 >= size) {
            return false;
        }
        out[length++] = *c->at++;
    }
    out[length] = '\0';
    return take(c, quote == '"' ? "\"" : "'");
}

/* Decimal digits; false when there are none or they do not fit. */
static bool take_digits(cursor *c, size_t *out)
{
    bool any = false;
    *out = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        size_t digit = (size_t)(*c->at++ - '0');
        if (__builtin_mul_overflow(*out, (size_t)10, out) ||
            __builtin_add_overflow(*out, digit, out)) {
            return false;
        }
        any = true;
    }
    return any;
}

static lscm_status parse_dim(cursor *c, size_t *dim, lscm_error *why)
{
    skip_spaces(c);
    if (c->at < c->end && *c->at == '-') {
        return fail(why, LSCM_SHAPE, "%s has a negative dimension", c->where);
    }
    if (c->at == c->end || *c->at < '0' || *c->at > '9') {
        return fail_syntax(c, why);
    }
    if (!take_digits(c, dim)) {
        return fail(why, LSCM_SHAPE, "%s has a dimension that is larger than any memory", c->where);
    }
    if (c->at < c->end && (*c->at == '.' || *c->at == 'e' || *c->at == 'E')) {
        return fail(why, LSCM_SHAPE, "%s has a dimension that is not a whole number", c->where);
    }
    if (c->at < c->end && *c->at == 'L') { /* a long integer of Python 2 */
        c->at++;
    }
    return LSCM_OK;
}

/* A Python tuple: (), (5,), (5, 2), (5, 2,). */
static lscm_status parse_shape(cursor *c, array_shape *shape, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool comma = true;
    if (!take(c, "(")) {
        return fail_syntax(c, why);
    }
    shape->ndim = 0;
    while (!take(c, ")")) {
        if (!comma) {
            return fail_syntax(c, why);
        }
        if (shape->ndim == LSCM_MAX_DIMS) {
            return fail(why, LSCM_SHAPE, "%s has more than %d dimensions; reshape it", c->where,
                        (int)LSCM_MAX_DIMS);
        }
        TRY(parse_dim(c, &shape->dims[shape->ndim], why));
        shape->ndim++;
        comma = take(c, ",");
    }
    if (shape->ndim == 1 && !comma) { /* (5) is a number, not a tuple */
        return fail_syntax(c, why);
    }
done:
    return status;
}

static lscm_status fail_type(const char *descr, const char *where, lscm_error *why)
{
    char kind = descr[strspn(descr, "<>=|")];
    const char *what = kind == 'c'                  ? "complex numbers"
                       : kind == 'M' || kind == 'm' ? "dates or times"
                       : kind == 'V'                ? "structured or raw records"
                                                    : "elements of an unknown type";
    if (kind == 'O') {
        return fail(why, LSCM_FORMAT,
                    "%s holds Python objects (a pickle), which are never loaded; save plain "
                    "numbers",
                    where);
    }
    return fail(why, LSCM_FORMAT,
                "%s holds %s ('%s'); save plain numbers (bool, integers, float16 to float64)",
                where, what, descr);
}

/* '<f8': endianness, kind, bytes; text ('<U12', '|S7') counts characters. */
static lscm_status parse_descr(const char *descr, npy_header *header, const char *where,
                               lscm_error *why)
{
    char order = strchr("<>=|", descr[0]) != NULL && descr[0] != '\0' ? descr[0] : '=';
    const char *code = descr + strspn(descr, "<>=|");
    if (code - descr > 1) {
        return fail_type(descr, where, why);
    }
    if (code[0] == 'U' || code[0] == 'S') {
        cursor digits = {code + 1, code + strlen(code), where};
        size_t characters = 0;
        size_t each = code[0] == 'U' ? 4 : 1;
        if (!take_digits(&digits, &characters) || digits.at != digits.end ||
            __builtin_mul_overflow(characters, each, &header->item)) {
            return fail_type(descr, where, why);
        }
        header->kind = code[0] == 'U' ? NPY_UNICODE : NPY_BYTES;
        header->shape.type = DTYPE_UINT8;
        header->swapped = each > 1 && (order == '<' || order == '>') && order != NATIVE_ORDER;
        return LSCM_OK;
    }
    header->kind = NPY_NUMBERS;
    header->shape.type = dtype_from_code(code);
    if (header->shape.type == DTYPE_COUNT) {
        return fail_type(descr, where, why);
    }
    header->item = dtype_size(header->shape.type);
    header->swapped = header->item > 1 && (order == '<' || order == '>') && order != NATIVE_ORDER;
    return LSCM_OK;
}

static lscm_status parse_entry(cursor *c, npy_header *header, unsigned *seen, lscm_error *why)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char text[32];
    unsigned key = 0;
    if (!take_text(c, text, sizeof text) || !take(c, ":")) {
        return fail_syntax(c, why);
    }
    while (key < 3 && strcmp(text, keys[key]) != 0) {
        key++;
    }
    if (key == 3 || (*seen & 1U << key) != 0) {
        return fail_syntax(c, why);
    }
    *seen |= 1U << key;
    if (key == 2) {
        return parse_shape(c, &header->shape, why);
    }
    if (key == 1) {
        header->fortran = take(c, "True");
        return header->fortran || take(c, "False") ? LSCM_OK : fail_syntax(c, why);
    }
    if (take(c, "[")) {
        return fail(why, LSCM_FORMAT,
                    "%s holds records (a structured dtype); save each column as its own array",
                    c->where);
    }
    return take_text(c, text, sizeof text) ? parse_descr(text, header, c->where, why)
                                           : fail_syntax(c, why);
}

lscm_status npy_header_parse(npy_header *out, const unsigned char *text, size_t size,
                             const char *where, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t begin = text[6] == 1 ? 10 : 12;
    cursor c = {(const char *)text + begin, (const char *)text + size, where};
    unsigned seen = 0;
    bool comma = true;
    size_t bytes = 0;
    *out = (npy_header){.shape.present = true, .start = size};
    if (!take(&c, "{")) {
        return fail_syntax(&c, why);
    }
    while (!take(&c, "}")) {
        if (!comma) {
            return fail_syntax(&c, why);
        }
        TRY(parse_entry(&c, out, &seen, why));
        comma = take(&c, ",");
    }
    skip_spaces(&c);
    if (seen != 7U || c.at != c.end) {
        return fail_syntax(&c, why);
    }
    bytes = out->item;
    for (int k = 0; k < out->shape.ndim; k++) {
        if (__builtin_mul_overflow(bytes, out->shape.dims[k], &bytes)) {
            return fail(why, LSCM_SHAPE, "%s has a shape that is larger than any memory", where);
        }
    }
    out->bytes = bytes;
done:
    return status;
}

lscm_status npy_header_fits(const npy_header *header, uint64_t there, const char *where,
                            lscm_error *why)
{
    uint64_t have = there - header->start;
    if (have < header->bytes) {
        return fail(why, LSCM_FORMAT,
                    "%s is truncated: its shape needs %llu bytes but only %llu are there", where,
                    (unsigned long long)header->bytes, (unsigned long long)have);
    }
    if (have > header->bytes) {
        return fail(why, LSCM_FORMAT, "%s has %llu bytes more than its shape needs", where,
                    (unsigned long long)(have - header->bytes));
    }
    return LSCM_OK;
}

/* ---- Our own ---- */

npy_header npy_header_of(const array_shape *shape)
{
    size_t item = dtype_size(shape->type);
    return (npy_header){.kind = NPY_NUMBERS,
                        .shape = *shape,
                        .item = item,
                        .bytes = (uint64_t)item * shape_count(shape)};
}

npy_header npy_header_of_texts(int ndim, size_t count, size_t width)
{
    return (npy_header){.kind = NPY_UNICODE,
                        .shape = {true, DTYPE_UINT8, ndim, {count}},
                        .item = 4 * width,
                        .bytes = (uint64_t)count * 4 * width};
}

size_t npy_header_format(npy_header *header, char out[NPY_HEADER_OURS])
{
    char descr[32];
    char shape[LSCM_MAX_DIMS * 24] = "";
    size_t used = 0;
    if (header->kind == NPY_UNICODE) {
        (void)snprintf(descr, sizeof descr, "%cU%zu", NATIVE_ORDER, header->item / 4);
    } else {
        (void)snprintf(descr, sizeof descr, "%c%s", header->item > 1 ? NATIVE_ORDER : '|',
                       dtype_code(header->shape.type));
    }
    for (int k = 0; k < header->shape.ndim; k++) {
        const char *before = k > 0 ? " " : "";
        const char *after = k + 1 < header->shape.ndim || k == 0 ? "," : "";
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu%s", before,
                                 header->shape.dims[k], after);
    }
    memset(out, ' ', NPY_HEADER_OURS);
    int written =
        snprintf(out + 10, NPY_HEADER_OURS - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    out[10 + written] = ' ';
    size_t size = (10 + (size_t)written + 1 + 63) / 64 * 64; /* the last byte is a line end */
    memcpy(out, MAGIC, sizeof MAGIC);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((size - 10) & 0xff);
    out[9] = (char)((size - 10) >> 8);
    out[size - 1] = '\n';
    header->start = size;
    return size;
}
